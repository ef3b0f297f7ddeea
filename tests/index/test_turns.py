"""The kept turns of sessions are searched where no note answers, and nothing that was forgotten comes back."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from client_transcripts import answer, edit, prompt, write_transcript
from desk import Desk

from memtool.capture.captured import follow_undo
from memtool.capture.source import Source, write_source
from memtool.capture.turns import FileEdit, Run, Turn
from memtool.errors import NotWritable
from memtool.history.changes import find_change
from memtool.history.undoing import undo
from memtool.index import turn_table
from memtool.index.engine import place_of, use_index
from memtool.index.filters import Filter, Transcripts
from memtool.index.ranking import SearchResult
from memtool.index.search import search, snippet_of
from memtool.index.turn_table import TURN, FollowedSources, TurnLine, follow_sources, table_path
from memtool.memory.forget import LINE, forget
from memtool.memory.purge import purge
from memtool.settings.sections import TranscriptSettings
from memtool.vault.memory import Location, Memory
from memtool.vault.sources import FOLDER, remove_source, trim_sources
from memtool.worker import work_off

NOTE = """---
type: session
session: {name}
date: 2026-02-0{day}
project: {project}
---
# {title}

## Decisions
- {decision} (user)
"""
TURNS = (
    Turn(
        typed="Why does the refund endpoint charge twice? 为什么退款接口重复扣款？",
        messages=("The gateway retried.", "Now `IdempotencyKeyFilter` rejects the second call with E4711."),
        edits=(FileEdit("/src/shop/gateway/retry_policy.ts", 4, 1, "const backoff = 250"),),
    ),
    Turn(
        typed="And the mail queue?",
        messages=("邮件队列改用幂等消费者，偏移量存入 Redis。",),
        runs=(
            Run("pnpm test:mail", "TypeError: offsetStore is undefined"),
            Run("pnpm test:mail", last_line="12 passed"),
        ),
    ),
)


def keep(desk: Desk, name: str, *turns: Turn, day: int = 1, project: str = "shop", note: str = "", **more: Any) -> None:
    """Keep a session with its note and its turns."""
    fields = {"title": f"Session {name}", "decision": "JWT rather than server sessions", **more}
    text = note or NOTE.format(name=name, day=day, project=project, **fields)
    (desk.vault.root / f"sessions/2026-02-0{day}-{name}.md").write_text(text, encoding="utf-8")
    ended = desk.now - timedelta(days=10 - day)
    base = {"lines": [{"text": fields["decision"]}]}
    write_source(
        desk.vault, Source(name, "claude-code", started_at=ended, ended_at=ended, turns=turns, note=base), desk.now
    )


def follow(desk: Desk) -> FollowedSources:
    return follow_sources(place_of(desk.work))


def ask(desk: Desk, text: str, transcripts: Transcripts = "auto", **wanted: Any) -> SearchResult:
    chosen = Filter(desk.now, transcripts=transcripts, **wanted)
    return use_index(place_of(desk.work), lambda index: search(index, text, chosen, limit=5))


def turns_of(found: SearchResult) -> list[tuple[str, int]]:
    return [(hit.session, hit.turn) for hit in found.hits if hit.memory.kind == TURN]


@pytest.fixture
def kept(desk: Desk) -> Desk:
    """A session whose turns say more than its note, and their table."""
    keep(desk, "one", *TURNS)
    follow(desk)
    return desk


@pytest.mark.parametrize(
    ("question", "turn", "said"),
    [
        ("what did IdempotencyKeyFilter reject, E4711?", 1, "IdempotencyKeyFilter"),
        ("TypeError: offsetStore is undefined", 2, "offsetStore"),
        ("retry_policy.ts backoff", 1, "retry_policy.ts"),
        ("幂等消费者的偏移量存在哪里？", 2, "偏移量存入 Redis"),
    ],
)
def test_a_turn_answers_where_no_note_does(kept: Desk, question: str, turn: int, said: str) -> None:
    found = ask(kept, question)
    first = found.hits[0]
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
    assert (first.memory.kind, first.session, first.turn) == (TURN, "one", turn)
    assert said in snippet_of(first).text
    assert (first.memory.path, first.memory.project, first.memory.date) == (
        "sessions/2026-02-01-one.md",
        "shop",
        "2026-02-01",
    )
    assert turns_of(ask(kept, question, "no")) == []


def test_where_a_note_answers_no_turn_is_given(kept: Desk) -> None:
    found = ask(kept, "JWT rather than server sessions")
    assert [hit.memory.kind for hit in found.hits][:1] == ["session"]
    assert turns_of(found) == []
    assert turns_of(ask(kept, "没有谈到的支付回调签名算法")) == []


@pytest.mark.parametrize(
    ("wanted", "is_found"),
    [
        ({"projects": ("shop",)}, True),
        ({"projects": ("blog",)}, False),
        ({"since": "2026-02-01", "until": "2026-02-01"}, True),
        ({"since": "2026-02-02"}, False),
        ({"kinds": ("session", "daily")}, True),
        ({"kinds": ("fact",)}, False),
        ({"categories": ("decision",)}, False),
    ],
)
def test_turns_are_found_where_their_note_is_wanted(kept: Desk, wanted: dict[str, Any], *, is_found: bool) -> None:
    assert bool(turns_of(ask(kept, "E4711 IdempotencyKeyFilter", **wanted))) is is_found


def test_a_session_whose_note_is_gone_is_not_found(kept: Desk) -> None:
    note = kept.vault.root / "sessions/2026-02-01-one.md"
    text = note.read_text(encoding="utf-8")
    for changed in (text.replace("type: session", "type: session\nstatus: archived"), f"---\nsearch: no\n{text[4:]}"):
        note.write_text(changed, encoding="utf-8")
        assert turns_of(ask(kept, "E4711")) == []
    note.write_text(text, encoding="utf-8")
    assert turns_of(ask(kept, "E4711")) == [("one", 1)]
    moved = kept.vault.root / "areas/projects/shop/我的会话.md"
    moved.parent.mkdir(parents=True, exist_ok=True)
    os.replace(note, moved)
    assert ask(kept, "E4711").hits[0].memory.path == "areas/projects/shop/我的会话.md"
    moved.unlink()
    assert turns_of(ask(kept, "E4711")) == []


@pytest.mark.parametrize("forgotten", ["The billing key rotates every 90 days", "计费密钥每九十天轮换一次，由运维负责"])
def test_a_forgotten_statement_never_comes_back(desk: Desk, forgotten: str) -> None:
    turn = Turn(typed=f"Noted. {forgotten}. Ask Ana.", messages=(f"I will remember: {forgotten}", "E4711 remains."))
    keep(desk, "one", turn, decision=forgotten)
    follow(desk)
    assert forgotten in ask(desk, forgotten, "only").hits[0].memory.text
    ref = "sessions/2026-02-01-one.md"
    assert forget(desk.work, Memory(ref, forgotten, LINE, Location(ref, 10, 10))).changed
    assert not any(forgotten in hit.memory.text for mode in ("auto", "only") for hit in ask(desk, forgotten, mode).hits)
    assert turns_of(ask(desk, "E4711")) == [("one", 1)]


def test_a_forgotten_fact_does_not_come_back_from_the_session_that_it_was_typed_in(desk: Desk) -> None:
    fact = "Deploys wait for the nightly backup 备份"
    keep(desk, "one", Turn(typed=f"Remember: {fact}."))
    follow(desk)
    fact_id = desk.remember(fact).memory.id
    assert turns_of(ask(desk, fact, "only")) == [("one", 1)]
    desk.forget(fact_id)
    assert turns_of(ask(desk, fact, "only")) == []


@pytest.mark.slow
def test_a_purged_text_is_not_found_at_once(kept: Desk) -> None:
    purge(kept.work, "IdempotencyKeyFilter", None)
    assert turns_of(ask(kept, "IdempotencyKeyFilter")) == []
    assert b"idempotencykeyfilter" not in kept.everything()
    follow(kept)
    assert turns_of(ask(kept, "IdempotencyKeyFilter")) == []
    assert turns_of(ask(kept, "E4711")) == [("one", 1)]


@pytest.mark.slow
def test_an_undone_capture_is_not_found_until_it_is_back(desk: Desk) -> None:
    talk = [prompt("Why does the refund endpoint charge twice, 为什么?"), *edit("/src/a.ts"), answer("See E4711.")]
    desk.put(write_transcript(desk.home / "one.jsonl", talk))
    work_off(desk.work)
    assert turns_of(ask(desk, "E4711", "only")) == [("one", 1)]
    change = find_change(desk.vault, "")
    undone = undo(desk.vault, change)
    follow_undo(desk.vault, change)
    assert turns_of(ask(desk, "E4711", "only")) == []
    back = find_change(desk.vault, undone.commit)
    undo(desk.vault, back)
    follow_undo(desk.vault, back)
    assert turns_of(ask(desk, "E4711", "only")) == [("one", 1)]


def test_a_source_that_is_gone_is_not_found(kept: Desk) -> None:
    keep(kept, "two", Turn(typed="E4712 网关"), day=9)
    follow(kept)
    assert trim_sources(kept.vault, TranscriptSettings(keep_days=5), kept.now) == 1
    assert turns_of(ask(kept, "E4711", "only")) == []
    assert follow(kept) == FollowedSources(gone=1)
    assert turns_of(ask(kept, "E4712", "only")) == [("two", 1)]
    remove_source(kept.vault, "two")
    assert turns_of(ask(kept, "E4712", "only")) == []


def test_of_a_session_that_goes_on_only_what_is_new_is_read(kept: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    lines = turn_table.lines_of_turn

    def lines_of_turn(fields: Mapping[str, Any]) -> Iterator[TurnLine]:
        read.append(fields["typed"])
        return lines(fields)

    monkeypatch.setattr(turn_table, "lines_of_turn", lines_of_turn)
    keep(kept, "one", *TURNS, Turn(typed="Add the metric refund_total 指标"))
    assert any("1 of 1 kept sessions" in notice for notice in ask(kept, "refund_total").notices)
    assert turns_of(ask(kept, "E4711")) == []  # it has changed since: its places may be others
    assert follow(kept) == FollowedSources(read=1)
    assert read == ["Add the metric refund_total 指标"]
    assert turns_of(ask(kept, "refund_total")) == [("one", 3)]
    assert turns_of(ask(kept, "E4711")) == [("one", 1)]
    assert ask(kept, "refund_total").notices == ()


def test_a_search_waits_for_no_build_and_says_what_is_missing(desk: Desk) -> None:
    keep(desk, "one", *TURNS)
    found = ask(desk, "E4711")
    assert turns_of(found) == []
    assert any("the turns of 1 of 1 kept sessions are not searched yet" in notice for notice in found.notices)
    assert not table_path(place_of(desk.work)).exists()


@pytest.mark.parametrize("damage", [b"", b"no database", None])
def test_a_damaged_table_is_made_anew(kept: Desk, damage: bytes | None) -> None:
    path = table_path(place_of(kept.work))
    if damage is None:
        content = bytearray(path.read_bytes())
        content[len(content) // 2 :] = os.urandom(len(content) - len(content) // 2)
        damage = bytes(content)
    for journal in ("-wal", "-shm"):
        path.with_name(path.name + journal).unlink(missing_ok=True)
    path.write_bytes(damage)
    ask(kept, "E4711")
    keep(kept, "two", Turn(typed="E4712 网关"), day=2)
    follow(kept)
    follow(kept)
    assert turns_of(ask(kept, "E4712", "only")) == [("two", 1)]
    assert turns_of(ask(kept, "E4711", "only")) == [("one", 1)]


def test_a_table_is_not_followed_through_a_symlink(kept: Desk, tmp_path: Path) -> None:
    path = table_path(place_of(kept.work))
    elsewhere = tmp_path / "elsewhere.sqlite"
    os.replace(path, elsewhere)
    path.symlink_to(elsewhere)
    assert turns_of(ask(kept, "E4711")) == []
    before = elsewhere.read_bytes()
    keep(kept, "two", Turn(typed="E4712 网关"), day=2)
    follow(kept)
    assert elsewhere.read_bytes() == before


def put(desk: Desk, name: str, content: bytes) -> Path:
    path = desk.vault.root / FOLDER / "2026" / f"{name}.jsonl.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.mark.slow
def test_hostile_sources_are_harmless(kept: Desk, tmp_path: Path) -> None:
    head = b'{"format":1,"session":"../../etc"}\n'
    nested = b"[" * 100_000
    put(kept, "bomb", gzip.compress(b"\0" * 150_000_000, 1))
    put(kept, "lines", gzip.compress(head + b"\n" * 20_000_000 + b'{"typed":"E4711"}'))
    put(kept, "torn", gzip.compress(head)[:20])
    put(kept, "none", b"E4711")
    odd = (
        b'{"typed":["E4711"],"runs":{"a":1},"edits":[7,{"file":3}],"messages":"E4711"}\n{"typed":"\xff\xed\xa0\x80"}\n'
    )
    long = json.dumps({"typed": "密" * 200_000}).encode()
    put(kept, "odd", gzip.compress(head + nested + b"\n" + odd + long))
    outside = tmp_path / "outside.jsonl.gz"
    outside.write_bytes(gzip.compress(head + b'{"typed":"E4800"}'))
    (kept.vault.root / FOLDER / "2026" / "link.jsonl.gz").symlink_to(outside)
    (kept.vault.root / FOLDER / "2027").symlink_to(tmp_path)
    assert follow(kept) == FollowedSources(read=2, unread=3)
    assert follow(kept) == FollowedSources()
    assert turns_of(ask(kept, "E4711", "only")) == [("one", 1)]
    assert turns_of(ask(kept, "E4800", "only")) == []


def test_user_text_is_never_syntax_of_the_table(kept: Desk) -> None:
    for text in (
        'E4711" OR part_terms:*',
        "NEAR(a b) ^E4711 - +",
        "E4711'; DROP TABLE part; --",
        '"',
        "%_!",
        "密\0E4711",
    ):
        ask(kept, text, "only")
    assert turns_of(ask(kept, "E4711")) == [("one", 1)]


@pytest.mark.slow
def test_the_table_takes_at_most_one_and_a_fifth_of_its_text(desk: Desk) -> None:
    words = [
        f"module_{number % 97}.handle{number} 处理第{number}个请求 returned E{number % 313}" for number in range(6_000)
    ]
    for at in range(10):
        texts = tuple("\n".join(words[start : start + 20]) for start in range(at * 600, (at + 1) * 600, 20))
        keep(desk, f"s{at}", Turn(typed="go on", messages=texts))
    follow(desk)
    text = sum(len(word.encode()) + 1 for word in words)
    assert table_path(place_of(desk.work)).stat().st_size <= 1.2 * text


@pytest.mark.slow
def test_terms_of_what_is_gone_are_cleared_away(desk: Desk) -> None:
    for number in range(70):
        keep(
            desk,
            "one",
            Turn(typed=f"E{number} 轮次", messages=tuple(f"step {each} of {number}" * 20 for each in range(9))),
        )
        os.utime(desk.vault.root / FOLDER / "2026/one.jsonl.gz", (number, number))
        follow(desk)
    with sqlite3.connect(table_path(place_of(desk.work))) as db:
        living, made = db.execute("SELECT count(*), max(id) FROM part").fetchone()
    assert made < 70 * living / 4
    assert turns_of(ask(desk, "E69", "only")) == [("one", 1)]


def test_a_table_that_is_in_use_is_no_damaged_one(kept: Desk) -> None:
    path = table_path(place_of(kept.work))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert turns_of(ask(kept, "E4711")) == [("one", 1)]
        before = path.stat().st_ino
        keep(kept, "two", Turn(typed="E4712 网关"), day=2)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("memtool.index.schema.connect", _impatient)
            with pytest.raises(NotWritable, match="locked"):
                follow(kept)
        assert path.stat().st_ino == before
    assert follow(kept) == FollowedSources(read=1)


def _impatient(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=0.0, isolation_level=None)
