"""The part of a hand-written note that memtool generates.

    <!-- memtool: generated; write above or below -->
    ...
    <!-- memtool: end -->

What is outside of the two comments is not touched. Pure.
"""

from __future__ import annotations

import re

from memtool.vault.marks import GENERATED as BEGIN, GENERATED_END as END

_SECTION = re.compile(rf"(?:\r?\n)?{re.escape(BEGIN)}\r?\n.*?{re.escape(END)}[ \t]*(?:\r?\n|$)", re.DOTALL)


def generated(text: str) -> str:
    """Return the text between the two comments of *text*, without them; empty if there are none."""
    match = _SECTION.search(text)
    return match[0].strip().removeprefix(BEGIN).removesuffix(END).strip() if match else ""


def with_generated(text: str, body: str) -> str:
    """Return *text* with *body* between its two comments, which are put at its end if it has none.

    Without a *body* they go. A text with only one of them, in another order, or with several pairs, has been edited: it
    stays as it is.
    """
    if text.count(BEGIN) > 1 or text.count(BEGIN) != text.count(END):
        return text
    match = _SECTION.search(text)
    if match is None and BEGIN in text:  # the second comment stands before the first
        return text
    body = body.replace(BEGIN, "").replace(END, "")
    newline = "\r\n" if (f"{BEGIN}\r\n" if BEGIN in text else "\r\n") in text else "\n"
    section = newline.join([BEGIN, *body.strip().splitlines(), END]) + newline if body.strip() else ""
    if match:
        lead = newline if match[0].startswith(("\n", "\r\n")) and section else ""
        return text[: match.start()] + lead + section + text[match.end() :]
    if not section:
        return text
    gap = "" if not text else newline if text.endswith("\n") else 2 * newline
    return f"{text}{gap}{section}"
