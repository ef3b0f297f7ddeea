"""What differs between two states of a vault, by file and line."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import NamedTuple

from memtool.vault.changes import Change
from memtool.vault.git import tell
from memtool.vault.history import refuse_programs
from memtool.vault.layout import Vault

_OPTIONS = (
    "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules", "--src-prefix=a/",
    "--dst-prefix=b/", "--unified=1",
)  # fmt: skip


class Difference(NamedTuple):
    """A file that was `added`, `changed` or `removed`: its lines with `+`, `-` or a space in front, `…` for a gap."""

    path: str
    deed: str
    lines: tuple[str, ...]


def what_changed(vault: Vault, change: Change) -> list[Difference]:
    """Return what *change* did."""
    return _between(vault, change.parents[0] if change.parents else _empty_tree(vault), change.commit)


def since(vault: Vault, day: dt.date) -> list[Difference]:
    """Return what differs now, in what is committed, from how the vault stood when *day* began."""
    before = commit_before(vault, dt.datetime.combine(day, dt.time()).astimezone())
    return _between(vault, before or _empty_tree(vault), "HEAD")


def uncommitted(vault: Vault) -> list[Difference]:
    """Return what is written in the folder and in no commit yet; new files are named without their lines."""
    refuse_programs(vault.root)
    new = tell(vault.root, "ls-files", "--others", "--exclude-standard", "-z").split("\0")
    return [*_between(vault, "HEAD"), *(Difference(path, "added", ()) for path in new if path)]


def commit_before(vault: Vault, moment: dt.datetime) -> str:
    """Return the last commit that was made before *moment*; empty if there was none."""
    return tell(vault.root, "rev-list", "-1", f"--before={moment.isoformat()}", "HEAD").strip()


def _empty_tree(vault: Vault) -> str:
    """Return git's name of a folder without files."""
    return tell(vault.root, "hash-object", "-t", "tree", "--stdin", stdin=b"").strip()


def _between(vault: Vault, *commits: str) -> list[Difference]:
    names = tell(vault.root, "diff", *_OPTIONS, "--name-only", "-z", *commits, "--").split("\0")[:-1]
    text = tell(vault.root, "diff", *_OPTIONS, *commits, "--")
    return [_difference(name, part) for name, part in zip(names, _by_file(text), strict=False)]


def _by_file(text: str) -> Iterator[list[str]]:
    """Give the lines of each file of a diff."""
    part: list[str] = []
    for line in text.split("\n"):
        if line.startswith("diff --git "):
            if part:
                yield part
            part = []
        part.append(line)
    if part:
        yield part


def _difference(name: str, part: list[str]) -> Difference:
    at = next((at for at, line in enumerate(part) if line.startswith("@@")), len(part))
    head = part[:at]
    deed = "added" if any(line.startswith("new file") for line in head) else "changed"
    deed = "removed" if any(line.startswith("deleted file") for line in head) else deed
    return Difference(name, deed, tuple(_lines(part[at:])))


def _lines(hunks: list[str]) -> Iterator[str]:
    for number, line in enumerate(hunks):
        if line.startswith("@@"):
            if number:
                yield "…"
        elif line and line[0] in "+- ":
            yield line
