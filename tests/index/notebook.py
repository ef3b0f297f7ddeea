"""A vault that a test writes into and searches, as one process after the other would."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from memtool.index.engine import Index, Place, use_index
from memtool.index.filters import Filter
from memtool.index.ranking import SearchResult
from memtool.index.search import search
from memtool.vault.layout import open_vault

T = TypeVar("T")
TODAY = dt.date(2026, 2, 10)
LONG_AGO_NS = 1_600_000_000_000_000_000  # a time for files that are not young any more


class Notebook:
    """A folder of notes and its index. Fields of *place* can be given: `max_bytes`, `patience`, `now_ns` and so on."""

    def __init__(self, root: Path, **place: Any) -> None:
        root.mkdir(exist_ok=True)
        (root / "memtool.toml").touch()
        self.root = root
        self.place = Place(open_vault(root), root / ".memtool", **place)

    def write(self, ref: str, text: str | bytes, *, mtime_ns: int = 0) -> Path:
        path = self.root / ref
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        if mtime_ns:
            os.utime(path, ns=(mtime_ns, mtime_ns))
        return path

    def use(self, use: Callable[[Index], T], *, rebuild: bool = False) -> T:
        return use_index(self.place, use, rebuild=rebuild)

    def opened(self) -> Index:
        """Return the index as it was when it was open: brought up to date, and closed again."""
        return self.use(lambda index: index)

    def search(self, text: str, *, limit: int = 6, **wanted: Any) -> SearchResult:
        return self.use(lambda index: search(index, text, Filter(TODAY, **wanted), limit=limit))

    def find(self, text: str, **wanted: Any) -> list[str]:
        """Return the paths of the notes that are found, best first."""
        return list(dict.fromkeys(hit.memory.path for hit in self.search(text, **wanted).hits))

    def index_files(self) -> list[str]:
        return sorted(path.name for path in self.place.generations.iterdir())

    def generation(self) -> Path:
        """Return the file of the current generation, all of it written out of its journal."""
        return self.place.generations / (self.place.generations / "current").read_text().strip()


def fill(notebook: Notebook, count: int = 12) -> None:
    for number in range(count):
        notebook.write(f"n{number}.md", f"# Note {number}\n\nword{number} 解密失败{number} common\n")


def finds_all(notebook: Notebook, count: int = 12) -> bool:
    return all(notebook.find(f"word{number}")[:1] == [f"n{number}.md"] for number in range(count))
