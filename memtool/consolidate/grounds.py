"""Where in a session's note a turn stands, so that what was said in it is found again. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtool.capture.turns import Turn
from memtool.consolidate.evidence import Span, ending_in_title
from memtool.consolidate.sessions import SessionView
from memtool.vault.session_lines import ASKED

_CUT = r" … |…$"
_SHORTEST = 12  # characters by which a statement is known


class Grounds:
    """The lines of a session's note by the turn that they tell of."""

    def __init__(self, view: SessionView, turns: Sequence[Turn]) -> None:
        self._view, self._turns = view, turns
        self._ending = ending_in_title(view.text)
        self._asked: dict[int, str] = {}
        for line in view.lines:
            at = self.turn_of(line.text) if line.role == ASKED else None
            if at is not None:
                self._asked.setdefault(at, line.text)

    def turn_of(self, text: str) -> int | None:
        """Return the number of the turn in which *text* was asked, as far as the note shows it."""
        head = _head(text)
        return next((at for at, turn in enumerate(self._turns) if head and turn.asked.startswith(head)), None)

    def of(self, at: int) -> Span | None:
        """Return the words of turn number *at* in the note: what was asked, else what came of it."""
        turn = self._turns[at]
        text = self._asked.get(at) or next((line.text for line in self._view.lines if _tells(turn, line.text)), "")
        if not text and len(turn.ended) >= _SHORTEST and _head(turn.ended) in self._ending:
            text = self._ending
        return Span(f"{self._view.id}#{at + 1}", text) if text else None

    def of_text(self, at: int, text: str) -> Span | None:
        """Return the line of the note that says *text*, which was said in turn number *at*."""
        lines = [*(line.text for line in self._view.lines), self._ending]
        found = next((line for line in lines if line and (text in line or line in text)), "")
        return Span(f"{self._view.id}#{at + 1}", found) if found else None


def _tells(turn: Turn, line: str) -> bool:
    """Return whether *line*, which may be cut, is something that the agent said in *turn*."""
    head = _head(line)
    return len(head) >= _SHORTEST and any(head in piece.text for piece in turn.told)


def _head(text: str) -> str:
    return re.split(_CUT, text)[0]
