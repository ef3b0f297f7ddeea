"""The hints: rules and decisions that name a file, before it is edited; what was tried, when a check fails again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

from memtool.hook.occasion import Occasion, Reply
from memtool.recall.hints import Hint, for_file, hints_of_project, still_standing

_MOST_TOKENS = 150
_THIRD, _MOST_EDITS = 3, 5


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


def after_failure(occasion: Occasion) -> Reply | None:
    """Say at the third failure of a check what was edited since its first one; of most failures only count them."""
    from memtool.recall.ledger import ledger_folder, read_ledger, write_ledger

    asked, session_id = occasion.event.get("tool_input"), occasion.text("session_id")
    command = asked.get("command") if isinstance(asked, dict) else None
    is_stopped = occasion.event.get("is_interrupt") is True
    if not occasion.work.settings.recall.hints or not session_id or is_stopped or not isinstance(command, str):
        return None
    ledgers, key = ledger_folder(occasion.work), f"{crc32(command.encode('utf-8', 'replace')):08x}"
    ledger = read_ledger(ledgers, session_id).with_failure(key)
    write_ledger(ledgers, session_id, ledger)
    return _tried(occasion, command) if ledger.failed[key] == _THIRD else None


def _tried(occasion: Occasion, command: str) -> Reply | None:
    from memtool.recall.framing import inline
    from memtool.recall.tried import tried_since
    from memtool.resources import agent_text
    from memtool.text.lines import tokens_in

    tried = tried_since(Path(occasion.text("transcript_path")), command)
    if tried.failures < _THIRD - 1 or not tried.edits:  # the last failure may not be in the transcript yet
        return None
    lines = [agent_text("tried", occasion.work.language).format(count=_THIRD)]
    for edit in tried.edits[-_MOST_EDITS:]:
        line = f"- {inline(edit)}"
        if tokens_in(*lines, line) <= _MOST_TOKENS:
            lines.append(line)
    return Reply("\n".join(lines))
