"""The locks with a journal, and completing the work of a run that was killed.

That is locks of git, a merge or an undo of ours, a missing commit. An undo notes its steps in the journal before it
takes them, so that the next holder of the lock can.
"""

from __future__ import annotations

import base64
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from memtool.errors import MemtoolError, NoteChanged, NotWritable
from memtool.git import FROM_STDIN, ask, tell
from memtool.history import limits
from memtool.history.changes import MEND, UNDOES
from memtool.history.commits import NewContent, commit, commit_contents, is_signed
from memtool.history.repository import Repository, get_own_repository, own_repository
from memtool.history.uncommitted import note_uncommitted
from memtool.processes import CutOff, begin, cut_off, journal
from memtool.vault import files
from memtool.vault.layout import Vault
from memtool.vault.marks import FIRST, holds_two_texts

_MESSAGE = f"{MEND}: what a run that was killed had written\n\nIt could not commit that any more."


@contextmanager
def locked(vault: Vault, name: str = "history", *, timeout: float = 10.0) -> Iterator[None]:
    """Hold the vault's lock `history` or `sync` with a journal, after completing the work of a holder that was killed.

    Raises:
        NotAVault, OnlyReading, NotWritable, Busy: as `Vault.lock`.
    """
    with vault.lock(name, timeout=timeout) as handle:
        left = cut_off(handle)
        with journal(handle, vault.root):
            if left:
                with nullcontext() if name == "history" else locked(vault):
                    mend(vault, left)
                os.ftruncate(handle, 0)
                begin(handle)
            yield


def mend(vault: Vault, left: CutOff) -> None:
    """Complete the work that *left* describes. The lock `history` is held.

    What git refuses now is committed with the next change.
    """
    try:
        repository = own_repository(vault.root)
        if repository is None:
            return
        git = vault.root / ".git"
        locks = () if git.is_symlink() else (*git.glob("*.lock"), *(git / "refs").glob("**/*.lock"))
        for path in (*locks, *vault.root.glob(".merge_file_*")):
            with suppress(OSError):
                if path.lstat().st_mtime >= left.at - limits.CLOCK:
                    path.unlink()
        complete_merge(vault)
        for plan in left.plans:
            complete_undo(vault, plan)
            _take_back_merge(vault, plan, left.at)
        commit(repository, _inside(left), _MESSAGE, author=vault.author)
    except (MemtoolError, OSError, ValueError, TypeError):  # a journal may come with a stranger's vault
        note_uncommitted(vault, _inside(left))


def _inside(left: CutOff) -> list[str]:
    """Return the written files within the vault, but for those of a plan: the user's words may be in them."""
    planned = {step.ref for plan in left.plans for step in steps_of(plan)}
    inside = (ref for ref in left.refs if ".." not in Path(ref).parts and not Path(ref).is_absolute())
    return [ref for ref in inside if ref not in planned]


def _take_back_merge(vault: Vault, plan: dict[str, Any], began: float) -> None:
    """Take files back that git was writing when a merge was cut off before it was known as one; the next does it anew.

    None of them was edited before, or git would have refused; what somebody writes after a while stays.
    """
    match plan:
        case {"merge": str(news), "head": str(head)} if tell(vault.root, "rev-parse", "HEAD").strip() == head:
            changed = tell(vault.root, "diff", "--name-only", "--no-renames", "-z", f"{head}...{news}").split("\0")[:-1]
            ours, theirs = _blobs(vault, head), _blobs(vault, news)
            fresh = [name for name in changed if _is_written(vault.path(name), began) and not name.startswith('"')]
            lines = b"".join(os.fsencode(name) + b"\n" for name in fresh)
            here = tell(vault.root, "hash-object", "--stdin-paths", stdin=lines).split() if fresh else []
            for name, blob in zip(fresh, here, strict=True):
                if name not in ours and blob == theirs.get(name):
                    vault.path(name).unlink()
            back = [name for name, blob in zip(fresh, here, strict=True) if blob != ours.get(name, blob)]
            back += [name for name in changed if name in ours and not os.path.lexists(vault.root / name)]
            if back:
                tell(vault.root, "checkout", "HEAD", *FROM_STDIN, paths=back)


def _blobs(vault: Vault, commit: str) -> dict[str, str]:
    rows = tell(vault.root, "ls-tree", "-r", "-z", commit).split("\0")[:-1]
    return {row.partition("\t")[2]: row.partition("\t")[0].split()[2] for row in rows}


def _is_written(path: Path, began: float) -> bool:
    """Return whether the file at *path* was written while a merge that *began* then may have been at work."""
    with suppress(OSError):
        about = path.lstat()
        return stat.S_ISREG(about.st_mode) and began - limits.CLOCK <= about.st_mtime <= began + limits.NETWORK
    return False


def complete_merge(vault: Vault) -> None:
    """Complete the merge that a sync of ours has begun, if it was killed in between; later edits stay.

    The lock `history` is held.

    Raises:
        HistoryFailed: git refuses.
    """
    if ask(vault.root, "rev-parse", "--quiet", "--verify", "MERGE_HEAD").code:
        return
    with vault.lock(), vault.lock("daily"):
        path = Path(vault.root, tell(vault.root, "rev-parse", "--git-path", "MERGE_MSG").strip())
        message = files.read_text(path)[0] if path.is_file() else ""
        if not is_signed(message):  # it is its owner's
            return
        author = get_own_repository(vault.root).author_options
        settle(vault, was_cut_off=True)
        tell(vault.root, *author, "commit", "--quiet", "--no-verify", "--cleanup=strip", f"--message={message}")


def settle(vault: Vault, *, was_cut_off: bool = False) -> None:
    """Keep both versions of the files that git could not merge: between marks, or as two files.

    If the merge *was_cut_off*, somebody may have settled some of it by hand.
    """
    stages: dict[str, dict[str, str]] = {}
    for row in tell(vault.root, "ls-files", "--unmerged", "-z").split("\0"):
        if row:
            about, _, name = row.partition("\t")
            stages.setdefault(name, {})[about.split()[2]] = about.split()[1]
    for name, blobs in stages.items():
        if not {"2", "3"} & set(blobs):
            tell(vault.root, "rm", "--cached", "--quiet", "--", name)
            continue
        here = ask(vault.root, "hash-object", f"--path={name}", "--", name).out.strip() if was_cut_off else ""
        is_by_hand = was_cut_off and here != blobs.get("2") and not holds_two_texts(text_of(vault, name))
        if {"2", "3"} <= set(blobs) and not (is_by_hand or FIRST in text_of(vault, name)):
            tell(vault.root, "checkout", "--ours", "--", name)
            other = blobs["3"]
            beside = str(PurePosixPath(name).with_stem(f"{PurePosixPath(name).stem}.other-{other[:7]}"))
            files.write_over(vault.path(beside), os.fsencode(tell(vault.root, "cat-file", "blob", other)), durable=True)
            tell(vault.root, "add", "--", beside)
        tell(vault.root, "add", "--", name)


def text_of(vault: Vault, name: str) -> str:
    """Return the text of the file *name*; empty where it cannot be read."""
    with suppress(OSError, UnicodeDecodeError):
        return files.read_content(vault.path(name)).decode("utf-8")
    return ""


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
