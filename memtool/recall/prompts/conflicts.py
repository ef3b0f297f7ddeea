"""Which of two facts holds where both cannot: the user's word before any other, else the newer one. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memtool.index.text import fold, is_stop_word
from memtool.recall.prompts.recalled import Recalled, is_fact
from memtool.text.scripts import is_unspaced
from memtool.vault.authors import trust

_FIRST_WORDS = 2
_FIRST_CHARACTERS = 4  # in scripts without spaces


def contradicted(hits: Iterable[Recalled]) -> set[str]:
    """Return the keys of those facts among *hits* that another one of them contradicts and outweighs.

    Two contradict each other if they stand in one file, begin with the same words, and then say different things.
    """
    by_subject: dict[tuple[str, str], list[Recalled]] = {}
    for hit in hits:
        if is_fact(hit.ref):
            by_subject.setdefault((hit.ref, _subject(hit.text)), []).append(hit)
    return {key for rivals in by_subject.values() if len(rivals) > 1 for key in _losers(rivals)}


def _losers(rivals: Sequence[Recalled]) -> Iterable[str]:
    from memtool.recall.remembering.near_duplicates import contradicts, statement  # rarely needed, and slow to import

    strongest_first = sorted(rivals, key=lambda hit: (trust(hit.author), hit.date), reverse=True)
    statements = [statement(hit.text) for hit in strongest_first]
    for at, hit in enumerate(strongest_first):
        stronger = (other for other in range(at) if _weight(strongest_first[other]) > _weight(hit))
        if any(contradicts(statements[other], statements[at]) for other in stronger):
            yield hit.key


def _weight(hit: Recalled) -> tuple[int, str]:
    return trust(hit.author), hit.date


def _subject(text: str) -> str:
    """Return the words with which *text* begins: what it speaks of."""
    folded = fold(text[:200])
    words: list[str] = [word for word in re.findall(r"\w+", folded) if not is_stop_word(word)]
    if words and is_unspaced(words[0][0]):
        return words[0][:_FIRST_CHARACTERS]
    return " ".join(words[:_FIRST_WORDS])
