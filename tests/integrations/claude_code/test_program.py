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
    some, named = find_program(None, this_project=False), find_program(Path("/记 忆"), this_project=True)
    assert some.args[-5:] == (sys.executable, *RUN)
    assert named.args[-8:] == (sys.executable, *RUN, "--vault", "/记 忆", "--this-project")
    assert (some.vault, named.vault) == ("", "/记 忆")
    assert {some.interpreter, named.interpreter, Program(sys.executable, RUN).interpreter} == {sys.executable}
    assert Program("/bin/memtool-hook").interpreter == "/bin/memtool-hook"


@pytest.mark.skipif(sys.platform == "win32", reason="the guard of Windows is its own")
@pytest.mark.parametrize("gone", ["python", "package"])
def test_hooks_whose_program_was_removed_say_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    folder = tmp_path / "a $(touch x) '\" 环境"
    (folder / "memtool" / "hook").mkdir(parents=True)
    (folder / "memtool" / "hook" / "__main__.py").touch()
    (folder / "python").write_text('#!/bin/sh\necho "ran $*"; exit 3\n')
    (folder / "python").chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setattr("memtool.__file__", str(folder / "memtool" / "__init__.py"))
    program = find_program(Path("/记 $(id) 忆"), this_project=False)

    def run() -> tuple[int, str, str]:
        command = [program.command, *program.args]
        ran = subprocess.run(command, cwd=tmp_path, input="{}", capture_output=True, encoding="utf-8", check=False)
        return ran.returncode, ran.stdout, ran.stderr

    assert run() == (3, "ran -E -P -m memtool.hook --vault /记 $(id) 忆\n", "")
    (folder / ("python" if gone == "python" else "memtool/hook/__main__.py")).unlink()
    assert run() == (0, "", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [folder.name]


def test_on_windows_cmd_is_the_guard_where_the_paths_mean_nothing_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cmd.exe").touch()
    monkeypatch.setattr("memtool.integrations.claude_code.program._SHELL", tmp_path / "no sh")
    monkeypatch.setattr("memtool.integrations.claude_code.program._CMD", tmp_path / "cmd.exe")
    monkeypatch.setattr("memtool.__file__", "/Program Files/memtool/__init__.py")
    monkeypatch.setattr(sys, "executable", "C:/记 忆/python.exe")
    needed = str(Path("/Program Files/memtool/hook/__main__.py"))
    program = find_program(None, this_project=False)
    assert program.command == str(tmp_path / "cmd.exe")
    python = "C:/记 忆/python.exe"
    assert program.args == ("/d", "/c", "if", "exist", needed, "if", "exist", python, python, *RUN)
    assert program.interpreter == python
    for hostile in ("C:/R&D", "C:/%PATH%", "C:/a^b", "C:/a!b", "C:/(a)"):
        assert find_program(Path(hostile), this_project=False).command == python


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
