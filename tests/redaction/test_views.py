from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st
from redaction.noise import noise

from memtool.redaction import Redactor
from memtool.redaction.views import Finding, View, long_words, spelled_out, unwrapped, without_markers

SPELLINGS = st.lists(
    st.sampled_from(
        [
            "a",
            "b3",
            " ",
            "\n",
            "\\n",
            '\\"',
            "\\u003d",
            "%3D",
            "&quot;",
            "\u200b",
            "Ａ",
            "\x1b[0m",
            "\\\n",
            "密",
            "x" * 70,
        ]
    )
)


@pytest.mark.slow
@given(SPELLINGS)
def test_every_place_in_a_view_has_its_place_in_the_text(pieces: list[str]) -> None:
    text = "".join(pieces)
    for make in (spelled_out, unwrapped, long_words, without_markers):
        view = make(View(text))
        if view is not None:
            ends = [view.original(Finding(0, end, "x")).end for end in range(len(view.text) + 1)] if view.text else []
            assert ends == sorted(ends)
            assert all(0 <= end <= len(text) for end in ends)
            assert not view.text or make is long_words or ends[-1] == len(text)


def test_json_within_json_keeps_its_structure(redact: Redactor) -> None:
    text = json.dumps({"body": json.dumps({"log": 'said "hi"', "password": 'a"b\\c9', "next": [1, 2]})})
    inner = json.loads(json.loads(redact(text))["body"])
    assert inner == {"log": 'said "hi"', "password": "[redacted: password]", "next": [1, 2]}


def test_unseen_characters_do_not_hide_a_token(redact: Redactor) -> None:
    token = "sk-" + "ant-api03-" + noise(95)
    for unseen in ("\u200b", "\u00ad", "\ufeff", "\u2060", "\x1b[31m"):
        spoiled = unseen.join(token[start : start + 9] for start in range(0, len(token), 9))
        assert redact(f"a {spoiled} b") == "a [redacted: anthropic-key] b"
