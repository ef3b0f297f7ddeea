"""Invented sessions in the client's own format, for tests: `talks/NAME.txt` become transcripts.

A line with `@` says what happens next: `@user` and `@agent` speak, `@tool NAME GIVEN` is used, `@ok`, `@fail` and
`@refused` are what came of it: its output, its error, and what the user typed on refusing it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

from capture import transcripts as written
from capture.transcripts import Record

from memtool.capture.rules_note import write_by_rules
from memtool.capture.turns import Conversation, turns_of
from memtool.vault.sessions import SessionNote, render_session

TALKS = Path(__file__).parent / "talks"
_REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)
_GIVEN = {"Bash": "command", "ExitPlanMode": "plan", "WebFetch": "url", "WebSearch": "query", "Grep": "pattern"}


def talk(folder: Path, name: str) -> Conversation:
    """Return what is read of the session *name*, after it was written into *folder*."""
    return written.read(folder, *_records(_happenings((TALKS / f"{name}.txt").read_text(encoding="utf-8"))))


def note_of(folder: Path, name: str) -> str:
    """Return the text of the note of the session *name*."""
    conversation = talk(folder, name)
    language = "zh" if name.endswith("_zh") else "en"
    draft = write_by_rules(turns_of(conversation.steps), branch=conversation.branch, language=language)
    return render_session(SessionNote(id="1f0e", project="shop", date="2026-02-10", draft=draft), language=language)


def _happenings(text: str) -> Iterator[tuple[str, str]]:
    """Give who, or what, and the text that belongs to it."""
    for part in f"\n{text}".split("\n@")[1:]:
        head, _, rest = part.partition("\n")
        word, _, more = head.partition(" ")
        yield word, "\n".join(filter(None, [more, rest.strip("\n")]))


def _records(happenings: Iterator[tuple[str, str]]) -> Iterator[Record]:
    numbers = count(1)
    call_id = ""
    for word, text in happenings:
        if word == "user":
            yield written.user(text)
        elif word == "agent":
            yield written.assistant(text)
        elif word == "tool":
            call_id = f"toolu_{next(numbers)}"
            name, _, given = text.partition(" ")
            yield written.call(name, _input(name, given), call_id)
        elif word == "refused":
            yield written.result(_REFUSED + text, call_id, is_error=True)
        else:
            yield written.result(f"Exit code 1\n{text}" if word == "fail" else text, call_id, is_error=word == "fail")


def _input(name: str, given: str) -> dict[str, str]:
    if name in _GIVEN:
        return {_GIVEN[name]: given}
    return {"file_path": f"/home/ann/shop/{given}", "old_string": "a", "new_string": "b"}
