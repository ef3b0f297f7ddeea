"""Notices for the user beside the hits; some of them only once."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterable
from pathlib import Path

from memtool.index.engine import Index

_NAMED = 3  # files


def index_notices(index: Index) -> list[str]:
    """Return what opening the index brought to light."""
    notices = []
    if index.rebuilt:
        notices.append(f"the index was built anew: {index.rebuilt}")
    if index.resumed:
        notices.append(f"indexing was interrupted before and went on: {index.resumed:,} files were done already")
    if index.behind:
        notices.append("another process is indexing: the newest notes may be missing")
    touched = {*index.applied.added, *index.applied.changed}
    news = [note for note in index.broken_notes() if note.ref in touched] if touched else []
    notices += [f"{note.ref}: {note.reason}" for note in news[:_NAMED]]
    if len(news) > _NAMED:
        notices.append(f"and {len(news) - _NAMED} more files that cannot be read well: see `memtool doctor`")
    return notices


def once(folder: Path, notices: Iterable[str]) -> list[str]:
    """Return those of *notices* that were not returned before for the vault whose state is in *folder*."""
    fresh = []
    for notice in notices:
        said = folder / "said" / f"{zlib.crc32(notice.encode()):08x}"
        if not said.exists():
            fresh.append(notice)
            with contextlib.suppress(OSError):  # if it cannot be remembered, it is said again
                said.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                said.touch(mode=0o600)
    return fresh
