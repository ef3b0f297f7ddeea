from __future__ import annotations

from dialogues import told, view_of
from hypothesis import given, strategies as st

from memtool.capture.turns import Turn
from memtool.consolidate.session_views import SessionView
from memtool.consolidate.spans import Grounds, Span, hash_of_words, hashes_in, missing_spans
from memtool.vault.session_lines import lines_of

NOTE = """# the login fails in Safari → fixed in jwt.ts

---

1. **Key points**:
   - "the login fails in Safari" → SameSite=None needs Secure · "保留旧的 cookie" · 两个 cookie 都设置了
2. **Rules**: always table-driven tests (user)
"""


def test_statements_of_a_note_are_found_again() -> None:
    notes = {"3f2a9c": hashes_in(NOTE)}
    texts = ("always table-driven  tests", "SameSite=None needs Secure", "保留旧的 cookie")
    there = [Span("3f2a9c#1", text) for text in texts]
    assert missing_spans([span.as_field() for span in there], notes) == []


def test_a_reworded_statement_and_a_lost_session_are_missing() -> None:
    notes = {"3f2a9c": hashes_in(NOTE)}
    spans = [Span("3f2a9c", "sometimes table-driven tests").as_field(), Span("other#2", "保留旧的 cookie").as_field()]
    assert missing_spans(spans, notes) == ["3f2a9c", "other#2"]


@given(st.text())
def test_marks_and_white_space_do_not_count(text: str) -> None:
    assert hash_of_words(f' "{text}"\n') == hash_of_words(text)


TURNS_NOTE = """# 登录 fails in Safari → last: the cookie needs SameSite=None together with Secure

1. **Key points**:
   - "why twice?" → each worker opens five connections of its own …
"""


def grounds(*turns: Turn) -> tuple[Grounds, SessionView]:
    view = view_of([])._replace(text=TURNS_NOTE, lines=tuple(lines_of(TURNS_NOTE)))
    return Grounds(view, turns), view


def test_a_turn_stands_where_it_was_asked_else_where_it_ended() -> None:
    ended = "the cookie needs SameSite=None together with Secure"
    turns = (
        Turn(asked="登录 fails in Safari"),
        Turn(asked="look into db.py", told=told("each worker opens five connections of its own by it")),
        Turn(asked="go on", ended=ended, told=told(ended)),
        Turn(asked="thanks", ended="done", told=told("done")),
    )  # fmt: skip
    found, view = grounds(*turns)
    spans = [found.of(at) for at in range(4)]
    assert [span.text if span else None for span in spans] == [
        "登录 fails in Safari", "each worker opens five connections of its own …", f"last: {ended}", None,
    ]  # fmt: skip
    fields = [span.as_field() for span in spans if span]
    assert missing_spans(fields, {"s1": hashes_in(view.text)}) == []
    assert missing_spans(fields, {"s1": hashes_in("# something else\n")}) == ["s1#1", "s1#2", "s1#3"]
