"""The ledger of a session: its memories and when it was given them, one small file each in `.memtool/ledgers/`.

It knows turns by their number, never by the clock. Compaction, `/clear` and the end of a session clear it. A session
that is resumed after its end has it back, because its context still holds what it was given.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from memtool.errors import NotWritable
from memtool.named_tuple import NamedTuple
from memtool.recall import limits
from memtool.vault.layout import session_name
from memtool.vault.state import make_state_folder, read_record, write_state, writing_in
from memtool.workspace import Workspace

REST = 5  # turns for which a memory is not given again

_NAME = "ledgers"
_SUFFIXES = (".json", ".jsonl")


class Ledger(NamedTuple):
    """The memories that a session has had so far.

    Args:
        turn: how many prompts there were.
        given: the turn in which each memory was given last, by its key.
        hits: the turn in which each memory was found last, given or not.
        reminded: the turn of the last reminder; 0 if there was none.
        start: the block that the session was given at its start.
        known: what it knew then, by path (`memtool.recall.start.session_start`).
        ids: the lines that it was given, by their short ids (`memtool.recall.framing.line_id`).
        is_over: whether the session has ended, and not been resumed since.
        failed: how often each command has failed, by a checksum of it.
    """

    turn: int = 0
    given: Mapping[str, int] = {}
    hits: Mapping[str, int] = {}
    reminded: int = 0
    start: str = ""
    known: Mapping[str, str] = {}
    is_over: bool = False
    ids: Mapping[str, int] = {}
    failed: Mapping[str, int] = {}

    def next_turn(self) -> Ledger:
        """Return the ledger as another prompt comes; a cleared one if the session is over."""
        ledger = self._replace(turn=0, given={}, hits={}, reminded=0, is_over=False) if self.is_over else self
        return ledger._replace(turn=ledger.turn + 1)

    def rests(self, key: str) -> bool:
        """Return whether the memory *key* was given in the last turns, so that it is not given again."""
        return key in self.given and self.turn - self.given[key] <= REST

    def with_hits(self, keys: Iterable[str]) -> Ledger:
        """Return the ledger after the memories *keys* were found."""
        return self._replace(hits=_latest({**self.hits, **dict.fromkeys(keys, self.turn)}))

    def with_ids(self, ids: Mapping[str, int]) -> Ledger:
        """Return the ledger with the short ids of all lines that were given."""
        return self._replace(ids=dict(list(ids.items())[-limits.MOST_KEPT :]))

    def with_failure(self, key: str) -> Ledger:
        """Return the ledger after the command with the checksum *key* has failed once more."""
        return self._replace(
            failed={**dict(list(self.failed.items())[-limits.MOST_KEPT :]), key: self.failed.get(key, 0) + 1}
        )

    def with_given(self, keys: Iterable[str]) -> Ledger:
        """Return the ledger after the memories *keys* were given."""
        return self._replace(given=_latest({**self.given, **dict.fromkeys(keys, self.turn)}))


def key_of(ref: str, fact_id: str = "") -> str:
    """Return the key of a fact, or of the note at *ref*, in ledgers and counts."""
    return f"{ref}#{fact_id}" if fact_id else ref


def line_key(text: str, memory: str) -> str:
    """Return the key of a line in counts: a checksum of its *text*, which is the same wherever its note lies.

    A fact, and a note as a whole, has no text of its own, and is known by the name of the *memory*.
    """
    said = ("".join(filter(str.isalnum, text)) or text)[: limits.COMPARED]
    return f"{zlib.crc32(said.encode('utf-8', 'replace')):08x}{len(said):x}" if said else memory


def ledger_folder(work: Workspace) -> Path:
    """Return the folder of the ledgers: in the vault's `.memtool`; if that cannot be written, where the index lies."""
    folder = work.vault.state_path / _NAME
    with suppress(OSError):
        make_state_folder(folder)
        if os.access(folder, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
            return folder
    with suppress(OSError, NotWritable):
        other = work.index_folder / _NAME
        make_state_folder(other)
        return other
    return folder


def ledger_path(folder: Path, session_id: str, suffix: str = _SUFFIXES[0]) -> Path:
    """Return the path of the ledger of a session; with another *suffix*, that of what it was given."""
    return folder / f"{session_name(session_id)}{suffix}"


def read_ledger(folder: Path, session_id: str) -> Ledger:
    """Return the ledger of a session; an empty one where there is none, or one that memtool did not write."""
    ledger = read_record(ledger_path(folder, session_id), Ledger(), largest=limits.LARGEST_READ)
    return ledger if ledger and _is_sound(ledger) else Ledger()


def write_ledger(folder: Path, session_id: str, ledger: Ledger) -> None:
    """Keep *ledger*.

    Raises:
        NotWritable: what is given now would be given again and again, so the caller gives nothing.
    """
    with writing_in(folder):
        write_state(ledger_path(folder, session_id), json.dumps(ledger._asdict()).encode())


def clear_ledger(folder: Path, session_id: str) -> None:
    """Forget what a session was given."""
    with suppress(OSError):
        make_state_folder(folder)
        ledger_path(folder, session_id).unlink(missing_ok=True)


def sweep_ledgers(folder: Path, now: float) -> None:
    """Remove the ledgers, and the records of `memtool.recall.given`, that nobody has touched for a week.

    The newest few stay. Those of the future come from a clock that was wrong.
    """
    with suppress(OSError):
        make_state_folder(folder)
        for suffix in _SUFFIXES:
            for touched_at, path in sorted(_files_in(folder, suffix))[:-50]:
                if abs(now - touched_at) > 7 * 86_400:
                    with suppress(OSError):
                        path.unlink()


def _files_in(folder: Path, suffix: str) -> Iterator[tuple[float, Path]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False):
                yield entry.stat(follow_symlinks=False).st_mtime, Path(entry.path)


def _latest(turns: dict[str, int]) -> dict[str, int]:
    return dict(sorted(turns.items(), key=lambda item: item[1])[-limits.MOST_KEPT :])


def _is_sound(ledger: Ledger) -> bool:
    if any(type(mark) is not int for mark in ledger.ids.values()):
        return False
    turns = [ledger.turn, ledger.reminded, *ledger.given.values(), *ledger.hits.values(), *ledger.failed.values()]
    return all(type(turn) is int for turn in turns) and all(type(text) is str for text in ledger.known.values())
