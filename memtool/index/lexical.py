"""BM25 over terms, and what measurably improves its order: docs/decisions/0006-ranking.md."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from memtool.index import limits
from memtool.index.filters import Filter
from memtool.index.times import asked_days
from memtool.text.tokens import (
    capitalised_terms,
    is_stop_word,
    joined,
    plain_words,
    query_characters,
    query_names,
    query_terms,
    query_words,
    stem,
    stretches,
    unspaced_runs,
    words_of,
)

if TYPE_CHECKING:
    import datetime as dt

    from memtool.index.tables import Tables

CHARACTER_WEIGHT = 0.5  # BM25 counts pairs of characters; a chunk with all single ones too is worth half as much more
DATE_WEIGHT = 0.25  # a note of the day or month that the question names
PERSON_WEIGHT = 0.5  # a chunk with the names of people and places in the query: of several talks it is theirs
PAIR_WEIGHT = 0.35  # two words of the query side by side, as a term of their own
NOTE_WEIGHT = 0.4  # BM25 of the whole note: a conversation is about what several of its parts are about
K1, B = 1.2, 0.75  # of BM25, as FTS5 has them
_SHORTEST = 2  # letters of a prefix, and of each half of a word; a part of words has more
_SHORTEST_MISTYPED, _LONGEST_MISTYPED = 5, 24  # letters; with fewer, a typing error makes another word
_ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюя")


class LexicalHit:
    """A chunk that holds some of the terms, and the parts of its score."""

    def __init__(self, chunk_id: int, bm25: float) -> None:
        self.chunk_id = chunk_id
        self.bm25 = bm25
        self.note = 0.0  # BM25 of its note among the notes of all hits
        self.pairs = 0.0  # idf of the query's words that stand side by side in it, two at a time
        self.characters = 0.0  # share of the query's Han and Hangul characters in the chunk, by their idf
        self.people = 0.0  # share of the names of people and places in the query that stand in the chunk
        self.named = 0.0  # what it gets for a name or phrase of the query that it holds whole
        self.dated = 0.0  # 1 for a note of a day that the question names, less for one of the days after
        self.completed = False  # whether a completed word alone found it

    @property
    def factors(self) -> dict[str, float]:
        """The parts of the score besides its own BM25."""
        return {
            "note": self.note, "pairs": self.pairs, "dated": self.dated, "people": self.people,
            "characters": self.characters, "named": self.named, "completed": self.completed,
        }  # fmt: skip

    @property
    def score(self) -> float:
        """The score by which the lexical ranking is ordered; larger is better."""
        factors = (1 + CHARACTER_WEIGHT * self.characters) * (1 + DATE_WEIGHT * self.dated)
        factors *= 1 + PERSON_WEIGHT * self.people
        return (self.bm25 + NOTE_WEIGHT * self.note + PAIR_WEIGHT * self.pairs) * factors + self.named


class Lexical(NamedTuple):
    """The lexical side of a search: hits, best first; the terms that were asked for; the words that were completed."""

    hits: tuple[LexicalHit, ...]
    terms: tuple[str, ...]
    completed: dict[str, tuple[str, ...]]
    spelt: tuple[str, ...] = ()  # words of the query as the vault writes them: together, or as phrases apart
    dropped: int = 0  # terms of a long query that were left out
    best: tuple[str, ...] = ()  # the terms of the best chunk


def lexical_search(db: Tables, text: str, wanted: Filter, *, depth: int = limits.CANDIDATES) -> Lexical:
    """Return the *depth* chunks that hold most of the terms of *text*, best first."""
    asked = query_terms(text)[: limits.MOST_TERMS * 10]
    known = db.occurring(asked)
    present = [term for term in asked if term in known]
    completed = complete(db, text, frozenset(asked).difference(present))
    spelt = other_spellings(db, text)
    if len(present) > limits.MOST_TERMS:
        frequency = db.frequencies(present)
        rarest = set(sorted(present, key=frequency.__getitem__)[: limits.MOST_TERMS])
        present = [term for term in present if term in rarest]
    present = list(dict.fromkeys([*present, *spelt]))
    pairs = _pairs(text)
    words = {word for form in (*present, *pairs) for word in form.split(" ")}
    read = partial(_read_closer, db, wanted, words if len(present) + len(pairs) > limits.SPLIT_FROM else None)
    hits, closer = _bm25(db, present, wanted, depth, read)
    if completed:
        more, closer_of_more = _bm25(db, completed_terms(completed)[: limits.MOST_TERMS], wanted, depth, read)
        hits, closer = _with_completed(hits, more), dict(sorted({**closer, **closer_of_more}.items()))
    _look_closer(hits, closer, text, wanted.today, present, pairs, _names(text, asked, completed, spelt))
    hits.sort(key=lambda hit: (hit.completed, -hit.score, hit.chunk_id))
    best = tuple(closer[hits[0].chunk_id].terms.split(" ")) if hits else ()
    dropped = max(0, len(asked) - limits.MOST_TERMS)
    return Lexical(tuple(hits), tuple(asked[: limits.MOST_TERMS]), completed, tuple(spelt), dropped, best)


def coverage(db: Tables, terms: Sequence[str], held: Iterable[str]) -> float:
    """Return the share, by idf, of the distinct *terms* of a query that are among *held*, from 0 to 1."""
    return share_of(inverse_frequencies(db, terms), held)


def share_of(idf: Mapping[str, float], held: Iterable[str]) -> float:
    """Return the share of the terms in *idf*, by their idf, that are among *held*, from 0 to 1."""
    return sum(idf[term] for term in idf.keys() & set(held)) / (sum(idf.values()) or 1.0)


def inverse_frequencies(db: Tables, terms: Iterable[str]) -> dict[str, float]:
    """Return the idf of each of *terms* among all chunks."""
    count = db.chunk_count()
    return {term: inverse_frequency(count, each) for term, each in db.frequencies(terms).items()}


def inverse_frequency(count: int, frequency: int) -> float:
    """Return the idf of a term that *frequency* of *count* chunks hold (Robertson and Spärck Jones, never negative)."""
    return math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))


class _Closer(NamedTuple):
    content: str
    terms: str  # with a space on both sides of each
    words: set[str] | None  # those of the terms that are asked for, where that are many: it can hold no others
    date: str
    note: int | str
    size: int  # bytes of its note


def _bm25(
    db: Tables, terms: Sequence[str], wanted: Filter, depth: int, read: Callable[[Iterable[int]], dict[int, _Closer]]
) -> tuple[list[LexicalHit], dict[int, _Closer]]:
    """Return the best chunks, and what stands in them as *read* gives it, without those that are not wanted.

    Only if the filter throws many of them out is every match looked at.
    """
    if not terms:
        return [], {}
    if not wanted.narrows:
        best = db.best(terms, depth)
        closer = read(chunk_id for chunk_id, _ in best)
        if len(closer) * 2 > len(best) or len(best) < depth:
            return [LexicalHit(chunk_id, bm25) for chunk_id, bm25 in best if chunk_id in closer], closer
    hits = [LexicalHit(chunk_id, bm25) for chunk_id, bm25 in db.best(terms, depth, *wanted.where())]
    return hits, read(hit.chunk_id for hit in hits)


def _with_completed(hits: list[LexicalHit], more: list[LexicalHit]) -> list[LexicalHit]:
    """Add what completed words find: half its weight to hits of the words as typed, and new hits below all of them."""
    by_id = {hit.chunk_id: hit for hit in hits}
    # A fusion looks at scores rather than places, so those of new hits stay below all others too (the two factors of
    # `score` come to less than 2).
    below = min(hit.bm25 for hit in hits) / max(other.bm25 for other in more) / 2 if hits and more else 1.0
    for other in more:
        if other.chunk_id in by_id:
            by_id[other.chunk_id].bm25 += other.bm25 / 2
        else:
            other.completed = bool(hits)
            other.bm25 *= below
            by_id[other.chunk_id] = other
    return list(by_id.values())


class _Name(NamedTuple):
    """A name or phrase of the query: the terms that show it whole, and its share of the query's terms."""

    forms: frozenset[str]  # with a space on both sides
    share: float


