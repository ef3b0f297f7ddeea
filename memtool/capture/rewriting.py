"""Making the notes of kept sessions anew, after memtool has learned to write better ones or by a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from memtool.capture.captured import read_record
from memtool.capture.kept_note import kept_note
from memtool.capture.queue import only_worker
from memtool.capture.session_capture import RULES, rewrite_session
from memtool.capture.source import read_source
from memtool.errors import Busy, MemtoolError, sentence_of
from memtool.history.one_commit import commit_noted
from memtool.text.lines import counted
from memtool.vault.sources import list_sources
from memtool.workspace import Workspace


class RewrittenNotes(NamedTuple):
    """The result: notes that were written anew, those by a model that were *left*, and the others with the reason."""

    notes: int = 0
    left: int = 0
    problems: tuple[str, ...] = ()


def rewrite_notes(
    work: Workspace, sessions: Sequence[str], progress: Callable[[int, int], None], *, writer: str = ""
) -> RewrittenNotes:
    """Write the notes of *sessions*, of all kept ones where none is named, anew; one commit holds them.

    *writer* is the model that writes them, or `none` for memtool's rules. Without it rules write, and what a model
    wrote stays. Of the owner's edits nothing is lost.

    Raises:
        Busy: sessions are being captured.
    """
    llm = work.settings.llm
    if writer not in ("", "none"):
        work = work._replace(settings=work.settings._replace(llm=llm._replace(writer=writer, providers=())))
    names = list(sessions) or [one.name for one in list_sources(work.vault)]
    done = RewrittenNotes()
    with only_worker(work.vault) as is_alone:
        if not is_alone:
            raise Busy("sessions are being captured; try again in a minute")
        try:
            for number, name in enumerate(names):
                progress(number, len(names))
                done = _rewritten(work, name, done, writer)
            progress(len(names), len(names))
        finally:
            with suppress(MemtoolError):  # then it is committed with the next capture
                commit_noted(work.vault, f"capture: {counted(done.notes, 'note')} rewritten")
    return done


def _rewritten(work: Workspace, name: str, done: RewrittenNotes, writer: str) -> RewrittenNotes:
    try:
        source = read_source(work.vault, name)
        if source is None or read_record(work.vault, source.session_id).off:
            return done._replace(problems=(*done.problems, f"{name}: its turns are not kept"))
        if not writer and kept_note(source.note).writer not in ("", RULES):
            return done._replace(left=done.left + 1)
        captured = rewrite_session(work, source, with_model=writer not in ("", "none"))
    except Exception as error:  # noqa: BLE001  (a bug in one session must not stop the others)
        return done._replace(problems=(*done.problems, f"{name}: {sentence_of(error)}"))
    if captured.fallback:
        return done._replace(problems=(*done.problems, f"{name}: {captured.fallback}"))
    return done._replace(notes=done.notes + 1)
