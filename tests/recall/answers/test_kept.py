"""What the kept source of a session adds to its note: what was typed, whole, and the words that the note lacks."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta

import pytest
from desk import Desk

from memtool.capture.source import Source, write_source
from memtool.capture.turns import Turn
from memtool.index import schema
from memtool.recall.answers.sessions import kept_statements
from memtool.recall.answers.statements import Budget, choose, terms_of
from memtool.vault.forgotten import mark_of
from memtool.vault.memory import ASKED, USER
from memtool.vault.sessions import Line, SessionNote

TURNS = (
    Turn(
        typed="branching from main won't work, this PR should branch off phase 12, since main has no mail. Push it.",
        messages=("Pushed. The relay needs `MAIL_RELAY=1`, as its port is closed.",),
    ),
    Turn(typed="先分析清楚，不要急着改代码，等我确认以后再动手。好吗？", messages=("根因是旧快照覆盖了暂停的原因。",)),
)
NOTE = SessionNote("s7", "shop")
ROOM = Budget(400, notes=1, statements=4)

Chosen = Callable[..., list[str]]


@pytest.fixture
def chosen(desk: Desk) -> Iterator[Chosen]:
    """The statements that answer a question about a session whose turns are kept."""
    began = desk.now - timedelta(days=3)
    write_source(desk.vault, Source("s7", "claude-code", started_at=began, ended_at=began, turns=TURNS), desk.now)
    db = sqlite3.connect(":memory:", factory=schema.SqliteTables)
    schema.create(db)

    def given(question: str, *lines: Line, note: SessionNote = NOTE, text: str = "# Mail\n") -> list[str]:
        weights = dict.fromkeys(terms_of(question), 2.0)
        kept = kept_statements(weights, note, text, desk.vault, db)
        return [line.text for line in choose(weights, lines, ROOM, kept=kept)]

    yield given
    db.close()


@pytest.mark.parametrize(
    ("question", "shown", "whole"),
    [
        (
            "which branch for phase 12",
            "branching from main won't work, this PR should…",
            "branching from main won't work, this PR should branch off phase 12, since main has no mail.",
        ),
        ("要先分析吗", "先分析清楚，不要急着改代码…", "先分析清楚，不要急着改代码，等我确认以后再动手。"),
    ],
)
def test_what_a_note_begins_to_quote_is_whole(chosen: Chosen, question: str, shown: str, whole: str) -> None:
    assert chosen(question, Line(shown, ASKED, USER, number=3)) == [whole]


@pytest.mark.parametrize(
    ("question", "said", "added"),
    [
        (
            "why does the relay need MAIL_RELAY",
            "The relay runs.",
            "The relay needs MAIL_RELAY=1, as its port is closed.",
        ),
        ("暂停的原因为什么被覆盖", "任务的暂停正常。", "根因是旧快照覆盖了暂停的原因。"),
    ],
)
def test_the_source_says_words_that_the_note_lacks(chosen: Chosen, question: str, said: str, added: str) -> None:
    assert chosen(question, Line(said, number=3)) == [said, added]
    assert chosen(question, Line(f"{question} {said}", number=3)) == [f"{question} {said}"]


def test_without_a_source_there_is_the_note(chosen: Chosen) -> None:
    assert chosen("the relay", Line("The relay runs."), note=SessionNote("s8", "shop")) == ["The relay runs."]


def test_what_was_forgotten_does_not_come_back(chosen: Chosen) -> None:
    gone = mark_of("The relay needs MAIL_RELAY=1, as its port is closed.")
    forgotten = f"---\nforgotten: [{gone}]\n---\n# Mail\n"
    assert chosen("why the port", Line("The relay runs."), text=forgotten) == ["The relay runs."]


def test_a_text_that_says_what_was_forgotten_is_left_out_whole(desk: Desk) -> None:
    turn = Turn(typed="Where is the relay?", messages=("The relay is at gate 7. Its key is under the E4711 stone.",))
    began = desk.now - timedelta(days=3)
    gone = mark_of("The relay is at gate 7.")
    note = {"draft": {"lines": [{"text": "The relay is at gate 7."}]}}
    source = Source("s7", "claude-code", started_at=began, ended_at=began, turns=(turn,), note=note)
    write_source(desk.vault, source, desk.now)
    with closing(sqlite3.connect(":memory:", factory=schema.SqliteTables)) as db:
        schema.create(db)
        text = f"---\nforgotten: [{gone}]\n---\n# Mail\n"
        assert kept_statements({"e4711": 2.0}, NOTE, text, desk.vault, db) == []
        assert kept_statements({"e4711": 2.0}, NOTE, "# Mail\n", desk.vault, db) != []
