"""The forms of transcripts: each client's own. A form turns its records into those of Claude Code, which are read on.

So a new client costs one module that translates, and everything behind it is the same code. At the end are the records
that such a module makes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeAlias

from memtool.capture import limits
from memtool.capture.transcript.record_fields import HOOK_CONTEXT, TITLES, text_at
from memtool.capture.transcript.record_stream import Record, Tally, open_transcript, read_records
from memtool.clients import CLAUDE_CODE, CLIENTS
from memtool.errors import TranscriptUnreadable

_KINDS = {"user", "assistant", "system", "attachment", "mode", "permission-mode", *TITLES}  # of records of a session
WHERE_TRANSCRIPTS_ARE = (
    "Transcripts lie in ~/.claude/projects, Codex's in ~/.codex/sessions, Gemini's in ~/.gemini/tmp/*/chats."
)
STOPPED = "interrupted"  # what the client calls the denial of a call that the user stopped


class Transcript(NamedTuple):
    """A transcript that is to be read.

    Args:
        path: where it lies.
        file: the same, open where it is to be read from.
        tally: counts what is met.
        session_id: whose records are wanted, where a file holds several sessions.
        cwd: the folder that is known from what was read before.
        of_helper: whether it is a helper's transcript.
    """

    path: Path
    file: BinaryIO
    tally: Tally
    session_id: str = ""
    cwd: str = ""
    of_helper: bool = False


class KeptSession(NamedTuple):
    """A session that a client keeps.

    Args:
        session_id: the client's name for it.
        path: of its transcript.
        size: of what it holds, in bytes; 0 if that is not known without reading it.
        changed_at: in seconds since 1970.
        folder: where it worked, if that is known without reading it.
        times: when it began and ended, in seconds, if that is known.
    """

    session_id: str
    path: Path
    size: int
    changed_at: float
    folder: str = ""
    times: tuple[float, ...] = ()


class TranscriptForm(NamedTuple):
    """One client's form.

    Args:
        client: whose it is.
        mark: matches the first bytes of such a file.
        module: reads it by its functions `records`, `sessions` and `root_of`; empty for Claude Code's own. Its
            `TAKES_BACK` has the bytes of a transcript by which something that was said before is taken back.
    """

    client: str
    mark: re.Pattern[bytes]
    module: str = ""

    def records(self, transcript: Transcript) -> Iterator[Record]:
        """Give the records of *transcript* as Claude Code would have written them."""
        if not self.module:
            return read_records(transcript.file, transcript.tally, of_helper=transcript.of_helper)
        read: Callable[[Transcript], Iterator[Record]] = import_module(self.module).records
        return read(transcript)

    def sessions(self, root: Path, since: float = 0.0) -> list[KeptSession]:
        """Return the sessions below *root*, the folder or file in which the client keeps them, without helpers' own.

        Of one with several transcripts it is the newest. Those that have not changed *since* then, in seconds since
        1970, are left out.
        """
        find: _Find = import_module(self.module).sessions if self.module else _sessions_of_claude_code
        newest = {kept.session_id: kept for kept in sorted(find(root, since), key=lambda kept: kept.changed_at)}
        return list(newest.values())

    def root_of(self, transcript: Path, *, this_project: bool) -> Path | None:
        """Return where the sessions beside *transcript* lie; None if those of one project are not apart."""
        find: Callable[..., Path | None] = import_module(self.module).root_of
        return find(transcript, this_project=this_project)

    def must_start_over(self, file: BinaryIO, start: int) -> bool:
        """Return whether what stands behind *start* takes something back that may stand before it."""
        return bool(self.module) and stands_in(file, start, import_module(self.module).TAKES_BACK)


def _sessions_of_claude_code(root: Path, since: float) -> Iterator[KeptSession]:
    for pattern in ("*.jsonl", "*/*.jsonl"):
        with suppress(OSError):
            for path in root.glob(pattern):
                if path.is_file() and not path.name.startswith("agent-"):
                    status = path.stat()
                    if status.st_mtime >= since:
                        yield KeptSession(path.stem, path, status.st_size, status.st_mtime)


_Find: TypeAlias = Callable[[Path, float], Iterator[KeptSession]]

CLAUDE_FORM = TranscriptForm(CLAUDE_CODE, re.compile(rb""))
_OTHERS = tuple(
    TranscriptForm(name, re.compile(own.mark), f"memtool.capture.transcript.{name}")
    for name, client in CLIENTS.items()
    if (own := client.transcripts) and own.mark
)


def form_of(head: bytes) -> TranscriptForm:
    """Return the form of the transcript that begins with *head*; Claude Code's if it is none of the others."""
    return next((form for form in _OTHERS if form.mark.match(head)), CLAUDE_FORM)


