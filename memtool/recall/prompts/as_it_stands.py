"""What memories say in their files now: the index that found them may be older, and what was forgotten is not said.

A file that the index knows as it is speaks for all hits in it. In any other one, a fact is looked up by its id, and a
note by the passage that was found in it.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from memtool.errors import OutsideVault
from memtool.recall.prompts.recalled import Recalled, is_fact
from memtool.recall.prompts.wording import facts_now, notes_now, summed_up
from memtool.vault.client_memory import client_memory_path, is_client_memory
from memtool.vault.files import content_hash, read_head
from memtool.vault.scan import KnownStamp, is_suspect
from memtool.vault.sessions import session_ref
from memtool.workspace import Workspace

_LARGEST = 10_485_760  # bytes of a file that are read: as many as are indexed, unless the settings say otherwise
_MOST_CHANGED = 2_097_152  # bytes of changed files that a prompt has time to look through, the best hits first
_HEAD = 4_096  # bytes of a note in which its summary stands, and the session that wrote it


def as_they_stand(hits: Iterable[Recalled], db: sqlite3.Connection, work: Workspace, session_id: str) -> list[Recalled]:
    """Return those of *hits* that still stand in their files and come from elsewhere, as their files word them now.

    *db* is the index that found them; what the session *session_id* wrote itself is no news to it. Each file
    is read once. What was found by its title only gets a `summary`.
    """
    own = session_ref(session_id) if session_id else ""
    by_ref: dict[str, list[Recalled]] = {}
    for hit in hits:
        if hit.ref != own:
            by_ref.setdefault(hit.ref, []).append(hit)
    known = _known(db, list(by_ref))
    standing: list[Recalled] = []
    room = _MOST_CHANGED
    for ref, found in by_ref.items():
        file = _read(ref, work)
        if file is None:
            continue
        if file.matches(known.get(ref)):
            standing += _told(found, file, session_id)
        elif len(file.content) <= room:
            room -= len(file.content)
            standing += _told(_looked_up(ref, found, file, work.now().date()), file, session_id)
    return standing


class _Known(NamedTuple):
    """A file, as the index knows it."""

    stamp: KnownStamp
    hash: str


class _File(NamedTuple):
    """A file, as it is."""

    stamp: tuple[int, int]
    content: bytes

    def matches(self, known: _Known | None) -> bool:
        """Whether it is what is *known*. As a rule its stamp says so, and hashing is not even imported."""
        if known is None:
            return False
        return not is_suspect(known.stamp, self.stamp) or content_hash(self.content) == known.hash


def _known(db: sqlite3.Connection, refs: Sequence[str]) -> dict[str, _Known]:
    marks = ", ".join("?" * len(refs))
    rows = db.execute(f"SELECT ref, hash, size, mtime_ns, read_at_ns FROM note WHERE ref IN ({marks})", refs)  # noqa: S608
    return {ref: _Known(KnownStamp(*stamp), digest) for ref, digest, *stamp in rows}


def _looked_up(ref: str, hits: list[Recalled], file: _File, today: dt.date) -> list[Recalled]:
    text = file.content.decode("utf-8-sig", "replace")
    return list((facts_now if is_fact(ref) else notes_now)(hits, text, today))


def _told(hits: list[Recalled], file: _File, session_id: str) -> list[Recalled]:
    """Return what of *hits* is news to the session, with a summary where it is needed."""
    session = session_id.encode("utf-8", "replace")
    if session and session in file.content:
        lines = file.content.split(b"\n")
        hits = [hit for hit in hits if not _is_by(session, hit, file.content, lines)]
    head = file.content[:_HEAD].decode("utf-8-sig", "ignore")  # the last character may be half
    return [hit if hit.text else summed_up(hit, head) for hit in hits]


def _read(ref: str, work: Workspace) -> _File | None:
    """Return a file as it is; None if it is gone, or nothing that may be read."""
    with suppress(OSError, ValueError, OutsideVault):
        path = _path(ref, work)
        if path is not None:
            about = path.stat()
            return _File((about.st_size, about.st_mtime_ns), read_head(path, _LARGEST))
    return None


def _path(ref: str, work: Workspace) -> Path | None:
    if not is_client_memory(ref):
        return work.vault.path(ref)
    projects = work.client_projects
    return client_memory_path(ref, projects) if projects else None


def _is_by(session: bytes, hit: Recalled, content: bytes, lines: Sequence[bytes]) -> bool:
    """Whether *session* is named where *hit* stands, or at the head of its note."""
    head = b"" if is_fact(hit.ref) else content[:_HEAD]
    return session in head or any(session in line for line in lines[hit.first_line - 1 : hit.last_line])
