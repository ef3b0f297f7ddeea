"""Where the note of a session is, wherever its owner has put it; and the name of a new one."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import date
from itertools import chain, count
from pathlib import PurePosixPath

from memtool.capture.kept_note import kept_note
from memtool.capture.note_names import name_from
from memtool.capture.source import Source
from memtool.vault.layout import ARCHIVE, Vault, session_ref
from memtool.vault.scan import scan
from memtool.vault.session_names import find_moved, note_of, session_at
from memtool.vault.sessions import is_as_written
from memtool.vault.uncommitted import note_uncommitted
from memtool.workspace import Workspace


def place_of_note(work: Workspace, source: Source, recorded: str) -> str:
    """Return the path of the session's note, which was at *recorded* before; or that of a new one."""
    vault = work.vault
    ref = note_of(vault, source.session_id)
    if (vault.root / ref).is_file() and session_at(vault, ref) in (source.session_id, PurePosixPath(ref).stem):
        return ref
    if (recorded or kept_note(source.note).text) and (moved := find_moved(vault, source.session_id)):
        return moved
    if recorded or work.settings.sessions.names == "id":
        return recorded or session_ref(source.session_id)
    name = name_from(turn.typed for turn in source.turns if not turn.pasted) or "session"
    return _free_ref(work, source, name)


def follow_title(work: Workspace, source: Source, ref: str, title: str) -> str:
    """Rename the note at *ref* after its *title* and return its new path; empty where it keeps its name.

    It does so if its owner edited, moved or links to it. The day's own line does not count.
    """
    vault, stem = work.vault, PurePosixPath(ref).stem
    day, name = f"{_day(work, source)}-", name_from([title])
    is_ours = ref == f"sessions/{stem}.md" and stem.startswith(day) and work.settings.sessions.names != "id"
    if not is_ours or name in ("", stem.removeprefix(day)) or not _is_untouched(vault, ref) or _is_linked(vault, ref):
        return ""
    renamed = _free_ref(work, source, name)
    with vault.lock():
        note_uncommitted(vault, [ref, renamed])
        os.replace(vault.path(ref), vault.path(renamed))
    return renamed


def _is_untouched(vault: Vault, ref: str) -> bool:
    with suppress(OSError, UnicodeDecodeError):
        return is_as_written(vault.path(ref).read_text(encoding="utf-8-sig"))
    return False


def _is_linked(vault: Vault, ref: str) -> bool:
    """Return whether another note than those of days names the note at *ref*."""
    name = PurePosixPath(ref).stem.encode()
    for other in scan(vault.root).stamps:
        if other != ref and not other.startswith(f"{vault.daily}/"):
            with suppress(OSError):
                if name in (vault.root / other).read_bytes():
                    return True
    return False


def _day(work: Workspace, source: Source) -> date:
    return (source.started_at or source.ended_at or work.now()).astimezone().date()


def _free_ref(work: Workspace, source: Source, name: str) -> str:
    day = _day(work, source)
    names = chain([f"{day}-{name}"], (f"{day}-{name}-{number}" for number in count(2)))
    return next(ref for ref in (f"sessions/{name}.md" for name in names) if not _is_taken(work.vault, ref))


def _is_taken(vault: Vault, ref: str) -> bool:
    return any(os.path.lexists(vault.root / place) for place in (ref, f"{ARCHIVE}{ref}"))
