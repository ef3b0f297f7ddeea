"""What is timed inside a process of its own: `python -m benchmarks.samples NAME '{"an": "argument"}'` prints JSON.

Where ours and the floor are short, they are timed in turn in the same process, so that a noisy moment hits both.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import gc
import json
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from benchmarks import floors, vaults
from benchmarks.questions import Question, half_typed, questions
from memtool.capture.importing import find_sources, import_sessions
from memtool.capture.queue import Job
from memtool.capture.session_capture import capture_session
from memtool.history.template import make_vault
from memtool.index import schema
from memtool.index.engine import Index, Place, use_index
from memtool.index.filters import Filter
from memtool.index.search import search, snippet_of
from memtool.settings import Settings
from memtool.vault.layout import open_vault
from memtool.vault.scan import scan
from memtool.workspace import Workspace

Answer = dict[str, Any]
_TODAY = dt.date(2026, 2, 10)


def first_index(vault: str) -> Answer:
    """Build the index of *vault* from nothing."""
    place = _place(vault)
    shutil.rmtree(place.folder, ignore_errors=True)
    place.folder.mkdir()
    seconds = _seconds(lambda: use_index(place, _nothing))
    return {"seconds": seconds} | use_index(place, _sizes)


def first_index_floor(vault: str, floor: str) -> Answer:
    """Read the same files, make terms of them, insert these into the table for terms in the new file *floor*."""
    with contextlib.closing(floors.create(Path(floor))) as db:
        return {"seconds": _seconds(lambda: floors.insert(db, floors.walk(vault)))}


def first_index_plain(vault: str, floor: str) -> Answer:
    """Read the same files and insert them as they are into the new file *floor*, for FTS5 to cut."""
    with contextlib.closing(floors.create(Path(floor))) as db:
        return {"seconds": _seconds(lambda: floors.insert_plain(db, floors.walk(vault)))}


def unchanged(vault: str, repeat: int) -> Answer:
    """Bring the index up to date where nothing has changed, and walk the vault."""
    place = _place(vault)
    use_index(place, _nothing)
    return _in_turn(repeat, ours=lambda: use_index(place, _nothing), floor=lambda: list(floors.walk(vault)))


def transcript_to_note(transcript: str, folder: str, repeat: int) -> Answer:
    """Turn *transcript* into the note of its session, each time in a new vault below *folder*."""
    seconds = []
    for number in range(repeat):
        work = _capturing(Path(folder) / f"capture-{number}")
        job = Job(Path(transcript).stem, transcript, event="SessionEnd")
        seconds.append(_seconds(partial(capture_session, work, job)))
    return {"ours": seconds}


def import_all(client: str, folder: str) -> Answer:
    """Import every session that the client keeps in the folder *client* into a new vault below *folder*."""
    work = _capturing(Path(folder) / "import").of_client(Path(client))
    done: list[Any] = []

    def all_of_it() -> None:
        sources = find_sources(work)
        done.append(import_sessions(work, sources, lambda _done, _all: None))

    seconds = _seconds(all_of_it)
    return {"seconds": seconds, "notes": done[0].notes, "bytes": sum(p.stat().st_size for p in Path(client).rglob("*"))}


def walk(vault: str, repeat: int) -> Answer:
    """Scan the vault as memtool does, and walk it barely."""
    root = Path(vault)
    return _in_turn(repeat, ours=lambda: scan(root), floor=lambda: list(floors.walk(vault)))


def changed(vault: str, floor: str, size: int, count: int, repeat: int) -> Answer:
    """Bring the index up to date where *count* notes have changed; walk, read, make terms of the same, insert them.

    Between the two the notes are changed again, so that neither finds the other's words in a cache.
    """
    place = _place(vault)
    numbers = vaults.some_numbers(size, count)
    paths = [str(place.vault.root / vaults.note(number).ref) for number in numbers]
    times: dict[str, list[float]] = {"ours": [], "floor": []}
    with contextlib.closing(schema.connect(Path(floor))) as db:
        for revision in range(1, repeat + 2):
            _revise(place, numbers, revision * 2)
            times["ours"].append(_seconds(lambda: use_index(place, _nothing)))
            _revise(place, numbers, revision * 2 + 1)
            times["floor"].append(_seconds(lambda: _walk_and_insert(vault, db, paths)))
    _revise(place, numbers, 0)
    use_index(place, _nothing)
    return {side: seconds[1:] for side, seconds in times.items()}  # the first round has imported and warmed


def query(vault: str, size: int, count: int, repeat: int) -> Answer:
    """Ask *count* questions of each kind; give the least time of each, by kind, of *repeat* tries."""
    place = _place(vault)
    asked = questions(size, count)
    decisions = Filter(_TODAY, kinds=("decision",))
    return {
        "everywhere": use_index(place, lambda index: _asked(index, asked, Filter(_TODAY), repeat)),
        "narrowed": use_index(place, lambda index: _asked(index, asked, decisions, repeat)),
        "half_typed": use_index(place, lambda index: _asked(index, half_typed(size, count), Filter(_TODAY), repeat)),
    }


def fresh_query(vault: str, asked: list[str], *, walk: bool = True) -> Answer:
    """Bring the index up to date, ask it and show what is found, for each question; without a *walk* just ask."""
    place = _place(vault)._replace(is_followed=not walk)

    def ask(text: str) -> None:
        found = use_index(
            place, lambda index: search(index, text, Filter(dt.datetime.now().astimezone().date()), limit=6)
        )
        for hit in found.hits:
            snippet_of(hit)

    ask(asked[0])
    return {"seconds": [_seconds(partial(ask, text)) for text in asked]}


def vectors(folder: str, count: int, dimension: int, repeat: int) -> Answer:
    """Find the vectors nearest to a random one; the chunks nearest to it; multiply a matrix in memory with it."""
    from benchmarks.meaning import RandomEmbedder, fill  # noqa: PLC0415  (no other sample may pay for numpy)

    embedder = RandomEmbedder(dimension)
    with fill(Path(folder), embedder, count) as (db, store):
        asked, matrix = embedder.embed_query(""), store.matrix().copy()
        return _in_turn(
            repeat,
            vectors=lambda: store.nearest(asked, floors.BEST),
            chunks=lambda: store.semantic(db, embedder.embed_query(""), Filter(_TODAY), ()),
            floor=lambda: matrix @ asked,
        )


def _place(vault: str) -> Place:
    opened = open_vault(Path(vault))
    return Place(opened, opened.state_path)


def _capturing(folder: Path) -> Workspace:
    return Workspace(make_vault(folder).vault, Settings(), {}, folder, folder)


def _nothing(_: Index) -> None:
    """Open the index, and no more."""


def _sizes(index: Index) -> Answer:
    count = "SELECT (SELECT count(*) FROM note), (SELECT count(*) FROM chunk), (SELECT sum(size) FROM note)"
    notes, chunks, note_bytes = index.db.execute(count).fetchone()
    index_bytes = Path(index.address).stat().st_size
    return {"files": notes, "chunks": chunks, "note_bytes": note_bytes, "index_bytes": index_bytes}


def _revise(place: Place, numbers: list[int], revision: int) -> None:
    for number in numbers:
        vaults.write(place.vault.root, vaults.note(number, revision=revision))


def _walk_and_insert(vault: str, db: sqlite3.Connection, paths: list[str]) -> None:
    for _ in floors.walk(vault):
        pass
    floors.insert(db, paths)


def _asked(index: Index, asked: list[Question], wanted: Filter, repeat: int) -> dict[str, dict[str, list[float]]]:
    times: dict[str, dict[str, list[float]]] = {}
    with contextlib.closing(schema.connect(Path(index.address))) as raw:
        for kind, text in Random(0).sample(asked, len(asked)):
            tried = _in_turn(repeat, ours=_asking(index, text, wanted), floor=_asking_barely(raw, text))
            sides = times.setdefault(kind, {"ours": [], "floor": []})
            for side, seconds in tried.items():
                sides[side].append(min(seconds))
    return times


def _asking(index: Index, text: str, wanted: Filter) -> Callable[[], object]:
    return lambda: search(index, text, wanted, limit=6)


def _asking_barely(db: sqlite3.Connection, text: str) -> Callable[[], object]:
    return lambda: floors.best(db, text)


def _in_turn(repeat: int, **tasks: Callable[[], object]) -> dict[str, list[float]]:
    """Return the seconds of *repeat* tries of each task, in turn, after one of each that does not count."""
    rounds = [{name: _seconds(task) for name, task in tasks.items()} for _ in range(repeat + 1)]
    return {name: [times[name] for times in rounds[1:]] for name in tasks}


def _seconds(task: Callable[[], object]) -> float:
    gc.collect()
    started = time.perf_counter()
    task()
    return time.perf_counter() - started


SAMPLES: dict[str, Callable[..., Answer]] = {
    sample.__name__: sample
    for sample in (
        first_index,
        first_index_floor,
        first_index_plain,
        unchanged,
        walk,
        changed,
        query,
        fresh_query,
        vectors,
        transcript_to_note,
        import_all,
    )
}

if __name__ == "__main__":
    print(json.dumps(SAMPLES[sys.argv[1]](**json.loads(sys.argv[2]))))
