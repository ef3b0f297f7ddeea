"""The files of the kept sources of sessions: `transcripts/<year>/<session>.jsonl.gz` (docs/vault-format.md).

The first line describes the session, each following line is a turn, and the last one holds the note as memtool wrote
it last. A file may come from a stranger: what it holds is bounded and checked when it is read. Its turns as values are
in `memtool.capture.source`.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, NamedTuple

from memtool.errors import BrokenVaultFile
from memtool.settings.sections import TranscriptSettings
from memtool.vault import limits
from memtool.vault.files import make_folder, read_content
from memtool.vault.layout import Vault, session_name
from memtool.vault.state import make_state_folder, read_record, write_state, writing_in

FOLDER = "transcripts"
SUFFIX = ".jsonl.gz"


_ASIDE = "undone"  # folder in `.memtool`
_IGNORE = ".gitignore"
_YEAR = re.compile("[0-9]{4}")


class KeptSource(NamedTuple):
    """The file of a source: the name of its session, its *path*, size in bytes, and when the session ended."""

    name: str
    path: Path
    size: int
    ended_at: float


def source_ref(vault: Vault, session_id: str, started_at: datetime | None = None) -> str:
    """Return the path of the source of a session: where it lies, else in the year of the session's first day.

    Empty if there is none and *started_at* is not given.
    """
    name = f"{session_name(session_id)}{SUFFIX}"
    for year in years_of(vault):
        if (vault.root / FOLDER / year / name).is_file():
            return f"{FOLDER}/{year}/{name}"
    return f"{FOLDER}/{started_at.astimezone().year:04}/{name}" if started_at else ""


def read_lines(vault: Vault, ref: str) -> bytes:
    """Return the lines of the source at *ref*.

    Raises:
        BrokenVaultFile: it cannot be read, or is too large.
        OutsideVault: a symlink leads out of the vault.
    """
    try:
        return unpacked(ref, read_content(vault.path(ref), largest=16_777_216))
    except OSError as error:
        raise BrokenVaultFile(f"'{ref}' cannot be read: {error.strerror}") from None


def unpacked(ref: str, packed: bytes) -> bytes:
    """Return the unpacked content of the file *packed* of the source at *ref*.

    Raises:
        BrokenVaultFile: it is damaged, or too large.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            content = file.read(limits.SOURCE + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BrokenVaultFile(f"'{ref}' cannot be unpacked: {error}") from None
    if len(content) > limits.SOURCE:
        raise BrokenVaultFile(f"'{ref}' unpacks to more than {limits.SOURCE >> 20} MB")
    return content


def lines_in(content: bytes) -> Iterator[bytes]:
    """Give the lines of *content*, up to more than any session has turns: a list of them all could be a bomb."""
    yield from islice(io.BytesIO(content), 100_000)


def objects_in(content: bytes) -> Iterator[dict[str, Any]]:
    """Give the JSON objects on the lines of *content*; a line that is none is left out."""
    for line in lines_in(content):
        with suppress(ValueError, RecursionError):
            fields = json.loads(line)
            if isinstance(fields, dict):
                yield fields


def note_in(content: bytes) -> dict[str, Any]:
    """Return the note that the last line of *content* holds, as memtool wrote it; empty if there is none."""
    last = next(objects_in(content.rstrip(b"\n").rpartition(b"\n")[2]), {})
    note = last.get("note")
    return note if isinstance(note, dict) else {}


def ignore_sources(vault: Vault) -> None:
    """Let git ignore the folder of sources, unless its owner has changed its `.gitignore`.

    Raises:
        OSError: it cannot be written.
    """
    path = vault.path(f"{FOLDER}/{_IGNORE}")
    make_folder(path.parent)
    with suppress(FileExistsError), open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write("*\n")


def is_source(ref: str) -> bool:
    """Return whether *ref* is the path of a source."""
    return ref.startswith(f"{FOLDER}/") and ref.endswith(SUFFIX)


def is_in_git(vault: Vault) -> bool:
    """Return whether the vault's owner wants its sources in git: the line `*` is not in `transcripts/.gitignore`."""
    with suppress(OSError, UnicodeDecodeError):
        return "*" not in (vault.root / FOLDER / _IGNORE).read_text(encoding="utf-8").split()
    return False


def list_sources(vault: Vault) -> list[KeptSource]:
    """Return all sources of *vault*, those of the oldest sessions first."""
    found: list[KeptSource] = []
    for year in years_of(vault):
        with suppress(OSError), os.scandir(vault.root / FOLDER / year) as entries:
            for entry in entries:
                if entry.name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
                    about, name = entry.stat(follow_symlinks=False), entry.name.removesuffix(SUFFIX)
                    found.append(KeptSource(name, Path(entry.path), about.st_size, about.st_mtime))
    return sorted(found, key=lambda one: (one.ended_at, one.name))


def remove_source(vault: Vault, session_id: str) -> bool:
    """Remove the source of the session, also one that was set aside; return whether there was one."""
    bring_back(vault, session_id)
    ref = source_ref(vault, session_id)
    if ref:
        vault.path(ref).unlink(missing_ok=True)
    return bool(ref)


def set_aside(vault: Vault, session_id: str) -> None:
    """Take the source of a session whose capture was undone out of the vault, until `bring_back`."""
    if ref := source_ref(vault, session_id):
        aside = vault.state_path / _ASIDE / ref
        with writing_in(aside.parent):
            make_state_folder(aside.parent)
            os.replace(vault.path(ref), aside)


def bring_back(vault: Vault, session_id: str) -> None:
    """Put the source back that was set aside, unless the session has a newer one."""
    name = f"{session_name(session_id)}{SUFFIX}"
    for aside in (vault.state_path / _ASIDE / FOLDER).glob(f"[0-9][0-9][0-9][0-9]/{name}"):
        path = vault.path(f"{FOLDER}/{aside.parent.name}/{name}")
        with writing_in(path.parent):
            make_folder(path.parent)
            if path.exists():
                aside.unlink()
            else:
                os.replace(aside, path)


class Removal(NamedTuple):
    """The last time that sources were removed because of their age or size: ISO 8601, and how many *sessions*."""

    at: str = ""
    sessions: int = 0


def trim_sources(vault: Vault, settings: TranscriptSettings, now: datetime) -> int:
    """Remove the sources of the oldest sessions beyond what *settings* keep; return how many.

    Raises:
        NotWritable: a source cannot be removed.
    """
    kept = list_sources(vault)
    oldest = (now - timedelta(days=settings.keep_days)).timestamp() if settings.keep_days else 0.0
    excess = sum(one.size for one in kept) - (settings.max_mb << 20) if settings.max_mb else 0
    gone = [
        one
        for one, before in zip(kept, accumulate((one.size for one in kept), initial=0), strict=False)
        if one.ended_at < oldest or before < excess
    ]
    if gone:
        with writing_in(vault.root / FOLDER):
            for one in gone:
                one.path.unlink(missing_ok=True)
        with suppress(OSError):
            write_state(_removal_path(vault), json.dumps(Removal(now.isoformat(), len(gone))._asdict()).encode())
    return len(gone)


def last_removal(vault: Vault) -> Removal | None:
    """Return when `trim_sources` has removed something last; None if it never has."""
    return read_record(_removal_path(vault), Removal(), largest=4_096)


def _removal_path(vault: Vault) -> Path:
    return vault.state_path / "transcripts.json"


def years_of(vault: Vault) -> list[str]:
    """Return the names of the folders of years. A symlink is none: a vault does not choose what is removed."""
    folder = vault.root / FOLDER
    with suppress(OSError), os.scandir(folder) as entries:
        if not folder.is_symlink():
            return sorted(
                one.name for one in entries if _YEAR.fullmatch(one.name) and one.is_dir(follow_symlinks=False)
            )
    return []