def check_transcript(path: Path) -> str:
    """Return the id of the session whose transcript lies at *path*, if it holds a message.

    Raises:
        TranscriptUnreadable: there is no such file, or no client's transcript that memtool knows; the error says why.
    """
    tally = Tally()
    with open_transcript(path) as file:
        try:
            form = form_of(file.read(limits.HEAD_BYTES))
            file.seek(0)
            for record in form.records(Transcript(path, file, tally)):
                if record.get("sessionId") and text_at(record, "type") in _KINDS:
                    return text_at(record, "sessionId") if form.module else path.stem
        except OSError as error:
            raise TranscriptUnreadable(path, error.strerror or "it cannot be read") from None
    if not tally.size:
        reason = "it is empty"
    elif tally.broken == tally.lines:
        reason = "it is no transcript: no line of it is JSON"
    else:
        reason = "it holds no message of a session of a client that memtool knows: its form is unknown"
    raise TranscriptUnreadable(path, reason, hint=WHERE_TRANSCRIPTS_ARE)


def form_of_client(client: str) -> TranscriptForm:
    """Return the form of *client*; Claude Code's if it has none of its own."""
    return next((form for form in _OTHERS if form.client == client), CLAUDE_FORM)


def stands_in(file: BinaryIO, start: int, words: tuple[bytes, ...]) -> bool:
    """Return whether one of *words* stands in *file* behind *start*."""
    file.seek(start)
    end = b""
    while words and (block := file.read(limits.BLOCK_BYTES)):
        if any(word in end + block for word in words):
            return True
        end = block[-max(map(len, words)) :]
    return False


def records_ahead(transcript: Transcript, words: tuple[bytes, ...]) -> Iterator[tuple[Record, int]]:
    """Give the records to come, each with its offset, if one of *words* occurs in them; then go back."""
    tally = Tally(size=transcript.tally.size)
    if stands_in(transcript.file, tally.size, words):
        transcript.file.seek(tally.size)
        for record in read_records(transcript.file, tally):
            yield record, tally.record_at
    transcript.file.seek(transcript.tally.size)


def typed(text: str) -> Record:
    """Return the words that a person typed."""
    return {"type": "user", "message": {"role": "user", "content": text}}


def said(text: str, message: str = "") -> Record:
    """Return the words of the model in its *message*."""
    return _assistant({"type": "text", "text": text}, message)


def use(call: str, tool: str, given: Record, message: str = "") -> Record:
    """Return the use of a tool."""
    return _assistant({"type": "tool_use", "id": call, "name": tool, "input": given}, message)


def result(call: str, text: str, *, failed: bool = False, stopped: bool = False) -> Record:
    """Return the result of a call."""
    block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed or stopped}
    denied = {"toolDenialKind": STOPPED} if stopped else {}
    return {"type": "user", "message": {"role": "user", "content": [block]}} | denied


def context(text: str) -> Record:
    """Return a context block that a hook gave the model."""
    return {"type": "attachment", "attachment": {"type": HOOK_CONTEXT, "content": [text]}}


def compaction(text: str) -> Record:
    """Return the client's own summary of all before it; without *text*, that there was one."""
    if not text.strip():
        return {"type": "system", "subtype": "compact_boundary"}
    return {**typed(text), "isCompactSummary": True}


def _assistant(block: Record, message: str) -> Record:
    return {"type": "assistant", "message": {"role": "assistant", "id": message, "content": [block]}}
