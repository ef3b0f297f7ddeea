"""The weekly run in the hands of made-up systems: programs on PATH that write down what they were asked."""

from __future__ import annotations

import json
import os
import plistlib
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from desk import NOW, Desk

from memtool import schedules
from memtool.consolidate.week import SCHEDULE, keep_run, last_week, read_kept, read_run, was_run
from memtool.errors import BadSetting, MemtoolError, ProviderMissing
from memtool.history.template import make_vault
from memtool.installation import how_to_add
from memtool.schedules import CRON, KINDS, LAUNCHD, SYSTEMD, WINDOWS
from memtool.workspace import Workspace

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the made-up programs are scripts")

ODD = "my notes 100% $HOME 'quoted' \\ 笔记 {vault}"

# Knows what is in force by what it was asked, as the real ones do; `refuse` names what it refuses.
PROGRAM = """#!/bin/sh
"exec" "{python}" "$0" "$@"  # its path may hold spaces
import json, pathlib, sys
here = pathlib.Path({folder!r})
name, args = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
with (here / "calls").open("a") as calls:
    calls.write(json.dumps([name, *args]) + "\\n")
refused = (here / "refuse").read_text().split("\\n") if (here / "refuse").exists() else []
if name in refused or any(arg in refused for arg in args):
    sys.exit(f"{{name}} says no")
state = here / f"{{name}}.state"
if name == "crontab":
    if args == ["-l"]:
        if not state.exists():
            sys.exit("no crontab for anna")
        sys.stdout.buffer.write(state.read_bytes())
    elif args == ["-r"]:
        state.unlink()
    else:
        state.write_bytes(sys.stdin.buffer.read())
elif {{"enable", "bootstrap", "/create"}} & set(args):
    state.touch()
elif {{"disable", "bootout", "/delete"}} & set(args):
    state.unlink()
elif {{"is-active", "print", "/query"}} & set(args):
    sys.exit(0 if state.exists() else 3)
"""


