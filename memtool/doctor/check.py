"""The findings of an examination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from memtool.errors import MemtoolError

NAMED = 5  # files, notes, errors or jobs that are named before "and N more"
OK, NOTE, BROKEN = "ok", "note", "broken"


@dataclass(frozen=True)
class Check:
    """One finding: `ok`, a `note` that something optional is missing, or `broken`; and how to fix it.

    *mend* fixes it safely and returns a sentence about that; None if the user must decide.
    """

    subject: str
    state: str
    sentence: str
    fix: str = ""
    mend: Callable[[], str] | None = field(default=None, compare=False, repr=False)


def broken(subject: str, error: MemtoolError) -> Check:
    """Return the finding that something failed with *error*."""
    return Check(subject, BROKEN, str(error), error.hint)
