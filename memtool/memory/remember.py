"""Remembering: one fact, note or open item into its place, unless the vault says so already; and one commit.

make clean, redact, check                                   no lock
alone: look for what says the same, or otherwise            through the index
       write                                                over the version that was read
       commit                                               exactly the files that were written
"""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import count

from memtool.errors import Busy, MemtoolError, NoteNotFound, NotWritable, UsageError
from memtool.history.one_commit import alone, commit, keep_edits
from memtool.history.uncommitted import note_uncommitted
from memtool.index.engine import Index, place_of, use_index
from memtool.index.lookup import find_fact
from memtool.index.semantic import VectorSource
from memtool.memory.new_memory import MemoryChange, Neighbours, find_neighbours, prepared
from memtool.text.languages import labels
from memtool.text.lines import brief
from memtool.text.near_duplicates import is_same, letters, statement
from memtool.vault.facts import Fact, add, new_fact_id, supersede, supersede_by, update_facts
from memtool.vault.files import hash_of, replace
from memtool.vault.layout import FACTS_FILE, area_folder, project_of, projects_of
from memtool.vault.memory import (
    AGENT,
    FACT,
    FOLDERS,
    KINDS,
    TODO,
    TOOL,
    USER,
    Location,
    Memory,
    NewMemory,
    is_past,
    standing_category,
    trust,
)
from memtool.vault.note import render_note, slug, title_of
from memtool.vault.project_area import area_name, is_same_name
from memtool.vault.todos import add_todo, find_todos, new_todos, todo_line
from memtool.workspace import Workspace


class AlreadyKnown(MemtoolError):
    """A *memory* in the vault says the same."""

    hint = "To write it all the same: --force. To put it in the place of a fact: --supersedes ID."

    def __init__(self, memory: Memory) -> None:
        super().__init__(f"'{memory.id}' says so already: {brief(memory.text, 120)}")
        self.memory = memory


def remember(work: Workspace, memory: NewMemory) -> MemoryChange:
    """Write *memory* into the vault, and commit it.

    Raises:
        AlreadyKnown: something says the same; nothing was written.
        UsageError: it cannot be written as it is.
    """
    memory = prepared(work, memory)
    project, notices = _project(work, memory)
    with alone(work.vault):
        place = FOLDERS.get(memory.kind) or KINDS[memory.kind].file or FACTS_FILE
        ref = f"{area_folder(project)}/{place}"
        found = Neighbours()
        if memory.kind != TODO:
            ref, project, found, more = _look(work, memory, ref, project)
            notices += more
            if found.twin:
                memory = _beside(memory, found.twin, ref)
        if memory.kind in _WRITERS:
            keep_edits(work.vault, [ref])
        registered = _register(work, memory, project)  # first: what was written already is not written again
        try:
            written = _WRITERS.get(memory.kind, _write_note)(work, memory, ref, project)
        except MemtoolError:
            note_uncommitted(work.vault, registered)
            raise
        kept = commit(
            work.vault, [written.path, *registered], "remember", f"{project}: {memory.text}" if project else memory.text
        )
    written = written._replace(kind=memory.kind, project=project, author=memory.author)
    redacted = {kind: number for kind, number in work.redact.counts.items() if kind}
    notices += [kept.notice] if kept.notice else []
    return MemoryChange(
        written, kept=kept, contradictions=found.contradictions, superseded=memory.supersedes, redacted=redacted,
        notices=tuple(notices),
    )  # fmt: skip


def by_words(work: Workspace) -> Workspace:
    """Return *work* with a search that loads no model: a server stays small, and its client does not wait."""
    return work._replace(settings=work.settings._replace(search=work.settings.search._replace(mode="bm25")))


