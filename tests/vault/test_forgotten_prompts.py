"""Of what the user asked, the sentences that say the forgotten go, and the others stay."""

from __future__ import annotations

import pytest

from memtool.vault.forgotten import forget_item
from memtool.vault.memory import ASKED
from memtool.vault.sessions import Draft, Line, SessionNote, lines_of, render_session


@pytest.mark.parametrize(
    ("rule", "other"),
    [
        ("Never touch the ledger of Kowalski by hand.", "Add the total to the invoice."),
        ("以后一律不要手工修改 Kowalski 的账本 ledger.py。", "请给发票加上总额。"),
    ],
)
def test_a_prompt_keeps_its_other_sentences(rule: str, other: str) -> None:
    prompt = f"{other} {rule}"
    lines = (Line(rule, "rule", "user"), Line("The total is in order.py.", asked=prompt), Line("9 tests.", asked=rule))
    text = render_session(SessionNote(id="s1", draft=Draft("发票 total", prompt, lines=lines)))
    left = forget_item(text, lambda said: said == rule)
    assert "Kowalski" not in left
    found = [(line.text, line.asked) for line in lines_of(left)]
    assert found == [
        ("发票 total", ""),
        (other, ""),
        (other, ""),
        ("The total is in order.py.", other),
        ("9 tests.", ""),
    ]
    assert [line.role for line in lines_of(left)][1:3] == [ASKED, ASKED]
