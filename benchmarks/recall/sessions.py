"""Sessions that are held with the hook itself, in this process, event by event as the client would send them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeAlias

from benchmarks.recall.labelled import Conversation, Prompt
from benchmarks.recall.vaults import Shelf
from memtool.capture.log import ERROR, read_log
from memtool.hook.main import run
from memtool.index.state import state_folder
from memtool.llm.tokens import tokens_in
from memtool.recall.prompts.current_index import current_index
from memtool.vault.layout import open_vault

Ask: TypeAlias = Callable[[Conversation, str], str]  # what the hook answers to a prompt of a conversation


class Turn(NamedTuple):
    """One prompt and what it was *given*: the ids of memories, or paths; *tokens* of all that the agent reads."""

    prompt: Prompt
    given: tuple[str, ...]
    tokens: int


class HookFailed(Exception):
    """The hook wrote an error to its log, so that its silence means nothing."""


def hold(conversation: Conversation, ask: Ask, shelf: Shelf) -> list[Turn]:
    """Return the turns of *conversation*."""
    turns = []
    for prompt in conversation.prompts:
        block = ask(conversation, prompt.text)
        turns.append(Turn(prompt, tuple(shelf.given(block)), tokens_in(block)))
    return turns


class Hook:
    """`memtool-hook` on the vault in *folder* of a user who has nothing else."""

    def __init__(self, folder: Path, vault: Path) -> None:
        self._folder = folder
        self._vault = vault
        self._environ = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(folder / "home"),
            "USERPROFILE": str(folder / "home"),
            "CLAUDE_CONFIG_DIR": str(folder / "home" / ".claude"),
            "MEMTOOL_VAULT": str(vault),
            "MEMTOOL_CONFIG": str(folder / "no-config.toml"),
            "MEMTOOL_CACHE": str(folder / "cache"),
            "MEMTOOL_EMBEDDINGS_PROVIDER": "none",
        }
        (folder / "home").mkdir()
        self.memtool("index")

    def ask(self, conversation: Conversation, prompt: str) -> str:
        """Return the text that the agent is given with *prompt*."""
        place = self.place(conversation.project or f"scratch-{conversation.name}")
        return self.ask_in(place, conversation.name, prompt)

    def place(self, name: str) -> Path:
        """Return a folder that a session can be held in."""
        place = self._folder / "src" / name
        place.mkdir(parents=True, exist_ok=True)
        return place

    def ask_in(self, place: Path, session: str, prompt: str) -> str:
        """Return the text that the agent is given with *prompt*, in a *session* that is held in the folder *place*."""
        event = {
            "hook_event_name": "UserPromptSubmit",
            "session_id": f"session-{session}",
            "transcript_path": "",
            "cwd": str(place),
            "prompt": prompt,
        }
        return context_of(run((), self._environ, io.BytesIO(json.dumps(event).encode())))

    def index(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """Open the index of the vault."""
        vault = open_vault(self._vault)
        return current_index(state_folder(vault, lambda: self._folder / "cache"))

    def check(self) -> None:
        """Look for what went wrong.

        Raises:
            HookFailed
        """
        folders = [self._vault / ".memtool", self._folder / "cache"]
        errors = [entry for entry in read_log(folders, datetime.fromtimestamp(0, UTC)) if entry.level == ERROR]
        if errors:
            raise HookFailed(f"{len(errors)} errors in the hook's log, such as: {errors[-1].message}")

    def memtool(self, *words: str) -> None:
        """Run the command `memtool` with *words* for the user of the hook."""
        command = [sys.executable, "-m", "memtool", *words]
        subprocess.run(command, env=_with_python(self._environ), check=True, capture_output=True)


def context_of(answer: str) -> str:
    """Return what the client would hand to the agent of a hook's *answer*: plain text, or a field of its JSON."""
    if not answer.lstrip().startswith("{"):
        return answer
    return str(json.loads(answer).get("hookSpecificOutput", {}).get("additionalContext", ""))


def _with_python(environ: Mapping[str, str]) -> dict[str, str]:
    return {**environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
