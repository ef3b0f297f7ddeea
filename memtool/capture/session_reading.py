"""Reading a session: from its transcript, on from what its kept source holds, to its turns. All of it is redacted."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtool.capture import limits
from memtool.capture.captured import Record
from memtool.capture.queue import Job
from memtool.capture.source import Source
from memtool.capture.transcript.reader import read_transcript
from memtool.capture.transcript.record_stream import mark_before, open_transcript
from memtool.capture.transcript.text import compaction_text
from memtool.capture.turns import Conversation, Step, turns_of
from memtool.errors import TranscriptUnreadable
from memtool.vault.masking import Mask
from memtool.workspace import Workspace

if TYPE_CHECKING:
    from memtool.redaction import Redactor


_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class ReadSession(NamedTuple):
    """A session as far as it is known.

    Args:
        source: its folder, times and size, and all of its turns.
        edits: the files that were edited in what was read now.
        told: the parts of the summary that the agent gave by itself.
        start: from which byte on the transcript was read now.
        offset, mark, secrets: as in `Record`.
        mask: takes its secrets out of other texts.
    """

    source: Source
    edits: tuple[Step, ...] = ()
    told: Mapping[str, str] = {}
    start: int = 0
    offset: int = 0
    mark: int = 0
    secrets: int = 0
    mask: Mask = str


def read_session(work: Workspace, job: Job, record: Record = Record(), known: Source | None = None) -> ReadSession:  # noqa: B008  (never changed)
    """Return the session whose transcript *job* names, read on from where *known* ends, as *record* says.

    It is read whole if the transcript is not the one that was read before. One that holds a secret is read whole, and
    again once it is known: it is masked in what came before it, too. *job* may know more of the session's end.
    """
    redact, secrets = work.redact.of_session(), 0
    conversation, before = _read(job, Record() if record.secrets else record, known, redact)
    for asked, said in pairwise(conversation.steps):
        if (asked.kind, said.kind) == ("answer", "prompt"):
            redact.learn_answer(asked.text, said.text)
    while secrets < redact.found < limits.SECRETS:
        secrets = redact.found
        redact.counts.clear()
        conversation, before = _read(job, Record(), known, redact)
    work.redact.counts.update(redact.counts)
    source = source_of(conversation._replace(session_id=job.session_id), before, known.note if known else {})
    offset = source.turns[-1].offset if source.turns else 0
    mark = 0
    with suppress(TranscriptUnreadable, OSError), open_transcript(Path(job.transcript)) as file:
        mark = mark_before(file, offset)
    return ReadSession(
        source, conversation.edits, conversation.told, conversation.start, offset, mark, redact.found, redact.mask
    )  # fmt: skip


def source_of(conversation: Conversation, before: Source | None, note: Mapping[str, object]) -> Source:
    """Return the source of *conversation*, which goes on where the turns *before* end, with its *note*."""
    before = before or Source()
    return Source(
        conversation.session_id,
        conversation.client,
        before.cwd or conversation.cwd,
        conversation.branch or before.branch,
        conversation.title or before.title,
        before.started_at or conversation.started_at,
        conversation.ended_at or before.ended_at,
        conversation.size,
        tuple(turns_of(conversation.steps, before.turns)),
        note,
    )


def _read(job: Job, record: Record, known: Source | None, redact: Redactor) -> tuple[Conversation, Source | None]:
    """Return what was read now, and the source with the turns that it goes on from; None if all was read."""
    turns = tuple(turn for turn in known.turns if turn.offset < record.offset) if known else ()
    before = known._replace(turns=turns) if known and len(turns) == len(known.turns) - 1 else None
    conversation = read_transcript(
        Path(job.transcript),
        redact,
        last_answer=job.said,
        start=record.offset if before else 0,
        mark=record.mark,
        session_id=job.session_id,
        cwd=before.cwd if before else "",
    )
    before = before if conversation.start else None
    conversation = _with_edits_of_helpers(conversation, Path(job.transcript), redact)
    if job.compaction and not any(step.kind == "compaction" and step.text for step in conversation.steps):
        summary = Step("compaction", redact(compaction_text(job.compaction)), conversation.ended_at)
        conversation = conversation._replace(steps=(*conversation.steps, summary))
    return conversation, before


def _with_edits_of_helpers(conversation: Conversation, path: Path, redact: Callable[[str], str]) -> Conversation:
    """Return *conversation*, whose transcript lies at *path*, with what its helpers edited, each edit at its time."""
    steps = list(conversation.steps)
    since = next((step.at for step in steps if step.at), None) if conversation.start else None
    times = list(accumulate((step.at or _LONG_AGO for step in steps), max))
    edits = sorted(_edits_of_helpers(path, redact, since), key=lambda step: step.at or _LONG_AGO, reverse=True)
    for edit in edits:
        steps.insert(bisect_right(times, edit.at or _LONG_AGO), edit)
    return conversation._replace(steps=tuple(steps))


def _edits_of_helpers(path: Path, redact: Callable[[str], str], since: datetime | None) -> Sequence[Step]:
    """Return the edits of the helpers, from the time *since* on: the others are known."""
    found: list[Step] = []
    for helper in sorted((path.with_suffix("") / "subagents").glob("agent-*.jsonl"))[-limits.MANY :]:
        with suppress(TranscriptUnreadable, OSError):
            if since is None or helper.stat().st_mtime >= since.timestamp():
                found += read_transcript(helper, redact, of_helper=True).edits
    return found if since is None else [step for step in found if step.at and step.at >= since]
