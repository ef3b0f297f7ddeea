from __future__ import annotations

from typing import Any

import pytest

from memtool.recall.prompts.conflicts import contradicted
from memtool.recall.prompts.recalled import Recalled

FACTS = "areas/projects/shop/facts.json"


def fact(text: str, author: str = "agent", date: str = "2026-02-01", **more: Any) -> Recalled:
    plain = {"first_line": 1, "last_line": 2, "kind": "fact", "project": "shop", "category": "code", "title": "Facts"}
    return Recalled(
        **{"ref": FACTS, "text": text, "author": author, "date": date, "fact_id": f"{author}-{date}", **plain, **more}
    )


PAIRS = [
    ("Deploys happen on Tuesdays after the standup.", "Deploys happen on Fridays after the standup."),
    ("访问令牌有效期是 24 小时", "访问令牌有效期是 15 分钟"),
    ("deploy 脚本放在 scripts 目录", "deploy 脚本放在 tools 目录"),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_the_users_word_holds_against_a_newer_one_of_the_agent(one: str, other: str) -> None:
    user, agent = fact(one, "user", "2026-01-01"), fact(other, "agent", "2026-02-01")
    assert contradicted([agent, user]) == contradicted([user, agent]) == {agent.key}


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_of_the_same_author_the_newer_word_holds(one: str, other: str) -> None:
    old, new = fact(one, date="2026-01-01"), fact(other, date="2026-02-01")
    assert contradicted([old, new]) == {old.key}


def test_of_two_that_count_the_same_both_stand() -> None:
    one, other = PAIRS[0]
    assert contradicted([fact(one, fact_id="a"), fact(other, fact_id="b")]) == set()


def test_two_subjects_are_no_contradiction() -> None:
    access = fact("Access tokens live 15 minutes.", "user")
    refresh = fact("Refresh tokens live 30 days.", "agent")
    elsewhere = fact("Access tokens live 24 hours.", "agent", ref="areas/projects/blog/facts.json")
    note = fact("Access tokens live 24 hours.", "agent", ref="sessions/a.md", kind="session")
    assert contradicted([access, refresh, elsewhere, note]) == set()
