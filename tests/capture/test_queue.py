from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from desk import NOW

from memtool.capture import limits
from memtool.capture.captured import Record, read_record, record_path, write_record
from memtool.capture.log import ERROR, NOTE, ROUTES, WARNING, LogEntry, log, log_once_a_day, read_log, read_problems
from memtool.capture.queue import PAUSES, TRIES, Job, Queue, only_worker
from memtool.errors import NotAVault, NotWritable, VaultNotFound
from memtool.vault.layout import Vault, open_vault
from memtool.vault.state import make_state_folder

JOB = Job("3f2a9c", "/transcripts/3f2a9c.jsonl", cwd="/src/商店", event="Stop", queued_at=100.0)


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    (tmp_path / "memtool.toml").touch()
    return Queue(Vault(tmp_path))


def begun(queue: Queue, job: Job, now: float = 0.0) -> Job:
    result = queue.begin(job, now)
    assert result is not None
    return result


def test_the_newest_job_of_a_session_wins(queue: Queue) -> None:
    queue.put(JOB)
    queue.put(JOB._replace(event="SessionEnd", queued_at=200.0))
    queue.put(Job("other", "/t", queued_at=150.0))
    assert [(job.session_id, job.event) for job in queue.waiting()] == [("other", ""), ("3f2a9c", "SessionEnd")]


def test_the_clients_own_summary_is_kept_by_the_jobs_that_follow(queue: Queue) -> None:
    queue.put(JOB._replace(compaction="摘要"))
    queue.put(JOB._replace(event="Stop"))
    assert queue.waiting()[0].compaction == "摘要"


def test_a_job_that_came_anew_meanwhile_stays(queue: Queue) -> None:
    queue.put(JOB)
    first = begun(queue, JOB)
    newer = JOB._replace(queued_at=300.0)
    queue.put(newer)
    queue.finish(first)
    assert queue.waiting() == [newer]
    assert queue.fail(first, "too late", 0.0) is False
    assert queue.waiting() == [newer]


def test_a_job_whose_worker_died_is_due_again_after_five_minutes(queue: Queue) -> None:
    queue.put(JOB)
    begun(queue, JOB, now=1000.0)
    assert limits.LEASE_SECONDS == 300.0
    assert [(job.tries, job.due_at) for job in queue.waiting()] == [(1, 1300.0)]


def test_a_job_is_parked_after_three_tries_with_growing_pauses(queue: Queue) -> None:
    queue.put(JOB)
    pauses = []
    for attempt in range(TRIES):
        job = begun(queue, queue.waiting()[0], now=1000.0)
        parked = queue.fail(job, "密钥 expired", now=1000.0)
        assert parked == (attempt == TRIES - 1)
        pauses += [waiting.due_at - 1000.0 for waiting in queue.waiting()]
    assert (TRIES, tuple(pauses)) == (3, PAUSES)
    assert sorted(pauses) == pauses
    assert queue.waiting() == []
    assert [(job.session_id, job.reason) for job in queue.parked()] == [("3f2a9c", "密钥 expired")]


def test_a_parked_job_can_be_tried_again_and_is_gone_when_it_succeeds(queue: Queue) -> None:
    queue.put(JOB)
    for _ in range(TRIES):
        queue.fail(begun(queue, queue.waiting()[0]), "no", now=0.0)
    queue.revive()
    assert [(job.tries, job.due_at) for job in queue.waiting()] == [(0, 0.0)]
    assert queue.parked() == []


def test_a_new_event_of_a_parked_session_that_succeeds_forgets_the_failure(queue: Queue) -> None:
    queue.put(JOB)
    for _ in range(TRIES):
        queue.fail(begun(queue, queue.waiting()[0]), "no", now=0.0)
    queue.put(JOB)
    queue.finish(begun(queue, JOB))
    assert (queue.waiting(), queue.parked()) == ([], [])


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"{}", b'{"session_id": 1, "transcript": ""}', b"\xff", b'{"a":' * 100_000, b"null",
     b'{"session_id": "x", "transcript": "y", "tries": "3"}', b'{"session_id": "x", "transcript": "y", "more": 1}'],
)  # fmt: skip
def test_what_memtool_did_not_write_is_no_job(queue: Queue, content: bytes) -> None:
    queue.put(JOB)
    (queue.folder / "strange.json").write_bytes(content)
    assert queue.waiting() == [JOB]


@pytest.mark.parametrize("name", ["3f2a9c 2.json", "3f2a9c.sync-conflict-20260210.json", "会话.json"])
def test_a_copy_of_a_job_under_another_name_is_no_job(queue: Queue, name: str) -> None:
    queue.put(JOB)
    for folder in (queue.folder, queue.new_folder):
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes((queue.new_folder / "3f2a9c.json").read_bytes())
    queue.finish(begun(queue, JOB))
    assert (queue.waiting(), queue.parked()) == ([], [])


