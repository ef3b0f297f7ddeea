"""The forms of transcripts: each client's own. A form turns its records into those of Claude Code, which are read on.

So a new client costs one module that translates, and everything behind it is the same code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, NamedTuple

from memtool.capture.transcript.lines import Record, Tally, read_records
from memtool.clients import CLAUDE_CODE

HEAD = 4_096  # bytes in which a form is recognised
_BLOCK = 1_048_576


class Asked(NamedTuple):
    """What is to be read.

    Args:
        path: of the transcript.
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


class Found(NamedTuple):
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


class Form(NamedTuple):
    """One client's form.

    Args:
        client: whose it is.
        mark: matches the first bytes of such a file.
        module: what reads it: its functions `records`, `sessions` and `root_of`; empty for Claude Code's own.
        takes_back: what stands in a transcript where something said before is taken back.
    """

    client: str
    mark: re.Pattern[bytes]
    module: str = ""
    takes_back: tuple[bytes, ...] = ()

    @property
    def is_named_by_its_file(self) -> bool:
        """Whether the name of the file is the session's id."""
        return not self.module

    def records(self, asked: Asked) -> Iterator[Record]:
        """Give the records of a transcript as Claude Code would have written them."""
        if not self.module:
            return read_records(asked.file, asked.tally, of_helper=asked.of_helper)
        read: Callable[[Asked], Iterator[Record]] = import_module(self.module).records
        return read(asked)

    def sessions(self, root: Path, since: float = 0.0) -> Iterator[Found]:
        """Give the sessions below *root*, the folder or file in which the client keeps them; helpers' are left out.

        Those that have not changed *since* then, in seconds since 1970, are not looked at.
        """
        find: Callable[[Path, float], Iterator[Found]] = import_module(self.module).sessions
        return find(root, since)

    def root_of(self, transcript: Path, *, this_project: bool) -> Path | None:
        """Return where the sessions beside *transcript* lie; None if those of one project are not apart."""
        find: Callable[..., Path | None] = import_module(self.module).root_of
        return find(transcript, this_project=this_project)

    def must_start_over(self, file: BinaryIO, start: int) -> bool:
        """Return whether what stands behind *start* takes something back that may stand before it."""
        return stands_in(file, start, self.takes_back)


ROLLED_BACK = (b'"thread_rolled_back"',)  # in Codex, by how many turns
REWOUND = (b'"$rewindTo"', b'"$set":{"messages"')  # in Gemini, to before a message; and all of them anew

_HERE = "memtool.capture.transcript"
CLAUDE_FORM = Form(CLAUDE_CODE, re.compile(rb""))
_OTHERS = (
    Form("codex", re.compile(rb'\A\{[^{}]{0,200}"type":\s*"session_meta"|\A\x28\xb5\x2f\xfd'), f"{_HERE}.codex",
         ROLLED_BACK),
    Form("gemini", re.compile(rb'\A\s*\{\s*"sessionId":\s*"[^"]*",\s*"projectHash":'), f"{_HERE}.gemini",
         REWOUND),
    Form("opencode", re.compile(rb"\ASQLite format 3\0"), f"{_HERE}.opencode"),
)  # fmt: skip


def form_of(head: bytes) -> Form:
    """Return the form of the transcript that begins with *head*; Claude Code's if it is none of the others."""
    return next((form for form in _OTHERS if form.mark.match(head)), CLAUDE_FORM)


def form_of_client(client: str) -> Form:
    """Return the form of *client*; Claude Code's if it has none of its own."""
    return next((form for form in _OTHERS if form.client == client), CLAUDE_FORM)


def stands_in(file: BinaryIO, start: int, words: tuple[bytes, ...]) -> bool:
    """Return whether one of *words* stands in *file* behind *start*."""
    file.seek(start)
    end = b""
    while words and (block := file.read(_BLOCK)):
        if any(word in end + block for word in words):
            return True
        end = block[-max(map(len, words)) :]
    return False
