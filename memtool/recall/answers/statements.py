"""The statements of a memory, and those of them that answer a question, each whole or not at all. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from memtool.named_tuple import NamedTuple
from memtool.recall import limits
from memtool.text.languages import all_labels, pattern_of
from memtool.text.markdown import blocks, without_mark
from memtool.text.tokens import index_terms
from memtool.vault.memory import ASKED, COMMAND, OPEN, SUMMARY, TITLE, USER
from memtool.vault.sessions import Line

LONGEST = 330  # characters of one statement
BETWEEN = " · "  # statements of one session, in one line
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？；])")
_OF_NOTE = 0.8  # share of the room that the note of a session fills before its source
_ADDS = 0.6  # of the rarest word of a question that a statement of a source must add
_OF_PROMPT = 0.4  # what a statement gains from the words of the prompt that it answers
_DONE_SIGN = "✅|✓|~~|-$"
_DONE_TASK = re.compile(r"\s*[-*+]\s+\[[xX]\]\s")  # a task that nobody needs to be reminded of
_LABEL = re.compile(r"\*\*[^*\n]{1,40}\*\*[:：]\s*")  # `**Decisions**: …` of an older note
# What memtool's own hooks write into daily notes says nothing by itself: files, links, topics.
_MACHINE_MADE = re.compile(r"- [0-2]\d:[0-5]\d(?: \*\*[^*]+\*\*)?:(?: (?:`|\[)|.* \(session \S+\)$)")
_LONG_PASSAGE = 240  # characters; a longer passage is cut into sentences, each of which can be forgotten
_SAYS_NOTHING = {"daily": _MACHINE_MADE, "todo": _DONE_TASK}


class Budget(NamedTuple):
    """The room of an interface.

    Args:
        characters: of all statements together.
        notes: memories at most.
        statements: of one memory at most.
        first: share of the room that the first memory may fill.
        fills: whether a session may say more than what has words of the question, as far as there is room.
    """

    characters: int
    notes: int
    statements: int
    first: float = 1.0
    fills: bool = False


PRINTED = Budget(2_300, notes=5, statements=12, first=0.44)  # a page of `memtool search`
TO_AGENT = Budget(4_500, notes=5, statements=30, first=0.4, fills=True)  # a page of the tool `context_search`
IN_FIELDS = Budget(4_000, notes=5, statements=3, first=0.3)  # a page of the service, and of its viewer
LISTED = Budget(100_000, notes=20, statements=3)  # what there is, without a question


class Passage(NamedTuple):
    """One line's worth of text, and the lines of the chunk that hold it, counted from 0."""

    text: str
    first: int
    last: int


def choose(
    weights: Mapping[str, float], statements: Sequence[Line], budget: Budget, *, kept: Sequence[Line] = ()
) -> tuple[Line, ...]:
    """Return those of *statements* that answer best and fit *budget* together, in their order.

    A note shows what was typed by its beginning, and may lack the answer. So the source gives the whole of what the
    note begins to quote, and a part of the room is for what says words of the question that nothing chosen says.

    Args:
        weights: of the terms of the question, as `memtool.text.tokens` makes them.
        statements: of one memory (`memtool.vault.sessions.lines_of`).
        budget: for this one memory.
        kept: statements of its source.
    """
    chosen: list[Line] = []

    def fill(ranked: Iterable[Line], characters: int) -> None:
        room = characters - sum(map(_room_of, chosen))
        for line in ranked:
            if len(chosen) == budget.statements:
                return
            if _room_of(line) <= room + len(BETWEEN) and not any(
                line.text in each.text or each.text in line.text for each in chosen
            ):
                chosen.append(line)
                room -= _room_of(line)

    quoted = "\n".join(line.text for line in statements if line.role == ASKED)
    typed = [line for line in kept if line.author == USER and line.text[: limits.QUOTED] in quoted]
    by_strength = [(strength(weights, line), line) for line in candidates([*statements, *typed])]
    by_strength.sort(key=lambda each: -each[0])
    if kept:
        fill((line for held, line in by_strength if held), round(_OF_NOTE * budget.characters))
        fill(_adding(weights, chosen, kept), budget.characters)
    fill((line for held, line in by_strength if held or line.role != COMMAND), budget.characters)
    return tuple(sorted(chosen, key=lambda line: (not line.number, line.number, line.turn)))


def _room_of(line: Line) -> int:
    """Return how many characters *line* takes between others: what the user said has a mark."""
    return len(line.text) + len(BETWEEN) + (len(USER) + 2 if line.author == USER else 0)


