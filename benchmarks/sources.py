"""`python -m benchmarks.sources`: what searching the kept turns of sessions brings, and what it costs.

Questions of the next day, and statements that a good note must make, are put to a vault of real sessions, with and
without a hundred sessions of other work; right is the session that they are about. The sessions may not be published:
they lie in `../shared`, or where `--shared` says, and of them nothing is printed but figures. Times are those of the
processor.
"""

from __future__ import annotations

import argparse
import gzip
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.helps.measures import Skipped, captured, lines_in, scorer
from benchmarks.helps.memory import Memory, Transcripts
from benchmarks.processes import CLONE
from memtool.index.engine import Index, Place, use_index
from memtool.index.filters import Filter, Transcripts as Searched
from memtool.index.search import search
from memtool.index.turn_table import follow_sources, table_path, texts_of_turn, turns_in
from memtool.recall.answers.found import CHUNKS, memories
from memtool.vault.layout import open_vault
from memtool.vault.sources import list_sources, read_lines, source_ref

HITS = 5
OTHERS = 100  # sessions of other work
MANY = 1_000  # sessions whose index is timed
WAYS: tuple[Searched, ...] = ("no", "auto", "only")
HEAD = ("", "notes", "notes and turns", "turns", "without memtool: words in the transcripts")
_ROUNDS = 3


class Asked(NamedTuple):
    """A text, the session that it is about, and the project of that."""

    text: str
    session: str
    project: str


def main(arguments: list[str]) -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sources", description=__doc__)
    parser.add_argument("--shared", type=Path, default=CLONE.parent / "shared", help="the private material")
    shared = parser.parse_args(arguments).shared
    with tempfile.TemporaryDirectory(prefix="memtool-sources-", ignore_cleanup_errors=True) as scratch:
        try:
            memory, transcripts = _imported(shared, Path(scratch))
        except Skipped as reason:
            print(f"skipped: {reason}", file=sys.stderr)
            return 0
        asked = list(_asked(shared, memory))
        found = Transcripts(transcripts)
        print(_line(HEAD), _line(["---", *["--:"] * 4]), sep="\n")
        _print_found(f"{len(transcripts)} sessions", memory, asked, found)
        costs = [_cost(memory)]
        others = _others(shared, memory, Path(scratch))
        for path in others:
            found.add(path)
        _print_found(f"with {len(others)} others", memory, asked, found)
        costs.append(_cost(_many(memory, Path(scratch))))
        print("", _line(["sources", *_COSTS]), _line(["--:"] * (len(_COSTS) + 1)), *costs, sep="\n")
    return 0


def _print_found(where: str, memory: Memory, asked: list[tuple[str, list[Asked]]], found: Transcripts) -> None:
    sessions = {f"sessions/{name}.md": session for name, (session, _) in memory.sessions().items()}
    for what, texts in asked:

        def look(index: Index, texts: list[Asked] = texts) -> list[str]:
            return [_shares(texts, lambda text, way=way: _found(index, sessions, text, way)) for way in WAYS]  # type: ignore[misc]

        cells = use_index(_place(memory), look)
        by_words = _shares(texts, lambda text: found.best(text, HITS))
        print(_line([f"{what}, {where}: first, among five of {len(texts)}", *cells, by_words]), flush=True)


def _found(index: Index, sessions: dict[str, str], text: str, way: Searched) -> list[str]:
    hits = search(index, text, Filter(datetime.now(UTC), transcripts=way), limit=HITS * CHUNKS).hits
    return [sessions.get(hit.memory.path, hit.memory.path) for hit in memories(hits)][:HITS]


def _shares(texts: Sequence[Asked], ask: Callable[[str], list[str]]) -> str:
    ranks = [[name.startswith(each.session) for name in ask(each.text)] for each in texts]
    first, five = (sum(any(rank[:most]) for rank in ranks) / (len(texts) or 1) for most in (1, HITS))
    return f"{first:.3f} · {five:.3f}"


_COSTS = (
    "their text",
    "table, of the text",
    "made, of the notes' index",
    "nothing new, ms",
    "a question: notes, ms",
    "notes and turns, ms",
)


