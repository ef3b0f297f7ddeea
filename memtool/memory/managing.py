"""Putting a project's memory in order: what there is, with ids and versions; archiving; changing what was read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from memtool.errors import MemtoolError, NoteNotFound, UsageError
from memtool.history.one_commit import Kept, alone, commit, keep_edits
from memtool.index.engine import catch_up, place_of, use_index
from memtool.index.filters import Filter
from memtool.index.search import newest
from memtool.memory.forget import ForgetTarget, find_target, forget
from memtool.memory.new_memory import NewMemory, prepared
from memtool.memory.remember import by_words, remember
from memtool.text.frontmatter import set_field, split_front_matter, with_body
from memtool.text.lines import one_line
from memtool.text.markdown import heading_text
from memtool.vault.authors import AGENT
from memtool.vault.facts import fields_of, parse_facts
from memtool.vault.files import content_hash, hash_of, read_text, replace
from memtool.vault.kinds import FACT, KINDS, KNOWLEDGE, NOTE, TODO
from memtool.vault.layout import DAILY, area_folder, project_of
from memtool.vault.marks import holds_two_texts
from memtool.vault.memory import Found
from memtool.vault.project_area import ProjectArea
from memtool.vault.reading import OVERVIEW, Ref, read_note
from memtool.vault.todos import change_todo, close_todo, find_todos
from memtool.workspace import Workspace

PAGE = 20  # entries
DONE = "[x]"  # the new content of an open item that is done

_VERSION = re.compile(r"(?P<id>.+)@(?P<version>[0-9a-f]{8})")


class ManagedItem(NamedTuple):
    """An entry of the memory as a list shows it. *version* changes with its content."""

    id: str
    version: str
    kind: str
    date: str = ""
    author: str = ""
    text: str = ""

    @property
    def name(self) -> str:
        """The id with the version, by which it is changed."""
        return f"{self.id}@{self.version}"


class ItemPage(NamedTuple):
    """The page of a list, how many entries there are in all, and whether there is a next page."""

    items: tuple[ManagedItem, ...]
    page: int
    total: int
    more: bool


class Changed(NamedTuple):
    """The result of a deed: what stands now, whether anything was changed, and the commit."""

    name: str
    changed: bool
    kept: Kept = Kept()


def list_items(work: Workspace, *, page: int = 1) -> ItemPage:
    """Return the open items of the project at hand, on the first page, then its notes and facts, newest first.

    Raises:
        MemtoolError: the vault or its index cannot be read.
    """
    project = work.area().name
    wanted = Filter(work.now(), kinds=tuple(KINDS.keys() - {DAILY, TODO}), projects=(project,))
    found = use_index(place_of(work), lambda index: newest(index, wanted, limit=PAGE, page=page))
    todos = list(_todos(work, project))
    notes = filter(None, (_item(work, hit) for hit in found.hits))
    items = (*(todos if page == 1 else ()), *notes)
    return ItemPage(items, page, found.total + len(todos), more=found.total > PAGE * page)


def delete_item(work: Workspace, named: str) -> Changed:
    """Archive what *named* names: nothing is lost, and it comes up no more; an open item is struck out.

    Raises:
        MemtoolError: there is no such thing, it is another project's, or it changed since it was read.
    """
    target, version = _find(work, named)
    if version:
        _check_version(work, target, version)
    done = forget(work, target)
    catch_up(work)
    return Changed(target.name, done.changed, done.kept)


def update_item(work: Workspace, named: str, content: str) -> Changed:
    """Put *content* in the place of what *named* says, an id with the version that was read.

    Of a note or the project's overview, that is the text below its front matter; a fact is superseded by a new one; an
    open item with the content `[x]` is done.

    Raises:
        MemtoolError: it changed since it was read, is another project's, or cannot be written as it is.
    """
    target, version = _find(work, named, or_overview=True)
    if not version:
        hint = "Take it from `list`; it changes whenever the entry does."
        raise UsageError(f"'{target.name}' needs its version, such as {target.name}@3f2a9c01", hint=hint)
    _check_version(work, target, version)
    done = _UPDATES.get(target.what, _refuse)(work, target, version, content)
    catch_up(work)
    return done


def init_project(work: Workspace, content: str = "") -> tuple[ProjectArea, bool, Kept]:
    """Make the area of the project at hand, with the overview *content*; return it and whether it is new.

    Raises:
        UsageError: the folder is no project, or its summary says something already.
    """
    area = work.area()
    if not area.name:
        hint = "Give the folder of a project, such as a git repository."
        raise UsageError(f"'{work.folder}' is no project", hint=hint)
    check_folder(work)
    body = _checked(work, content) if content.strip() else ""
    with alone(work.vault):
        path = work.vault.path(area.ref)
        before = hash_of(path)
        area = work.registered_area()
        text, expected = read_text(path)
        if body and "\n".join(text.split("\n")[split_front_matter(text)[1] - 1 :]).strip() != f"# {area.name}":
            hint = f"Change it with `update`: {area.ref}@{expected[:8]}"
            raise UsageError(f"'{area.ref}' says something already", hint=hint)
        if body:
            replace(path, f"{text.rstrip()}\n\n{body}\n", expected=expected)
        kept = commit(work.vault, [area.ref], "init", area.name) if hash_of(path) != before else Kept()
    catch_up(work)
    return area, before is None, kept


def check_folder(work: Workspace) -> None:
    """Refuse a folder that is not there and that the vault does not know: a slip of the pen makes no project.

    Raises:
        UsageError
    """
    is_known = work.folder.is_relative_to(work.vault.root) or (work.vault.root / work.area().ref).is_file()
    if not work.folder.exists() and not is_known:
        raise UsageError(f"there is no folder '{work.folder}'", hint="Give the absolute path of the project.")


def _find(work: Workspace, named: str, *, or_overview: bool = False) -> tuple[ForgetTarget, str]:
    """Return the item that *named* names and the version in it; those of another project are out of reach.

    A page of the vault is no memory, but the overview of the project at hand is meant, too, *or_overview*.
    """
    match = _VERSION.fullmatch(named.strip())
    ref, version = (match["id"], match["version"]) if match else (named.strip(), "")
    if or_overview and ref == work.area().ref and work.vault.path(ref).is_file():
        return ForgetTarget(NOTE, ref, ref, work.area().name), version
    target = find_target(work, ref)
    project, here = _project_of(work, target), work.area().name
    if project.casefold() not in ("", here.casefold()):
        hint = "Give the path of that project as project_path."
        raise UsageError(f"'{target.name}' belongs to the project '{project}'", hint=hint)
    return target, version


def _project_of(work: Workspace, target: ForgetTarget) -> str:
    if (project := project_of(target.path)) or target.what in (FACT, TODO):
        return project
    return read_note(work.vault, Ref(target.path), level=OVERVIEW, max_bytes=work.max_bytes).project


def _check_version(work: Workspace, target: ForgetTarget, version: str) -> None:
    item = _read(work, target)
    if item.version != version:
        raise UsageError(
            f"'{target.name}' changed since you read it; it says now: {one_line(item.text)[:500]}",
            hint=f"If your change still holds, make it again with {item.name}.",
        )


def _read(work: Workspace, target: ForgetTarget) -> ManagedItem:
    """Return *target* as it stands now."""
    text, digest = read_text(work.vault.path(target.path))
    if target.what == FACT:
        fact = next((fact for fact in parse_facts(text, target.path).facts if fact.id == target.name), None)
        if fact is None:
            raise NoteNotFound(target.name)
        return ManagedItem(target.name, _version_of(json.dumps(fields_of(fact), sort_keys=True)), FACT, text=fact.fact)
    if target.what == TODO:
        return ManagedItem(target.name, _version_of(target.text), TODO, text=target.text)
    return ManagedItem(target.name, digest[:8], target.what, text=text)


def _version_of(text: str) -> str:
    return content_hash(text.encode("utf-8", "replace"))[:8]


def _todos(work: Workspace, project: str) -> Iterator[ManagedItem]:
    ref = f"{area_folder(project)}/todos.md"
    with suppress(MemtoolError, OSError):
        text = read_text(work.vault.path(ref))[0]
        for todo in () if holds_two_texts(text) else find_todos(text):
            if todo.is_open:
                yield ManagedItem(f"{ref}:{todo.line}", _version_of(todo.text), TODO, text=todo.text)


def _item(work: Workspace, hit: Found) -> ManagedItem | None:
    memory = hit.memory
    what, name = (FACT, memory.fact_id) if memory.fact_id else (NOTE, memory.path)
    with suppress(MemtoolError, OSError):
        item = _read(work, ForgetTarget(what, name, memory.path, memory.text))
        text = item.text if memory.fact_id else memory.title
        return item._replace(kind=memory.kind, date=memory.date, author=memory.author, text=text)
    return None


def _checked(work: Workspace, content: str) -> str:
    """Return *content* without secrets, if it can be written into a note."""
    memory = NewMemory(content, kind=KNOWLEDGE)
    return prepared(memory, work.redact, work.now().date(), max_bytes=work.max_bytes).text


def _update_note(work: Workspace, target: ForgetTarget, version: str, content: str) -> Changed:
    body = _checked(work, content)

    def changed(text: str) -> str:
        matter, _ = split_front_matter(text)
        new = with_body(text, body)
        title = heading_text(body.partition("\n")[0])
        named = matter is not None and re.search(r"(?m)^title:", matter) and title
        return set_field(new, "title", title) if named else new

    return _rewrite(work, target, version, changed)


def _update_todo(work: Workspace, target: ForgetTarget, _version: str, content: str) -> Changed:
    said = one_line(_checked(work, content)) if content.strip() != DONE else ""

    def changed(text: str) -> str:
        line = next((todo.line for todo in find_todos(text) if todo.text == target.text and todo.is_open), 0)
        return change_todo(text, line, said) if said else close_todo(text, line, work.session_id, work.language)

    return _rewrite(work, target, "", changed)


def _update_fact(work: Workspace, target: ForgetTarget, _version: str, content: str) -> Changed:
    memory = NewMemory(content, supersedes=target.name, source=work.session_id, author=AGENT)
    done = remember(by_words(work), memory)
    return Changed(done.id, changed=True, kept=done.kept)


def _refuse(_work: Workspace, target: ForgetTarget, _version: str, _content: str) -> Changed:
    raise UsageError(f"'{target.name}' is one line of a note", hint="Update the note as a whole.")


def _rewrite(work: Workspace, target: ForgetTarget, version: str, change: Callable[[str], str]) -> Changed:
    """Write the file of *target* over the version that was read, and commit it."""
    path = work.vault.path(target.path).resolve()
    with alone(work.vault):
        keep_edits(work.vault, [target.path])
        with work.vault.lock():
            text, expected = read_text(path)
            if version and not expected.startswith(version):
                _check_version(work, target, version)
            new = change(text)
            changed = new != text
            digest = replace(path, new, expected=expected) if changed else expected
        kept = commit(work.vault, [target.path], "update", target.text) if changed else Kept()
    return Changed(target.name if target.what == TODO else f"{target.name}@{digest[:8]}", changed, kept)


_UPDATES = {FACT: _update_fact, TODO: _update_todo, NOTE: _update_note}
