"""Words of each language, as data: one file for each, `<code>.toml`, with all its lists and labels.

A hook has no time for `tomllib`, which takes 10 ms for these files. So they keep to a form of TOML in which a key is
found by its name at the beginning of a line: its value is a list or a string on that line, or a text between three
quotes. `tests/text/test_languages.py` reads them both ways, and lists the keys that each language lacks.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache

from memtool.text.scripts import CJK_ON, is_unspaced

ENGLISH = "en"  # whose labels stand where another language has none
NOTHING = "(?!)"  # the pattern of a list that no language has: an empty one would match everything

_FOLDER = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120  (pathlib would take longer than reading a file)
_INTERJECTION = 10  # characters, as "No wait, "
_CLAUSES = '[.:;!?。：；！？"“”„«»「」『』]'  # compiled at first use: a hook imports this module and may not need them
_QUOTED = '["“„«「『]([^"“”„«»「」『』]{4,400})["”“»」』]'
_HEAD = 160  # characters of a text that are looked at


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of all languages that have a file, English first."""
    names = os.listdir(os.path.join(_FOLDER, "languages"))  # noqa: PTH118, PTH208
    codes = (name.removesuffix(".toml") for name in names if name.endswith(".toml"))
    return tuple(sorted(codes, key=lambda code: (code != ENGLISH, code)))


@cache
def label_languages() -> tuple[str, ...]:
    """Return the codes of the languages in which notes are written: those that have labels for a session's note."""
    return tuple(code for code in languages() if has_labels(code))


def has_labels(code: str) -> bool:
    """Return whether notes can be written in the language *code*; only its own file is read."""
    return code in languages() and bool(_table(code, "session"))


@cache
def words(kind: str) -> tuple[str, ...]:
    """Return the words of *kind* in all languages, longest first."""
    return tuple(sorted(word_set(kind), key=lambda word: (-len(word), word)))


@cache
def word_set(kind: str) -> frozenset[str]:
    """Return the words of *kind* in all languages."""
    lists = (value.split() if isinstance(value, str) else value for value in _values(kind))
    return frozenset().union(*lists)


@cache
def listed(kind: str, code: str) -> tuple[str, ...]:
    """Return the words of *kind* in one language in the order of its file, such as its months."""
    return tuple(_value(code, kind) or ())


@cache
def text_of(kind: str) -> str:
    """Return the words of *kind* in all languages as one text, which spaces and line breaks part."""
    return "\n".join(str(value) for value in _values(kind))


@cache
def pattern_of(kind: str) -> str:
    """Return the pattern of *kind* that what any language has matches."""
    return "|".join(str(value) for value in _values(kind)) or NOTHING


def name_of(code: str) -> str:
    """Return the name of a language, as a model knows it."""
    return str((code in languages() and _value(code, "name")) or _value(ENGLISH, "name"))


def labels(table: str, language: str) -> dict[str, str]:
    """Return the *table* of words that notes are written with, such as `session`; English where *language* has none."""
    own = _table(language, table) if language in languages() else {}
    return _table(ENGLISH, table) | own


@cache
def all_labels(table: str) -> dict[str, tuple[str, ...]]:
    """Return the words of *table* in every language that has them, by name: notes are read in any of them."""
    found: dict[str, dict[str, None]] = {name: {} for name in _table(ENGLISH, table)}
    for code in languages():
        for name, word in _table(code, table).items():
            found[name][word] = None
    return {name: tuple(each) for name, each in found.items()}


@cache
def word_file(name: str) -> str:
    """Return the text of the file of words *name* in `memtool/text`, such as `synonyms.txt`."""
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:  # noqa: PTH118
        return file.read()


def begins_with(kind: str, text: str) -> bool:
    """Return whether one of the words of *kind* is at the start of *text* or of one of its first sentences."""
    return bool(_pattern(kind).search(text[:_HEAD].casefold()))


def starts_with(kind: str, text: str) -> bool:
    """Return whether *text* starts with one of the words of *kind*, or has but a word or two before it ("ok, …")."""
    match = _pattern(kind).search(text[:_HEAD].casefold())
    return match is not None and match.start() <= _INTERJECTION


