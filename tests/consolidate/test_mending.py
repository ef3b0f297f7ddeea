from __future__ import annotations

from dialogues import told, view_of

from memtool.capture.turns import Turn
from memtool.consolidate.mending import mended_in
from memtool.consolidate.proposals import LIKELY, LONGEST, POSSIBLE, Proposal
from memtool.consolidate.spans import Grounds

REPORT = Turn(asked="The login fails in Safari: Set-Cookie is ignored by login.ts")
MENDED = Turn(
    asked="yes, go on",
    files=("/src/shop/login.ts",),
    told=told("I've added SameSite=None together with Secure to the cookie in login.ts", "Bash is unchanged."),
)


def found(*turns: Turn) -> list[Proposal]:
    view = view_of(turns)
    return list(mended_in(view, turns, Grounds(view, turns)))


def texts(*turns: Turn) -> list[str]:
    return [proposal.text for proposal in found(*turns)]


def test_a_report_and_what_mended_it() -> None:
    (proposal,) = found(REPORT._replace(verdict="confirmed"), MENDED)
    assert proposal.text == f"{REPORT.asked} → {MENDED.told[0].text}"
    assert proposal.spans[0] == ("s1#1", REPORT.asked)
    assert proposal.confidence == LIKELY


def test_a_report_without_edits_or_that_came_back_is_not_mended() -> None:
    assert texts(REPORT, MENDED._replace(files=())) == []
    assert texts(REPORT, MENDED._replace(verdict="corrected"), Turn(asked="still fails")) == []
    assert texts(REPORT, MENDED._replace(verdict="went on"), Turn(asked="login.ts: the same error in Safari")) == []
    another = Turn(
        asked="Another bug: the invoices of March are sent to the wrong customers by billing/run.py each night"
    )
    assert len(texts(REPORT, MENDED._replace(verdict="went on"), another)) == 1


def test_a_change_that_was_asked_for_is_no_fix() -> None:
    wished = MENDED._replace(asked="make the cookie of login.ts last two weeks, please, and say so in the docs")
    assert texts(wished) == []


def test_a_long_report_is_left_out_and_a_long_change_is_cut_at_a_sentence() -> None:
    long = MENDED._replace(told=told(f"{MENDED.told[0].text}. {'It was a long way to login.ts. ' * 9}"))
    (text,) = texts(REPORT, long)
    assert text.startswith(MENDED.told[0].text)
    assert len(text) <= LONGEST


def test_in_chinese() -> None:
    report = Turn(asked="根据你刚刚的代码，进入管理界面就崩溃了")
    mended = Turn(
        asked="好的",
        files=("/src/app/List.kt",),
        told=told("将 setHasStableIds(true) 提前到 setAdapter 之前调用，两个列表都改为这样处理。"),
    )
    assert texts(report, mended) == [mended.told[0].text]


def test_a_cause_is_told_once_and_not_when_it_was_refuted() -> None:
    why = "The root cause is the pool in db.py: each worker opened five connections of its own"
    turn = Turn(asked="why is PostgreSQL full?", told=told(why))
    assert texts(turn) == [why]
    assert texts(turn, Turn(asked="so?", told=told(why))) == [why]
    assert found(turn)[0].confidence == POSSIBLE
    assert texts(turn._replace(verdict="refuted")) == []
    because = Turn(
        asked="look at it", told=told("db.py opens five connections because max_size is not handed on to it")
    )
    assert texts(because) == []
    assert len(texts(because._replace(files=("/src/db.py",)))) == 1


def test_the_subject_of_a_commit_stands_where_nothing_else_tells() -> None:
    committed = Turn(
        asked="commit", told=told("commit: fix: leave a blank line above the trailer of a one-line commit")
    )
    assert texts(committed) == ["fix: leave a blank line above the trailer of a one-line commit"]
    assert texts(committed._replace(told=told("commit: add a switch for the dark theme in settings.ts"))) == []
    assert len(texts(REPORT, MENDED, committed)) == 1
