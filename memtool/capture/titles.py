"""The title of a session without a model: what came of it, in at most seventy columns. Pure.

A commit or a plan that was carried out names it, else a sentence of the agent, else one that the user began with. Of
each kind the one that shares most with what was typed, answered and edited. A text is never cut but before a clause.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memtool.capture.decisions import own_words
from memtool.capture.mended import base_name
from memtool.capture.outcomes import (
    is_doubted,
    is_question,
    names_something,
    orders,
    result_of,
    taken_back,
    telling_words,
)
from memtool.capture.turns import Turn
from memtool.text.languages import gives_order, starts_with, without_openings
from memtool.text.lines import shortened, width
from memtool.text.statements import Statement, plain, sentences, statements

_WIDEST, _LEAST, _LEAST_CUT, _LEAST_WORDS = 70, 20, 28, 3  # columns of a title and of a clause; words
_SIDE_PROMPT, _TELLS_LITTLE = 24, 32  # columns of a prompt that tells nothing, that does not say where
_OFTEN = 8  # times that a word counts at most
_FIRST, _BEGUN = 6, 3  # sentences of an answer, of the first prompt
_CUT, _EARLY, _ASKED, _DONE = 0.6, 0.5, 0.4, 1.5  # weights
_NAMED, _ENOUGH = 0.15, 0.3  # of the worth of the prompt's best sentence: of a commit, of an answer
_UNTOLD_BRANCHES = frozenset({"main", "master", "develop", "trunk", "HEAD"})
_CLAUSES = (
    re.compile(r"[;；，。]| [-–—] | \(|（|——|, "),
    re.compile(r" (?:and|but|to|by|so|for|with|using|because|even|since|that|which|where|while|after|before|without) "),
)
_SUBORDINATE = r"(?:When|If|While|Since|Once|After|Before|As|Because|Although|Instead|However|With|In|On|For|To)\b"
_HANGING = re.compile(rf"{_SUBORDINATE}|(?:Try|This|That|It|These|But|So|Now|I|You|We|Here|All|Everything)\b")
_UNFINISHED = re.compile(r"\b(?:between|both|either)\b|\b(?:a|an|and|are|at|from|in|is|of|on|or|the|to|with)$")
_SPEAKER = re.compile(r"^(?:I|We)(?:'ve| have)? (?=\w+ed\b)")  # "I've updated …"
_PAST = re.compile(r"^(?:[A-Z]?[a-z]+ed|Built|Made|Wr[io]t\w+|Found|Set)\b|\bnow\b|已|完成")
_LABELLED = re.compile(r"\W|\d+\.|[^:：]{1,24}[:：]\s|[\w/.-]+/[\w/.-]+ |.* = ")  # "Option 1: …", a path, a cell
_WORD = re.compile(r"(?<![\w./(`-])[^\W\d_]+(?![\w./(-])")


class _Candidate(NamedTuple):
    """A *text* that may be a title, how much it counts, and its turn."""

    text: str
    weight: float
    turn: Turn = Turn()


def title_of(turns: Sequence[Turn], branch: str = "") -> str:
    """Return the title of *turns*; the *branch* as words where nothing else names them."""
    counts = _counts(turns)

    def best(candidates: Iterable[_Candidate]) -> tuple[float, str]:
        heads = [(each, *_head(each.text)) for each in candidates]
        valued = [(each.weight * factor * _share(head, counts), head, each) for each, head, factor in heads if head]
        value, head, each = max(valued, key=lambda one: one[0], default=(0.0, "", _Candidate("", 0)))
        return value, _in_file(head, each.turn)

    prompts, edited = list(_begun(turns)), any(turn.edits for turn in turns)
    begun = best(prompts)
    demands = best(each for each in prompts if width(each.text) <= _WIDEST and not is_question(each.text))
    for (value, title), least in (
        (best(_named(turns)), _NAMED),
        (best(_answered(turns, edited=edited)), _ENOUGH),
        (demands, 0.0),
        (best(_answered(turns, edited=False)), 0.0),
        (begun, 0.0),
    ):
        if title and value >= least * begun[0]:
            return title
    words = "" if branch in _UNTOLD_BRANCHES else re.sub(r"[-_]+", " ", branch.rsplit("/", 1)[-1])
    return words or shortened(own_words(next(iter(turns), Turn())), _WIDEST)


def heading(text: str) -> str:
    """Return the first line of the document *text*, without a word for what it is ("Plan: …")."""
    return plain(re.sub(r"^#*\s*(?:\w+[:：]\s*)?", "", text.strip().split("\n", 1)[0]))[0]


def _counts(turns: Sequence[Turn]) -> Mapping[str, int]:
    """Return the words of what was typed, answered and edited; what was typed counts twice."""
    counts: Counter[str] = Counter()
    for turn in turns:
        files = re.sub(r"[_.-]", " ", " ".join(map(base_name, turn.files)))
        counts.update(telling_words(" ".join(result_of(turn))))
        counts.update(telling_words(files))
        counts.update(2 * list(telling_words(own_words(turn))))
    return counts


def _share(text: str, counts: Mapping[str, int]) -> float:
    told = telling_words(text)
    return sum(min(counts[word], _OFTEN) for word in told) / math.sqrt(len(told) + 3)


def _named(turns: Sequence[Turn]) -> Iterator[_Candidate]:
    """Give the subjects of commits and the headings of plans that were carried out, later ones with more weight."""
    for at, turn in enumerate(turns):
        plans = [plan.text for plan in turn.plans if plan.fate == "approved"]
        plans += [turn.typed] if turn.typed.startswith("# ") and not turn.pasted else []
        for text in (*turn.commits, *map(heading, plans)):
            if not gives_order(text):
                yield _Candidate(text, _EARLY + (1 - _EARLY) * (at + 1) / len(turns))


def _answered(turns: Sequence[Turn], *, edited: bool) -> Iterator[_Candidate]:
    """Give the first sentences of what came of each turn, or that *edited*, that nothing takes back."""
    gone, first = taken_back(turns), _first(turns)
    begun = telling_words(" ".join([own_words(first), *first.messages[-1:]]))
    for at, turn in enumerate(turns):
        after = turns[at + 1] if at + 1 < len(turns) else Turn()
        if at in gone or is_doubted(turn, after) or (edited and not turn.edits):
            continue
        rise = _EARLY + (1 - _EARLY) * (at + 1) / len(turns)
        for message in result_of(turn):
            for place, each in enumerate(statements(message)[:_FIRST]):
                text = _SPEAKER.sub("", each.text)
                text = text[:1].upper() + text[1:]
                if _is_outcome(each, text) and (turn == first or telling_words(text) & begun):
                    value = (1.0 if place < 2 else 0.7) * (_DONE if _PAST.search(text) else 1.0)
                    yield _Candidate(text, rise * value * (1.2 if names_something(text) else 1.0), turn)


def _is_outcome(each: Statement, text: str) -> bool:
    """Return whether *text*, that of the statement *each*, says something by itself."""
    if each.is_listed or is_question(text) or _LABELLED.match(text) or _HANGING.match(text) or orders(each):
        return False
    return not any(starts_with(kind, text) for kind in ("announcement", "admission", "consent", "offer"))


def _first(turns: Sequence[Turn]) -> Turn:
    """Return the first turn whose prompt tells something."""
    return next((turn for turn in turns if width(own_words(turn)) > _SIDE_PROMPT), Turn())


def _begun(turns: Sequence[Turn]) -> Iterator[_Candidate]:
    """Give the first sentences of the first prompt that tells something, orders before questions."""
    touched = Turn(edits=tuple(edit for turn in turns for edit in turn.edits))
    for text in sentences(own_words(_first(turns)))[:_BEGUN]:
        told = without_openings(text)
        place = touched if width(told) < _TELLS_LITTLE else Turn()
        yield _Candidate(told, 2 * (_ASKED if is_question(text) else 1.0), place)


def _in_file(head: str, turn: Turn) -> str:
    """Return *head* behind the file that was edited most in *turn*, if it names none of them and there is room."""
    if (
        not head
        or not turn.files
        or any(base_name(file).split(".")[0].casefold() in head.casefold() for file in turn.files)
    ):
        return head
    sizes: Counter[str] = Counter()
    for edit in turn.edits:
        sizes[base_name(edit.file)] += 0 if edit.stopped else 1 + math.isqrt(edit.added + edit.removed)
    named = f"{sizes.most_common(1)[0][0]}: {head}"
    return named if width(named) <= _WIDEST else head


def _head(text: str) -> tuple[str, float]:
    """Return *text*, or its first clause, if that can be a title, and how much it counts."""
    text = re.sub(r"\A(?:@\S+\s+)+", "", text)
    whole = text.rstrip(" :：.。!！")
    if width(whole) <= _WIDEST:
        return (whole, 1.0) if _is_title(whole) and not text.endswith((":", "：")) else ("", 0.0)
    if re.match(_SUBORDINATE, whole):
        return "", 0.0
    for clause in _CLAUSES:
        heads = [whole[: match.start()] for match in clause.finditer(whole)]
        fit = [head for head in heads if width(head) >= _LEAST_CUT and _is_title(head) and not _UNFINISHED.search(head)]
        if fit:
            return fit[-1], _CUT
    return "", 0.0


def _is_title(text: str) -> bool:
    is_whole = text.count("(") == text.count(")") and text.count("“") == text.count("”") and text.count('"') % 2 == 0
    is_said = len(_WORD.findall(text)) >= _LEAST_WORDS or not text.isascii()
    return _LEAST <= width(text) <= _WIDEST and is_said and is_whole and not re.search("[→·…]", text)
