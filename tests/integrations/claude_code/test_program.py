from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memtool.errors import BadSetting
from memtool.integrations.claude_code.hooks import Program
from memtool.integrations.claude_code.program import find_program
from memtool.vault.background import start_command

RUN = ("-E", "-P", "-m", "memtool.hook")


def test_the_interpreter_is_run_on_the_vault_that_was_named() -> None:
    assert find_program(None, this_project=False) == Program(sys.executable, RUN)
    named = Program(sys.executable, (*RUN, "--vault", "/记 忆", "--this-project"))
    assert find_program(Path("/记 忆"), this_project=True) == named
    assert named.vault == "/记 忆"


def test_a_path_that_no_settings_file_can_hold_is_refused() -> None:
    with pytest.raises(BadSetting, match="is not Unicode"):
        find_program(Path("/v\udcff"), this_project=False)


def hijack(folder: Path) -> dict[str, str]:
    """Put modules into *folder* that say so when they are imported; return an environment that leads to them."""
    (folder / "memtool").mkdir()
    for name in ("json.py", "sitecustomize.py", "usercustomize.py", "memtool/__init__.py"):
        (folder / name).write_text(f"open({str(folder / 'hijacked')!r}, 'w').close()\nraise SystemExit('hijacked')\n")
    return {**os.environ, "PYTHONPATH": ".", "PYTHONSTARTUP": "json.py", "PYTHONWARNINGS": "error"}


def test_nothing_in_the_project_passes_for_a_module_of_ours(tmp_path: Path) -> None:
    environ = hijack(tmp_path)
    program = find_program(None, this_project=False)
    command = [program.command, *program.args]
    ran = subprocess.run(command, cwd=tmp_path, input=b"", capture_output=True, check=False, env=environ)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    assert not (tmp_path / "hijacked").exists()


def test_nothing_in_the_vault_passes_for_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    class Kept(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self)

    environ = hijack(tmp_path)
    monkeypatch.setattr(subprocess, "Popen", Kept)
    start_command(tmp_path, environ, "--version")
    assert started[0].wait(timeout=60) == 0
    assert not (tmp_path / "hijacked").exists()
