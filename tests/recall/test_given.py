from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import pytest
from desk import Desk
from hypothesis import given, strategies as st

from memtool.errors import SessionNotFound, UsageError
from memtool.memory.given_now import evidence, said_now
from memtool.recall.given import (
    PROMPT,
    START,
    GivenLine,
    Giving,
    find_given,
    in_known_words,
    keep_giving,
    read_givings,
    session_named,
    sessions_given,
)
from memtool.recall.ledger import ledger_folder
from memtool.vault.layout import Vault
from memtool.vault.scan import Outside

FACTS = "areas/projects/shop/facts.json"
LINE = GivenLine("k3f9", "sessions/a.md", 7, "", "令牌 live 15 minutes", 0.78, {"share": 0.5})
KNOWN = {"how", "long", "do", "access", "tokens", "live", "getuserbyid", "get", "user", "by", "id", "token"}


@pytest.fixture
def folder(desk: Desk) -> Path:
    return ledger_folder(desk.work)


def test_records_are_read_as_they_were_kept_oldest_first(folder: Path) -> None:
    first = Giving("2026-02-10T14:30:00+08:00", START, "shop", lines=(GivenLine("m2g2", FACTS, 3, "fact-1"),))
    second = Giving(
        "2026-02-10T14:31:00+08:00", PROMPT, "shop", 1, "令牌 live", (LINE,), (LINE._replace(id="", turns=2),)
    )
    for giving in (first, second):
        keep_giving(folder, "3f2a9c", giving)
    assert read_givings(folder, "3f2a9c") == [first, second]
    assert read_givings(folder, "other") == []


def test_a_file_that_is_full_loses_its_older_half(folder: Path) -> None:
    big = Giving("2026-02-10", PROMPT, "商店", 1, "x" * 300, tuple(LINE._replace(text="解" * 400) for _ in range(10)))
    for turn in range(60):
        keep_giving(folder, "s1", big._replace(turn=turn))
    turns = [giving.turn for giving in read_givings(folder, "s1")]
    assert turns == list(range(turns[0], 60))
    assert 5 < len(turns) < 30
    assert (folder / "s1.jsonl").stat().st_size <= 524_288


STRANGE = [
    b"", b"{", b"[]", b"7", b"null", b"[" * 99_999, b"\xff", b'["a", "b"]', b'["a", "start", "p", true]',
    b'["a", "start", "p", 1, "x", [["k3f9"]]]',
    b'["a", "start", "p", 1, "x", [["k3f9", ".git/config"]]]', b'["a", "start", "p", 1, "x", [["k3f9", "a/../b.md"]]]',
    b'["a", "start", "p", 1, "x", [["k3f9", "r", 1, "", "", 0.5, {"share": "x"}]]]',
]  # fmt: skip


@pytest.mark.parametrize("content", STRANGE, ids=range(len(STRANGE)))
def test_a_record_that_memtool_did_not_write_is_passed_over(folder: Path, content: bytes) -> None:
    keep_giving(folder, "s1", Giving("2026-02-10", PROMPT, "shop", 1, "", (LINE,)))
    path = folder / "s1.jsonl"
    path.write_bytes(content + b"\n" + path.read_bytes())
    assert [giving.lines for giving in read_givings(folder, "s1")] == [(LINE,)]


def test_a_symlink_is_neither_read_nor_written(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.write_text("mine\n")
    (folder / "s1.jsonl").symlink_to(other)
    keep_giving(folder, "s1", Giving("2026-02-10", PROMPT, "shop"))
    assert (other.read_text(), read_givings(folder, "s1")) == ("mine\n", [])


def test_the_latest_session_comes_first_and_is_named_by_its_beginning(folder: Path) -> None:
    for name in ("abc-1", "abd-2", "会话"):
        keep_giving(folder, name, Giving("2026-02-10", PROMPT, "shop"))
    for at, path in enumerate(sorted(folder.glob("*.jsonl"))):
        os.utime(path, (at, at))
    sessions = sessions_given(folder)
    assert sessions[-1] == "abc-1"
    assert (session_named("abd", sessions), session_named("会话", sessions)) == ("abd-2", sessions[0])
    with pytest.raises(UsageError, match="2 sessions"):
        session_named("ab", sessions)
    for unknown in ("x", "", "../abc-1"):
        with pytest.raises(SessionNotFound):
            session_named(unknown, sessions)


def test_an_id_means_what_the_session_itself_was_given_before_what_others_were(folder: Path) -> None:
    other = LINE._replace(ref="sessions/b.md")
    keep_giving(folder, "s1", Giving("2026-02-10", PROMPT, "shop", lines=(LINE, LINE)))
    keep_giving(folder, "s2", Giving("2026-02-10", PROMPT, "shop", lines=(other,), next=(LINE._replace(id="b2bb"),)))
    assert (find_given(folder, "k3f9", "s1"), find_given(folder, "k3f9", "s2")) == ([LINE], [other])
    assert find_given(folder, "k3f9", "") == find_given(folder, "k3f9", "s3") != []
    assert len(find_given(folder, "k3f9", "")) == 2
    assert find_given(folder, "b2bb", "s2") == []


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ("How long do access tokens live?", "How long do access tokens live?"),
        ("how long does swordfish unknown live", "how long … live"),
        ("支付回调验签失败，帮我看看", "支付回调验签失败，帮我看看"),
        ("用 getUserById 查用户", "用 getUserById 查用户"),
        ("token=live access", "… access"),
        ("token: live access", "token: … access"),
        ("密码：龙年大吉 access", "… access"),
        ("access <private>live tokens", "access …"),
        ("user@live get", "… get"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "…"),
        ("", ""),
    ],
)
def test_of_a_prompt_only_words_that_the_vault_knows_are_kept(prompt: str, shown: str) -> None:
    assert in_known_words(prompt, KNOWN.intersection) == shown


@pytest.mark.slow
@given(st.text(max_size=400))
def test_no_unknown_word_is_ever_kept(prompt: str) -> None:
    shown = in_known_words(f"{prompt} hunter2", KNOWN.intersection)
    assert "hunter2" not in shown
    assert len(shown) <= 300


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ({}, "says it in other words; 78% likely"),
        ({"cosine": 0.51}, "says it in other words; near in meaning (0.51); 78% likely"),
        ({"cosine": 0.51, "gap": 0.1}, "says it in other words; nearest in meaning (0.51); 78% likely"),
    ],
)
def test_what_meaning_says_for_a_line_is_told_in_words(numbers: dict[str, float], told: str) -> None:
    assert evidence(LINE._replace(evidence=numbers), {}) == told


def test_a_line_of_a_session_is_by_its_author_also_where_it_is_its_title(vault: Vault) -> None:
    row = '"why?" → 时钟偏差 · "no, keep the old cookie"'
    note = f"# 登录失败 → the cookie needs Secure\n\n1. **Key points**:\n   - {row}\n"
    (vault.root / "sessions").mkdir(exist_ok=True)
    (vault.root / "sessions/a.md").write_text(note, encoding="utf-8")
    now = dt.datetime(2026, 2, 10, tzinfo=dt.UTC)

    def author(text: str, line: int) -> str:
        said = said_now(vault, GivenLine("k3f9", "sessions/a.md", line, "", text), Outside(), now)
        assert said
        assert said.text == text
        return said.author

    assert author("时钟偏差", 4) == "agent"
    assert author("no, keep the old cookie", 4) == "user"
    assert author("the cookie needs Secure", 1) == "agent"
