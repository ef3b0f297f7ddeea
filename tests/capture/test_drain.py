from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Timer

import pytest
from client_transcripts import answer, edit, prompt, write_transcript
from desk import Desk

from memtool.capture import drain, limits, session_capture, session_reading
from memtool.capture.captured import read_record, write_record
from memtool.capture.daily_lines import Edit, write_edit
from memtool.capture.drain import Drained
from memtool.capture.log import WARNING, LogEntry
from memtool.capture.model_note import ModelNote
from memtool.capture.queue import PAUSES, SWEEP, Job, Queue, only_worker
from memtool.capture.source import find_source, kept_note
from memtool.capture.transcript import reader
from memtool.capture.turns import Turn
from memtool.errors import Busy, HistoryFailed, NotWritable, ProviderFailed
from memtool.git import tell
from memtool.history import commits as history
from memtool.history.one_commit import commit_noted
from memtool.history.uncommitted import note_uncommitted
from memtool.llm import Answer
from memtool.vault import files
from memtool.vault.layout import Vault
from memtool.vault.sessions import Draft, parse_session

KEY = "sk-ant-" + "api03-" + "Zx9" * 30
TALK = [
    prompt("Why does the refund endpoint charge customers twice? 请修复。"),
    *edit("/src/shop/api/gateway.ts"),
    answer("The root cause is the retry in `gateway.ts`. I fixed it by sending an idempotency key."),
]


