"""Saving for an agent: each entry as the right file in the right place, whatever becomes of the others.

Of one statement (`store`) the place follows from its category: such an agent knows nothing of projects and notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from memtool.capture.daily_lines import daily_ref
from memtool.capture.queue import start_worker
from memtool.capture.saved import queue_summary, save_session
from memtool.errors import MemtoolError, UsageError
from memtool.history.one_commit import Kept, alone, commit, keep_edits
from memtool.index.engine import catch_up
from memtool.memory import limits
from memtool.memory.limits import LONGEST_FACT
from memtool.memory.new_memory import prepared
from memtool.memory.remember import AlreadyKnown, by_words, remember
from memtool.text.frontmatter import split_front_matter
from memtool.text.lines import brief, one_line
from memtool.text.markdown import heading_text
from memtool.vault.files import hash_of, read_text, replace
from memtool.vault.memory import AGENT, FACT, KNOWLEDGE, TODO, NewMemory
from memtool.vault.project_area import ProjectArea
from memtool.workspace import Workspace

SESSION = "session_summary"
SAVED, DUPLICATE, REFUSED = "saved", "duplicate", "refused"
OTHER = "other"

_EVERYWHERE = ("identity", "preference")  # belong to the user, in whatever project they were said


class Saved(NamedTuple):
    """The fate of an entry: `saved`, `duplicate` or `refused`.

    *id* names the new memory, or the one that said so before; *notes* give the reason and what was redacted;
    *contradicts* are the ids of facts that say otherwise.
    """

    outcome: str
    type: str
    id: str = ""
    notes: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()


def save_entries(work: Workspace, entries: Sequence[NewMemory]) -> list[Saved]:
    """Write *entries* into the project at hand, in the agent's name, one commit each; return what became of each.

    The kind of an entry may also be `SESSION`; its summary is its title.

    No error of one keeps another from being saved. Long ones are summarised in the background, if a model is set up.

    Raises:
        UsageError: the folder at hand is none.
    """
    check_folder(work)
    done = [_save(work._replace(), entry) for entry in entries]  # each with a redactor of its own, which counts
    if any(one.outcome == SAVED for one in done):
        catch_up(work)
        with suppress(MemtoolError, OSError):  # the entries are saved
            queued = [
                queue_summary(work, one.id, entry.text)
                for one, entry in zip(done, entries, strict=True)
                if one.outcome == SAVED and one.type != TODO
            ]
            if any(queued):
                start_worker(work.vault, work.environ)
    return done


def _save(work: Workspace, entry: NewMemory) -> Saved:
    try:
        if entry.kind == SESSION:
            return _save_session(work, entry)
        title, text = one_line(entry.summary), entry.text
        if entry.kind == TODO:
            text = one_line(text)
            text = f"{title}: {text}" if title and title not in text else text
        elif title and not heading_text(text.strip().partition("\n")[0]):
            text = f"# {title}\n\n{text}"
        new = NewMemory(text, kind=entry.kind, tags=entry.tags, source=work.session_id, author=AGENT)
        done = remember(work, new)
        return Saved(SAVED, entry.kind, done.memory.id, (*_removed(work), *done.notices))
    except AlreadyKnown as known:
        return Saved(DUPLICATE, entry.kind, known.memory.id, (f"it says: {brief(known.memory.text, 200)}",))
    except (MemtoolError, OSError) as error:
        return Saved(REFUSED, entry.kind, notes=(str(error),))


def _save_session(work: Workspace, entry: NewMemory) -> Saved:
    """Write the note of a session. What it says is checked as that of any other note."""
    memory = prepared(work, NewMemory(entry.text, kind=KNOWLEDGE, tags=entry.tags, evidence=entry.summary))
    with alone(work.vault):
        keep_edits(work.vault, [daily_ref(work.vault, work.now().date())])
        saved = save_session(work, memory.text, title=memory.evidence, tags=memory.tags)
        if not saved.new:
            return Saved(DUPLICATE, entry.kind, saved.ref)
        area = work.registered_area()
        refs = [*saved.refs, *([area.ref] if area.name else [])]
        kept = commit(work.vault, refs, "save", f"{area.name}: {memory.text}" if area.name else memory.text)
    return Saved(SAVED, entry.kind, saved.ref, (*_removed(work), *filter(None, [kept.notice])))


def _removed(work: Workspace) -> list[str]:
    removed = ", ".join(f"{kind} ({number})" for kind, number in sorted(work.redact.counts.items()) if kind)
    return [f"removed before writing: {removed}"] if removed else []


def store(work: Workspace, text: str, category: str) -> Saved:
    """Write *text* as a fact of the project at hand, or of the user; a long one as a note.

    The same text in the same category, redacted, is stored once.
    """
    memory = NewMemory(
        text,
        kind=FACT if len(text.strip()) <= LONGEST_FACT else KNOWLEDGE,
        category="general" if category == OTHER else category,
        project="" if category in _EVERYWHERE else None,
        source=work.session_id,
        author=AGENT,
        exact=True,
    )
    try:
        done = remember(by_words(work), memory)
    except AlreadyKnown as known:
        return Saved(DUPLICATE, memory.kind, known.memory.fact_id or known.memory.path)
    catch_up(work, [done.memory.path])
    return Saved(SAVED, memory.kind, done.memory.id, contradicts=tuple(one.id for one in done.contradictions))


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
    body = prepared(work, NewMemory(content, kind=KNOWLEDGE)).text if content.strip() else ""
    with alone(work.vault):
        path = work.vault.path(area.ref)
        before = hash_of(path)
        area = work.registered_area()
        text, expected = read_text(path)
        if body and "\n".join(text.split("\n")[split_front_matter(text)[1] - 1 :]).strip() != f"# {area.name}":
            hint = f"Change it with `update`: {area.ref}@{expected[: limits.VERSION]}"
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
