"""The question that a prompt asks of memory: its words, its stretches without spaces, and their synonyms. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice, pairwise
from typing import TypeVar

from memtool.named_tuple import NamedTuple
from memtool.recall import limits
from memtool.text.languages import text_of, word_file, word_set, words as words_of
from memtool.text.markdown import with_code_cut
from memtool.text.scripts import HAN, is_ideograph
from memtool.text.tokens import fold, index_terms, is_stop_word, joined, query_words, stem, stop_words, unspaced_runs

T = TypeVar("T")

_BEGINNING, _END = 3_000, 1_000  # characters of a long prompt that are looked at: what is asked stands at its ends
_FIRST, _LAST = 28, 12  # words, and stretches of scripts without spaces, of a long prompt
_PASTED = r"(?s)(<pasted_content\b[^>]{0,200}>)(.*?)(</pasted_content>|\Z)"
_FENCE_BEHIND_TEXT = r"(?m)^([^`\n]*[^`\s][ \t]*)(```[\w+-]{0,20})[ \t]*$"  # which Markdown would not take for one
# Where a program was when it failed. What failed stands above or below.
_FRAMES = (
    r'(?m)^[ \t]*(?:File "[^"\n]{0,300}", line \d+[^\n]*(?:\n[ \t]+[^\n]*)?|at [^\n]{0,300}[:(][^\n]*|\.\.\. \d+ more'
    r"|goroutine \d+ \[[^\]\n]{0,80}\]:|[^\s()]{1,200}\([^\n]{0,200}\n[ \t]+[^\s:]{1,300}\.go:\d+[^\n]*)$"
)
_COMMAND = r"\A\s*/[\w:.-]+(?=\s|\Z)"  # `/plugin:command what it is given`
_CAMEL_CASE = r"(?<![A-Za-z0-9_])[A-Za-z0-9_]*[a-z][A-Z][A-Za-z0-9_]*"
_NAME = re.compile(r"(?=.*[a-z])(?=.*\d)|[a-z\d][_/:#@\\.-]+[a-z\d]|^#\d{2,}$")
_SHORTEST_NAME = 4
_WORD = re.compile(r"[a-z0-9][a-z0-9+#.'-]*[a-z0-9+#]|[a-z0-9]")
_LONGEST_UNSPACED = 6  # characters
_CLAUSE_END = re.compile(r"[^\w\s'-]+")
_LONGEST_ACT = 8  # words about something


class Synonyms(NamedTuple):
    """A word or phrase of a prompt, and the others that mean the same: each as the terms that a text must hold."""

    own: tuple[str, ...]
    others: tuple[tuple[str, ...], ...]


class Word(NamedTuple):
    """A word or a name in a script with spaces. *terms* are the whole, then its parts.

    A common word, which prompts hold whatever they are about, is not telling. Two of them side by side are a word, too,
    with a space between, and a telling one: a memory that has them side by side is about the same thing.
    """

    terms: tuple[str, ...]
    is_telling: bool


class Question(NamedTuple):
    """The distinct words of a prompt, and its stretches of scripts without spaces.

    Args:
        words: of a long prompt, those of its beginning and end.
        pieces: the same of stretches.
        synonyms: what has other words.
        length: how many words it has that are about something.
        text: the prompt without what was pasted into it.
        prompt: what was typed, its pastes cut to their beginnings.
        is_act: whether it only says what is to be done ("commit it"): what is always to be minded then is wanted.
    """

    words: tuple[Word, ...] = ()
    pieces: tuple[str, ...] = ()
    synonyms: tuple[Synonyms, ...] = ()
    length: float = 0.0
    text: str = ""
    prompt: str = ""
    is_act: bool = False

    def terms(self) -> list[str]:
        """Return all terms that may find something, telling ones first; none if nothing in it is about anything."""
        telling = [term for word in self.words if word.is_telling for term in (word.terms[0], *telling_parts(word))]
        telling += [pair for piece in self.pieces for pair, tells in tell(piece) if tells]
        if not telling:
            return []
        return list(dict.fromkeys([*telling, *(word.terms[0] for word in self.words)]))


def question_of(prompt: str) -> Question:
    """Return the question of *prompt*; of long prompts and pastes, of their beginning and end."""
    text = shortened(prompt)
    camel = {name.lower(): name for name in re.findall(_CAMEL_CASE, text)}  # folded, they have no parts any more
    words = [
        _word(camel.get(word, word), is_name=word in camel)
        for word in query_words(text)
        if word not in _list("grammar")
    ]
    runs = [piece[: limits.LONGEST_PIECE] for piece in unspaced_runs(text) if len(piece) > 1]
    pieces = _ends(runs)
    asked = [*filter(None, _ends(words))]
    length = len(words) + sum(map(len, runs)) / 2
    synonyms = tuple(synonyms_in(text, pieces))
    is_telling = any(word.is_telling for word in asked) or any(tells for piece in pieces for _, tells in tell(piece))
    if length <= _LONGEST_ACT and not is_telling:
        acts = [word._replace(is_telling=True) for word in asked if word.terms[0] in _acts()]
        acts += [Word((act,), is_telling=True) for act in _acts() if any(act in piece for piece in pieces)]
        if acts:
            return Question(tuple(acts), (), synonyms, length, without_pastes(prompt), text, is_act=True)
    asked += islice(_pairs(text), limits.MOST_PAIRS)
    return Question(tuple(asked), tuple(pieces), synonyms, length, without_pastes(prompt), text)


def shortened(prompt: str) -> str:
    """Return *prompt* without the name of a command, its pastes cut to their beginnings, and it to its two ends."""
    text = re.sub(_PASTED, lambda match: match[1] + _each_once(match[2])[: limits.PASTED] + match[3], _typed(prompt))
    text = _each_once(with_code_cut(text, lambda block: [_each_once("\n".join(block))[: limits.PASTED]]))
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


def is_common(term: str) -> bool:
    """Return whether *term*, stemmed as in the index, is a word that prompts hold whatever they are about."""
    return any(_list(kind).has_stem(term) for kind in ("common", "everyday"))


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


def tell(piece: str) -> Iterator[tuple[str, bool]]:
    """Give each pair of *piece*, and whether it tells something: 复这 of 修复这个 is where two common words meet."""
    pairs = pairs_of(piece)
    common = [False, *map(is_common_pair, pairs), False]
    for at, pair in enumerate(pairs, 1):
        yield pair, not (common[at] or (common[at - 1] and common[at + 1]))


def telling_parts(word: Word) -> list[str]:
    """Return those parts of the name *word* that tell something by themselves."""
    return [part for part in word.terms[1:] if len(part) > 1 and not is_stop_word(part) and not is_common(part)]


def _pairs(text: str) -> Iterator[Word]:
    """Give each two common words that stand side by side in *text*."""
    linking = words_of("linking")
    for clause in _CLAUSE_END.split(text):
        for two in pairwise(clause.lower().split()):
            words = [_word(word, is_name=False) for word in two if word.isalpha() and word.isascii()]
            terms = [word.terms[0] for word in words if word and not word.is_telling]
            is_grammar = any(word in _list("grammar") for word in two)
            if len(terms) > 1 and not is_grammar and not any(is_stop_word(term) or term in linking for term in terms):
                yield Word((" ".join(terms),), is_telling=True)


@lru_cache(maxsize=4_096)  # who asks much says the same words again
def _word(word: str, *, is_name: bool) -> Word | None:
    terms = tuple(index_terms(word))
    return Word(terms, _tells(word, terms, is_name=is_name)) if terms else None


def _tells(word: str, terms: tuple[str, ...], *, is_name: bool) -> bool:
    if terms[0].isdigit() and len(terms[0]) < _SHORTEST_NAME:
        return False
    if len(word) >= _SHORTEST_NAME and (is_name or _NAME.search(word)):
        return True
    return any(not is_common(term) for term in terms if len(term) > 1 or not term.isascii())


def _ends(items: list[T]) -> list[T]:
    return items if len(items) <= _FIRST + _LAST else [*items[:_FIRST], *items[-_LAST:]]


def synonyms_in(text: str, runs: Sequence[str]) -> list[Synonyms]:
    """Return the words of *text* that have synonyms; *runs* are its stretches of scripts without spaces."""
    words = _WORD.findall(fold(text))[: limits.MOST_TERMS]
    stems = tuple(map(stem, words))
    places: dict[tuple[str, ...], list[int]] = {}
    for at, first in enumerate(stems):
        letters = first[:-1] if len(first) > 2 else first  # Porter makes `deploi` of deploy
        for place, entry in _entries(letters) if words[at] not in stop_words() else ():
            terms = tuple(map(stem, entry.split(" ")))
            if terms == stems[at : at + len(terms)]:
                places.setdefault(_terms_of(" ".join(words[at : at + len(terms)])), []).append(place)
    if any(is_ideograph(run[0]) for run in runs):
        for entry in dict.fromkeys(entry for run in runs for entry in _longest_entries(run)):
            places[_terms_of(entry)] = [place for place, other in _entries(entry) if other == entry]
    found = (Synonyms(own, tuple(_others(own, where))) for own, where in places.items())
    return [synonyms for synonyms in found if synonyms.others][: limits.MOST_TERMS]


def _longest_entries(run: str) -> Iterator[str]:
    at = 0
    while at < len(run) - 1:
        lengths = range(min(_LONGEST_UNSPACED, len(run) - at), 1, -1)
        entry = next((run[at : at + length] for length in lengths if run[at : at + length] in _unspaced_entries()), "")
        yield from [entry] if entry else []
        at += max(1, len(entry))


def _entries(letters: str) -> Iterator[tuple[int, str]]:
    """Give the entries that begin with *letters*, and where they are."""
    text, mark = _groups(), f", {letters}"
    at = text.find(mark)
    while at >= 0:
        yield at, text[at + 2 : min(end for end in (text.find(", ", at + 2), text.find("\n", at)) if end >= 0)]
        at = text.find(mark, at + 2)


def _others(own: tuple[str, ...], places: Sequence[int]) -> Iterator[tuple[str, ...]]:
    """Give the terms of each other entry in the groups at *places*."""
    text = _groups()
    groups = [text[text.rfind("\n", 0, at) + 1 : text.find("\n", at)] for at in places]
    terms = dict.fromkeys(_terms_of(entry) for group in groups for entry in group.split(", ")[1:])
    return (each for each in terms if each != own)


def _terms_of(entry: str) -> tuple[str, ...]:
    """Return the terms of the index for *entry*: stems, or pairs of characters."""
    if entry.isascii():
        return tuple(stem(joined(word)) for word in entry.split(" "))
    return tuple(map("".join, pairwise(entry))) if len(entry) > 1 else (entry,)


@cache
def _groups() -> str:
    """Return the groups of `synonyms.txt`, a line each, every entry of which follows a comma and a space.

    A word may be in several groups, one for each of its senses; words that are only about the same thing ("database"
    and "index") are in none together. English is written in its base form, which is stemmed here.
    """
    lines = word_file("synonyms.txt").strip().replace("\n\n", "\n").replace("\n", "\n, ")
    return f"\n, {lines}\n"


@cache
def _unspaced_entries() -> frozenset[str]:
    return frozenset(re.findall(rf", ([{HAN}]{{2,{_LONGEST_UNSPACED}}})(?=[,\n])", _groups()))


class WordList:
    """The words of *text*, folded, which spaces and line breaks part."""

    def __init__(self, text: str) -> None:
        self._text = f" {text.replace(chr(10), ' ')} "

    def __contains__(self, word: object) -> bool:
        return f" {word} " in self._text

    def has_stem(self, term: str) -> bool:
        """Return whether a word of the list has the stem *term*, which may differ from it in the last letter."""
        letters = f" {term[:-1] if len(term) > 2 else term}"  # Porter makes `deploi` of deploy
        at = self._text.find(letters)
        while at >= 0:
            word = self._text[at + 1 : self._text.find(" ", at + 1)]
            if word == term or stem(word) == term:
                return True
            at = self._text.find(letters, at + 1)
        return False


@cache
def _list(kind: str) -> WordList:
    return WordList(text_of(kind))


@cache
def _acts() -> tuple[str, ...]:
    return tuple(map(stem, words_of("acts")))


@cache
def _common_pairs() -> frozenset[str]:
    return frozenset(text_of("common_pairs").split())
