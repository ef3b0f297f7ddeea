"""What generated prose has in common: text that stays on its line, and the words for each language."""

from __future__ import annotations

import re

LANGUAGES = ("en", "zh")

_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")


def one_line(text: str) -> str:
    """Return *text* on one line, without control characters and lone surrogates."""
    return " ".join(_UNPRINTABLE.sub("", text).split())


def in_language(labels: dict[str, tuple[str, str]], language: str) -> dict[str, str]:
    """Return the column of *labels* for *language*; English where memtool does not know it."""
    column = LANGUAGES.index(language) if language in LANGUAGES else 0
    return {name: words[column] for name, words in labels.items()}
