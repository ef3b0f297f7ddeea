"""What held the last time: given right before a command or an edit, and after a failure; each line once a session."""

from __future__ import annotations

from collections.abc import Sequence

from memtool.hook.occasion import Occasion, Reply
from memtool.recall.hints import Hint, for_command, for_failure, for_file, hints_of_project, still_standing

_MOST_TOKENS = 150


def before_tool(occasion: Occasion) -> Reply | None:
    """Give the fix that held for the command, or the rule or decision that names the file, that a tool is to have."""
    if files := occasion.edited_files():
        hints = _hints(occasion)
        return _given(occasion, [hint for file in files for hint in for_file(hints, file)])
    command = _command(occasion)
    return _given(occasion, for_command(_hints(occasion), command)) if command else None


def after_failure(occasion: Occasion) -> Reply | None:
    """Give the fix that held when this command, or one like it, failed before."""
    command = _command(occasion)
    return _given(occasion, for_failure(_hints(occasion), command, occasion.text("error"))) if command else None


def _hints(occasion: Occasion) -> list[Hint]:
    work = occasion.work
    return hints_of_project(work.vault, work.project()) if work.settings.recall.hints else []


def _command(occasion: Occasion) -> str:
    asked = occasion.event.get("tool_input")
    command = asked.get("command") if occasion.text("tool_name") == "Bash" and isinstance(asked, dict) else None
    return command if isinstance(command, str) else ""


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
