from __future__ import annotations

import json
from pathlib import Path

import pytest

from memtool.capture import limits
from memtool.capture.queue import PAUSES, TRIES, Job, Queue, only_worker
from memtool.errors import NotWritable
from memtool.vault.layout import Vault

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


def test_a_job_that_was_done_is_gone(queue: Queue) -> None:
    queue.put(JOB)
    queue.finish(begun(queue, JOB))
    assert queue.waiting() == []


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
    for folder in (queue.folder, queue.new_folder, queue.parked_folder):
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


def test_the_clients_own_summary_is_kept_after_a_worker_has_begun(queue: Queue) -> None:
    queue.put(JOB._replace(compaction="摘要"))
    begun(queue, queue.waiting()[0])
    queue.put(JOB)
    assert [job.compaction for job in queue.waiting()] == ["摘要"]


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
