"""The kept source of a session: its turns, redacted, in `transcripts/<year>/<session>.jsonl.gz` (docs/vault-format.md).

Clients delete their transcripts. What a note leaves out can still be read here, and the note can be written anew.

`memtool.vault.sources` finds and reads the files; here their lines become values and the other way round.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple, TypeVar, get_args

from memtool.capture import limits
from memtool.capture.turns import AgentPlan, Dialog, Fate, FileEdit, Run, Turn
from memtool.capture.view import shown
from memtool.errors import BrokenVaultFile
from memtool.text.lines import one_line
from memtool.text.tokens import index_terms
from memtool.vault.files import make_folder, write_over
from memtool.vault.forgotten import ForgottenTexts
from memtool.vault.layout import Vault
from memtool.vault.sessions import Draft, Line
from memtool.vault.sources import ignore_sources, objects_in, read_lines, source_ref, unpacked
from memtool.vault.state import writing_in

FORMAT = 1

_PARTS: Mapping[str, type[Any]] = {
    "dialogs": Dialog, "plans": AgentPlan, "edits": FileEdit, "runs": Run, "lines": Line,
}  # fmt: skip
_LISTS = ("options", "messages", "files")  # of texts
_MARKS = re.compile(r"^\s*(?:[-*+]\s+(?:\[[ xX]\]\s+)?|#+\s+|\d+\.\s+)|\s*\((?:agent|user)\)\s*$")
_LEAST = 0.5  # of the words of a line that stand in the turn that it came from

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
    if sum(map(len, turns)) > limits.RECORD_BYTES:
        middle = slice(limits.FIRST, max(limits.FIRST, len(turns) - limits.SOURCE_LAST_TURNS))
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
        elif (turn := made_of(Turn, fields)) is not None:
            turns.append(turn)
    names = {"session_id": "session", "started_at": "started", "ended_at": "ended"}
    given = {field: head.get(names.get(field, field)) for field in Source._fields if field not in ("turns", "note")}
    source = made_of(Source, {name: value for name, value in given.items() if value is not None}) or Source()
    return source._replace(turns=tuple(turns), note=note)


def made_of(kind: type[T], fields: object) -> T | None:
    """Return the value of *kind* that *fields* describe, without those that it does not have; None if it is none."""
    if not isinstance(fields, dict):
        return None
    defaults = kind._field_defaults  # type: ignore[attr-defined]
    given: dict[str, Any] = {}
    for name in kind._fields:  # type: ignore[attr-defined]
        if name not in fields:
            continue
        value, default = _value(name, fields[name]), defaults.get(name, () if name in _LISTS else "")
        if value is None or (default is not None and type(value) is not type(default)):
            return None
        given[name] = value
    try:
        return kind(**given)
    except TypeError:  # a field is missing
        return None


def _value(name: str, value: Any) -> Any:  # noqa: ANN401  (anything that a source holds)
    """Return the *value* of the field *name*; None if it cannot have that."""
    if name in ("at", "started_at", "ended_at"):
        return _time(value)
    if name == "draft":
        return made_of(Draft, value)
    if name in _PARTS or name in _LISTS:
        kind = _PARTS.get(name)
        made = [made_of(kind, each) if kind else each for each in value] if isinstance(value, list) else [None]
        return tuple(made) if all(isinstance(each, kind or str) for each in made) else None
    is_fault = (isinstance(value, int) and value < 0) or (name == "fate" and value not in get_args(Fate))
    return None if is_fault else value


def _time(value: object) -> datetime | None:
    with suppress(ValueError):
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
        return at if at and at.tzinfo else None
    return None


class KeptNote(NamedTuple):
    """The content of a note, and how it was made.

    Args:
        writer: `rules`, or the provider of a model; empty if there is none yet.
        draft: what was written.
        text: of the note as it was written, before the owner's own changes.
        size: of the transcript that the writer has seen, in bytes.
        former: the name that its file had before it followed the title of a model's note.
    """

    writer: str = ""
    draft: Draft = Draft()
    text: str = ""
    size: int = 0
    former: str = ""


def kept_note(fields: Mapping[str, Any]) -> KeptNote:
    """Return the note that a source holds; an empty one if it holds none."""
    return made_of(KeptNote, fields) or KeptNote()


def fields_of(note: KeptNote) -> dict[str, Any]:
    """Return *note* as a source holds it."""
    fields: dict[str, Any] = as_fields(note)
    return fields


class TurnRow(NamedTuple):
    """A turn in a list.

    Args:
        number: from 1.
        at: when it began.
        typed: what the user typed, on one line.
        ended: the end of it, on one line: the last message, else the last command, else the files.
        size: of all its texts, in characters.
    """

    number: int
    at: datetime | None
    typed: str
    ended: str
    size: int


def turn_rows(source: Source) -> list[TurnRow]:
    """Return the turns of *source* as a list shows them."""
    return [
        TurnRow(number, turn.at, one_line(turn.typed), _ended(turn), len(turn_text(turn, number)))
        for number, turn in enumerate(source.turns, 1)
    ]


def turn_text(turn: Turn, number: int) -> str:
    """Return the whole *turn*, which has this *number*."""
    return shown([turn], 0, first=number)


def without_forgotten(source: Source, gone: ForgottenTexts) -> Source:
    """Return *source* with `[forgotten]` in its turns where they say what is *gone*."""
    return source._replace(turns=tuple(_hidden(turn, gone) for turn in source.turns))


def _hidden(value: Any, gone: ForgottenTexts) -> Any:  # noqa: ANN401  (a turn, or anything that it holds)
    if isinstance(value, str):
        return gone.hidden_in(value)
    if not isinstance(value, tuple):
        return value
    parts = [_hidden(each, gone) for each in value]
    return value._make(parts) if hasattr(value, "_make") else tuple(parts)


def turn_of(source: Source, line: str) -> int:
    """Return the number of the turn that the *line* of a note came from: as its writer said, else by its words.

    0 if no turn holds them.
    """
    for each in kept_note(source.note).draft.lines:
        if each.text == line and each.turn:
            return each.turn
    wanted = set(index_terms(line))
    shares = [len(wanted.intersection(index_terms(turn_text(turn, 1)))) for turn in source.turns]
    most = max(shares, default=0)
    return len(shares) - shares[::-1].index(most) if wanted and most >= _LEAST * len(wanted) else 0


def without_marks(line: str) -> str:
    """Return what a *line* of a note says, without its bullet, check box and author."""
    return _MARKS.sub("", line).strip()


def _ended(turn: Turn) -> str:
    last = turn.runs[-1] if turn.runs else None
    work = f"{last.command}: {last.error or last.last_line or 'passed'}" if last else ", ".join(turn.files)
    return one_line(turn.said or work)
