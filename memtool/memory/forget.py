"""Finding what a person or an agent names, and forgetting it: archived so that git can bring it back, or removed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress

from memtool.errors import BrokenVaultFile, NoteNotFound, NotWritable, OutsideVault, UsageError
from memtool.history.one_commit import alone, commit, keep_edits
from memtool.index.engine import Index, place_of, use_index
from memtool.index.lookup import find_fact, find_ref
from memtool.memory import limits
from memtool.memory.echoes import forget_echoes, statements_of
from memtool.memory.new_memory import MemoryChange
from memtool.processes import note_write
from memtool.recall.answers.statements import BETWEEN, passages
from memtool.recall.framing import is_line_id
from memtool.recall.given import GivenLine, find_given, lines_of_start
from memtool.recall.ledger import ledger_folder
from memtool.recall.start.session_start import session_context
from memtool.text.frontmatter import set_field
from memtool.text.lines import without_surrogates
from memtool.text.markdown import blocks, without_mark
from memtool.text.near_duplicates import letters
from memtool.vault import files
from memtool.vault.facts import archive, parse_facts, purge, update_facts
from memtool.vault.forgotten import forget_item, statement_of
from memtool.vault.layout import is_archived, is_facts_file, is_outside, kind_of, project_of, projects_of
from memtool.vault.memory import ASKED, FACT, KINDS, NOTE, SESSION, SUMMARY, TITLE, TODO, Location, Memory
from memtool.vault.note import Note, parse_note
from memtool.vault.old_sessions import is_old
from memtool.vault.reading import Ref, with_lines
from memtool.vault.sessions import lines_of
from memtool.vault.todos import drop_todo, find_todos, remove_todo
from memtool.workspace import Workspace

ARCHIVED, DONE = "archived", "done"
LINE = "line"  # the kind of a line of a note that is no open item

_ABOUT = (TITLE, SUMMARY, ASKED)  # roles of lines that say what a session was about


def sort_of(memory: Memory) -> str:
    """Return how *memory* is forgotten: as a `fact`, a `todo`, a `line` of a note, or a `note` as a whole."""
    return memory.kind if memory.kind in (FACT, LINE) or memory.id != memory.path else NOTE


def _named(work: Workspace, name: str) -> Memory:
    """Return the fact, the note or the open item that *name* means, a short id apart."""
    text = without_surrogates(name).removeprefix(f"{work.vault.root}{os.sep}")

    def look(index: Index) -> tuple[Ref, str]:
        fact = find_fact(index.db, text)
        return (Ref(fact.path), text) if fact else (find_ref(index.db, text), "")

    asked, fact_id = use_index(place_of(work), look)
    asked = with_lines(work.vault, asked)
    path = work.vault.path(asked.name)
    if not is_facts_file(asked.name) and not asked.first:
        return _note(asked.name, files.read_content(path))
    text = work.vault.read(asked.name)[0]
    if is_facts_file(asked.name):
        return _fact(asked.name, text, fact_id, asked)
    for todo in find_todos(text):
        if todo.line == asked.first == asked.last:
            return _line(asked.name, todo.line, todo.text, TODO, "" if todo.is_open else DONE)
    hint = "Change other lines with an editor, or name the whole note."
    raise UsageError(f"'{asked.name}:{asked.first}' is neither a fact nor an item of a task list", hint=hint)


def find_target(work: Workspace, ref: str) -> Memory:
    """Return the memory that *ref* names, if it can be forgotten.

    That is the id of a fact, a path, the name of a note, a path with the line of a fact or an open item, or the short
    id of a line that a session was given.

    Raises:
        NoteNotFound: nothing of that name exists.
        UsageError: several do, or it cannot be forgotten as a whole.
    """
    given = _given(work, ref.strip("[] \n"))
    try:
        named = _named(work, ref)
        _refuse_page(named)
    except NoteNotFound:
        if given is None:
            raise
        return given
    if given and given != named:
        hint = "Name the note by its path."
        raise UsageError(f"'{ref}' is the name of '{named.path}' and of a line that was given", hint=hint)
    return named


def _refuse_page(memory: Memory) -> None:
    if sort_of(memory) == NOTE and KINDS[memory.kind].file:
        hint = "Change its lines with an editor; an open item is named `PATH:LINE`."
        raise UsageError(f"'{memory.path}' is a page of the vault, not a memory", hint=hint)


def _given(work: Workspace, line_id: str) -> Memory | None:
    """Return the line that was given with the short id *line_id*; None if no session was given one.

    Raises:
        UsageError: several lines have it, or memtool does not write its file.
    """
    if not is_line_id(line_id):
        return None
    lines = find_given(ledger_folder(work), line_id, work.session_id) or _in_start(work, line_id)
    targets = {target.id: target for target in (_target_of(work, line) for line in lines)}
    current = {name: target for name, target in targets.items() if not target.status} or targets
    if len(current) > 1:
        places = ", ".join(sorted(current))
        raise UsageError(f"'{line_id}' may mean {len(current)} lines: {places}", hint="Name one by its path.")
    return next(iter(current.values()), None)


def _in_start(work: Workspace, line_id: str) -> list[GivenLine]:
    """Return the line that `memtool context` shows with that short id: in this folder's project, else in another."""
    here = work.area().name
    others = (name for name in projects_of(work.vault) if name != here)
    for project in (here, *others):
        block = session_context(work, project, whole=True)
        if found := [line for line in lines_of_start(block.lines) if line.id == line_id]:
            return found
    return []


