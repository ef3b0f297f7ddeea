"""The content of an index, as plain values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memtool.embeddings import open_embedder
from memtool.errors import MemtoolError
from memtool.index import schema
from memtool.index.embedding import chunks_skipped, chunks_waiting
from memtool.index.engine import Index
from memtool.settings import Settings


def status(index: Index, settings: Settings, cache: Path) -> dict[str, Any]:
    """Return counts, places and problems of *index*, ready for JSON."""
    chunks = _count(index, "SELECT count(*) FROM chunk")
    problems = [{"path": note.ref, "reason": note.reason} for note in index.broken_notes()]
    return {
        "vault": str(index.place.vault.root),
        "path": str(index.path),
        "bytes": sum(path.stat().st_size for path in index.path.parent.glob(f"{index.path.name}*")),
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
    try:
        embedder = open_embedder(settings.embeddings, settings.keys.embeddings, cache, may_download=False)
    except MemtoolError as error:
        return {"model": "", "chunks": 0, "skipped": 0, "why": str(error)}
    waiting, skipped = (count(index.db, embedder.name) for count in (chunks_waiting, chunks_skipped))
    return {"model": embedder.name, "chunks": chunks - waiting - skipped, "skipped": skipped, "why": ""}
