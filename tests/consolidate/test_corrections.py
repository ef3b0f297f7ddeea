from __future__ import annotations

import pytest
from dialogues import view_of

from memtool.capture.turns import Turn
from memtool.consolidate.corrections import corrections_in
from memtool.consolidate.proposals import LIKELY, POSSIBLE, Proposal
from memtool.consolidate.spans import Grounds


def found(*turns: Turn) -> list[Proposal]:
    view = view_of(turns)
    return list(corrections_in(view, turns, Grounds(view, turns)))


def texts(*turns: Turn) -> list[str]:
    return [proposal.text for proposal in found(*turns)]


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("can you use a table instead of nested ifs?", "use a table instead of nested ifs"),
        ("I'd rather see slog than fmt.Println in cmd/", "I'd rather see slog than fmt.Println in cmd/"),
        ("能不能用 switch 而不是一长串 if else 吗？", "用 switch 而不是一长串 if else"),
        ("请根据 design.md 里的架构来写示例", "根据 design.md 里的架构来写示例"),
        ("kannst du slog statt fmt.Println nehmen?", "slog statt fmt.Println nehmen"),
    ],
)
def test_what_was_typed_on_refusing_a_tool_is_what_the_user_wants(asked: str, wanted: str) -> None:
    assert texts(Turn(asked=asked, refused=True)) == [wanted]


@pytest.mark.parametrize(
    "asked",
    ["can you show me the code?", "let's go on with option 2 instead of 1", "请继续", "why is config.py read twice?"],
)
def test_an_order_of_the_day_is_none(asked: str) -> None:
    assert texts(Turn(asked=asked, refused=True)) == []


def test_a_correction_that_the_agent_grants_is_told_in_its_words_or_in_the_users() -> None:
    conceded = Turn(
        asked="hmm, none of the files in ~/.app/sessions has a date in front",
        amends="You're right - sessions are named by plain UUIDs. Let me look inside one.",
    )
    assert texts(Turn(verdict="corrected"), conceded) == ["Sessions are named by plain UUIDs."]
    unsaid = conceded._replace(amends="You're absolutely right! Let me check the hooks.")
    assert texts(Turn(verdict="corrected"), unsaid) == [unsaid.asked]
    chinese = Turn(
        asked="这个方法 isOnline 不是已经删了吗",
        amends="你说得对！ 由于移除了监听，`Net` 中不再有 isOnline() 方法。 让我来改。",
    )
    assert texts(chinese) == ["由于移除了监听，Net 中不再有 isOnline() 方法。"]


def test_being_right_to_ask_is_no_correction() -> None:
    turn = Turn(
        asked="Two cases: the client of api.ts quits, or is killed.", amends="You're right to question this. Ok."
    )
    assert texts(turn) == []


def test_a_log_or_a_diff_that_was_typed_is_no_statement() -> None:
    turn = Turn(asked="Hook from settings.json fired at 09:39:51, twice", amends="You're right! Let me look.")
    assert texts(turn) == []


def test_a_condition_of_a_yes_is_kept() -> None:
    assert texts(Turn(asked="yes, but max 5 requests per minute for /login")) == [
        "max 5 requests per minute for /login"
    ]
    assert texts(Turn(asked="好的，不过 login.ts 里每分钟最多只能请求 5 次")) == ["login.ts 里每分钟最多只能请求 5 次"]
    assert texts(Turn(asked="yes, but what about /login and /logout?")) == []


def test_a_wish_needs_that_something_came_of_it() -> None:
    wish = Turn(asked="errors must be checked with errors.As() everywhere")
    assert texts(wish) == []
    assert texts(wish._replace(files=("/src/shop/main.go",))) == [wish.asked]
    assert texts(wish._replace(verdict="confirmed")) == [wish.asked]
    assert texts(wish._replace(files=("/src/shop/main.go",), verdict="refuted")) == []


def test_one_thing_in_place_of_another_is_sure_once_it_was_done() -> None:
    done = Turn(asked="能不能用 zod 而不是手写校验？", files=("/src/shop/校验.ts",), verdict="went on")
    assert [(one.text, one.confidence) for one in found(done)] == [("用 zod 而不是手写校验", LIKELY)]
    assert [one.confidence for one in found(done._replace(verdict="corrected"))] == [POSSIBLE]


def test_what_was_pasted_is_nobodys_word() -> None:
    assert texts(Turn(asked="use tabs instead of spaces", refused=True, pasted=True)) == []


def test_each_stands_on_the_words_of_its_turn() -> None:
    (proposal,) = found(Turn(asked="go on"), Turn(asked="use pnpm instead of npm", refused=True))
    assert proposal.spans[0] == ("s1#2", "use pnpm instead of npm")
    assert (proposal.author, proposal.confidence) == ("user", LIKELY)
    silent = view_of([])
    turns = [Turn(asked="use pnpm instead of npm", refused=True)]
    assert not list(corrections_in(silent, turns, Grounds(silent, turns)))
