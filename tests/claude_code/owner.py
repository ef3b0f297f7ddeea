"""Somebody who has installed memtool by its own commands, works with the client and then reads the vault."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from claude_code.box import Box

from memtool.capture.log import ERROR, read_log
from memtool.capture.queue import Queue
from memtool.vault.daily import listed_entries
from memtool.vault.layout import Vault
from memtool.vault.sessions import SessionNote, parse_session

_BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)


class Owner:
    """The owner of a new vault in *box*, who does without the tools of `memtool mcp`."""

    def __init__(self, box: Box) -> None:
        self._box = box
        self._config = box.home / ".config" / "memtool" / "config.toml"
        self._config.parent.mkdir(parents=True)
        self.configure()
        self.vault = box.home / "memory"
        # The client starts the server of each session, which takes the processor longer than all the rest of it.
        self.run("install", "claude-code", "--without", "mcp")

    def run(self, *arguments: str) -> str:
        """Run `memtool`, which must succeed, and return what it says."""
        ran = self._box.memtool(*arguments)
        assert ran.code == 0, ran.err
        return ran.out

    def configure(self, settings: str = "") -> None:
        """Write the user's settings."""
        self._config.write_text(f'{settings}\n[embeddings]\nprovider = "none"\n')

    def notes(self) -> dict[str, SessionNote]:
        """Return the session notes by their names, which are the sessions' ids."""
        return {path.stem: parse_session(path.read_text()) for path in (self.vault / "sessions").glob("*.md")}

    def text_of(self, session_id: str) -> str:
        """Return the text of a session's note."""
        return (self.vault / "sessions" / f"{session_id}.md").read_text()

    def daily(self) -> str:
        """Return the daily notes as one text: midnight may have come in the middle of a test."""
        return "\n".join(path.read_text() for path in sorted((self.vault / "daily").glob("*.md")))

    def edited(self) -> list[str]:
        """Return the files that the daily notes name, as `project/file`, each minute's in order."""
        return [f"{entry.project}/{file}" for entry in listed_entries(self.daily()) for file in entry.files]

    def problems(self) -> list[str]:
        """Return what the log of hooks and worker tells, and which jobs are left."""
        errors = [entry.message for entry in read_log(self._state_folders(), _BEGINNING) if entry.level == ERROR]
        queue = Queue(Vault(self.vault))
        return [*errors, *(f"left on the queue: {job}" for job in (*queue.waiting(), *queue.parked()))]

    def _state_folders(self) -> list[Path]:
        cache = self._box.home / ".cache" / "memtool"
        return [self.vault / ".memtool", *(path.parent for path in cache.rglob("hook.log"))]
