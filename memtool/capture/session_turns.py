"""The turns of a kept session, for those who read them: a list, one as a whole, and that which a line came from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from memtool.capture.kept_note import kept_note
from memtool.capture.source import Source
from memtool.capture.turns import Turn
from memtool.capture.view import shown
from memtool.text.lines import one_line
from memtool.text.tokens import index_terms
from memtool.vault.forgotten import ForgottenTexts

_MARKS = re.compile(r"^\s*(?:[-*+]\s+(?:\[[ xX]\]\s+)?|#+\s+|\d+\.\s+)|\s*\((?:agent|user)\)\s*$")
_LEAST = 0.5  # of the words of a line that stand in the turn that it came from


class TurnRow(NamedTuple):
    """A turn in a list.

    Args:
        number: from 1.
        at: when it began.
        typed: what the user typed, on one line.
        ended: the end of it, on one line: the last message, else the last command, else the files.
        size: of all its texts, in characters.
    """

    number: int
    at: datetime | None
    typed: str
    ended: str
    size: int


def turn_rows(source: Source) -> list[TurnRow]:
    """Return the turns of *source* as a list shows them."""
    return [
        TurnRow(number, turn.at, one_line(turn.typed), _ended(turn), len(turn_text(turn, number)))
        for number, turn in enumerate(source.turns, 1)
    ]


def turn_text(turn: Turn, number: int) -> str:
    """Return the whole *turn*, which has this *number*."""
    return shown([turn], 0, first=number)


def without_forgotten(source: Source, gone: ForgottenTexts) -> Source:
    """Return *source* with `[forgotten]` in its turns where they say what is *gone*."""
    return source._replace(turns=tuple(_hidden(turn, gone) for turn in source.turns))


def _hidden(value: Any, gone: ForgottenTexts) -> Any:  # noqa: ANN401  (a turn, or anything that it holds)
    if isinstance(value, str):
        return gone.hidden_in(value)
    if not isinstance(value, tuple):
        return value
    parts = [_hidden(each, gone) for each in value]
    return value._make(parts) if hasattr(value, "_make") else tuple(parts)


def turn_of(source: Source, line: str) -> int:
    """Return the number of the turn that the *line* of a note came from: as its writer said, else by its words.

    0 if no turn holds them.
    """
    for each in kept_note(source.note).draft.lines:
        if each.text == line and each.turn:
            return each.turn
    return _by_words(source.turns, line)


def without_marks(line: str) -> str:
    """Return what a *line* of a note says, without its bullet, check box and author."""
    return _MARKS.sub("", line).strip()


def _by_words(turns: Sequence[Turn], line: str) -> int:
    wanted = set(index_terms(line))
    shares = [len(wanted.intersection(index_terms(turn_text(turn, 1)))) for turn in turns]
    most = max(shares, default=0)
    return len(shares) - shares[::-1].index(most) if wanted and most >= _LEAST * len(wanted) else 0


def _ended(turn: Turn) -> str:
    last = turn.runs[-1] if turn.runs else None
    work = f"{last.command}: {last.error or last.last_line or 'passed'}" if last else ", ".join(turn.files)
    return one_line(turn.said or work)
