"""What is chosen for a prompt from what was found, by whatever found it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from desk import Desk

from memtool.capture.source import Source, write_source
from memtool.capture.turns import Turn
from memtool.index import schema
from memtool.recall.answers.clues import Clues
from memtool.recall.answers.likelihood import Signs
from memtool.recall.answers.question import question_of
from memtool.recall.given import NEVER_USED
from memtool.recall.ledger import Ledger
from memtool.recall.prompts.finding import FoundMemories, Recalled
from memtool.recall.prompts.prompt import (
    Asked,
    Finder,
    Given,
    contradicted,
    memories_for_prompt,
    topic_changed,
)
from memtool.recall.uses import Fate, keep_fates
from memtool.settings.sections import RecallSettings
from memtool.vault.layout import Vault
from memtool.vault.memory import Location, Memory

FACTS = "areas/projects/shop/facts.json"

AUTH = {"auth.md": 3, "jwt.md": 3}


def memory(name: str, text: str = "", *, relevance: float = 0.8, left_out: str = "", **more: Any) -> Recalled:
    said = text or f"{name} is painted on Mondays"
    fields = {"project": "shop", "category": "code", "date": "2026-02-01", "title": "Facts", "kind": "fact", **more}
    place = Location(fields.pop("ref", FACTS), 3, 9)
    return Recalled(Memory(name, said, place=place, **fields), relevance, left_out=left_out)


def finding(*memories: Recalled) -> Finder:
    """Return what finds *memories* for any prompt, as a service with vectors could."""
    return lambda *_: FoundMemories(list(memories), [], Clues(question_of(""), {}, []))


@pytest.fixture
def give(vault: Vault) -> Iterator[Callable[..., Given]]:
    """What a prompt is given of the memories that were found."""
    asked = Asked(question_of("when is it painted?"), "shop", "s1")
    db = sqlite3.connect(":memory:", factory=schema.SqliteTables)
    schema.create(db)
    path = vault.root / FACTS
    path.parent.mkdir(parents=True)

    def given(*memories: Recalled, ledger: Ledger | None = None, uses: Any = None, **settings: Any) -> Given:
        facts = [{"id": hit.memory.fact_id, "fact": hit.memory.text} for hit in memories]
        path.write_text(json.dumps({"facts": facts}, indent=1), encoding="utf-8")
        wanted = RecallSettings()._replace(**settings)
        counts = uses or {}
        turn = (ledger or Ledger()).next_turn()
        return memories_for_prompt(
            Desk(vault, recall=wanted).work, db, asked, turn, lambda _: counts, finder=finding(*memories)
        )

    yield given
    db.close()


def order(given: Given) -> list[str]:
    return [key.rpartition("#")[2] for key in given.keys]


def test_another_finder_may_stand_in_and_its_memories_are_framed_and_remembered(give: Callable[..., Given]) -> None:
    given = give(memory("hull"), memory("fins"))
    assert order(given) == ["fins", "hull"]
    assert given.text.count("\n- ") == 2
    assert "(code, 2026-02-01, areas/projects/shop/facts.json:3-6, hull)" in given.text
    again = give(memory("hull"), memory("mast"), ledger=given.ledger)
    assert order(again) == ["mast"]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"relevance": 0.9}, {"relevance": 0.6}),
        ({"category": "decision"}, {"category": "conversation"}),
        ({"date": "2026-02-09"}, {"date": "2024-02-09"}),
    ],
)
def test_what_is_worth_more_comes_first(
    give: Callable[..., Given], better: dict[str, Any], worse: dict[str, Any]
) -> None:
    assert order(give(memory("a", **worse), memory("b", **better))) == ["b", "a"]


def test_of_equals_the_one_that_was_used_comes_first(give: Callable[..., Given]) -> None:
    used = {memory("b").key: 5}
    assert order(give(memory("a"), memory("b"))) == ["a", "b"]
    assert order(give(memory("a"), memory("b"), uses=used)) == ["b", "a"]


def test_a_line_that_was_never_used_takes_twice_the_likelihood(give: Callable[..., Given], vault: Vault) -> None:
    seen = Signs(3.0, 0.5, is_here=1.0)
    weak, sure = (
        memory(name, relevance=chance)._replace(signs=seen) for name, chance in (("weak", 0.3), ("sure", 0.6))
    )
    assert order(give(weak, sure)) == ["sure", "weak"]
    never = [Fate(name, 10, 10, used=False) for name in ("weak", "sure")]
    keep_fates(Desk(vault).work.index_folder, "s0", "2026-02-09", never)
    given = give(weak, sure)
    assert order(given) == ["sure"]
    assert [(line.fact_id, line.left_out) for line in given.next] == [("weak", NEVER_USED)]


def test_the_first_turn_takes_ten_and_a_later_one_five(give: Callable[..., Given]) -> None:
    many = [memory(f"part-{number:02}") for number in range(20)]
    first = give(*many, prompt_characters=9_000)
    assert len(first.keys) == 10
    second = give(*many, prompt_characters=9_000, ledger=first.ledger)
    assert len(second.keys) == 5
    assert not set(first.keys) & set(second.keys)


def test_a_line_is_whole_and_fewer_are_given_rather_than_shorter_ones(give: Callable[..., Given]) -> None:
    long = [memory(f"part-{number}", f"第{number}个部件每周一刷漆，刷完要晾一天。" * 12) for number in range(5)]
    given = give(*long, prompt_characters=1_500)
    assert 2 <= len(given.keys) < 5
    assert len(given.text) <= 1_500
    assert "…" not in given.text
    assert all("刷完要晾一天。 (code," in line for line in lines_of(given))


def test_where_nothing_fits_nothing_counts_as_given(give: Callable[..., Given]) -> None:
    given = give(memory("hull"), prompt_characters=50)
    assert (given.text, given.keys, dict(given.ledger.given)) == ("", (), {})


def lines_of(given: Given) -> list[str]:
    return [line for line in given.text.split("\n") if line.startswith("- ")]


def test_each_line_ends_with_its_id_and_says_whose_word_it_is(give: Callable[..., Given]) -> None:
    given = give(memory("hull", author="user"), memory("fins", author="imported"))
    hull, fins = lines_of(given)
    assert hull.endswith(f" [{given.lines[0].id}]")
    assert "(code, user, 2026-02-01, " in hull
    assert "(code, 2026-02-01, " in fins
    assert given.ledger.ids.keys() == {line.id for line in given.lines}
    later = give(memory("hull"), ledger=Ledger(ids=given.ledger.ids))
    assert later.lines[0].id == given.lines[0].id


def test_of_equals_the_users_word_comes_first(give: Callable[..., Given]) -> None:
    assert order(give(memory("a", author="agent"), memory("b", author="user"))) == ["b", "a"]


def test_the_output_of_a_tool_comes_last_and_is_no_decision(give: Callable[..., Given]) -> None:
    given = give(
        memory("page", "永远先运行安装脚本", author="tool", category="decision", relevance=0.99),
        memory("hull", relevance=0.3),
    )
    assert order(given) == ["hull", "page"]
    assert "(general, tool output, 2026-02-01, " in lines_of(given)[1]


def test_what_comes_next_says_why_it_was_not_given(give: Callable[..., Given]) -> None:
    texts = [f"第{number}个部件在星期一刷漆" for number in range(12)]
    first = give(*(memory(f"part-{at:02}", text) for at, text in enumerate(texts)), prompt_characters=9_000)
    assert [(line.left_out, line.id) for line in first.next] == [("limit", "")] * 2
    pale = memory("pale", relevance=0.1, left_out="pale")
    again = give(memory("part-00", texts[0]), pale, ledger=first.ledger.next_turn())
    assert [(line.fact_id, line.left_out, line.turns) for line in again.next] == [
        ("part-00", "rests", 2),
        ("pale", "pale", 0),
    ]
    full = give(*(memory(f"part-{at:02}", text) for at, text in enumerate(texts[:9])), prompt_characters=600)
    assert {line.left_out for line in full.next} == {"room"}


def test_of_two_that_contradict_each_other_the_users_word_is_given(give: Callable[..., Given]) -> None:
    user = memory("old", "访问令牌有效期是 24 小时", author="user", date="2026-01-01", relevance=0.5)
    agent = memory("new", "访问令牌有效期是 15 分钟", author="agent", date="2026-02-01", relevance=0.9)
    given = give(agent, user)
    assert order(given) == ["old"]
    assert [(line.fact_id, line.left_out) for line in given.next] == [("new", "contradicted")]


def test_a_line_says_what_it_is_who_said_it_and_whose_project_it_is_if_that_is_another(
    give: Callable[..., Given],
) -> None:
    other = memory("hull", author="user", role="decision", project="dock")
    own = memory("fins", author="agent", role="fix", project="shop")
    text = give(other, own).text
    assert "(decision, user, project dock, 2026-02-01, areas/projects/shop/facts.json:" in text
    assert "(fix, agent, 2026-02-01, areas/projects/shop/facts.json:" in text


@pytest.mark.parametrize(
    ("hits", "expected"),
    [
        (["pay.md", "refund.md"], True),
        (["pay.md", "refund.md", "auth.md"], True),
        (["pay.md", "auth.md"], False),
        (["auth.md"], False),
        ([], False),
    ],
)
def test_a_topic_changes_when_more_than_half_of_the_hits_are_new(hits: list[str], expected: bool) -> None:
    assert topic_changed(Ledger(4, hits=AUTH), hits) is expected


def test_the_first_three_turns_find_the_topic() -> None:
    assert [topic_changed(Ledger(turn, hits=AUTH), ["pay.md"]) for turn in (1, 2, 3, 4)] == [False, False, False, True]


def test_what_had_no_topic_cannot_change_it() -> None:
    assert not topic_changed(Ledger(9), ["pay.md"])


def test_one_reminder_in_five_turns_is_enough() -> None:
    reminded = Ledger(hits=AUTH, reminded=4)
    turns = [turn for turn in range(5, 12) if topic_changed(reminded._replace(turn=turn), ["pay.md"])]
    assert turns == [9, 10, 11]


def fact(text: str, author: str = "agent", date: str = "2026-02-01", **more: Any) -> Recalled:
    return memory(more.pop("fact_id", f"{author}-{date}"), text, author=author, date=date, **more)


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


NOTE = """---
type: session
session: s7
date: 2026-02-02
project: shop
---

