"""The marks around two texts that a merge could not make one: those of memtool, which git's begin like."""

from __future__ import annotations

FIRST, BETWEEN, LAST = "<<<<<<< one text", "=======", ">>>>>>> the other text"
BEGIN, _END = "<<<<<<< ", ">>>>>>> "


def holds_two_texts(text: str) -> bool:
    """Return whether *text* holds a conflict that is not solved yet. Such a file is given to no agent."""
    if BEGIN not in text:
        return False
    lines = iter(text.split("\n"))  # each `any` goes on where the one before it has stopped
    return (
        any(line.startswith(BEGIN) for line in lines)
        and any(line.rstrip() == BETWEEN for line in lines)
        and any(line.startswith(_END) for line in lines)
    )
