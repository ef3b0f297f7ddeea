"""What an index holds, found by its name or by a rule rather than by a search."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from memtool.errors import MemtoolError, NoteNotFound, UsageError
from memtool.index import schema
from memtool.index.engine import Index
from memtool.settings import Settings
from memtool.text.lines import without_surrogates
from memtool.text.tokens import fold
from memtool.vault.files import read_text
from memtool.vault.forgotten import ForgottenTexts, forgotten_in, is_forgotten
from memtool.vault.memory import FACT, Location, Memory
from memtool.vault.reading import Ref, parse_ref, resolve
from memtool.vault.session_names import note_of

if TYPE_CHECKING:
    from memtool.index.engine import Index
    from memtool.index.filters import Filter
    from memtool.index.tables import Tables


def note_refs(db: Tables) -> list[str]:
    """Return the paths of all notes."""
    return [row[0] for row in db.execute("SELECT ref FROM note ORDER BY ref")]


def find_note(db: Tables, name: str) -> str:
    """Return the path of the one note that *name* means (`memtool.vault.reading.resolve`), its aliases included.

    Raises:
        NoteNotFound, UsageError
    """

    def named(alias: str) -> list[str]:
        rows = db.execute(
            "SELECT ref FROM note WHERE instr(names, ?) > 0 ORDER BY ref", (f"\n{fold(without_surrogates(alias))}\n",)
        )
        return [row[0] for row in rows]

    def of_session(begun: str) -> list[str]:
        pattern = f"%\n{_escaped(without_surrogates(fold(begun)))}%"
        sql = "SELECT ref FROM note WHERE names LIKE ? ESCAPE '!' AND ref LIKE '%sessions/%' ORDER BY ref"
        return [row[0] for row in db.execute(sql, (pattern,))]

    def titled(title: str) -> list[str]:
        folded = fold(title)
        return [ref for ref, other in db.execute("SELECT ref, title FROM note ORDER BY ref") if fold(other) == folded]

    return resolve(name, note_refs(db), named, titled, of_session)


def _escaped(text: str) -> str:
    return re.sub("([!%_])", r"!\1", text)


def find_ref(db: Tables, text: str) -> Ref:
    """Return the path of the one note that *text* means, with the lines or the part of it that it names.

    Raises:
        NoteNotFound, UsageError
    """
    asked = parse_ref(text)
    try:
        return asked._replace(name=find_note(db, asked.name))
    except NoteNotFound:
        linked = parse_ref(f"[[{text}]]")  # `Note#Heading`, where no file is called so
        if not linked.part:
            raise
    return linked._replace(name=find_note(db, linked.name))


class SessionPlace(NamedTuple):
    """The note of a session: its path, its title, its date, its project, and its status."""

    ref: str
    title: str
    date: str
    project: str
    status: str = ""


def find_session(index: Index, session: str, wanted: Filter) -> SessionPlace | None:
    """Return the note of the *session* with that id, if it has one that *wanted* leaves."""
    condition, values = wanted.where()
    find = "SELECT n.ref, n.title, c.date, c.project, c.status FROM note AS n JOIN chunk AS c ON c.note_id = n.id WHERE"
    named = f"%\n{_escaped(without_surrogates(fold(session)))}\n%"
    places: list[tuple[str, list[object]]] = [
        ("n.ref = ? AND n.names LIKE ? ESCAPE '!'", [note_of(index.place.vault, session), named]),
        ("n.names LIKE ? ESCAPE '!'", [named]),  # its owner has moved it, or the vault was cloned
    ]
    for where, which in places:
        row = index.db.execute(f"{find} {where} AND {condition} LIMIT 1", [*which, *values]).fetchone()
        if row:
            return SessionPlace(*row)
    return None


def find_fact(db: Tables, fact_id: str) -> Memory | None:
    """Return the fact whose id is *fact_id*, with its evidence; None if there is none.

    Raises:
        UsageError: several files hold a fact of that id.
    """
    rows = db.execute(
        "SELECT n.ref, c.start_line, c.end_line, c.project, n.title, c.text, c.date, c.category, c.status, c.author"
        " FROM chunk AS c JOIN note AS n ON n.id = c.note_id WHERE c.fact_id = ? AND c.fact_id <> ''",
        (without_surrogates(fact_id),),
    ).fetchall()
    if len(rows) > 1:
        places = ", ".join(f"{ref}:{first}-{last}" for ref, first, last, *_ in rows[:5])
        raise UsageError(
            f"'{fact_id}' is the id of {len(rows)} facts: {places}", hint="Name one by its path and lines."
        )
    if not rows:
        return None
    ref, first, last, project, title, text, date, category, status, author = rows[0]
    return Memory(
        fact_id, text, FACT, Location(ref, first, last), title, author=author, project=project, category=category,
        date=date, status=status,
    )  # fmt: skip


def linking_to(db: Tables, ref: str, limit: int) -> list[tuple[str, str]]:
    """Return the paths and titles of at most *limit* notes that link to the note at *ref*, by its file's name."""
    name = ref.rsplit("/", 1)[-1]
    stem = name.rpartition(".")[0] or name
    rows = db.execute(
        "SELECT DISTINCT n.ref, n.title, n.mtime_ns FROM chunk AS c JOIN note AS n ON n.id = c.note_id WHERE n.ref <> ?"
        " AND (instr(c.text, ?) > 0 OR instr(c.text, ?) > 0 OR instr(c.text, ?) > 0) ORDER BY n.mtime_ns DESC LIMIT ?",
        (ref, f"[[{stem}]]", f"[[{stem}|", f"/{name})", limit),
    )
    return [(row[0], row[1]) for row in rows]


