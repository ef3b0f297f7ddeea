"""The tokens that finding something out took, by the client's own figures: for each prompt, those of its turn.

A transcript repeats the usage of a message in each of its records. What a model reads again from its cache is no
discovery and is not counted; what it is shown anew, and what it says, is.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from memtool.capture.transcript.record_fields import content_of, is_by_a_person, text_at, text_in
from memtool.workspace import Workspace

_FIGURES = ("input_tokens", "cache_creation_input_tokens", "output_tokens")
_LARGEST = 67_108_864  # bytes of a transcript
_LETTERS = 40  # of a prompt, by which a note that shortened it is known to tell of it
_MOST = 10_000_000  # tokens of a message; what is more is no figure


class TurnCost(NamedTuple):
    """A prompt, letters only, and the tokens that its turn took."""

    prompt: str
    tokens: int


def turns_in(lines: Iterable[bytes]) -> tuple[TurnCost, ...]:
    """Return the turns of a transcript."""
    return tuple(_turns(lines))


def tokens_of(work: Workspace, session_id: str, asked: str = "") -> int | None:
    """Return the tokens that the turn *asked* of a session took, or all of it; None where that is not known."""
    turns = _read(work.client_folder, session_id)
    wanted = _letters(asked)[:_LETTERS]
    if asked:
        turns = tuple(turn for turn in turns if wanted and wanted in turn.prompt)[:1]
    return sum(turn.tokens for turn in turns) or None


def _read(client: Path, session_id: str) -> tuple[TurnCost, ...]:
    with suppress(OSError, ValueError):
        for path in (client / "projects").glob(f"*/{glob.escape(session_id)}.jsonl"):
            about = path.stat()
            if about.st_size <= _LARGEST:
                return _read_as_it_is(path, about.st_size, about.st_mtime_ns)
    return ()


@lru_cache(maxsize=64)
def _read_as_it_is(path: Path, _size: int, _mtime_ns: int) -> tuple[TurnCost, ...]:
    with path.open("rb") as lines:
        return turns_in(lines)


def _turns(lines: Iterable[bytes]) -> Iterator[TurnCost]:
    prompt, tokens, seen = "", 0, set[str]()
    for line in lines:
        if b'"usage"' not in line and b'"user"' not in line:
            continue
        with suppress(ValueError, RecursionError):
            record = json.loads(line)
            if not isinstance(record, dict) or record.get("isSidechain") is True:
                continue
            message = text_at(record, "message", "id")
            if record.get("type") == "assistant" and message not in seen:
                seen.add(message)
                tokens += _used(record)
            elif record.get("type") == "user" and is_by_a_person(record) and (typed := text_in(content_of(record))):
                yield TurnCost(prompt, tokens)
                prompt, tokens = _letters(typed), 0
    yield TurnCost(prompt, tokens)


def _used(record: dict[str, object]) -> int:
    message = record.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    figures = [usage.get(name) for name in _FIGURES] if isinstance(usage, dict) else []
    return sum(figure for figure in figures if type(figure) is int and 0 <= figure <= _MOST)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