def leads(kind: str, text: str) -> bool:
    """Return whether the very first word of *text* is one of *kind*."""
    match = _pattern(kind).match(text[:_HEAD].casefold())
    return match is not None


def gives_order(text: str) -> bool:
    """Return whether a clause of *text*, or of what it quotes, orders something for good: "always …", 「以后…」."""
    return any(begins_with("standing", part) for part in re.split(_CLAUSES, text))


def cites_order(text: str) -> bool:
    """Return whether *text* cites such an order: in quotes, or as what a document says."""
    cited = [match[1] for match in re.finditer(_QUOTED, text)]
    parts = _words_pattern("citing").split(text.casefold())
    return any(map(gives_order, cited)) or (len(parts) > 1 and gives_order(parts[-1]))


def without_openings(text: str) -> str:
    """Return *text* without the words at its beginning that say nothing: "Alright, …", 「好的，」."""
    while (match := _opening().match(text[:_HEAD].casefold())) and match.end() < len(text):
        text = text[match.end() :]
    return text


def mentioned(kind: str, text: str) -> frozenset[str]:
    """Return the words of *kind* that are anywhere in *text*."""
    return frozenset(_words_pattern(kind).findall(text.casefold()))


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    alternatives = _alternatives(kind, after=r"(?![^\W_])")
    return re.compile(rf"(?:\A|[.!?:,;\n。！？，；：]\s*)\W*(?:{alternatives})")


@cache
def _opening() -> re.Pattern[str]:
    alternatives = "|".join(_alternatives(kind, after="") for kind in ("opening", "consent"))
    return re.compile(rf"\s*(?:{alternatives})(?:\s*[,，、。！~～…–—]+\s*|\s*[.!]+\s+|\s+-+\s+)")


@cache
def _words_pattern(kind: str) -> re.Pattern[str]:
    letter = f"[^\\W_{CJK_ON}]"  # of a script with spaces
    return re.compile(_alternatives(kind, before=f"(?<!{letter})", after=f"(?!{letter})"))


def _alternatives(kind: str, *, before: str = "", after: str) -> str:
    """Return a pattern for the words of *kind*; those of a script with spaces stand between *before* and *after*."""
    spaced = "|".join(re.escape(word) for word in words(kind) if not is_unspaced(word[0]))
    others = "|".join(re.escape(word) for word in words(kind) if is_unspaced(word[0]))
    return "|".join(filter(None, [rf"{before}(?:{spaced}){after}" if spaced else "", others])) or NOTHING


def _values(kind: str) -> list[str | list[str]]:
    return [value for code in languages() if (value := _value(code, kind))]


def _value(code: str, key: str) -> str | list[str]:
    """Return the value of *key* in the file of the language *code*, empty if it has none."""
    lists = _parts(code)[0]
    at = lists.find(f"\n{key} = ")
    if at < 0:
        return ""
    start = at + len(f"\n{key} = ")
    marks = lists[start : start + 3]
    if marks in ('"""', "'''"):
        return lists[start + 3 : lists.index(marks, start + 3)].removeprefix("\n")
    return _read(lists[start : lists.index("\n", start)])


@cache
def _table(code: str, table: str) -> dict[str, str]:
    tables = _parts(code)[1]
    at = tables.find(f"\n[{table}]\n")
    if at < 0:
        return {}
    lines = tables[at + len(f"\n[{table}]\n") :].partition("\n[")[0].split("\n")
    return {name: str(_read(value)) for name, is_field, value in (line.partition(" = ") for line in lines) if is_field}


@cache
def _parts(code: str) -> tuple[str, str]:
    """Return the lists of a language's file and its tables, which follow them, each with a line break at both ends."""
    text = f"\n{word_file(f'languages/{code}.toml')}\n"
    end = text.find("\n[")
    return (text[: end + 1], text[end:]) if end >= 0 else (text, "")


def _read(value: str) -> str | list[str]:
    if value.startswith("'"):
        return value.strip("'")
    found: str | list[str] = json.loads(value)
    return found
