"""What numbers and lists are measured with: each measure gives figures in points, of which more is better.

The labelled material may not be published and lies in `../shared`; the conversations of `benchmarks.recall` are here.
"""

from __future__ import annotations

import json
import shutil
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from types import ModuleType

from benchmarks import memories as known_memories
from benchmarks.account.notes import Material
from benchmarks.helps.measures import lines_in, scorer
from benchmarks.processes import CLONE
from benchmarks.recall import measures
from benchmarks.recall.labelled import PLAIN, known_ids, read_areas, read_conversations
from benchmarks.recall.sessions import Hook, hold
from benchmarks.recall.vaults import Shelf, write_vault
from memtool.capture.gate import LineGate
from memtool.embeddings import open_embedder
from memtool.errors import ProviderFailed
from memtool.index.engine import Index, Place, use_index
from memtool.index.evaluation import KnownQuestion, evaluate, parse_questions
from memtool.index.filters import Filter
from memtool.index.search import search
from memtool.index.semantic import Vectors, embed, open_vectors
from memtool.redaction import make_redactor
from memtool.settings.sections import EmbeddingSettings, RedactSettings
from memtool.vault.layout import Vault, open_vault
from memtool.vault.memory import Location
from scripts.record_replies import REPLIES, note_of, read_sessions, score_of

Figures = Mapping[str, float]
Measure = Callable[[], Figures]

SETS = ("techfaq-en-ci", "techfaq-zh-ci")
SET_OF_MEANING = "xquad-en-ci"
TESTS = str(CLONE / "tests")  # whose tables of secrets, and of what no session says, are measured with
EACH_SESSION = 5  # every fifth one is offered inventions
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


def meaning(shared: Path, scratch: Path) -> Measure:
    """Measure search by words and meaning, with a small model of vectors, as `searches` does."""
    vault, known = _search_set(shared / "eval" / "data" / SET_OF_MEANING, scratch / "set")
    model = EmbeddingSettings(path=str(shared / "models" / "all-MiniLM-L6-v2"))
    embedder = open_embedder(model, "", scratch / "cache", may_download=False)

    def answers(index: Index) -> list[list[Location]]:
        with open_vectors(index, embedder) as store:
            embed(index, embedder, store)
            vectors = Vectors(embedder, store)
            hits = (search(index, each.query, Filter(TODAY), limit=DEPTH, mode="hybrid", vectors=vectors).hits
                    for each in known)  # fmt: skip
            return [[hit.memory.place for hit in found] for found in hits]

    def measure() -> Figures:
        found = evaluate(known, use_index(Place(vault, vault.state_path), answers))
        return {name: 100 * found[name] for name in ("hit@1", "mrr@10")}

    return measure


def memories(scratch: Path) -> Measure:
    """Measure `memory_search` on labelled questions over facts, notes and typed prompts."""
    scratch.mkdir(parents=True)
    work = known_memories.furnished(scratch)

    def measure() -> Figures:
        places = known_memories.ranks(work)
        reciprocal = sum(1 / place for place in places if place)
        return {"first": 100 * places.count(1) / len(places), "rank": 100 * reciprocal / len(places)}

    return measure


def replies(shared: Path) -> Measure:
    """Measure the notes of recorded replies of a model, and how many inventions its gate lets in."""
    transcripts = shared / "transcripts"
    sessions, score = read_sessions(transcripts), score_of(transcripts)
    inventions = _of_tests("capture.inventions").INVENTED

    def note(name: str) -> str:
        with suppress(ProviderFailed):
            return note_of(name, sessions[name], (REPLIES / f"{name}.json").read_text(encoding="utf-8"))
        return ""

    def measure() -> Figures:
        judged = [score.judge(label, note(label["session"])) for label in score.read_labels()]
        found, missed, wrong = (sum(len(row[what]) for row in judged) for what in ("found", "missed", "wrong"))
        gates = [(LineGate(turns), len(turns)) for turns in list(sessions.values())[::EACH_SESSION]]
        faults = [
            gate.fault(each, turn) for gate, count in gates for turn in range(1, count + 1) for each in inventions
        ]
        return {
            "items": 100 * found / (found + missed),
            "main": float(sum(row["main"] for row in judged)),
            "wrong": -float(wrong),
            "invented": -100 * faults.count("") / len(faults),
        }

    return measure


def secrets() -> Measure:
    """Measure redaction on the tables of its tests: what of the secrets goes, and which innocent texts are touched."""
    carriers = _of_tests("redaction.test_carriers")
    beside, sentences = (_of_tests(f"redaction.test_{name}") for name in ("beside", "sentences"))
    noise, randomness = _of_tests("redaction.noise"), _of_tests("redaction.test_randomness")
    known = [(text, secret) for each in (beside, sentences) for text, secret, *_ in each.SECRETS]
    for line in carriers.CARRIERS:
        kinds, _, text = line.partition(" ")
        known += [(text.lstrip().replace("§", each), each) for kind in kinds for each in carriers.VALUES[kind]]
    drawn = [
        noise.noise(length, alphabet, seed)
        for seed, length, alphabet in product(range(9), (24, 40), (noise.ALNUM, noise.URL64))
    ]
    known += [(f"我用的是 {each}, see {each}.", each) for each in drawn]
    innocent = [text for each in (carriers, beside, sentences) for text in each.INNOCENT]
    innocent += [f"call {name} 两次" for line in randomness.NAMES for name in line.split()] + randomness.NOT_DRAWN

    def measure() -> Figures:
        redact = make_redactor(RedactSettings())
        gone = sum(secret not in redact(text) for text, secret in known)
        touched = sum(redact(text) != text for text in innocent)
        return {"found": 100 * gone / len(known), "touched": -100 * touched / len(innocent)}

    return measure


def _of_tests(name: str) -> ModuleType:
    if TESTS not in sys.path:
        sys.path.append(TESTS)
    return import_module(name)


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
        "meaning": partial(meaning, shared, scratch / "meaning"),
        "memories": partial(memories, scratch / "memories"),
        "replies": partial(replies, shared),
        "secrets": secrets,
    }


# The measures of numbers and lists, by the beginning of their names.
MEASURED_BY = {
    "languages": ("notes", "conversations"),
    "memtool.capture.gate": ("replies",),
    "memtool.capture.model_note": ("replies",),
    "memtool.capture": ("notes",),
    "memtool.memory": ("memories",),
    "memtool.recall.answers.likelihood": ("conversations", "memories"),
    "memtool.recall.prompts": ("conversations",),
    "memtool.recall": ("questions",),
    "memtool.redaction": ("secrets",),
    "memtool.index.ranking": ("meaning",),
    "memtool.index.semantic": ("meaning",),
    "memtool.index": ("searches",),
    "memtool.text": ("searches",),
}
