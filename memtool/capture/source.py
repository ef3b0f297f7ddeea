"""The kept source of a session: its turns, redacted, in `transcripts/<year>/<session>.jsonl.gz` (docs/vault-format.md).

Clients delete their transcripts. What a note leaves out can still be read here, and the note can be written anew.

The first line describes the session, each following line is a turn, and the last one holds the note as memtool wrote
it last. A file may come from a stranger: what it holds is bounded and checked when it is read.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

from memtool.capture.turns import AgentPlan, Dialog, Fate, FileEdit, Run, Turn
from memtool.errors import BrokenVaultFile
from memtool.settings.sections import TranscriptSettings
from memtool.vault.files import make_folder, read_content, write_over
from memtool.vault.layout import Vault, session_name
from memtool.vault.state import make_state_folder, read_record, write_state, writing_in

FOLDER = "transcripts"
FORMAT = 1

_SUFFIX = ".jsonl.gz"
_ASIDE = "undone"  # folder in `.memtool`
_IGNORE = ".gitignore"
_LARGEST_PACKED, _LARGEST = 16_777_216, 134_217_728  # bytes of a file, and of what it unpacks to
_LARGEST_RECORD = 4_096
_ROOM = 33_554_432  # bytes of the turns that are written; beyond that the middle ones lose the agent's messages
_FIRST, _LAST = 20, 400  # turns that keep them
_YEAR = re.compile("[0-9]{4}")
_PARTS: Mapping[str, type[Any]] = {"dialogs": Dialog, "plans": AgentPlan, "edits": FileEdit, "runs": Run}
_LISTS = ("options", "messages", "files")  # of texts
MB = 1_048_576

T = TypeVar("T", bound=tuple[Any, ...])


class Source(NamedTuple):
    """The kept source of a session.

    Args:
        session_id, client, cwd, branch, title: as the client named them, redacted.
        started_at, ended_at: times of its first and last record.
        size: of its transcript when it was read last, in bytes.
        turns: all of them, in order; numbers of turns count from 1.
        note: what memtool wrote last as the session's note, in the form of whoever wrote it.
    """

    session_id: str = ""
    client: str = ""
    cwd: str = ""
    branch: str = ""
    title: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    size: int = 0
    turns: tuple[Turn, ...] = ()
    note: Mapping[str, Any] = {}


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
    name = f"{session_name(session_id)}{_SUFFIX}"
    for year in _years(vault):
        if (vault.root / FOLDER / year / name).is_file():
            return f"{FOLDER}/{year}/{name}"
    return f"{FOLDER}/{started_at.astimezone().year:04}/{name}" if started_at else ""


def read_source(vault: Vault, session_id: str) -> Source | None:
    """Return the source of the session, or None where none is kept. Lines that are no turn are left out.

    Raises:
        BrokenVaultFile: it cannot be read, is too large, or is of a later version.
        OutsideVault: a symlink leads out of the vault.
    """
    ref = source_ref(vault, session_id)
    try:
        return _parsed(ref, _unpacked(ref, read_content(vault.path(ref), largest=_LARGEST_PACKED))) if ref else None
    except OSError as error:
        raise BrokenVaultFile(f"'{ref}' cannot be read: {error.strerror}") from None


def find_source(vault: Vault, session_id: str) -> Source | None:
    """Return the source of the session; None also where it cannot be read, so that it is made anew."""
    with suppress(BrokenVaultFile):
        return read_source(vault, session_id)
    return None


def write_source(vault: Vault, source: Source, now: datetime) -> str:
    """Keep *source* and return its path in the vault. The file bears the time at which the session ended.

    Raises:
        NotWritable: the vault cannot be written.
        OutsideVault: a symlink leads out of the vault.
    """
    ref = source_ref(vault, source.session_id, source.started_at or source.ended_at or now)
    path = vault.path(ref)
    content = gzip.compress(_rendered(source), mtime=0)
    with writing_in(path.parent):
        if not path.parent.is_dir():
            make_folder(path.parent)
            ignore_sources(vault)
        write_over(path, content, durable=True)
        ended_at = (source.ended_at or now).timestamp()
        os.utime(path, (ended_at, ended_at))
    return ref


def ignore_sources(vault: Vault) -> None:
    """Let git ignore the folder of sources, unless its owner has said something else there.

    Raises:
        OSError: it cannot be written.
    """
    path = vault.path(f"{FOLDER}/{_IGNORE}")
    make_folder(path.parent)
    with suppress(FileExistsError), open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write("*\n")


def is_source(ref: str) -> bool:
    """Return whether a source lies at *ref*."""
    return ref.startswith(f"{FOLDER}/") and ref.endswith(_SUFFIX)


def cleaned_source(ref: str, content: bytes, redact: Callable[[str], str]) -> bytes:
    """Return the *content* of a source that comes from elsewhere without secrets.

    Raises:
        BrokenVaultFile: it is none.
    """
    plain = _unpacked(ref, content)
    _parsed(ref, plain)
    text = plain.decode("utf-8", "replace")
    return content if (clean := redact(text)) == text else gzip.compress(clean.encode(), mtime=0)


def is_in_git(vault: Vault) -> bool:
    """Return whether the vault's owner wants its sources in git: the line `*` is not in `transcripts/.gitignore`."""
    with suppress(OSError, UnicodeDecodeError):
        return "*" not in (vault.root / FOLDER / _IGNORE).read_text(encoding="utf-8").split()
    return False


