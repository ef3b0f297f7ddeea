"""Memories that other programs keep on this machine, turned into the files of a vault.

claude-mem        SQLite: sessions with observations and summaries become session notes, saved memories facts
memory-service    SQLite of mcp-memory-service: memories become facts, long ones notes
mem0              the SQLite history of its open-source version, or the JSON of `get_all`: facts
basic-memory      a folder of Markdown: notes, word for word
markdown          any other folder of Markdown: notes, word for word

A database is copied and read there, so nothing of another program's is written, not even beside it. Ids and dates are
kept: what is imported twice is the same files twice.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from memtool.errors import BrokenVaultFile, NoteNotFound, UsageError
from memtool.memory.limits import LONGEST_CLAIM
from memtool.text.frontmatter import quoted, set_field, set_list
from memtool.text.lines import one_line
from memtool.text.near_duplicates import letters
from memtool.vault.facts import Fact, parse_facts, render_facts
from memtool.vault.layout import FACTS_FILE, area_folder, session_ref
from memtool.vault.memory import CATEGORIES, DECISION, FINDING, FIX, FOLDERS, IMPORTED, KNOWLEDGE, OPEN, NewMemory
from memtool.vault.note import Note, parse_note, render_note, slug, title_of
from memtool.vault.project_area import area_name, known_projects
from memtool.vault.scan import scan
from memtool.vault.sessions import Draft, Line, SessionNote, render_session
from memtool.workspace import Workspace

_BOOKKEEPING = ("untagged", "conflict:")  # tags that mcp-memory-service sets by itself
_ROLES = {"decision": DECISION, "bugfix": FIX, "feature": "", "refactor": "", "change": ""}


class Document(NamedTuple):
    """One Markdown file of another program, by its path below the folder."""

    path: str
    text: str
    at: datetime


# A memory of another program is a fact with the ids of that program; a long one becomes a note.
Item: TypeAlias = Fact | Document | SessionNote


class Store(NamedTuple):
    """A program that memories come from: its title, the usual place of what it keeps, if any, and its reader."""

    title: str
    usual: Callable[[Path, Mapping[str, str]], Path | None]
    read: Callable[[Path], Iterator[Item]]


class Taken(NamedTuple):
    """The files that a store becomes, by their paths in the vault, and how many of its items were known already."""

    files: Mapping[str, str]
    items: int
    known: int


def read_store(name: str, path: Path) -> list[Item]:
    """Return the memories that the program *name* keeps at *path*.

    Raises:
        UsageError: nothing is there, or it is something else.
    """
    store = STORES[name]
    if not path.exists():
        raise UsageError(f"there is no '{path}'", hint=f"Name what {store.title} keeps with `--from PATH`.")
    try:
        return list(store.read(path))
    except (
        sqlite3.Error,
        OSError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise UsageError(f"'{path}' is not a file of {store.title}: {error}") from None


def files_of(work: Workspace, name: str, items: Iterable[Item], project: str = "") -> Taken:
    """Return the files that *items* of the program *name* become; those without a project go to *project*.

    A fact that says what a fact of the vault says, and a session that the vault knows by itself, are left out.
    """
    names = {known.casefold(): known for known in known_projects(work.vault)}
    facts: dict[str, dict[str, Fact]] = defaultdict(dict)
    files: dict[str, str] = {}
    count = known = 0
    for item in items:
        count += 1
        owner = area_name(getattr(item, "project", "") or project)
        owner = names.get(owner.casefold(), owner)
        if isinstance(item, SessionNote):
            ref, text = session_ref(item.id), render_session(item._replace(project=owner), language=work.language)
            if _is_anothers(work, ref, name):
                known += 1
                continue
        elif isinstance(item, Document):
            ref, text = f"{area_folder(owner)}/knowledge/{item.path}", _document(name, item)
        elif len(item.fact) > LONGEST_CLAIM or "\n" in item.fact:  # it becomes a note
            ref, text = _note(name, item, owner, files)
        else:
            fact = _fact(name, item)
            if letters(fact.fact) in facts[area_folder(owner)]:
                known += 1
            facts[area_folder(owner)].setdefault(letters(fact.fact), fact)
            continue
        files[ref] = text
    for folder, found in facts.items():
        ref = f"{folder}/{FACTS_FILE}"
        existing: dict[str, str] = {}
        with suppress(NoteNotFound):
            text = work.vault.read(ref)[0]
            existing = {letters(fact.fact): fact.id for fact in parse_facts(text).facts}
        new = [fact for said, fact in found.items() if existing.get(said, fact.id) == fact.id]
        known += len(found) - len(new)
        files |= {ref: render_facts(new)} if new else {}
    return Taken(files, count, known)


def _is_anothers(work: Workspace, ref: str, name: str) -> bool:
    """Return whether the session note at *ref* was made from something else than the store *name*."""
    try:
        note = parse_note(ref, work.vault.path(ref).read_bytes())
    except FileNotFoundError:
        return False
    return not isinstance(note, Note) or note.field("client") != name


def _fact(name: str, memory: Fact) -> Fact:
    """Return *memory* with ids of ours, and its origin."""
    return memory._replace(
        id=_id(name, memory.id, memory.timestamp),
        fact=memory.fact.strip(),
        evidence=f"kept by {STORES[name].title}",
        status="superseded" if memory.superseded_by else "active",
        superseded_by=_id(name, memory.superseded_by, memory.timestamp) if memory.superseded_by else "",
        category=memory.category if memory.category in CATEGORIES else "general",
        source=f"{name}:{memory.id}",
        author=IMPORTED,
        project="",
        summary="",
    )


def _id(name: str, foreign: str, timestamp: str) -> str:
    digest = hashlib.sha256(f"{name}:{foreign}".encode()).hexdigest()
    return f"fact-{timestamp[:10].replace('-', '')}-{digest[:10]}"


def _note(name: str, memory: Fact, project: str, files: Mapping[str, str]) -> tuple[str, str]:
    """Return the path and the text of the note that *memory* becomes."""
    title, day = memory.summary or title_of(memory.fact), memory.timestamp[:10]
    new = NewMemory(
        memory.fact, KNOWLEDGE, project=project, tags=memory.tags, author=IMPORTED, source=f"{name}:{memory.id}"
    )
    text = render_note(new, title=title, date=day)
    base = f"{area_folder(project)}/{FOLDERS[KNOWLEDGE]}/{day}-{slug(title)}"
    ref = f"{base}.md"
    return (ref if files.get(ref, text) == text else f"{base}-{_id(name, memory.id, memory.timestamp)[-6:]}.md"), text


def _document(name: str, document: Document) -> str:
    """Return the text of *document* with its day and its origin in the front matter, where these are missing."""
    note = parse_note(document.path, document.text.encode())
    if not isinstance(note, Note):
        return document.text
    text = document.text
    with suppress(BrokenVaultFile):  # its front matter is another program's; it stays as it is
        if "date" not in note.fields:
            day = note.field("created")[:10] or f"{document.at:%Y-%m-%d}"
            text = set_field(text, "date", quoted(day))
        if "sources" not in note.fields:
            text = set_list(text, "sources", [f"{name}:{note.field('permalink') or document.path}"])
    return text


# The readers


def _claude_mem(path: Path) -> Iterator[Item]:
    with _copied(path) as db:
        sessions = {row["memory_session_id"]: row for row in db.execute("SELECT * FROM sdk_sessions")}
        observations, summaries = defaultdict(list), defaultdict(list)
        for row in db.execute("SELECT * FROM observations ORDER BY created_at_epoch, id"):
            observations[row["memory_session_id"]].append(row)
        for row in db.execute("SELECT * FROM session_summaries ORDER BY created_at_epoch, id"):
            summaries[row["memory_session_id"]].append(row)
    for name in dict.fromkeys([*observations, *summaries]):
        if name.startswith("manual-"):
            yield from map(_saved_memory, observations[name])
        else:
            yield _claude_mem_session(name, sessions.get(name), observations[name], summaries[name])


def _saved_memory(row: sqlite3.Row) -> Fact:
    text = row["narrative"] or row["text"] or row["title"] or ""
    project = _column(row, "merged_into_project") or row["project"]
    tags = tuple(_strings(row["concepts"]))
    at = _stamp(_milliseconds(row))
    return Fact(text, str(row["id"]), timestamp=at, tags=tags, project=project or "", summary=row["title"] or "")


def _claude_mem_session(
    name: str, session: sqlite3.Row | None, observations: list[sqlite3.Row], summaries: list[sqlite3.Row]
) -> SessionNote:
    rows = [*observations, *summaries]
    last = summaries[-1] if summaries else None
    lines = [_line(_statement(row), _ROLES.get(row["type"], FINDING)) for row in observations]
    lines += [_line(row["learned"], FINDING) for row in summaries]
    lines += [_line(row["completed"], "") for row in summaries]
    lines += [_line(last["next_steps"] if last else "", OPEN)]
    lines = [line for line in lines if line.text]
    touched = [_strings(row["files_modified"]) for row in observations]
    touched += [_strings(row["files_edited"]) for row in summaries]
    asked = one_line((last and last["request"]) or (session and session["user_prompt"]) or "")
    return SessionNote(
        id=session["content_session_id"] if session else name,
        project=_column(rows[-1], "merged_into_project") or rows[-1]["project"],
        updated=f"{max(map(_milliseconds, rows)).astimezone():%Y-%m-%d %H:%M}",
        client="claude-mem",
        tags=tuple(dict.fromkeys(tag for row in observations for tag in _strings(row["concepts"]))),
        draft=Draft(
            title=asked or next((line.text for line in lines), name),
            lines=tuple(lines),
            files=tuple(dict.fromkeys(file for files in touched for file in files)),
        ),
    )


def _line(text: str | None, role: str) -> Line:
    return Line(one_line(text or ""), role, IMPORTED)


def _statement(row: sqlite3.Row) -> str:
    """Return an observation as one line: its title and its text."""
    texts = [one_line(row["narrative"] or row["text"] or row["subtitle"] or ""), *map(one_line, _strings(row["facts"]))]
    rest = "; ".join(text.rstrip(".;。；") for text in texts if text)
    return ": ".join(filter(None, [one_line(row["title"] or ""), rest]))


def _memory_service(path: Path) -> Iterator[Item]:
    with _copied(path) as db:
        for row in db.execute("SELECT * FROM memories ORDER BY created_at, id"):
            if _column(row, "deleted_at") is None:
                tags = [tag.strip() for tag in (row["tags"] or "").split(",")]
                yield Fact(
                    row["content"],
                    row["content_hash"],
                    timestamp=_stamp(datetime.fromtimestamp(row["created_at"] or 0, UTC)),
                    category=row["memory_type"] or "",
                    tags=tuple(tag for tag in tags if tag and not tag.startswith(_BOOKKEEPING)),
                    superseded_by=_column(row, "superseded_by") or "",
                )


def _mem0(path: Path) -> Iterator[Item]:
    if path.read_bytes()[:6] != b"SQLite":
        yield from map(_mem0_result, _mem0_results(path))
        return
    latest: dict[str, sqlite3.Row] = {}
    with _copied(path) as db:
        for row in db.execute("SELECT * FROM history ORDER BY coalesce(updated_at, created_at), rowid"):
            latest[row["memory_id"]] = row
    for name, row in latest.items():
        if row["event"] != "DELETE" and row["new_memory"]:
            yield Fact(row["new_memory"], name, timestamp=_iso(row["updated_at"] or row["created_at"]))


def _mem0_results(path: Path) -> list[dict[str, Any]]:
    if path.stat().st_size > 256 << 20:
        raise ValueError("it has more than 256 MB")
    document = json.loads(path.read_text(encoding="utf-8-sig"))
    results = document.get("results") if isinstance(document, dict) else document
    if not isinstance(results, list):
        raise ValueError("it has no list of memories")  # noqa: TRY004  (a file's fault, like a bad number in it)
    return results


def _mem0_result(result: dict[str, Any]) -> Fact:
    about = result.get("metadata") or {}
    categories = [about.get("category"), *(result.get("categories") or [])]
    category = next((each for each in categories if each in CATEGORIES), "")
    at = _iso(result.get("updated_at") or result.get("created_at"))
    return Fact(str(result["memory"]), str(result["id"]), timestamp=at, category=category)


def _markdown(path: Path) -> Iterator[Item]:
    if not path.is_dir():
        raise ValueError("it is not a folder")
    for ref in sorted(scan(path).stamps):
        if ref.endswith(".md"):
            text = (path / ref).read_bytes().decode("utf-8-sig", "replace")
            yield Document(ref, text, datetime.fromtimestamp((path / ref).stat().st_mtime, UTC))


@contextmanager
def _copied(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a copy of the database at *path*, with what its program has not yet moved into it."""
    with tempfile.TemporaryDirectory(prefix="memtool-import-") as folder:
        copy = Path(folder, "copy.db")
        for suffix in ("", "-wal"):
            if Path(f"{path}{suffix}").is_file():
                shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
        with closing(sqlite3.connect(copy)) as db:
            db.row_factory = sqlite3.Row
            yield db


