"""Finding what a vault remembers about a prompt: words only, from the index as it is.

    the chunks that hold words of the prompt                       where each occurs
    those that hold the rarest of them                             the best few dozen
    of facts and notes, the passage of each that holds most        how likely it belongs to the prompt
    of sessions, the notes that hold most                          `memtool.recall.answers.sessions` chooses among them

A chunk's BM25 score cannot be compared between prompts, so it cannot say "nothing here is about this". What can is how
unlikely it is that a memory shares so much with a prompt by chance (`memtool.recall.answers.likelihood`). Words are
rare or not among the notes of the project at hand: there each note speaks of bookings. What belongs to another project
is found only if the prompt names that project (`memtool.index.filters`).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import nlargest
from typing import TYPE_CHECKING
from zlib import crc32

from memtool.index.filters import Filter
from memtool.index.ranking import without_near_duplicates
from memtool.index.reach import reach
from memtool.named_tuple import NamedTuple
from memtool.recall import limits
from memtool.recall.answers.clues import Clues, scope_of, weighed_words
from memtool.recall.answers.likelihood import FLOOR, OF_NO_PROJECT, Signs, likelihood
from memtool.recall.answers.question import Question
from memtool.recall.answers.statements import Passage, beginnings_of, passages
from memtool.recall.given import ALIKE, BELOW_FLOOR, PALE
from memtool.recall.ledger import key_of
from memtool.text.tokens import CONTEXT_END, fold, index_terms, is_spaced, is_stop_word
from memtool.vault.layout import DAILY
from memtool.vault.memory import FACT, SESSION, Location, Memory

if TYPE_CHECKING:
    from memtool.index.tables import Tables
    from memtool.recall.prompts.meaning import Meaning
    from memtool.vault.sessions import Line

BESIDE_THE_BEST = 0.5  # share of the best one's likelihood that the others need

_NEVER = ("rules/", "CLAUDE.md", "MEMORY.md")  # tables for machines, and what every session is given at its start
_NEVER_OF_CLIENT = "/memory/MEMORY.md"  # the client gives it by itself
_CLAUSE_END = re.compile(r"[,:;.!?，：；。！？、（(]")


class Recalled(NamedTuple):
    """A memory that may be given with a prompt.

    Args:
        memory: its text is the passage or statement that answers; empty where only the title of a note was found.
        relevance: how likely it is worth reading, from 0 to 1.
        signs: what speaks for it.
        left_out: why it is not given; empty if nothing speaks against it (`memtool.recall.given`).
        summary: of the note, where its title is what was found.
        review: why a fact is to be looked at again; empty if it is not.
        statements: of a session, those that answer, of which the first is the memory's text.
        files: of a session, names of those that matter.
    """

    memory: Memory
    relevance: float = 0.0
    signs: Signs | None = None
    left_out: str = ""
    summary: str = ""
    review: str = ""
    statements: tuple[Line, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key of the memory in ledgers and counts."""
        memory = self.memory
        if memory.kind == FACT and not memory.fact_id:
            return key_of(memory.path, f"{crc32(memory.text.encode('utf-8', 'replace')):08x}")
        return memory.key


class FoundMemories(NamedTuple):
    """The memories of an index about a question.

    Args:
        memories: facts, and notes that are no session's, most likely first, each note once.
        sessions: the paths of the notes of sessions, those that hold most first.
        clues: of the question.
    """

    memories: list[Recalled]
    sessions: list[str]
    clues: Clues


class _Chunk(NamedTuple):
    """A chunk that holds something of a prompt: the terms of its title, headings, tags and summary, and all terms."""

    id: int
    memory: Memory
    about: Sequence[str]
    terms: Sequence[str]
    is_spaced: bool


def find(db: Tables, question: Question, project: str, today: dt.date, meaning: Meaning | None = None) -> FoundMemories:
    """Return the memories of the index *db* about *question*; what is not worth giving says why."""
    found = candidates(db, question, project, today, meaning, only_likely=True)
    return found._replace(memories=_distinct(found.memories))


