"""Names in a text: numbers, files and identifiers, and whether another text has them."""

from __future__ import annotations

import pytest
from hypothesis import example, given, strategies

from memtool.text.identifiers import folded, names_in, unfounded, unknown_name, without_names

GROUND = folded(
    """Fix src/Auth.ts, 更新设计.md: 3 of 1,200 logins fail with E0308, always use table-driven tests
Which store? in-memory, at most 5 per minute
Look at `config.load()`: **24** hours, not 48.7 s. GET /api/orders is fine. Redis keeps them. Ana said so.
commit: "Renew tokens in jwt.py". Move getUserById to v2.1.210. cargo test --no-fail-fast. cat worker.py
C:\\work\\shop\\user-service.ts /src/shop/.env.local File "main.rs", line 3"""
)


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
    assert unfounded(line, GROUND) == ""


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
    assert unfounded(line, GROUND) == name


def test_a_name_with_a_capital_must_stand_somewhere_in_the_session() -> None:
    assert unknown_name("Tokens are kept in Redis: Ana said so. They last", GROUND) == ""
    assert unknown_name("Tokens are kept in Kafka", GROUND) == "Kafka"
    assert unknown_name("令牌放在 Kafka 里", GROUND) == "Kafka"
    assert unknown_name("one GET, two GETs", GROUND) == ""


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("`auth.ts` sends 2 cookies", "sends cookies"),
        ("getUserById 返回 E0308，见 jwt.py", "返回 ,见"),
        ("run make --dry-run in ~/notes/todo", "run make in"),
    ],
)
def test_a_text_is_left_without_its_names(text: str, rest: str) -> None:
    assert " ".join(without_names(text).split()) == rest


TEXTS = strategies.text(alphabet="aB1文,./\\~ -_`*(Ａ", max_size=60)


@given(TEXTS, TEXTS)
@example(".B1_", "")
@example("--aB_", "文--aB-")
def test_whatever_a_text_names_stands_in_it(text: str, more: str) -> None:
    assert unfounded(text, folded(f"{more} {text} {more}")) == ""
