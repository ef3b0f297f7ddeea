"""Lines that frame a part of a note: two texts that a merge could not make one, and what memtool generates.

git's own marks of a conflict begin like those of memtool.
"""

from __future__ import annotations

FIRST, BETWEEN, LAST = "<<<<<<< one text", "=======", ">>>>>>> the other text"
BEGIN, END = "<<<<<<< ", ">>>>>>> "
UNSOLVED = "it holds two texts between marks, and agents are not given it until you keep one of them"
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


def is_unsolved(content: bytes, *, is_whole: bool = True) -> bool:
    """Return whether the file *content* holds such a conflict; of a part that is not the *whole*, one mark will do."""
    if BEGIN.encode() not in content:
        return False
    text = content.decode("utf-8", "replace").replace("\r\n", "\n")
    return holds_two_texts(text) or (not is_whole and f"\n{BEGIN}" in f"\n{text}")
