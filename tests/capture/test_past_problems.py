from __future__ import annotations

import os
from datetime import timedelta

import pytest
from desk import NOW

from memtool.capture.log import ERROR, NOTE, WARNING, Entry, log
from memtool.capture.past_problems import ROUTES, read_problems
from memtool.capture.queue import Job, Queue
from memtool.capture.records import Record, record_path, write_record
from memtool.vault.layout import Vault
from memtool.vault.state import make_state_folder


def put(vault: Vault, hours: float, subject: str, message: str, level: str = ERROR) -> None:
    make_state_folder(vault.state_path)
    at = (NOW - timedelta(hours=hours)).isoformat(timespec="seconds")
    log([vault.state_path], Entry(at, level, subject, message))


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
    assert problems(vault) == ([], ["one: the disk is full: 磁盘已满"])
    Queue(vault).put(Job("one", "/t.jsonl"))  # but not as long as it is to be tried again
    assert problems(vault)[1] == []


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