def _names(
    text: str, asked: Sequence[str], completed: Mapping[str, tuple[str, ...]], spelt: Mapping[str, str]
) -> list[_Name]:
    """Return the identifiers of *text*, the names that the vault writes for some of its words, and all its words.

    A name of several words is indexed whole and then by its words, which tells `max_connections` from `login`. In a
    question of which it is the smaller part, it is most often a compound that is beside the point.
    """
    meant = {stem(word): completed_terms({word: words}) for word, words in completed.items()}
    typed = [([whole, *meant.get(whole, ())], terms) for whole, terms in query_names(text).items()]
    typed += [([" ".join(words)], tuple(words)) for words in stretches(text) if len(words) > 1]
    apart = [([f"{form} {words}"], tuple(words.split(" "))) for form, words in spelt.items() if " " in words]
    share = {terms: len(set(terms).intersection(asked)) / len(asked) for _, terms in typed + apart}
    named = typed + [(forms, terms) for forms, terms in apart if share[terms] > 0.5]
    return [_Name(frozenset(f" {form} " for form in forms), share[terms]) for forms, terms in named]


def _pairs(text: str) -> list[str]:
    """Return each two words side by side in *text*, one of them no function word."""
    pairs = (pair for words in stretches(text) for pair in pairwise(words) if not all(map(is_stop_word, pair)))
    return [f"{one} {other}" for one, other in dict.fromkeys(pairs)]


