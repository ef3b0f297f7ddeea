from __future__ import annotations

import pytest
from hypothesis import example, given, strategies

from memtool.capture.model_turns import Ground, grounds_of, is_typed, names_in, unfounded, unknown_name
from memtool.capture.old_turns import Run, Turn
from memtool.vault.session_rows import Piece

TURN = Turn(
    asked="Fix src/Auth.ts, 更新设计.md: 3 of 1,200 logins fail with E0308, always use table-driven tests",
    chosen=("Which store? → in-memory, at most 5 per minute",),
    said="Look at `config.load()`: **24** hours, not 48.7 s. GET /api/orders is fine. Redis keeps them.",
    told=(Piece('commit: "Renew tokens in jwt.py"'),),
    plan="Move getUserById to v2.1.210",
    files=("C:\\work\\shop\\user-service.ts", "/src/shop/.env.local"),
    runs=(Run("cargo test --no-fail-fast"), Run("cat worker.py", 'File "main.rs", line 3')),
)
(GROUND,) = grounds_of([TURN])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("changed src/auth.ts and jwt.py:12", ["auth.ts", "jwt.py", "12"]),
        ("修改了auth.ts文件", ["auth.ts"]),
        ("更新了设计.md", ["计.md"]),
        (r"in C:\work\shop\main.rs", ["main.rs"]),
        ("in ~/notes/todo and /etc/passwd", ["todo", "passwd"]),
        ("in .env.local and all .ts files", [".env.local", ".ts"]),
        ("user-service.spec.ts", ["user-service.spec.ts"]),
        ("Python 3.11, v2.1.210 and #4573", ["3.11", "2.1.210", "4573"]),
        ("24h, 1.5GB, the 3rd of 1,200, １２ 秒", ["24", "1.5", "3", "1200", "12"]),
        ("2026-02-10 14:30", ["2026", "02", "10", "14", "30"]),
        ("config.load() calls getUserById() with MAX_SIZE", ["config.load", "getUserById", "MAX_SIZE"]),
        ("E0308 from sha256 with --no-verify", ["E0308", "sha256", "--no-verify"]),
        ("调用getUserById返回E0308", ["getUserById", "E0308"]),
    ],
)
def test_numbers_files_and_identifiers_are_names(text: str, names: list[str]) -> None:
    assert names_in(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "and/or, client/server, CI/CD", "e.g. this, i.e. that, etc.", "it is fixed.The next step",
        "one...then two", "a \\n b", "增/删/改/查、新增/删除/修改", "table-driven tests", "采用 JWT，不用 session。",
    ],
)  # fmt: skip
def test_plain_words_are_none(text: str) -> None:
    assert names_in(text) == []


@pytest.mark.parametrize(
    "line",
    [
        "auth.ts and 设计.md, lib/jwt.py, WORKER.py, user-service.ts, .env.local and main.rs",
        "3 of 1200 logins failed with e0308 in v2.1.210 for 24h instead of 48.7s",
        "config.load() and getUserById, /api/orders, --no-fail-fast",
        "每分钟最多 5 次",
    ],
)
def test_what_a_turn_names_stands_in_it(line: str) -> None:
    assert unfounded(line, (), GROUND.said) == ""


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("added billing.py", "billing.py"),
        ("新增了billing.py", "billing.py"),
        ("更新了需求.md", "求.md"),
        ("see /etc/shadow", "shadow"),
        ("h.ts", "h.ts"),  # a part of a name is another name
        ("service.tsx", "service.tsx"),
        ("tokens live 48 hours", "48"),  # 48.7 is another number
        ("tokens live 2 hours", "2"),
        ("令牌有效期 36 小时", "36"),
        ("v2.1 is out", "2.1"),
        ("calls getUser()", "getuser"),
        ("E030", "e030"),
        ("run it with --no-fail", "--no-fail"),
    ],
)
def test_what_it_does_not_name_does_not(line: str, name: str) -> None:
    assert unfounded(line, (), GROUND.said) == name


