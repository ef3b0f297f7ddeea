"""The steps of an undo, as a journal holds them: so that after a kill the next holder of the lock completes them."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from memtool.errors import NoteChanged, NotWritable
from memtool.git import FROM_STDIN, ask, tell
from memtool.history.changes import UNDOES
from memtool.history.commits import NewContent, commit_contents
from memtool.history.repository import Repository, get_own_repository
from memtool.vault import files
from memtool.vault.layout import Vault


class UndoStep(NamedTuple):
    """One file of an undo, as a journal holds it.

    Args:
        expected: the hash of its content before; None where there is no file.
        here, head: the contents that the folder and git get, in base64; None where there is to be no file.
        mode: as git writes it.
        is_committed: whether git's content changes.
    """

    ref: str
    expected: str | None
    here: str | None
    head: str | None
    mode: str
    is_committed: bool


def complete_undo(vault: Vault, plan: dict[str, Any]) -> None:
    """Complete an undo that was cut off, by the *plan* that it has noted; nothing that is hidden is written.

    Raises:
        MemtoolError: a file was changed since, or git refuses.
    """
    steps = steps_of(plan)
    if not any(step.is_committed for step in steps):
        return
    for step in steps:
        with suppress(NoteChanged):  # it was written already, or changed since
            write_step(vault, step)
    if plan["undoes"] not in tell(vault.root, "log", "-1", f"--format=%(trailers:key={UNDOES},valueonly)"):
        commit_steps(vault, get_own_repository(vault.root), steps, plan["message"])
    # git's index may be behind
    ask(vault.root, "reset", "--quiet", *FROM_STDIN, paths=[step.ref for step in steps])


def steps_of(plan: Mapping[str, Any]) -> list[UndoStep]:
    """Return the steps of an undo's *plan*, but for files that are hidden or lie outside; none of any other plan."""
    match plan:
        case {"undoes": str(), "message": str(), "steps": [*rows]}:
            steps = [UndoStep(*row) for row in rows if isinstance(row, list) and len(row) == len(UndoStep._fields)]
            return [step for step in steps if not re.search(r"(?:^|[/\\])\.|^[/\\]", str(step.ref))]
    return []


def commit_steps(vault: Vault, repository: Repository, steps: Sequence[UndoStep], message: str) -> str:
    """Commit the files of *steps*, and return the commit."""
    contents = {
        step.ref: None if step.head is None else NewContent(base64.b64decode(step.head), step.mode)
        for step in steps
        if step.is_committed
    }
    return commit_contents(repository, contents, message, author=vault.author)


def write_step(vault: Vault, step: UndoStep) -> None:
    """Write the file of *step* in the folder.

    Raises:
        NoteChanged, NotWritable, OutsideVault: it was not written.
    """
    path = vault.path(step.ref)
    content = None if step.here is None else base64.b64decode(step.here)
    if (None if content is None else files.content_hash(content)) == step.expected:
        return
    if content is not None:
        with suppress(UnicodeDecodeError):
            files.replace(path, content.decode("utf-8"), expected=step.expected)
            return
    try:
        if files.hash_of(path) != step.expected:
            raise NoteChanged(f"'{step.ref}' was changed by someone else")
        if content is None:
            path.unlink()
        else:
            files.make_folder(path.parent)
            files.write_over(path, content, durable=True)
    except OSError as error:
        raise NotWritable(f"cannot write '{step.ref}': {error.strerror}") from None
