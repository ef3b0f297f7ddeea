"""The watch over a vault, which vouches that an index holds all that its vault holds, so that others skip the walk.

It vouches for what it looked at itself: the folders are watched first, then the index is brought up to date. If that
finds nothing to do, and no other process wrote the index meanwhile, the two are alike. An event of the folders or a
commit to the index ends it, and the next request begins it anew.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memtool.errors import MemtoolError
from memtool.index import generations, schema
from memtool.index.engine import place_of, use_index
from memtool.index.sqlite import claim
from memtool.service import limits
from memtool.service.inotify import Tree
from memtool.service_client import Fields
from memtool.workspace import OpenWorkspace


class Watcher:
    """Vouches for the index of the service's vault, in a thread of its own."""

    def __init__(self, open_workspace: OpenWorkspace) -> None:
        self._open_workspace = open_workspace
        self._ending, self._asked = threading.Event(), threading.Event()
        self._lock = threading.Lock()  # of all that follows
        self._tree: Tree | None = None
        self._index: sqlite3.Connection | None = None
        self._path: Path | None = None  # of the index
        self._vouched: tuple[Mapping[str, Any], int] | None = None  # the claim, and the state of the index
        self._asked.set()

    def end(self) -> None:
        """Begin to end. Nobody waits for it: a search that asks meanwhile walks."""
        self._ending.set()
        self._asked.set()

    def answer(self, request: Fields) -> Fields:
        """Return whether the vault is still as the index has it. If not, it is looked at, for the next who asks."""
        if not self._lock.acquire(blocking=False):
            return {"unchanged": False}  # it is being looked at: others wait for their answers at the same socket
        try:
            if self._vouched and (not self._tree or self._tree.has_changed() or self._state() != self._vouched[1]):
                self._vouched = None
            is_unchanged = self._vouched is not None and all(
                request.get(name) == value for name, value in self._vouched[0].items()
            )
        finally:
            self._lock.release()
        if not is_unchanged:
            self._asked.set()
        return {"unchanged": is_unchanged}

    def look_when_asked(self) -> None:
        """Look at the vault whenever somebody asks in vain, until the end."""
        while not self._ending.is_set():
            self._asked.wait()
            self._asked.clear()
            pause = limits.LOOK_PAUSE
            try:
                while not self._ending.is_set() and not self.look():
                    self._ending.wait(limits.LOOK_PAUSE)
            except (MemtoolError, OSError, sqlite3.Error):  # searches walk, as without a service
                self.forget()
                pause = limits.PAUSE
            self._ending.wait(pause)
        self.forget()

    def look(self) -> bool:
        """Bring the index up to date; return whether there was nothing to do, so that it can be vouched for.

        Raises:
            MemtoolError, OSError, sqlite3.Error: changes of this vault might be missed.
        """
        work = self._open_workspace(None)
        place = place_of(work)._replace(services=None)
        if not place.keeper.keeps_files:
            raise MemtoolError("other machines write an index on a server, too, so it is not vouched for")
        path = generations.current(place.generations)
        with self._lock:
            self._vouched = None
            self._tree = self._tree or Tree(work.vault.root)
            self._tree.settle()
            if path and self._path != path:
                self._close()
                self._index, self._path = schema.connect(path), path
            claimed, state = path and claim(place, path), self._state()  # both from before the look
        seen, problems = use_index(place, lambda index: (None if index.behind else index.address, index.problems))
        if problems:
            raise MemtoolError("some files cannot be read")  # of which a walk tells
        with self._lock:
            if claimed and seen == str(path) and self._state() == state:
                self._vouched = (claimed, state)
            return self._vouched is not None

    def _close(self) -> None:
        if self._index:
            self._index.close()
        self._index = self._path = None

    def forget(self) -> None:
        """Vouch for nothing, and hold nothing open."""
        with self._lock:
            self._vouched = None
            self._close()
            if self._tree:
                self._tree.close()
            self._tree = None

    def _state(self) -> int:
        """Return a number that changes when anybody writes the index."""
        return int(self._index.execute("PRAGMA data_version").fetchone()[0]) if self._index else 0
