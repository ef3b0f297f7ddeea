"""The record of each captured session, in `.memtool/captured/`: it tells what is new, and what the owner wrote.

Its turns are kept as well, so that a transcript that grew is read on from where it ended. All of it may be deleted:
the next capture reads the whole transcript.

A session without one, or that has grown since, was captured by nobody: the client was killed, or the lid was closed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memtool.capture.old_turns import Run, Turn
from memtool.capture.queue import Job
from memtool.capture.summary import Summary
from memtool.capture.transcript.forms import KeptSession, form_of_client
from memtool.vault.changes import Change
from memtool.vault.layout import Vault, session_name
from memtool.vault.old_sessions import KeyPoint
from memtool.vault.session_rows import Piece
from memtool.vault.state import is_like, make_state_folder, read_state, write_state

_LARGEST = 16_777_216  # bytes; a record that is larger was not written by memtool
_FIRST_TURNS, _LAST_TURNS = 20, 400  # that are kept
RECENT = 7 * 86_400.0  # seconds; what is older is for `memtool import claude-code`, which asks first
MOST = 100  # sessions of one sweep


class ReadUpTo(NamedTuple):
    """The place up to which a transcript was read: the last turn, which may go on.

    Args:
        offset: where that turn begins, in bytes; 0 if everything is to be read.
        mark: the checksum of the bytes before it, by which the file is known.
        turns: those before it.
        cwd, branch, title, started_at: of the session, as far as it was read; *started_at* is ISO or empty.
        last: that turn, as far as it went.
        secrets: how many were found. Such a session is read whole each time: what they are is not kept.
    """

    offset: int = 0
    mark: int = 0
    turns: tuple[Turn, ...] = ()
    cwd: str = ""
    branch: str = ""
    title: str = ""
    started_at: str = ""
    last: Turn = Turn()
    secrets: int = 0

    @property
    def all_turns(self) -> tuple[Turn, ...]:
        """The turns so far, the one that may go on among them."""
        return self.turns if self.last == Turn() else (*self.turns, self.last)


class Record(NamedTuple):
    """The state of a session when it was captured last.

    Args:
        size: of the transcript, in bytes.
        digest: of the turns that the summary was made from.
        provider: who wrote the summary; empty for none but ourselves.
        model_at: when a model was asked last, in seconds since 1970.
        owed: whether a model was wanted and has not answered yet.
        base: the note as it was generated, before the owner's own changes.
        summary: what a model said; empty where it was made of the turns.
        gone: what the owner took out of the note, as it had been shown.
        reading: how far the transcript was read.
        off: whether the user has switched capture off for it.
    """

    size: int = 0
    digest: str = ""
    provider: str = ""
    model_at: float = 0.0
    owed: bool = False
    base: str = ""
    summary: Summary = Summary()
    gone: tuple[str, ...] = ()
    reading: ReadUpTo = ReadUpTo()
    off: bool = False


def read_record(vault: Vault, session_id: str) -> Record:
    """Return the record of the session; an empty one where nothing is known."""
    try:
        fields: Any = json.loads(read_state(record_path(vault, session_id), largest=_LARGEST))
        summary, reading = _summary(fields.pop("summary")), _reading(fields.pop("reading"))
        gone = fields.pop("gone")
        if not isinstance(gone, list):
            return Record()
        record = Record(**fields, summary=summary, gone=tuple(map(str, gone)), reading=reading)
    except (OSError, ValueError, TypeError, AttributeError, LookupError, RecursionError):
        return Record()
    return record if is_like(record, Record()) else Record()


def write_record(vault: Vault, session_id: str, record: Record) -> None:
    """Keep *record*. If that fails, the session is captured once more later on: nothing is lost."""
    path = record_path(vault, session_id)
    told = {"turns": [_turn_fields(turn) for turn in record.reading.turns], "last": _turn_fields(record.reading.last)}
    reading = record.reading._asdict() | told
    points = [list(point) for point in record.summary.key_points]
    summary = record.summary._asdict() | {"rows": [], "key_points": points}
    fields = record._asdict() | {"summary": summary, "reading": reading}
    with suppress(OSError):
        if not path.parent.is_dir():  # else it would be searched for symlinks, for each of thousands of files
            make_state_folder(path.parent)
        write_state(path, json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace"))


def switch_off(vault: Vault, session_id: str, *, off: bool = True) -> None:
    """Let nobody capture the session, no sweep and no import either; or let it be captured again."""
    record = read_record(vault, session_id)
    if record.off != off:
        write_record(vault, session_id, record._replace(off=off))


def follow_undo(vault: Vault, change: Change) -> None:
    """Let sessions whose first capture was taken back be captured no more, and those that are back again."""
    for file in change.files:
        if file.path.startswith("sessions/") and file.deed != "changed":
            switch_off(vault, Path(file.path).stem, off=not vault.path(file.path).exists())


def kept_turns(turns: list[Turn]) -> tuple[Turn, ...]:
    """Return as many of *turns* as a record keeps: the first and the last ones, of messages only the last one."""
    kept = turns if len(turns) <= _FIRST_TURNS + _LAST_TURNS else [*turns[:_FIRST_TURNS], *turns[-_LAST_TURNS:]]
    return (*(turn._replace(said="") for turn in kept[:-1]), *kept[-1:])


def record_path(vault: Vault, session_id: str) -> Path:
    """Return where the record of the session lies."""
    return vault.state_path / "captured" / f"{session_name(session_id)}.json"


def _summary(fields: Mapping[str, Any]) -> Summary:
    points = tuple(KeyPoint(str(text), str(kind), tuple(map(str, tags))) for text, kind, tags in fields["key_points"])
    lists = (tuple(map(str, fields[name])) for name in ("decisions", "rules", "done", "commands", "open"))
    return Summary(str(fields["topic"]), points, (), *lists)


def _reading(fields: Mapping[str, Any]) -> ReadUpTo:
    turns = tuple(map(_turn, fields["turns"]))
    cwd, branch, title, started_at = (str(fields[name]) for name in ("cwd", "branch", "title", "started_at"))
    last = _turn(fields.get("last", {}))  # records of earlier versions have none
    secrets = int(fields.get("secrets", 0))
    return ReadUpTo(int(fields["offset"]), int(fields["mark"]), turns, cwd, branch, title, started_at, last, secrets)


def _turn_fields(turn: Turn) -> dict[str, Any]:
    empty = Turn()._asdict()
    fields = {name: value for name, value in turn._asdict().items() if value != empty[name]}
    return fields | ({"at": turn.at.isoformat()} if turn.at else {})


def _turn(fields: Mapping[str, Any]) -> Turn:
    given = dict(fields)
    for name in ("chosen", "files"):
        given[name] = tuple(map(str, given.get(name, ())))
    given["told"] = tuple(Piece(str(text), float(value)) for text, value in given.get("told", ()))
    given["offered"] = tuple((str(label), str(text)) for label, text in given.get("offered", ()))
    given["runs"] = tuple(Run(str(command), str(error)) for command, error in given.get("runs", ()))
    given["edits"] = tuple((str(file), int(after)) for file, after in given.get("edits", ()))
    given["at"] = datetime.fromisoformat(given["at"]) if "at" in given else None
    return Turn(**given)


def find_uncaptured(vault: Vault, folder: Path, now: float, client: str = "") -> list[Job]:
    """Return a job for each recent session below *folder* that is new or has grown since, newest first."""
    found = [one for one in form_of_client(client).sessions(folder, now - RECENT) if one.size]
    jobs = (
        Job(one.session_id, str(one.path), event="SessionStart", queued_at=now, client=client)
        for one in sorted(found, key=lambda one: (one.changed_at, str(one.path)), reverse=True)
        if not (record := read_record(vault, one.session_id)).off and (record.owed or not is_captured(record, one))
    )
    return [job for job, _ in zip(jobs, range(MOST), strict=False)]


def is_captured(record: Record, found: KeptSession) -> bool:
    """Return whether the session was captured, as *record* says, and has not grown since, or is not to be captured."""
    return record.off or (record.size == found.size if found.size else bool(record.size))
