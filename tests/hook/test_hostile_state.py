"""A state folder from a stranger, or one that cannot be used now: nothing outside is touched, and nobody waits."""

from __future__ import annotations

import builtins
import io
import json
import os
import shutil
import stat
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hook.agent import Agent
from unprivileged import unprivileged

from memtool.capture.queue import Queue
from memtool.errors import Busy
from memtool.vault import layout

TOKENS, FACT = "How long do access tokens live now?", "Access tokens live 15 minutes"


# Elsewhere


def lead(agent: Agent, name: str, target: Path) -> None:
    """Let the path *name* of the vault lead to *target*."""
    path = agent.vault.root / name
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(target)


@pytest.mark.slow
@pytest.mark.parametrize("link", [".memtool", ".memtool/ledgers", ".memtool/queue", ".memtool/locks"])
def test_whatever_a_session_does_files_outside_the_vault_stay_as_they_are(agent: Agent, link: str) -> None:
    outside = agent.folder / "outside"
    names = ("thesis.txt", "s1.json", "hook.log", "projects.json", "ledgers/s1.json", "queue/s1.json", "论文.json")
    for name in names:
        (outside / name).parent.mkdir(parents=True, exist_ok=True)
        (outside / name).write_text("years of work")
        os.utime(outside / name, (0, 0))
    lead(agent, link, outside)
    transcript = agent.write(str(agent.home / "t.jsonl"), "{}\n")
    agent.ask(TOKENS)
    for event in ("SessionStart", "Stop", "PreCompact", "Nonsense"):
        agent.fire(event, source="startup", transcript_path=str(transcript))
    agent.fire("SessionEnd", reason="clear", transcript_path=str(transcript))
    found = {path.relative_to(outside).as_posix() for path in outside.rglob("*") if path.is_file()}
    assert found == set(names)
    assert {(outside / name).read_text() for name in names} == {"years of work"}


@pytest.mark.slow
@pytest.mark.parametrize("exists", [True, False])
def test_where_a_folder_belongs_is_neither_read_nor_written_outside_the_vault(agent: Agent, *, exists: bool) -> None:
    outside = agent.folder / "outside.json"
    planted = json.dumps({str(agent.project): ["tideline", "/", time.time(), True]})
    if exists:
        outside.write_text(planted)
    lead(agent, ".memtool/projects.json", outside)
    assert "Rules of shop" in agent.start()
    assert (outside.read_text() if outside.exists() else "") == (planted if exists else "")


# Pipes


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
@pytest.mark.parametrize(
    "ref", ["sessions/s1.md", ".memtool/ledgers/s1.json", ".memtool/hook.log", ".memtool/projects.json",
            ".memtool/queue/new/s1.json", ".memtool/uncommitted"],
)  # fmt: skip
def test_nobody_waits_for_a_pipe(agent: Agent, ref: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = agent.vault.root / ref
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    opened = refuse_to_open(path, monkeypatch)
    transcript = agent.write(str(agent.home / "t.jsonl"), "{}\n")
    agent.ask(TOKENS)
    agent.start("resume")
    edited = {"file_path": str(agent.project / "a.ts")}
    agent.fire("PostToolUse", tool_name="Edit", tool_input=edited)
    for event in ("PreCompact", "Stop", "Nonsense"):
        agent.fire(event, transcript_path=str(transcript))
    assert opened == []


def refuse_to_open(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return where it will be noted that somebody opens *path*, who would wait for ever."""
    opened: list[str] = []

    def watched(real: Callable[..., Any]) -> Callable[..., Any]:
        def opening(file: object, *args: object, **more: object) -> object:
            if str(file) == str(path) and stat.S_ISFIFO(path.stat().st_mode):
                opened.append(str(file))
                raise OSError("it would hang")
            return real(file, *args, **more)

        return opening

    for module in (os, builtins, io):
        monkeypatch.setattr(module, "open", watched(module.open))
    return opened


# Locks


@pytest.mark.slow
def test_no_hook_waits_long_for_a_lock_that_is_held_and_no_session_is_lost(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: dict[str, float] = {}

    def held(path: Path, *, timeout: float) -> AbstractContextManager[None]:
        @contextmanager
        def refused() -> Any:
            waits[path.name] = max(waits.get(path.name, 0.0), timeout)
            raise Busy("held")
            yield

        return refused()

    transcript = agent.write(str(agent.home / "t.jsonl"), "{}\n")
    monkeypatch.setattr(layout, "lock", held)
    assert FACT in agent.ask(TOKENS)
    for event, more in (("SessionStart", {"source": "startup"}), ("Stop", {}), ("SessionEnd", {"reason": "other"})):
        agent.fire(event, transcript_path=str(transcript), **more)
    assert {name: wait for name, wait in waits.items() if wait > 0.1} == {}
    agent.fire("PostToolUse", tool_name="Edit", tool_input={"file_path": str(agent.project / "支付.ts")})
    assert waits["daily.lock"] <= 0.5
    assert "支付.ts" in json.loads((agent.vault.state_path / "late-entries").read_bytes())[3]
    assert sorted(job.event for job in Queue(agent.vault).waiting()) == ["SessionEnd", "SessionStart"]


# Ledgers


@pytest.mark.slow
def test_where_the_state_folder_cannot_be_written_a_session_is_given_everything_once(agent: Agent) -> None:
    agent.ask("continue")
    folders = [agent.vault.state_path, agent.vault.state_path / "ledgers"]
    for folder in folders:
        folder.chmod(0o500)
    try:
        with unprivileged():
            other = agent.other("s2")
            assert FACT in other.ask(TOKENS)
            assert other.ask(TOKENS) == ""
            assert "Rules of shop" in agent.start()
    finally:
        for folder in folders:
            folder.chmod(0o700)


@pytest.mark.slow
def test_where_no_ledger_can_be_written_a_session_is_given_its_start_and_nothing_else(agent: Agent) -> None:
    agent.ask("continue")
    ledgers = agent.vault.state_path / "ledgers"
    folders = [ledgers, agent.vault.state_path, agent.state(), agent.cache]
    for folder in folders:
        folder.chmod(0o500)
    try:
        with unprivileged():
            assert "Rules of shop" in agent.start()
            assert [agent.other("s2").ask(TOKENS) for _ in range(2)] == ["", ""]
    finally:
        for folder in reversed(folders):
            folder.chmod(0o700)


@pytest.mark.slow
def test_a_huge_summary_is_not_read_whole(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    path = agent.write("areas/projects/evil/summary.md", "")
    with path.open("wb") as file:
        file.truncate(200_000_000)
    read: list[str] = []
    real = Path.read_bytes

    def watched(self: Path) -> bytes:
        read.append(str(self))
        return real(self)

    monkeypatch.setattr(Path, "read_bytes", watched)
    assert "Rules of shop" in agent.start()
    assert str(path) not in read
