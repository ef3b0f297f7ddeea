"""What was tried since a check began to fail: the edits of the session, by its transcript."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from memtool.capture.checks import check_in
from memtool.capture.transcript import EDITING_TOOLS, SHELL_TOOL
from memtool.capture.transcript.record_fields import content_of, results_in, text_at
from memtool.capture.transcript.record_stream import Record, Tally, open_transcript, read_records
from memtool.recall import limits
from memtool.text.lines import one_line, shortened

_NEW_TEXT = ("new_string", "content", "new_source")


class Tried(NamedTuple):
    """How often a check has failed since it last passed, and the edits since it failed first, each once.

    Edits of a file that the command itself names are left out: mostly a script that was written to try things.
    """

    failures: int = 0
    edits: tuple[str, ...] = ()


def tried_since(transcript: Path, command: str) -> Tried:
    """Return what was tried since the check *command* began to fail; nothing for a command that is no check.

    Raises:
        TranscriptUnreadable, OSError: the transcript cannot be read.
    """
    with open_transcript(transcript) as file:
        file.seek(max(0, transcript.stat().st_size - limits.TRANSCRIPT_TAIL))
        return tried_in(read_records(file, Tally()), command)


def tried_in(records: Iterable[Record], command: str) -> Tried:
    """Return what the *records* of a transcript tell of it. Pure."""
    failures, edits, waiting, wanted = 0, dict[str, None](), dict[str, str](), check_in(command)
    for record in records:
        if record.get("isSidechain") is True or not wanted:
            continue
        for name, tool, given in _uses(record):
            if tool == SHELL_TOOL and check_in(text_at(given, "command")) == wanted:
                waiting[name] = ""
            elif tool in EDITING_TOOLS and _file(given) not in wanted:
                waiting[name] = _edit(given)
        for result in results_in(record):
            edit = waiting.pop(result.call_id, None)
            if edit is None or result.stopped:
                continue
            if edit:
                edits |= {} if result.failed or not failures else {edit: None}
            elif result.failed:
                failures += 1
            else:
                failures, edits = 0, {}
    return Tried(failures, tuple(edits))


def _uses(record: Record) -> Iterator[tuple[str, str, dict[str, Any]]]:
    content = content_of(record) if record.get("type") == "assistant" else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_use" and isinstance(block.get("input"), dict):
            yield text_at(block, "id"), text_at(block, "name"), block["input"]


def _edit(given: dict[str, Any]) -> str:
    """Return an edit as the name of its file and the first line that it writes and that was not there."""
    file = _file(given)
    old = set(text_at(given, "old_string").splitlines())
    new = next(filter(None, (text_at(given, key) for key in _NEW_TEXT)), "").splitlines()
    line = next((one_line(line) for line in new if line not in old and any(map(str.isalnum, line))), "")
    return f"{file}: {shortened(line, limits.WIDEST)}" if line else file


def _file(given: dict[str, Any]) -> str:
    return PurePath(text_at(given, "file_path") or text_at(given, "notebook_path") or "?").name
