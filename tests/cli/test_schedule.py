from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from schedules.test_schedule import System
from terminal import MEMTOOL

from memtool.errors import NotWritable

if TYPE_CHECKING:
    from terminal import Memtool

    from memtool.vault.layout import Vault

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the made-up programs are scripts")


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> System:
    system = System(tmp_path / "programs")
    git = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    (system.folder / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(system.folder))
    return system


@pytest.mark.slow
@pytest.mark.usefixtures("notes")
def test_from_installing_to_removing(memtool: Memtool, system: System) -> None:
    assert "No schedule is installed" in memtool("schedule", "status").out
    shown = memtool("schedule", "install", "--kind", "cron", "--dry-run").out
    assert shown.startswith("# one line of your crontab\n17 9-23 * * * ")
    assert system.changes() == []
    installed = memtool("schedule", "install", "--kind", "cron").out
    assert installed.startswith("cron consolidates each week: memtool-weekly-")
    assert "was already set up" in memtool("schedule", "install", "--kind", "cron").out
    assert memtool("consolidate", "--week", "last").code == 0
    status = memtool("schedule", "status").out
    assert "0 proposals, " in status
    assert "Next run: " in status
    again = memtool("consolidate", "--week", "last", "--once")
    assert (again.code, again.out) == (0, "")
    assert "is already consolidated" in again.err
    answer = memtool("schedule", "status", "--json").answer
    assert answer["installed"][0]["kind"] == "cron"
    assert answer["last_run"]["is_done"] is True
    assert memtool("schedule", "remove").out.startswith("Removed from cron: ")
    assert memtool("schedule", "remove").out.startswith("Nothing to do")
    assert not system.crontab.exists()


@pytest.mark.slow
@pytest.mark.usefixtures("notes")
def test_status_tells_of_a_run_that_failed_and_of_a_system_that_forgot(
    memtool: Memtool, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Vault) -> NoReturn:
        raise NotWritable("the disk is full")

    memtool("schedule", "install", "--kind", "systemd")
    assert "schedule: installed for systemd; it has not run yet" in memtool("doctor").out
    assert "systemd still consolidates each week" in memtool("uninstall", "claude-code").err
    (system.folder / "systemctl.state").unlink()
    assert "schedule: systemd no longer has the schedule" in memtool("doctor").out
    monkeypatch.setattr("memtool.consolidate.run.read_sessions", full)
    assert memtool("consolidate", "--week", "last").code == 26
    status = memtool("schedule", "status")
    assert "it failed: the disk is full" in status.out
    assert "schedule: the consolidation of" in memtool("doctor").out
    assert "is disabled" in status.out
    assert "run `memtool schedule install` again" in status.err


@pytest.mark.slow
@pytest.mark.parametrize("ended", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_runner_at_once(ended: signal.Signals, notes: Path) -> None:
    pytest.importorskip("schedule")
    command = [*MEMTOOL, "--vault", str(notes), "schedule", "run"]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=os.environ) as runner:
        signal.signal(signal.SIGINT, before)
        assert runner.stderr
        assert b"consolidating" in runner.stderr.readline()
        time.sleep(1.0)
        began = time.monotonic()
        runner.send_signal(ended)
        assert runner.wait(timeout=10) == (0 if ended is signal.SIGTERM else 130)
        assert time.monotonic() - began < 2.0
