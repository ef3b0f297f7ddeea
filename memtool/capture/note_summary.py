"""The summary of a long note that somebody saved: a model writes it into one line of the note's front matter."""

from __future__ import annotations

import hashlib

from memtool.capture.model_note import note_with_model
from memtool.capture.queue import Job, Queue
from memtool.capture.session_capture import Captured
from memtool.capture.turns import Turn
from memtool.history.uncommitted import note_uncommitted
from memtool.llm import is_set_up
from memtool.text.frontmatter import set_field
from memtool.vault.files import read_text, replace
from memtool.vault.layout import project_of
from memtool.vault.note import Note, parse_note
from memtool.workspace import Workspace

NOTE = "note"  # the event of a job whose `transcript` is the path of a note in the vault

_LEAST = 600  # characters; a shorter note is read as soon as its summary


def queue_summary(work: Workspace, ref: str, text: str) -> bool:
    """Let a worker summarise the note at *ref*, if it is long enough and a model is set up; return whether it will.

    Raises:
        NotWritable: the vault's state cannot be written.
    """
    if len(text) < _LEAST or not is_set_up(work.settings.llm):
        return False
    job_id = f"note-{hashlib.sha256(ref.encode()).hexdigest()[:16]}"
    Queue(work.vault).put(Job(job_id, ref, str(work.folder), NOTE, queued_at=work.now().timestamp()))
    return True


def summarise_note(work: Workspace, job: Job) -> Captured:
    """Write a summary into the note that *job* names. A note that is gone, or has one, stays as it is.

    Raises:
        MemtoolError: someone changed the note meanwhile, or the vault cannot be written.
    """
    ref = job.transcript
    path = work.vault.path(ref)
    try:
        text, expected = read_text(path)
    except OSError:
        return Captured()
    note = parse_note(ref, text.encode())
    if not isinstance(note, Note) or note.field("summary"):
        return Captured()
    turn = Turn(messages=(note.body,))
    answer = note_with_model([turn], work.settings, work.vault, work.now(), redact=work.redact)
    if answer.draft is None:
        return Captured(fallback=answer.reason, may_pass=answer.may_pass)
    summary = answer.draft.summary or answer.draft.title
    note_uncommitted(work.vault, [ref])
    with work.vault.lock():
        replace(path, set_field(text, "summary", summary), expected=expected)
    return Captured((ref,), summary, note.field("project") or project_of(ref))
