"""Finding what a vault remembers about a prompt: words only, from the index as it is.

    the chunks that hold words of the prompt, or others that mean the same     where each occurs
    those that hold the rarest of them                                          the best few dozen
    the passage of each that holds most, and what its title says                how likely it belongs to the prompt

A chunk's BM25 score cannot be compared between prompts, so it cannot say "nothing here is about this". What can is how
unlikely it is that a memory shares so much with a prompt by chance (`memtool.recall.prompts.evidence`). Words are rare
or not among the notes of the project at hand: there each note speaks of bookings. What belongs to another project is
found only if the prompt names that project (`memtool.index.filters`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from functools import lru_cache
from heapq import nlargest
from typing import TYPE_CHECKING

from memtool.index.filters import Filter
from memtool.index.ranking import without_near_duplicates
from memtool.index.reach import reach
from memtool.named_tuple import NamedTuple
from memtool.recall.given import ALIKE, BELOW_FLOOR, PALE
from memtool.recall.prompts.clues import Clues, Held, Rarity
from memtool.recall.prompts.evidence import (
    Evidence,
    Recalled,
    Whereabouts,
    covered,
    floor_of,
    lead_of,
    relevance,
    relevance_by_words,
)
from memtool.recall.prompts.passages import Passage, passages
from memtool.recall.prompts.question import COMMON, Question
from memtool.recall.prompts.thesaurus import Synonyms
from memtool.text.tokens import CONTEXT_END, fold, index_terms, is_spaced
from memtool.vault.authors import RULE
from memtool.vault.layout import is_facts_file

if TYPE_CHECKING:
    from memtool.index.tables import Tables
    from memtool.recall.prompts.meaning import Likeness, Meaning, Nearness

BESIDE_THE_BEST = 0.5  # share of the best one's relevance that the others need

LONGEST = 20_000  # characters of a chunk; only a fact can have more, and that is no memory
_LOOKED_AT = 60  # chunks whose terms are compared
_TRIED = 4  # for each of them, so many, of which those of other projects are left out
_READ = 20  # of those, the best, whose passages are
_BEGINNING = 4  # characters that a passage shares with a term, or it need not be cut into terms
SESSION = "session"
_PREFERENCE = "preference"  # the category of preferences and of notes of rules
_NEVER = ("rules/", "CLAUDE.md", "MEMORY.md")  # tables for machines, and what every session is given at its start
_NEVER_OF_CLIENT = "/memory/MEMORY.md"  # the client gives it by itself

_MOST_TERMS = 48  # of a prompt
_MOST_CHUNKS = 1_000  # of one term; what stands in more finds nothing
_MOST_CHUNKS_OF_COMMON = 200
_LEAST_SCOPE = 50  # chunks; where there are fewer, what they hold is no more relevant for that
_MOST_OF_SCOPE = 4_000  # chunks; among more, words are as rare as in the vault


class Candidate(NamedTuple):
    """A chunk that holds something of a prompt: its row."""

    chunk_id: int
    ref: str
    title: str
    first_line: int
    heading: str
    text: str
    kind: str
    project: str
    category: str
    date: str
    fact_id: str
    last_line: int
    author: str
    terms: str

    @property
    def about(self) -> list[str]:
        """The terms of its title, headings, tags and summary."""
        return self.terms.partition(CONTEXT_END)[0].split(" ")

    @property
    def is_spaced(self) -> bool:
        """Whether all of it is written in scripts with spaces between the words."""
        return is_spaced(self.title + self.text)


class FoundMemories(NamedTuple):
    """The memories of an index about a question, most relevant first, each note once.

    Args:
        memories: facts, and notes that are no session's; what is not worth giving says so in `left_out`.
        sessions: the best passage of each.
        weights: what each term of the question is worth to a statement.
        telling: how much each of its telling terms counts.
    """

    memories: list[Recalled]
    sessions: list[Recalled]
    weights: Mapping[str, float]
    telling: Mapping[str, float]


def find(db: Tables, question: Question, project: str, today: dt.date, meaning: Meaning | None = None) -> FoundMemories:
    """Return the memories of the index *db* about *question*."""
    all_found, clues = judged(db, question, project, today, meaning, only_likely=True)
    sessions: dict[str, Recalled] = {}
    found: list[tuple[Evidence, Recalled]] = []
    for evidence, memory in all_found:
        if memory.kind != SESSION or question.is_act:
            found.append((evidence, memory))
        elif memory.ref not in sessions or memory.relevance > sessions[memory.ref].relevance:
            sessions[memory.ref] = memory
    ranked = sorted(sessions.values(), key=lambda memory: -memory.relevance)
    return FoundMemories(_given(found, question), ranked, clues.weights, clues.telling)


def _given(found: Sequence[tuple[Evidence, Recalled]], question: Question) -> list[Recalled]:
    given = [memory.relevance >= floor_of(evidence, question.length) for evidence, memory in found]
    if found and not any(given):
        by_words = [relevance_by_words(evidence, question.length) for evidence, _ in found]
        best = max(range(len(found)), key=by_words.__getitem__)
        given[best] = by_words[best] > 0
    return _distinct((is_given, memory) for is_given, (_, memory) in zip(given, found, strict=True))


def judged(
    db: Tables,
    question: Question,
    project: str,
    today: dt.date,
    meaning: Meaning | None = None,
    *,
    only_likely: bool = False,
    nearest: int = 1,
) -> tuple[list[tuple[Evidence, Recalled]], Clues]:
    """Return each passage that may be about *question* with what speaks for it, and the clues of the question.

    With *only_likely*, chunks of which no passage can reach the floor are not looked at, but for those of sessions.
    *meaning* knows the prompt, and brings so many of the *nearest* chunks along, whatever words they share.
    """
    scope = find_scope(db, project)
    wanted = Filter(today, projects=reach(db, project, question.text))
    if meaning:
        meaning.begin(project)
    found = of_terms(db, question, scope)
    question = question.without_absent_pairs({term for term, where in found.items() if where.frequency or where.chunks})
    in_other_words = [of_synonyms(db, each, scope) for each in question.synonyms]
    rarity = Rarity(scope.size, {term: occurrence.frequency for term, occurrence in found.items()})
    others = [rarity.of_count(occurrence.frequency) for occurrence in in_other_words]
    clues = Clues(question, rarity, others)
    rare = [(rarity.of(term), occurrence.chunks) for term, occurrence in found.items()]
    rare += [(other / 2, occurrence.chunks) for other, occurrence in zip(others, in_other_words, strict=True)]
    likely = _most_likely(db, rare, scope, wanted)
    beginnings = {term[:_BEGINNING].rstrip("i") or term for term in clues.said}  # Porter makes `dai` of day

    def weighed(chunk_ids: Sequence[int]) -> Iterator[tuple[Held, Candidate]]:
        for each in _read(db, chunk_ids, wanted):
            yield clues.held(clues.terms_in(each.terms.split(" ")), is_spaced=each.is_spaced), each

    by_words = nlargest(_READ, weighed(likely), key=lambda each: each[0])
    nearness = meaning.nearness([candidate.chunk_id for _, candidate in by_words]) if meaning else None
    likenesses = dict(_likenesses(nearness, nearest)) if nearness else {}
    more = likenesses.keys() - {candidate.chunk_id for _, candidate in by_words}
    passages_found = []
    for held, candidate in [*by_words, *weighed(sorted(more))]:
        is_everywhere = question.is_act and not candidate.project
        is_here = candidate.project == project or is_everywhere
        place = Whereabouts(scope.size, is_here, candidate.project not in ("", project))
        likeness = likenesses.get(candidate.chunk_id)
        at_best = Evidence(*held, coverage=1.0, lead=1.0, place=place, likeness=likeness)  # a passage holds no more
        is_likely = relevance(at_best) >= floor_of(at_best, question.length)
        is_looked_at = is_likely or candidate.kind == SESSION or relevance_by_words(at_best, question.length)
        if only_likely and not is_looked_at:
            continue
        evidence, recalled = _judge(candidate, clues, beginnings, place)
        if question.is_act and not (evidence.lead and _is_convention(recalled)):
            continue
        if _opens_summary(candidate, recalled, project):
            continue
        evidence = evidence._replace(likeness=likeness)
        passages_found.append((evidence, recalled._replace(relevance=relevance(evidence), evidence=evidence)))
    return passages_found, clues


def _opens_summary(candidate: Candidate, memory: Recalled, project: str) -> bool:
    """Whether *memory* is the sentence of what the *project* at hand is, which every session has at its start."""
    if candidate.ref != f"areas/projects/{project}/summary.md" or not candidate.text.startswith("# "):
        return False
    opening = passages(candidate.text, candidate.kind, candidate.heading)[:1]
    return memory.text in ("", *(passage.text for passage in opening))


def _is_convention(memory: Recalled) -> bool:
    """Return whether *memory* says how things are to be done, whenever they are."""
    return memory.category == _PREFERENCE or memory.role == RULE


def _likenesses(nearness: Nearness, nearest: int) -> Iterator[tuple[int, Likeness]]:
    """Give the likeness of so many of the *nearest* chunks and of those that were asked for."""
    from memtool.recall.prompts.meaning import likeness_of  # most machines have no model

    for near in (*nearness.nearest[:nearest], *nearness.asked):
        yield near.chunk_id, likeness_of(near, nearness.nearest)


def _most_likely(db: Tables, rare: Iterable[tuple[float, Sequence[int]]], scope: Scope, wanted: Filter) -> list[int]:
    """Return the chunks that hold the rarest, of all in reach; those in the scope before others."""
    held: dict[int, float] = {}
    for rarity, chunks in rare:
        for chunk_id in chunks:
            held[chunk_id] = held.get(chunk_id, 0.0) + rarity
    inside: AbstractSet[int] = held.keys() if scope.ids is None else scope.ids
    most = _LOOKED_AT * _TRIED if wanted.projects else _LOOKED_AT
    best = nlargest(most, held, key=lambda chunk_id: (held[chunk_id] + 2 * (chunk_id in inside), chunk_id))
    if not wanted.projects:
        return best
    condition, values = wanted.where()
    listed = ", ".join(map(str, best))
    rows = db.execute(f"SELECT c.id FROM chunk AS c WHERE c.id IN ({listed}) AND {condition}", values)  # noqa: S608  (numbers)
    in_reach = {row[0] for row in rows}
    return [chunk_id for chunk_id in best if chunk_id in in_reach][:_LOOKED_AT]


def _read(db: Tables, chunk_ids: Sequence[int], wanted: Filter) -> Iterator[Candidate]:
    condition, values = wanted.where()
    rows = db.execute(
        "SELECT c.id, n.ref, n.title, c.start_line, c.heading, c.text, c.kind, c.project, c.category, c.date,"  # noqa: S608  (numbers)
        " c.fact_id, c.end_line, c.author, l.terms"
        " FROM chunk AS c JOIN note AS n ON n.id = c.note_id JOIN term_list AS l ON l.chunk_id = c.id"
        f" WHERE c.id IN ({', '.join(map(str, chunk_ids))}) AND length(c.text) <= {LONGEST} AND {condition}",
        values,
    )
    found = (Candidate._make((*row, db.unpacked(packed, row[5]))) for *row, packed in rows)
    return (candidate for candidate in found if not is_given_anyway(candidate.ref))


def is_given_anyway(ref: str) -> bool:
    """Whether the note at *ref* is never given with a prompt, because every session has it or no one reads it."""
    return ref.startswith(_NEVER) or ref.endswith(_NEVER_OF_CLIENT)


def _judge(
    candidate: Candidate, clues: Clues, beginnings: Iterable[str], place: Whereabouts
) -> tuple[Evidence, Recalled]:
    best, held, adds = _best_passage(candidate, clues, beginnings)
    whole = is_facts_file(candidate.ref)
    evidence = Evidence(
        *held,
        coverage=covered(best.text if adds else f"{candidate.title} {candidate.heading}", clues.said),
        lead=max(covered(lead_of(text), clues.said) for text in (best.text, "" if whole else candidate.title)),
        place=place,
    )
    first = candidate.first_line if whole else candidate.first_line + best.first
    last = candidate.last_line if whole else candidate.first_line + best.last
    return evidence, Recalled(
        candidate.ref, first, last, candidate.kind, candidate.project, candidate.category, candidate.date,
        candidate.title, best.text if adds else "", candidate.fact_id,
        author=best.author or candidate.author, role=best.role, asked=best.asked,
    )  # fmt: skip


@lru_cache(maxsize=8_192)  # as for `passages`
def _terms(text: str) -> tuple[str, ...]:
    return tuple(index_terms(text))


def _best_passage(candidate: Candidate, clues: Clues, beginnings: Iterable[str]) -> tuple[Passage, Held, bool]:
    """Return the passage that, together with what the note is about, holds most of what was asked, and if it adds any.

    Where it adds nothing, the note's summary says more; but that of a session is only its topic, with which it begins.
    """
    about, spaced = clues.terms_in(candidate.about), candidate.is_spaced
    if is_facts_file(candidate.ref):
        statement = Passage(candidate.text.split("\n", 1)[0], 0, 0)
        return statement, clues.held(about | clues.terms_in(_terms(statement.text)), is_spaced=spaced), True
    alone = clues.held(about, is_spaced=spaced)
    best, near, own = Passage("", 0, 0), alone, Held()
    is_session = candidate.kind == SESSION
    found = passages(candidate.text, candidate.kind, candidate.heading)
    for passage in reversed(found) if is_session else found:
        told = f"{passage.asked} {passage.text}"  # what was asked says what it is about
        folded = fold(told)
        if not any(beginning in folded for beginning in beginnings):  # cutting it into terms would take longer
            best = best if best.text else passage
            continue
        terms = clues.terms_in(_terms(told))
        held, by_itself = clues.held(about | terms, is_spaced=spaced), clues.held(terms, is_spaced=spaced)
        if (held, by_itself) > (near, own) or not best.text:
            best, near, own = passage, held, by_itself
    return best, near, near > alone or (is_session and own.strength > 0)


def _distinct(memories: Iterable[tuple[bool, Recalled]]) -> list[Recalled]:
    """Return the best of each note; those that are left out say why. The first of a pair is whether it is likely."""
    ordered = sorted(memories, key=lambda each: (not each[0], -each[1].relevance, each[1].ref, each[1].first_line))
    best: dict[str, tuple[bool, Recalled]] = {}
    for each in ordered:
        best.setdefault(each[1].key, each)
    count = sum(is_likely for is_likely, _ in best.values())
    found = [memory for _, memory in best.values()]
    different = set(without_near_duplicates(range(count), lambda at: found[at].text.casefold(), count))
    least = BESIDE_THE_BEST * found[0].relevance if found else 0.0

    def reason(at: int) -> str:
        if at >= count:
            return BELOW_FLOOR
        return ALIKE if at not in different else PALE if found[at].relevance < least else ""

    return [memory._replace(left_out=reason(at)) for at, memory in enumerate(found)]


class Scope(NamedTuple):
    """The chunks among which words are rare or not, *size* of them: *ids*, or all where that is None."""

    size: int
    ids: frozenset[int] | None

    def held(self, chunks: Sequence[int]) -> int:
        """Return how many of *chunks* are among them."""
        return len(chunks) if self.ids is None else len(self.ids.intersection(chunks))


class Occurrence(NamedTuple):
    """The *chunks* that hold something, empty if they are too many to tell; *frequency* of them are in the scope."""

    chunks: Sequence[int]
    frequency: int


def find_scope(db: Tables, project: str) -> Scope:
    """Return the project at hand with what belongs to none; without a project, or where those are many, the vault."""
    inside = "FROM chunk WHERE project IN (?, '')"
    count = int(db.execute(f"SELECT count(*) {inside}", (project,)).fetchone()[0])
    if not project or count > _MOST_OF_SCOPE:
        count, ids = db.chunk_count(), None
    else:
        ids = frozenset([row[0] for row in db.execute(f"SELECT id {inside}", (project,))])
    return Scope(max(_LEAST_SCOPE, count), ids)


def of_terms(db: Tables, question: Question, scope: Scope) -> dict[str, Occurrence]:
    """Return where each term of *question* occurs."""
    common = {word.terms[0] for word in question.words if word.kind is COMMON}
    terms = question.terms()[:_MOST_TERMS]
    limits = ((term, _MOST_CHUNKS_OF_COMMON if term in common else _MOST_CHUNKS) for term in terms)
    return {term: _occurrence(db, [(term,)], scope, most) for term, most in limits}


def of_synonyms(db: Tables, synonyms: Synonyms, scope: Scope) -> Occurrence:
    """Return where something is said in other words."""
    return _occurrence(db, synonyms.others, scope, _MOST_CHUNKS)


def _occurrence(db: Tables, any_of: Sequence[Sequence[str]], scope: Scope, most: int) -> Occurrence:
    ids = db.holding(any_of, most + 1)
    return Occurrence(ids, scope.held(ids)) if len(ids) <= most else Occurrence((), max(most, scope.size // 10))