def list_sources(vault: Vault) -> list[KeptSource]:
    """Return all sources of *vault*, those of the oldest sessions first."""
    found: list[KeptSource] = []
    for year in _years(vault):
        with suppress(OSError), os.scandir(vault.root / FOLDER / year) as entries:
            for entry in entries:
                if entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False):
                    about, name = entry.stat(follow_symlinks=False), entry.name.removesuffix(_SUFFIX)
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
    name = f"{session_name(session_id)}{_SUFFIX}"
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
    """Remove the sources of the oldest sessions beyond what *settings* keep; return how many. `last_removal` tells.

    Raises:
        NotWritable: a source cannot be removed.
    """
    kept = list_sources(vault)
    oldest = (now - timedelta(days=settings.keep_days)).timestamp() if settings.keep_days else 0.0
    excess = sum(one.size for one in kept) - settings.max_mb * MB if settings.max_mb else 0
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
    return read_record(_removal_path(vault), Removal(), largest=_LARGEST_RECORD)


def _removal_path(vault: Vault) -> Path:
    return vault.state_path / "transcripts.json"


def _years(vault: Vault) -> list[str]:
    """Return the names of the folders of years. A symlink is none: a vault does not choose what is removed."""
    folder = vault.root / FOLDER
    with suppress(OSError), os.scandir(folder) as entries:
        if not folder.is_symlink():
            return sorted(
                one.name for one in entries if _YEAR.fullmatch(one.name) and one.is_dir(follow_symlinks=False)
            )
    return []


def _rendered(source: Source) -> bytes:
    head = {"format": FORMAT, "session": source.session_id, "client": source.client, "cwd": source.cwd,
            "branch": source.branch, "title": source.title, "started": source.started_at,
            "ended": source.ended_at, "size": source.size}  # fmt: skip
    turns = [_line(as_fields(turn)) for turn in source.turns]
    if sum(map(len, turns)) > _ROOM:
        middle = slice(_FIRST, max(_FIRST, len(turns) - _LAST))
        turns[middle] = [_line(as_fields(turn._replace(messages=turn.messages[-1:]))) for turn in source.turns[middle]]
    return b"".join([_line(as_fields(head)), *turns, _line({"note": source.note})])


def _line(fields: object) -> bytes:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def as_fields(value: Any) -> Any:  # noqa: ANN401  (anything that a source holds)
    """Return *value* as JSON knows it; of objects without the fields that are as they are by default."""
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "_asdict"):
        defaults = value._field_defaults
        return {name: as_fields(each) for name, each in value._asdict().items() if each != defaults.get(name)}
    if isinstance(value, dict):
        return {name: as_fields(each) for name, each in value.items() if each not in ("", None, 0)}
    return [as_fields(each) for each in value] if isinstance(value, tuple) else value


def _unpacked(ref: str, packed: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            content = file.read(_LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BrokenVaultFile(f"'{ref}' cannot be unpacked: {error}") from None
    if len(content) > _LARGEST:
        raise BrokenVaultFile(f"'{ref}' unpacks to more than {_LARGEST // MB} MB")
    return content


def _parsed(ref: str, content: bytes) -> Source:
    objects = _objects(content)
    head = next(objects, {})
    if not isinstance(version := head.get("format"), int) or not head.get("session"):
        raise BrokenVaultFile(f"'{ref}' is no source of a session: its first line does not describe one")
    if version > FORMAT:
        raise BrokenVaultFile(f"'{ref}' has format {version}; this memtool knows format {FORMAT}")
    note: Mapping[str, Any] = {}
    turns: list[Turn] = []
    for fields in objects:
        if isinstance(found := fields.get("note"), dict):
            note = found
        elif (turn := _turn(fields)) is not None:
            turns.append(turn)
    names = {"session_id": "session", "started_at": "started", "ended_at": "ended"}
    given = {field: head.get(names.get(field, field)) for field in Source._fields if field not in ("turns", "note")}
    source = made_of(Source, {name: value for name, value in given.items() if value is not None}) or Source()
    return source._replace(turns=tuple(turns), note=note)


def _objects(content: bytes) -> Iterator[dict[str, Any]]:
    for line in content.splitlines():
        with suppress(ValueError, RecursionError):
            fields = json.loads(line)
            if isinstance(fields, dict):
                yield fields


def _turn(fields: Mapping[str, Any]) -> Turn | None:
    """Return the turn in *fields*; None if one of them has another type."""
    given = dict(fields)
    for name, kind in _PARTS.items():
        parts = given.get(name, [])
        made = [made_of(kind, part) for part in parts if isinstance(part, dict)] if isinstance(parts, list) else [None]
        if None in made:
            return None
        given[name] = tuple(made)
    return made_of(Turn, given)


def made_of(kind: type[T], fields: Mapping[str, Any]) -> T | None:
    """Return the value of *kind* that *fields* describe, without those that it does not have; None if it is none."""
    defaults = kind._field_defaults  # type: ignore[attr-defined]
    given: dict[str, Any] = {}
    for name in kind._fields:  # type: ignore[attr-defined]
        if name not in fields:
            continue
        value, default = fields[name], defaults.get(name, () if name in _LISTS else "")
        if name in ("at", "started_at", "ended_at"):
            value = _time(value)
        elif name in _LISTS:
            value = (
                tuple(value)
                if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
                else None
            )
        if type(value) is not type(default) and default is not None:
            return None
        if (isinstance(value, int) and value < 0) or (name == "fate" and value not in get_args(Fate)):
            return None
        given[name] = value
    try:
        return kind(**given)
    except TypeError:  # a field is missing
        return None


def _time(value: object) -> datetime | None:
    with suppress(ValueError):
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
        return at if at and at.tzinfo else None
    return None
