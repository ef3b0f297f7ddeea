"""The rules and decisions that name a file: given right before it is edited, each line once a session."""

from __future__ import annotations

from collections.abc import Sequence

from memtool.hook.occasion import Occasion, Reply
from memtool.recall.hints import Hint, for_file, hints_of_project, still_standing

_MOST_TOKENS = 150


def before_tool(occasion: Occasion) -> Reply | None:
    """Give the rules and decisions that name a file which a tool is to edit."""
    work = occasion.work
    if not work.settings.recall.hints or not (files := occasion.edited_files()):
        return None
    hints = hints_of_project(work.vault, work.project())
    return _given(occasion, [hint for file in files for hint in for_file(hints, file)])


def _given(occasion: Occasion, hints: Sequence[Hint]) -> Reply | None:
    session_id = occasion.text("session_id")
    if not hints or not session_id:
        return None
    from memtool.recall.framing import inline
    from memtool.recall.ledger import ledger_folder, read_ledger, write_ledger
    from memtool.resources import agent_text
    from memtool.text.lines import tokens_in

    work = occasion.work
    ledgers = ledger_folder(work)
    ledger = read_ledger(ledgers, session_id)
    fresh = still_standing(work.vault, [hint for hint in hints if _key(hint) not in ledger.given])
    lines = [agent_text("hint", work.language)]
    given = []
    for hint in fresh:
        line = f"- {inline(hint.text)} ({hint.date}, {inline(hint.source)})"
        if tokens_in(*lines, line) <= _MOST_TOKENS:
            lines.append(line)
            given.append(_key(hint))
    if not given:
        return None
    write_ledger(ledgers, session_id, ledger.with_given(given))
    return Reply("\n".join(lines))


def _key(hint: Hint) -> str:
    return f"hint:{hint.text}"
