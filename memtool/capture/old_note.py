"""The writers of notes until now: a summary of the turns by rules, or by a model, and what they keep of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from memtool.capture.model_summary import summarise_with_model
from memtool.capture.old_turns import Turn as OldTurn, from_turns
from memtool.capture.session_reading import ReadSession
from memtool.capture.summary import KeyPoint, Summary, left_something, summarise
from memtool.capture.turns import Turn
from memtool.llm import EXTRACTIVE
from memtool.settings import Settings
from memtool.vault.layout import Vault
from memtool.vault.session_rows import without_texts
from memtool.vault.sessions import is_as_written, lines_of


class OldDraft(NamedTuple):
    """The content of a note: who wrote it, their *summary*, what the owner took out, the note's *text*.

    *size* is that of the transcript that a model has seen.
    """

    writer: str = ""
    summary: Summary = Summary()
    gone: tuple[str, ...] = ()
    text: str = ""
    size: int = 0


class Written(NamedTuple):
    """A draft; None where the model wrote none, and why not: *may_pass* if a later try may succeed."""

    draft: OldDraft | None
    reason: str = ""
    may_pass: bool = False


@lru_cache(maxsize=1)
def _old_turns(turns: tuple[Turn, ...]) -> tuple[OldTurn, ...]:
    return tuple(from_turns(turns))


def draft_of(note: Mapping[str, Any]) -> OldDraft:
    """Return the draft that a source holds; an empty one if it holds none."""
    try:
        given = note["summary"]
        points = tuple(
            KeyPoint(str(text), str(kind), tuple(map(str, tags))) for text, kind, tags in given["key_points"]
        )
        lists = (tuple(map(str, given[name])) for name in ("decisions", "rules", "done", "commands", "open"))
        summary = Summary(str(given["topic"]), points, (), *lists)
        size = int(note.get("size", 0))
        return OldDraft(str(note["writer"]), summary, tuple(map(str, note["gone"])), str(note["text"]), size)
    except (LookupError, TypeError, ValueError):
        return OldDraft()


def as_note(draft: OldDraft) -> dict[str, Any]:
    """Return *draft* as a source holds it."""
    points = [list(point) for point in draft.summary.key_points]
    return draft._asdict() | {
        "gone": list(draft.gone),
        "summary": draft.summary._asdict() | {"rows": [], "key_points": points},
    }


def write_by_rules(session: ReadSession, known: OldDraft, current: str | None, language: str) -> OldDraft:
    """Return the draft that rules make of the turns, without what the owner took out of the note *current*."""
    turns = list(_old_turns(session.source.turns))
    if not session.has_answers:
        turns = [turn._replace(answered=True) for turn in turns]
    gone = _gone(known, current)
    summary = summarise(turns, branch=session.source.branch, language=language)
    return OldDraft(EXTRACTIVE, summary._replace(rows=tuple(without_texts(summary.rows, gone))), gone, known.text)


def write_with_model(session: ReadSession, known: OldDraft, settings: Settings, vault: Vault, now: datetime) -> Written:
    """Return the draft that a model makes of the turns."""
    answer = summarise_with_model(_old_turns(session.source.turns), settings, vault, now)
    draft = answer.summary and known._replace(writer=answer.provider, summary=answer.summary)
    return Written(draft, answer.reason, answer.may_pass)


def leaves_note(session: ReadSession) -> bool:
    """Return whether the session is worth a note of its own."""
    return left_something(list(_old_turns(session.source.turns)))


def _gone(known: OldDraft, current: str | None) -> tuple[str, ...]:
    """Return the texts that the owner took out of the note since the first capture."""
    if current is None or not known.text or is_as_written(current):
        return known.gone
    there = {line.text for line in lines_of(current)}
    gone = (line.text for line in lines_of(known.text) if line.text not in there)
    return tuple(dict.fromkeys([*known.gone, *gone]))
