"""The grounds of a line: whether its turn says it, by its numbers and names and by the user's own words. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memtool.capture.turns import Turn
from memtool.text.languages import begins_with, mentioned
from memtool.text.lines import one_line
from memtool.text.statements import statements
from memtool.text.tokens import index_terms, query_terms

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
_BEFORE_A_SENTENCE = ".!?:;…→·—–-(['\"“‘「『（。！？：；，、"
_CALL = re.compile(r"(?<=\w)\(\)")


class Ground(NamedTuple):
    """The words that a line about a turn may use: all that was *said*, folded; *typed*, those of the user."""

    said: str
    typed: str


def grounds_of(turns: Sequence[Turn]) -> list[Ground]:
    """Return the ground of each turn."""
    return [_ground(turns, at) for at in range(len(turns))]


def unfounded(line: str, codes: Iterable[str], ground: str) -> str:
    """Return the first number, file, identifier or code of *line* that does not stand in *ground*; empty if all do.

    *codes* are what the line had in backticks.
    """
    names = [*(folded(code) for code in codes), *map(str.casefold, names_in(line))]
    return next((name for name in names if name and not _stands(name, ground)), "")


def unknown_name(line: str, ground: str) -> str:
    """Return the first word with a capital inside a sentence of *line* that does not stand in *ground*."""
    for match in _CAPITAL.finditer(line):
        before, name = line[: match.start()].rstrip(), match[0].casefold()
        is_known = _stands(name, ground) or _stands(name.removesuffix("s"), ground)
        if before and before[-1] not in _BEFORE_A_SENTENCE and not is_known:
            return match[0]
    return ""


def is_typed(line: str, ground: Ground) -> bool:
    """Return whether most of the telling words of *line* are the user's; *always* and *never* must be."""
    if not mentioned("standing", line) <= mentioned("standing", ground.typed):
        return False
    told, typed = query_terms(line), frozenset(index_terms(ground.typed))
    return 2 * sum(term in typed for term in told) > len(told)


def names_in(text: str) -> list[str]:
    """Return the numbers, files (their last part) and words shaped like an identifier in *text*."""
    plain = _plain(text)
    paths = (re.split(r"[/\\]", match[1].rstrip("/\\."))[-1] for match in _PATH.finditer(plain))
    return list(
        dict.fromkeys(
            [
                *(path for path in paths if len(path) > 1),
                *(name for part in _PART.findall(plain) for name in _names(part)),
            ]
        )
    )


def folded(text: str) -> str:
    """Return *text* as names are looked up in it: on one line, in small letters, without marks of code."""
    return _plain(text).casefold()


def _plain(text: str) -> str:
    unmarked = unicodedata.normalize("NFKC", text).replace("`", "").replace("**", "")
    return one_line(_THOUSANDS.sub("", _CALL.sub("", unmarked)))


def _names(part: str) -> Iterator[str]:
    if match := _NUMBERS.fullmatch(part):
        yield match[1]
    elif "." in part and _SENTENCE_END.search(part):
        yield from (name for piece in part.split(".") for name in _names(piece))
    elif ("." in part and not _ABBREVIATION.fullmatch(part)) or _SHAPED.search(part):
        yield part


def _stands(name: str, ground: str) -> bool:
    if name.replace(".", "").isdigit():
        return re.search(rf"(?<!\d)(?<!\d\.){re.escape(name)}(?!\d|\.\d)", ground) is not None
    start = "(?<![a-z0-9_])" if re.match(r"[a-z0-9]", name) else ""  # `.py` is the end of any name
    end = "(?![a-z0-9_-])" if name.startswith("--") else "(?![a-z0-9_])" if re.search(r"[a-z0-9_]$", name) else ""
    return re.search(f"{start}{re.escape(name)}{end}", ground) is not None


def _ground(turns: Sequence[Turn], at: int) -> Ground:
    turn = turns[at]
    typed = one_line(" . ".join(_typed(turns, at)))
    runs = (part for run in turn.runs for part in run)
    told = (piece.text for piece in turn.told)
    return Ground(folded("\n".join([typed, *turn.chosen, turn.said, *told, turn.plan, *turn.files, *runs])), typed)


def _typed(turns: Sequence[Turn], at: int) -> Iterator[str]:
    """Give what the user typed and chose in a turn, and the question that they said yes to before or after it."""
    turn = turns[at]
    yield turn.asked
    for choice in turn.chosen:
        answer = choice.rpartition(" → ")[2]
        yield answer if begins_with("contradiction", answer) else choice
    if at and turns[at - 1].verdict == "confirmed":
        yield _question(turns[at - 1])
    if turn.verdict == "confirmed" and at + 1 < len(turns):
        yield from (_question(turn), turns[at + 1].asked)


def _question(turn: Turn) -> str:
    """Return the question with which the agent ended the turn; empty if it ended with something else."""
    last = next(reversed(statements(turn.said)), None)
    return last.text if last and last.text.endswith(("?", "？")) else ""
