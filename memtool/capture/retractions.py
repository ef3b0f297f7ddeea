"""Retractions: what the agent said and took back later on, by its own words. Pure.

"You're right, they are plain UUIDs" takes back what the answers before said of the same subject, "No, it has a code
path of its own" likewise, "Reverted to `debug`" whatever was said of `debug` before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from memtool.capture.old_turns import Turn
from memtool.text.languages import begins_with, mentioned, starts_with, words as words_of_kind
from memtool.text.similarity import words
from memtool.text.statements import plain

_NEAR, _FAR = 0.2, 0.3  # share of a statement's telling words that what took it back says, too; and some turns back
_BACK, _WORDS = 4, 3  # those turns, and how many words it must be there
_UNDONE = 0.6  # of the words of what was undone


class Retraction(NamedTuple):
    """A retraction in turn number *at*: of all that was said of the *subject*, or of the *names* that were undone.

    Since turn number *since*, which was answered last, less likeness is enough; of what was said before it nothing is
    taken back by another *diagnosis*.
    """

    at: int
    since: int = 0
    subject: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    is_diagnosis: bool = False

    def takes_back(self, said: frozenset[str], at: int) -> bool:
        """Return whether a statement of turn number *at* with the telling words *said* is taken back."""
        if self.names:
            return at < self.at and len(said & self.names) >= _UNDONE * len(self.names)
        if not (self.since if self.is_diagnosis else self.at - _BACK) <= at < self.at:
            return False
        shared = len(said & self.subject)
        return shared >= (_NEAR * len(said) if at >= self.since else max(_WORDS, _FAR * len(said)))


def retractions_in(turns: Sequence[Turn], tells: Callable[[Turn], bool]) -> list[Retraction]:
    """Return what *turns* take back. A prompt that does not *tell* goes on with the turn before."""
    found = []
    for at, turn in enumerate(turns):
        since = at - 1
        while since > 0 and not tells(turns[since]):
            since -= 1
        for line in turn.amends.splitlines():
            text, codes = plain(line)
            if starts_with("reversal", text):
                found.append(Retraction(at, names=frozenset().union(*map(words, codes)) or telling_words(text)))
            else:
                found.append(Retraction(at, since, telling_words(f"{turn.asked} {text}")))
    return [*found, *_other_diagnoses(turns), *_other_plans(turns)]


def _other_diagnoses(turns: Sequence[Turn]) -> Iterator[Retraction]:
    """Give the diagnoses after which the user reported a failure, and the agent found another cause."""
    diagnoses = [at for at, turn in enumerate(turns) if any(mentioned("cause", piece.text) for piece in turn.told)]
    for before, after in pairwise(diagnoses):
        reports = [turn.asked for turn in turns[before + 1 : after + 1]]
        was_good = turns[before].verdict == "confirmed" or any(begins_with("praise", asked) for asked in reports)
        if len(reports) < _BACK and not was_good and any(mentioned("failing", asked) for asked in reports):
            told = " ".join(piece.text for piece in turns[after].told)
            yield Retraction(after, before, telling_words(told), is_diagnosis=True)


def _other_plans(turns: Sequence[Turn]) -> Iterator[Retraction]:
    """Give what takes back earlier plans: the user begins anew, or agrees to."""
    for at, (before, turn) in enumerate(pairwise(turns), 1):
        offers = (text for _, text in before.offered) if before.verdict == "confirmed" else ()
        if any(mentioned("renewal", text) for text in (turn.asked, *offers)):
            yield from (Retraction(at, names=frozenset([word])) for word in words_of_kind("planned"))


def is_taken_back(text: str, at: int, retractions: Sequence[Retraction]) -> bool:
    """Return whether the statement *text* of turn number *at* is taken back later on."""
    said = telling_words(text)
    return any(each.takes_back(said, at) for each in retractions)


def telling_words(text: str) -> frozenset[str]:
    """Return the words of *text* that say what it is about."""
    return words(text).difference(words_of_kind("function"))
