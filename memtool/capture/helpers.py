"""The edits of a session's helpers, from transcripts of their own that the client keeps beside the session's."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path

from memtool.capture.conversation import Conversation, Step
from memtool.capture.transcript.reader import read_transcript
from memtool.errors import TranscriptUnreadable

MOST_HELPERS = 100  # of one session, the last ones

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def with_edits_of_helpers(conversation: Conversation, path: Path, redact: Callable[[str], str]) -> Conversation:
    """Return *conversation*, whose transcript lies at *path*, with what its helpers edited, each edit at its time."""
    steps = list(conversation.steps)
    since = next((step.at for step in steps if step.at), None) if conversation.start else None
    times = list(accumulate((step.at or _LONG_AGO for step in steps), max))
    edits = sorted(_edits(path, redact, since), key=lambda step: step.at or _LONG_AGO, reverse=True)
    for edit in edits:
        steps.insert(bisect_right(times, edit.at or _LONG_AGO), edit)
    return conversation._replace(steps=tuple(steps))


def _edits(path: Path, redact: Callable[[str], str], since: datetime | None) -> Sequence[Step]:
    """Return the edits of the helpers, from the time *since* on: the others are known."""
    found: list[Step] = []
    for helper in sorted((path.with_suffix("") / "subagents").glob("agent-*.jsonl"))[-MOST_HELPERS:]:
        with suppress(TranscriptUnreadable, OSError):
            if since is None or helper.stat().st_mtime >= since.timestamp():
                found += read_transcript(helper, redact, of_helper=True).edits
    return found if since is None else [step for step in found if step.at and step.at >= since]