def log_of(desk: Desk) -> list[str]:
    done = subprocess.run(
        ["git", "-C", str(desk.vault.root), "log", "--format=%s"], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.slow
def test_a_session_becomes_a_note_and_a_line_of_its_day(desk: Desk) -> None:
    desk.put(write_transcript(desk.home / "3f2a9c.jsonl", TALK))
    assert desk.drain().captured == ("3f2a9c",)
    note = parse_session(desk.read("sessions/3f2a9c.md"))
    assert note.draft.files == ("api/gateway.ts",)
    assert "refund" in note.draft.asked
    assert "\nproject: shop\n" in desk.read("sessions/3f2a9c.md")
    assert "idempotency" in desk.read("sessions/3f2a9c.md")
    assert "sessions/3f2a9c.md" in desk.read("daily/2026-02-10.md")
    assert "path:/src/shop" in desk.read("areas/projects/shop/summary.md")
    assert (desk.queue.waiting(), desk.told) == ([], [])


@pytest.mark.slow
def test_it_is_one_commit(desk: Desk) -> None:
    before = len(log_of(desk))
    for name in ("one", "two"):
        desk.put(write_transcript(desk.home / f"{name}.jsonl", TALK))
    desk.drain()
    assert log_of(desk)[:-before] == ["capture: 2 sessions"]
    status = ["git", "-C", str(desk.vault.root), "status", "--porcelain"]
    assert subprocess.run(status, capture_output=True, check=True).stdout == b""


@pytest.mark.slow
def test_a_turn_is_not_a_commit_yet(desk: Desk) -> None:
    before = log_of(desk)
    desk.put(write_transcript(desk.home / "one.jsonl", TALK), "Stop")
    desk.drain()
    assert log_of(desk) == before
    desk.put(desk.home / "one.jsonl")
    desk.drain()
    assert len(log_of(desk)) == len(before) + 1


def edit_in(desk: Desk, name: str) -> bool:
    """Let a hook note an edit; return whether it says something new."""
    return write_edit(desk.work, Edit(f"/src/shop/{name}", "/src/shop", desk.now))


def uncommitted(desk: Desk) -> str:
    status = ["git", "-C", str(desk.vault.root), "status", "--porcelain", "--untracked-files=all"]
    return subprocess.run(status, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_an_edit_is_committed_with_the_next_session_that_ends(desk: Desk) -> None:
    edit_in(desk, "支付.ts")
    desk.pass_time(86_400)  # the session speaks of a later day
    path = write_transcript(desk.home / "one.jsonl", TALK)
    desk.put(path, "Stop")
    desk.drain()
    assert "daily/2026-02-10.md" in uncommitted(desk)
    desk.put(path)
    desk.drain()
    assert uncommitted(desk) == ""
    assert log_of(desk)[0].startswith("capture: shop")


@pytest.mark.slow
@pytest.mark.parametrize("is_there", [True, False])
def test_edits_are_committed_though_the_session_leaves_no_note(desk: Desk, is_there: bool) -> None:
    edit_in(desk, "支付.ts")
    desk.queue.put(Job(SWEEP, str(desk.home / "projects"), event="SessionStart"))
    desk.drain()
    assert "daily/2026-02-10.md" in uncommitted(desk)  # nobody has ended
    path = desk.home / "one.jsonl"
    desk.put(write_transcript(path, [{"type": "mode", "mode": "plan"}]) if is_there else path)
    desk.drain()
    assert (uncommitted(desk), log_of(desk)[0]) == ("", "capture: daily notes")
    before = log_of(desk)
    desk.put(path)
    desk.drain()
    assert log_of(desk) == before


def test_an_edit_that_says_nothing_new_is_not_noted_again(desk: Desk) -> None:
    noted = desk.vault.state_path / "uncommitted"
    assert edit_in(desk, "a.ts")
    first = noted.read_text()
    assert not edit_in(desk, "a.ts")
    assert first == noted.read_text() == "daily/2026-02-10.md\n"


@pytest.mark.slow
def test_the_same_session_again_gives_the_same_note(desk: Desk) -> None:
    path = write_transcript(desk.home / "one.jsonl", TALK)
    desk.put(path)
    desk.drain()
    first = (desk.read("sessions/one.md"), desk.read("daily/2026-02-10.md"))
    desk.pass_time(3600)
    desk.put(path)
    desk.drain()
    assert (desk.read("sessions/one.md"), desk.read("daily/2026-02-10.md")) == first


@pytest.mark.slow
def test_what_the_owner_wrote_into_a_note_survives_its_next_version(desk: Desk) -> None:
    path = write_transcript(desk.home / "one.jsonl", TALK)
    desk.put(path)
    desk.drain()
    note = desk.vault.root / "sessions" / "one.md"
    note.write_text(note.read_text(encoding="utf-8") + "\n## 我的笔记\n\nAsk Ana first.\n", encoding="utf-8")
    write_transcript(path, [prompt("把同样的修复也用在 subscription.ts 上"), *edit("/src/shop/subscription.ts", "e2")])
    desk.put(path)
    desk.drain()
    text = desk.read("sessions/one.md")
    assert text.count("## 我的笔记\n\nAsk Ana first.\n") == 1
    assert "subscription.ts" in text


def test_no_secret_reaches_the_vault(desk: Desk) -> None:
    records = [prompt(f"the key is {KEY}, 密钥是{KEY}"), answer(f"I use <private>our plan</private> and {KEY}.")]
    desk.put(write_transcript(desk.home / "one.jsonl", records), said=f"so {KEY}")
    desk.put(desk.home / "one.jsonl")
    desk.drain()
    assert (desk.vault.root / "sessions" / "one.md").exists()
    stored = desk.everything()
    assert KEY.encode() not in stored
    assert b"our plan" not in stored


def test_a_session_in_which_nobody_said_anything_leaves_no_note(desk: Desk) -> None:
    desk.put(write_transcript(desk.home / "one.jsonl", [{"type": "mode", "mode": "plan"}]))
    assert desk.drain() == Drained(empty=("one",))
    assert not list((desk.vault.root / "sessions").glob("*.md"))


def test_the_last_answer_is_taken_from_the_hook_where_the_transcript_lags(desk: Desk) -> None:
    path = write_transcript(desk.home / "one.jsonl", TALK[:1])
    desk.put(path, "Stop", said="决定采用 PgBouncer，而不是在应用里限流，因为迁移任务也要占用连接。")
    desk.drain()
    assert "PgBouncer" in desk.read("sessions/one.md")


def test_the_clients_own_summary_tells_what_was_said_before_a_session_began(desk: Desk) -> None:
    path = write_transcript(desk.home / "one.jsonl", edit("/src/shop/mail.ts"))
    summary = (
        "<analysis>Let me think.</analysis>\n<summary>\n"
        "1. Primary Request and Intent:\n   Refunds must not be doubled.\n"
        "5. Problem Solving:\n   - Decided to use Redis streams rather than Kafka for the mail queue.\n"
        "7. Pending Tasks:\n   - 给登录接口 `login.ts` 加限流，每分钟最多十次\n</summary>"
    )
    desk.put(path, "PostCompact", compaction=summary)
    desk.drain()
    text = desk.read("sessions/one.md")
    assert "Redis streams" in text
    assert "给登录接口 login.ts 加限流" in text
    assert "Let me think" not in text


def test_a_transcript_that_is_gone_is_tried_three_times_and_parked(desk: Desk) -> None:
    desk.put(desk.home / "gone.jsonl")
    for pause in (0, *PAUSES):
        desk.pass_time(pause)
        drained = desk.drain()
        assert desk.drain() == Drained()  # not again before the pause is over
    assert drained.parked == ("gone",)
    assert [job.session_id for job in desk.queue.parked()] == ["gone"]
    assert "gone.jsonl" in desk.queue.parked()[0].reason
    assert len(desk.told) == 3


def test_a_job_of_a_worker_that_died_is_taken_over_after_five_minutes(desk: Desk) -> None:
    desk.put(write_transcript(desk.home / "one.jsonl", TALK))
    (job,) = desk.queue.waiting()
    desk.queue.begin(job, desk.now.timestamp())  # and here it is killed
    desk.pass_time(limits.LEASE_SECONDS - 1)
    assert desk.drain().captured == ()
    desk.pass_time(1)
    assert desk.drain().captured == ("one",)


def test_a_job_that_can_never_be_begun_does_not_keep_a_worker_busy(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.put(write_transcript(desk.home / "one.jsonl", TALK))
    desk.put(desk.home / "bad.jsonl")
    begin, begun = Queue.begin, list[str]()

    def watched(queue: Queue, job: Job, now: float) -> Job | None:
        begun.append(job.session_id)
        assert len(begun) < 10, "it spins"
        return None if job.session_id == "bad" else begin(queue, job, now)

    monkeypatch.setattr(Queue, "begin", watched)
    assert desk.drain().captured == ("one",)
    assert begun.count("bad") == 2


def test_an_edit_is_not_lost_while_somebody_holds_the_daily_note(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HOOK_LOCK_SECONDS", 0.0)
    with desk.vault.lock("daily"):
        assert edit_in(desk, "支付.ts")
        assert edit_in(desk, "a.ts")
    assert not (desk.vault.root / "daily" / "2026-02-10.md").exists()
    (desk.vault.state_path / "late-entries").rename(desk.vault.state_path / "late-entries.taken")  # a worker was killed
    with desk.vault.lock("daily"):
        edit_in(desk, "b.ts")
    desk.put(write_transcript(desk.home / "one.jsonl", [{"type": "mode", "mode": "plan"}]))
    desk.drain()
    assert "- 14:30 **shop**: `支付.ts`, `a.ts`, `b.ts`\n" in desk.read("daily/2026-02-10.md")
    assert (uncommitted(desk), desk.told) == ("", [])
    assert not list(desk.vault.state_path.glob("late-entries*"))


STRANGE = [
    b"", b"{", b"[]", b"\xff", b"[" * 100_000,
    b'["2026-02-30", "10:00", "p", ["a"]]', b'["2026-02-10", "99:00", "p", ["a"]]',
    b'["2026-02-10", "10:00", "\\ud800", ["a"]]', b'["2026-02-10", "10:00", 3, ["a"]]', b'{"a": 1}', b" " * 300_000,
]  # fmt: skip


@pytest.mark.parametrize("content", STRANGE, ids=range(len(STRANGE)))
def test_what_no_hook_has_left_is_passed_over(desk: Desk, content: bytes) -> None:
    edit_in(desk, "a.ts")
    before = desk.read("daily/2026-02-10.md")
    (desk.vault.state_path / "late-entries").write_bytes(content)
    desk.drain()
    assert (desk.read("daily/2026-02-10.md"), desk.told) == (before, [])


def test_what_cannot_be_written_yet_is_told_and_kept(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HOOK_LOCK_SECONDS", 0.0)
    with desk.vault.lock("daily"):
        edit_in(desk, "a.ts")
    note = desk.vault.root / "daily" / "2026-02-10.md"
    note.parent.mkdir(exist_ok=True)
    note.write_bytes(b"\xff")
    desk.drain()
    assert [told.split(":")[0] for told in desk.told] == ["edits are missing in the daily notes"]
    note.unlink()
    desk.drain()
    assert "`a.ts`" in desk.read("daily/2026-02-10.md")


@pytest.mark.slow
def test_a_second_worker_leaves_the_work_to_the_first(desk: Desk) -> None:
    desk.put(write_transcript(desk.home / "one.jsonl", TALK))
    with only_worker(desk.vault):
        assert desk.drain().busy
    assert desk.drain().captured == ("one",)


@pytest.mark.slow
def test_a_worker_that_comes_while_a_hook_asks_whether_there_is_one_does_its_work(desk: Desk) -> None:
    desk.put(write_transcript(desk.home / "one.jsonl", TALK))
    with ExitStack() as hook:
        hook.enter_context(only_worker(desk.vault))
        leaves = Timer(0.1, hook.close)
        leaves.start()
        assert desk.drain().captured == ("one",)
        leaves.join()


def test_a_bug_in_one_session_does_not_stop_the_others(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    real = reader.read_transcript

    def fails(path: Path, *args: object, **options: object) -> object:
        if path.stem == "bad":
            raise KeyError("secret")
        return real(path, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(session_reading, "read_transcript", fails)
    for name in ("bad", "good"):
        desk.put(write_transcript(desk.home / f"{name}.jsonl", TALK))
    drained = desk.drain()
    assert (drained.captured, drained.failed) == (("good",), ("bad",))


@pytest.mark.slow
def test_a_sweep_finds_what_nobody_captured(desk: Desk) -> None:
    folder = desk.home / "projects"
    captured = write_transcript(folder / "-src-shop" / "known.jsonl", TALK)
    desk.put(captured)
    desk.drain()
    write_transcript(folder / "-src-shop" / "killed.jsonl", TALK)
    write_transcript(folder / "-src-shop" / "killed" / "subagents" / "agent-1.jsonl", TALK)
    write_transcript(folder / "-src-shop" / "agent-2.jsonl", TALK)
    desk.now = desk.now.fromtimestamp((folder / "-src-shop" / "killed.jsonl").stat().st_mtime, desk.now.tzinfo)
    desk.queue.put(Job(SWEEP, str(folder), event="SessionStart"))
    assert desk.drain().captured == ("killed",)
    write_transcript(captured, [prompt("And now the mail queue, 邮件队列也要。")])
    desk.queue.put(Job(SWEEP, str(folder), event="SessionStart"))
    assert desk.drain().captured == ("known",)
    desk.queue.put(Job(SWEEP, str(folder), event="SessionStart"))
    assert desk.drain().captured == ()


def test_a_sweep_leaves_the_session_alone_that_has_just_begun(desk: Desk) -> None:
    path = write_transcript(desk.home / "projects" / "p" / "new.jsonl", TALK)
    desk.now = desk.now.fromtimestamp(path.stat().st_mtime, desk.now.tzinfo)
    desk.queue.put(Job(SWEEP, str(desk.home / "projects"), event="SessionStart", besides="new"))
    assert desk.drain().captured == ()


class Model:
    """Stands in for the chain of models: how often it was *asked*, and the *turns* that it was shown last."""

    def __init__(self, *answers: ModelNote) -> None:
        self.answers = list(answers)
        self.asked = 0
        self.turns: Sequence[Turn] = ()

    def __call__(self, turns: Sequence[Turn], *_: object, **__: object) -> ModelNote:
        self.asked += 1
        self.turns = turns
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


GOOD = ModelNote(Draft("重复扣款"), Answer("{}", "claude", "haiku", 10, 5, None), (), retry_may_help=False)
DOWN = ModelNote(None, None, ("claude: it is overloaded",), retry_may_help=True)
MISSING = ModelNote(None, None, ("claude: it is not installed",), retry_may_help=False)


def with_model(desk: Desk, monkeypatch: pytest.MonkeyPatch, *answers: ModelNote) -> Model:
    model = Model(*answers)
    monkeypatch.setattr(session_capture, "note_with_model", model)
    desk.settings = desk.settings._replace(llm=desk.settings.llm._replace(providers=("claude", "extractive")))
    return model


def test_a_model_replaces_the_extractive_note(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    model = with_model(desk, monkeypatch, GOOD)
    path = write_transcript(desk.home / "one.jsonl", TALK)
    for _ in range(2):  # the second time there is nothing new to tell it
        desk.put(path)
        desk.drain()
    assert model.asked == 1
    assert parse_session(desk.read("sessions/one.md")).draft.title == "重复扣款"
    source = find_source(desk.vault, "one")
    assert source
    assert kept_note(source.note).writer == "claude"


@pytest.mark.slow
def test_a_model_is_asked_before_compactions_at_most_once_an_hour_and_for_no_turn(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = with_model(desk, monkeypatch, GOOD)
    path = desk.home / "one.jsonl"
    asked = []
    for turn in range(9):
        write_transcript(path, [prompt(f"And case {turn}, bitte"), answer(f"Case {turn} is fixed.")])
        for event in ("Stop", "PreCompact", "PostCompact"):
            desk.put(path, event)
            desk.drain()
        asked.append(model.asked)
        desk.pass_time(900)
    assert asked == [1, 1, 1, 1, 2, 2, 2, 2, 3]
    assert parse_session(desk.read("sessions/one.md")).draft.title == "重复扣款"


@pytest.mark.slow
def test_a_model_is_shown_the_whole_of_a_session_that_grew(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    model = with_model(desk, monkeypatch, GOOD)
    path = desk.home / "one.jsonl"
    for number, asked in enumerate(("Repair the mail queue", "修好邮件队列", "And the cache"), start=1):
        write_transcript(path, [prompt(asked), answer(f"Part {number} is repaired.")])
        desk.put(path)
        desk.drain()
        desk.pass_time(3_600)
    assert [turn.said for turn in model.turns] == [f"Part {number} is repaired." for number in (1, 2, 3)]


@pytest.mark.slow
def test_what_it_was_too_early_for_is_done_after_a_later_sweep(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    model = with_model(desk, monkeypatch, GOOD)
    path = write_transcript(desk.home / "projects" / "p" / "one.jsonl", TALK)
    desk.now = desk.now.fromtimestamp(path.stat().st_mtime, desk.now.tzinfo)
    for pause in (0, 60):  # it ends again too early for the model
        desk.pass_time(pause)
        write_transcript(path, [prompt(f"And then {pause}?"), answer("It is done.")])
        desk.put(path)
        desk.drain()
    assert model.asked == 1
    for pause, asked in ((60, 1), (3_600, 2), (3_600, 2)):
        desk.pass_time(pause)
        desk.queue.put(Job(SWEEP, str(desk.home / "projects"), event="SessionStart"))
        desk.drain()
        assert model.asked == asked


@pytest.mark.slow
def test_a_model_that_is_down_leaves_the_extractive_note_and_is_tried_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = with_model(desk, monkeypatch, DOWN, GOOD)
    desk.put(write_transcript(desk.home / "one.jsonl", TALK))
    assert desk.drain().failed == ("one",)
    assert "refund" in parse_session(desk.read("sessions/one.md")).draft.asked
    desk.pass_time(PAUSES[0])
    assert desk.drain().captured == ("one",)
    assert (model.asked, parse_session(desk.read("sessions/one.md")).draft.title) == (2, "重复扣款")


@pytest.mark.slow
def test_a_model_that_stays_down_is_given_up_with_the_reason(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    model = with_model(desk, monkeypatch, DOWN)
    desk.put(write_transcript(desk.home / "one.jsonl", TALK))
    for pause in (0, *PAUSES, 86_400):
        desk.pass_time(pause)
        desk.drain()
    assert model.asked == 3
    assert [job.reason for job in desk.queue.parked()] == ["claude: it is overloaded"]
    assert "refund" in parse_session(desk.read("sessions/one.md")).draft.asked


def test_a_model_that_is_missing_is_said_and_not_tried_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    model = with_model(desk, monkeypatch, MISSING)
    desk.put(write_transcript(desk.home / "one.jsonl", TALK))
    told: list[LogEntry] = []
    assert drain.drain(desk.work, told.append).captured == ("one",)
    assert (model.asked, [entry.level for entry in told]) == (1, [WARNING])
    assert "not installed" in told[0].message


@pytest.mark.slow
def test_a_vault_that_cannot_be_written_keeps_the_job(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ProviderFailed("the disk is full")

    desk.put(write_transcript(desk.home / "one.jsonl", TALK))
    monkeypatch.setattr(files, "replace", refuse)
    assert desk.drain().failed == ("one",)
    monkeypatch.undo()
    desk.pass_time(PAUSES[0])
    assert desk.drain().captured == ("one",)


def test_a_queue_that_is_busy_is_told_and_the_others_are_captured(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Queue.begin

    def begin(queue: Queue, job: Job, now: float) -> Job | None:
        if job.session_id == "one":
            raise Busy("another process holds 'queue.lock'")
        return real(queue, job, now)

    monkeypatch.setattr(Queue, "begin", begin)
    for name in ("one", "two"):
        desk.put(write_transcript(desk.home / f"{name}.jsonl", TALK))
    assert desk.drain().captured == ("two",)
    assert len(desk.told) == 1
    assert log_of(desk)[0].startswith("capture: shop")
    monkeypatch.undo()
    assert desk.drain().captured == ("one",)


def test_what_a_killed_worker_wrote_is_committed_by_the_next_one(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    desk.put(write_transcript(desk.home / "one.jsonl", TALK))
    monkeypatch.setattr(drain, "commit_noted", killed)
    with pytest.raises(KeyboardInterrupt):
        desk.drain()
    monkeypatch.undo()
    desk.put(write_transcript(desk.home / "two.jsonl", TALK))
    desk.drain()
    status = ["git", "-C", str(desk.vault.root), "status", "--porcelain"]
    assert subprocess.run(status, capture_output=True, check=True).stdout == b""


@pytest.mark.slow
def test_a_note_whose_record_was_lost_to_a_kill_is_brought_up_to_date(desk: Desk) -> None:
    path = write_transcript(desk.home / "one.jsonl", TALK)
    desk.put(path)
    desk.drain()
    before = read_record(desk.vault, "one")
    write_transcript(path, [prompt("And the mail queue, 邮件队列?"), answer("The mail queue is fixed, too.")])
    desk.put(path)
    desk.drain()
    write_record(desk.vault, "one", before)  # as if the worker had died after writing the note
    write_transcript(path, [answer("All 14 tests pass now.")] * 3)
    desk.put(path)
    desk.drain()
    text = desk.read("sessions/one.md")
    assert "All 14 tests pass now" in text
    assert "The mail queue is fixed, too" not in text  # it was said before that in the same turn


def test_of_a_session_with_two_transcripts_the_newest_counts(desk: Desk) -> None:
    old = write_transcript(desk.home / "projects" / "a" / "one.jsonl", TALK)
    new = write_transcript(desk.home / "projects" / "b" / "one.jsonl", [*TALK, answer("There is more.")])
    os.utime(old, (old.stat().st_atime, new.stat().st_mtime - 60))
    desk.now = desk.now.fromtimestamp(new.stat().st_mtime, desk.now.tzinfo)
    for captured in (("one",), ()):
        desk.queue.put(Job(SWEEP, str(desk.home / "projects"), event="SessionStart"))
        assert desk.drain().captured == captured


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_pipes_in_the_vault_hang_nobody(desk: Desk) -> None:
    (desk.vault.root / "areas" / "projects" / "x").mkdir(parents=True, exist_ok=True)
    (desk.vault.root / ".memtool" / "captured").mkdir(parents=True)
    (desk.vault.root / "daily").mkdir(exist_ok=True)
    for name in ("areas/projects/x/summary.md", ".memtool/projects.json", ".memtool/captured/one.json",
                 "daily/2026-02-10.md"):  # fmt: skip
        os.mkfifo(desk.vault.root / name)
    desk.put(write_transcript(desk.home / "one.jsonl", TALK))
    assert desk.drain().failed == ("one",)
    assert "no file" in desk.told[0]


def test_a_vault_that_went_away_is_not_made_again(desk: Desk) -> None:
    desk.put(write_transcript(desk.home / "one.jsonl", TALK))
    begun = desk.queue.begin(desk.queue.waiting()[0], 0.0)
    assert begun
    desk.vault.root.rename(desk.home / "elsewhere")
    with pytest.raises(NotWritable):
        session_capture.capture_session(desk.work, begun)
    assert not desk.vault.root.exists()


def test_what_was_noted_is_committed(vault: Vault) -> None:
    (vault.root / "笔记.md").write_text("x")
    note_uncommitted(vault, ["笔记.md"])
    commit_noted(vault, "notes")
    assert tell(vault.root, "-c", "core.quotePath=false", "show", "--name-only", "--format=%s").split() == [
        "notes", "笔记.md",
    ]  # fmt: skip


def write(vault: Vault, ref: str) -> None:
    (vault.root / ref).write_text("x", encoding="utf-8")
    note_uncommitted(vault, [ref])


def test_no_commit_is_lost_to_those_who_are_killed_while_committing(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(history, "commit", killed)
        for ref in ("一.md", "two.md"):
            write(vault, ref)
            with pytest.raises(KeyboardInterrupt):
                commit_noted(vault, "notes")
    write(vault, "three.md")
    commit_noted(vault, "notes")
    assert tell(vault.root, "status", "--porcelain") == ""
    assert not list(vault.state_path.glob("uncommitted*"))


def test_what_git_refuses_is_committed_later(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise HistoryFailed("a merge was left unfinished")

    with monkeypatch.context() as patch:
        patch.setattr(history, "commit", refuse)
        for ref in ("a.md", "b.md"):
            write(vault, ref)
            with pytest.raises(HistoryFailed):
                commit_noted(vault, "notes")
    commit_noted(vault, "notes")
    assert tell(vault.root, "status", "--porcelain") == ""


def test_a_folder_in_place_of_what_was_taken_is_a_sentence(vault: Vault) -> None:
    write(vault, "a.md")
    (vault.state_path / "uncommitted.taken").mkdir()
    with pytest.raises(NotWritable, match="cannot write in"):
        commit_noted(vault, "notes")


@pytest.mark.parametrize("link", [".memtool", ".memtool/uncommitted"])
def test_what_lies_outside_the_vault_is_neither_read_nor_changed(tmp_path: Path, link: str) -> None:
    vault = Vault(tmp_path / "notes")
    vault.root.mkdir()
    vault.settings_path.touch()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "uncommitted").write_text("mine.md\n")
    (vault.root / link).parent.mkdir(exist_ok=True)
    (vault.root / link).symlink_to(outside if link == ".memtool" else outside / "uncommitted")
    note_uncommitted(vault, ["a.md"])
    commit_noted(vault, "notes")  # no repository: what is noted would be forgotten
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("uncommitted", "mine.md\n")]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_nobody_waits_for_a_pipe(vault: Vault) -> None:
    shutil.rmtree(vault.state_path, ignore_errors=True)
    vault.state_path.mkdir()
    os.mkfifo(vault.state_path / "uncommitted")
    note_uncommitted(vault, ["a.md"])
    commit_noted(vault, "notes")
    assert tell(vault.root, "log", "--format=%s").split("\n")[0] != "notes"
