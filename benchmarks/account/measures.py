"""What numbers and lists are measured with: each measure gives figures in points, of which more is better.

The labelled material may not be published and lies in `../shared`; the conversations of `benchmarks.recall` are here.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

from benchmarks.account.notes import Material
from benchmarks.helps.measures import lines_in, scorer
from benchmarks.recall import measures
from benchmarks.recall.labelled import PLAIN, known_ids, read_areas, read_conversations
from benchmarks.recall.sessions import Hook, hold
from benchmarks.recall.vaults import Shelf, write_vault
from memtool.index.engine import Index, Place, use_index
from memtool.index.evaluation import KnownQuestion, evaluate, parse_questions
from memtool.index.filters import Filter
from memtool.index.search import search
from memtool.vault.layout import Vault, open_vault
from memtool.vault.memory import Location

Figures = Mapping[str, float]
Measure = Callable[[], Figures]

SETS = ("techfaq-en-ci", "techfaq-zh-ci")
TODAY = date(2026, 11, 22)
DEPTH = 12  # hits


def notes(shared: Path) -> Measure:
    """Measure notes without a model: labelled sessions, and small ones in which a person decides, or does not."""
    material = Material(shared / "transcripts")

    def measure() -> Figures:
        figures: dict[str, float] = {}
        for part, line in material.measured().items():
            items, main, wrong, recall, precision = line.split()
            figures |= {f"{part} items": float(items), f"{part} main": float(main), f"{part} wrong": -float(wrong)}
            figures |= {f"{part} decided": _percent(recall), f"{part} right rows": _percent(precision)}
        return figures

    return measure


def conversations(scratch: Path) -> Measure:
    """Measure what prompts are given on labelled conversations, by words."""
    areas = read_areas()
    shelf = Shelf(write_vault(scratch / "vault", areas, datetime.now(UTC).date()))
    hook = Hook(scratch, scratch / "vault")
    talks = read_conversations(PLAIN, known_ids(areas))

    def measure() -> Figures:
        run = uuid.uuid4().hex[:8]
        found = measures.measure([hold(talk._replace(name=f"{talk.name}-{run}"), hook.ask, shelf) for talk in talks])
        served, right, disturbed = (100 * (found[name] or 0.0) for name in ("served", "relevant_lines", "disturbed"))
        return {"served": served, "right lines": right, "disturbed": -disturbed}

    return measure


def questions(shared: Path, scratch: Path) -> Measure:
    """Measure the answers of prompts and starts to questions of the next day, and prompts that nothing answers."""
    ask, carried = scorer(shared, "ask"), scorer(shared, "carried")
    (scratch / "vault").mkdir(parents=True)
    hook = Hook(scratch, scratch / "vault")
    folders = {session: cwd for cwd, sessions in carried.lay(scratch / "home").items() for session in sessions}
    hook.memtool("init", str(scratch / "vault"))
    hook.memtool("import", "claude-code", "-y")
    hook.memtool("index")
    asked = lines_in(shared / "transcripts" / "questions.jsonl")
    places = [Path(next(cwd for name, cwd in folders.items() if name.startswith(each["session"]))) for each in asked]

    def given(place: Path, text: str) -> str:
        return hook.ask_in(place, uuid.uuid4().hex, text)

    def measure() -> Figures:
        grades = [ask.grade(each, given(place, each["q"])) for each, place in zip(asked, places, strict=True)]
        starts = {place: hook.start_in(place, uuid.uuid4().hex) for place in set(places)}
        begun = [ask.grade(each, starts[place]) for each, place in zip(asked, places, strict=True)]
        strange = [given(scratch / "elsewhere", each["q"]) for each in asked[::4]]
        return {
            "answered by a prompt": float(grades.count("answered")),
            "by a start": float(begun.count("answered")),
            "wrong": -float(grades.count("wrong")),
            "noise": -float(grades.count("noise")),
            "elsewhere": -float(sum(map(bool, strange))),
        }

    (scratch / "elsewhere").mkdir()
    measure()  # what a first prompt makes is there for all others
    return measure


def searches(shared: Path, scratch: Path) -> Measure:
    """Measure search by words on questions with known answers: the mean reciprocal rank among ten, in points."""
    sets = [_search_set(shared / "eval" / "data" / name, scratch / name) for name in SETS]

    def measure() -> Figures:
        return {name: _mrr(*each) for name, each in zip(SETS, sets, strict=True)}

    return measure


def _search_set(source: Path, folder: Path) -> tuple[Vault, Sequence[KnownQuestion]]:
    shutil.copytree(source / "vault", folder)
    lines = (source / "queries.jsonl").read_text("utf-8").splitlines()
    known = parse_questions(line for line in lines if json.loads(line).get("category") != "adversarial")
    return open_vault(folder), known


def _mrr(vault: Vault, known: Sequence[KnownQuestion]) -> float:
    def answers(index: Index) -> list[list[Location]]:
        hits = (search(index, each.query, Filter(TODAY), limit=DEPTH).hits for each in known)
        return [[hit.memory.place for hit in found] for found in hits]

    return 100 * evaluate(known, use_index(Place(vault, vault.state_path), answers))["mrr@10"]


def _percent(pair: str) -> float:
    part, of = map(int, pair.split("/"))
    return 100 * part / of if of else 0.0


def measures_of(shared: Path, scratch: Path) -> dict[str, Callable[[], Measure]]:
    """Return what makes each measure, by its name; to make one takes a while."""
    return {
        "notes": partial(notes, shared),
        "conversations": partial(conversations, scratch / "conversations"),
        "questions": partial(questions, shared, scratch / "questions"),
        "searches": partial(searches, shared, scratch / "searches"),
    }


# The measures of numbers and lists, by the beginning of their names.
MEASURED_BY = {
    "languages": ("notes", "conversations"),
    "memtool.capture.gate": (),  # of notes by a model: tests/capture/test_recorded.py
    "memtool.capture.model_note": (),
    "memtool.capture.importing": (),
    "memtool.capture": ("notes",),
    "memtool.recall.prompts": ("conversations",),
    "memtool.recall": ("questions",),
    "memtool.index.ranking": (),  # of searches by meaning: tests/quality
    "memtool.index.semantic": (),
    "memtool.index.vectors": (),
    "memtool.index": ("searches",),
    "memtool.text": ("searches",),
}
