"""What a summary says of failures: how they were solved, or that they were not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtool.capture.extractive.failures import Failure
from memtool.capture.extractive.lines import WIDEST_FIX, WIDEST_OTHER, Line, Ranked
from memtool.capture.extractive.salience import Chosen
from memtool.capture.extractive.sentences import shortened, width
from memtool.capture.extractive.statements import USER, Statement
from memtool.capture.extractive.tags import tags_of
from memtool.index.text import query_terms
from memtool.vault.prose import in_language
from memtool.vault.sessions import KeyPoint

MOST_SOLVED, MOST_OPEN = 3, 1
WIDEST_ERROR, NARROWEST_TELLING = 80, 40  # columns of the error, and of what was said about it
WORTH = 3.0  # what fails is worth more than what is said
NEAR = 3  # steps after the success in which it is explained

_WORDS = {
    "fixed in": ("{error} → fixed in {files}", "{error} → 已在 {files} 中修复"),
    "not solved": ("{error} (not solved)", "{error}（未解决）"),
}


def failure_lines(failures: Sequence[Failure], ranked: Ranked, chosen: Chosen, language: str) -> list[Line]:
    """Return the last *failures*: a key point if it was solved, something open if it was not."""
    lines = [*_solved(failures, ranked, chosen, language), *_unsolved(failures, language)]
    chosen.take(line.point.text for line in lines)
    return lines


def _solved(failures: Sequence[Failure], ranked: Ranked, chosen: Chosen, language: str) -> Iterator[Line]:
    words = in_language(_WORDS, language)["fixed in"]
    for failure in [each for each in failures if each.files][-MOST_SOLVED:]:
        if error := shortened(failure.error, WIDEST_ERROR):
            text = words.format(error=error, files=", ".join(failure.files[:2]))
            text = shortened(_explained(text, failure, ranked, chosen), WIDEST_FIX)
            yield Line(WORTH, failure.at, "point", KeyPoint(text, "bugfix", tags_of(text)))


def _unsolved(failures: Sequence[Failure], language: str) -> Iterator[Line]:
    words = in_language(_WORDS, language)["not solved"]
    for failure in [each for each in failures if each.open][-MOST_OPEN:]:
        if error := shortened(failure.error, WIDEST_OTHER - width(words)):
            yield Line(WORTH, failure.at, "open", KeyPoint(words.format(error=error)))


def _explained(text: str, failure: Failure, ranked: Ranked, chosen: Chosen) -> str:
    """Return *text*, which tells of *failure*, with the best that was said about its cause or cure, if it fits."""
    terms = frozenset(query_terms(text))
    for worth, statement in ranked:
        if worth > 1.0 and _is_about(statement, failure, terms) and not chosen.says(statement.text):
            told = shortened(statement.text, WIDEST_FIX - width(text) - 2)
            if width(told) >= NARROWEST_TELLING:
                chosen.take([statement.text])
                return f"{text}: {told}"
    return text


def _is_about(statement: Statement, failure: Failure, terms: frozenset[str]) -> bool:
    end = max(failure.until, failure.at)
    if statement.source == USER or not statement.cues & {"fix", "discovery"}:
        return False
    if failure.at < statement.step <= end:
        return True
    return end < statement.step <= end + NEAR and not terms.isdisjoint(query_terms(statement.text))