def _project(work: Workspace, memory: NewMemory) -> tuple[str, list[str]]:
    """Return the name of the project that *memory* belongs to, empty for none, and what the user should know."""
    if memory.project is None:
        return work.project(), []
    if not memory.project:
        return "", []
    same = [name for name in projects_of(work.vault) if is_same_name(name, memory.project)]
    if same:
        return (memory.project if memory.project in same else same[0]), []
    name = area_name(memory.project)
    if not is_same_name(name, memory.project):
        hint = f"Try '{name}'." if name else "Use letters and digits."
        raise UsageError(f"'{memory.project}' is no name for a project", hint=hint)
    return name, [f"'{name}' is a new project in this vault"]


def _look(work: Workspace, memory: NewMemory, ref: str, project: str) -> tuple[str, str, Neighbours, list[str]]:
    """Return where *memory* goes (beside the fact that it supersedes), its neighbours, and notices."""

    def look(index: Index) -> tuple[str, str, Neighbours]:
        there, owner = ref, project
        if memory.supersedes:
            old = find_fact(index.db, memory.supersedes)
            if old is None:
                raise NoteNotFound(memory.supersedes)
            if memory.project is not None and old.path != ref:
                hint = "Leave out --project: a fact is superseded in its own place."
                raise UsageError(f"the fact '{memory.supersedes}' is in '{old.path}'", hint=hint)
            there, owner = old.path, project_of(old.path)
        vectors, today = None, work.now().date()
        if memory.kind == FACT and work.settings.search.mode != "bm25":
            vectors = VectorSource(index, work.settings, work.cache).choose(memory.text, "hybrid").vectors
        found = find_neighbours(
            index, memory.text, memory.kind, owner, today, ref=there, besides=memory.supersedes, vectors=vectors
        )
        return there, owner, found

    try:
        place = place_of(work)
        if not memory.supersedes:  # which may lie anywhere
            place = place._replace(within=(f"{area_folder(project)}/", f"{area_folder('')}/"))
        there, owner, found = use_index(place, look)
    except (Busy, NotWritable) as error:
        if memory.supersedes:
            raise
        return ref, project, Neighbours(), [f"duplicates were not looked for: {error}"]
    if memory.exact and (memory.kind == FACT or (found.twin and letters(found.twin.text) != letters(memory.text))):
        found = found._replace(twin=None)  # facts are compared where they are written
    return there, owner, found, []


def _beside(memory: NewMemory, twin: Memory, ref: str) -> NewMemory:
    """Return *memory* as it is written into *ref* although *twin* says the same: a fact of a weaker author gives way.

    Raises:
        AlreadyKnown: it is not to be written.
    """
    is_there = bool(twin.fact_id) and twin.path == ref
    # The twin may be the new fact itself: written before, and only now known to supersede another one.
    is_itself = bool(memory.supersedes) and is_there and _says_the_same(memory.text, twin.text)
    if memory.force or is_itself:
        return memory
    if is_there and not memory.supersedes and trust(memory.author) > trust(twin.author):
        return memory._replace(supersedes=twin.id)
    raise AlreadyKnown(twin)


def _says_the_same(text: str, other: str) -> bool:
    return letters(text) == letters(other) and is_same(statement(text), statement(other))


def _register(work: Workspace, memory: NewMemory, project: str) -> list[str]:
    """See to it that the project of the working folder is known again; return the summary if that changed it."""
    if memory.project is not None or not project or work.folder.is_relative_to(work.vault.root):
        return []
    area = work.area()
    if area.name != project:  # the fact went to the place of the one that it supersedes
        return []
    path = work.vault.path(area.ref)
    before = hash_of(path)
    with suppress(MemtoolError):  # the memory is written all the same; the next session registers the project
        work.registered_area()
    return [area.ref] if hash_of(path) != before else []


