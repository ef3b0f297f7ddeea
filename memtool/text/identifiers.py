"""Names in a text: its numbers, files and identifiers, and whether they stand in another text. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from memtool.text.lines import one_line

_THOUSANDS = re.compile(r"(?<=\d)[,_](?=\d{3}(?!\d))")
_PATH = re.compile(r"(?<![\w.:/\\-])(?:~|\.{1,2}|[A-Za-z]:)?[/\\]([\w.@+-][\w.@+/\\-]*)")  # not `and/or`, `输入/输出`
_PART = re.compile(
    r"--[A-Za-z][A-Za-z0-9-]*[A-Za-z0-9](?![A-Za-z0-9_-])"  # a flag
    r"|[^\W\x00-\x7f]?(?<![A-Za-z0-9_.)\]])\.[A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9](?![A-Za-z0-9_])"  # .env, 计.md
    r"|[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)+"  # auth.ts, config.load, v2.1
    r"|[A-Za-z0-9_]+"
)
_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)[A-Za-z]{0,3}")  # with its unit: 24h, 1.5GB, 3rd
_ABBREVIATION = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]?")
_SENTENCE_END = re.compile(r"[a-z)]\.[A-Z][a-z]*$")  # "is fixed.The next"
_SHAPED = re.compile(r"[a-z][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|[A-Za-z]\d|\d[A-Za-z]|^--")
_CAPITAL = re.compile(r"(?<![A-Za-z0-9_])[A-Z][A-Za-z]++(?![0-9_])")
_BEFORE_A_SENTENCE = ".!?:;…→·—–-(['\"“‘「『（。！？：；，、✓"


def unfounded(line: str, ground: str) -> str:
    """Return the first number, file or identifier of *line* that does not stand in *ground*; empty if all do."""
    return next((name for name in map(str.casefold, names_in(line)) if name and not stands(name, ground)), "")


def unknown_name(line: str, ground: str) -> str:
    """Return the first capitalised word of *line* that does not begin a sentence and is not in *ground*; else empty."""
    for match in _CAPITAL.finditer(line):
        before, name = line[: match.start()].rstrip(), match[0].casefold()
        is_known = stands(name, ground) or stands(name.removesuffix("s"), ground)
        if before and before[-1] not in _BEFORE_A_SENTENCE and not is_known:
            return match[0]
    return ""


def names_in(text: str) -> list[str]:
    """Return the numbers, files (their last part) and words shaped like an identifier in *text*."""
    plain = _plain(text)
    paths = (re.split(r"[/\\]", match[1].rstrip("/\\."))[-1] for match in _PATH.finditer(plain))
    parts = (name for part in _PART.findall(plain) for name in _names(part))
    return list(dict.fromkeys([*(path for path in paths if len(path) > 1), *parts]))


def folded(text: str) -> str:
    """Return *text* as names are looked up in it: on one line, in small letters, without marks of code."""
    return _plain(text).casefold()


def _plain(text: str) -> str:
    unmarked = unicodedata.normalize("NFKC", text).replace("`", "").replace("**", "")
    return one_line(_THOUSANDS.sub("", re.sub(r"(?<=\w)\(\)", "", unmarked)))


def _names(part: str) -> Iterator[str]:
    if match := _NUMBERS.fullmatch(part):
        yield match[1]
    elif "." in part and _SENTENCE_END.search(part):
        yield from (name for piece in part.split(".") for name in _names(piece))
    elif ("." in part and not _ABBREVIATION.fullmatch(part)) or _SHAPED.search(part):
        yield part


def stands(name: str, ground: str) -> bool:
    """Return whether *name*, in small letters, stands in *ground*, which is `folded`. After a `_` more may follow."""
    if name.replace(".", "").isdigit():
        return re.search(rf"(?<!\d)(?<!\d\.){re.escape(name)}(?!\d|\.\d)", ground) is not None
    start = "(?<![a-z0-9_])" if re.match(r"[a-z0-9]", name) else ""  # `.py` is the end of any name
    end = "(?![a-z0-9_-])" if name.startswith("--") else "(?![a-z0-9_])" if re.search(r"[a-z0-9]$", name) else ""
    return re.search(f"{start}{re.escape(name)}{end}", ground) is not None


def without_names(text: str) -> str:
    """Return *text* on one line without its numbers, files and identifiers."""
    plain = _PATH.sub(" ", _plain(text))
    return _PART.sub(lambda part: " " if any(True for _ in _names(part[0])) else part[0], plain)
