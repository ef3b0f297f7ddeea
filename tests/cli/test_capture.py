from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from client_transcripts import answer, edit, prompt, write_transcript
from desk import NOW

from memtool.capture import importing
from memtool.capture.queue import TRIES, Job, Queue, only_worker
from memtool.capture.session_reading import read_session
from memtool.errors import Busy
from memtool.index import engine
from memtool.llm import Answer, Request
from memtool.llm.call_log import CallLog
from memtool.vault.layout import Vault
from memtool.workspace import Workspace

if TYPE_CHECKING:
    from terminal import Memtool

    from memtool.capture.session_reading import ReadSession
    from memtool.capture.source import Source

TALK = [
    prompt("Why does the refund endpoint charge customers twice?"),
    *edit("/src/shop/api/gateway.ts"),
    answer("The root cause is the retry in `gateway.ts`. 已改为发送幂等键。"),
]


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return write_transcript(tmp_path / "transcripts" / "one.jsonl", TALK)


def test_a_transcript_that_is_named_becomes_a_note(memtool: Memtool, notes: Path, transcript: Path) -> None:
    assert memtool("capture", str(transcript)) == (0, "1 session captured.\n", "")
    assert (notes / "sessions" / "one.md").is_file()
    hits = json.loads(memtool("search", "幂等键", "--kind", "session", "--json").out)["hits"]
    assert [hit["path"] for hit in hits] == ["sessions/one.md"]


def test_without_options_it_says_what_waits(memtool: Memtool, notes: Path, transcript: Path) -> None:
    assert memtool("capture").out == "0 sessions pending, 0 failed.\n"
    queue = Queue(Vault(notes))
    queue.put(Job("one", str(transcript), event="Stop", queued_at=1.0))
    queue.put(Job("sweep", str(transcript.parent), event="SessionStart", queued_at=2.0))
    out = memtool("capture", "--status").out
    assert out.startswith("2 sessions pending, 0 failed.\none  since 1970-01-01")
    assert "looking for sessions that were not captured" in out
    waiting = json.loads(memtool("capture", "--status", "--json").out)["waiting"]
    assert [job["session_id"] for job in waiting] == ["one", "sweep"]


@pytest.mark.slow
def test_what_was_given_up_is_shown_and_tried_again(memtool: Memtool, notes: Path, transcript: Path) -> None:
    queue = Queue(Vault(notes))
    queue.put(Job("one", str(transcript)))
    for _ in range(TRIES):
        begun = queue.begin(queue.waiting()[0], 0.0)
        assert begun
        queue.fail(begun, "the model is down", 0.0)
    _, out, err = memtool("capture")
    assert out == "0 sessions pending, 1 failed.\none  failed after 3 tries: the model is down\n"
    assert "--drain --now" in err
    assert memtool("capture", "--drain").out == "0 sessions captured.\n"
    assert memtool("capture", "--drain", "--now").out == "1 session captured.\n"
    assert memtool("capture").out == "0 sessions pending, 0 failed.\n"


def test_a_session_is_named_by_its_note_or_its_folder(memtool: Memtool, notes: Path, transcript: Path) -> None:
    assert memtool("capture", str(transcript)).code == 0
    queue = Queue(Vault(notes))
    queue.put(Job("one", str(transcript), event="Stop", queued_at=1.0))
    queue.put(Job("two", "/t.jsonl", cwd=str(Path.home() / "src" / "商店"), event="Stop", queued_at=2.0))
    queue.put(Job("../three", "/t.jsonl", event="Stop", queued_at=3.0))
    _, first, second, third = memtool("capture", "--status").out.splitlines()
    assert first.startswith("2026-02-10 The root cause is the retry in gateway.ts  since ")
    assert second.startswith("a session in ~/src/商店  since ")
    assert third.startswith("../three  since ")
    (notes / "sessions" / "one.md").write_bytes(b"\xff\xfe")
    assert "\none  since " in memtool("capture", "--status").out


def test_a_failure_is_said_and_kept(memtool: Memtool, notes: Path) -> None:
    Queue(Vault(notes)).put(Job("one", str(notes / "gone.jsonl")))
    code, out, err = memtool("capture", "--drain")
    assert (code, out) == (0, "0 sessions captured.\n1 session will be tried again.\n")
    assert "gone.jsonl" in err
    assert "gone.jsonl" in (notes / ".memtool" / "hook.log").read_text(encoding="utf-8")
    assert "try 1 of 3" in memtool("capture").out


