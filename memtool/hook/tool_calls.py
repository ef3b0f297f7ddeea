"""The answers before and after a tool call: rules about the file to be edited, and earlier tries of a failing check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memtool.hook.main import Reply

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memtool.capture.client_event import ClientEvent


def hints_for_edit(event: ClientEvent) -> Reply | None:
    """Return the rules and decisions that name a file which a tool is about to edit, each once in a session."""
    from memtool.recall.hints import for_file, hints_of_project, still_standing

    work, session_id = event.work, event.text("session_id")
    files = event.edited_files()
    if not (work.settings.recall.hints and files and session_id):
        return None
    hints = hints_of_project(work.vault, work.project())
    hints = [hint for file in files for hint in for_file(hints, file)]
    if not hints:
        return None
    from memtool.recall.framing import inline
    from memtool.recall.ledger import ledger_folder, read_ledger, write_ledger
    from memtool.resources import agent_text

    ledgers = ledger_folder(work)
    ledger = read_ledger(ledgers, session_id)
    fresh = still_standing(work.vault, [hint for hint in hints if f"hint:{hint.text}" not in ledger.given])
    by_line = {f"- {inline(hint.text)} ({hint.date}, {inline(hint.source)})": f"hint:{hint.text}" for hint in fresh}
    lines = _fitted(agent_text("hint", work.language), by_line)
    if len(lines) == 1:
        return None
    write_ledger(ledgers, session_id, ledger.with_given(by_line[line] for line in lines[1:]))
    return Reply("\n".join(lines))


def earlier_tries(event: ClientEvent) -> Reply | None:
    """Return, at the third failure of a command, the edits since its first failure; count the others."""
    from zlib import crc32

    from memtool.recall.ledger import ledger_folder, read_ledger, write_ledger

    arguments, session_id = event.fields.get("tool_input"), event.text("session_id")
    command = arguments.get("command") if isinstance(arguments, dict) else None
    is_stopped = event.fields.get("is_interrupt") is True
    if not event.work.settings.recall.hints or not session_id or is_stopped or not isinstance(command, str):
        return None
    ledgers, key = ledger_folder(event.work), f"{crc32(command.encode('utf-8', 'replace')):08x}"
    ledger = read_ledger(ledgers, session_id).with_failure(key)
    write_ledger(ledgers, session_id, ledger)
    if ledger.failed[key] != 3:
        return None
    from memtool.recall.framing import inline
    from memtool.recall.tried import tried_since
    from memtool.resources import agent_text

    tried = tried_since(Path(event.text("transcript_path")), command)
    if tried.failures < 2 or not tried.edits:  # the last failure may not be in the transcript yet
        return None
    edits = [f"- {inline(edit)}" for edit in tried.edits[-5:]]
    return Reply("\n".join(_fitted(agent_text("tried", event.work.language).format(count=3), edits)))


def mark_own_note(event: ClientEvent) -> None:
    """Count a note of the vault that the session itself writes as given to it, so that it is not given back."""
    session_id, root = event.text("session_id"), event.work.vault.root
    files = [Path(file) for file in event.edited_files()]
    own = [file.relative_to(root).as_posix() for file in files if file.is_relative_to(root)]
    if session_id and own:
        from memtool.recall.ledger import ledger_folder, read_ledger, write_ledger

        ledgers = ledger_folder(event.work)
        write_ledger(ledgers, session_id, read_ledger(ledgers, session_id).with_given(own))


def _fitted(head: str, lines: Iterable[str]) -> list[str]:
    """Return *head* and those of *lines* that fit into the budget of tokens."""
    from memtool.text.lines import tokens_in

    fitted = [head]
    for line in lines:
        if tokens_in(*fitted, line) <= 150:
            fitted.append(line)
    return fitted
