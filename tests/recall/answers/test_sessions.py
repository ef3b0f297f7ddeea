from __future__ import annotations

import pytest

from memtool.recall.answers.clues import Clues
from memtool.recall.answers.question import question_of
from memtool.recall.answers.sessions import (
    PromptKind,
    SessionAnswer,
    answers_of_sessions,
    files_beside,
    goes_on,
    kind_of,
    subject_of,
)
from memtool.vault.sessions import Draft, Line, SessionNote, parse_session, render_session

COOKIE = "The cookie was missing because SameSite=None needs Secure."
DRAFT = Draft(
    "Safari login works",
    lines=(
        Line(COOKIE, asked="why does login fail in Safari?"),
        Line("支付回调改用 HMAC 签名", "decision", "user"),
        Line("All tests pass."),
    ),
    files=("test_issue.py", "auth/cookie.ts", "auth/cookie.test.ts", "middleware/jwt.ts"),
)
SAFARI = render_session(SessionNote("s1", "shop", "2026-02-10", draft=DRAFT))
OTHER = render_session(
    SessionNote("s2", "shop", "2026-02-11", draft=Draft("Prices", lines=(Line("Prices are cents."),)))
)


def answers(prompt: str, **texts: str) -> list[SessionAnswer]:
    """Return what sessions say to *prompt*, all of whose words are as rare."""
    question = question_of(prompt)
    clues = Clues(question, dict.fromkeys(question.terms(), 3.0), [0.0] * len(question.synonyms))
    return answers_of_sessions(texts, subject_of(question, clues))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("which cookie is it", PromptKind.QUESTION),
        ("and the cookie?", PromptKind.QUESTION),
        ("断网以后为什么不恢复", PromptKind.QUESTION),
        ("put the cookie back", PromptKind.ORDER),
        ("把回调改成 HMAC", PromptKind.ORDER),
        ("Login fails\n\nSteps:\n1. open Safari\n2. log in\nWhy?", PromptKind.PASTED),
    ],
)
def test_a_prompt_is_a_question_something_pasted_or_an_order(text: str, kind: PromptKind) -> None:
    assert kind_of(text) is kind


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("but this means both hooks run?", True),
        ("ok and do I need the secret", True),
        ("那断网以后呢", True),
        ("刚才的代码进入管理界面就崩溃了", True),
        ("why do both hooks run?", False),
        ("socket errors in the worker", False),
        ("断网以后为什么不恢复", False),
    ],
)
def test_a_prompt_goes_on_with_the_conversation_by_its_first_word(text: str, *, does: bool) -> None:
    assert goes_on(text) is does


@pytest.mark.parametrize("prompt", ["SameSite cookie needs Secure", "which cookie needs Secure in Safari?"])
def test_the_session_that_holds_most_comes_first_with_its_statements(prompt: str) -> None:
    first, second = answers(prompt, other=OTHER, safari=SAFARI)
    assert first.ref == "safari"
    assert COOKIE in [line.text for line in first.statements]
    assert first.signs.ahead == -second.signs.ahead > 0
    assert first.likelihood > second.likelihood


def test_of_an_issue_only_the_title_and_the_beginning_count() -> None:
    log = "".join(f"a line about number {number}\n" for number in range(40))
    (answer,) = answers(f"Prices are wrong\n\n\n{log}cookie Secure", safari=SAFARI)
    assert answer.signs.strength == 0
    assert answer.signs.pasted


@pytest.mark.parametrize(
    ("prompt", "names"),
    [("look at jwt.ts", 1.0), ("the cookie is gone", 1.0), ("the issue is gone", 0.0), ("价格不对", 0.0)],
)
def test_a_prompt_names_a_file_by_name_or_stem_but_no_scratch_file(prompt: str, names: float) -> None:
    (answer,) = answers(prompt, safari=SAFARI)
    assert answer.signs.file == names


def test_two_files_are_given_that_no_statement_names_tests_last() -> None:
    note = parse_session(SAFARI)
    assert files_beside(note, ()) == ("auth/cookie.ts", "middleware/jwt.ts")
    assert files_beside(note, [Line("fixed in cookie.ts")]) == ("middleware/jwt.ts", "auth/cookie.test.ts")
