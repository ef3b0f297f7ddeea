"""Quotations: what a prompt repeats of the answer before it is the agent's text, and not the user's. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtool.text.lines import one_line, shortened, width

_SHORTEST = 36  # columns that nobody types alike by chance
_SHOWN = 44  # columns of a quotation that are shown
_STOPS = r"(?<=[.!?:;,])\s+|\n\s*|(?<=[。！？：；，])\s*|\Z"


def with_quotations(asked: str, said: str) -> str:
    """Return *asked*, the parts of it that stand in the message *said* shortened and in angle quotes.

    A prompt that is nothing but such text was taken over, and stays as it is.
    """
    if not said or width(asked) < _SHORTEST:
        return asked
    message = _folded(said)
    ends = [match.end() for match in re.finditer(_STOPS, asked) if match.end()]
    parts = [asked[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    shown, at, is_own = [], 0, False
    while at < len(parts):
        count = _quoted(parts[at:], message)
        quoted = "".join(parts[at : at + count]).strip()
        shown.append(f"«{shortened(one_line(quoted.lstrip('-*•> ')), _SHOWN)}» " if count else parts[at])
        is_own = is_own or not count
        at += count or 1
    return "".join(shown).strip() if is_own else asked


def _quoted(parts: Sequence[str], message: str) -> int:
    """Return how many of the first *parts* are a quotation of *message*; 0 if they are too short for one."""
    text = ""
    for count, part in enumerate(parts):
        if _folded(text + part) not in message:
            return count if width(text.strip()) >= _SHORTEST else 0
        text += part
    return len(parts) if width(text.strip()) >= _SHORTEST else 0


def _folded(text: str) -> str:
    return re.sub(r"[\s*`_#>|\"“”-]+", "", text).casefold()
