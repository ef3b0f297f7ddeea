"""Postings: what is kept of them between searches, and words that stand side by side."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from index.notebook import LONG_AGO_NS, Notebook
from postgres_server import new_database

from memtool.team.engine import PostgresEngine
from memtool.team.postgres import connection, postings
from memtool.team.postgres.connection import Database, connect, known_migrations, migrate
from memtool.team.postgres.postings import NewPostings, Postings, StateCache


def test_what_was_used_long_ago_goes_first() -> None:
    kept = StateCache(most=30)
    for name in ("a", "b", "c"):
        kept.put(name, name.upper(), 10)
    assert kept.get("a") == "A"
    kept.put("d", "D", 10)
    assert [kept.get(name) for name in "abcd"] == ["A", None, "C", "D"]
    kept.put("a", "A", 10)  # it is there
    assert kept.get("c") == "C"
    kept.put("large", "L", 31)
    assert [kept.get(name) for name in ("a", "c", "large")] == [None, None, None]


def test_phrases_are_words_side_by_side_in_any_script() -> None:
    texts = ["log in | log in 解密 密失", "in log 密失 解密", "log x in", "解密 密失 log in"]
    new = NewPostings()
    for number, text in enumerate(texts, 1):
        new.add(number, text)
    found = Postings(len(texts), new.terms, len(texts), b"")
    rows = list(zip(*new.columns(), strict=True))
    found.take_places(found.unknown_in_phrases(["log in", "解密 密失"]), [r for r in rows if r[0] not in ("x", "|")])
    assert found.of("log in").chunks.tolist() == [1, 4]
    assert found.of("解密 密失").chunks.tolist() == [1, 4]
    found.take(["log"], [row[:4] for row in rows if row[0] == "log"])
    assert found.holding([["log", "log in"]]).tolist() == [1, 4]
    assert np.all(found.of("log in").weights > 0)


@pytest.mark.slow
def test_a_second_search_reads_no_postings_again_until_something_is_written(
    shared_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings.term_cache, "_most", 1 << 20)
    root = tmp_path / "notes"
    notes = Notebook(root, engine=PostgresEngine(Database(shared_database, str(root))))
    for number in range(6):
        notes.write(f"n{number}.md", f"# Note {number}\n\nword{number} 解密 common\n", mtime_ns=LONG_AGO_NS)
    notes.opened()
    taken: list[str] = []
    take = Postings.take

    def watch(self: Postings, words: list[str], rows: object) -> None:
        taken.extend(words)
        take(self, words, rows)  # type: ignore[arg-type]

    monkeypatch.setattr(Postings, "take", watch)
    first = notes.find("common word3")
    assert "common" in taken
    taken.clear()
    assert notes.find("common word3") == first
    assert taken == []
    notes.write("new.md", "# New\n\nword3 word3 解密\n")
    assert "new.md" in notes.find("common word3", limit=20)
    assert "common" in taken


@pytest.mark.slow
def test_an_older_database_gets_its_lists_of_words(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with new_database(postgres) as dsn:
        with monkeypatch.context() as older:
            older.setattr(connection, "known_migrations", lambda: known_migrations()[:1])
            migrate(dsn)
        with contextlib.closing(connect(dsn)) as db:
            db.execute(
                "INSERT INTO memtool.word SELECT v, 'w' || n FROM generate_series(1, 2) v, generate_series(1, 1200) n"
            )
            migrate(dsn)
            lists = db.execute("SELECT vault, words FROM memtool.word_list").fetchall()
    for vault in (1, 2):
        words = [word for number, some in lists if number == vault for word in some.split("\n")]
        assert sorted(words) == sorted(f"w{number}" for number in range(1, 1201))
