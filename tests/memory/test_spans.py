from __future__ import annotations

from memtool.memory.fact_book import Span, hashes_of, missing_spans
from memtool.vault.sessions import lines_of

NOTE = """# the login fails in Safari → fixed in jwt.ts

---

1. **Key points**:
   - "the login fails in Safari" → SameSite=None needs Secure · "保留旧的 cookie" · 两个 cookie 都设置了
2. **Rules**: always table-driven tests (user)
"""


def test_statements_of_a_note_are_found_again() -> None:
    notes = {"3f2a9c": hashes_of(lines_of(NOTE))}
    texts = ("always table-driven  tests", "SameSite=None needs Secure", "保留旧的 cookie")
    there = [Span("3f2a9c#1", text) for text in texts]
    assert missing_spans([span.as_field() for span in there], notes) == []


def test_a_reworded_statement_and_a_lost_session_are_missing() -> None:
    notes = {"3f2a9c": hashes_of(lines_of(NOTE))}
    spans = [Span("3f2a9c", "sometimes table-driven tests").as_field(), Span("other#2", "保留旧的 cookie").as_field()]
    assert missing_spans(spans, notes) == ["3f2a9c", "other#2"]
