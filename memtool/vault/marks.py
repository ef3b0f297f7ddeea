"""Lines that frame a part of a note: two texts that a merge could not make one, and what memtool generates.

git's own marks of a conflict begin like those of memtool.
"""

from __future__ import annotations

FIRST, BETWEEN, LAST = "<<<<<<< one text", "=======", ">>>>>>> the other text"
BEGIN, END = "<<<<<<< ", ">>>>>>> "
GENERATED, GENERATED_END = "<!-- memtool: generated; write above or below -->", "<!-- memtool: end -->"


def holds_two_texts(text: str) -> bool:
    """Return whether *text* holds a conflict that is not solved yet. Such a file is given to no agent."""
    if BEGIN not in text:
        return False
    lines = iter(text.split("\n"))  # each `any` goes on where the one before it has stopped
    return (
        any(line.startswith(BEGIN) for line in lines)
        and any(line.rstrip() == BETWEEN for line in lines)
        and any(line.startswith(END) for line in lines)
    )
