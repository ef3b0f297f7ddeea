"""The files that a merge would bring, looked at before it: what is refused, and what of this machine stands in the way.

A remote may hold what somebody else put there. Refused are links, submodules, memtool's own state, and names that some
disk takes for git's own files. A file that only this machine's ignore rules know would be overwritten by git without a
word: it is put aside.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from memtool.errors import RemoteFailed
from memtool.git import ask, tell
from memtool.vault import files
from memtool.vault.layout import Vault
from memtool.vault.state import STATE_FOLDER, writing_in

_FILES = ("100644", "100755")
_KNOWN = (".gitignore", ".gitattributes")  # a vault may have these
_RESERVED = (STATE_FOLDER, ".git", ".gitmodules", *_KNOWN)
_SHORT = re.compile(r"(?:git|gitmod|gitatt|gitign|memtoo)~\d+")  # as FAT and NTFS shorten them
# Letters that HFS+ leaves out of names.
_UNSEEN = dict.fromkeys([0x200C, 0x200D, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])


class Arrival(NamedTuple):
    """A file that a merge would bring or change: its mode and blob as git writes them, and its path."""

    mode: str
    blob: str
    path: str


def arrivals(vault: Vault, commit: str) -> list[Arrival]:
    """Return the files of *commit* that are new since its history and that of the vault parted.

    Raises:
        HistoryFailed: git refuses.
        RemoteFailed: one of them is no plain file of a vault; the change that brought it is named.
    """
    base = ask(vault.root, "merge-base", "HEAD", commit).out.strip()
    base = base or tell(vault.root, "hash-object", "-t", "tree", "--stdin").strip()
    said = tell(vault.root, "diff-tree", "-r", "--raw", "--no-renames", "--no-abbrev", "-z", base, commit)
    words = said.split("\0")
    rows = ((words[at].split(), words[at + 1]) for at in range(0, len(words) - 1, 2))
    found = [Arrival(fields[1], fields[3], path) for fields, path in rows if fields[4] != "D"]
    for each in found:
        if fault := _fault(each):
            raise _refused(vault, commit, each, fault)
    return found


def _refused(vault: Vault, commit: str, arrival: Arrival, fault: str) -> RemoteFailed:
    log = ("log", "-1", "--format=%h of %as by %an", f"HEAD..{commit}", "--", arrival.path)
    named = ask(vault.root, *log).out.strip() or commit[:10]
    hint = f"Nothing was taken. `git show {named.split()[0]}` in the vault shows the change; have it taken back there."
    return RemoteFailed(f"the remote brings {fault} '{arrival.path}' (change {named})", hint=hint)


def _fault(arrival: Arrival) -> str:
    if arrival.mode == "120000":
        return "a link,"
    if arrival.mode not in _FILES:
        return "a submodule,"
    for name in re.split(r"[/\\]", arrival.path):
        plain = name.translate(_UNSEEN).partition(":")[0].rstrip(" .").casefold()
        if plain == STATE_FOLDER:
            return "what memtool keeps for itself on each machine,"
        if _SHORT.fullmatch(plain) or (plain in _RESERVED and name not in _KNOWN):
            return "what may be taken for git's own,"
    return ""


@contextmanager
def put_aside(vault: Vault, found: Sequence[Arrival]) -> Iterator[dict[str, str]]:
    """Give the new names of the ignored files in whose place *found* is written within the `with` block.

    git ignores them under their new names, too: they may be private. They go back if that fails.

    Raises:
        HistoryFailed: git refuses.
        NotWritable: one cannot be renamed.
    """
    aside: dict[str, str] = {}
    try:
        with writing_in(vault.root):
            for name, blob in _in_the_way(vault, found):
                mark = ask(vault.root, "hash-object", "--no-filters", "--", name).out.strip()
                if mark != blob:
                    path = PurePosixPath(name)
                    aside[name] = str(path.with_name(f"{path.stem}.local-{mark[:7]}{path.suffix}"))
                    _ignore(vault, aside[name])
                    os.replace(vault.root / name, vault.root / aside[name])
        yield aside
    except BaseException:
        for name, beside in aside.items():
            with suppress(OSError):
                if not os.path.lexists(vault.root / name):
                    os.replace(vault.root / beside, vault.root / name)
        raise


def _in_the_way(vault: Vault, found: Sequence[Arrival]) -> Iterator[tuple[str, str]]:
    """Give the ignored files that stand where one of *found* or its folder would, with the blob that would be there."""
    for each in found:
        steps = [each.path, *map(str, PurePosixPath(each.path).parents[:-1])]
        there = next((step for step in steps if os.path.lexists(vault.root / step)), "")
        if there and (there == each.path or not (vault.root / there).is_dir()):
            options = ("--others", "--ignored", "--exclude-standard", "-z")
            ignored = tell(vault.root, "ls-files", *options, "--", there).split("\0")
            yield from ((name, each.blob) for name in ignored if name)


def _ignore(vault: Vault, name: str) -> None:
    path = Path(vault.root, tell(vault.root, "rev-parse", "--git-path", "info/exclude").removesuffix("\n"))
    line = "/" + re.sub(r"([\\*?\[\]! #])", r"\\\1", name) + "\n"
    files.change(path, lambda text: f"{text.rstrip()}\n{line}" if text and text.strip() else line)
