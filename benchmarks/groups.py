"""The groups of measurements: each gives the rows of one vault, with their budgets (docs/benchmarks.md)."""

from __future__ import annotations

import itertools
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.helper import helper
from benchmarks.hooks import hooks, transcripts
from benchmarks.mcp import mcp
from benchmarks.processes import Finished, run, sample
from benchmarks.questions import questions
from benchmarks.rows import Row, percentile
from benchmarks.served import served

_MEGABYTE = 1e6
_LEAST_QUICK = 5  # tries of what takes milliseconds, however few the long ones get
_LARGE = 10_000  # notes: in smaller vaults, fixed costs of a few milliseconds would decide
_LINEAR = 1.5  # what ten times as much may cost more by the piece; noise included
_QUESTIONS = 20  # of each kind
_VECTORS = 100_000
_DIMENSION = 384
_TESTED_QUERIES = {  # what `benchmarks.samples.query` answers, and the budget
    "everywhere": ("question by words", 2.0),
    "narrowed": ("question to decisions only", None),
    "half_typed": ("half-typed word", None),
}


class Sides(NamedTuple):
    """The tries of ours and of the floor."""

    ours: list[float]
    floor: list[float]


@dataclass(frozen=True)
class Stage:
    """Where a group is measured: a vault of *size* notes, a folder for what is thrown away, the number of tries."""

    vault: Path
    scratch: Path
    size: int
    repeat: int
    environ: dict[str, str]
    model: Path | None = None  # a folder that holds one

    @property
    def quick(self) -> int:
        """The number of tries of what takes milliseconds."""
        return max(_LEAST_QUICK, self.repeat * 3)

    @property
    def floor_path(self) -> Path:
        """The database that the first index is compared with."""
        return self.scratch / f"floor-{self.size}.sqlite"

    def budget(self, most_ratio: float | None) -> float | None:
        """Return a budget that the design sets for large vaults; None if this one is smaller."""
        return most_ratio if self.size >= _LARGE else None

    def sample(self, name: str, **given: object) -> tuple[dict[str, Any], float]:
        """Return what a sample answers about the vault in a process of its own, and that one's peak memory in MB."""
        answer, peak_bytes = sample(name, self.environ, vault=self.vault, **given)
        return answer, peak_bytes / _MEGABYTE

    def timed(self, name: str, **given: object) -> Sides:
        """Return the milliseconds that a sample took."""
        answer, _ = self.sample(name, **given)
        return Sides(_milliseconds(answer["ours"]), _milliseconds(answer["floor"]))

    def search(self, text: str) -> Finished:
        """Run `memtool search`: the script that users call, of the interpreter that runs here."""
        script = str(Path(sys.executable).with_name("memtool"))
        options = ("search", "--mode", "bm25", "--json", "--", text)
        return run([script, "--vault", str(self.vault), *options], self.environ)

    def prepare(self) -> None:
        """Bring the index, and the database it is compared with, up to date."""
        self.search("warm")
        if not self.floor_path.exists():
            self.sample("first_index_floor", floor=self.floor_path)


def first_index(stage: Stage) -> Iterator[Row]:
    """The first index: time, memory, size on disk."""
    floor, ours, plain = [], [], []
    for _ in range(stage.repeat):
        plain.append(stage.sample("first_index_plain", floor=stage.floor_path)[0]["seconds"])
        floor.append(stage.sample("first_index_floor", floor=stage.floor_path))
        ours.append(stage.sample("first_index"))
    seconds = Sides(*([answer["seconds"] for answer, _ in side] for side in (ours, floor)))
    peaks = Sides(*([peak for _, peak in side] for side in (ours, floor)))
    built = ours[0][0]
    details = {"files": built["files"], "chunks": built["chunks"]}
    yield Row("first index", stage.size, "s", *seconds, most_ratio=stage.budget(3.0), details=details)
    yield Row("first index, beside FTS5's own tokenizer", stage.size, "s", seconds.ours, plain)
    yield Row("memory of a first index", stage.size, "MB", *peaks)
    on_disk = Sides([built["index_bytes"] / _MEGABYTE], [built["note_bytes"] / _MEGABYTE])
    yield Row("index on disk, against the notes", stage.size, "MB", *on_disk)