def _adding(weights: Mapping[str, float], chosen: Iterable[Line], kept: Iterable[Line]) -> Iterator[Line]:
    """Give those of *kept* that add most words of the question to what is *chosen*, as long as they add much."""
    said = frozenset[str]().union(*(terms_of(line.text) | terms_of(line.asked) for line in chosen))
    lines = {line: weights.keys() & terms_of(line.text) for line in candidates(kept)}
    least = _ADDS * max(weights.values(), default=0.0)
    while lines:
        best = max(lines, key=lambda line: sum(weights[term] for term in lines[line] - said))
        adds = lines.pop(best) - said
        if sum(weights[term] for term in adds) < least:
            return
        said |= adds
        yield best


def candidates(statements: Iterable[Line]) -> Iterator[Line]:
    """Give those of *statements* that tell something to somebody who was not there, of long ones the beginning."""
    for line in statements:
        if tells(line) and (text := whole(line.text, LONGEST)):
            yield line._replace(text=text)


def strength(weights: Mapping[str, float], line: Line) -> float:
    """Return how much *line* answers a question whose terms have these *weights*."""
    own = terms_of(line.text)
    above = terms_of(line.asked) - own if line.asked else frozenset[str]()
    held = sum(weights[term] for term in own & weights.keys())
    return held + _OF_PROMPT * sum(weights[term] for term in above & weights.keys())


def tells(line: Line) -> bool:
    """Whether *line* is a statement: no question, stump, status, and of what the user typed only what they will."""
    text = line.text
    if line.role == OPEN:  # what was asked at the end and never answered may be a question
        return not (re.match(_DONE_SIGN, text) or _has("closed_item", text))
    # Behind an answer that the user questioned next stands a mark, in each language.
    doubts = (form.partition("{}")[2] for form in all_labels("summary")["objected"])
    if text.endswith(("?", "？", "…", "...", *doubts)):
        return False
    if line.role in (ASKED, TITLE, SUMMARY) and line.author == USER:
        return _has("willing", text)
    if line.role == COMMAND:
        return True
    is_status = len(text) <= limits.WIDEST and re.match(pattern_of("status_line"), text, re.IGNORECASE) is not None
    return not (is_status or (not line.role and re.match(r"[A-H\d]\d? = ", text)))


def whole(text: str, most: int) -> str:
    """Return *text*, or as many of its first sentences as *most* characters hold: none is ever cut."""
    if len(text) <= most:
        return text
    end = max((match.start() for match in _SENTENCE_END.finditer(text, 0, most + 1)), default=0)
    return text[:end].strip()


@lru_cache(maxsize=2_048)  # who asks much finds the same chunks again: `memtool test`, the service
def passages(text: str, kind: str) -> tuple[Passage, ...]:
    """Return the passages of a chunk's *text* that are worth giving, in order, without bullets' marks and fences."""
    lines = text.split("\n")
    found: list[Passage] = []
    for first, last in blocks(lines):
        pattern = _SAYS_NOTHING.get(kind)
        if not pattern or not pattern.match(lines[first]):
            block = [without_mark(lines[first]).removeprefix("[ ] "), *lines[first + 1 : last + 1]]
            whole = " ".join(_LABEL.sub("", line.strip(" |\t\r"), count=1) for line in block)
            parts = _SENTENCE_END.split(whole) if len(whole) > _LONG_PASSAGE else [whole]
            found += [Passage(part.strip(), first, last) for part in parts if part.strip()]
    return tuple(passage for passage in found if _is_passage(passage.text, kind))


def _is_passage(text: str, kind: str) -> bool:
    """Whether *text* tells somebody who was not there anything: a question, a list of files, a status does not."""
    if text.endswith(("?", "？")) or _names_only_files(text):
        return False
    return kind not in ("daily", "todo") or tells(Line(text, OPEN if kind == "todo" else ""))


def _names_only_files(text: str) -> bool:
    parts = [part.strip(" `'\"") for part in text.replace("、", ",").split(",")]
    files = [part for part in parts if ("." in part or "/" in part) and " " not in part]
    # The end of a list of files that leaves some out, in each language: `and ` of `and 3 more`.
    more = tuple(form.partition("N")[0] for form in all_labels("session")["more_files"])
    return bool(files) and all(part in files or part.startswith(more) for part in parts)


@lru_cache(maxsize=8_192)  # one prompt after another finds the same notes: `memtool test`, the service
def terms_of(text: str) -> frozenset[str]:
    """Return the terms of *text*."""
    return frozenset(index_terms(text))


def beginnings_of(terms: Iterable[str]) -> tuple[str, ...]:
    """Return beginnings of *terms*; a folded text without any of them need not be cut into terms."""
    return tuple({term[:4].rstrip("i") or term for term in terms})  # Porter: `dai` of day


def _has(kind: str, text: str) -> bool:
    return re.search(pattern_of(kind), text, re.IGNORECASE) is not None  # compiled when it is first used
