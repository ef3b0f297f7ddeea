"""Sessions that are held with the hook itself, in this process, event by event as the client would send them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple, TypeAlias

from benchmarks.recall.labelled import Conversation, Prompt
from benchmarks.recall.vaults import Shelf
from memtool import service_client, settings
from memtool.capture.log import ERROR, read_log
from memtool.embeddings import open_embedder
from memtool.hook.main import run
from memtool.index.files import FileEngine
from memtool.index.tables import Tables
from memtool.index.vectors import VectorStore
from memtool.recall.prompts.meaning import Meaning, Nearness, texts_of
from memtool.service.model import Warm
from memtool.service_client import MODEL, end_service, find_address, service_place
from memtool.text.lines import tokens_in
from memtool.vault.layout import open_vault, state_folder

_PATIENCE = 5.0  # seconds for the helper: how good its answers are is measured here, and elsewhere how soon they come

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
    """`memtool-hook` on the vault in *folder* of a user who has nothing else, with its index at *database* if any."""

    def __init__(self, folder: Path, vault: Path, model: Path | None = None, database: str = "") -> None:
        self.late = 0  # prompts for which the helper took too long, so that words decided
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
            **embeddings(model),
            **({"MEMTOOL_INDEX_ENGINE": "postgres", "MEMTOOL_POSTGRES": database} if database else {}),
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
        answer = self._send("UserPromptSubmit", place, session, prompt=prompt)
        with contextlib.suppress(FileNotFoundError):
            service_place(self._folder / "cache", self._vault).path("silent").unlink()
            self.late += 1
        return context_of(answer)

    def start_in(self, place: Path, session: str) -> str:
        """Return the text with which a *session* in the folder *place* begins."""
        return context_of(self._send("SessionStart", place, session, source="startup"))

    def _send(self, name: str, place: Path, session: str, **more: str) -> str:
        event = {"hook_event_name": name, "session_id": f"session-{session}", "transcript_path": "", "cwd": str(place)}
        return run((), self._environ, io.BytesIO(json.dumps(event | more).encode()))

    def index(self) -> contextlib.AbstractContextManager[Tables]:
        """Open the index of the vault."""
        vault = open_vault(self._vault)
        return FileEngine(state_folder(vault, lambda: self._folder / "cache")).current()

    @contextlib.contextmanager
    def helper(self) -> Iterator[None]:
        """Have the warm helper at work for the length of a `with` block, where there is a model."""
        place = service_place(self._folder / "cache", self._vault)
        if "MEMTOOL_EMBEDDINGS_PATH" not in self._environ:
            yield
            return
        command = [sys.executable, "-m", "memtool", "serve", "--no-http"]
        with subprocess.Popen(command, env=_with_python(self._environ)) as process:
            try:
                while find_address(place, MODEL) is None and process.poll() is None:
                    time.sleep(0.02)
                service_client.DEADLINE = _PATIENCE
                yield
                if process.poll() is not None:
                    raise HookFailed("the helper has ended")
            finally:
                end_service(place)

    def meaning(self, db: Tables, today: date) -> Callable[[str], Meaning]:
        """Return what tells the meaning of a prompt in this process, as the helper would."""
        vault, cache = open_vault(self._vault), self._folder / "cache"
        loaded = settings.load(vault.settings_path, self._environ)
        embedder = open_embedder(loaded.embeddings, "", cache, may_download=False)
        warm = Warm(embedder)
        folder = state_folder(vault, lambda: cache) / "vectors"
        with VectorStore(folder, embedder.name, embedder.dimension) as store:
            warm.follow(db, store, today)
        return lambda prompt: _InProcess(warm, prompt)

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


def embeddings(model: Path | None) -> dict[str, str]:
    """Return the settings with which vectors are made by the *model* in a folder, or none are."""
    if model is None:
        return {"MEMTOOL_EMBEDDINGS_PROVIDER": "none"}
    return {"MEMTOOL_EMBEDDINGS_PROVIDER": "fastembed", "MEMTOOL_EMBEDDINGS_PATH": str(model)}


def context_of(answer: str) -> str:
    """Return what the client would hand to the agent of a hook's *answer*: plain text, or a field of its JSON."""
    if not answer.lstrip().startswith("{"):
        return answer
    return str(json.loads(answer).get("hookSpecificOutput", {}).get("additionalContext", ""))


def _with_python(environ: Mapping[str, str]) -> dict[str, str]:
    return {**environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}


class _InProcess:
    """The `Meaning` of one prompt, asked in this process."""

    def __init__(self, warm: Warm, prompt: str) -> None:
        self._warm = warm
        self._texts = texts_of(prompt)
        self._project = ""

    def begin(self, project: str) -> None:
        """See `memtool.recall.prompts.meaning.Meaning`."""
        self._project = project

    def nearness(self, chunk_ids: Sequence[int]) -> Nearness | None:
        """See `memtool.recall.prompts.meaning.Meaning`."""
        return self._warm.near(self._texts, self._project, lambda: chunk_ids)
