from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from desk import NOW

from memtool.capture.captured import Record, record_path, write_record
from memtool.capture.log import ERROR, NOTE, ROUTES, WARNING, LogEntry, log, log_once_a_day, read_log, read_problems
from memtool.capture.queue import Job, Queue
from memtool.vault.layout import Vault
from memtool.vault.state import make_state_folder

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
ENTRY = LogEntry("2026-02-10T14:30:00+01:00", ERROR, "Stop", "the disk is full 磁盘已满")


def test_what_was_written_is_read(tmp_path: Path) -> None:
    log([tmp_path], ENTRY)
    log([tmp_path], ENTRY._replace(level=NOTE, at="2026-02-11T14:30:00+01:00"))
    assert read_log([tmp_path], LONG_AGO) == [ENTRY, ENTRY._replace(level=NOTE, at="2026-02-11T14:30:00+01:00")]
    assert len(read_log([tmp_path], datetime(2026, 2, 11, tzinfo=UTC))) == 1


def test_an_entry_is_one_line(tmp_path: Path) -> None:
    log([tmp_path], ENTRY._replace(subject="St op\n\x1b[31m", message="two\nlines\r\n" + "x" * 9_999 + "\ud800"))
    (line,) = (tmp_path / "hook.log").read_text(encoding="utf-8").splitlines()
    assert line.startswith("2026-02-10T14:30:00+01:00 error Stop31m two lines xxx")
    assert len(line) < 600


def test_the_next_folder_takes_what_the_first_one_cannot(tmp_path: Path) -> None:
    log([tmp_path / "gone", tmp_path], ENTRY)
    assert read_log([tmp_path], LONG_AGO) == [ENTRY]
    log([tmp_path / "gone"], ENTRY)  # nobody can be told


def test_what_was_said_within_a_day_is_not_said_again(tmp_path: Path) -> None:
    entry = ENTRY._replace(message="路由\n is broken " + "x" * 999)
    assert log_once_a_day([tmp_path], entry)
    assert not log_once_a_day([tmp_path], entry._replace(at="2026-02-11T14:29:59+01:00"))
    assert log_once_a_day([tmp_path], entry._replace(at="2026-02-11T14:29:59+01:00", message="another"))
    assert log_once_a_day([tmp_path], entry._replace(at="2026-02-11T14:30:01+01:00"))
    assert len(read_log([tmp_path], LONG_AGO)) == 3


def test_a_log_does_not_grow_for_ever(tmp_path: Path) -> None:
    for _ in range(2):
        (tmp_path / "hook.log").write_bytes(b"x" * 299_999 + b"\n")
        log([tmp_path], ENTRY)
        log([tmp_path], ENTRY)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 310_000
    assert len(read_log([tmp_path], LONG_AGO)) == 2


def test_lines_that_are_none_of_ours_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "hook.log").write_bytes(b"\xff\xfe\nhello\n\n2026-99-99 error x y\n2026-02-10T14:30:00 error x y\n")
    log([tmp_path], ENTRY)
    assert read_log([tmp_path], LONG_AGO) == [ENTRY]


@pytest.mark.parametrize("link", [".memtool", ".memtool/hook.log"])
def test_a_log_that_leads_elsewhere_is_neither_read_nor_written(tmp_path: Path, link: str) -> None:
    victim = tmp_path / "victim" / "hook.log"
    log([tmp_path], ENTRY)
    victim.parent.mkdir()
    (tmp_path / "hook.log").rename(victim)
    before = victim.read_bytes()
    (tmp_path / link).parent.mkdir(exist_ok=True)
    (tmp_path / link).symlink_to(victim.parent if link == ".memtool" else victim)
    log([tmp_path / ".memtool"], ENTRY)
    assert victim.read_bytes() == before
    assert read_log([tmp_path / ".memtool"], LONG_AGO) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_nobody_waits_for_a_log_that_is_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    os.mkfifo(tmp_path / "state" / "hook.log")
    log([tmp_path / "state", tmp_path], ENTRY)
    assert read_log([tmp_path / "state", tmp_path], LONG_AGO) == [ENTRY]


def put(vault: Vault, hours: float, subject: str, message: str, level: str = ERROR) -> None:
    make_state_folder(vault.state_path)
    at = (NOW - timedelta(hours=hours)).isoformat(timespec="seconds")
    log([vault.state_path], LogEntry(at, level, subject, message))


def problems(vault: Vault) -> tuple[list[str], list[str]]:
    """The messages of the errors that stand, and of the others."""
    found = read_problems(vault, [vault.state_path], NOW)
    return [entry.message for entry in found.standing], [entry.message for entry in found.over]


def test_an_error_stands_for_a_day_and_is_spoken_of_for_a_week(vault: Vault) -> None:
    for hours, message in ((200, "a month"), (25, "yesterday"), (23, "磁盘已满"), (-5, "a clock that was wrong")):
        put(vault, hours, "Stop", message)
    assert problems(vault) == (["磁盘已满", "a clock that was wrong"], ["yesterday"])


@pytest.mark.slow
def test_a_warning_never_stands_and_a_note_is_no_problem(vault: Vault) -> None:
    put(vault, 1, "-", "the event is no JSON", WARNING)
    put(vault, 1, "Stop", "there is no transcript", NOTE)
    assert problems(vault) == ([], ["the event is no JSON"])


def test_a_session_that_has_its_note_after_all_is_made_good(vault: Vault) -> None:
    put(vault, 1, "worker", "one: the disk is full: 磁盘已满")
    (vault.root / "sessions").mkdir(exist_ok=True)
    (vault.root / "sessions" / "one.md").write_text("# one\n")
    assert problems(vault) == ([], [])
    Queue(vault).put(Job("one", "/t.jsonl"))  # but not as long as it is to be tried again
    assert problems(vault) == (["one: the disk is full: 磁盘已满"], [])


@pytest.mark.parametrize("message", ["there is no vault at '{}'", "'{}' is no vault: it has no memtool.toml"])
def test_a_vault_that_was_missing_is_forgotten_once_it_is_there(vault: Vault, message: str) -> None:
    put(vault, 1, "SessionStart", message.format("/家/memory"))
    put(vault, 30, "Stop", message.format("/家/memory"))
    vault.settings_path.unlink(missing_ok=True)
    assert len(problems(vault)[0]) == len(problems(vault)[1]) == 1
    vault.settings_path.touch()
    assert problems(vault) == ([], [])


def test_what_names_no_session_is_over_when_something_was_captured_since(vault: Vault) -> None:
    for subject, message in (("Stop", "磁盘已满"), ("worker", "the notes were not committed: x"), (ROUTES, "triggers")):
        put(vault, 1, subject, message)
    put(vault, 0, "Stop", "again")
    write_record(vault, "one", Record(size=1))
    os.utime(record_path(vault, "one"), (NOW.timestamp(), NOW.timestamp()))
    assert sorted(problems(vault)[0]) == ["again", "triggers"]


@pytest.mark.parametrize("message", ["two: the disk is full", "the notes were written, but not committed: x", "x"])
def test_what_nobody_made_good_stands(vault: Vault, message: str) -> None:
    put(vault, 1, "worker", message)
    assert problems(vault) == ([message], [])
