"""Installing memtool into a client, and taking it out again: changes to files, first planned and then carried out.

A client gets *parts*, such as its hooks or an entry for the MCP server. A part has a *share* in one file or more: a few
lines in a file of the user, or a whole file of ours. A share is a pair of pure functions on the text of its file: `put`
returns the text with our share up to date, `take` the text without it. `plan` makes a change of each file from these,
for every client and format; nothing is written before `carry_out`.

    shares = client.shares(target)
    planned = plan(shares, {"hooks": True, "mcp": False})   # True: have it; False: remove it; not named: as it is
    print(planned.diff())                                   # --dry-run ends here
    carry_out(planned)

A copy of a user's file from before our first share stays beside it until the last share is removed. If only we have
changed the file, it comes back byte for byte; otherwise only our shares are removed.
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from memtool.errors import BadSetting, MemtoolError, NoteChanged, NotWritable
from memtool.install import client_files
from memtool.install.record import Installations, remove_empty, update
from memtool.vault import files

_ORIGINAL = ".memtool-backup"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class LeftAlone(Exception):
    """A share that is not put in or taken out, because the user has something else there; the text says what."""


@dataclass(frozen=True)
class Share(ABC):
    """The share that the part called *part* has in the file at *path*. None is no file."""

    part: str
    path: Path

    keeps_original: ClassVar[bool] = True
    """Whether the file as it was before the installation is kept beside it."""

    def read(self) -> str | None:
        """Return the text of the file.

        Raises:
            BadSetting: it cannot be read, or is not text.
        """
        content = client_files.read(self.path)
        return content.text if content else None

    def is_alone(self, text: str | None) -> bool:  # noqa: ARG002  (as a rule there is but one place)
        """Return whether *text* holds nothing of ours in another place, such as that of another project."""
        return True

    @abstractmethod
    def put(self, text: str | None) -> str | None:
        """Return *text* with our share, up to date, and every other byte kept.

        Raises:
            LeftAlone: something of the user is in its place.
            ValueError: the text is not of the form that the file should have.
        """

    @abstractmethod
    def take(self, text: str | None, original: str | None) -> str | None:
        """Return *text* without our share, whichever memtool put it in; *text* itself if there is none.

        *original* is the text before the installation, None if there was no file or it is unknown. It says which empty
        containers are the user's.

        Raises:
            LeftAlone, ValueError
        """


@dataclass(frozen=True)
class FileChange:
    """The text of the file at *path* before a change and after it. None is no file.

    *original* is the path of the file as it was before the installation, None where there is none. It is kept by the
    change that *is_first*, and goes with the one that *is_last*. *is_out* says that nothing of ours is left.
    """

    path: Path
    before: str | None
    after: str | None
    parts: tuple[str, ...] = ()
    original: Path | None = None
    is_first: bool = False
    is_last: bool = False
    is_out: bool = False

    @property
    def is_change(self) -> bool:
        """Whether the two texts differ."""
        return self.before != self.after

    def diff(self) -> str:
        """Return the change as a unified diff."""
        old, new = (_LINE.findall(text or "") for text in (self.before, self.after))
        old_name, new_name = ("/dev/null" if text is None else str(self.path) for text in (self.before, self.after))
        marked = difflib.unified_diff(old, new, old_name, new_name)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in marked)


class Plan(NamedTuple):
    """Changes to files, the parts that a client has after them, and a sentence for each share that is left alone."""

    changes: tuple[FileChange, ...] = ()
    parts: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def diff(self) -> str:
        """Return all changes as one unified diff."""
        return "".join(change.diff() for change in self.changes)


def plan(shares: Sequence[Share], wanted: Mapping[str, bool]) -> Plan:
    """Return the plan by which a client has the parts that are *wanted*, and lacks those that are not.

    A part that *wanted* does not name stays out if it is not there; if it is, it is brought up to date.

    Raises:
        BadSetting: a file cannot be read, or is not what it should be.
    """
    notices: list[str] = []
    changes: list[FileChange] = []
    there: set[str] = set()
    by_path = sorted(shares, key=lambda share: str(share.path))
    for _, group in itertools.groupby(by_path, key=lambda share: share.path):
        change, parts = _planned(list(group), wanted, notices)
        changes += [change] if change.is_change else []
        there |= parts
    in_order = dict.fromkeys(share.part for share in shares)
    return Plan(tuple(changes), tuple(part for part in in_order if part in there), tuple(notices))


def carry_out(planned: Plan, environ: Mapping[str, str]) -> None:
    """Write the planned changes, but not over a file that has changed since.

    The record of the user whose environment is *environ* learns of each folder that is made, and a folder in it goes
    with the last file of ours in it.

    Raises:
        NotWritable, NoteChanged
    """
    if not planned.changes:
        return
    done: list[tuple[FileChange, list[Path]]] = []
    free: list[Path] = []

    def note(record: Installations) -> None:
        free.clear()  # `update` calls again if another process writes the record
        for change, made in done:
            if change.is_out:
                free.extend(record.give_up(change.path))
            else:
                record.need(change.path, made)

    try:
        for change in planned.changes:
            missing = [folder for folder in change.path.parents if not folder.exists()]
            _write(change)
            done.append((change, missing))
    finally:
        with contextlib.suppress(MemtoolError):  # without the record the folders stay
            update(environ, note)
        remove_empty(free)


def original_path(path: Path) -> Path:
    """Return the path of the copy of the file at *path* from before the installation."""
    return path.with_name(path.name + _ORIGINAL)


def has_share(share: Share, text: str | None, original: str | None = None) -> bool:
    """Return whether *text* holds the share, in any form.

    Raises:
        ValueError
    """
    try:
        return share.take(text, original) != text
    except LeftAlone:
        return False


def parts_there(shares: Iterable[Share]) -> list[str]:
    """Return the parts that have a share in their files, as far as these can be read."""
    found: dict[str, None] = {}
    for share in shares:
        with contextlib.suppress(MemtoolError, ValueError):
            if has_share(share, share.read()):
                found[share.part] = None
    return list(found)


def _planned(shares: list[Share], wanted: Mapping[str, bool], notices: list[str]) -> tuple[FileChange, set[str]]:
    """Return the change to the file of *shares*, and the parts that it has a share of after it."""
    path, keeps = shares[0].path, shares[0].keeps_original
    before, kept = shares[0].read(), None
    with contextlib.suppress(BadSetting):
        content = client_files.read(original_path(path)) if keeps else None
        kept = content.text if content else None
    parts: set[str] = set()
    try:
        there = [share for share in shares if has_share(share, before, kept)]
        text = before
        for share in shares:
            is_wanted = wanted.get(share.part, share in there)
            try:
                text = share.put(text) if is_wanted else share.take(text, kept)
            except LeftAlone as left:
                notices.append(str(left))
            else:
                parts |= {share.part} if is_wanted and text is not None else set()
        is_in = any(has_share(share, text, kept) for share in shares)
        if there and not is_in:
            text = _restored(there, text, kept)
    except ValueError as error:
        raise client_files.not_settings(path, error) from None
    parts_in = (share.part for share in shares if share in there or share.part in parts)
    is_alone = all(share.is_alone(text) for share in shares)  # or else the copy is another installation's, too
    keeps, is_out = keeps and is_alone, is_alone and bool(there) and not is_in
    is_first, is_last = keeps and is_in and not there, keeps and is_out
    has_original = not is_last and (before if is_first else kept) is not None
    return FileChange(
        path, before, text, tuple(dict.fromkeys(parts_in)),
        original_path(path) if has_original else None, is_first, is_last, is_out,
    ), parts  # fmt: skip


def _restored(there: Iterable[Share], text: str | None, original: str | None) -> str | None:
    """Return the *original* if *text*, which has lost the shares *there*, differs from it by nothing else."""
    expected = original
    with contextlib.suppress(ValueError, LeftAlone):  # the original is of no help
        for share in there:
            expected = share.put(expected)
        for share in there:
            expected = share.take(expected, original)
        if text == expected and not (original is None and next(iter(there)).path.is_symlink()):
            return original
    return text


def _write(change: FileChange) -> None:
    if change.is_first:
        _keep(original_path(change.path), change.before)
    expected = None if change.before is None else files.content_hash(change.before.encode("utf-8"))
    if change.after is not None:
        files.replace(change.path, change.after, expected=expected)
    elif expected is None or files.hash_of(change.path) != expected:
        raise NoteChanged(f"'{change.path.name}' was changed by someone else")
    else:
        try:
            change.path.unlink()
        except OSError as error:
            raise NotWritable(f"cannot remove '{change.path}': {error.strerror}") from None
    if change.is_last:
        with contextlib.suppress(OSError):
            original_path(change.path).unlink(missing_ok=True)


def _keep(path: Path, text: str | None) -> None:
    """Keep the original *text* at *path*; one that is left from an earlier installation gets a number and stays."""
    try:
        if path.exists() and path.read_bytes() != (text or "").encode("utf-8"):
            free = (path.with_name(f"{path.name}.{number}") for number in itertools.count(1))
            path.rename(next(name for name in free if not name.exists()))
    except OSError as error:
        raise NotWritable(f"cannot write '{path}': {error.strerror}") from None
    if text is not None and not path.exists():
        files.replace(path, text, expected=None)
