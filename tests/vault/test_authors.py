from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from memtool.vault.memory import (
    AGENT,
    AUTHORS,
    IMPORTED,
    TOOL,
    USER,
    is_past,
    named,
    signed_by,
    standing_category,
    trust,
)


def test_the_users_word_counts_most_and_the_output_of_a_tool_least() -> None:
    assert trust(USER) > trust(AGENT) == trust(IMPORTED) == trust("") > trust(TOOL)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("JWT rather than sessions (user)", ("JWT rather than sessions", USER)),
        ("令牌有效期是 15 分钟（agent）", ("令牌有效期是 15 分钟", AGENT)),
        ("cookies are HttpOnly (agent) #auth #安全", ("cookies are HttpOnly #auth #安全", AGENT)),
        ("the page says so (tool)", ("the page says so", TOOL)),
        ("a bracket (of the user) inside", ("a bracket (of the user) inside", "")),
        ("(user) first", ("(user) first", "")),
        ("", ("", "")),
    ],
)
def test_a_line_is_signed_at_its_end(line: str, expected: tuple[str, str]) -> None:
    assert signed_by(line) == expected


@pytest.mark.parametrize("author", AUTHORS)
def test_only_the_output_of_a_tool_never_stands_as_a_decision(author: str) -> None:
    assert standing_category("decision", author) == ("general" if author == TOOL else "decision")
    assert standing_category("code", author) == "code"


def test_an_agent_is_told_of_an_author_that_says_something() -> None:
    assert [named(author) for author in (USER, AGENT, TOOL, IMPORTED, "")] == ["user", "agent", "tool output", "", ""]


NOW = datetime(2026, 2, 10, 14, 30, tzinfo=timezone(timedelta(hours=8)))


@pytest.mark.parametrize(
    ("expires", "past"),
    [
        ("", False), ("2026-02-09", True), ("2026-02-10", False), ("2026-02-31", False),
        ("2026-02-09T23:59:59Z", True), ("2026-02-10T14:29", True), ("2026-02-10T14:31", False),
        ("2026-02-10T06:29:00Z", True), ("2026-02-10T06:31:00+00:00", False), ("2026-02-09 some day", True),
        ("2026-02-10 今天", False),
    ],
)  # fmt: skip
def test_something_holds_through_its_last_day_or_until_its_hour(expires: str, past: bool) -> None:
    assert is_past(expires, NOW) is past