@pytest.mark.parametrize("session_id", ["../../evil", "a/b", "", "会话", "x" * 10_000, "nul\0", "CON"])
def test_a_hostile_session_id_stays_in_the_queue(queue: Queue, tmp_path: Path, session_id: str) -> None:
    job = JOB._replace(session_id=session_id)
    queue.put(job)
    assert queue.waiting() == [job]
    assert {path.parent for path in tmp_path.rglob("*.json")} == {queue.new_folder}


def test_a_job_is_one_small_json_file(queue: Queue) -> None:
    queue.put(JOB)
    path = queue.new_folder / "3f2a9c.json"
    assert json.loads(path.read_text(encoding="utf-8"))["transcript"] == "/transcripts/3f2a9c.jsonl"
    assert path.stat().st_mode & 0o077 == 0


def test_a_job_is_put_while_others_hold_every_lock(queue: Queue) -> None:
    with queue.vault.lock("queue"), queue.vault.lock("worker"), queue.vault.lock():
        queue.put(JOB)
        queue.put(JOB._replace(event="SessionEnd"))
    assert [job.event for job in queue.waiting()] == ["SessionEnd"]


def test_a_job_that_comes_while_the_older_one_is_given_up_is_done(queue: Queue) -> None:
    queue.put(JOB)
    first = begun(queue, JOB)
    queue.put(JOB._replace(event="SessionEnd"))
    for _ in range(TRIES):
        assert not queue.fail(first, "no", now=0.0)
    assert [(job.event, job.tries) for job in queue.waiting()] == [("SessionEnd", 0)]
    assert begun(queue, queue.waiting()[0]).event == "SessionEnd"
    assert [job.tries for job in queue.waiting()] == [1]


@pytest.mark.parametrize("link", [".memtool", ".memtool/queue", ".memtool/queue/new"])
def test_a_queue_that_leads_elsewhere_is_neither_read_nor_written(queue: Queue, tmp_path: Path, link: str) -> None:
    queue.put(JOB)
    outside = tmp_path / "outside"
    (tmp_path / link).rename(outside)
    (tmp_path / link).symlink_to(outside)
    before = sorted(outside.rglob("*"))
    with pytest.raises(NotWritable):
        queue.put(JOB._replace(session_id="other"))
    assert queue.waiting() == []
    assert sorted(outside.rglob("*")) == before


def test_there_is_one_worker_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "memtool.toml").touch()
    vault = Vault(tmp_path)
    with only_worker(vault) as first, only_worker(vault, patience=0.0) as second:
        assert (first, second) == (True, False)
    with only_worker(vault) as third:
        assert third


LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
ENTRY = LogEntry("2026-02-10T14:30:00+01:00", ERROR, "Stop", "the disk is full 磁盘已满")


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


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_vault_that_was_missing_is_forgotten_once_it_is_there(vault: Vault, tmp_path: Path, is_folder: bool) -> None:
    missing = tmp_path / "家"
    if is_folder:
        missing.mkdir()
    with pytest.raises((VaultNotFound, NotAVault)) as error:
        open_vault(missing).check_made()
    put(vault, 1, "SessionStart", str(error.value))
    put(vault, 30, "Stop", str(error.value))
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


RECORD = Record(7, 400, 99, 2, "sessions/2026-02-10-支付.md", 1.5, owed=True)


OLDER = {"size": 7, "digest": "0a", "provider": "extractive", "model_at": 0.0, "owed": False, "base": "# x"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        json.dumps(OLDER).encode(),
        json.dumps({**RECORD._asdict(), "of a later version": 1}).encode(),
    ],
)
def test_a_record_of_another_version_is_none(vault: Vault, content: bytes) -> None:
    write_record(vault, "one", RECORD)
    record_path(vault, "one").write_bytes(content)
    assert read_record(vault, "one") == Record()


@pytest.mark.slow
@pytest.mark.parametrize("name", list(Record._fields))
def test_a_field_of_another_type_is_no_record(vault: Vault, name: str) -> None:
    write_record(vault, "one", RECORD)
    path = record_path(vault, "one")
    fields = json.loads(path.read_bytes())
    path.write_text(json.dumps({**fields, name: {"x": 1}}))
    assert read_record(vault, "one") == Record()


def test_what_was_switched_off_stays_so_in_a_later_version(vault: Vault) -> None:
    write_record(vault, "one", RECORD)
    record_path(vault, "one").write_text(json.dumps({**OLDER, "off": True}))
    assert read_record(vault, "one") == Record(off=True)


@pytest.mark.slow
@pytest.mark.parametrize("link", [".memtool", ".memtool/captured", ".memtool/captured/one.json"])
def test_a_vault_does_not_choose_where_records_lie(vault: Vault, tmp_path: Path, link: str) -> None:
    write_record(vault, "one", RECORD)
    (vault.root / link).rename(tmp_path / "outside")
    (vault.root / link).symlink_to(tmp_path / "outside")
    assert read_record(vault, "one") == Record()
    with suppress(NotWritable):  # it says so, where a folder is another one
        write_record(vault, "one", RECORD._replace(ref="changed"))
    outside = [path for path in (tmp_path / "outside", *(tmp_path / "outside").rglob("one.json")) if path.is_file()]
    assert ["changed" in path.read_text() for path in outside] == [False]
