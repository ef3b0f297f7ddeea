"""What a session was given, and when: one small file for each session in `.memtool/ledgers/`.

It knows turns by their number, never by the clock. Compaction and the end of a session clear it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from memtool.errors import NotWritable
from memtool.vault.layout import Vault, make_state_folder
from memtool.vault.sessions import session_ref

REST = 5  # turns for which a memory is not given again

_KEPT = 7 * 86_400.0  # seconds after which a ledger that nobody has touched is removed
_MOST = 200  # memories that are remembered, the latest
_LARGEST = 1_048_576  # bytes; a ledger that is larger was not written by memtool


class Ledger(NamedTuple):
    """What a session has had so far.

    Args:
        turn: how many prompts there were.
        given: the turn in which each memory was given last, by its key.
        hits: the turn in which each memory was found last, given or not.
        reminded: the turn of the last reminder; 0 if there was none.
        start: the block that the session was given at its start.
        known: what it knew then, by path (`memtool.recall.start.session_start`).
    """

    turn: int = 0
    given: Mapping[str, int] = {}
    hits: Mapping[str, int] = {}
    reminded: int = 0
    start: str = ""
    known: Mapping[str, str] = {}

    def next_turn(self) -> Ledger:
        """Return the ledger as another prompt comes."""
        return self._replace(turn=self.turn + 1)

    def rests(self, key: str) -> bool:
        """Whether the memory *key* was given in the last turns, so that it is not given again."""
        return key in self.given and self.turn - self.given[key] <= REST

    def with_hits(self, keys: Iterable[str]) -> Ledger:
        """Return the ledger after the memories *keys* were found."""
        return self._replace(hits=_latest({**self.hits, **dict.fromkeys(keys, self.turn)}))

    def with_given(self, keys: Iterable[str]) -> Ledger:
        """Return the ledger after the memories *keys* were given."""
        return self._replace(given=_latest({**self.given, **dict.fromkeys(keys, self.turn)}))


def read_ledger(vault: Vault, session_id: str) -> Ledger:
    """Return the ledger of a session; an empty one where there is none, or one that memtool did not write."""
    try:
        path = _path(vault, session_id)
        if path.is_symlink() or path.stat().st_size > _LARGEST:
            return Ledger()
        fields: Any = json.loads(path.read_bytes())
        ledger = Ledger(**fields)
    except (OSError, ValueError, TypeError, RecursionError):
        return Ledger()
    return ledger if _is_sound(ledger) else Ledger()


def write_ledger(vault: Vault, session_id: str, ledger: Ledger) -> None:
    """Keep *ledger*.

    Raises:
        NotWritable: what is given now would be given again and again, so the caller gives nothing.
    """
    path = _path(vault, session_id)
    temporary = path.with_name(f".{path.stem}-{os.urandom(4).hex()}.tmp")
    try:
        make_state_folder(path.parent)
        # Not flushed to the disk: a ledger that a power cut takes away is no loss, and a prompt does not wait for it.
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with open(handle, "wb") as file:
            file.write(json.dumps(ledger._asdict()).encode())
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise NotWritable(f"cannot write in '{path.parent}': {error.strerror}") from None


def clear_ledger(vault: Vault, session_id: str, *, is_over: bool = False) -> None:
    """Forget what a session was given; where it *is_over*, not what it had at its start: it may be resumed.

    Raises:
        NotWritable: it cannot be forgotten.
    """
    before = read_ledger(vault, session_id) if is_over else Ledger()
    if before.known:
        write_ledger(vault, session_id, Ledger(start=before.start, known=before.known))
        return
    with suppress(OSError):
        _path(vault, session_id).unlink(missing_ok=True)


def sweep_ledgers(vault: Vault, now: float) -> None:
    """Remove the ledgers that nobody has touched for a week; those of the future come from a clock that was wrong."""
    with suppress(OSError), os.scandir(_folder(vault)) as entries:
        for entry in entries:
            with suppress(OSError):
                if abs(now - entry.stat(follow_symlinks=False).st_mtime) > _KEPT:
                    Path(entry.path).unlink()


def _folder(vault: Vault) -> Path:
    return vault.state_path / "ledgers"


def _path(vault: Vault, session_id: str) -> Path:
    return _folder(vault) / f"{Path(session_ref(session_id)).stem}.json"


def _latest(turns: dict[str, int]) -> dict[str, int]:
    return dict(sorted(turns.items(), key=lambda item: item[1])[-_MOST:])


def _is_sound(ledger: Ledger) -> bool:
    if any(type(value) is not type(default) for value, default in zip(ledger, Ledger(), strict=True)):
        return False
    turns = [ledger.turn, ledger.reminded, *ledger.given.values(), *ledger.hits.values()]
    return all(type(turn) is int for turn in turns) and all(type(text) is str for text in ledger.known.values())
