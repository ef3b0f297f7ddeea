"""The question that a prompt asks of memory: its words, its stretches without spaces, and their synonyms. Pure."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from functools import cache, lru_cache
from itertools import islice, pairwise
from typing import TypeVar

from memtool.named_tuple import NamedTuple
from memtool.recall.prompts.thesaurus import Synonyms, WordList, synonyms_in
from memtool.text.languages import text_of, word_set, words as words_of
from memtool.text.markdown import with_code_cut
from memtool.text.tokens import index_terms, is_stop_word, query_words, stem, unspaced_runs

T = TypeVar("T")

_BEGINNING, _END = 3_000, 1_000  # characters of a long prompt that are looked at: what is asked stands at its ends
_FIRST_WORDS, _LAST_WORDS = 28, 12  # of a long prompt
_FIRST_PIECES, _LAST_PIECES = 12, 6  # and as many stretches of scripts without spaces
_LONGEST_PIECE = 40  # characters
_MOST_SYNONYMS = 24
_PASTED = r"(?s)(<pasted_content\b[^>]{0,200}>)(.*?)(</pasted_content>|\Z)"
_FENCE_BEHIND_TEXT = r"(?m)^([^`\n]*[^`\s][ \t]*)(```[\w+-]{0,20})[ \t]*$"  # which Markdown would not take for one
_KEPT_OF_PASTED = 600  # characters of each paste
# Where a program was when it failed. What failed stands above or below.
_FRAMES = (
    r'(?m)^[ \t]*(?:File "[^"\n]{0,300}", line \d+[^\n]*(?:\n[ \t]+[^\n]*)?|at [^\n]{0,300}[:(][^\n]*|\.\.\. \d+ more'
    r"|goroutine \d+ \[[^\]\n]{0,80}\]:|[^\s()]{1,200}\([^\n]{0,200}\n[ \t]+[^\s:]{1,300}\.go:\d+[^\n]*)$"
)
_COMMAND = r"\A\s*/[\w:.-]+(?=\s|\Z)"  # `/plugin:command what it is given`
_CAMEL_CASE = r"(?<![A-Za-z0-9_])[A-Za-z0-9_]*[a-z][A-Z][A-Za-z0-9_]*"
_NAME = re.compile(r"(?=.*[a-z])(?=.*\d)|[a-z\d][_/:#@\\.-]+[a-z\d]|^#\d{2,}$")
_SHORTEST_NAME = 4
_CLAUSE_END = re.compile(r"[^\w\s'-]+")
_MOST_PAIRS = 8
_LONGEST_ACT = 8  # words about something


class Kind(NamedTuple):
    """The weight of a sort of words: *tells* if a memory shares one of them, *about* in what a prompt is about."""

    tells: float
    about: float


TELLING = Kind(1.0, 1.0)
COMMON = Kind(0.6, 0.15)  # what prompts hold whatever they are about; shared, it still says something


class Word(NamedTuple):
    """A word or a name in a script with spaces. *terms* are the whole, then its parts.

    Two common words side by side are one word, too: a memory in which they also stand so is about the same thing.
    *typed* is the whole before it is stemmed.
    """

    terms: tuple[str, ...]
    kind: Kind
    typed: str = ""

    @property
    def is_pair(self) -> bool:
        """Whether it is two words."""
        return " " in self.terms[0]


class Question(NamedTuple):
    """The distinct words of a prompt, its stretches of scripts without spaces, and what has other words.

    *prompt* is what was typed, its pastes cut to their beginnings. *length* is how many words it has that are about
    something; of a long prompt not all of them are here. *text* is the prompt without what was pasted into it.
    *is_act*: it says no more than what is to be done ("commit it"), and asks for what is always to be minded then.
    """

    words: tuple[Word, ...] = ()
    pieces: tuple[str, ...] = ()
    synonyms: tuple[Synonyms, ...] = ()
    length: float = 0.0
    text: str = ""
    is_act: bool = False
    prompt: str = ""

    def without_absent_pairs(self, present: Container[str]) -> Question:
        """Return the question without the pairs of words that are not *present* in the vault: they tell nothing."""
        return self._replace(words=tuple(word for word in self.words if not word.is_pair or word.terms[0] in present))

    def terms(self) -> list[str]:
        """Return all terms that may find something, telling ones first; none if nothing in it is about anything."""
        telling = [word for word in self.words if word.kind is not COMMON]
        pairs = [
            pair
            for piece in self.pieces
            for pair, tells in zip(pairs_of(piece), telling_pairs(piece), strict=True)
            if tells
        ]
        if not telling and not pairs:
            return []
        common = [word.terms[0] for word in self.words if word.kind is COMMON]
        return list(dict.fromkeys([*(term for word in telling for term in _told(word)), *pairs, *common]))


def question_of(prompt: str) -> Question:
    """Return the question of *prompt*; of long prompts and pastes, of their beginning and end."""
    text = shortened(prompt)
    camel = {name.lower(): name for name in re.findall(_CAMEL_CASE, text)}  # folded, they have no parts any more
    words = [
        _word(camel.get(word, word), is_name=word in camel) for word in query_words(text) if not is_function_word(word)
    ]
    runs = [piece[:_LONGEST_PIECE] for piece in unspaced_runs(text) if len(piece) > 1]
    length = len(words) + sum(map(len, runs)) / 2
    pieces = _ends(runs, _FIRST_PIECES, _LAST_PIECES)
    asked = [*filter(None, _ends(words, _FIRST_WORDS, _LAST_WORDS)), *islice(_pairs(text), _MOST_PAIRS)]
    synonyms = synonyms_in(text, pieces)[:_MOST_SYNONYMS]
    question = Question(tuple(asked), tuple(pieces), tuple(synonyms), length, without_pastes(prompt), prompt=text)
    return _as_act(question) if length <= _LONGEST_ACT else question


def shortened(prompt: str) -> str:
    """Return *prompt* without the name of a command, its pastes cut to their beginnings, and it to its two ends."""
    text = re.sub(_PASTED, lambda match: match[1] + _each_once(match[2])[:_KEPT_OF_PASTED] + match[3], _typed(prompt))
    text = _each_once(with_code_cut(text, lambda block: [_each_once("\n".join(block))[:_KEPT_OF_PASTED]]))
    return text if len(text) <= _BEGINNING + _END else f"{text[:_BEGINNING]}\n{text[-_END:]}"


def without_pastes(prompt: str) -> str:
    """Return *prompt* without the name of a command, and without what was pasted, code and places of a failure."""
    return with_code_cut(re.sub(_PASTED, "\n\n", _typed(prompt)), lambda _: ["", ""])


def _typed(prompt: str) -> str:
    """Return *prompt*, if it is huge its two ends, without the name of a command and the places of a failure."""
    text = prompt if len(prompt) <= 64_000 else f"{prompt[:32_000]}\n{prompt[-32_000:]}"
    text = re.sub(_COMMAND, "", text)
    if "```" in text:
        text = re.sub(_FENCE_BEHIND_TEXT, r"\1\n\2", text)
    return re.sub(_FRAMES, "", text) if "\n" in text else text  # a single line is what was asked


def _each_once(text: str) -> str:
    """Return the lines of *text*, each once: a megabyte of one line says no more than that line."""
    return "\n".join(dict.fromkeys(text.split("\n")))


def kind_of(term: str) -> Kind:
    """Return the weight of a *term*, stemmed as in the index."""
    return COMMON if any(_list(kind).has_stem(term) for kind in ("common", "everyday")) else TELLING


def is_function_word(word: str) -> bool:
    """Return whether *word*, folded, only holds sentences together."""
    return word in _list("grammar")


def is_common_pair(pair: str) -> bool:
    """Return whether two characters say nothing by themselves: listed, a number of something, or with Hiragana."""
    return not pair.isascii() and (
        pair in _common_pairs()
        or (pair[0] in word_set("numerals") and pair[-1] in word_set("counters"))
        or any("\u3041" <= char <= "\u309f" for char in pair)  # which is grammar
    )


def pairs_of(piece: str) -> list[str]:
    """Return the pairs of characters under which *piece* is found."""
    return list(map("".join, pairwise(piece)))


def telling_pairs(piece: str) -> list[bool]:
    """Return for each pair whether it tells something. 复这 of 修复这个 is only where two common words meet."""
    common = [False, *(is_common_pair(pair) for pair in pairs_of(piece)), False]
    return [not (common[at] or (common[at - 1] and common[at + 1])) for at in range(1, len(common) - 1)]


def _as_act(question: Question) -> Question:
    """Return *question* as one about the acts that it asks for, if it is about nothing else: "commit it"."""
    words = [word for word in question.words if not word.is_pair]
    if any(word.kind is not COMMON for word in words) or any(any(telling_pairs(piece)) for piece in question.pieces):
        return question
    acts = [word._replace(kind=TELLING) for word in words if word.terms[0] in _acts()]
    acts += [Word((act,), TELLING, act) for act in _acts() if any(act in piece for piece in question.pieces)]
    return question._replace(words=tuple(acts), pieces=(), is_act=True) if acts else question


def _told(word: Word) -> Iterator[str]:
    """Give the terms that may find what a telling *word* speaks of."""
    yield word.terms[0]
    yield from (
        part for part in word.terms[1:] if len(part) > 1 and not is_stop_word(part) and kind_of(part) is TELLING
    )


def _pairs(text: str) -> Iterator[Word]:
    """Give each two common words that stand side by side in *text*."""
    linking = words_of("linking")
    seen: set[str] = set()
    for clause in _CLAUSE_END.split(text):
        for two in pairwise(map(str.lower, clause.split())):
            words = [_word(word, is_name=False) for word in two if word.isalpha() and word.isascii()]
            terms = [word.terms[0] for word in words if word and word.kind is not TELLING]
            if (
                len(terms) < 2
                or any(map(is_function_word, two))
                or any(is_stop_word(term) or term in linking for term in terms)
            ):
                continue
            pair = " ".join(terms)
            if pair not in seen:
                seen.add(pair)
                yield Word((pair,), TELLING)


@lru_cache(maxsize=4_096)  # who asks much says the same words again
def _word(word: str, *, is_name: bool) -> Word | None:
    terms = tuple(index_terms(word))
    if not terms:
        return None
    return Word(terms, _kind(word, terms, is_name=is_name), word)


def _kind(word: str, terms: tuple[str, ...], *, is_name: bool) -> Kind:
    if terms[0].isdigit() and len(terms[0]) < _SHORTEST_NAME:
        return COMMON
    if len(word) >= _SHORTEST_NAME and (is_name or _NAME.search(word)):
        return TELLING
    kinds = {kind_of(term) for term in terms if len(term) > 1 or not term.isascii()}
    return max(kinds, key=lambda kind: kind.about, default=COMMON)


def _ends(items: list[T], first: int, last: int) -> list[T]:
    return items if len(items) <= first + last else [*items[:first], *items[-last:]]


@cache
def _list(kind: str) -> WordList:
    return WordList(text_of(kind))


@cache
def _acts() -> tuple[str, ...]:
    return tuple(map(stem, words_of("acts")))


@cache
def _common_pairs() -> frozenset[str]:
    return frozenset(text_of("common_pairs").split())
