"""What the user typed is given to the end of its sentence, though a note shows only how it begins."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from desk import Desk

from memtool.capture.source import Source, write_source
from memtool.capture.turns import Turn
from memtool.index import schema
from memtool.recall.answers.sessions import with_whole_words
from memtool.vault.authors import ASKED, OPEN, USER
from memtool.vault.forgotten import mark_of
from memtool.vault.sessions import Line, SessionNote

TYPED = (
    "branching from main won't work -\nthis PR should branch off phase 12, since main has no mail. Then push it.",
    "先分析清楚，不要急着改代码，等我确认以后再动手。好吗？",
    "keep the old parser, it reads v1.2 files\nand then the rest",
)
NOTE = SessionNote("s7", "shop")

Whole = Callable[..., list[str]]


def cut(text: str) -> Line:
    return Line(text, ASKED, USER)


@pytest.fixture
def whole(desk: Desk) -> Iterator[Whole]:
    """The texts of lines of a session whose turns are kept, as they are given."""
    turns = tuple(Turn(typed=typed) for typed in TYPED)
    began = desk.now - timedelta(days=3)
    write_source(desk.vault, Source("s7", "claude-code", started_at=began, ended_at=began, turns=turns), desk.now)
    db = sqlite3.connect(":memory:", factory=schema.SqliteTables)
    schema.create(db)

    def given(*lines: Line, note: SessionNote = NOTE, text: str = "# Mail\n") -> list[str]:
        return [line.text for line in with_whole_words(lines, note, text, desk.vault, db)]

    yield given
    db.close()


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        (
            "branching from main won't work - this PR should branch off phase 12…",
            "branching from main won't work - this PR should branch off phase 12, since main has no mail.",
        ),
        ("先分析清楚，不要急着改代码…", "先分析清楚，不要急着改代码，等我确认以后再动手。"),
        ("keep the old parser…", "keep the old parser, it reads v1.2 files"),
    ],
)
def test_a_sentence_is_whole_as_it_was_typed(whole: Whole, said: str, typed: str) -> None:
    assert whole(cut(said)) == [typed]


def test_what_was_not_typed_or_not_cut_stays_as_it_is(whole: Whole) -> None:
    lines = cut("never typed (…"), cut("keep the old parser"), Line("keep the old parser…", OPEN, USER)
    assert whole(*lines) == [line.text for line in lines]


def test_without_a_source_a_line_stays_cut(whole: Whole) -> None:
    assert whole(cut("keep the old parser…"), note=SessionNote("s8", "shop")) == ["keep the old parser…"]


def test_what_was_forgotten_does_not_come_back(whole: Whole) -> None:
    forgotten = "\n".join(
        ["---", f"forgotten: [{mark_of('keep the old parser, it reads v1.2 files')}]", "---", "# Mail", ""]
    )
    assert whole(cut("keep the old parser…"), text=forgotten) == ["keep the old parser…"]