@pytest.mark.parametrize(("error", "code"), [(Busy("another process is indexing"), 0), (KeyboardInterrupt(), 130)])
def test_an_index_that_is_busy_and_a_persons_ctrl_c_are_no_errors(
    memtool: Memtool, notes: Path, transcript: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(engine, "use_index", fails)
    assert memtool("capture", str(transcript)).code == code
    assert (notes / "sessions" / "one.md").is_file()
    assert not (notes / ".memtool" / "hook.log").exists()


def test_a_bug_is_logged(memtool: Memtool, notes: Path, transcript: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "use_index", None)
    assert memtool("capture", str(transcript)).code == 3
    assert "TypeError" in (notes / ".memtool" / "hook.log").read_text(encoding="utf-8")


@pytest.mark.slow
def test_while_another_worker_is_at_work_the_session_is_left_to_it(
    memtool: Memtool, notes: Path, transcript: Path
) -> None:
    with only_worker(Vault(notes)):
        assert memtool("capture", "--drain") == (0, "Another worker is running.\n", "")
        ran = memtool("capture", str(transcript))
        assert ran.out.endswith("It will also capture 1 session that you have queued.\n")
        assert memtool("capture", "--drain", "--json").answer["busy"]
    assert memtool("capture", "--drain").out == "1 session captured.\n"


def test_usage_sums_what_models_were_asked(memtool: Memtool, notes: Path) -> None:
    assert memtool("capture", "--usage").out == "No model was called yet.\n"
    CallLog(Vault(notes), 0).begin("claude", Request("s", "p" * 400, 100), "summary", NOW)
    assert memtool("capture", "--usage").out.startswith("2026-02-10  claude  1 call, 1 without a usable answer, ")
    answer = json.loads(memtool("capture", "--usage", "--json").out)
    assert answer["budget"] == 300_000
    assert answer["usage"][0]["calls"] == 1
    assert answer["a_note"] is None
    ledger = CallLog(Vault(notes), 0)
    ledger.end(ledger.begin("claude", Request("s", "p", 9), "summary", NOW), Answer("{}", "claude", "m", 900, 80), 1.0)
    said = memtool("capture", "--usage").out
    assert "\n1 session note written: 1,001 tokens in and 80 out each, on average.\n" in said
    assert said.endswith("Limit: 300,000 tokens a day (llm.daily_tokens).\n")
    assert memtool("capture", "--usage", "--json").answer["a_note"]["notes"] == 1


@pytest.mark.parametrize(
    "arguments", [("--drain", "--status"), ("--now",), ("--usage", "x.jsonl"), ("gone.jsonl",), (".",)]
)
@pytest.mark.usefixtures("notes")
def test_wrong_use_is_a_sentence(memtool: Memtool, arguments: tuple[str, ...]) -> None:
    code, out, err = memtool("capture", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("memtool: ")


def test_an_import_shows_what_it_would_do(memtool: Memtool, notes: Path, tmp_path: Path) -> None:
    client = tmp_path / ".claude"
    write_transcript(client / "projects" / "-src-shop" / "one.jsonl", TALK)
    write_transcript(client / "projects" / "-src-mail" / "two.jsonl", TALK, cwd="/src/邮件")
    preview = memtool("import", "claude-code", "--from", str(client), "--dry-run").out
    assert "2 sessions" in preview
    assert "2 new" in preview
    assert "1  shop" in preview
    assert "1  邮件" in preview
    assert not (notes / "sessions").exists()


def test_an_import_by_project_and_since_a_date(memtool: Memtool, notes: Path, tmp_path: Path) -> None:
    client = tmp_path / ".claude"
    write_transcript(client / "projects" / "-src-shop" / "one.jsonl", TALK)
    write_transcript(client / "projects" / "-src-mail" / "two.jsonl", TALK, cwd="/src/邮件")
    command = ("import", "claude-code", "--from", str(client), "--json")
    assert json.loads(memtool(*command, "--since", "2099-01-01").out)["found"] == 0
    answer = json.loads(memtool(*command, "--project", "邮件").out)
    assert (answer["found"], answer["notes"], answer["problems"]) == (1, 1, [])
    assert [path.name for path in (notes / "sessions").iterdir()] == ["two.md"]
    assert "1 new" in memtool(*command[:-1], "--yes").out
    assert json.loads(memtool(*command).out)["new"] == 0


def test_an_import_that_is_interrupted_says_what_stays(
    memtool: Memtool, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = tmp_path / ".claude"
    for name in ("one", "two"):
        write_transcript(client / "projects" / "-src-shop" / f"{name}.jsonl", TALK)
    real = read_session

    def interrupted(work: Workspace, job: Job, *, known: Source | None) -> ReadSession:
        if (notes / "sessions").exists():
            raise KeyboardInterrupt
        return real(work, job, known=known)

    command = ("import", "claude-code", "--from", str(client), "--yes")
    with monkeypatch.context() as patched:
        patched.setattr(importing, "read_session", interrupted)
        code, _, err = memtool(*command)
    assert (code, err) == (
        130,
        "Interrupted after 1 session. What was imported is kept; repeat the command to continue.\n",
    )
    assert "1 session became a note.\n" in memtool(*command).out
    assert len(list((notes / "sessions").iterdir())) == 2


@pytest.mark.usefixtures("notes")
def test_a_client_that_is_not_there_is_a_sentence(memtool: Memtool, tmp_path: Path) -> None:
    code, _, err = memtool("import", "claude-code", "--from", str(tmp_path / "gone"))
    assert code == 2
    assert "there is no folder" in err


def test_a_loop_of_symlinks_is_no_transcript(memtool: Memtool, notes: Path) -> None:
    (notes / "loop.jsonl").symlink_to("loop.jsonl")
    ran = memtool("capture", "loop.jsonl")
    assert (ran.code, "there is no transcript at 'loop.jsonl'" in ran.err) == (2, True)
    assert "Transcripts lie in ~/.claude/projects" in ran.err


@pytest.mark.parametrize(("answer", "code", "made"), [(b"n\n", 0, 0), (b"", 2, 0), (b"\n", 0, 0), (b"y\n", 0, 1)])
def test_an_import_asks_wherever_the_answer_comes_from(
    memtool: Memtool, notes: Path, tmp_path: Path, answer: bytes, code: int, made: int
) -> None:
    client = tmp_path / ".claude"
    write_transcript(client / "projects" / "-src-shop" / "one.jsonl", TALK)
    ran = memtool("import", "claude-code", "--from", str(client), stdin=answer)
    assert ran.code == code
    assert len(list(notes.glob("sessions/*"))) == made
    assert ("there is no terminal to ask" in ran.err) == (code == 2)


@pytest.mark.usefixtures("notes")
def test_an_import_tells_when_its_sessions_were_and_not_its_files(memtool: Memtool, tmp_path: Path) -> None:
    client = tmp_path / ".claude"
    write_transcript(client / "projects" / "-src-shop" / "one.jsonl", [prompt("长" * 9_000)] * 20)
    started = datetime(2025, 12, 24, 9, tzinfo=UTC)
    write_transcript(client / "projects" / "-src-shop" / "two.jsonl", TALK, start=started)
    command = ("import", "claude-code", "--from", str(client), "--dry-run")
    assert "from 2025-12-24 to 2026-02-10:" in memtool(*command).out
    assert "1 session in" in memtool(*command, "--since", "2026-01").out


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"root:x:0:0:root:/root:/bin/bash\n", "it is no transcript: no line of it is JSON"),
        (bytes(range(256)) * 9, "it is no transcript: no line of it is JSON"),
        (b'{"type": "session_meta", "payload": {"id": "x"}}\n', "it holds no message of a session"),
        ('{"role": "user", "content": "你好"}\n'.encode(), "its form is unknown"),
    ],
)
def test_what_is_no_transcript_is_said(
    memtool: Memtool, notes: Path, tmp_path: Path, transcript: Path, content: bytes, reason: str
) -> None:
    (tmp_path / "x.jsonl").write_bytes(content)
    code, out, err = memtool("capture", str(transcript), str(tmp_path / "x.jsonl"))
    assert (code, out) == (40, "")
    assert reason in err
    assert not (notes / "sessions").exists()


def test_a_session_in_which_nothing_was_said_is_not_called_captured(
    memtool: Memtool, notes: Path, tmp_path: Path
) -> None:
    path = write_transcript(tmp_path / "silent.jsonl", [{"type": "system"}])
    assert memtool("capture", str(path)).out == "0 sessions captured.\n1 session had nothing to note.\n"
    assert not (notes / "sessions").exists()


def test_a_folder_that_was_never_made_a_vault_is_read_and_not_written(memtool: Memtool, tmp_path: Path) -> None:
    folder = tmp_path / "笔记"
    folder.mkdir()
    (folder / "a.md").write_text("解密失败")
    assert [hit["path"] for hit in memtool("search", "--vault", str(folder), "解密", "--json").answer["hits"]] == [
        "a.md"
    ]
    for command in (("remember", "x"), ("capture", "--drain"), ("doctor",)):
        ran = memtool(command[0], "--vault", str(folder), *command[1:])
        assert ran.code != 0
        assert "is no vault: it has no memtool.toml" in ran.out + ran.err
        assert "memtool init" in ran.out + ran.err
    assert [path.name for path in folder.iterdir()] == ["a.md"]
