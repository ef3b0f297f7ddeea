"""The writers of notes until now, in the form of those that take their place: from turns to a draft."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from memtool.capture.conversation import Conversation
from memtool.capture.old_turns import Turn as OldTurn, from_turns
from memtool.capture.session_note import session_note
from memtool.capture.summary import Summary, left_something, summarise
from memtool.capture.turns import Turn
from memtool.vault.sessions import Draft


@lru_cache(maxsize=1)
def _old_turns(turns: tuple[Turn, ...]) -> tuple[OldTurn, ...]:
    return tuple(from_turns(turns))


def write_by_rules(turns: Sequence[Turn], *, branch: str = "", language: str = "en") -> Draft:
    """Return the note of *turns*."""
    old = list(_old_turns(tuple(turns)))
    if not any(turn.messages for turn in turns):  # only the prompts are left
        old = [turn._replace(answered=True) for turn in old]
    return _draft(summarise(old, branch=branch, language=language), turns)


def leaves_note(turns: Sequence[Turn]) -> bool:
    """Return whether a session is worth a note."""
    return left_something(list(_old_turns(tuple(turns))))


def _draft(summary: Summary, turns: Sequence[Turn]) -> Draft:
    files = list(dict.fromkeys(file for turn in turns for file in turn.files))
    nowhere, now = Path("/"), datetime.now(UTC)
    note = session_note(Conversation(), summary, files, len(turns), project="", root=None, home=nowhere, now=now)
    return note.draft._replace(files=tuple(files[: len(note.draft.files)]))
