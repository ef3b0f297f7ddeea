"""Moving a note to the archive, where searches find it on request; links to it are kept right."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from memtool.history.merging import merge
from memtool.vault import files
from memtool.vault.layout import Vault


class Move(NamedTuple):
    """A note that goes to the archive."""

    source: str
    target: str


def move_to_archive(vault: Vault, move: Move, before_writing: Callable[[Sequence[str]], None]) -> None:
    """Carry out *move* under the vault's lock. A note of that name may lie there: a session goes on after it was moved.

    Of a session the later capture stands then, and a day has the lines of both. Where both texts were changed by hand,
    the second one gets a number, and *before_writing* is told that name. The caller has noted both ends of *move*.

    Raises:
        OutsideVault, OSError: nothing was moved.
    """
    with vault.lock():
        source, target = vault.path(move.source), vault.path(move.target)
        if target.exists() and _joined(vault, move):
            return
        number = 1
        while target.exists():
            number += 1
            target = target.with_name(f"{Path(move.target).stem}-{number}.md")
        if number > 1:
            before_writing([f"{move.target.rpartition('/')[0]}/{target.name}"])
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.replace(source, target)


def _joined(vault: Vault, move: Move) -> bool:
    """Put the later text into the one that is archived, and return whether that could be done without a conflict."""
    source, target = vault.path(move.source), vault.path(move.target)
    (archived, expected), (later, _) = files.read_text(target), files.read_text(source)
    merged = merge(move.source, None, archived, later, daily=vault.daily)
    if merged.conflicts:
        return False
    files.replace(target, merged.text, expected=expected)
    source.unlink()
    return True


def with_links(text: str, archived: Collection[str], *, was_archived: bool, is_archived: bool) -> str:
    """Return a daily note whose links lead to its sessions where they lie now: those with the ids *archived*, too.

    The note itself lies in the archive or not: it *was* there as its links were written, and *is* from now on.
    """

    def target(match: re.Match[str]) -> str:
        led_to_archive = match["way"] == ("../" if was_archived else "../archive/")
        in_archive = led_to_archive or match["id"] in archived
        way = "../" if in_archive == is_archived else "../../" if is_archived else "../archive/"
        return f"]({way}sessions/{match['id']}.md)"

    return re.sub(r"\]\((?P<way>\.\./(?:archive/|\.\./)?)sessions/(?P<id>[^()\s/]+)\.md\)", target, text)


def relinked(text: str | None, *, archived: Sequence[str], was: bool, goes: bool) -> str | None:
    """Return `with_links` of the text of a daily note, if there is one."""
    return None if text is None else with_links(text, archived, was_archived=was, is_archived=goes)
