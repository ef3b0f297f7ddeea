"""A session of the client in the sample vault, event by event, in this process."""

from __future__ import annotations

import atexit
import io
import json
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from memtool.hook.main import run
from memtool.index.engine import Place, use_index
from memtool.recall.ledger import Ledger, read_ledger
from memtool.resources import shipped
from memtool.text.frontmatter import set_list
from memtool.vault.layout import Vault, state_folder
from memtool.vault.scan import Outside

SHOP = "areas/projects/shop"


class Agent:
    """A session that works on the project `shop` of the vault in *folder*, whose hooks answer it."""

    def __init__(self, folder: Path, session_id: str = "s1") -> None:
        self.folder = folder
        self.vault = Vault(folder / "vault")
        self.session_id = session_id
        self.home = folder / "home"
        self.project = self.home / "shop"
        self.project.mkdir(parents=True, exist_ok=True)
        self.cache = folder / "cache"
        self.environ = {
            "HOME": str(self.home), "USERPROFILE": str(self.home), "MEMTOOL_VAULT": str(self.vault.root),
            "MEMTOOL_CONFIG": str(folder / "config.toml"), "MEMTOOL_CACHE": str(self.cache),
            "MEMTOOL_EMBEDDINGS_PROVIDER": "none", "MEMTOOL_SESSIONS_NAMES": "id", "PATH": os.environ["PATH"],
        }  # fmt: skip

    def other(self, session_id: str) -> Agent:
        """Return another session at the same place."""
        return Agent(self.folder, session_id)

    def state(self) -> Path:
        """Return the folder of the index and of the counts."""
        return state_folder(self.vault, lambda: self.cache)

    def ledger(self) -> Ledger:
        """Return what the session was given so far."""
        return read_ledger(self.vault.state_path / "ledgers", self.session_id)

    def index(self, *, rebuild: bool = False) -> None:
        """Bring the index up to date."""
        place = Place(self.vault, self.state(), outside=Outside(self.home / ".claude" / "projects"))
        use_index(place, lambda _: None, rebuild=rebuild)

    def write(self, ref: str, text: str) -> Path:
        """Write a file of the vault, or of the client's own memory if *ref* is absolute."""
        path = self.vault.root / ref
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def event(self, name: str, **fields: Any) -> bytes:
        """Return what the client sends at an event."""
        common = {"session_id": self.session_id, "transcript_path": "", "cwd": str(self.project)}
        return json.dumps({"hook_event_name": name, **common, **fields}).encode()

    def fire(self, name: str, **fields: Any) -> str:
        """Return what the hook answers."""
        return run((), self.environ, io.BytesIO(self.event(name, **fields)))

    def ask(self, prompt: str) -> str:
        """Return what the model is given with *prompt*."""
        return context_of(self.fire("UserPromptSubmit", prompt=prompt), "UserPromptSubmit")

    def start(self, source: str = "startup") -> str:
        """Return what the model is given at the start of the session."""
        return context_of(self.fire("SessionStart", source=source), "SessionStart")

    def log(self) -> list[str]:
        """Return the lines of the hooks' log."""
        logs = (self.vault.state_path / "hook.log", *self.cache.rglob("hook.log"))
        return [line for path in logs if path.exists() for line in path.read_text(encoding="utf-8").splitlines()]


def agent_in(folder: Path) -> Agent:
    """Return a session in a copy of the sample vault, which is indexed."""
    for name in ("vault", "cache"):
        shutil.copytree(_indexed_sample() / name, folder / name)
    agent = Agent(folder.resolve())
    summary = agent.vault.root / SHOP / "summary.md"
    agent.write(f"{SHOP}/summary.md", set_list(summary.read_text("utf-8"), "identities", [f"path:{agent.project}"]))
    agent.index()
    return agent


@cache
def _indexed_sample() -> Path:
    """Return a folder with the sample vault and its index, made once in a process."""
    holder = tempfile.TemporaryDirectory(prefix="memtool-sample-")
    atexit.register(holder.cleanup)
    folder = Path(holder.name).resolve()
    shutil.copytree(shipped("sample_vault"), folder / "vault", ignore=shutil.ignore_patterns(".*"))
    Agent(folder).index()
    return folder


def context_of(answer: str, event: str) -> str:
    """Return what the client hands to the model of a hook's answer."""
    if not answer:
        return ""
    said = json.loads(answer)["hookSpecificOutput"]
    assert said.keys() == {"hookEventName", "additionalContext"}
    assert said["hookEventName"] == event
    return str(said["additionalContext"])