def _look_closer(
    hits: list[LexicalHit],
    closer: Mapping[int, _Closer],
    text: str,
    today: dt.date,
    terms: Sequence[str],
    pairs: Sequence[str],
    names: Sequence[_Name],
) -> None:
    """Fill in the parts of the score of *hits*; how telling a term is, the candidates show well enough."""
    people = [f" {term} " for term in capitalised_terms(text)]
    days = asked_days(text, today)
    contents = [each.content for each in closer.values()]
    counts = {char: sum(char in content for content in contents) for char in query_characters(text)}
    idf = {char: inverse_frequency(len(contents), count) for char, count in counts.items() if count}
    weight_of_all = sum(idf.values()) or 1.0
    weight_of_pairs = _weight_of_pairs(closer, pairs)
    notes = _bm25_of_notes(closer.values(), terms)
    for hit in hits:
        place = closer[hit.chunk_id]
        hit.note = 0.0 if hit.completed else notes[place.note]
        hit.pairs = weight_of_pairs[hit.chunk_id]
        hit.characters = sum(weight for char, weight in idf.items() if char in place.content) / weight_of_all
        hit.people = sum(name in place.terms for name in people) / (len(people) or 1)
        hit.dated = days.nearness(place.date)
    best = max((hit.score for hit in hits), default=0.0)
    for hit in (hit for hit in hits if names and not hit.completed):
        held = closer[hit.chunk_id].terms
        hit.named = best * min(1.0, sum(name.share for name in names if any(form in held for form in name.forms)))


def _read_closer(db: Tables, wanted: Filter, words: set[str] | None, chunk_ids: Iterable[int]) -> dict[int, _Closer]:
    """Return what stands in those of *chunk_ids* that are *wanted*.

    A fact counts as a note, although many share a file. *words* are those of the query, if it is worth it to look for
    all of them at once.
    """
    condition, values = wanted.where()
    rows = db.execute(
        "SELECT c.id, n.title, c.heading, c.text, l.terms, c.date, c.fact_id, c.note_id, n.size"
        " FROM chunk AS c JOIN note AS n ON n.id = c.note_id JOIN term_list AS l ON l.chunk_id = c.id"
        f" WHERE c.id IN ({', '.join(map(str, chunk_ids))}) AND {condition} ORDER BY c.id",
        values,
    )
    closer = {}
    for chunk_id, title, heading, text, terms, date, fact_id, note_id, size in rows:
        held = words.intersection(terms.split(" ")) if words is not None else None
        place = (fact_id, len(terms)) if fact_id else (note_id, size)
        closer[chunk_id] = _Closer(f"{title} {heading} {text}", f" {terms} ", held, date, *place)
    return closer


def _weight_of_pairs(closer: Mapping[int, _Closer], pairs: Sequence[str]) -> dict[int, float]:
    """Return for each chunk the idf, among all of them, of those of *pairs* that stand in it."""
    split = [(pair, f" {pair} ", set(pair.split(" "))) for pair in pairs]
    held = {}
    for chunk_id, place in closer.items():
        terms, words = place.terms, place.words
        held[chunk_id] = [pair for pair, phrase, both in split if (words is None or both <= words) and phrase in terms]
    counts = Counter(pair for some in held.values() for pair in some)
    idf = {pair: inverse_frequency(len(closer), count) for pair, count in counts.items()}
    return {chunk_id: sum(idf[pair] for pair in some) for chunk_id, some in held.items()}


def _bm25_of_notes(chunks: Collection[_Closer], terms: Iterable[str]) -> dict[int | str, float]:
    """Return the BM25 of each note for *terms*, counted in those of its chunks that were hit.

    Its length is that of its file, and how telling a term is, the chunks show.
    """
    size = {chunk.note: chunk.size for chunk in chunks}
    average = sum(size.values()) / (len(size) or 1) or 1.0
    norm = {note: K1 * (1 - B + B * each / average) for note, each in size.items()}
    score = dict.fromkeys(size, 0.0)
    texts = [(chunk.note, chunk.terms, chunk.words) for chunk in chunks]
    for term in dict.fromkeys(terms):
        needed, phrase = set(term.split(" ")), f" {term} "
        held = [(note, text) for note, text, words in texts if words is None or needed <= words]
        counts = [(note, count) for note, text in held if (count := text.count(phrase))]
        idf = inverse_frequency(len(chunks), len(counts))
        of_notes: Counter[int | str] = Counter()
        for note, count in counts:
            of_notes[note] += count
        for note, count in of_notes.items():
            score[note] += idf * count * (K1 + 1) / (count + norm[note])
    return score