def candidates(
    db: Tables,
    question: Question,
    project: str,
    today: dt.date,
    meaning: Meaning | None = None,
    *,
    only_likely: bool = False,
    nearest: int = 1,
) -> FoundMemories:
    """Return each passage that may be about *question* with what speaks for it, in no order, and the sessions.

    With *only_likely*, chunks of which no passage can reach the floor are not looked at. *meaning* knows the prompt,
    and brings so many of the *nearest* chunks along, whatever words they share.
    """
    size, inside = scope_of(db, project)
    wanted = Filter(today, projects=reach(db, project, question.text))
    if meaning:
        meaning.begin(project)
    clues, rare = weighed_words(db, question, size, inside)
    likely = _most_likely(db, (each for each in rare if len(each[1]) <= limits.MOST_CHUNKS), inside, wanted)

    def read(chunk_ids: Sequence[int]) -> list[tuple[tuple[float, float], _Chunk]]:
        chunks = _read(db, chunk_ids, wanted)
        return [(clues.held(clues.terms_in(chunk.terms), is_spaced=chunk.is_spaced), chunk) for chunk in chunks]

    by_words = sorted(read(likely), key=lambda each: each[0], reverse=True)
    sessions = dict.fromkeys(chunk.memory.path for _, chunk in by_words if chunk.memory.kind == SESSION)
    kept = [each for each in by_words if each[1].memory.kind != SESSION][: limits.CHUNKS_CUT]
    cosines = _cosines(meaning, [chunk.id for _, chunk in kept], nearest)
    more = sorted(cosines.keys() - {chunk.id for _, chunk in kept})
    kept += [each for each in read(more) if each[1].memory.kind != SESSION]
    beginnings = beginnings_of(clues.weights)
    memories = []
    for (strength, share), chunk in kept:
        is_common_rule = question.is_act and not chunk.memory.project
        of = project if is_common_rule else chunk.memory.project
        cosine, gap = cosines.get(chunk.id, (0.0, 0.0))
        signs = Signs(
            strength, share, coverage=1.0, lead=1.0,  # no passage holds more
            is_here=1.0 if of == project else 0.0 if of else OF_NO_PROJECT, is_elsewhere=float(of not in ("", project)),
            scope=clues.scope, cosine=cosine, gap=gap,
        )  # fmt: skip
        is_likely = not only_likely or likelihood(signs) >= FLOOR
        if is_likely and (not question.is_act or chunk.memory.category == "preference"):
            signs, text, place = _best_passage(chunk, clues, beginnings, signs)
            is_named = chunk.memory.kind != DAILY or chunk.memory.date not in chunk.memory.title
            says = (text or is_named) and not _opens_summary(chunk.memory, text, project)
            if says and (signs.lead or not question.is_act):
                memory = chunk.memory._replace(text=text, place=place)
                memories.append(Recalled(memory, likelihood(signs), signs))
    return FoundMemories(memories, list(sessions), clues)


def _most_likely(
    db: Tables, found: Iterable[tuple[float, Sequence[int]]], inside: frozenset[int] | None, wanted: Filter
) -> list[int]:
    """Return the chunks that hold the rarest words, of all in reach; those *inside* the scope before others.

    *found* has the rarity of each word, and the chunks that hold it.
    """
    held: dict[int, float] = {}
    for rare, chunk_ids in found:
        for chunk_id in chunk_ids:
            held[chunk_id] = held.get(chunk_id, 0.0) + rare
    most = limits.CHUNKS_COMPARED * (4 if wanted.projects else 1)  # of which those of other projects are left out
    best = nlargest(most, held, key=lambda each: (held[each] + 2 * (inside is None or each in inside), each))
    if not wanted.projects:
        return best
    condition, values = wanted.where()
    listed = ", ".join(map(str, best))
    rows = db.execute(f"SELECT c.id FROM chunk AS c WHERE c.id IN ({listed}) AND {condition}", values)  # noqa: S608  (numbers)
    in_reach = {row[0] for row in rows}
    return [chunk_id for chunk_id in best if chunk_id in in_reach][: limits.CHUNKS_COMPARED]


def _read(db: Tables, chunk_ids: Sequence[int], wanted: Filter) -> Iterator[_Chunk]:
    condition, values = wanted.where()
    rows = db.execute(
        "SELECT c.id, n.ref, c.start_line, c.end_line, c.text, c.kind, n.title, c.heading, c.author, c.project,"  # noqa: S608  (numbers)
        " c.category, c.date, c.fact_id, l.terms"
        " FROM chunk AS c JOIN note AS n ON n.id = c.note_id JOIN term_list AS l ON l.chunk_id = c.id"
        f" WHERE c.id IN ({', '.join(map(str, chunk_ids))}) AND length(c.text) <= {limits.LONGEST_TEXT}"
        f" AND {condition}",
        values,
    )
    for chunk_id, ref, start, end, text, kind, title, heading, author, project, category, date, fact_id, terms in rows:
        if not is_given_anyway(ref):
            memory = Memory(
                fact_id or ref, text, kind, Location(ref, start, end), title, heading, author=author, project=project,
                category=category, date=date,
            )  # fmt: skip
            about, _, rest = terms.partition(CONTEXT_END)
            of_context = about.split(" ")
            yield _Chunk(chunk_id, memory, of_context, [*of_context, *rest.split(" ")], is_spaced(title + text))