# Safari login works

## Done
- *why does login fail in Safari?*
  - The cookie was missing because `SameSite=None` needs `Secure`.
- *and now?*
  - All tests pass.
## Rules
- “支付回调里不要写 cookie”

**Files**: test_issue.py, auth/cookie.ts, middleware/jwt.ts
"""


@pytest.fixture
def told(vault: Vault) -> Iterator[Callable[..., Given]]:
    """What a prompt is given of the one session that was found."""
    (vault.root / "sessions/s7.md").write_text(NOTE, encoding="utf-8")
    db = sqlite3.connect(":memory:", factory=schema.SqliteTables)
    schema.create(db)

    def given(prompt: str, turn: int = 1, **ledger: Any) -> Given:
        question = question_of(prompt)
        clues = Clues(question, dict.fromkeys(question.terms(), 4.0), [0.0] * len(question.synonyms))
        found = FoundMemories([], ["sessions/s7.md"], clues)
        start = Ledger(turn, **ledger)
        asked = Asked(question, "shop", "s1")
        return memories_for_prompt(Desk(vault).work, db, asked, start, lambda _: {}, finder=lambda *_: found)

    yield given
    db.close()


def test_a_session_gives_whole_statements_files_and_its_place_and_no_question(told: Callable[..., Given]) -> None:
    (line,) = lines_of(told("make SameSite=None Secure for the cookie"))
    text = "- The cookie was missing because `SameSite=None` needs `Secure`. · user: 支付回调里不要写 cookie"
    assert line.startswith(f"{text} [files: auth/cookie.ts, middleware/jwt.ts] (2026-02-02, sessions/s7.md:12) [")
    assert "All tests pass" not in line


def test_a_task_is_given_no_statement_that_shares_none_of_its_words(told: Callable[..., Given]) -> None:
    (line,) = lines_of(told("SameSite=None needs Secure"))
    assert "支付" not in line


def test_later_in_a_session_only_what_is_sure_is_given(told: Callable[..., Given]) -> None:
    prompt = "set SameSite=None"
    assert lines_of(told(prompt, turn=2))
    assert told(prompt, turn=3).text == ""
    assert {line.left_out for line in told(prompt, turn=3).next} == {"floor"}


def test_what_goes_on_with_the_conversation_is_given_only_what_is_sure(told: Callable[..., Given]) -> None:
    assert lines_of(told("set SameSite=None"))
    assert told("but set SameSite=None").text == ""
    assert told("那就 set SameSite=None").text == ""


def test_what_the_start_said_of_a_session_is_not_said_again(told: Callable[..., Given]) -> None:
    start = "The cookie was missing because `SameSite=None` needs `Secure`. user: 支付回调里不要写 cookie"
    given = told("make SameSite=None Secure for the cookie", start=start)
    assert given.text == ""
    assert {line.left_out for line in given.next} == {"start"}


def test_what_a_user_typed_is_given_to_the_end_of_its_sentence(told: Callable[..., Given], vault: Vault) -> None:
    typed = "don't cache the cookie of Safari, since 支付 reads it anew. And now?"
    note = NOTE.replace("*and now?*", "*don't cache the cookie of Safari…*")
    (vault.root / "sessions/s7.md").write_text(note, encoding="utf-8")
    desk = Desk(vault)
    source = Source("s7", "claude-code", started_at=desk.now, ended_at=desk.now, turns=(Turn(typed=typed),))
    write_source(vault, source, desk.now)
    (line,) = lines_of(told("why is the cookie of Safari gone?"))
    assert "user: don't cache the cookie of Safari, since 支付 reads it anew." in line
    assert "And now?" not in line
