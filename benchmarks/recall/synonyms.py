"""What each group of the thesaurus brings: the conversations it speaks in, held with it and without it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple, TypeAlias
from unittest.mock import patch

from benchmarks.recall.labelled import Conversation
from benchmarks.recall.measures import outcome
from benchmarks.recall.sessions import Turn
from memtool.recall.prompts import thesaurus
from memtool.recall.prompts.question import question_of
from memtool.text.languages import word_file

Hold: TypeAlias = Callable[[Conversation], list[Turn]]


class Gain(NamedTuple):
    """What a *group* changes: prompts *served*, lines that are *right* and *wrong*, unrelated prompts *disturbed*."""

    group: str
    served: int = 0
    right: int = 0
    wrong: int = 0
    disturbed: int = 0

    @property
    def is_worth_it(self) -> bool:
        """Whether it serves a prompt or gives a right line, and costs less than that."""
        return self.served + self.right > self.wrong + self.disturbed


def gains(conversations: Iterable[Conversation], hold: Hold) -> Iterator[Gain]:
    """Give what each group changes that speaks in any of *conversations*. *hold* begins a session each time."""
    speaking: dict[str, list[Conversation]] = {}
    for conversation in conversations:
        for group in sorted(_speaking(conversation)):
            speaking.setdefault(group, []).append(conversation)
    with_all = {talk.name: outcome(hold(talk)) for talks in speaking.values() for talk in talks}
    for group, talks in speaking.items():
        with _without(group):
            changed = [(with_all[talk.name], outcome(hold(talk))) for talk in talks]
        yield Gain(group, *(sum(pair[0][at] - pair[1][at] for pair in changed) for at in range(4)))


def table(found: Sequence[Gain]) -> str:
    """Return a Markdown table of the groups that change anything, best first, and how many change nothing."""
    moving = sorted((gain for gain in found if any(gain[1:])), key=lambda gain: (-gain.served, gain.wrong, gain.group))
    rows = [["group", "served", "right lines", "wrong lines", "disturbed"], ["---"] * 5]
    rows += [[gain.group.split(", ")[0], *(f"{number:+d}" for number in gain[1:])] for gain in moving]
    costly = ", ".join(gain.group.split(", ")[0] for gain in moving if not gain.is_worth_it)
    return "\n".join(
        [
            *(f"| {' | '.join(row)} |" for row in rows),
            f"{len(found)} groups speak in these conversations, {len(found) - len(moving)} of them without effect.",
            f"They cost as much as they bring, or more: {costly or 'none'}.",
        ]
    )


def _speaking(conversation: Conversation) -> set[str]:
    """Return the groups of which an entry stands in a prompt of *conversation*."""
    own = {meaning.own for prompt in conversation.prompts for meaning in question_of(prompt.text).synonyms}
    return {group for group, entries in _groups().items() if not own.isdisjoint(entries)}


@cache
def _groups() -> dict[str, list[tuple[str, ...]]]:
    """Return each group with the terms of its entries."""
    return {
        group: list(map(thesaurus.terms_of, group.split(", ")))
        for group in word_file("synonyms.txt").split("\n")
        if group
    }


@contextmanager
def _without(group: str) -> Iterator[None]:
    rest = thesaurus.groups_text().replace(f"\n, {group}\n", "\n", 1)
    with patch.object(thesaurus, "groups_text", lambda: rest):
        yield
