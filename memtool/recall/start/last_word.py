"""The last word wins: where the user takes something back, it goes from what was said before. Pure.

"UUIDv7 instead of ULIDs" takes back ULIDs, 「改用 UUIDv7，不再用 ULID」, too, and "change the ids to UUIDv7" what an
earlier line chose for the ids. Only names are taken back (`ULID`, `jwt.ts`, `max_connections`), or what the older line
says of the same thing: common words occur in every line. A line of the user is replaced as a whole by a later one that
changes its number ("cap it at 30 seconds"), takes what it refused, or denies what the agent did with it ("no, we use
Biome").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

from memtool.text.languages import languages, listed, pattern_of, starts_with, word_set, words as words_of
from memtool.text.scripts import UNSPACED, is_unspaced
from memtool.text.similarity import words
from memtool.text.tokens import stem

_MOST_WORDS = 3  # behind a cue, of which one may be what is taken back
_NAME = re.compile(r"[A-Za-z0-9_][\w./+#-]*[A-Za-z0-9_+#]|[A-Za-z0-9]", re.ASCII)
_CLAUSE_END = re.compile(r"[,;:!?，。；：！？（()]|\.(?:\s|$)")
_LETTER = r"[A-Za-z\u00c0-\u024f\u0400-\u04ff]"  # of a script with spaces; a wide class takes long to compile
_SHORTEST_RUN, _LONGEST_RUN, _TRAILING = 3, 8, "了吧啦啊呢"  # of characters that may be what is taken back
_SAME_SUBJECT = 0.4  # of the words of the shorter clause, names and cues aside
_SAME_QUANTITY = 0.5  # the same for a number; more than that
_PRODUCT = re.compile(r"[A-Za-z][A-Za-z0-9+#-]*")  # a name that is chosen, and no file or identifier

SAME = 0.85  # of the words of a line: who says so many says the same


class _TakenBack(NamedTuple):
    """A *term* that no longer holds, the line that *said* so and when, and the words around the term in it."""

    term: str
    beside: frozenset[str]
    is_name: bool
    said: str
    when: str


class _Choice(NamedTuple):
    """The *term* that a line chooses for a *subject*: UUIDv7 for the ids."""

    term: str
    is_name: bool
    subject: frozenset[str]


class Heard(NamedTuple):
    """A *line* of the user, when it was said, and what was asked and done before it: what "no, …" denies."""

    line: str
    when: str
    before: str = ""


class LastWord:
    """The last word on each subject: what the lines heard so far take back of those before them.

    Attributes:
        replaced: the lines that later ones replace as a whole, each with when it was said.
    """

    def __init__(self) -> None:
        self.replaced: set[tuple[str, str]] = set()
        self._heard: list[Heard] = []
        self._taken: list[_TakenBack] = []

    def lets_stand(self, line: str, *, by_user: bool = False, when: str = "") -> bool:
        """Return whether nothing later takes *line* back, which was said at *when*; one *by_user* is heard, too.

        What is heard at the same time counts as later, so that lines of one time are looked at newest first.
        """
        if (line, when) in self.replaced:
            return False
        told = words(line)
        later = (taken for taken in self._taken if taken.when >= when and taken.said not in line)
        stands = not any(_is_about(taken, line, told) for taken in later)
        if stands and by_user:
            self.hear(line, when)
        return stands

    def hear(self, line: str, when: str = "") -> None:
        """Remember what *line*, the user's word at *when*, takes back."""
        self._heard.append(Heard(line, when))
        self._taken += _taken_back(line, when)

    def hear_choices(self, lines: Iterable[Heard]) -> None:
        """Remember which of the user's *lines* are replaced by later ones, and which choices others are in place of.

        Those that were heard before count as well.
        """
        standing: list[tuple[Heard, list[_Choice]]] = []
        for heard in sorted((*self._heard, *lines), key=lambda each: each.when, reverse=True):
            changes = bool(_cue("changing_mind").search(heard.line)) or _denies(heard.line)
            adjusts = changes or bool(_cue("adjusting").search(heard.line))
            if not (adjusts or standing):
                continue
            chosen = _choices(heard.line, *(("picking", "becoming") if changes else ("picking",)))
            later = [each for each in standing if each[0].when > heard.when]
            taken = [
                _TakenBack(choice.term, shared, choice.is_name and len(shared) > 1, other.line, other.when)
                for other, others in later
                for choice, another in product(chosen, others)
                if (shared := _shared_subject(another, choice))
            ]
            self._taken += taken
            if any(_replaces(other, heard.line) for other, _ in later):
                self.replaced.add((heard.line, heard.when))
            elif adjusts and not taken:
                standing.append((heard, chosen))


