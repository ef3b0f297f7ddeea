from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from memtool.recall.prompts.meaning import Near, Nearness, nearness_in, texts_of

LOG = "\n".join(
    f"2026-02-10T14:30:{second:02}.113 [worker-3] ERROR {{code: 0x{second:04x}}} at 10.0.0.{second}"
    for second in range(40)
)
CODE = "\n".join(f"    result[{n}] = self._rows.get(key_{n}, {{}})  # {n}" for n in range(40))
ASKED = "How long may a customer take to give the shirt back?"


@pytest.mark.parametrize("prompt", [ASKED, "订单多久可以退货？", "fix it", "a\nb\n\nc"])
def test_a_short_prompt_is_compared_as_it_is(prompt: str) -> None:
    assert texts_of(prompt) == (prompt,)


@pytest.mark.parametrize(
    "prompt",
    [
        f"{ASKED}\n\n{LOG}", f"{LOG}\n\n{ASKED}", f"{CODE}\n{ASKED}", f"{ASKED}\n```\n{CODE}\n```\n",
        f"<pasted_content id='1'>{LOG}</pasted_content>\n{ASKED}", f"/shop:ask {ASKED}\n{LOG}",
    ],
)  # fmt: skip
def test_logs_code_and_pastes_are_not_compared(prompt: str) -> None:
    assert set(texts_of(prompt)) == {ASKED}


def test_of_a_long_prompt_the_first_and_the_last_paragraph_are_compared() -> None:
    middle = "\n\n".join(["There is much to be said about the weather of this week in the harbour."] * 30)
    assert texts_of(f"先说第一件事：订单多久可以退货？\n\n{middle}\n\n{ASKED}") == (
        "先说第一件事：订单多久可以退货？",
        ASKED,
    )


@given(st.text(max_size=3_000))
def test_what_is_compared_is_short_whatever_the_prompt(prompt: str) -> None:
    texts = texts_of(prompt)
    assert len(texts) <= 2
    assert all(text.strip() and len(text) <= 700 for text in texts)


def test_an_answer_is_read() -> None:
    assert nearness_in([[[7, 0.5]], [[3, -0.25]]]) == Nearness((Near(7, 0.5),), (Near(3, -0.25),))
    assert nearness_in(None) is None


@pytest.mark.parametrize(
    "said",
    [
        7, "near", [], [[]], [[], [], []], [[[1]], []], [[[1, "x"]], []], [[[1.5, 0.5]], []], [[None], []],
        [[[1, float("nan")]], []], [[[1, 7.0]], []], [[[True, 0.5]], []], {"near": []},
    ],
)  # fmt: skip
def test_an_answer_that_is_nonsense_is_refused(said: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        nearness_in(said)
