from __future__ import annotations

import datetime as dt
from types import SimpleNamespace
from typing import Any

import pytest

from memtool.errors import UsageError
from memtool.memory.new_memory import prepared
from memtool.vault.memory import NewMemory

TODAY = dt.datetime(2026, 2, 10, tzinfo=dt.UTC)


def prepare(**given: Any) -> NewMemory:
    work: Any = SimpleNamespace(redact=lambda text: text.replace("secret", "***"), now=lambda: TODAY, max_bytes=9000)
    return prepared(work, NewMemory(**{"text": "a word", **given}))


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-12-31", "2026-12-31"),
        ("2026-12", "2026-12-31"),
        ("2027", "2027-12-31"),
        ("today", "2026-02-10"),
        ("2w", "2026-02-24"),
        ("10 d", "2026-02-20"),
    ],
)
def test_what_expires_looks_ahead(text: str, day: str) -> None:
    assert prepare(expires=text).expires == day


@pytest.mark.parametrize("text", ["2026-02-09", "yesterday", "2026-02-30", "soon", "", " "])
def test_a_day_that_is_over_or_none_is_refused(text: str) -> None:
    if text:
        with pytest.raises(UsageError):
            prepare(expires=text)
    else:
        assert prepare(expires=text).expires == ""


def test_tags_are_words() -> None:
    assert prepare(tags=("#auth", "支付 回调", "a,b", "auth")).tags == ("auth", "支付-回调", "a-b")
    for tag in ("", "#", "!", "\u200b"):
        with pytest.raises(UsageError, match="is no tag"):
            prepare(tags=(tag,))


def test_everything_is_redacted_and_evidence_is_a_line() -> None:
    memory = prepare(text="the secret", evidence="a\nsecret", tags=("secret1",), source="secret")
    assert (memory.text, memory.evidence, memory.source) == ("the ***", "a ***", "***")
    assert memory.tags == ("***1",)


@pytest.mark.parametrize("field", ["evidence", "source"])
@pytest.mark.parametrize("text", ["a\0b", "a\udcffb"])
def test_no_field_holds_what_no_file_can(field: str, text: str) -> None:
    with pytest.raises(UsageError):
        prepare(**{field: text})
