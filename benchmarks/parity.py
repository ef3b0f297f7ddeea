"""The same questions to SQLite and PostgreSQL: are the first ten hits and all measures the same?

    python -m benchmarks.parity ADDRESS [--sets FOLDER] [--notes 10000] [--model DIR]

ADDRESS is that of an empty database. FOLDER holds sets as `memtool eval` reads them: `NAME/vault` and
`NAME/queries.jsonl`. The generated vault has so many notes. By meaning, vectors come from the model in DIR, or else
from the terms of a text. The exit code is 1 if the engines differ by more than they may.
"""

from __future__ import annotations

import argparse
import datetime as dt
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from benchmarks.questions import questions
from benchmarks.vaults import write_vault
from memtool.embeddings import Embedder, open_embedder
from memtool.embeddings.known_scripts import ALL_SCRIPTS
from memtool.index.engine import Index, Place, use_index
from memtool.index.evaluation import DEPTH, Expected, KnownQuestion, evaluate, parse_questions
from memtool.index.filters import Filter
from memtool.index.search import search
from memtool.index.semantic import Vectors, embed, open_vectors
from memtool.settings.sections import EmbeddingSettings
from memtool.team.engine import PostgresEngine
from memtool.team.postgres.connection import Database
from memtool.text.tokens import index_terms
from memtool.vault.layout import open_vault
from memtool.vault.memory import Location

_TODAY = dt.date(2026, 11, 22)
_FIRST = 10
_LEAST_SAME = {"bm25": 1.0, "hybrid": 0.99}  # share of the questions with the same first ten
_GENERATED = "generated"


class Compared(NamedTuple):
    """The share of questions with the same first ten hits, and the measures by each engine."""

    same: float
    sqlite: dict[str, float]
    postgres: dict[str, float]

    def holds(self, mode: str) -> bool:
        """Return whether the engines are as much alike as they must be."""
        rounded = [{name: round(value, 3) for name, value in each.items()} for each in (self.sqlite, self.postgres)]
        return self.same >= _LEAST_SAME[mode] and rounded[0] == rounded[1]


class ByTerms:
    """An embedder whose vectors are sums of a direction for each term: texts that share words are near each other."""

    name, dimension, scripts = "sums of terms", 384, ALL_SCRIPTS

    def embed_notes(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text."""
        return np.array([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of *text*."""
        total = np.sum([_direction(term) for term in index_terms(text) or [""]], axis=0)
        unit: NDArray[np.float32] = (total / np.linalg.norm(total)).astype(np.float32)
        return unit


@lru_cache(maxsize=50_000)
def _direction(term: str) -> NDArray[np.float32]:
    chance = np.random.default_rng(crc32(term.encode()))
    return chance.standard_normal(ByTerms.dimension, dtype=np.float32)


def main(arguments: list[str]) -> int:
    """Compare the engines on each set and print a line for each mode; return 1 if they differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parity", description=main.__doc__)
    parser.add_argument("address", metavar="ADDRESS")
    parser.add_argument("--sets", type=Path, metavar="FOLDER", help="also ask the sets in this folder")
    parser.add_argument("--notes", type=int, default=10_000, help="notes of the generated vault; 0 makes none")
    parser.add_argument("--model", type=Path, metavar="DIR", help="make vectors with the model in this folder")
    asked = parser.parse_args(arguments)
    embedder = _model(asked.model) if asked.model else ByTerms()
    holds = True
    with tempfile.TemporaryDirectory(prefix="memtool-parity-") as folder:
        for name, root, known in _sets(Path(folder), asked.sets, asked.notes):
            place = Place(open_vault(root), Path(folder) / "state" / name, patience=600.0, migrates=True)
            place.folder.mkdir(parents=True)
            for mode in _LEAST_SAME:
                compared = compare(place, Database(asked.address, str(root)), known, embedder, mode)
                holds = holds and compared.holds(mode)
                print(_line(name, mode, len(known), compared), flush=True)
    return 0 if holds else 1


def compare(
    place: Place, database: Database, known: Sequence[KnownQuestion], embedder: Embedder, mode: str
) -> Compared:
    """Ask both engines all questions."""
    ours, theirs = (
        _answers(each, known, embedder, mode) for each in (place, place._replace(engine=PostgresEngine(database)))
    )
    same = sum(one[:_FIRST] == other[:_FIRST] for one, other in zip(ours, theirs, strict=True)) / len(known)
    return Compared(same, evaluate(known, ours), evaluate(known, theirs))


def _answers(place: Place, known: Sequence[KnownQuestion], embedder: Embedder, mode: str) -> list[list[Location]]:
    def ask(index: Index) -> list[list[Location]]:
        with open_vectors(index, embedder) as store:
            if mode == "hybrid":
                embed(index, embedder, store)
            vectors = Vectors(embedder, store) if mode == "hybrid" else None
            found = (
                search(index, each.query, Filter(_TODAY), limit=DEPTH, mode=mode, vectors=vectors).hits
                for each in known
            )
            return [[hit.memory.place for hit in hits] for hits in found]

    return use_index(place, ask)


def _sets(folder: Path, sets: Path | None, notes: int) -> Iterator[tuple[str, Path, list[KnownQuestion]]]:
    for each in sorted(sets.iterdir()) if sets else ():
        root = Path(shutil.copytree(each / "vault", folder / each.name, copy_function=shutil.copyfile))
        root.chmod(0o700)
        (root / "memtool.toml").touch()
        yield each.name, root, parse_questions((each / "queries.jsonl").read_text(encoding="utf-8").splitlines())
    if notes:
        asked = [each.text for each in questions(notes, 40)]
        nothing = (Expected("none.md"),)  # the generated questions have no known answers
        known = [KnownQuestion(str(number), text, nothing) for number, text in enumerate(asked)]
        yield _GENERATED, write_vault(folder / _GENERATED, notes), known


def _model(folder: Path) -> Embedder:
    settings = EmbeddingSettings(provider="fastembed", path=str(folder))
    return open_embedder(settings, "", Path(tempfile.gettempdir()), may_download=False)


def _line(name: str, mode: str, count: int, compared: Compared) -> str:
    measures = ", ".join(
        f"{measure} {value:.3f}" + ("" if round(value, 3) == round(other, 3) else f" but {other:.3f}")
        for (measure, value), other in zip(compared.sqlite.items(), compared.postgres.values(), strict=True)
    )
    told = "" if name == _GENERATED else f"; {measures}"
    verdict = "" if compared.holds(mode) else " DIFFERENT"
    return f"{name}, {mode}: the same first ten for {compared.same:.1%} of {count}{told}{verdict}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