def refresh(stage: Stage) -> Iterator[Row]:
    """Bringing the index up to date: nothing changed, 1 %, 10 %."""
    stage.prepare()
    yield Row("the scan alone", stage.size, "ms", *stage.timed("walk", repeat=stage.quick))
    unchanged = stage.timed("unchanged", repeat=stage.quick)
    yield Row("refresh, nothing changed", stage.size, "ms", *unchanged, most_ratio=2.0)
    by_the_note = []
    for percent in (1, 10):
        count = max(1, stage.size * percent // 100)
        changed = stage.timed("changed", floor=stage.floor_path, size=stage.size, count=count, repeat=stage.repeat)
        yield Row(f"refresh, {percent} % changed", stage.size, "ms", *changed, details={"changed": count})
        by_the_note.append([(took - min(unchanged.ours)) / count for took in changed.ours])
    one, ten = by_the_note
    yield Row("each changed note, of 10 % against of 1 %", stage.size, "ms", ten, one, most_ratio=_LINEAR)


def process(stage: Stage) -> Iterator[Row]:
    """A whole `memtool search` by words, from the start of its process to the end, and its memory."""
    stage.prepare()
    asked = questions(stage.size, 1)[0].text  # in English, of six words or so
    ours, floor = zip(*((stage.search(asked), _import_only(stage)) for _ in range(stage.quick)), strict=True)
    scan = min(stage.timed("walk", repeat=stage.quick).ours)
    took = _milliseconds(each.seconds for each in ours)
    least = [import_ms + scan for import_ms in _milliseconds(each.seconds for each in floor)]
    yield Row("`memtool search`, the whole process", stage.size, "ms", took, least, most_ratio=stage.budget(1.5))
    peaks = Sides(*([max(each.peak_bytes for each in side) / _MEGABYTE] for side in (ours, floor)))
    yield Row("memory of `memtool search`", stage.size, "MB", *peaks, most=150.0)


def query(stage: Stage) -> Iterator[Row]:
    """Questions by words to an open index."""
    stage.prepare()
    answer, _ = stage.sample("query", size=stage.size, count=_QUESTIONS, repeat=stage.repeat)
    for name, by_kind in answer.items():
        what, budget = _TESTED_QUERIES[name]
        sides = [_milliseconds(itertools.chain(*(times[side] for times in by_kind.values()))) for side in Sides._fields]
        details = {kind: {side: _median_ms(times[side]) for side in times} for kind, times in by_kind.items()}
        for percent in (50, 95):
            at = Sides(*([percentile(side, percent)] for side in sides))
            yield Row(f"{what}, p{percent}", stage.size, "ms", *at, most_ratio=stage.budget(budget), details=details)


def vectors(stage: Stage) -> Iterator[Row]:
    """Questions by meaning to an open store of vectors."""
    folder = stage.scratch / "vectors"
    folder.mkdir(exist_ok=True)
    given = {"folder": folder, "count": _VECTORS, "dimension": _DIMENSION, "repeat": stage.quick * 3}
    answer, _ = sample("vectors", stage.environ, **given)
    times = {name: _milliseconds(seconds) for name, seconds in answer.items()}
    for name in ("vectors", "chunks"):
        what = f"nearest {name}, {_VECTORS:,} × {_DIMENSION}"
        yield Row(what, 0, "ms", times[name], times["floor"], most_ratio=1.5)


def linearity(rows: list[Row]) -> Iterator[Row]:
    """The cost of a note in a first index, in each vault against the next smaller one."""
    firsts = sorted((row for row in rows if row.what == "first index"), key=lambda row: row.notes)
    for smaller, larger in itertools.pairwise(firsts):
        by_the_note = Sides(*([seconds * 1000 / row.notes for seconds in row.ours] for row in (larger, smaller)))
        what = f"first index, each note: of {larger.notes:,} against of {smaller.notes:,}"
        yield Row(what, 0, "ms", *by_the_note, most_ratio=_LINEAR)


GROUPS: dict[str, Callable[[Stage], Iterator[Row]]] = {
    "first-index": first_index,
    "refresh": refresh,
    "process": process,
    "query": query,
    "vectors": vectors,
    "hooks": hooks,
    "helper": helper,
    "mcp": mcp,
    "serve": served,
    "transcripts": transcripts,
}
ONCE = ("vectors", "transcripts")  # the others are measured for each size


def _import_only(stage: Stage) -> Finished:
    return run([sys.executable, "-c", "import click, sqlite3"], stage.environ)


def _milliseconds(seconds: Iterable[float]) -> list[float]:
    return [each * 1000 for each in seconds]


def _median_ms(seconds: list[float]) -> float:
    return statistics.median(seconds) * 1000
