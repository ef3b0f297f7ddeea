from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from client_transcripts import answer, edit, prompt, write_transcript
from desk import Desk

from memtool.capture import importing, limits, session_capture, session_reading
from memtool.capture.importing import ImportedSessions, find_sources, import_sessions, read_history
from memtool.vault.daily import listed_entries, listed_sessions
from memtool.vault.sessions import parse_session

TALK = [
    prompt("Why does the refund endpoint charge customers twice?"),
    *edit("/src/shop/api/gateway.ts"),
    answer("The root cause is the retry in `gateway.ts`. 已改为发送幂等键。"),
]
KEY = "ghp_" + "a1B2" * 9


@pytest.fixture
def client(tmp_path: Path) -> Path:
    folder = tmp_path / ".claude"
    write_transcript(folder / "projects" / "-src-shop" / "one.jsonl", TALK)
    write_transcript(folder / "projects" / "-src-mail" / "two.jsonl", TALK, cwd="/src/邮件")
    write_transcript(folder / "projects" / "-src-mail" / "silent.jsonl", [{"type": "mode"}], cwd="/src/邮件")
    lines = [
        {"display": "给登录接口加限流", "timestamp": 1_770_000_000_000, "project": "/src/shop", "sessionId": "gone"},
        {
            "display": "known by its transcript",
            "timestamp": 1_770_000_000_000,
            "project": "/src/shop",
            "sessionId": "one",
        },
    ]
    (folder / "history.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return folder


def do_import(desk: Desk, client: Path) -> ImportedSessions:
    return import_sessions(
        desk.work.of_client(client), find_sources(desk.work.of_client(client)), lambda _done, _all: None
    )


def test_a_preview_counts_and_changes_nothing(desk: Desk, client: Path) -> None:
    before = desk.everything()
    sources = find_sources(desk.work.of_client(client))
    assert next((source.session_id, source.project, source.is_known) for source in sources) == ("gone", "shop", False)
    assert sorted(source.session_id for source in sources) == ["gone", "one", "silent", "two"]
    assert {source.project for source in sources} == {"shop", "邮件"}
    notes = {path.name for path in desk.vault.root.rglob("*.md")}
    assert "2026-02-10.md" not in notes
    assert len(desk.everything()) - len(before) < 1000  # what it remembers of the folders


@pytest.mark.slow
def test_sessions_become_session_and_daily_notes(desk: Desk, client: Path) -> None:
    assert do_import(desk, client) == ImportedSessions(notes=3, empty=1)
    assert "\nproject: shop\n" in desk.read("sessions/one.md")
    assert "\nproject: 邮件\n" in desk.read("sessions/two.md")
    assert "限流" in parse_session(desk.read("sessions/gone.md")).draft.title
    day = desk.read("daily/2026-02-10.md")
    assert "**shop**: `api/gateway.ts`" in day
    assert "sessions/one.md" in day
    log = subprocess.run(["git", "-C", str(desk.vault.root), "log", "--format=%s"], capture_output=True, check=True)
    assert log.stdout.splitlines()[0] == b"import: 3 sessions of Claude Code"


@pytest.mark.slow
def test_a_second_import_changes_nothing(desk: Desk, client: Path) -> None:
    do_import(desk, client)
    before = {path: path.read_bytes() for path in desk.vault.root.rglob("*.md")}
    assert do_import(desk, client) == ImportedSessions()
    assert {path: path.read_bytes() for path in desk.vault.root.rglob("*.md")} == before


@pytest.mark.slow
def test_an_import_that_was_interrupted_goes_on_where_it_stopped(desk: Desk, client: Path) -> None:
    def interrupt(done: int, _all: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    sources = find_sources(desk.work.of_client(client))
    with pytest.raises(KeyboardInterrupt):
        import_sessions(desk.work.of_client(client), sources, interrupt)
    assert sum(source.is_known for source in find_sources(desk.work.of_client(client))) == 2
    done = do_import(desk, client)
    assert done.notes + done.empty == 2
    assert len(list((desk.vault.root / "sessions").glob("*.md"))) == 3


def daily_notes(desk: Desk) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in (desk.vault.root / "daily").glob("*.md")}


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 2, 100])
def test_a_day_is_the_same_however_many_sessions_are_written_at_once(
    desk: Desk, client: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(limits, "MANY", batch)
    for number in range(5):
        write_transcript(client / "projects" / "-src-shop" / f"会话{number}.jsonl", TALK)
    assert do_import(desk, client).notes == 8
    day = desk.read("daily/2026-02-10.md")
    assert len(listed_sessions(day)) == 7
    assert len(listed_entries(day)) == 2
    (desk.vault.root / "daily/2026-02-10.md").write_text(day + "\n我自己的话\n", encoding="utf-8")
    assert do_import(desk, client) == ImportedSessions()
    assert desk.read("daily/2026-02-10.md").endswith("\n我自己的话\n")


def test_an_import_that_was_killed_is_mended_by_the_next(
    desk: Desk, client: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(importing, "change_daily", killed)
        with pytest.raises(SystemExit):
            do_import(desk, client)
    assert "2026-02-10.md" not in daily_notes(desk)
    assert "two.md" in {path.name for path in (desk.vault.root / "sessions").glob("*.md")}
    assert do_import(desk, client).notes == 2
    assert {session.session_id for session in listed_sessions(desk.read("daily/2026-02-10.md"))} == {"one", "two"}
    assert len(daily_notes(desk)) == 2


@pytest.mark.slow
def test_a_day_that_cannot_be_written_is_a_problem_and_comes_with_the_next_import(desk: Desk, client: Path) -> None:
    day = desk.vault.root / "daily" / "2026-02-10.md"
    day.parent.mkdir(exist_ok=True)
    day.write_bytes(b"\xff")
    assert len(do_import(desk, client).problems) == 1
    day.unlink()
    assert do_import(desk, client).problems == ()
    assert len(listed_sessions(desk.read("daily/2026-02-10.md"))) == 2


def test_what_a_transcript_said_is_not_replaced_by_its_prompts(desk: Desk, client: Path) -> None:
    do_import(desk, client)
    before = desk.read("sessions/one.md")
    (client / "projects" / "-src-shop" / "one.jsonl").unlink()
    do_import(desk, client)
    assert desk.read("sessions/one.md") == before


def test_nothing_of_the_clients_own_is_changed(desk: Desk, client: Path) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in client.rglob("*") if path.is_file()}
    do_import(desk, client)
    assert {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in client.rglob("*") if path.is_file()
    } == before


@pytest.mark.slow
@pytest.mark.parametrize("offer", ["Shall I add the tests?", "要不要我继续修改 `gateway.ts`？"])
def test_a_transcript_that_begins_with_an_offer_is_imported(desk: Desk, client: Path, offer: str) -> None:
    path = client / "projects" / "-src-shop" / "offered.jsonl"
    write_transcript(path, [answer(offer), *TALK])
    assert do_import(desk, client) == ImportedSessions(notes=4, empty=1)
    assert "gateway.ts" in desk.read("sessions/offered.md")


@pytest.mark.slow
def test_a_bug_in_one_session_is_named_and_the_others_are_imported(
    desk: Desk, client: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = session_reading.read_session

    def fails(work: Any, job: Any, **rest: Any) -> Any:
        if job.session_id == "two":
            raise IndexError("deque 索引")
        return whole(work, job, **rest)

    monkeypatch.setattr(importing, "read_session", fails)
    (problem,) = (done := do_import(desk, client)).problems
    assert (done.notes, done.empty) == (2, 1)
    assert problem == "two: a bug in memtool, please report it: IndexError: deque 索引"
    assert [one.session_id for one in find_sources(desk.work.of_client(client)) if not one.is_known] == ["two"]


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["/src/\x00邮件", "\ud800", "/" + "x" * 5_000, "~nobody\n/x"])
def test_a_folder_that_cannot_be_stops_no_import(desk: Desk, client: Path, folder: str) -> None:
    path = client / "projects" / "-odd" / "odd.jsonl"
    write_transcript(path, [])
    records = [{"sessionId": "odd", "cwd": folder, "timestamp": "2026-02-10T06:00:00Z", **one} for one in TALK]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
    entries = {"display": "看看邮件", "timestamp": 1_770_000_000_000, "project": folder, "sessionId": "prompts"}
    (client / "history.jsonl").write_text(json.dumps(entries), encoding="utf-8")
    done = do_import(desk, client)
    assert (desk.vault.root / "sessions" / "one.md").is_file()
    assert (desk.vault.root / "sessions" / "two.md").is_file()
    assert done.notes + len(done.problems) == 4


@pytest.mark.slow
def test_a_transcript_that_cannot_be_read_does_not_stop_the_others(desk: Desk, client: Path) -> None:
    (client / "projects" / "-src-shop" / "folder.jsonl").mkdir()
    (client / "projects" / "-src-shop" / "garbage.jsonl").write_bytes(b"\xff\x00{" * 1000)
    done = do_import(desk, client)
    assert done.notes == 3


@pytest.mark.slow
@pytest.mark.parametrize("what", ["_replace_note", "write_record"])
def test_prompts_whose_import_was_killed_have_their_line_in_the_day(
    desk: Desk, client: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    write = getattr(session_capture, what)

    def killed(*args: object) -> None:
        write(*args)
        if any("gone" in str(arg) for arg in args):
            raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(session_capture, what, killed)
        with pytest.raises(SystemExit):
            do_import(desk, client)
    do_import(desk, client)
    listed = [session.session_id for text in daily_notes(desk).values() for session in listed_sessions(text)]
    assert sorted(listed) == ["gone", "one", "two"]


def entry(display: str, session: str, seconds: int, project: str = "/src/shop") -> str:
    return json.dumps({"display": display, "timestamp": seconds * 1000, "project": project, "sessionId": session})


def unchanged(text: str) -> str:
    return text


def test_prompts_are_gathered_by_session_oldest_first(tmp_path: Path) -> None:
    lines = [
        entry("later", "b", 1_770_000_300),
        entry("给登录接口加限流", "a", 1_770_000_100),
        entry("why?", "a", 1_770_000_200),
    ]
    (tmp_path / "history.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    first, second = read_history(tmp_path / "history.jsonl", lambda: unchanged)
    assert (first.session_id, [step.text for step in first.steps]) == ("a", ["给登录接口加限流", "why?"])
    assert (second.session_id, second.cwd) == ("b", "/src/shop")
    assert first.ended_at
    assert first.ended_at.timestamp() == 1_770_000_200


def test_commands_are_no_prompts_and_secrets_go(tmp_path: Path) -> None:
    lines = [entry("/clear", "a", 1), entry("!ls", "a", 2), entry(f"use {KEY}", "b", 3)]
    (tmp_path / "history.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (only,) = read_history(tmp_path / "history.jsonl", lambda: lambda text: text.replace(KEY, "[redacted]"))
    assert [step.text for step in only.steps] == ["use [redacted]"]


@pytest.mark.parametrize(
    "line",
    ["", "{", "[]", "null", "[" * 100_000, '{"display": 3, "sessionId": "a", "timestamp": 1}',
     '{"display": "x", "sessionId": "", "timestamp": 1}', '{"display": "x", "sessionId": "a", "timestamp": "1"}',
     '{"display": "x", "sessionId": "a", "timestamp": 1e400}', '{"display": "x", "sessionId": "a", "timestamp": -1}'],
)  # fmt: skip
def test_a_line_that_is_none_is_passed_over(tmp_path: Path, line: str) -> None:
    (tmp_path / "history.jsonl").write_text(f"{line}\n{entry('ok', 'b', 5)}\n", encoding="utf-8")
    assert [one.session_id for one in read_history(tmp_path / "history.jsonl", lambda: unchanged)] == ["b"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "leaving"),
    [
        (None, 1),
        ('{"cleanupPeriodDays": 60}', 0),
        ('{"cleanupPeriodDays": 9}', 2),
        ('{"cleanupPeriodDays": "天"}', 1),
        ("[]", 1),
    ],
)
def test_what_the_client_is_about_to_delete_is_counted(
    desk: Desk, client: Path, settings: str | None, leaving: int
) -> None:
    work = desk.work.of_client(client)
    paths = sorted(client.glob("projects/*/*.jsonl"))
    for path, days in zip(paths, (24, 4, 1), strict=True):
        at = desk.now.timestamp() - days * 86_400
        os.utime(path, (at, at))
    if settings:
        (client / "settings.json").write_text(settings, encoding="utf-8")
    assert importing.doomed(work, find_sources(work)) == leaving
