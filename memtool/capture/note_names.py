"""The name of a session's note, from the first words of the user that tell something. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from memtool.text.languages import word_set
from memtool.text.scripts import is_unspaced
from memtool.text.statements import prose

_MOST_WORDS, _LONGEST, _LONGEST_UNSPACED = 5, 44, 12  # words; characters; characters of a script without spaces
_LOOKED_AT = 2_000  # characters of a prompt
_CLAUSES = re.compile(r"(?<=[.!?;:,])\s+|\n+|[。！？；：，、…]+")
_LINK = re.compile(r"\w+://\S+|<[^>]*>")
_PATH = re.compile(r"@?(?:[\w.~-]*[/\\])+([\w.-]+)")
_WORD = re.compile(r"[a-z0-9]+(?:[._+-][a-z0-9]+)*")
_ASKING = re.compile("(?:请|帮我|帮忙|麻烦|你|我们|把|将)+")
_PARTS = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9._+-]*[a-zA-Z0-9])?|[^\W_a-zA-Z0-9]+")
_CONTRACTED = re.compile(r"\b\w+n['’]t\b|['’](?:m|d|ll|re|ve|s)\b")


def name_from(texts: Iterable[str]) -> str:
    """Return a name for a file from the first clause of *texts* that tells something; empty if none does.

    It has words of Latin letters with dashes between them, or, of a script without spaces, its first characters.
    """
    shortest = ""
    for text in texts:
        plain = _PATH.sub(r" \1 ", _LINK.sub(" ", prose(text[:_LOOKED_AT])))
        for clause in filter(_tells, _CLAUSES.split(plain)):
            name = _unspaced(clause) if any(map(is_unspaced, clause)) else _spaced(clause)
            if "-" in name or any(map(is_unspaced, name)):
                return name
            shortest = shortest or name
    return shortest


def _tells(clause: str) -> bool:
    return clause.strip().casefold() not in word_set("consent")


def _spaced(clause: str) -> str:
    plain = unicodedata.normalize("NFKD", _CONTRACTED.sub("", clause.casefold()))
    words = _WORD.findall("".join(char for char in plain if not unicodedata.combining(char)))
    telling = [re.sub(r"[^a-z0-9]+", "-", word).strip("-") for word in words if word not in _empty()]
    name = "-".join(telling[:_MOST_WORDS])
    while len(name) > _LONGEST and "-" in name:
        name = name.rpartition("-")[0]
    return name[:_LONGEST]


def _unspaced(clause: str) -> str:
    """Return the first characters of *clause*, and the Latin words between them, which do not count."""
    found, room = [], _LONGEST_UNSPACED
    for part in _PARTS.findall(unicodedata.normalize("NFKC", _ASKING.sub("", clause.strip(), count=1))):
        is_latin = part.isascii()
        found.append(part if is_latin else part[:room])
        room -= 0 if is_latin else len(part)
        if room <= 0:
            break
    name = "".join(found)[:_LONGEST].strip(".-")
    return name if len(name) > 1 else ""


@cache
def _empty() -> frozenset[str]:
    return word_set("function") | word_set("stop_words") | word_set("opening")
