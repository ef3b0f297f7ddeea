from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from memtool.errors import BadSetting
from memtool.integrations.claude_code.hooks import Program
from memtool.integrations.claude_code.program import find_program


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that Python says its scripts are in."""
    monkeypatch.setattr(sysconfig, "get_path", lambda _, scheme="venv": str(tmp_path / scheme))
    (tmp_path / "venv").mkdir()
    return tmp_path / "venv"


def test_the_script_beside_the_interpreter_is_run_on_the_vault_that_was_named(scripts: Path) -> None:
    (scripts / "memtool-hook").touch()
    path = str(scripts / "memtool-hook")
    assert find_program(None, this_project=False) == Program(path)
    assert find_program(Path("/记 忆"), this_project=True) == Program(path, ("--vault", "/记 忆", "--this-project"))
    assert find_program(Path("/v"), this_project=False).vault == "/v"


def test_on_windows_the_script_is_a_program(scripts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    (scripts / "memtool-hook.exe").touch()
    assert find_program(None, this_project=False) == Program(str(scripts / "memtool-hook.exe"))


@pytest.mark.usefixtures("scripts")
def test_without_a_script_the_interpreter_is_run() -> None:
    expected = Program(sys.executable, ("-P", "-m", "memtool.hook", "--vault", "/v"))
    assert find_program(Path("/v"), this_project=False) == expected


def test_a_users_own_scripts_are_found_outside_a_virtual_environment(
    scripts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = scripts.parent / sysconfig.get_preferred_scheme("user")
    users.mkdir()
    (users / "memtool-hook").touch()
    monkeypatch.setattr(sys, "base_prefix", sys.prefix)
    assert find_program(None, this_project=False) == Program(str(users / "memtool-hook"))
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    assert find_program(None, this_project=False).command == sys.executable


def test_a_path_that_no_settings_file_can_hold_is_refused() -> None:
    with pytest.raises(BadSetting, match="is not Unicode"):
        find_program(Path("/v\udcff"), this_project=False)


def test_nothing_in_the_project_passes_for_a_module_of_ours(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('hijacked')")
    (tmp_path / "memtool.py").write_text("raise SystemExit('hijacked')")
    command = [sys.executable, "-P", "-m", "memtool.hook"]
    ran = subprocess.run(command, cwd=tmp_path, input=b"", capture_output=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