def _replaces(later: Heard, line: str) -> bool:
    """Return whether *later*, which changes or denies something, replaces the older *line* as a whole."""
    return _takes_refused(later.line, line) or _changes_quantity(later.line, line) or _denies_choice(later, line)


def _takes_refused(later: str, line: str) -> bool:
    """Return whether *later* names what *line* refused of the same subject: "no need for Redis"."""
    refused = {term.casefold() for text, _ in _withdrawn(line) for term in _telling_names(text)}
    if not refused:
        return False
    clauses = (
        clause for clause in _CLAUSE_END.split(later) if not re.search(pattern_of("negation"), clause.casefold())
    )
    named = {match[0].casefold() for clause in clauses for match in _NAME.finditer(clause)}
    return bool(refused & named) and bool((_stems(later) & _stems(line)) - _stems(" ".join(refused)))


def _changes_quantity(later: str, line: str) -> bool:
    """Return whether *later* gives another number of the same kind for the same subject than *line*.

    Who names the older number as well need not say so much of the subject.
    """
    given, had = list(_quantities(later)), list(_quantities(line))
    kinds = {one.kind for one in given} & {one.kind for one in had}
    for kind in kinds:
        new, old = ([each for each in of if each.kind == kind] for of in (given, had))
        other = {each.number for each in new} - {each.number for each in old}
        if other and len(other) < len({each.number for each in new}) and _stems(later) & _stems(line):
            return True
        pairs = ((one.subject, each.subject) for one in new for each in old if one.number != each.number)
        least = 1 if kind else 2  # what a bare number counts is not known
        if any(len(a & b) >= least and len(a & b) > _SAME_QUANTITY * min(len(a), len(b)) for a, b in pairs):
            return True
    return False


class _Quantity(NamedTuple):
    """A *number* with its unit, of which *kind* it is (all times are alike; empty for bare numbers), and of what."""

    kind: str
    number: str
    subject: frozenset[str]


def _quantities(line: str) -> Iterator[_Quantity]:
    for clause in _CLAUSE_END.split(line):
        for found in _quantity().finditer(clause):
            unit = found["unit"] or ""
            kind = "time" if stem(unit.casefold()) in _times() else unit if unit == "%" else ""
            number = str(_numbers().get(found["number"].casefold(), found["number"]))
            subject = _stems(clause) - _stems(found[0] if kind else found["number"])
            yield _Quantity(kind, f"{number} {stem(unit.casefold())}" if kind else number, subject)


def _denies_choice(later: Heard, line: str) -> bool:
    """Return whether *later* denies what the agent did with a name that *line* had: "no, we use Biome"."""
    if not (later.before and _denies(later.line)):
        return False
    own = {match[0].casefold() for match in _NAME.finditer(later.line)}
    done = {name for name in _products(later.before) if name.casefold() not in own}
    had = done & _products(line)
    chosen = {choice.term for choice in _choices(line, "picking")}
    return bool(had) and (bool(had & chosen) or bool((_stems(later.before) & _stems(line)) - _stems(" ".join(had))))


