from __future__ import annotations

import pytest

from memtool.recall.answers.sessions import PromptKind, PromptSubject, files_beside, goes_on, kind_of, told_by
from memtool.recall.answers.statements import terms_of
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


def wanted(text: str, kind: PromptKind = PromptKind.ORDER) -> PromptSubject:
    terms = terms_of(text)
    return PromptSubject(text, dict.fromkeys(terms, 3.0), dict.fromkeys(terms, 1.0), 4.0, kind)


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


def test_the_session_that_holds_most_comes_first_with_its_statements_and_its_lead() -> None:
    notes = [("sessions/s2.md", OTHER, 0.2), ("sessions/s1.md", SAFARI, 0.2)]
    first, second = told_by(notes, wanted("SameSite cookie needs Secure"))
    assert first.ref == "sessions/s1.md"
    assert COOKIE in [line.text for line in first.statements]
    assert first.signs.lead == -second.signs.lead > 0
    assert first.likelihood > second.likelihood


@pytest.mark.parametrize(
    ("prompt", "names"),
    [("look at jwt.ts", 1.0), ("the cookie is gone", 1.0), ("the issue is gone", 0.0), ("价格不对", 0.0)],
)
def test_a_prompt_names_a_file_by_name_or_stem_but_no_scratch_file(prompt: str, names: float) -> None:
    (told,) = told_by([("sessions/s1.md", SAFARI, 0.2)], wanted(prompt))
    assert told.signs.file == names


def test_two_files_are_given_that_no_statement_names_tests_last() -> None:
    note = parse_session(SAFARI)
    assert files_beside(note, ()) == ("auth/cookie.ts", "middleware/jwt.ts")
    assert files_beside(note, [Line("fixed in cookie.ts")]) == ("middleware/jwt.ts", "auth/cookie.test.ts")