class System:
    """A machine with all four programs, or with some of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        for name in ("systemctl", "launchctl", "crontab", "schtasks"):
            path = folder / name
            path.write_text(PROGRAM.format(python=sys.executable, folder=str(folder)), encoding="utf-8")
            path.chmod(0o700)

    def refuse(self, *words: str) -> None:
        (self.folder / "refuse").write_text("\n".join(words))

    def calls(self) -> list[list[str]]:
        path = self.folder / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def changes(self) -> list[list[str]]:
        asking = {"is-active", "print", "/query", "-l", "show"}
        return [call for call in self.calls() if not asking & set(call)]

    @property
    def crontab(self) -> Path:
        return self.folder / "crontab.state"


@pytest.fixture
def system(tmp_path: Path) -> System:
    return System(tmp_path / "programs")


@pytest.fixture
def work(tmp_path: Path, system: System) -> Workspace:
    """A vault whose path holds all that some syntax takes for its own."""
    return work_in(tmp_path / ODD, system)


def work_in(root: Path, system: System) -> Workspace:
    desk = Desk(make_vault(root).vault)
    desk.environ["PATH"] = str(system.folder)
    return desk.work


def texts(work: Workspace, kind: str) -> dict[str, str]:
    return {path.name.rpartition(".")[2]: text for path, text in schedules.plan(work, kind).texts.items()}


def test_a_systemd_unit_quotes_the_vault_and_catches_up(work: Workspace) -> None:
    found = texts(work, SYSTEMD)
    assert "Persistent=true" in found["timer"]
    line = next(line for line in found["service"].splitlines() if line.startswith("ExecStart="))
    vault = str(work.vault.root).replace("\\", "\\\\").replace("%", "%%").replace("$", "$$")
    assert line == (
        f'ExecStart="{sys.executable}" "-E" "-P" "-m" "memtool" "--vault" "{vault}" '
        '"consolidate" "--week" "last" "--once"'
    )


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
def test_systemd_reads_the_units(work: Workspace, tmp_path: Path) -> None:
    for path, text in schedules.plan(work, SYSTEMD).texts.items():
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    unit = tmp_path / f"{schedules.name_of(work.vault.root)}.timer"
    told = subprocess.run(
        ["systemd-analyze", "verify", "--user", "--man=no", str(unit)],
        capture_output=True, text=True, check=False, env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
    )  # fmt: skip
    assert [line for line in told.stderr.splitlines() if "memtool-weekly" in line] == []


def test_a_plist_holds_the_words_of_the_command(work: Workspace) -> None:
    read = plistlib.loads(texts(work, LAUNCHD)["plist"].encode())
    assert read["ProgramArguments"] == list(schedules.command_of(work.vault.root))
    assert read["Label"] == schedules.name_of(work.vault.root)


@pytest.mark.slow
def test_a_windows_task_starts_what_was_missed(work: Workspace) -> None:
    (path,) = schedules.plan(work, WINDOWS).texts
    schedules.install(work, schedules.plan(work, WINDOWS))
    task = ET.fromstring(path.read_bytes())
    within = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
    assert task.findtext(f".//{within}StartWhenAvailable") == "true"
    assert task.findtext(f".//{within}Command") == sys.executable
    assert task.findtext(f".//{within}Arguments") == subprocess.list2cmdline(schedules.command_of(work.vault.root)[1:])


def test_a_shell_reads_the_line_of_the_crontab_as_the_command(work: Workspace, tmp_path: Path) -> None:
    line = next(iter(schedules.plan(work, CRON).texts.values())).rstrip("\n")
    command = line.split(" ", 5)[5].replace("\\%", "%")  # as cron hands it to the shell
    recorder = tmp_path / "recorder"
    recorder.write_text(f'#!/bin/sh\n"exec" "{sys.executable}" "$0" "$@"\nimport json, sys\n'
                        f"open({str(tmp_path / 'said')!r}, 'w').write(json.dumps(sys.argv[1:]))\n")  # fmt: skip
    recorder.chmod(0o700)
    subprocess.run(
        ["/bin/sh", "-c", command.replace(shlex.quote(sys.executable), shlex.quote(str(recorder)))], check=True
    )
    assert json.loads((tmp_path / "said").read_text()) == list(schedules.command_of(work.vault.root)[1:])
    assert "%" not in line.replace("\\%", "")


def test_a_folder_name_that_no_file_can_hold_is_refused(tmp_path: Path, system: System) -> None:
    work = work_in(tmp_path / "two\nlines", system)
    for kind in KINDS:
        with pytest.raises(BadSetting, match="characters that no schedule can hold"):
            schedules.plan(work, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_installing_twice_changes_nothing_and_removing_leaves_nothing(
    kind: str, work: Workspace, system: System, tmp_path: Path
) -> None:
    plan = schedules.plan(work, kind)
    before = {path for path in tmp_path.rglob("*") if path.is_file()} | {system.folder / "calls"}
    assert schedules.install(work, plan) is True
    assert read_kept(work, SCHEDULE) == kind
    state = schedules.look(work, plan)
    assert (state.is_there, state.differs, state.is_in_force) == (True, False, True)
    done = system.changes()
    assert schedules.install(work, plan) is False
    assert system.changes() == done
    assert [found.kind for found in schedules.find_installed(work)] == [kind]
    assert schedules.remove(work, plan) == []
    assert schedules.find_installed(work) == []
    left = {path for path in tmp_path.rglob("*") if path.is_file() and ".memtool" not in path.parts}
    assert left <= before | {work.cache / "machine", work.cache / "machine.lock"}
    assert read_kept(work, SCHEDULE) == ""


@pytest.mark.slow
def test_other_lines_of_a_crontab_keep_every_byte(work: Workspace, system: System) -> None:
    others = (
        b"# mine: \xe7\xac\x94\xe8\xae\xb0 \xff\n5 4 * * * backup --all\n\n#17 * * * * old # memtool-weekly-00000000"
    )
    system.crontab.write_bytes(others)
    plan = schedules.plan(work, CRON)
    schedules.install(work, plan)
    assert system.crontab.read_bytes() == others + b"\n" + plan.texts[Path("crontab -l")].encode()
    schedules.remove(work, plan)
    assert system.crontab.read_bytes() == others + b"\n"


@pytest.mark.slow
def test_a_crontab_that_cannot_be_read_is_not_written(work: Workspace, system: System) -> None:
    system.crontab.write_bytes(b"5 4 * * * backup\n")
    system.refuse("-l")
    with pytest.raises(MemtoolError, match="your crontab cannot be read: crontab says no"):
        schedules.install(work, schedules.plan(work, CRON))
    assert system.crontab.read_bytes() == b"5 4 * * * backup\n"


@pytest.mark.slow
def test_what_the_system_refuses_leaves_no_file(work: Workspace, system: System) -> None:
    plan = schedules.plan(work, SYSTEMD)
    system.refuse("enable")
    with pytest.raises(MemtoolError, match=r"`systemctl --user enable .*` failed: systemctl says no"):
        schedules.install(work, plan)
    assert not any(path.exists() for path in plan.texts)


@pytest.mark.slow
def test_a_system_that_does_not_answer_keeps_nothing_of_ours(work: Workspace, system: System) -> None:
    plan = schedules.plan(work, SYSTEMD)
    schedules.install(work, plan)
    timer = next(path for path in plan.texts if path.suffix == ".timer")
    link, other = (timer.parent / "timers.target.wants" / name for name in (timer.name, "backup.timer"))
    link.parent.mkdir()
    link.symlink_to(timer)
    other.touch()
    system.refuse("disable")
    (sentence,) = schedules.remove(work, plan)
    assert sentence.endswith("failed: systemctl says no")
    assert not link.is_symlink()
    assert other.exists()
    assert schedules.find_installed(work) == []


@pytest.mark.slow
def test_an_old_file_is_brought_up_to_date(work: Workspace) -> None:
    plan = schedules.plan(work, LAUNCHD)
    schedules.install(work, plan)
    (path,) = plan.texts
    path.write_text("<plist/>")
    assert schedules.look(work, plan).differs
    assert schedules.install(work, plan) is True
    assert path.read_text(encoding="utf-8") == plan.texts[path]


@pytest.mark.parametrize(
    ("platform", "missing", "kind"),
    [("linux", "", SYSTEMD), ("linux", "systemctl", CRON), ("darwin", "", LAUNCHD), ("darwin", "launchctl", CRON)],
)
def test_the_kind_is_what_the_machine_has(
    platform: str, missing: str, kind: str, work: Workspace, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    if missing:
        (system.folder / missing).unlink()
    monkeypatch.setattr(sys, "platform", platform)
    assert schedules.choose_kind(work) == kind


def test_the_next_run_is_a_monday() -> None:
    assert schedules.next_run(NOW).isoformat() == "2026-02-16T09:17:00+08:00"  # NOW is a Tuesday
    monday = NOW - timedelta(days=1)
    assert schedules.next_run(monday.replace(hour=9, minute=16)).date() == monday.date()
    assert schedules.next_run(monday.replace(hour=9, minute=17)).date() == (monday + timedelta(weeks=1)).date()


class Ended(Exception):
    """Somebody has pressed Ctrl-C."""


def paused(times: int) -> Callable[[float], None]:
    left = [times]

    def pause(seconds: float) -> None:
        assert 0 <= seconds <= 60
        left[0] -= 1
        if not left[0]:
            raise Ended

    return pause


def test_the_runner_begins_with_the_week_that_was_missed(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("schedule")
    began: list[Path] = []
    said: list[str] = []

    def command(root: Path) -> tuple[str, ...]:
        began.append(root)
        return (sys.executable, "-c", "exit(7)")

    monkeypatch.setattr(schedules, "command_of", command)
    with pytest.raises(Ended):
        schedules.keep_running(work, said.append, paused(3))
    assert began == [work.vault.root]
    assert said == ["consolidating 2026-W06", "it ended with exit code 7, and is tried again tomorrow"]
    keep_run(work, last_week(work), "5 facts", is_done=True)
    with pytest.raises(Ended):
        schedules.keep_running(work, said.append, paused(1))
    assert len(began) == 1


def test_ending_the_runner_ends_the_run(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("schedule")
    started: list[subprocess.Popen[bytes]] = []

    class Child(subprocess.Popen[bytes]):
        def wait(self, timeout: float | None = None) -> int:
            if not started:
                started.append(self)
                raise KeyboardInterrupt
            return super().wait(timeout)

    monkeypatch.setattr(schedules, "command_of", lambda _: (sys.executable, "-c", "import time; time.sleep(60)"))
    monkeypatch.setattr(subprocess, "Popen", Child)
    with pytest.raises(KeyboardInterrupt):
        schedules.keep_running(work, lambda _: None, paused(1))
    assert started[0].returncode != 0


def test_without_the_package_the_runner_says_how_to_add_it(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "schedule", None)
    with pytest.raises(ProviderMissing) as refused:
        schedules.keep_running(work, lambda _: None, paused(1))
    assert refused.value.hint == how_to_add("schedule")


def test_a_week_counts_as_run_only_after_it_has_ended(work: Workspace) -> None:
    week = last_week(work)
    keep_run(work._replace(clock=lambda: NOW - timedelta(days=4)), week, "half a week", is_done=True)
    assert not was_run(work, week)
    keep_run(work, week, "the disk is full\n", is_done=False)
    assert not was_run(work, week)
    assert read_run(work) is not None
    keep_run(work, week, "5 facts", is_done=True)
    assert was_run(work, week)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_vault_that_moved_leaves_a_schedule_that_is_found_and_taken_out(
    tmp_path: Path, system: System, kind: str
) -> None:
    old = work_in(tmp_path / "家" / "笔记 one", system)
    schedules.install(old, schedules.plan(old, kind))
    assert schedules.find_lost(old) == []
    moved = work_in(old.vault.root.rename(tmp_path / "家" / "two"), system)
    [lost] = schedules.find_lost(moved)
    assert lost == (kind, schedules.name_of(old.vault.root), str(old.vault.root))
    schedules.remove_lost(moved, lost)
    assert schedules.find_lost(moved) == []
    assert read_kept(moved, SCHEDULE) == kind
    schedules.install(moved, schedules.plan(moved, kind))
    assert schedules.find_lost(moved) == []
    assert schedules.find_installed(moved)[0].kind == kind


@pytest.mark.slow
def test_the_schedule_of_a_vault_on_a_disk_that_is_not_there_is_left_alone(tmp_path: Path, system: System) -> None:
    work = work_in(tmp_path / "disk" / "notes", system)._replace(
        home=tmp_path / "home", environ={"PATH": str(system.folder)}
    )
    schedules.install(work, schedules.plan(work, SYSTEMD))
    elsewhere = work_in(tmp_path / "other" / "notes", system)._replace(home=work.home, environ=work.environ)
    shutil.rmtree(tmp_path / "disk" / "notes")
    assert schedules.find_lost(elsewhere) == []
    (tmp_path / "disk" / "others").touch()
    assert len(schedules.find_lost(elsewhere)) == 1