def _column(row: sqlite3.Row, name: str) -> Any:  # noqa: ANN401  (whatever the column holds)
    """Return a column that older versions of the program do not have."""
    return row[name] if name in row.keys() else None  # noqa: SIM118  (`in` looks at the values)


def _milliseconds(row: sqlite3.Row) -> datetime:
    return datetime.fromtimestamp(row["created_at_epoch"] / 1000, UTC)


def _iso(text: str | None) -> str:
    at = datetime.fromisoformat(text) if text else datetime.fromtimestamp(0, UTC)
    return _stamp((at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC))


def _stamp(at: datetime) -> str:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def _strings(listed: str | None) -> list[str]:
    """Return the strings of a JSON list in a column, which may be empty or no list at all."""
    try:
        values = json.loads(listed or "[]")
    except ValueError:
        return []
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


def _memory_service_place(home: Path, environ: Mapping[str, str]) -> Path:
    """Return where mcp-memory-service keeps its database, as its own settings decide."""
    base = home / ".local" / "share"
    if sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    elif os.name == "nt":
        base = Path(environ.get("LOCALAPPDATA", home))
    return Path(environ.get("MCP_MEMORY_BASE_DIR") or base / "mcp-memory") / "sqlite_vec.db"


STORES: Mapping[str, Store] = {
    "claude-mem": Store(
        "claude-mem",
        lambda home, environ: Path(environ.get("CLAUDE_MEM_DATA_DIR") or home / ".claude-mem") / "claude-mem.db",
        _claude_mem,
    ),
    "memory-service": Store("mcp-memory-service", _memory_service_place, _memory_service),
    "mem0": Store("mem0", lambda home, environ: Path(environ.get("MEM0_DIR") or home / ".mem0") / "history.db", _mem0),
    "basic-memory": Store(
        "Basic Memory",
        lambda home, environ: Path(environ.get("BASIC_MEMORY_HOME") or home / "basic-memory"),
        _markdown,
    ),
    "markdown": Store("the folder", lambda _home, _environ: None, _markdown),
}
