"""Noticing that a session has turned to something else. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from memtool.recall.ledger import Ledger

_FIRST = 3  # turns that a session may take to find its topic
_PAUSE = 5  # turns from one reminder to the next


def has_changed(ledger: Ledger, hits: Sequence[str]) -> bool:
    """Whether more than half of the *hits* of this turn are new to the session, and that is to be said."""
    if ledger.turn <= _FIRST or not ledger.hits:
        return False
    if ledger.reminded and ledger.turn - ledger.reminded < _PAUSE:
        return False
    return sum(key not in ledger.hits for key in hits) * 2 > len(hits)
