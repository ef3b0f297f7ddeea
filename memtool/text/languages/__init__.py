"""Words of each language, as data: one file for each, `<code>.toml`."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

LANGUAGES = ("en", "zh", "ja", "ko", "de", "fr", "es")

_HEAD = 160  # characters of a text that are looked at


@cache
def words(kind: str) -> tuple[str, ...]:
    """Return the words of *kind* in all languages, longest first."""
    import tomllib

    files = resources.files(__package__)
    found = {
        word for code in LANGUAGES for word in tomllib.loads((files / f"{code}.toml").read_text("utf-8")).get(kind, ())
    }
    return tuple(sorted(found, key=lambda word: (-len(word), word)))


def begins_with(kind: str, text: str) -> bool:
    """Return whether one of the words of *kind* is at the start of *text* or of one of its first sentences."""
    return bool(_pattern(kind).search(text[:_HEAD].casefold()))


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    spaced = "|".join(re.escape(word) for word in words(kind) if word.isascii() or word[0] < "\u2e80")
    others = "|".join(re.escape(word) for word in words(kind) if not (word.isascii() or word[0] < "\u2e80"))
    parts = [rf"(?:{spaced})(?![^\W_])" if spaced else "", f"(?:{others})" if others else ""]
    return re.compile(rf"(?:\A|[.!?:,;\n。！？，；]\s*)\W*(?:{'|'.join(filter(None, parts))})")
