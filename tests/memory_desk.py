"""A vault, a clock and a folder in which somebody works: what tests of remembering and forgetting start from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workspaces import NOW

from memtool.index.engine import place_of, use_index
from memtool.index.filters import Filter
from memtool.index.search import search
from memtool.recall.remembering.forget import Forgotten, find_target, forget, forget_for_good
from memtool.recall.remembering.memory import Memory
from memtool.recall.remembering.remember import Remembered, remember
from memtool.settings import Settings
from memtool.settings.sections import EmbeddingSettings
from memtool.vault.facts import Fact, parse_facts
from memtool.vault.git import tell
from memtool.vault.layout import Vault, open_vault
from memtool.workspace import Workspace

SHOP = "areas/projects/shop/facts.json"


class MemoryDesk:
    """Remembers and forgets in *vault* as one process after the other would. Each id is the next number."""

    def __init__(self, root: Path, **settings: Any) -> None:
        self.vault: Vault = open_vault(root)
        self.folder = self.vault.root
        self.settings = Settings(embeddings=EmbeddingSettings(provider="none"))._replace(**settings)
        self._made = 0

    @property
    def work(self) -> Workspace:
        around = self.vault.root.parent
        environ = {"MEMTOOL_CACHE": str(around / "cache"), "CLAUDE_CONFIG_DIR": str(around / "home" / ".claude")}
        return Workspace(self.vault, self.settings, environ, around / "home", self.folder, lambda: NOW, self._next)

    def remember(self, text: str, *, project: str | None = "shop", **more: Any) -> Remembered:
        return remember(self.work, Memory(text, project=project, **more))

    def forget(self, ref: str, *, purge: bool = False) -> Forgotten:
        work = self.work
        return (forget_for_good if purge else forget)(work, find_target(work, ref))

    def find(self, text: str, **wanted: Any) -> list[str]:
        """Return the paths that a search finds now, best first."""
        wanted_filter = Filter(NOW.date(), **wanted)
        found = use_index(place_of(self.work), lambda index: search(index, text, wanted_filter, limit=6))
        return list(dict.fromkeys(hit.path for hit in found.hits))

    def read(self, ref: str) -> str:
        return (self.vault.root / ref).read_bytes().decode()

    def facts(self, ref: str = SHOP) -> tuple[Fact, ...]:
        return parse_facts(self.read(ref), ref).facts

    def git(self, *arguments: str) -> str:
        return tell(self.vault.root, *arguments)

    def _next(self, _: int) -> str:
        self._made += 1
        return f"{self._made:010x}"
