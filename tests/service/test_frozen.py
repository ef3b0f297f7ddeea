"""A service that is frozen: whoever asked it goes on without it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from web.service import PATIENCE, Service

from memtool.vault.layout import Vault

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a watcher")]

SILENT = "the service of this vault does not answer"


def prompt(session: str, folder: Path) -> str:
    """The event of a prompt in a new session, which was given nothing yet."""
    event = {"hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": str(folder), "transcript_path": ""}
    return json.dumps({**event, "prompt": "白毫银针该用多少度的水泡?"})


def run(service: Service, *words: str, told: str = "") -> subprocess.CompletedProcess[str]:
    environ = {**service.environ, "MEMTOOL_VAULT": str(service.vault.root)}
    command = [sys.executable, "-m", *words]
    return subprocess.run(
        command, input=told, env=environ, cwd=service.vault.root, capture_output=True, text=True, timeout=PATIENCE,
        check=False,
    )  # fmt: skip


def test_search_and_prompts_go_on_and_it_is_said_once(vault: Vault, tmp_path: Path) -> None:
    note = vault.root / "areas/global/knowledge/茶.md"
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text("---\ntype: knowledge\n---\n\n# 泡茶\n\n白毫银针 needs 80 degrees.\n", encoding="utf-8")
    service = Service(vault)
    try:
        found = run(service, "memtool", "search", "白毫银针")
        assert ("80 degrees" in found.stdout, SILENT in found.stderr) == (True, False)
        before = run(service, "memtool.hook", told=prompt("before", tmp_path))
        assert "80 degrees" in before.stdout
        service.process.send_signal(signal.SIGSTOP)
        searches = [run(service, "memtool", "search", "白毫银针") for _ in range(3)]
        assert all("80 degrees" in each.stdout for each in searches)
        assert [SILENT in each.stderr for each in searches] == [True, False, False]
        answer = run(service, "memtool.hook", told=prompt("frozen", tmp_path))
        assert (answer.returncode, answer.stdout, answer.stderr) == (0, before.stdout, "")
        assert SILENT in run(service, "memtool", "doctor").stdout
    finally:
        service.process.send_signal(signal.SIGCONT)
        service.end()
