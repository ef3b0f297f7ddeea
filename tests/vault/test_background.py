"""A command in the background yields to the user's work, if it is to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from memtool.capture.queue import start_worker
from memtool.vault.background import start_command
from memtool.vault.layout import Vault

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


@pytest.mark.parametrize(("yielding", "more"), [(False, 0), (True, 10)])
def test_a_command_yields_if_it_is_to(program: Path, *, yielding: bool, more: int) -> None:
    start_command(program.parent, os.environ, "helper", yielding=yielding)
    assert niceness(program.parent) == min(more, 19 - os.getpriority(os.PRIO_PROCESS, 0))


def test_the_worker_yields(program: Path, vault: Vault) -> None:
    assert start_worker(vault, os.environ)
    assert niceness(program.parent) > 0
