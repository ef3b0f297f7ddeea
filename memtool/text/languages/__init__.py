"""Words of each language, as data: one file for each, `<code>.toml`."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

LANGUAGES = ("en", "zh", "ja", "ko", "de", "fr", "es")

_INTERJECTION = 10  # characters, as "No wait, "
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


def starts_with(kind: str, text: str) -> bool:
    """Return whether *text* starts with one of the words of *kind*, or has but a word or two before it ("ok, …")."""
    match = _pattern(kind).search(text[:_HEAD].casefold())
    return match is not None and match.start() <= _INTERJECTION


def mentioned(kind: str, text: str) -> frozenset[str]:
    """Return the words of *kind* that are anywhere in *text*."""
    return frozenset(_words_pattern(kind).findall(text.casefold()))


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    alternatives = _alternatives(kind, after=r"(?![^\W_])")
    return re.compile(rf"(?:\A|[.!?:,;\n。！？，；：]\s*)\W*(?:{alternatives})")


@cache
def _words_pattern(kind: str) -> re.Pattern[str]:
    letter = "[^\\W_\u2e80-\uffff]"  # of a script with spaces
    return re.compile(_alternatives(kind, before=f"(?<!{letter})", after=f"(?!{letter})"))


def _alternatives(kind: str, *, before: str = "", after: str) -> str:
    """Return a pattern for the words of *kind*; those of a script with spaces stand between *before* and *after*."""
    spaced = "|".join(re.escape(word) for word in words(kind) if word[0] < "\u2e80")
    others = "|".join(re.escape(word) for word in words(kind) if word[0] >= "\u2e80")
    return "|".join(filter(None, [rf"{before}(?:{spaced}){after}" if spaced else "", others]))
