"""Taking a change back: a commit that makes the files of another one as if it had not been, and keeps all the rest."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from memtool.errors import BrokenVaultFile, HistoryFailed, NotWritable, UsageError
from memtool.git import tell
from memtool.history import limits
from memtool.history.changes import CONSOLIDATE, INIT, UNDO, UNDOES, Change
from memtool.history.mending import UndoStep, commit_steps, locked, write_step
from memtool.history.merging import emptied, merge, merge_prose
from memtool.history.repository import get_own_repository
from memtool.history.rewriting import refuse_purged_texts
from memtool.processes import note_plan
from memtool.text.lines import some_of
from memtool.vault import files
from memtool.vault.facts import NO_FACTS, Fact, parse_facts, render_facts
from memtool.vault.layout import Vault, is_facts_file

_NO_FILE = "0" * 6  # git's mode of a file that is not there
_FILES = ("100644", "100755")


class Undone(NamedTuple):
    """A change that was taken back, the commit that did it, and the files that this changed."""

    change: Change
    commit: str
    refs: tuple[str, ...]


class _UndoneFile(NamedTuple):
    """A file of the change.

    Args:
        earlier, later: its content before and after the change.
        head: as it was committed last.
        here: as it is in the folder.
        mode: of the file before the change.
    """

    ref: str
    earlier: bytes | None
    later: bytes | None
    head: bytes | None
    here: bytes | None
    mode: str


def undo(vault: Vault, change: Change) -> Undone:
    """Take *change* back, in one commit of its files. What was written since, committed or not, stays.

    Raises:
        UsageError: it was taken back already, or is none that can be.
        HistoryFailed: its files were changed since in the same places, or git refuses; nothing was changed.
        NoteChanged, NotWritable, Busy, OutsideVault: likewise.
    """
    _check(change)
    with locked(vault, timeout=limits.PATIENCE), vault.lock(), vault.lock("daily"):
        repository = get_own_repository(vault.root)
        refs = [file.path for file in change.files]
        repository.refuse_unsafe(refs)
        staged = set(tell(vault.root, "diff", "--cached", "--name-only", "--no-renames", "-z").split("\0"))
        if found := [ref for ref in refs if ref in staged]:
            raise HistoryFailed(f"you have staged changes of {_named(found)}", hint="Commit or unstage them first.")
        steps, contents = _steps(vault, change)
        wanted = tuple(step.ref for step in steps if step.is_committed)
        if not wanted:
            raise UsageError("there is nothing left of it to take back", hint="`memtool diff` shows what it did.")
        refuse_purged_texts(vault.root, contents)
        note_plan(vault.root, {"undoes": change.commit, "message": _message(change), "steps": steps})
        for step in steps:
            write_step(vault, step)
        made = commit_steps(vault, repository, steps, _message(change))
        return Undone(change, made, wanted)


def _check(change: Change) -> None:
    if change.undone_by:
        hint = f"To have it back: `memtool undo {change.undone_by[:10]}`."
        raise UsageError(f"it was taken back already: {change.subject}", hint=hint)
    if not change.parents or change.deed == INIT:
        raise UsageError("the beginning of a vault cannot be taken back", hint="`memtool log` lists the changes.")
    if len(change.parents) > 1:
        hint = "Take back single changes that came with it: `memtool log` lists them."
        raise UsageError("a merge of two histories cannot be taken back as a whole", hint=hint)


def _steps(vault: Vault, change: Change) -> tuple[list[UndoStep], list[tuple[bytes | None, bytes | None]]]:
    """Return the steps that undo *change*, and the content of each file in the folder, as it is and as it is to be.

    Raises:
        HistoryFailed: some files were changed since in the same places; they are named.
    """
    steps, contents, changed = [], [], []
    listed = tell(vault.root, "diff-tree", "-r", "--raw", "--no-renames", "-z", f"{change.commit}^", change.commit)
    words = listed.split("\0")
    for file in (_file(vault, change, words[at], words[at + 1]) for at in range(0, len(words) - 1, 2)):
        try:
            head = _taken_back(vault, file, file.head)
            here = head if file.here == file.head else _taken_back(vault, file, file.here)
        except _ChangedSince:
            changed.append(file.ref)
            continue
        expected = None if file.here is None else files.content_hash(file.here)
        packed = [None if data is None else base64.b64encode(data).decode() for data in (here, head)]
        steps.append(UndoStep(file.ref, expected, packed[0], packed[1], file.mode, head != file.head))
        contents.append((file.here, here))
    if changed:
        hint = f"`memtool log {changed[0]}` lists what came later: take that back first, or use an editor."
        raise HistoryFailed(f"it cannot be taken back, because {_named(changed)} changed since", hint=hint)
    return steps, contents


class _ChangedSince(Exception):
    """A file was changed since in the place that the undoing would take back."""


def _taken_back(vault: Vault, file: _UndoneFile, now: bytes | None) -> bytes | None:
    """Return the content *now* of the file without the change."""
    if now == file.later:
        return file.earlier
    if now == file.earlier or (now is None and file.here is None and file.head is not None):
        return now
    if now is None or file.later is None:
        raise _ChangedSince
    try:
        later, current = file.later.decode("utf-8"), now.decode("utf-8")
        earlier = emptied(file.ref, later, daily=vault.daily) if file.earlier is None else file.earlier.decode("utf-8")
    except UnicodeDecodeError:
        raise _ChangedSince from None
    if earlier is None:
        raise _ChangedSince
    merged = merge_prose(later, current, earlier)
    if merged.conflicts or _tears(file.ref, later, current, merged.text):
        merged = merge(file.ref, later, current, earlier, daily=vault.daily)
    if merged.conflicts or _tears(file.ref, later, current, merged.text):
        raise _ChangedSince
    return merged.text.encode("utf-8")


def _tears(ref: str, later: str, current: str, text: str) -> bool:
    """Return whether *text*, the *current* facts without a change, tears apart facts of *later*.

    That is a fact that was changed since and would be gone, and a chain in which a fact is active again although
    another one supersedes it still.
    """
    if not is_facts_file(ref):
        return False
    try:
        known, now, left = ({fact.id: fact for fact in parse_facts(side, ref).facts} for side in (later, current, text))
    except BrokenVaultFile:
        return True
    is_lost = any(name not in left and fact != known.get(name) for name, fact in now.items())
    return is_lost or bool(_torn(left) - _torn(now))


def _torn(facts: Mapping[str, Fact]) -> set[tuple[str, str]]:
    """Return the ids of facts that name one another and do not agree."""
    chained = {(fact.supersedes, fact.id) for fact in facts.values() if fact.supersedes}
    ended = {(fact.id, fact.superseded_by) for fact in facts.values() if fact.superseded_by}
    return {pair for pair in chained if pair[0] not in facts or facts[pair[0]].status == "active"} | {
        pair for pair in ended if pair[1] not in facts
    }


def _file(vault: Vault, change: Change, row: str, ref: str) -> _UndoneFile:
    before, after = row[1:].split()[:2]
    if any(mode not in (_NO_FILE, *_FILES) for mode in (before, after)):
        raise HistoryFailed(f"'{ref}' is no file but a link, which memtool does not change", hint="Use git.")
    path = vault.path(ref)
    earlier = _blob(vault, f"{change.commit}^", ref) if before != _NO_FILE else None
    later = _blob(vault, change.commit, ref) if after != _NO_FILE else None
    if change.deed == CONSOLIDATE and later and is_facts_file(ref):
        earlier = _with_rejected(earlier, later)
    in_head = tell(vault.root, "ls-tree", "-z", "HEAD", "--", ref)
    head = _blob(vault, "HEAD", ref) if in_head else None
    try:
        here = files.read_content(path) if os.path.lexists(path) else None
    except OSError as error:
        raise NotWritable(f"cannot read '{ref}': {error.strerror}") from None
    mode = before if before != _NO_FILE else in_head[:6] or after
    return _UndoneFile(ref, earlier, later, head, here, mode)


def _with_rejected(earlier: bytes | None, later: bytes) -> bytes | None:
    """Return the facts of *earlier*, and those that the weekly run added, archived: so it does not find them again."""
    with suppress(BrokenVaultFile, UnicodeDecodeError, ValueError):
        before = parse_facts(earlier.decode("utf-8") if earlier else NO_FACTS)
        known = {fact.id for fact in before.facts}
        new = [fact for fact in parse_facts(later.decode("utf-8")).facts if fact.id not in known]
        rejected = [fact._replace(status="archived", supersedes="", superseded_by="") for fact in new]
        if rejected:
            return render_facts([*before.facts, *rejected], before).encode("utf-8")
    return earlier


def _blob(vault: Vault, commit: str, ref: str) -> bytes:
    """Return the file as it would be in the folder: with its line ends, and decrypted if it is kept encrypted."""
    return os.fsencode(tell(vault.root, "cat-file", "--filters", f"{commit}:{ref}"))


def _message(change: Change) -> str:
    again = change.subject.removeprefix(f"{UNDO}: ") if change.deed == UNDO else ""
    subject = f"redo: {again}" if again else f"{UNDO}: {change.subject}"
    if len(subject) > limits.SUBJECT:
        subject = f"{subject[: limits.SUBJECT - 1].rstrip()}…"
    why = f"You took back what was done on {change.at:%Y-%m-%d} at {change.at:%H:%M}."
    return f"{subject}\n\n{why}\n\n{UNDOES}: {change.commit}"


def _named(refs: Sequence[str]) -> str:
    return some_of([f"'{ref}'" for ref in refs], 5)
