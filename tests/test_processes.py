from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from unprivileged import unprivileged

from memtool.errors import Busy, NotWritable
from memtool.processes import lock, start_command
from memtool.vault.layout import Vault, open_vault

HOLDS = """
import sys
from pathlib import Path
from memtool.processes import lock

with lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""

COUNTS = """
import sys
from pathlib import Path
from memtool.vault.files import read_text, replace
from memtool.vault.layout import open_vault

vault = open_vault(Path(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    with vault.lock(timeout=120):
        text, expected = read_text(vault.path("counter.md"))
        replace(vault.path("counter.md"), str(int(text) + 1), expected=expected)
"""


def holder(path: Path) -> subprocess.Popen[str]:
    """A process that holds the lock until its stdin is closed."""
    command = [sys.executable, "-c", HOLDS, str(path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_another_process_is_kept_out_and_let_in_afterwards(tmp_path: Path) -> None:
    with holder(tmp_path / "x.lock") as process:
        with (
            pytest.raises(Busy, match=r"another process has held 'x\.lock' for 0 seconds"),
            lock(tmp_path / "x.lock", timeout=0),
        ):
            raise AssertionError("the lock was given twice")
        process.communicate("")
    with lock(tmp_path / "x.lock", timeout=0):
        pass


def test_it_is_free_when_its_holder_is_killed(tmp_path: Path) -> None:
    with holder(tmp_path / "x.lock") as process:
        process.kill()
        process.wait()
    with lock(tmp_path / "x.lock", timeout=0):
        pass


def test_it_is_free_after_an_error_in_the_block(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), lock(tmp_path / "x.lock"):
        raise RuntimeError
    with lock(tmp_path / "x.lock", timeout=0):
        pass


def test_the_lock_file_is_for_its_owner_only(tmp_path: Path) -> None:
    with lock(tmp_path / "x.lock"):
        assert stat.S_IMODE((tmp_path / "x.lock").stat().st_mode) == 0o600


@pytest.mark.slow
def test_many_processes_lose_nothing(tmp_path: Path) -> None:
    (tmp_path / "counter.md").write_text("0")
    (tmp_path / "memtool.toml").touch()
    command = [sys.executable, "-c", COUNTS, str(tmp_path), "15"]
    counting = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait() for process in counting] == [0, 0, 0, 0]
    assert (tmp_path / "counter.md").read_text() == "60"


def test_a_vault_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "memtool.toml").touch()
    tmp_path.chmod(0o500)
    with unprivileged(), pytest.raises(NotWritable, match="Permission denied"), Vault(tmp_path).lock():
        raise AssertionError("there is no lock")
    tmp_path.chmod(0o700)


def test_an_error_inside_is_not_taken_for_one_of_the_lock(tmp_path: Path) -> None:
    (tmp_path / "memtool.toml").touch()
    with pytest.raises(FileNotFoundError), open_vault(tmp_path).lock():
        (tmp_path / "nothing").read_bytes()


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="tells its priority by `nice`")


class Kept(subprocess.Popen):  # type: ignore[type-arg]
    started: ClassVar[list[subprocess.Popen[bytes]]] = []

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        Kept.started.append(self)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands for Python: it writes down its niceness."""
    path = tmp_path / "python 程序"
    path.write_text(f'#!/bin/sh\nsleep 0.2\nnice > "{tmp_path}/told"\n')
    path.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(path))
    monkeypatch.setattr(subprocess, "Popen", Kept)
    return path


def niceness(folder: Path) -> int:
    assert Kept.started.pop().wait(timeout=60) == 0
    return int((folder / "told").read_text()) - os.getpriority(os.PRIO_PROCESS, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("yielding", "more"), [(False, 0), (True, 10)])
def test_a_command_yields_if_it_is_to(program: Path, *, yielding: bool, more: int) -> None:
    start_command(program.parent, os.environ, "helper", yielding=yielding)
    assert niceness(program.parent) == min(more, 19 - os.getpriority(os.PRIO_PROCESS, 0))
