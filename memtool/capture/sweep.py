"""Finding sessions that nobody captured: the client was killed, or the lid was closed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from memtool.capture.queue import Job
from memtool.capture.records import read_record
from memtool.vault.layout import Vault

RECENT = 7 * 86_400.0  # seconds; what is older is for `memtool import claude-code`, which asks first
MOST = 100  # sessions of one sweep


def transcripts_in(folder: Path) -> list[Path]:
    """Return the transcripts in *folder* and in the folders below it: of each session the newest, if it has several."""
    newest: dict[str, tuple[float, Path]] = {}
    for pattern in ("*.jsonl", "*/*.jsonl"):
        with suppress(OSError):
            for path in folder.glob(pattern):
                if path.is_file() and not path.name.startswith("agent-"):
                    newest[path.stem] = max(newest.get(path.stem, (0.0, path)), (path.stat().st_mtime, path))
    return [path for _, path in newest.values()]


def find_uncaptured(vault: Vault, folder: Path, now: float) -> list[Job]:
    """Return a job for each recent transcript in *folder* that is new or has grown since, newest first."""
    found: list[tuple[float, Path]] = []
    for path in transcripts_in(folder):
        with suppress(OSError):
            stat = path.stat()
            if now - stat.st_mtime < RECENT and stat.st_size:
                found.append((stat.st_mtime, path))
    jobs = (
        Job(path.stem, str(path), event="SessionStart", queued_at=now)
        for _, path in sorted(found, reverse=True)
        if _is_waiting(vault, path)
    )
    return [job for job, _ in zip(jobs, range(MOST), strict=False)]


def _is_waiting(vault: Vault, path: Path) -> bool:
    record = read_record(vault, path.stem)
    with suppress(OSError):
        return not record.off and (record.owed or record.size != path.stat().st_size)
    return False