def _denies(line: str) -> bool:
    """Return whether *line* says no, and what it is: "no, we use Biome", 「不是 npm，这里用的是 pnpm」."""
    return starts_with("denying", line) and any(True for _ in _choosing(("stating", "picking")).finditer(line))


def _products(text: str) -> set[str]:
    """Return the names in *text* that may be chosen: `ESLint`, `Redis`; in Chinese all Latin words."""
    names = (match[0] for match in _NAME.finditer(text) if _PRODUCT.fullmatch(match[0]))
    return {name for name in names if len(name) > 1 and (_is_name(name, text) or name[0].isupper())}


@lru_cache(1_024)
def _stems(text: str) -> frozenset[str]:
    """Return the words of *text* that say what it is about, numbers aside."""
    told = words(text) - word_set("function") - _cue_words() - _numbers().keys()
    return frozenset(stem(word) for word in told if not word.isdigit())


def _is_about(taken: _TakenBack, line: str, told: frozenset[str]) -> bool:
    if not re.search(rf"(?<![^\W_]){re.escape(taken.term)}(?:s|es)?(?![^\W_])", line, re.IGNORECASE | re.ASCII):
        return False
    return taken.is_name or any(len(word) > 1 for word in told & taken.beside - word_set("function"))


def _taken_back(line: str, when: str) -> list[_TakenBack]:
    told, found = words(line), []
    for text, is_sure in _withdrawn(line):
        term = next(_telling_names(text), "") or _run_in(text)
        is_name = _is_name(term, line)
        is_contrast = bool(_PRODUCT.fullmatch(term)) and _denies(line)  # 「不是 npm，这里用的是 pnpm」
        if term and (is_sure or is_name or is_contrast or _is_capital(term, line)):
            beside = told - words(_singular(term)) - words(term)
            found.append(_TakenBack(_singular(term), beside, is_contrast or (is_name and is_sure), line, when))
    return found


def _withdrawn(line: str) -> Iterator[tuple[str, bool]]:
    """Give each text that begins with what *line* takes back, and whether that is sure: "not X" may say no more."""
    for cue in _cues().finditer(line):
        is_denied = re.search(rf"(?:{pattern_of('negation')})[^,;，；。]{{0,2}}$", line[: cue.start()].casefold())
        if not is_denied:  # "don't drop X"
            behind = cue["before"] or line[cue.end() :]
            yield _CLAUSE_END.split(behind, maxsplit=1)[0], not (cue["aside"] or cue["out"])
    yield from ((move[move.lastindex or 0], False) for move in _moves().finditer(line))


def _telling_names(text: str) -> Iterator[str]:
    """Give what may be a name among the first words of *text*."""
    names = (match[0] for _, match in zip(range(_MOST_WORDS), _NAME.finditer(text), strict=False))
    return (name for name in names if _singular(name).casefold() not in word_set("function"))


def _run_in(text: str) -> str:
    """Return the characters of a script without spaces with which *text* begins; empty if they are too few to tell."""
    found = re.match(rf"[{UNSPACED}]{{{_SHORTEST_RUN},{_LONGEST_RUN}}}(?![{UNSPACED}])", text.strip().rstrip(_TRAILING))
    return found[0] if found else ""


def _choices(line: str, *kinds: str) -> list[_Choice]:
    """Return the names that *line* chooses, behind the words of *kinds*; one that a clause denies is not chosen."""
    found = []
    for clause in _CLAUSE_END.split(line):
        if re.search(pattern_of("negation"), clause.casefold()):
            continue
        behind = (next(_telling_names(cue["term"]), "") for cue in _choosing(kinds).finditer(clause))
        terms = sorted(filter(None, behind), key=lambda term: not _is_name(term, line))  # "is going to be NATS"
        for term in terms[:1]:
            subject = words(clause) - words(term) - word_set("function") - _cue_words()
            found.append(_Choice(_singular(term), _is_name(term, line), subject))
    return found


