"""Moving a note to the archive, where searches find it on request; links to it are kept right."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from memtool.history.merging import merge
from memtool.vault import files
from memtool.vault.layout import Vault


def move_to_archive(vault: Vault, ref: str, before_writing: Callable[[Sequence[str]], None]) -> None:
    """Move the note *ref* under the vault's lock. A note of that name may lie there: a session may go on after a move.

    The later capture of a session then replaces the archived one, and a day keeps the lines of both. Where both texts
    were changed by hand, the second one gets a number, and *before_writing* gets that name. The caller has noted both
    ends of the move.

    Raises:
        OutsideVault, OSError: nothing was moved.
    """
    with vault.lock():
        source, target = vault.path(ref), vault.path(f"archive/{ref}")
        if target.exists():
            (archived, expected), (later, _) = files.read_text(target), files.read_text(source)
            merged = merge(ref, None, archived, later, daily=vault.daily)
            if not merged.conflicts:
                files.replace(target, merged.text, expected=expected)
                source.unlink()
                return
        number = 1
        while target.exists():
            number += 1
            target = target.with_name(f"{Path(ref).stem}-{number}.md")
        if number > 1:
            before_writing([f"archive/{ref.rpartition('/')[0]}/{target.name}"])
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.replace(source, target)


def relinked(text: str | None, *, archived: Collection[str], was: bool, goes: bool) -> str | None:
    """Return a daily note whose links lead to its sessions where they are now: those with the ids *archived*, too.

    The note itself *was* in the archive when its links were written, or not, and *goes* there now, or stays there.
    """

    def target(match: re.Match[str]) -> str:
        led_to_archive = match["way"] == ("../" if was else "../archive/")
        in_archive = led_to_archive or match["id"] in archived
        way = "../" if in_archive == goes else "../../" if goes else "../archive/"
        return f"]({way}sessions/{match['id']}.md)"

    if text is None:
        return None
    return re.sub(r"\]\((?P<way>\.\./(?:archive/|\.\./)?)sessions/(?P<id>[^()\s/]+)\.md\)", target, text)
