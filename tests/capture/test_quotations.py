"""What a prompt repeats of the answer before it is shown as quoted, so that nobody takes it for the user's word."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.capture.conversation import Step
from memtool.capture.quotations import with_quotations
from memtool.capture.turns import turns_of
from memtool.text.lines import one_line

ANSWER = (
    "## How it works\n\nThe **nightly job** rewrites `orders.csv` in place, so a reader may see half of it. "
    "I changed the writer to a temporary file.\n\n- 完成后把条目从 `pending` 移到 `done`，列表随之刷新。"
)


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        (
            "The nightly job rewrites orders.csv in place, so a reader may see half of it. that is not true, it locks",
            "«The nightly job rewrites orders.csv in…» that is not true, it locks",
        ),
        (
            "is this right: I changed the writer to a temporary file. and who deletes it?",
            "is this right: «I changed the writer to a temporary file.» and who deletes it?",
        ),
        (
            "完成后把条目从 pending 移到 done，列表随之刷新。 这一条不对，要从数据库重新查询",
            "«完成后把条目从 pending 移到 done…» 这一条不对，要从数据库重新查询",
        ),
        (
            "- The nightly job rewrites orders.csv in place\nthat must not change, 只改写法",
            "«The nightly job rewrites orders.csv in place» that must not change, 只改写法",
        ),
        ("the nightly job is wrong about orders.csv", "the nightly job is wrong about orders.csv"),
        ("重写成临时文件，然后提交", "重写成临时文件，然后提交"),
        ("I changed the writer to a temporary file.", "I changed the writer to a temporary file."),
    ],
)
def test_what_the_answer_said_is_no_word_of_the_user(asked: str, shown: str) -> None:
    assert with_quotations(asked, ANSWER) == shown


def test_only_the_answer_before_a_prompt_is_quoted() -> None:
    refuted = "The nightly job rewrites orders.csv in place, so a reader may see half of it. 不对"
    steps = [Step("prompt", "why?"), Step("answer", ANSWER), Step("prompt", refuted)]
    assert [turn.asked for turn in turns_of(steps)] == ["why?", "«The nightly job rewrites orders.csv in…» 不对"]
    before = turns_of(steps[:2])
    assert turns_of(steps[2:], before)[1].asked == turns_of(steps)[1].asked


@given(st.text(max_size=200).map(one_line), st.text(max_size=200))
def test_what_was_typed_stays(asked: str, said: str) -> None:
    assert with_quotations(asked, "") == asked
    shown = with_quotations(asked, said)
    assert shown == asked or "«" in shown
