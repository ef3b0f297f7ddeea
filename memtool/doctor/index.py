"""The health of the index and the vectors of a vault, checked in a copy."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from memtool.doctor.check import BROKEN, NAMED, NOTE, OK, Check, broken
from memtool.doctor.vault import can_write
from memtool.embeddings import open_embedder
from memtool.errors import Busy, MemtoolError, NotWritable
from memtool.index import generations
from memtool.index.engine import Index, Place, place_of, use_index
from memtool.index.engines import engine_class
from memtool.index.files import FileEngine
from memtool.index.semantic import chunks_skipped, chunks_waiting
from memtool.index.sqlite import SqliteIndex, is_as_indexed
from memtool.index.tables import Tables
from memtool.settings import Settings
from memtool.text.lines import counted, some_of
from memtool.vault.layout import find_state_folder
from memtool.vault.marks import UNSOLVED
from memtool.vault.scan import Changes, Scan, changes
from memtool.workspace import Workspace

LARGE_INDEX = 200_000_000  # bytes of an index that is read whole to find damage


def index_checks(work: Workspace, found: Scan, *, deep: bool = False) -> list[Check]:
    """Return the findings about the index and the vectors; *deep* reads a large index.

    *found* are the files of the vault.
    """
    vault, settings = work.vault, work.settings
    try:
        cache, outside = work.cache, work.outside
        folder = find_state_folder(vault, cache)
        if not (folder or can_write(vault.state_path) or can_write(cache)):
            raise NotWritable(f"neither '{vault.state_path}' nor '{cache}' can be written")
        if not engine_class(settings.index.engine).keeps_files:
            return use_index(
                place_of(work),
                lambda index: [
                    *_index_health(index, work, deep=deep),
                    Check("engine", OK, f"the index is in {index.address}"),
                ],
            )

        def look(index: Index) -> list[Check]:
            return [*_index_health(index, work, deep=deep), *_embedder_health(index, settings, cache)]

        if folder and not deep and (in_place := _of_large_index(work, folder, found, look)):
            return in_place
        with tempfile.TemporaryDirectory(prefix="memtool-doctor-", ignore_cleanup_errors=True) as aside:
            _copy_index(folder, Path(aside))
            place = Place(vault, Path(aside), max_bytes=work.max_bytes, outside=outside, ignore=settings.index.ignore)
            return use_index(place, look)
    except MemtoolError as error:
        return [broken("index", error)]
    except OSError as error:
        return [Check("index", BROKEN, f"it cannot be examined: {error.strerror}", NotWritable.hint)]


def _of_large_index(
    work: Workspace, folder: Path, found: Scan, look: Callable[[Index], list[Check]]
) -> list[Check] | None:
    """Return what *look* finds in an index that takes long to copy, as it is; None for a small or unusable one."""
    path = generations.current(folder / "index")
    if path is None or path.stat().st_size <= LARGE_INDEX:
        return None
    with contextlib.suppress(Busy, NotWritable), FileEngine(folder).current() as db:
        index = SqliteIndex(place_of(work), db, path)
        found = Scan(dict(found.stamps), [*found.unreadable], [*found.problems])
        work.outside.add_to(found, work.vault.root)
        index.problems = found.problems
        pending = Changes((), ()) if index.is_settled_by(found) else changes(index.stamps(), found)
        index.applied.changed = [ref for ref in pending.suspects if not is_as_indexed(index, ref)]
        index.applied.removed = list(pending.gone)
        return look(index)
    return None


def _copy_index(folder: Path | None, aside: Path) -> None:
    """Copy the index in *folder*, if there is one: bringing it up to date and looking for damage would change it."""
    path = generations.current(folder / "index") if folder else None
    if path:
        (aside / "index").mkdir()
        for part in (path, path.with_name(f"{path.name}-wal")):
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(part, aside / "index" / part.name)
        (aside / "index" / "current").write_text(path.name, encoding="ascii")


def _index_health(index: Index, work: Workspace, *, deep: bool) -> Iterator[Check]:
    if index.rebuilt:
        yield Check("index", NOTE, f"the next search rebuilds it: {index.rebuilt}")
    is_read = deep or index.size() <= LARGE_INDEX
    damage = _damage(index.db) if is_read else ""
    if damage:
        fix = "Run `memtool index --rebuild`, or `memtool doctor --fix`."
        yield Check("index", BROKEN, f"it is damaged: {damage}", fix, lambda: _rebuilt(work))
        return
    counts = "SELECT (SELECT count(*) FROM note), (SELECT count(*) FROM chunk)"
    notes, chunks = index.db.execute(counts).fetchone()
    new = len(index.applied.added) + len(index.applied.changed) + len(index.applied.removed)
    news = f"; {counted(new, 'file is', 'files are')} not in it until the next search" if new else ", up to date"
    unread = "" if is_read else "; it is large, and only `memtool doctor --deep` reads all of it"
    yield Check("index", OK, f"{counted(notes, 'note')} in {counted(chunks, 'chunk')}{news}{unread}")
    broken = index.broken_notes()
    if left := [note.ref for note in broken if note.reason == UNSOLVED]:
        sentence = f"conflict marks in {some_of(left, NAMED)}; agents do not receive such a file"
        yield Check("sync", NOTE, sentence, "Keep the right version, with an editor.")
    for note in broken[:NAMED]:
        yield Check("notes", BROKEN, f"{note.ref}: {note.reason}", "Fix the file with an editor, or move it away.")
    if len(broken) > NAMED:
        yield Check("notes", BROKEN, f"and {len(broken) - NAMED} more", "`memtool index --status` lists them all.")


def _rebuilt(work: Workspace) -> str:
    folder = work.index_folder
    use_index(place_of(work), lambda _: None, rebuild=True)
    return f"rebuilt the index in '{folder}'"


def _damage(db: Tables) -> str:
    if not isinstance(db, sqlite3.Connection):
        return ""  # a server looks after its own files
    answer = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
    if answer != "ok":
        return answer
    try:
        db.execute("INSERT INTO chunk_terms (chunk_terms) VALUES ('integrity-check')")
    except sqlite3.OperationalError:  # someone is writing, which is no damage
        raise
    except sqlite3.DatabaseError as error:
        return str(error)
    return ""


def _embedder_health(index: Index, settings: Settings, cache: Path) -> Iterator[Check]:
    if settings.embeddings.provider == "none" or settings.search.mode == "bm25":
        yield Check("vectors", OK, "switched off: search is by words")
        return
    try:
        embedder = open_embedder(settings.embeddings, settings.keys.embeddings, cache, may_download=False)
        embedder.embed_query("probe 探测")
    except MemtoolError as error:
        state = BROKEN if settings.has_chosen_embedder else NOTE
        yield Check("vectors", state, f"search is by words only: {error}", error.hint)
        return
    waiting = chunks_waiting(index.db, embedder.name)
    if waiting:
        chunks = counted(waiting, "chunk has", "chunks have")
        yield Check("vectors", NOTE, f"{chunks} no vector yet", "Run `memtool index`.")
    knows = ", ".join(sorted(embedder.scripts))
    skipped = chunks_skipped(index.db, embedder.name)
    more = f"; {counted(skipped, 'chunk')} in other scripts, found by words only" if skipped else ""
    yield Check("vectors", OK, f"{embedder.name}, {embedder.dimension} dimensions, knows {knows}{more}")