def _target_of(work: Workspace, line: GivenLine) -> Memory:
    if is_outside(line.ref):
        hint = "Change it there, with an editor."
        raise UsageError(f"that line is outside the vault, in '{line.ref}'", hint=hint)
    with suppress(NoteNotFound, BrokenVaultFile, OutsideVault):
        text = work.vault.read(line.ref)[0]
        if line.fact_id:
            return _fact(line.ref, text, line.fact_id, Ref(line.ref))
        if is_facts_file(line.ref):
            raise UsageError(f"the fact at '{line.ref}:{line.line}' has no id", hint="Give it one by hand.")
        todo = next((each for each in find_todos(text) if letters(each.text) == letters(line.text)), None)
        if todo:
            return _line(line.ref, todo.line, todo.text, TODO, "" if todo.is_open else DONE)
        if not line.text or _is_whole(line, text):
            note = _note(line.ref, text.encode())
            _refuse_page(note)
            return note
        place = find_line(text, line.text, line.line)
        if place:
            return _line(line.ref, place[0], line.text, LINE)
    return _line(line.ref, line.line, line.text, LINE, ARCHIVED)


def _is_whole(line: GivenLine, text: str) -> bool:
    """Return whether *line* represents its whole note: a decision, or what a session was about or came to."""
    kind = kind_of(line.ref, Note(line.ref, text).field("type"))
    if kind != SESSION:
        return kind == "decision"
    said = [
        each for each in lines_of(text) if letters(line.text) in (letters(each.text), letters(each.asked + each.text))
    ]
    titles = [each.number for each in said if each.role == TITLE]
    is_elsewhere = line.line > 0 and line.line not in titles and any(each.role not in _ABOUT for each in said)
    return bool(titles) and not is_elsewhere


def _fact(path: str, text: str, fact_id: str, asked: Ref) -> Memory:
    file = parse_facts(text, path)
    for fact in file.memories():
        _, first, last = fact.place
        if fact.id == fact_id if fact_id else first <= asked.first and asked.last <= last:
            if not fact.id:
                raise UsageError(f"the fact at '{path}:{first}' has no id", hint="Give it one by hand.")
            is_gone = fact.status == ARCHIVED  # one that is superseded cannot be forgotten, which is said later
            return fact if is_gone else fact._replace(status="")
    if fact_id or asked.first:
        raise NoteNotFound(fact_id or f"{path}:{asked.first}")
    raise UsageError(f"'{path}' holds {len(file.facts)} facts", hint="Name one by its id.")


def _line(path: str, number: int, text: str, kind: str, status: str = "") -> Memory:
    name = f"{path}:{number}" if number else path
    return Memory(name, text, kind, Location(path, number, number), project=project_of(path), status=status)


def _note(path: str, content: bytes) -> Memory:
    note = parse_note(path, content)
    readable = note if isinstance(note, Note) else Note(path, note.text)
    is_gone = is_archived(path) or readable.field("status").casefold() == ARCHIVED
    return Memory(
        path, readable.title, kind_of(path, readable.field("type")), Location(path), title=readable.title,
        project=readable.field("project") or project_of(path), status=ARCHIVED if is_gone else "",
    )  # fmt: skip


def forget(work: Workspace, target: Memory, *, for_good: bool = False) -> MemoryChange:
    """Archive *target*, or remove it *for_good*; one commit. An open item is struck out, a line taken out of its note.

    The message of the commit does not repeat what is removed for good.
    """
    if target.status and not for_good:
        return MemoryChange(target, changed=False)
    with alone(work.vault):
        if not for_good:
            keep_edits(work.vault, [target.path])
        refs = take_out(work, target, for_good=for_good)
        kept = commit(work.vault, refs, "forget", f"{target.id}, for good" if for_good else target.text)
    return MemoryChange(target, kept=kept)


def take_out(work: Workspace, target: Memory, *, for_good: bool) -> list[str]:
    """Archive or remove *target* and what else says it; return the files that were written."""
    ref, sort, listed = target.path, sort_of(target), list[str]()
    before = work.vault.read(ref)[0]
    if sort == FACT and for_good:
        purge(work.vault, ref, target.id)
    elif sort == FACT:
        update_facts(work.vault, ref, lambda facts: archive(facts, target.id))
    elif sort == TODO:
        change = remove_todo if for_good else drop_todo
        _rewrite(work, ref, lambda text: change(text, _line_of(text, target)))
    elif sort == LINE:
        _rewrite(work, ref, lambda text: _without(target, text))
    elif for_good:
        listed = _remove_note(work, ref)
    else:
        _rewrite(work, ref, lambda text: set_field(text, "status", ARCHIVED))
    return [ref, *listed, *_echoes(work, target, before, for_good=for_good)]


