"""The record of each captured session, in `.memtool/captured/`: how far its transcript was read, and where its note is.

What was said in it is in its kept source (`memtool.capture.source`). A record may be deleted: the next capture reads
the whole transcript. But only the record knows that a session was switched off: without it, the session may be captured
again.

A session without one, or that has grown since, was captured by nobody: the client was killed, or the lid was closed.
"""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from memtool.capture import limits
from memtool.capture.queue import Job
from memtool.capture.transcript.forms import KeptSession, form_of_client
from memtool.clients import CLAUDE_CODE
from memtool.history.changes import Change
from memtool.history.undoing import Undone, undo
from memtool.index.engine import catch_up
from memtool.text.json_places import object_in
from memtool.vault.layout import Vault, session_name
from memtool.vault.session_names import recorded_ref
from memtool.vault.sources import bring_back, set_aside
from memtool.vault.state import make_state_folder, read_state, write_state, writing_in
from memtool.workspace import Workspace


class Record(NamedTuple):
    """The state of a session when it was captured last.

    Args:
        size: of the transcript, in bytes.
        offset: where in the transcript the last turn begins, which may go on; 0 if all is to be read again.
        mark: the checksum of the bytes before it, by which the file is known.
        secrets: how many were found. Such a session is read whole each time: what they are is not kept.
        ref: the path of its note; empty if it has none.
        model_at: when a model was asked last, in seconds since 1970.
        owed: whether a model was wanted and has not answered yet.
        off: whether the user has switched capture off for it.
    """

    size: int = 0
    offset: int = 0
    mark: int = 0
    secrets: int = 0
    ref: str = ""
    model_at: float = 0.0
    owed: bool = False
    off: bool = False


class Captured(NamedTuple):
    """The outcome of capturing a session.

    Args:
        refs: the files that were written.
        topic, project: of the session.
        fallback: why rules wrote the note although a model was asked.
        retry_may_help: whether asking again may help.
        client: whose session it was.
    """

    refs: tuple[str, ...] = ()
    topic: str = ""
    project: str = ""
    fallback: str = ""
    retry_may_help: bool = False
    client: str = CLAUDE_CODE


def read_record(vault: Vault, session_id: str) -> Record:
    """Return the record of the session; an empty one where nothing is known. Of other versions it holds only `off`."""
    try:
        fields = object_in(read_state(record_path(vault, session_id), largest=limits.BLOCK_BYTES))
    except OSError:
        return Record()
    is_ours = all(type(fields.get(name)) is type(value) for name, value in Record()._asdict().items())
    return Record(**fields) if is_ours and len(fields) == len(Record()) else Record(off=fields.get("off") is True)


def write_record(vault: Vault, session_id: str, record: Record) -> None:
    """Keep *record*.

    Raises:
        NotWritable: it is not kept, so that the session will be captured once more, also one that was switched off.
    """
    path = record_path(vault, session_id)
    with writing_in(path.parent):
        if not path.parent.is_dir():  # else it would be searched for symlinks, for each of thousands of files
            make_state_folder(path.parent)
        write_state(path, json.dumps(record._asdict(), ensure_ascii=False).encode("utf-8", "replace"))


def set_capture(vault: Vault, session_id: str, *, enabled: bool) -> None:
    """Set whether the session may be captured, by hooks, sweeps and imports."""
    record = read_record(vault, session_id)
    if record.off == enabled:
        write_record(vault, session_id, record._replace(off=not enabled))


def take_back(work: Workspace, change: Change) -> Undone:
    """Revert *change*, with what is recorded of captured sessions, and bring the index up to date.

    Raises:
        MemtoolError: as `memtool.history.undoing.undo`.
    """
    done = undo(work.vault, change)
    follow_undo(work.vault, change)
    catch_up(work)
    return done


def follow_undo(vault: Vault, change: Change) -> None:
    """Let sessions whose first capture was taken back be captured no more, and those that are back again.

    Their sources are put aside with them.
    """
    for file in change.files:
        if file.path.startswith("sessions/") and file.status != "changed":
            name, is_gone = Path(file.path).stem, not vault.path(file.path).exists()
            if not record_path(vault, name).exists():
                names = (path.stem for path in record_path(vault, "x").parent.glob("*.json"))
                name = next((one for one in names if recorded_ref(vault, one) == file.path), name)
            set_capture(vault, name, enabled=not is_gone)
            (set_aside if is_gone else bring_back)(vault, name)


def record_path(vault: Vault, session_id: str) -> Path:
    """Return where the record of the session lies."""
    return vault.state_path / "captured" / f"{session_name(session_id)}.json"


def find_uncaptured(vault: Vault, folder: Path, now: float, client: str = "") -> list[Job]:
    """Return a job for each recent session below *folder* that is new or has grown since, newest first."""
    found = [one for one in form_of_client(client).sessions(folder, now - limits.RECENT_SECONDS) if one.size]
    jobs = (
        Job(one.session_id, str(one.path), event="SessionStart", queued_at=now, client=client)
        for one in sorted(found, key=lambda one: (one.changed_at, str(one.path)), reverse=True)
        if not (record := read_record(vault, one.session_id)).off and (record.owed or not needs_no_capture(record, one))
    )
    return list(islice(jobs, 100))


def needs_no_capture(record: Record, found: KeptSession) -> bool:
    """Return whether the session was captured, as *record* says, and has not grown since, or is not to be captured."""
    return record.off or (record.size == found.size if found.size else bool(record.size))
