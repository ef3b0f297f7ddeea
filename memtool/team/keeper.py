"""The keeper of a team's clones, which brings each together with its remote, and the model of its vaults."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from memtool.errors import MemtoolError
from memtool.settings import Settings, user_cache_path
from memtool.team.clones import Clone, bring_together, make_clone, waiting

if TYPE_CHECKING:
    from memtool.embeddings import Embedder
    from memtool.index.engine import Index


class CloneState:
    """One clone, as the keeper knows it. Times are seconds of the wall clock; 0 means never."""

    def __init__(self, clone: Clone) -> None:
        self.clone = clone
        self.synced_at = 0.0
        self.problem = ""  # the sentence of the last try, if it failed
        self.failures = 0  # in a row
        self.waiting = 0  # commits that the remote lacks
        self.due = 0.0  # of the monotonic clock
        self.is_busy = False


class Keeper:
    """Keeps *clones* up to date, in threads of its own, every *pause* seconds.

    *changed* is called with each clone before it counts as up to date. What it raises counts as a failure
    of the remote does: both are tried again, after a pause that grows.
    """

    def __init__(self, clones: Iterable[Clone], *, pause: float, changed: Callable[[Clone], None]) -> None:
        self.kept = {clone.name: CloneState(clone) for clone in clones}
        self._pause = pause
        self._changed = changed
        self._turn = threading.Condition()
        self._is_ending = False
        self._pool = ThreadPoolExecutor(4, "memtool-remote")
        self._thread = threading.Thread(target=self._run, daemon=True, name="memtool-keeper")

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def end(self) -> None:
        """End, once the remotes that are spoken to now have answered. What waits is pushed after the next start."""
        with self._turn:
            self._is_ending = True
            self._turn.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        self._pool.shutdown(cancel_futures=True)

    def soon(self, name: str, *, written: int = 0) -> None:
        """Bring the clone *name*, in which so much more was *written*, together with its remote now; at most once."""
        with self._turn:
            kept = self.kept[name]
            kept.waiting += written
            kept.due = min(kept.due, time.monotonic() + 0.2)
            self._turn.notify_all()

    def keep(self, name: str) -> None:
        """Bring the clone *name* together with its remote, and note how that went."""
        kept = self.kept[name]
        try:
            make_clone(kept.clone)
            try:
                bring_together(kept.clone)
            finally:  # what was written is in the clone, whatever becomes of the remote
                self._changed(kept.clone)
            kept.synced_at, kept.problem, kept.failures = time.time(), "", 0
        except (MemtoolError, OSError) as error:
            kept.problem, kept.failures = str(error), kept.failures + 1
        try:
            kept.waiting = waiting(kept.clone)
        except (MemtoolError, OSError):
            kept.waiting = 0

    def _run(self) -> None:
        with self._turn:
            while not self._is_ending:
                now = time.monotonic()
                idle = [each for each in self.kept.values() if not each.is_busy]
                for kept in (each for each in idle if each.due <= now):
                    kept.is_busy, kept.due = True, now + self._pause
                    self._pool.submit(self._keep, kept)
                later = [each.due for each in idle if not each.is_busy]
                self._turn.wait(max(0.0, min(later) - now) if later else None)

    def _keep(self, kept: CloneState) -> None:
        try:
            self.keep(kept.clone.name)
        finally:
            with self._turn:
                kept.is_busy = False
                if kept.failures:
                    kept.due = time.monotonic() + min(2.0**kept.failures, 300.0, self._pause)
                self._turn.notify_all()


class TeamModel:
    """The model that the operator's *settings* name, if they name one. *embedder* is there once it is loaded."""

    def __init__(self, settings: Settings, environ: Mapping[str, str], *, say: Callable[[str], None]) -> None:
        self.embedder: Embedder | None = None
        self._settings = settings
        self._cache = user_cache_path(environ)
        self._say = say

    def start(self, loaded: Callable[[], None]) -> None:
        """Begin to load it, in a thread of its own; then call *loaded*. Words are searched meanwhile."""
        if self._settings.has_chosen_embedder:
            threading.Thread(target=self._load, args=(loaded,), daemon=True, name="memtool-model").start()

    def make_vectors(self, index: Index) -> None:
        """Make the vectors that *index* lacks, and drop those of other models once all stand.

        Raises:
            MemtoolError: another process is at it, or the provider gives up; what was made is kept.
        """
        from memtool.index.semantic import chunks_waiting, embed, forget_unused, open_vectors

        if self.embedder and chunks_waiting(index.db, self.embedder.name):
            with open_vectors(index, self.embedder) as store:
                embed(index, self.embedder, store)
                forget_unused(index, self.embedder, store)

    def _load(self, loaded: Callable[[], None]) -> None:
        from memtool.embeddings import open_embedder
        from memtool.embeddings.warm import held_here

        try:
            settings = self._settings
            embedder = open_embedder(settings.embeddings, settings.keys.embeddings, self._cache, may_download=True)
            embedder.embed_query("warm")
        except MemtoolError as error:
            self._say(f"search is by words only: {error}")
            return
        held_here[embedder.name] = self.embedder = embedder
        loaded()
