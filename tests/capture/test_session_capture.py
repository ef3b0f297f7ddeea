"""A transcript that grew is read on from its last turn, and comes to the same as if it were read whole."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from client_transcripts import answer, edit, prompt, write_transcript
from desk import Desk
from hypothesis import HealthCheck, given, settings, strategies as st
from notes import said_as
from scripted_models import ModelServer, serve_models

from memtool.capture.captured import Record, read_record
from memtool.capture.queue import Job
from memtool.capture.session_capture import daily_sessions, last_minute, shown_file
from memtool.capture.session_reading import ReadSession, read_session
from memtool.capture.source import Source, read_source, write_source
from memtool.index.engine import place_of, use_index
from memtool.recall.given import GivenLine, Giving, keep_giving
from memtool.recall.ledger import Ledger, ledger_folder, write_ledger
from memtool.recall.start.session_start import session_context
from memtool.settings.sections import ModelSettings
from memtool.vault.daily import DailySession, add_session, listed_sessions
from memtool.vault.sessions import Draft, SessionNote, parse_session

Json = dict[str, Any]

START = datetime(2026, 2, 10, 6, 0, tzinfo=UTC)
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)
CONTINUED = "This session is being continued from a previous conversation that ran out of context."
TALK = [
    prompt("Let a helper write the lexer, 并补上测试。"),
    *edit("/src/shop/a.ts"),
    answer("The helper has written the lexer."),
]


def call(tool: str, given: object, name: str) -> Json:
    block = {"type": "tool_use", "id": name, "name": tool, "input": given}
    return {"type": "assistant", "message": {"role": "assistant", "content": [block]}}


def result(text: str, name: str, *, is_error: bool = False, **fields: Any) -> Json:
    block = {"type": "tool_result", "tool_use_id": name, "content": text, "is_error": is_error}
    return {"type": "user", "message": {"role": "user", "content": [block]}, **fields}


def refused(name: str) -> list[Json]:
    words = REFUSED + "不要删除旧的 cookie, keep both for a while."
    return [
        call("Bash", {"command": "rm cookies.ts"}, name),
        result(words, name, is_error=True, toolDenialKind="user-rejected"),
    ]


def failed_and_passed(name: str) -> list[Json]:
    run = {"command": "pnpm test:auth"}
    return [
        call("Bash", run, name),
        result("Exit code 1\nTypeError: x is null", name, is_error=True),
        *edit("/src/shop/jwt.ts", f"{name}-edit"),
        call("Bash", run, f"{name}-again"),
        result("14 passed", f"{name}-again"),
    ]


def chosen(name: str) -> list[Json]:
    question = "Which store for the tokens, 用哪个存储?"
    asked = call("AskUserQuestion", {"questions": [{"question": question}]}, name)
    return [asked, result("answered", name, toolUseResult={"answers": {question: "Redis, 带过期时间"}})]


def planned(name: str) -> list[Json]:
    plan = call("ExitPlanMode", {"plan": "# Split the gateway\n\n1. types\n2. 迁移"}, name)
    return [plan, result("The user doesn't want to proceed.", name, is_error=True, toolDenialKind="user-rejected")]


def compacted(_name: str) -> list[Json]:
    summary = f"{CONTINUED}\nSummary:\n1. Request: tokens live 24 h\n2. 待办：限流"
    return [
        {"type": "system", "subtype": "compact_boundary"},
        {**prompt(summary), "isCompactSummary": True},
    ]


def steered(name: str) -> list[Json]:
    """Return what was typed while a command ran, which the client hands over when the command has ended."""
    typed = {"type": "queued_command", "prompt": "and mind the tests, 测试也要写", "origin": {"kind": "human"}}
    run, failed = call("Bash", {"command": "make lint"}, name), result("Exit code 2", name, is_error=True)
    return [run, failed, {"type": "attachment", "attachment": typed}]


EVENTS: list[Callable[[str], list[Json]]] = [
    lambda _: [prompt("Why does the login of the shop fail in Safari?")],
    lambda _: [prompt("不对，旧的 cookie 也要保留，先别删 `session.ts`。")],
    lambda _: [prompt("yes")],
    lambda _: [prompt("That's wrong, use pnpm instead of npm for the tests.")],
    lambda _: [answer("Fixed `SameSite` in `jwt.ts`: the cookie needs Secure. All 14 tests pass.")],
    lambda _: [answer("令牌有效期为 24 小时，refresh token 放在 HttpOnly cookie 里。")],
    lambda name: edit("/src/shop/支付.ts", name),
    refused,
    failed_and_passed,
    chosen,
    planned,
    compacted,
    steered,
    lambda _: [{"type": "ai-title", "aiTitle": "登录 in Safari"}],
]


def written(events: list[int]) -> bytes:
    records = [record for number, at in enumerate(events) for record in EVENTS[at](f"call-{number}")]
    lines = []
    for number, record in enumerate(records):
        at = (START + timedelta(seconds=number)).isoformat().replace("+00:00", "Z")
        common = {"sessionId": "one", "cwd": "/src/shop", "gitBranch": "fix-登录", "timestamp": at}
        lines.append(json.dumps({**common, "uuid": f"uuid-{number}", **record}, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines).encode()


def read_on(desk: Desk, job: Job, session: ReadSession) -> ReadSession:
    """Return *session* read on, with its source kept in between."""
    write_source(desk.vault, session.source._replace(session_id="one"), desk.now)
    return read_session(desk.work, job, record_of(session), read_source(desk.vault, "one"))


def record_of(session: ReadSession) -> Record:
    return Record(session.source.size, session.offset, session.mark, session.secrets)


def known(session: ReadSession) -> object:
    """Return all that a note is made of."""
    return session.source


@pytest.mark.slow
@given(st.lists(st.integers(0, len(EVENTS) - 1), min_size=1, max_size=12), st.lists(st.floats(0, 1), max_size=3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_transcript_that_grew_is_read_as_if_it_were_read_whole(
    desk: Desk, events: list[int], cuts: list[float]
) -> None:
    path = desk.home / "one.jsonl"
    content = written(events)
    job = Job("one", str(path))
    session = ReadSession(Source())
    for cut in [*sorted(cuts), 1.0]:
        path.write_bytes(content[: round(cut * len(content))])
        session = read_on(desk, job, session)
    assert known(session) == known(read_session(desk.work, job))


TURNS = [written([0, 6, 4]), written([0, 6, 4, 1, 8, 5])]


def read_twice(desk: Desk, first: bytes, then: bytes) -> ReadSession:
    path = desk.home / "one.jsonl"
    path.write_bytes(first)
    job = Job("one", str(path))
    session = read_session(desk.work, job)
    path.write_bytes(then)
    return read_on(desk, job, session)


def test_only_what_is_new_is_read(desk: Desk) -> None:
    before, after = TURNS
    session = read_twice(desk, after, after + before.replace(b"uuid-", b"other-"))
    assert session.start == len(before)
    assert [turn.typed[:3] for turn in session.source.turns] == ["Why", "不对，", "Why"]


def test_a_transcript_that_was_replaced_or_cut_is_read_whole_again(desk: Desk) -> None:
    other = TURNS[1].replace(b"Safari", b"Chrome")
    assert read_twice(desk, TURNS[1], other).source.turns[0].typed.endswith("Chrome?")
    shorter = read_twice(desk, TURNS[1], TURNS[0][:-300])
    assert (shorter.start, len(shorter.source.turns)) == (0, 1)
    assert read_twice(desk, TURNS[1], b"").source.turns == ()


@pytest.mark.slow
def test_a_note_grows_with_its_transcript(desk: Desk) -> None:
    path = desk.home / "one.jsonl"
    content = written([0, 6, 4, 2, 8, 5, 7, 4, 9, 5, 11, 1, 5])
    for share in (0.2, 0.45, 0.7, 0.9, 1):
        path.write_bytes(content[: round(share * len(content))])
        desk.put(path, "Stop")
        desk.drain()
    grown = desk.read("sessions/one.md")
    (desk.vault.root / "sessions" / "one.md").unlink()
    (desk.vault.state_path / "captured" / "one.json").unlink()
    desk.put(path, "Stop")
    desk.drain()
    assert grown == desk.read("sessions/one.md")
    assert "不要删除旧的 cookie" in grown
    assert said_as(grown, "decision") == ("Which store for the tokens, 用哪个存储? → Redis, 带过期时间",)


def test_a_helpers_edit_is_told_once_however_often_its_session_is_read(desk: Desk) -> None:
    path = write_transcript(desk.home / "one.jsonl", [prompt("Let a helper write the lexer.")])
    helper = path.with_suffix("") / "subagents" / "agent-a.jsonl"
    for turn in range(3):
        at = START + timedelta(hours=turn)
        write_transcript(path, [prompt(f"And part {turn} of it"), answer(f"Part {turn} is written.")], start=at)
        write_transcript(helper, edit(f"/src/shop/词法{turn}.ts", f"e{turn}"), start=at + timedelta(seconds=10))
        desk.put(path, "Stop")
        desk.drain()
    source = read_source(desk.vault, "one")
    session = read_session(desk.work, Job("one", str(path)), read_record(desk.vault, "one"), source)
    assert session.start > 0
    assert [turn.files for turn in session.source.turns] == [
        ("/src/shop/词法0.ts",), ("/src/shop/词法1.ts",), ("/src/shop/词法2.ts",),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_session_that_left_nothing_has_a_line_of_its_day_until_it_is_worth_a_note(desk: Desk) -> None:
    path = write_transcript(desk.home / "8d01b2.jsonl", [prompt("what does HTTP 418 mean?"), answer("茶壶。")])
    desk.put(path)
    assert desk.drain().captured == ("8d01b2",)
    assert not (desk.vault.root / "sessions" / "8d01b2.md").exists()
    line = next(line for line in desk.read("daily/2026-02-10.md").splitlines() if "418" in line)
    assert line.startswith("- 06:01 **shop**: what does HTTP 418 mean?")
    assert line.endswith("(session 8d01b2)")

    write_transcript(
        path,
        [
            prompt("then let the kettle answer with it, 茶壶也要"),
            *edit("/src/shop/茶壶.ts"),
            answer("Done in `茶壶.ts`."),
        ],
    )
    desk.put(path)
    desk.drain()
    assert "茶壶.ts" in desk.read("sessions/8d01b2.md")
    day = desk.read("daily/2026-02-10.md")
    assert "](../sessions/8d01b2.md)" in day
    assert "(session 8d01b2)" not in day
    assert day.count("8d01b2") == 1


def write_helper(transcript: Path, name: str, file: str) -> Path:
    records = [{**record, "isSidechain": True, "agentId": name} for record in [prompt("do it"), *edit(file, name)]]
    return write_transcript(transcript.with_suffix("") / "subagents" / f"agent-{name}.jsonl", records)


def test_what_a_helper_edited_is_named_in_the_note_of_its_session(desk: Desk) -> None:
    transcript = write_transcript(desk.home / "one.jsonl", TALK)
    write_helper(transcript, "h1", "/src/shop/词法.ts")
    (transcript.with_suffix("") / "subagents" / "agent-bad.jsonl").mkdir()
    desk.put(transcript)
    assert desk.drain().captured == ("one",)
    note = parse_session(desk.read("sessions/one.md"))
    assert set(note.draft.files) == {"a.ts", "词法.ts"}
    assert "do it" not in desk.read("sessions/one.md")


def test_records_as_the_client_writes_them_are_read(desk: Desk) -> None:
    """The client puts `isSidechain` first, by which such lines are otherwise passed over unread."""
    transcript = write_transcript(desk.home / "one.jsonl", TALK)
    path = write_helper(transcript, "h1", "/src/shop/b.ts")
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text(
        "".join('{"parentUuid":null,"isSidechain":true,' + line[1:] + "\n" for line in lines), encoding="utf-8"
    )
    desk.put(transcript)
    desk.drain()
    assert set(parse_session(desk.read("sessions/one.md")).draft.files) == {"a.ts", "b.ts"}


HOME, ROOT = Path("/home/anna"), Path("/home/anna/src/shop")
CHINA = timezone(timedelta(hours=8))
NOW = datetime(2026, 2, 12, 12, 0, tzinfo=CHINA)
CONVERSATION = Source(
    session_id="3f2a9c",
    started_at=datetime(2026, 2, 10, 6, 0, 59, tzinfo=UTC),
    ended_at=datetime(2026, 2, 12, 16, 30, tzinfo=UTC),
)
NOTE = SessionNote("3f2a9c", "shop", draft=Draft("user authentication 登录"))


def test_its_first_day_and_its_last_list_it() -> None:
    lines = daily_sessions(CONVERSATION, NOTE, now=NOW, zone=CHINA)
    assert lines == {
        date(2026, 2, 10): DailySession("14:00", "shop", "3f2a9c", "user authentication 登录"),
        date(2026, 2, 13): DailySession("00:30", "shop", "3f2a9c", "user authentication 登录"),
    }
    assert listed_sessions(add_session("", lines[date(2026, 2, 10)])) == (lines[date(2026, 2, 10)],)


def test_a_note_says_when_the_session_was_last_heard_of() -> None:
    backwards = CONVERSATION._replace(started_at=CONVERSATION.ended_at, ended_at=CONVERSATION.started_at)
    assert last_minute(CONVERSATION, NOW, CHINA) == "2026-02-13 00:30"
    assert last_minute(backwards, NOW, CHINA) == "2026-02-10 14:00"
    ends = Source(started_at=datetime.min.replace(tzinfo=CHINA), ended_at=datetime.max.replace(tzinfo=UTC))
    assert last_minute(ends, NOW, CHINA) == last_minute(Source(), NOW, CHINA) == "2026-02-12 12:00"


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        (f"{ROOT}/auth.ts", "auth.ts"),
        (f"{ROOT}/src/登录/auth.ts", "登录/auth.ts"),
        (f"{ROOT}/../up.ts", "~/src/up.ts"),
        ("/home/anna/notes/a.md", "~/notes/a.md"),
        ("/etc/hosts", "/etc/hosts"),
        ("/" + "x" * 300, ""),
        ("auth.ts", "auth.ts"),
    ],
)
def test_files_are_named_by_their_last_parts(file: str, shown: str) -> None:
    assert shown_file(file, ROOT, HOME) == shown


PASSWORD = "k?7wTpZQmuriGX2!"
CODED = quote(PASSWORD, safe="")
EXAMPLE = [
    prompt(f"{PASSWORD} escape this for the URL"),
    answer(f"Percent-encoded it is `{CODED}`; in base64 `{base64.b64encode(PASSWORD.encode()).decode()}`."),
    prompt("请把登录页也改成用它"),
    *edit("/src/shop/login.ts"),
    answer(f"The login page sends `{CODED}` now, 登录页已改。 Tests pass."),
]


def forms(secret: str) -> list[bytes]:
    coded = (secret, quote(secret, safe=""), json.dumps(secret)[1:-1], base64.b64encode(secret.encode()).decode())
    return [form.casefold().encode() for form in coded]


def leaks(folder: Path, secret: str = PASSWORD) -> list[str]:
    """Return the files below *folder*, and commits of the repository there, in which *secret* stands."""
    content = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    content |= {path: gzip.decompress(data) for path, data in content.items() if path.suffix == ".gz"}
    found = [str(path) for path, data in content.items() if any(form in data.lower() for form in forms(secret))]
    for command in (["log", "-p", "--all", "--reflog"], ["cat-file", "--batch-all-objects", "--batch"]):
        said = subprocess.run(["git", "-C", str(folder), *command], stdout=subprocess.PIPE, check=True).stdout
        found += [f"git {command[0]}"] if any(form in said.lower() for form in forms(secret)) else []
    return found


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve_models() as server:
        yield server


@pytest.mark.slow
def test_the_example_is_nowhere(desk: Desk, server: ModelServer) -> None:
    model = ModelSettings(providers=("openai", "extractive"), openai_base_url=f"{server.url}/v1", openai_model="small")
    desk.settings = desk.settings._replace(llm=model)
    desk.put(write_transcript(desk.home / "3f2a9c.jsonl", EXAMPLE), said=f"It is {CODED}.")
    desk.drain()
    desk.find("login password 登录")
    start = session_context(desk.work, project="shop", session_id="next", source="startup").text
    assert leaks(desk.vault.root) == []
    assert "[redacted: password]" in desk.read("sessions/3f2a9c.md")
    assert [form for form in forms(PASSWORD) if form in start.lower().encode()] == []
    asked = [json.dumps(one.question, ensure_ascii=False) for one in server.requests]
    assert asked
    assert [form for form in forms(PASSWORD) for request in asked if form.decode() in request.casefold()] == []


@pytest.mark.slow
def test_what_is_found_later_goes_from_all_that_was_written_before(desk: Desk) -> None:
    secret = "Rm4-tulpe-uhr"
    first = [
        prompt(f"Let the deploy use {secret} for staging, 先测试。"),
        *edit("/src/shop/deploy.ts"),
        answer(f"`deploy.ts` uses {secret} for staging now."),
    ]
    path = write_transcript(desk.home / "3f2a9c.jsonl", first)
    desk.put(path, "Stop")
    desk.drain()
    assert secret in desk.read("sessions/3f2a9c.md")
    assert leaks(desk.vault.root / "transcripts", secret)[:1] == [
        str(desk.vault.root / "transcripts/2026/3f2a9c.jsonl.gz")
    ]
    work = desk.work
    desk.find("deploy staging")
    ledgers = ledger_folder(work)
    write_ledger(ledgers, "other", Ledger(start=f"- deploy with {secret}"))
    line = GivenLine("k3f9", "sessions/3f2a9c.md", 3, text=f"deploy with {secret}")
    keep_giving(ledgers, "other", Giving(desk.now.isoformat(), "start", "shop", lines=(line,)))
    more = [prompt(f"the password for staging is {secret}, 别写进文档"), answer("Noted.")]
    desk.put(write_transcript(path, more), "SessionEnd")
    desk.drain()
    assert leaks(desk.vault.root, secret) == []
    assert "[redacted: password] for staging" in desk.read("sessions/3f2a9c.md")
    assert desk.find("deploy staging")[0] == "sessions/3f2a9c.md"
    assert desk.told == []


@pytest.mark.slow
def test_a_session_that_goes_on_still_knows_its_secrets(desk: Desk) -> None:
    first = [prompt("Our db password: Rm4-tulpe-uhr, 记住"), *edit("/src/shop/a.ts"), answer("Written down.")]
    path = write_transcript(desk.home / "3f2a9c.jsonl", first)
    desk.put(path, "Stop")
    desk.drain()
    assert read_record(desk.vault, "3f2a9c").secrets
    more = [prompt("Put Rm4-tulpe-uhr into the vault of ansible"), answer("Rm4-tulpe-uhr is in the vault.")]
    desk.put(write_transcript(path, more))
    desk.drain()
    assert leaks(desk.vault.root, "Rm4-tulpe-uhr") == []
    source = read_source(desk.vault, "3f2a9c")
    assert source
    assert [turn.typed for turn in source.turns][1] == "Put [redacted: password] into the vault of ansible"


@pytest.mark.slow
def test_a_session_without_secrets_is_read_on_from_its_end(desk: Desk) -> None:
    desk.put(write_transcript(desk.home / "3f2a9c.jsonl", [prompt("Rename it, 改名"), *edit("/a.ts"), answer("Done.")]))
    desk.drain()
    assert read_record(desk.vault, "3f2a9c").secrets == 0
    assert use_index(place_of(desk.work), lambda index: index is not None)
