"""A vault, a clock that is set by hand, and a worker: what tests of capturing start from."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from workspaces import NOW

from memtool.capture.drain import Drained, drain
from memtool.capture.log import Entry
from memtool.capture.queue import Job, Queue
from memtool.settings import Settings
from memtool.vault.layout import Vault
from memtool.workspace import Workspace


class Desk:
    """A vault, a clock that is set by hand, and a worker. *told* holds the problems that it reported."""

    def __init__(self, folder: Path, vault: Vault) -> None:
        self.folder = folder
        self.vault = vault
        self.queue = Queue(vault)
        self.settings = Settings()
        self.now = NOW
        self.told: list[str] = []

    @property
    def work(self) -> Workspace:
        """Where the worker works, now."""
        home = self.folder / "home"
        return Workspace(self.vault, self.settings, {"CLAUDE_CONFIG_DIR": str(home / ".claude")}, home, home, self._now)

    def put(self, path: Path, event: str = "SessionEnd", *, said: str = "", compaction: str = "") -> None:
        """Put the session with the transcript *path* on the queue."""
        self.queue.put(
            Job(path.stem, str(path), event=event, queued_at=self.now.timestamp(), said=said, compaction=compaction)
        )

    def drain(self) -> Drained:
        """Let a worker do what is due."""

        def tell(entry: Entry) -> None:
            self.told.append(entry.message)

        return drain(self.work, tell)

    def pass_time(self, seconds: float) -> None:
        """Set the clock forward."""
        self.now += timedelta(seconds=seconds)

    def read(self, ref: str) -> str:
        """Return the text of a note."""
        return (self.vault.root / ref).read_text(encoding="utf-8")

    def everything(self) -> bytes:
        """Return the content of all files, those of git and of memtool's own included."""
        return b"".join(path.read_bytes() for path in self.vault.root.rglob("*") if path.is_file())

    def _now(self) -> datetime:
        return self.now