def _shared_subject(later: _Choice, earlier: _Choice) -> frozenset[str]:
    """Return the words of the subject for which *later* is another choice than *earlier*; none if it is not."""
    shared = later.subject & earlier.subject
    is_other = later.is_name == earlier.is_name and later.term.casefold() != earlier.term.casefold()
    is_same_subject = len(shared) >= _SAME_SUBJECT * min(len(later.subject), len(earlier.subject))
    return shared if is_other and is_same_subject else frozenset()


def _is_name(term: str, line: str) -> bool:
    """Return whether *term* is a name by its look: inner capitals, digits, signs, or Latin within Chinese."""
    if re.search(r"\d|[_./]|[a-z][A-Z]|[A-Z]{2}", term):
        return True
    return term.isascii() and not line.isascii() and any(map(is_unspaced, line))


def _is_capital(term: str, line: str) -> bool:
    return term[:1].isupper() and not line.lstrip().startswith(term)


def _singular(term: str) -> str:
    return term[:-1] if re.fullmatch(r"\w{3,}[A-Za-z]s", term) and not term.endswith("ss") else term


@cache
def _cues() -> re.Pattern[str]:
    """Return what is before that which is taken back; of 「把 ULID 换成 UUIDv7」 what is in the middle."""
    sure, aside, middle, out = map(_any_of, ("taken_back", "set_aside", "replaced_by", "left_out"))
    return re.compile(
        rf"(?<!{_LETTER})(?:{sure}|(?P<aside>{aside}))(?![A-Za-z])|(?<![A-Za-z0-9_])(?P<before>{_NAME.pattern})\s*"
        rf"(?:{middle}|(?P<out>{out}))(?![A-Za-z])",
        re.IGNORECASE,
    )


@cache
def _moves() -> re.Pattern[str]:
    """Return what is around that which is left for something else: "from ULIDs to", the name in the last group."""
    ends = (move.split(" … ") for move in words_of("moved"))
    moves = "|".join(rf"{first}(?!{_LETTER})\s*(\S.{{0,40}}?)\s*(?<!{_LETTER}){last}" for first, last in ends)
    return re.compile(rf"(?<!{_LETTER})(?:{moves})(?!{_LETTER})", re.IGNORECASE)


@cache
def _choosing(kinds: tuple[str, ...]) -> re.Pattern[str]:
    """Return what is before that which is chosen; that begins the group `term`."""
    return re.compile(rf"{_any_word_of(*kinds)}(?=\s*(?P<term>[A-Za-z0-9_].*))", re.IGNORECASE)


@cache
def _quantity() -> re.Pattern[str]:
    """Return what a number is with its unit: `30 seconds`, `five minutes`, `24 小时`, `20%`."""
    spelled = "|".join(rf"\b{word}\b" if word.isascii() else word for word in _numbers())
    times = "|".join(sorted((word for word in words_of("times") if not word.isascii()), key=len, reverse=True))
    return re.compile(
        rf"(?<![A-Za-z0-9_.])(?P<number>\d+(?:\.\d+)?|(?:{spelled}))[ -]?(?P<unit>%|[A-Za-z]+|{times})?",
        re.IGNORECASE,
    )


@cache
def _numbers() -> dict[str, int]:
    return {word: value for code in languages() for value, word in enumerate(listed("numbers", code), 1)}


@cache
def _times() -> frozenset[str]:
    return frozenset(map(stem, words_of("times")))


@cache
def _cue(kind: str) -> re.Pattern[str]:
    return re.compile(_any_word_of(kind), re.IGNORECASE)


@cache
def _cue_words() -> frozenset[str]:
    return frozenset().union(
        *(words(" ".join(words_of(kind))) for kind in ("picking", "becoming", "changing_mind", "stating", "adjusting"))
    )


def _any_word_of(*kinds: str) -> str:
    return rf"(?<!{_LETTER})(?:{'|'.join(map(_any_of, kinds))})(?!{_LETTER})"


def _any_of(kind: str) -> str:
    return "|".join(map(re.escape, words_of(kind)))