def forgotten_of(index: Index, place: SessionPlace, kept: Mapping[str, Any]) -> ForgottenTexts:
    """Return what was forgotten of the session with the note at *place*, which memtool had written as *kept*.

    That is what bears a mark of the note, and the facts and notes of its project that are not given any more.
    """
    return forgotten_of_note(index.db, place.project, read_text(index.place.vault.path(place.ref))[0], kept)


def forgotten_of_note(
    db: Tables, project: str, note: str, kept: Mapping[str, Any] = MappingProxyType({})
) -> ForgottenTexts:
    """Return what was forgotten of the session of *project* whose note is the text *note*."""
    marks = tuple(forgotten_in(note))
    lines = [text for text in _texts(kept) if is_forgotten(text, marks)] if marks else []
    return ForgottenTexts(marks, [*lines, *_archived(db, project)])


def _texts(value: object) -> Iterator[str]:
    """Give the texts in *value*, which JSON knows, however deep."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping | list):
            waiting += each.values() if isinstance(each, Mapping) else each


def _archived(db: Tables, project: str) -> Iterator[str]:
    """Give the facts and the titles of notes, of *project* and of none, that are archived by their status."""
    rows = db.execute(
        "SELECT c.fact_id, c.text, n.title FROM chunk AS c JOIN note AS n ON n.id = c.note_id"
        " WHERE c.project IN (?, '') AND c.status = 'archived' AND c.kind <> 'session' ORDER BY c.id DESC",
        (project,),
    )
    for fact_id, text, title in rows:
        yield text.partition("\n")[0] if fact_id else title


def status(index: Index, settings: Settings, cache: Path) -> dict[str, Any]:
    """Return counts, places and problems of *index*, ready for JSON."""
    chunks = _count(index, "SELECT count(*) FROM chunk")
    problems = [{"path": note.ref, "reason": note.reason} for note in index.broken_notes()]
    return {
        "vault": str(index.place.vault.root),
        "path": index.address,
        "bytes": index.size(),
        "notes": _count(index, "SELECT count(*) FROM note"),
        "chunks": chunks,
        "facts": _count(index, "SELECT count(*) FROM chunk WHERE kind = 'fact'"),
        "fingerprint": schema.fingerprint(index.place.vault.daily),
        "vectors": _vectors(index, settings, cache, chunks),
        "problems": problems,
    }


def _count(index: Index, sql: str) -> int:
    return int(index.db.execute(sql).fetchone()[0])


def _vectors(index: Index, settings: Settings, cache: Path, chunks: int) -> dict[str, Any]:
    from memtool.embeddings import open_embedder  # a search, which says its notices, does without
    from memtool.index.semantic import chunks_skipped, chunks_waiting

    try:
        embedder = open_embedder(settings.embeddings, settings.keys.embeddings, cache, may_download=False)
    except MemtoolError as error:
        return {"model": "", "chunks": 0, "skipped": 0, "why": str(error)}
    waiting, skipped = (count(index.db, embedder.name) for count in (chunks_waiting, chunks_skipped))
    return {"model": embedder.name, "chunks": chunks - waiting - skipped, "skipped": skipped, "why": ""}