def _write_fact(work: Workspace, memory: NewMemory, ref: str, _project: str) -> Memory:
    fact_id = new_fact_id(work.now, work.random)
    linked: list[str] = []

    def change(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
        twin = None if memory.force else _exact_twin(work, memory, facts)
        if twin and memory.supersedes not in ("", twin.id):
            linked.append(twin.id)
            return supersede_by(facts, memory.supersedes, twin.id)
        if twin:
            raise AlreadyKnown(Memory(twin.id, twin.fact, FACT, Location(ref)))
        fact = _fact(work, memory, fact_id, facts)
        return supersede(facts, memory.supersedes, fact) if memory.supersedes else add(facts, fact)

    file = update_facts(work.vault, ref, change)
    written_id = linked[0] if linked else fact_id
    return next(one for one in file.memories() if one.id == written_id)


def _exact_twin(work: Workspace, memory: NewMemory, facts: tuple[Fact, ...]) -> Fact | None:
    """Return the fact of the same file that says the same. The index has looked, but may have been behind."""
    now = work.now()
    current = (fact for fact in facts if fact.id and fact.status == "active" and not is_past(fact.expires, now))
    if memory.exact:
        wanted = memory.text, standing_category(memory.category or "general", memory.author)
        return next((fact for fact in current if (fact.fact, fact.category) == wanted), None)
    heeded = (fact for fact in current if trust(fact.author) >= trust(memory.author))
    return next((fact for fact in heeded if _says_the_same(memory.text, fact.fact)), None)


def _fact(work: Workspace, memory: NewMemory, fact_id: str, facts: tuple[Fact, ...]) -> Fact:
    old = next((fact for fact in facts if fact.id == memory.supersedes), None)
    if old and trust(memory.author) < trust(old.author):
        whose = "the user's own word" if old.author == USER else "more than the output of a tool"
        hint = "If the user has said so, add `--author user`."
        raise UsageError(f"the fact '{old.id}' is {whose}, so it stays", hint=hint)
    category = memory.category or (old.category if old else "general")
    return Fact(
        id=fact_id,
        fact=memory.text,
        evidence=_evidence(work, memory),
        timestamp=work.now().isoformat(timespec="seconds"),
        category=standing_category(category, memory.author),
        tags=memory.tags,
        source=memory.source,
        author=memory.author,
        expires=memory.expires,
        summary=memory.summary,
        anchors=memory.anchors,
    )


def _evidence(work: Workspace, memory: NewMemory) -> str:
    """Return the evidence of *memory*; in a team's vault also who wrote it through the service."""
    label = labels("evidence", work.language)
    said = memory.evidence or (label["session"].format(memory.source) if memory.source else "")
    if not work.vault.author:
        return said or label["agent" if memory.author in (AGENT, TOOL) else "user"]
    by = label["service"].format(work.vault.author.partition(" <")[0])
    return f"{said}; {by}" if said else by


def _write_note(work: Workspace, memory: NewMemory, ref: str, project: str) -> Memory:
    title, date = title_of(memory.text), work.now().date().isoformat()
    text = render_note(memory._replace(project=project), title=title, date=date)
    stem = f"{ref}/{date}-{slug(title)}"
    with work.vault.lock():
        names = (f"{stem}-{number}.md" if number > 1 else f"{stem}.md" for number in count(1))
        name = next(name for name in names if not os.path.lexists(work.vault.path(name)))
        replace(work.vault.path(name), text, expected=None)
    return Memory(name, memory.text, memory.kind, Location(name, 1, text.count("\n")), category=memory.category)


def _write_todo(work: Workspace, memory: NewMemory, ref: str, project: str) -> Memory:
    item = todo_line(
        memory.text, type=memory.type, due=memory.due, tags=memory.tags, source=memory.source, language=work.language
    )
    path = work.vault.path(ref).resolve()
    with work.vault.lock():
        text, expected = new_todos(project, work.language), None
        with suppress(NoteNotFound):
            text, expected = work.vault.read(ref)
        if not memory.force:
            new = statement(memory.text)
            for todo in find_todos(text):
                if todo.is_open and is_same(new, statement(todo.task)):
                    raise AlreadyKnown(_item(ref, todo.line, todo.task))
        text, line = add_todo(text, item)
        replace(path, text, expected=expected)
    return _item(ref, line, memory.text)


def _item(ref: str, line: int, text: str) -> Memory:
    return Memory(f"{ref}:{line}", text, TODO, Location(ref, line, line))


_WRITERS = {FACT: _write_fact, TODO: _write_todo}