def _cost(memory: Memory) -> str:
    """Return the row of what the table of the turns costs."""
    place = _place(memory)
    notes = _least(lambda: use_index(place, lambda _: None, rebuild=True))
    turns = _least(lambda: follow_sources(place, rebuild=True))
    again = _least(lambda: follow_sources(place))
    kept = list_sources(place.vault)
    contents = (read_lines(place.vault, source_ref(place.vault, one.name)) for one in kept)
    texts = (text for content in contents for _, fields in turns_in(content) for _, text in texts_of_turn(fields))
    size = sum(len(text.encode()) for text in texts)
    words = [each["q"] for each in _QUESTIONS]

    def half(index: Index) -> list[float]:
        return [
            statistics.median(_least(lambda text=text, way=way: _ask(index, text, way)) for text in words)  # type: ignore[misc]
            for way in WAYS[:2]
        ]

    plain, both = use_index(place, half)
    cells = [f"{size / 1e6:.1f} MB", f"{table_path(place).stat().st_size / size:.2f}", f"{turns / notes:.2f}"]
    cells += [f"{each * 1e3:.1f}" for each in (again, plain, both)]
    return _line([str(len(kept)), *cells])


_QUESTIONS: list[dict[str, Any]] = []


def _ask(index: Index, text: str, way: Searched) -> None:
    search(index, text, Filter(datetime.now(UTC), transcripts=way), limit=HITS)


def _least(use: Callable[[], object]) -> float:
    times = []
    for _ in range(_ROUNDS):
        started = time.process_time()
        use()
        times.append(time.process_time() - started)
    return min(times)


def _imported(shared: Path, scratch: Path) -> tuple[Memory, list[Path]]:
    carried, memory = scorer(shared, "carried"), Memory(scratch / "memory")
    carried.lay(memory.home)
    memory.run("import", "claude-code", "-y")
    memory.run("index")
    return memory, sorted((shared / "transcripts" / "sessions").glob("*.jsonl"))


def _asked(shared: Path, memory: Memory) -> Iterator[tuple[str, list[Asked]]]:
    """Give the questions and the statements: those of the large project, and those of the two beside it."""
    projects = dict(memory.sessions().values())
    rows = [each for each in lines_in(shared / "transcripts" / "questions.jsonl") if each["kind"] != "nothing"]
    _QUESTIONS.extend(rows)
    labels = lines_in(shared / "transcripts" / "labels.jsonl")
    texts = {
        "questions": [(each["q"], each["session"]) for each in rows],
        "statements": [(item["text"], each["session"]) for each in labels for item in each["items"]],
    }
    for what, pairs in texts.items():
        every = [Asked(text, name, _project(projects, name)) for text, name in pairs]
        for which, aside in (("", False), (" of two projects aside", True)):
            yield f"{what}{which}", [each for each in every if each.project.startswith("cli") is not aside]


def _project(projects: dict[str, str], name: str) -> str:
    return next((project for session, project in projects.items() if session.startswith(name)), "")


def _others(shared: Path, memory: Memory, scratch: Path) -> list[Path]:
    run = scorer(shared, "swectx.run")
    records = run.sessions(set())
    some = random.Random(7).sample(sorted(records), OTHERS)
    return captured(run, memory, scratch, {name: records[name] for name in some})


def _many(memory: Memory, scratch: Path) -> Memory:
    """Return a vault of `MANY` sessions: the notes and sources of *memory* again and again, by other ids."""
    many = Memory(scratch / "many")
    sessions = memory.sessions()
    place = _place(memory)
    (many.vault / "transcripts" / "2026").mkdir(parents=True)
    for number in range(MANY):
        name, (session, _) = list(sessions.items())[number % len(sessions)]
        other = f"{session}-{number}"
        note = (memory.vault / "sessions" / f"{name}.md").read_text(encoding="utf-8").replace(session, other)
        (many.vault / "sessions").mkdir(exist_ok=True)
        (many.vault / "sessions" / f"{name}-{number}.md").write_text(note, encoding="utf-8")
        if ref := source_ref(place.vault, session):
            content = read_lines(place.vault, ref).replace(session.encode(), other.encode(), 1)
            path = many.vault / "transcripts" / "2026" / f"{other}.jsonl.gz"
            path.write_bytes(gzip.compress(content, 1))
    return many


def _place(memory: Memory) -> Place:
    vault = open_vault(memory.vault)
    folders = [path for path in vault.state_path.glob("*/index") if path.is_dir()]
    return Place(vault, folders[0].parent if folders else memory.home / "state")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
