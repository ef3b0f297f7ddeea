"""Lines that frame a part of a note: two texts of a merge conflict, and the part that memtool generates.

git's own marks of a conflict begin like those of memtool.
"""

from __future__ import annotations

import re

FIRST, BETWEEN, LAST = "<<<<<<< one text", "=======", ">>>>>>> the other text"
BEGIN, END = "<<<<<<< ", ">>>>>>> "
UNSOLVED = "it holds two texts between marks, and agents are not given it until you keep one of them"
GENERATED, GENERATED_END = "<!-- memtool: generated; write above or below -->", "<!-- memtool: end -->"

_SECTION = rf"(?s)(?:\r?\n)?{re.escape(GENERATED)}\r?\n.*?{re.escape(GENERATED_END)}[ \t]*(?:\r?\n|$)"


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


def generated(text: str) -> str:
    """Return the text between the two comments of *text*, without them; empty if there are none."""
    match = re.search(_SECTION, text)
    return match[0].strip().removeprefix(GENERATED).removesuffix(GENERATED_END).strip() if match else ""


def with_generated(text: str, body: str) -> str:
    """Return *text* with *body* between its two comments, which are put at its end if it has none.

    Without a *body* they go. A text with only one of them, in another order, or with several pairs, has been edited: it
    stays as it is.
    """
    if text.count(GENERATED) > 1 or text.count(GENERATED) != text.count(GENERATED_END):
        return text
    match = re.search(_SECTION, text)
    if match is None and GENERATED in text:  # the second comment comes first
        return text
    body = body.replace(GENERATED, "").replace(GENERATED_END, "")
    newline = "\r\n" if (f"{GENERATED}\r\n" if GENERATED in text else "\r\n") in text else "\n"
    section = newline.join([GENERATED, *body.strip().splitlines(), GENERATED_END]) + newline if body.strip() else ""
    if match:
        lead = newline if match[0].startswith(("\n", "\r\n")) and section else ""
        return text[: match.start()] + lead + section + text[match.end() :]
    if not section:
        return text
    gap = "" if not text else newline if text.endswith("\n") else 2 * newline
    return f"{text}{gap}{section}"
