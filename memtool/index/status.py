"""The content of an index, as plain values, and notices for the user; some of those only once."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from memtool.errors import MemtoolError
from memtool.index import schema
from memtool.index.engine import Index
from memtool.settings import Settings

_NAMED = 3  # files


def status(index: Index, settings: Settings, cache: Path) -> dict[str, Any]:
    """Return counts, places and problems of *index*, ready for JSON."""
    chunks = _count(index, "SELECT count(*) FROM chunk")
    problems = [{"path": note.ref, "reason": note.reason} for note in index.broken_notes()]
    return {
        "vault": str(index.place.vault.root),
        "path": index.address,
        "bytes": index.size(),
        "notes": _count(index, "SELECT count(*) FROM note"),
        "chunks": chunks,
        "facts": _count(index, "SELECT count(*) FROM chunk WHERE kind = 'fact'"),
        "fingerprint": schema.fingerprint(index.place.vault.daily),
        "vectors": _vectors(index, settings, cache, chunks),
        "problems": problems,
    }


def _count(index: Index, sql: str) -> int:
    return int(index.db.execute(sql).fetchone()[0])


def _vectors(index: Index, settings: Settings, cache: Path, chunks: int) -> dict[str, Any]:
    from memtool.embeddings import open_embedder  # a search, which says its notices, does without
    from memtool.index.embedding import chunks_skipped, chunks_waiting

    try:
        embedder = open_embedder(settings.embeddings, settings.keys.embeddings, cache, may_download=False)
    except MemtoolError as error:
        return {"model": "", "chunks": 0, "skipped": 0, "why": str(error)}
    waiting, skipped = (count(index.db, embedder.name) for count in (chunks_waiting, chunks_skipped))
    return {"model": embedder.name, "chunks": chunks - waiting - skipped, "skipped": skipped, "why": ""}


def index_notices(index: Index) -> list[str]:
    """Return a sentence for each thing to know of the index that was opened."""
    notices = []
    if index.rebuilt:
        notices.append(f"the index was built anew: {index.rebuilt}")
    if index.resumed:
        notices.append(f"indexing was interrupted before and went on: {index.resumed:,} files were done already")
    if index.behind:
        notices.append("another process is indexing: the newest notes may be missing")
    if index.unanswered:
        notices.append("the service of this vault does not answer: search goes on without it. `memtool serve --status`")
    if index.waiting:
        notices.append(f"{index.waiting:,} new or changed files are being read: they may be missing")
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