def test_what_was_in_backticks_must_stand_to_the_letter() -> None:
    assert unfounded("run it", ["cargo test", "config.load()", "Redis"], GROUND.said) == ""
    assert unfounded("run it", ["cargo build"], GROUND.said) == "cargo build"


def test_a_name_with_a_capital_must_stand_somewhere_in_the_session() -> None:
    assert unknown_name("Tokens are kept in Redis: Ana said so. They last", GROUND.said) == ""
    assert unknown_name("Tokens are kept in Kafka", GROUND.said) == "Kafka"
    assert unknown_name("令牌放在 Kafka 里", GROUND.said) == "Kafka"
    assert unknown_name("one GET, two GETs", GROUND.said) == ""


@pytest.mark.parametrize(
    ("line", "is_theirs"),
    [
        ("Always use table-driven tests", True),
        ("Tests are always table-driven", True),
        ("in-memory store, at most 5 per minute", True),
        ("Redis keeps the orders", False),
        ("Never use table-driven tests in Redis for orders", False),
        ("更新设计", True),
        ("设计要放到缓存里面去", False),
        ("of the", False),
    ],
)
def test_most_words_of_what_the_user_wants_are_the_users(line: str, *, is_theirs: bool) -> None:
    assert is_typed(line, GROUND) is is_theirs


def test_always_and_never_are_only_the_users_if_they_said_so() -> None:
    said_once = Ground("", "deploy the shop with the script 部署商店用脚本")
    assert is_typed("deploy the shop with the script", said_once)
    for line in ("Always deploy the shop with the script", "以后部署商店用脚本"):
        assert not is_typed(line, said_once)
    assert is_typed("以后部署商店用脚本", Ground("", "以后部署商店都用脚本"))


def test_a_question_that_the_user_said_yes_to_is_theirs() -> None:
    asking = Turn("How do we keep sessions?", said="There are two ways.\n\nShall I take signed cookies?")
    telling = asking._replace(said="The page says: signed cookies. Done.")
    yes = Turn("yes, go ahead", said="Signed cookies are in.")
    for turns, is_theirs in (
        ([asking._replace(verdict="confirmed"), yes], True),
        ([asking._replace(verdict="went on"), yes], False),
        ([telling._replace(verdict="confirmed"), yes], False),  # a thank-you for what was read agrees to nothing
    ):
        assert [is_typed("take signed cookies", ground) for ground in grounds_of(turns)] == [is_theirs] * 2


def test_what_the_next_words_confirm_belongs_to_the_turn_before_too() -> None:
    turns = [Turn("用什么存？", said="建议用内存。", verdict="confirmed"), Turn("好的，用内存存储，每分钟最多五次")]
    assert all(is_typed("用内存存储，每分钟最多五次", ground) for ground in grounds_of(turns))


def test_a_question_that_was_denied_is_not_what_the_user_chose() -> None:
    (denied,) = grounds_of([Turn(chosen=("Rewrite the parser in Rust? → No, keep Python",))])
    assert not is_typed("Rewrite the parser in Rust", denied)
    assert is_typed("keep Python", denied)


TEXTS = strategies.text(alphabet="aB1文,./\\~ -_`*(Ａ", max_size=60)


@given(TEXTS, TEXTS)
@example(".B1_", "")
@example("--aB_", "文--aB-")
def test_whatever_a_turn_says_stands_in_it(text: str, more: str) -> None:
    (ground,) = grounds_of([Turn("x", said=f"{more} {text} {more}")])
    assert unfounded(text, (), ground.said) == ""


@pytest.mark.slow
@given(strategies.lists(strategies.builds(
    Turn, asked=strategies.text(max_size=40), said=strategies.text(max_size=80),
    chosen=strategies.lists(strategies.text(max_size=30), max_size=2).map(tuple),
    verdict=strategies.sampled_from(["", "confirmed", "corrected", "rejected", "went on"]),
), max_size=4), strategies.text(max_size=60))  # fmt: skip
def test_nobody_wants_what_nobody_typed(turns: list[Turn], line: str) -> None:
    for ground in grounds_of([turn._replace(asked="", chosen=(), said=f"{turn.said}.") for turn in turns]):
        assert not is_typed(line, ground)
