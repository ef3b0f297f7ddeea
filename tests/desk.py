"""A vault, a clock that is set by hand, and somebody who works there: what tests of use cases start from."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from memtool.capture.drain import Drained, drain
from memtool.capture.queue import Job, Queue
from memtool.git import tell
from memtool.index.engine import place_of, use_index
from memtool.index.filters import Filter
from memtool.index.search import search
from memtool.memory.forget import find_target, forget
from memtool.memory.new_memory import MemoryChange
from memtool.memory.remember import remember
from memtool.settings import Settings
from memtool.settings.sections import EmbeddingSettings, SessionSettings
from memtool.vault.facts import Fact, parse_facts
from memtool.vault.layout import Vault
from memtool.vault.memory import NewMemory
from memtool.workspace import Workspace

NOW = datetime(2026, 2, 10, 14, 30, tzinfo=timezone(timedelta(hours=8)))
SHOP = "areas/projects/shop/facts.json"


class Desk:
    """Does with *vault* what one process after the other would: each use case with `work`, as it is now.

    The home folder lies around the vault, the cache and the client's files in there; somebody works in *folder*. Each
    random id is the next number. *told* holds the problems that a worker reported.
    """

    def __init__(self, vault: Vault, *, now: datetime = NOW, **settings: Any) -> None:
        self.vault = vault
        self.home = vault.root.parent
        self.folder = vault.root
        self.environ = {
            "MEMTOOL_CACHE": str(self.home / "cache"),
            "CLAUDE_CONFIG_DIR": str(self.home / ".claude"),
        }
        base = Settings(embeddings=EmbeddingSettings(provider="none"), sessions=SessionSettings(names="id"))
        self.settings = base._replace(**settings)
        self.now = now
        self.queue = Queue(vault)
        self.told: list[str] = []
        self._made = 0

    @property
    def work(self) -> Workspace:
        return Workspace(
            self.vault, self.settings, self.environ, self.home, self.folder, lambda: self.now, self._next_id
        )

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def read(self, ref: str) -> str:
        return (self.vault.root / ref).read_bytes().decode()

    def everything(self) -> bytes:
        """Return the content of all files, those of git and of memtool's own included."""
        return b"".join(path.read_bytes() for path in self.vault.root.rglob("*") if path.is_file())

    def git(self, *arguments: str) -> str:
        return tell(self.vault.root, *arguments)

    def put(self, path: Path, event: str = "SessionEnd", *, said: str = "", compaction: str = "") -> None:
        """Put the session with the transcript *path* on the queue."""
        queued_at = self.now.timestamp()
        self.queue.put(Job(path.stem, str(path), event=event, queued_at=queued_at, said=said, compaction=compaction))

    def drain(self) -> Drained:
        """Let a worker do what is due."""
        return drain(self.work, lambda entry: self.told.append(entry.message))

    def remember(self, text: str, *, project: str | None = "shop", **more: Any) -> MemoryChange:
        return remember(self.work, NewMemory(text, project=project, **more))

    def forget(self, ref: str, *, purge: bool = False) -> MemoryChange:
        work = self.work
        return forget(work, find_target(work, ref), for_good=purge)

    def facts(self, ref: str = SHOP) -> tuple[Fact, ...]:
        return parse_facts(self.read(ref), ref).facts

    def find(self, text: str, **wanted: Any) -> list[str]:
        """Return the paths that a search finds now, best first."""
        wanted_filter = Filter(self.now.date(), **wanted)
        found = use_index(place_of(self.work), lambda index: search(index, text, wanted_filter, limit=6))
        return list(dict.fromkeys(hit.memory.path for hit in found.hits))

    def _next_id(self, _: int) -> str:
        self._made += 1
        return f"{self._made:010x}"