def is_given_anyway(ref: str) -> bool:
    """Whether the note at *ref* is never given with a prompt, because every session has it or no one reads it."""
    return ref.startswith(_NEVER) or ref.endswith(_NEVER_OF_CLIENT)


def _cosines(meaning: Meaning | None, chunk_ids: Sequence[int], nearest: int) -> dict[int, tuple[float, float]]:
    """Return the cosine of *chunk_ids* and of the *nearest* chunks, and how far each is from the best beside it."""
    near = meaning.nearness(chunk_ids) if meaning else None
    if not near or not near.nearest:
        return {}
    first = near.nearest[0]
    second = near.nearest[1].cosine if len(near.nearest) > 1 else 0.0
    return {
        each.chunk_id: (each.cosine, each.cosine - (second if each.chunk_id == first.chunk_id else first.cosine))
        for each in (*near.nearest[:nearest], *near.asked)
    }


def _opens_summary(memory: Memory, said: str, project: str) -> bool:
    """Whether what is *said* is the sentence of what the *project* at hand is, which every session has at its start."""
    if memory.path != f"areas/projects/{project}/summary.md" or not memory.text.startswith("# "):
        return False
    return said in ("", *(passage.text for passage in passages(memory.text, memory.kind)[:1]))


def _best_passage(chunk: _Chunk, clues: Clues, beginnings: Iterable[str], signs: Signs) -> tuple[Signs, str, Location]:
    """Return the signs, the text and the place of the passage that holds most of a prompt beside its note's title.

    Where no passage adds anything, the note's summary says more: then the text is empty.
    """
    memory, about = chunk.memory, clues.terms_in(chunk.about)
    if memory.kind == FACT:
        found: Sequence[Passage] = [
            Passage(memory.text.split("\n", 1)[0], 0, memory.place.end_line - memory.place.start_line)
        ]
    else:
        found = passages(memory.text, memory.kind)
    alone = clues.held(about, is_spaced=chunk.is_spaced)
    best, near, own = (found[0] if memory.kind == FACT else Passage("", 0, 0)), alone, (0.0, 0.0)
    for passage in found:
        folded = fold(passage.text)
        if not any(beginning in folded for beginning in beginnings):  # cutting it into terms would take longer
            best = best if best.text else passage
            continue
        terms = clues.terms_in(_terms(passage.text))
        held, by_itself = (clues.held(each, is_spaced=chunk.is_spaced) for each in (about | terms, terms))
        if (held, by_itself) > (near, own) or not best.text:
            best, near, own = passage, held, by_itself
    adds = near > alone or memory.kind == FACT
    title = f"{memory.title} {memory.heading}"
    # The first clause of a statement names its subject.
    leads = [_CLAUSE_END.split(best.text, maxsplit=1)[0], *([memory.title] if memory.kind != FACT else [])]
    start = memory.place.start_line
    place = memory.place._replace(start_line=start + best.first, end_line=start + best.last)
    return (
        signs._replace(
            strength=near[0], share=near[1],
            coverage=clues.coverage(_telling_terms(best.text if adds else title)),
            lead=max(clues.coverage(_telling_terms(each)) for each in leads),
        ),
        best.text if adds else "",
        place,
    )  # fmt: skip


@lru_cache(maxsize=8_192)  # as for `passages`
def _terms(text: str) -> tuple[str, ...]:
    return tuple(index_terms(text))


def _telling_terms(text: str) -> frozenset[str]:
    return frozenset(term for term in _terms(text) if len(term) > 1 and not is_stop_word(term))


def _is_likely(each: Recalled) -> bool:
    return each.relevance >= FLOOR


def _distinct(memories: Iterable[Recalled]) -> list[Recalled]:
    """Return the best of each note; those that are left out say why."""
    best: dict[str, Recalled] = {}
    for each in sorted(memories, key=lambda each: (-each.relevance, each.memory.path, each.memory.place.start_line)):
        best.setdefault(each.key, each)
    found = sorted(best.values(), key=lambda each: not _is_likely(each))
    count = sum(map(_is_likely, found))
    different = set(without_near_duplicates(range(count), lambda at: found[at].memory.text.casefold(), count))
    least = BESIDE_THE_BEST * found[0].relevance if found else 0.0

    def reason(at: int) -> str:
        if at >= count:
            return BELOW_FLOOR
        return ALIKE if at not in different else PALE if found[at].relevance < least else ""

    return [memory._replace(left_out=reason(at)) for at, memory in enumerate(found)]
