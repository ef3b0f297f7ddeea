"""The kept source of a session: its turns, redacted, in `transcripts/<year>/<session>.jsonl.gz` (docs/vault-format.md).

Clients delete their transcripts. What a note leaves out can still be read here, and the note can be written anew.

`memtool.vault.sources` finds and reads the files; here their lines become values and the other way round.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple, TypeVar, get_args

from memtool.capture.turns import AgentPlan, Dialog, Fate, FileEdit, Run, Turn
from memtool.errors import BrokenVaultFile
from memtool.vault.files import make_folder, write_over
from memtool.vault.layout import Vault
from memtool.vault.sources import ignore_sources, objects_in, read_lines, source_ref, unpacked
from memtool.vault.state import writing_in

FORMAT = 1

_ROOM = 33_554_432  # bytes of the turns that are written; beyond that the middle ones lose the agent's messages
_FIRST, _LAST = 20, 400  # turns that keep them
_PARTS: Mapping[str, type[Any]] = {"dialogs": Dialog, "plans": AgentPlan, "edits": FileEdit, "runs": Run}
_LISTS = ("options", "messages", "files")  # of texts

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


def read_source(vault: Vault, session_id: str) -> Source | None:
    """Return the source of the session, or None where none is kept. Lines that are no turn are left out.

    Raises:
        BrokenVaultFile: it cannot be read, is too large, or is of a later version.
        OutsideVault: a symlink leads out of the vault.
    """
    ref = source_ref(vault, session_id)
    return _parsed(ref, read_lines(vault, ref)) if ref else None


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


def cleaned_source(ref: str, content: bytes, redact: Callable[[str], str]) -> bytes:
    """Return the *content* of a source that comes from elsewhere without secrets.

    Raises:
        BrokenVaultFile: it is none.
    """
    plain = unpacked(ref, content)
    _parsed(ref, plain)
    text = plain.decode("utf-8", "replace")
    return content if (clean := redact(text)) == text else gzip.compress(clean.encode(), mtime=0)


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


def _parsed(ref: str, content: bytes) -> Source:
    objects = objects_in(content)
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