def complete(db: Tables, text: str, absent: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Return the words that may be meant by each word of *text*, or part of one, that occurs nowhere.

    It is tried as a prefix, then as a part of words, then as mistyped: `authen` gives `authentication`, `deploiment`
    `deployment`. *absent* are the terms of the query that occur nowhere.
    """
    words = [form for word in query_words(text) for form in _absent_forms(word, absent)]
    runs = [run for run in unspaced_runs(text) if absent.issuperset(query_terms(run))]
    completed = {word: tuple(_words_like(db, word)) for word in words[: limits.MOST_COMPLETED]}
    completed |= {run: tuple(dict.fromkeys(run)) for run in runs[: limits.MOST_COMPLETED]}
    return {word: words for word, words in completed.items() if words}


def _absent_forms(word: str, absent: frozenset[str]) -> Iterator[str]:
    """Give *word* as one word if that occurs nowhere, and then each long part that occurs nowhere either."""
    whole = joined(word)
    if stem(whole) in absent:
        yield whole
        parts = sorted(part for part in words_of(word) - {whole} if part.isalpha() and len(part) >= _SHORTEST_MISTYPED)
        yield from (part for part in parts if stem(part) in absent)


def other_spellings(db: Tables, text: str) -> dict[str, str]:
    """Return the words that the vault writes as one and *text* as several, or the reverse, with the form in *text*.

    `log in` gives `login: log in`, and `login` gives `log in: login`; all are terms, or phrases of terms.
    """
    words = [word if len(word) <= _LONGEST_MISTYPED else "" for word in plain_words(text)[: limits.MOST_TERMS]]
    together = {
        "".join(some): " ".join(map(stem, some))
        for count in (2, 3, 4)
        for some in zip(*(words[at:] for at in range(count)), strict=False)
        if all(some) and not is_stop_word(some[0]) and not is_stop_word("".join(some))
    }
    apart = {
        (word[:at], word[at:])
        for word in words
        if not is_stop_word(word)
        for at in range(_SHORTEST, len(word) - _SHORTEST + 1)
    }
    known = set(db.known_words({*together, *(half for halves in apart for half in halves)}))
    # Where the vault itself mostly writes `go to`, its one `go-to` is another word.
    spelt = {
        stem(word): together[word]
        for word in sorted(together.keys() & known)
        if db.phrase_frequency(stem(word)) >= db.phrase_frequency(together[word])
    }
    halved = sorted(filter(known.issuperset, apart), key=lambda halves: (-min(map(len, halves)), halves))
    spelt |= {" ".join(map(stem, halves)): stem("".join(halves)) for halves in halved[: limits.MOST_COMPLETED]}
    return {form: typed for form, typed in spelt.items() if db.phrase_frequency(form)}


def completed_terms(completed: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the distinct terms of all the words that were found."""
    return list(dict.fromkeys(stem(word) for words in completed.values() for word in words))


def _words_like(db: Tables, word: str) -> list[str]:
    found: list[str] = []
    if len(word) >= _SHORTEST:
        begins = "SELECT word FROM word WHERE word > ? AND word < ? ORDER BY length(word), word"
        found = _first_living(db, (row[0] for row in db.execute(begins, (word, word + "\U0010ffff"))))
    if not found and len(word) > _SHORTEST:
        found = _first_living(db, sorted(db.words_with(word), key=lambda each: (len(each), each)))
    if not found and _SHORTEST_MISTYPED <= len(word) <= _LONGEST_MISTYPED:
        found = _first_living(db, db.known_words(_one_slip_away(word)))
    return found


def _one_slip_away(word: str) -> set[str]:
    """Return *word* with one letter missing, wrong or too many, or two swapped; the first is right."""
    letters = next((each for each in _ALPHABETS if set(word) <= set(each)), "")
    if not letters:  # a number, a code or a name with signs in it is typed as it is meant
        return set()
    cuts = [(word[:at], word[at:]) for at in range(1, len(word) + 1)]
    swapped = {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    missing = {head + tail[1:] for head, tail in cuts if tail}
    wrong = {head + letter + tail[1:] for head, tail in cuts if tail for letter in letters}
    added = {head + letter + tail for head, tail in cuts for letter in letters}
    return swapped | missing | wrong | added


def _first_living(db: Tables, words: Iterable[str]) -> list[str]:
    """Return the first words that still occur: words stay in their table when the last note with them goes."""
    found: list[str] = []
    left = iter(words)
    while len(found) < limits.LOOKED_AT and (some := list(islice(left, limits.LOOKED_AT))):
        living = db.occurring({stem(word) for word in some})
        found += [word for word in some if stem(word) in living]
    return found[: limits.LOOKED_AT]