def _remove_note(work: Workspace, ref: str) -> list[str]:
    """Remove the note at *ref*, and the lines that list it from the daily notes; return the paths of those."""
    path = work.vault.path(ref)
    try:
        with work.vault.lock():
            note_write(path)
            path.unlink()
    except OSError as error:
        raise NotWritable(f"cannot remove '{ref}': {error.strerror}") from None
    link, changed, folder = f"](../{ref})", [], work.vault.daily
    for daily in [f"{folder}/{path.name}" for path in sorted((work.vault.root / folder).glob("*.md"))]:
        with suppress(BrokenVaultFile, OutsideVault):
            if link in work.vault.read(daily)[0]:
                _rewrite(work, daily, lambda text: "".join(row for row in text.splitlines(True) if link not in row))
                changed.append(daily)
    return changed


def _echoes(work: Workspace, target: Memory, before: str, *, for_good: bool) -> list[str]:
    """Forget what else says *target*, which was taken out of the file that was *before*; return what was changed."""
    if target.kind == FACT:
        known = next(fact for fact in parse_facts(before, target.path).facts if fact.id == target.id)
        return forget_echoes(work.vault, [target.text], fact=known, for_good=for_good)
    if kind_of(target.path) != SESSION:
        return []
    gone: set[str] = set()
    if sort_of(target) == LINE:
        gone = statements_of(before) - statements_of(work.vault.read(target.path)[0]) or {target.text}
    return forget_echoes(work.vault, gone, session=target.path, for_good=for_good)


def _without(target: Memory, text: str) -> str:
    """Return a note without the line that is meant; a session note, so that it stays away when it is made again."""
    near = target.place.start_line
    if kind_of(target.path) != SESSION:
        return without_line(text, target.text, near)
    for said in target.text.split(BETWEEN):
        text = _without_statement(text, said, near)
    return text


def _without_statement(text: str, said: str, near: int) -> str:
    wanted = letters(statement_of(said))
    for is_meant in (lambda said: letters(said) == wanted, lambda said: wanted in letters(said)):
        if (changed := forget_item(text, is_meant)) != text:
            return changed
    return without_line(text, said, near)


def _line_of(text: str, target: Memory) -> int:
    """Return the line that the todo has now: others may have been added above it since it was looked up."""
    lines = [todo.line for todo in find_todos(text) if todo.text == target.text]
    if not lines:
        raise NoteNotFound(target.id)
    return min(lines, key=lambda line: abs(line - target.place.start_line))


def _rewrite(work: Workspace, ref: str, change: Callable[[str], str]) -> None:
    with work.vault.lock():
        text, expected = work.vault.read(ref)
        files.replace(work.vault.path(ref).resolve(), change(text), expected=expected)


def find_line(text: str, said: str, near: int = 0) -> tuple[int, int] | None:
    """Return the first and the last of the lines on which the note *text* says *said*; None if it does not.

    Args:
        text: of the note.
        said: a list item, a paragraph, a line of it or a sentence; its end may be cut off.
        near: the line where it was; of several places the nearest is taken.
    """
    wanted, lines = letters(statement_of(said)), text.split("\n")
    items = ((first + 1, last + 1, without_mark("\n".join(lines[first : last + 1]))) for first, last in blocks(lines))
    is_session = is_old(text) or "\ntype: session\n" in text
    statements = ((line.number, line.number, line.text) for line in lines_of(text) if is_session or line.role != TITLE)
    found = [
        (letters(item) != wanted, abs(first - near), first, last)
        for first, last, item in (*items, *statements)
        if letters(item) == wanted or (len(wanted) >= limits.SHORTEST_PART and wanted in letters(item))
    ]
    if not found and BETWEEN in said:  # a line of a prompt gave several statements
        return find_line(text, said.partition(BETWEEN)[0], near)
    return min(found)[2:] if wanted and found else None


def without_line(text: str, said: str, near: int = 0) -> str:
    """Return the note *text* without the item or paragraph that says *said*; of a long one, without that sentence."""
    place = find_line(text, said, near)
    if place is None:
        return text
    first, last = place
    lines = text.split("\n")
    item = "\n".join(lines[first - 1 : last])
    sentences = [each.text for each in passages(item, "")]
    if len(sentences) > 1 and letters(said) in map(letters, sentences):
        pattern = r"\s+".join(map(re.escape, said.split()))
        lines[first - 1 : last] = re.sub(rf"{pattern}[ \t]*", "", item, count=1).rstrip().split("\n")
    else:
        del lines[first - 1 : last]
    return "\n".join(lines)
