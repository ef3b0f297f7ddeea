"""What was captured of each session, in `.memtool/captured/`: it tells what is new, and what the owner wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from memtool.capture.summary import Summary
from memtool.vault.layout import Vault, make_state_folder, read_state, write_state
from memtool.vault.sessions import KeyPoint, session_ref

_LARGEST = 16_777_216  # bytes; a record that is larger was not written by memtool


class Record(NamedTuple):
    """How a session stood when it was captured last.

    Args:
        size: of the transcript, in bytes.
        digest: of the conversation that the summary was made from.
        provider: who wrote the summary; empty for none but ourselves.
        model_at: when a model was asked last, in seconds since 1970.
        owed: whether a model was wanted and has not answered yet.
        base: the note as it was generated, before the owner's own changes.
        summary: what it says.
    """

    size: int = 0
    digest: str = ""
    provider: str = ""
    model_at: float = 0.0
    owed: bool = False
    base: str = ""
    summary: Summary = Summary()


def read_record(vault: Vault, session_id: str) -> Record:
    """Return what is known of the session; an empty record where nothing is."""
    try:
        fields: Any = json.loads(read_state(_path(vault, session_id), largest=_LARGEST))
        summary = _summary(fields.pop("summary", {}))
        record = Record(**fields, summary=summary)
    except (OSError, ValueError, TypeError, AttributeError, LookupError, RecursionError):
        return Record()
    empty = Record()
    return record if all(type(value) is type(default) for value, default in zip(record, empty, strict=True)) else empty


def write_record(vault: Vault, session_id: str, record: Record) -> None:
    """Keep *record*. If that fails, the session is captured once more later on: nothing is lost."""
    path = _path(vault, session_id)
    fields = record._asdict() | {"summary": _fields(record.summary)}
    with suppress(OSError):
        make_state_folder(path.parent)
        write_state(path, json.dumps(fields).encode())


def _path(vault: Vault, session_id: str) -> Path:
    return vault.state_path / "captured" / f"{Path(session_ref(session_id)).stem}.json"


def _fields(summary: Summary) -> dict[str, Any]:
    return summary._asdict() | {"key_points": [list(point) for point in summary.key_points]}


def _summary(fields: Mapping[str, Any]) -> Summary:
    points = tuple(KeyPoint(str(text), str(kind), tuple(map(str, tags))) for text, kind, tags in fields["key_points"])
    lists = {name: tuple(map(str, fields[name])) for name in ("decisions", "done", "open")}
    return Summary(str(fields["topic"]), points, **lists)
