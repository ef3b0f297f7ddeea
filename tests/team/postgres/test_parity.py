"""PostgreSQL gives the answers of SQLite: the same hits by words, in the same order and with the same scores."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from memtool.embeddings.known_scripts import ALL_SCRIPTS
from memtool.index.engine import Index, Place, use_index
from memtool.index.filters import Filter
from memtool.index.search import search
from memtool.index.semantic import Vectors, embed, open_vectors
from memtool.team.engine import PostgresEngine
from memtool.team.postgres.connection import Database
from memtool.vault.layout import open_vault

TODAY = dt.date(2026, 11, 22)
WORDS = (
    "login token deploy deployment database retry max_connections getUserById E0308 v2.1.210 #4573 log in rollback "
    "解密失败 数据库 部署 登录 令牌 配置 重试 日本語 検索 Datenbank größe миграция поиск 로그인 배포"
).split(" ")
PROJECTS = ("", "shop", "billing", "支付")


@pytest.fixture
def places(tmp_path: Path, shared_database: str) -> tuple[Place, Place]:
    """A vault, and the places of its index on both engines."""
    root = tmp_path.resolve() / "vault"
    root.mkdir()
    (root / "memtool.toml").touch()
    place = Place(open_vault(root), tmp_path / "state")
    return place, place._replace(engine=PostgresEngine(Database(shared_database, str(root))))


def write(root: Path, chance: Random, number: int) -> None:
    """Write a note of a few words in many languages, some of them in each other's company."""
    project = chance.choice(PROJECTS)
    paragraphs = [" ".join(chance.choices(WORDS, k=chance.randint(3, 60))) for _ in range(chance.randint(1, 6))]
    front = f"---\ntype: knowledge\nproject: {project}\ndate: 2026-{chance.randint(1, 9):02}-1{number % 9}\n---\n"
    text = "\n\n".join(f"## {chance.choice(WORDS)}\n\n- {each}" for each in paragraphs)
    (root / f"n{number}.md").write_text(f"{front}\n# {chance.choice(WORDS)} {number}\n\n{text}\n", encoding="utf-8")


def asked(chance: Random, count: int) -> list[tuple[str, dict[str, Any]]]:
    """Return questions: words, words cut short or mistyped, pairs of words, dates; some in one project only."""
    questions = []
    for _ in range(count):
        words = chance.choices(WORDS, k=chance.randint(1, 6))
        if chance.random() < 0.3:
            words.append(chance.choice(WORDS)[: chance.randint(2, 6)])
        if chance.random() < 0.1:
            words.append(f"2026-0{chance.randint(1, 9)}")
        wanted = {"projects": (chance.choice(PROJECTS[1:]),)} if chance.random() < 0.3 else {}
        questions.append((" ".join(words), wanted))
    return questions


def answers(place: Place, questions: Sequence[tuple[str, dict[str, Any]]]) -> list[list[Any]]:
    def answer(index: Index) -> list[list[Any]]:
        found = (search(index, text, Filter(TODAY, **wanted), limit=10) for text, wanted in questions)
        return [
            [(hit.memory.path, hit.memory.place.start_line, hit.score, hit.why["bm25"]) for hit in each.hits]
            for each in found
        ]

    return use_index(place, answer)


@pytest.mark.slow
def test_both_engines_give_the_same_answers_whatever_was_changed(places: tuple[Place, Place]) -> None:
    chance, root = Random(58), places[0].vault.root
    for number in range(300):
        write(root, chance, number)
    for _ in range(4):
        questions = asked(chance, 60)
        ours, theirs = (answers(place, questions) for place in places)
        assert [question for question, one, other in zip(questions, ours, theirs, strict=True) if one != other] == []
        assert sum(map(bool, ours)) > 50
        for number in chance.sample(range(300), 40):
            write(root, chance, number)
        for number in chance.sample(range(300), 10):
            (root / f"n{number}.md").unlink(missing_ok=True)


@pytest.mark.slow
def test_scores_stay_the_same_when_segments_are_merged_and_gone_chunks_dropped(
    places: tuple[Place, Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtool.team.limits.SEGMENTS_MERGED", 3)
    monkeypatch.setattr("memtool.team.limits.LEAST_DEAD", 20)
    chance, root = Random(59), places[0].vault.root
    for turn in range(14):
        for number in chance.sample(range(40), 12):
            write(root, chance, number)
        questions = asked(chance, 15)
        ours, theirs = (answers(place, questions) for place in places)
        assert ours == theirs, turn


class Alike:
    """An embedder whose vectors are sums of directions for the words of a text: what shares words is near."""

    name, dimension, scripts = "alike", 32, ALL_SCRIPTS

    def embed_notes(self, texts: Sequence[str]) -> Any:
        return np.array([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Any:
        words = [np.random.default_rng(sum(map(ord, word))).normal(size=self.dimension) for word in text.split()]
        total = np.sum(words or [np.ones(self.dimension)], axis=0)
        return (total / np.linalg.norm(total)).astype(np.float32)


def hybrid(place: Place, embedder: Any, questions: Sequence[tuple[str, dict[str, Any]]], limit: int) -> list[Any]:
    def answer(index: Index) -> list[Any]:
        with open_vectors(index, embedder) as store:
            embed(index, embedder, store)
            vectors = Vectors(embedder, store)
            return [
                search(index, text, Filter(TODAY, **wanted), limit=limit, mode="hybrid", vectors=vectors).hits
                for text, wanted in questions
            ]

    return use_index(place, answer)


@pytest.mark.slow
def test_both_engines_agree_on_meaning(places: tuple[Place, Place]) -> None:
    chance = Random(60)
    for number in range(120):
        write(places[0].vault.root, chance, number)
    questions = asked(chance, 100)
    found = [hybrid(place, Alike(), questions, 10) for place in places]
    assert all("vector" in hits[0].why for hits in found[1])
    ours, theirs = (
        [[(hit.memory.path, hit.memory.place.start_line) for hit in hits] for hits in each] for each in found
    )
    assert sum(one == other for one, other in zip(ours, theirs, strict=True)) >= 99
