"""How well the search finds, on the sets that the project is measured with. They lie outside the repository.

A run tries the small ones of three languages; `QUALITY_SETS=all` tries all of them: minutes of the processor.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from memtool.embeddings import Embedder, open_embedder
from memtool.index.engine import Index, Place, use_index
from memtool.index.evaluation import DEPTH, evaluate, parse_questions
from memtool.index.filters import Filter
from memtool.index.search import search
from memtool.index.semantic import Vectors, embed, open_vectors
from memtool.settings.sections import EmbeddingSettings
from memtool.vault.layout import open_vault
from memtool.vault.memory import Location

SHARED = Path(__file__).parents[3] / "shared"
SETS = SHARED / "eval" / "data"
MODEL = SHARED / "models" / "all-MiniLM-L6-v2"
ON_REQUEST = pytest.mark.skipif(os.environ.get("QUALITY_SETS") != "all", reason="tried with QUALITY_SETS=all")
METRICS = ("recall@1", "recall@5", "mrr@10", "lines@6")
TODAY = dt.date(2026, 11, 22)

pytestmark = pytest.mark.skipif(not SETS.is_dir(), reason="the search sets of ../shared/eval are not on this machine")


def measured(
    name: str, folder: Path, embedder: Embedder | None = None, *, beside: Sequence[str] = ()
) -> dict[str, float]:
    """Return the metrics of the set *name*, all but its adversarial questions, in a vault with the sets *beside* it."""
    for each in (name, *beside):
        shutil.copytree(SETS / each / "vault", folder, dirs_exist_ok=True)
    vault = open_vault(folder)
    lines = (SETS / name / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    questions = parse_questions(line for line in lines if json.loads(line).get("category") != "adversarial")

    # Only conversations are so long that ten different notes take many hits.
    limit = DEPTH if any(evidence.first for each in questions for evidence in each.relevant) else 12

    def answer(index: Index) -> list[list[Location]]:
        vectors = _vectors(index, embedder) if embedder else None
        answers = [
            search(index, each.query, Filter(TODAY), limit=limit, mode="hybrid", vectors=vectors) for each in questions
        ]
        if vectors:
            vectors.store.close()
        return [[hit.memory.place for hit in found.hits] for found in answers]

    return evaluate(questions, use_index(Place(vault, vault.state_path), answer))


def _vectors(index: Index, embedder: Embedder) -> Vectors:
    store = open_vectors(index, embedder)
    embed(index, embedder, store)
    return Vectors(embedder, store)


def too_low(metrics: dict[str, float], floors: tuple[float, ...]) -> dict[str, float]:
    return {name: metrics[name] for name, floor in zip(METRICS, floors, strict=False) if metrics[name] < floor}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "floors"),
    [
        ("locomo-ci", (0.675, 0.88, 0.82, 0.81)),
        ("longmemeval-ci", (0.44, 0.75, 0.79)),
        ("techfaq-en-ci", (0.65, 0.855, 0.74)),
        ("techfaq-zh-ci", (0.56, 0.78, 0.65)),
        pytest.param("cmrc-ci", (0.975, 0.99, 0.98), marks=ON_REQUEST),
        pytest.param("drcd-ci", (0.98, 0.995, 0.99), marks=ON_REQUEST),
        ("jsquad-ci", (0.915, 0.96, 0.93)),
        pytest.param("korquad-ci", (0.955, 0.995, 0.975), marks=ON_REQUEST),
        pytest.param("xquad-en-ci", (0.955, 0.995, 0.975), marks=ON_REQUEST),
    ],
)
def test_words_alone_find_at_least_this_much(tmp_path: Path, name: str, floors: tuple[float, ...]) -> None:
    metrics = measured(name, tmp_path / "vault")

    assert too_low(metrics, floors) == {}


@pytest.mark.slow
@pytest.mark.skipif(
    not MODEL.is_dir() or find_spec("fastembed") is None, reason="fastembed or the model of ../shared/models is missing"
)
@pytest.mark.parametrize(
    ("name", "floors"),
    [
        pytest.param("locomo-ci", (0.695, 0.895, 0.84, 0.85), marks=ON_REQUEST),
        pytest.param("longmemeval-ci", (0.445, 0.77, 0.795), marks=ON_REQUEST),
        pytest.param("techfaq-en-ci", (0.71, 0.915, 0.805), marks=ON_REQUEST),
        ("xquad-en-ci", (0.96, 0.995, 0.98)),
    ],
)
def test_words_and_meaning_find_at_least_this_much(tmp_path: Path, name: str, floors: tuple[float, ...]) -> None:
    embedder = open_embedder(EmbeddingSettings(path=str(MODEL)), "", tmp_path / "cache", may_download=False)

    metrics = measured(name, tmp_path / "vault", embedder)

    assert too_low(metrics, floors) == {}


@ON_REQUEST
@pytest.mark.slow
@pytest.mark.skipif(
    not MODEL.is_dir() or find_spec("fastembed") is None, reason="fastembed or the model of ../shared/models is missing"
)
def test_meaning_does_not_lose_to_words_where_conversations_share_a_vault(tmp_path: Path) -> None:
    embedder = open_embedder(EmbeddingSettings(path=str(MODEL)), "", tmp_path / "cache", may_download=False)
    others = ("longmemeval-ci", "techfaq-en-ci")

    words = measured("locomo-ci", tmp_path / "words", beside=others)
    both = measured("locomo-ci", tmp_path / "both", embedder, beside=others)

    assert {name: both[name] >= words[name] + 0.01 for name in METRICS[1:]} == dict.fromkeys(METRICS[1:], True)
    assert both["hit@1"] >= words["hit@1"]


@ON_REQUEST
@pytest.mark.slow
@pytest.mark.skipif(
    not MODEL.is_dir() or find_spec("fastembed") is None, reason="fastembed or the model of ../shared/models is missing"
)
@pytest.mark.parametrize("name", ["locomo-ci", "techfaq-en-ci", "xquad-en-ci", "longmemeval-ci"])
def test_meaning_never_makes_the_first_place_worse(tmp_path: Path, name: str) -> None:
    """The weights were chosen on the first two sets; the last two were left aside."""
    embedder = open_embedder(EmbeddingSettings(path=str(MODEL)), "", tmp_path / "cache", may_download=False)

    words = measured(name, tmp_path / "words")
    both = measured(name, tmp_path / "both", embedder)

    assert both["hit@1"] >= words["hit@1"]
