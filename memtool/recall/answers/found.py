"""What a search found, as a person or an agent reads it: each memory once, with the statements of it that answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from memtool.errors import MemtoolError
from memtool.index import limits
from memtool.index.search import snippet_of
from memtool.recall.answers.clues import Clues, clues_of
from memtool.recall.answers.likelihood import Signs, likelihood
from memtool.recall.answers.question import question_of
from memtool.recall.answers.sessions import SessionAnswer, answers_of_sessions, kept_statements, subject_of
from memtool.recall.answers.statements import Budget, candidates, choose, strength, terms_of
from memtool.text.markdown import blocks, in_code
from memtool.text.statements import statements
from memtool.vault.files import read_text
from memtool.vault.layout import DAILY
from memtool.vault.memory import DECISION, FIX, OPEN, REFUTED, RULE, SESSION, USER, Found
from memtool.vault.sessions import Line, lines_of

if TYPE_CHECKING:
    from memtool.index.tables import Tables
    from memtool.vault.layout import Vault

TRANSCRIPT = "transcript"
CHUNKS = 5  # of one note that may be hits, one of which stands for the note
LIKELY, MAYBE = 0.3, 0.05
_FITS = 0.025  # likelihood of one by the share of the question that it holds, or nothing fits
_LEAST = 0.005  # likelihood of a memory that says more than its title
_NAMED_ROLES = (DECISION, FIX, OPEN, REFUTED, RULE)  # what a reader would take for something else without its role
_READ = 12  # chunks of a long note, those around the hit
_OF_DAY = 2  # statements of a daily page, which lists one file after the other
_LABEL = r"\*\*[^*]+\*\*[:：]"  # of the files and links of a session's note


def memories(hits: Iterable[Found]) -> list[Found]:
    """Return the best of *hits* of each note and each fact, best first."""
    best: dict[str, Found] = {}
    for hit in hits:
        best.setdefault(hit.memory.id, hit)
    return list(best.values())


def answers_of(
    vault: Vault,
    db: Tables,
    text: str,
    hits: Sequence[Found],
    budget: Budget,
    *,
    is_first: bool = True,
    sources: bool = True,
) -> list[Found]:
    """Return *hits*, which are `memories`, with what answers the query *text*; none where nothing fits.

    Each may fill the share `budget.first` of the room that those before it left. Where these are not the first, others
    fitted. With *sources*, sessions say what their notes lack.
    """
    question = question_of(text)
    clues, sessions = clues_of(db, question), _notes_of_sessions(vault, hits)
    said = {answer.ref: answer for answer in answers_of_sessions(sessions, subject_of(question, clues))}
    notes = [_FoundNote(vault, db, clues, hit, said.get(hit.memory.path)) for hit in hits]
    if clues.weights and is_first and max((note.likelihood * note.share for note in notes), default=0.0) < _FITS:
        return []
    room = budget.characters
    answers = []
    for note in notes:
        part = budget._replace(characters=round(room * budget.first))
        chosen = note.said(part, with_source=sources) if note.likelihood >= _LEAST else ()
        room -= sum(len(line.text) for line in chosen)
        answers.append(note.hit._replace(statements=chosen, likelihood=note.likelihood))
    return answers


def _notes_of_sessions(vault: Vault, hits: Iterable[Found]) -> dict[str, str]:
    """Return the texts of the notes among *hits* that are of sessions, by their paths."""
    texts = {}
    for path in (hit.memory.path for hit in hits if hit.memory.kind in (SESSION, TRANSCRIPT)):
        with suppress(MemtoolError, OSError, UnicodeDecodeError):
            texts[path] = read_text(vault.path(path))[0]
    return texts


def in_words(likelihood: float) -> str:
    """Return how likely a memory answers, for a person; empty where it hardly does."""
    return "likely" if likelihood >= LIKELY else "maybe" if likelihood >= MAYBE else ""


def labelled(statements: Iterable[Line]) -> Iterator[str]:
    """Give *statements* as they are read: with what they are where it matters, below what the user had asked."""
    asked = ""
    for line in statements:
        if line.asked and line.asked != asked:
            yield f"asked: {line.asked}"
        asked = line.asked
        role = line.role if line.role in _NAMED_ROLES else ""
        author = USER if line.role and line.author == USER else ""
        said = f"{role} ({author})" if role and author else role or author
        where = " ".join(filter(None, [f"turn {line.turn}" if line.turn else "", said]))
        yield f"{where}: {line.text}" if where else line.text


class _FoundNote:
    """The note, or the fact, of a hit, and how likely it answers the question of *clues*; 1 where nothing is asked."""

    def __init__(self, vault: Vault, db: Tables, clues: Clues, hit: Found, answer: SessionAnswer | None) -> None:
        self.vault, self.db = vault, db
        self.hit = hit
        self.answer = answer
        self.weights = clues.weights
        self.rows = _chunks(db, hit) if clues.weights else []
        signs = self._signs(clues) if clues.weights else Signs(share=1.0)
        self.share, self.likelihood = signs.share, likelihood(signs) if clues.weights else 1.0

    def _signs(self, clues: Clues) -> Signs:
        hit, memory = self.hit, self.hit.memory
        all_terms = frozenset(term for *_, terms in self.rows for term in terms)
        found = hit.terms & all_terms
        # A word that was completed counts as what it became.
        completed = {word for word in clues.weights.keys() - all_terms if any(word in each for each in found)}
        held, share = max((clues.held(completed.union(terms)) for *_, terms in self.rows), default=(0.0, 0.0))
        like = max(share, _likeness(hit), float(hit.why.get("transcript", {}).get("covered", 0.0)))
        if self.answer:
            signs = self.answer.signs
            held = held if completed or not signs.strength else 0.0  # what was written into the note by hand counts
            return signs._replace(share=max(signs.share, like), strength=max(signs.strength, held))
        return Signs(
            strength=held, share=like, coverage=clues.coverage(terms_of(memory.text)),
            lead=clues.coverage(terms_of(memory.title)), is_here=1.0, scope=clues.scope,
        )  # fmt: skip

    def said(self, budget: Budget, *, with_source: bool) -> tuple[Line, ...]:
        """Return the statements that answer, as far as *budget* goes; where there is none, what was found."""
        hit, memory = self.hit, self.hit.memory
        if memory.fact_id:
            return (Line(memory.text.partition("\n")[0], author=memory.author, number=memory.place.start_line),)
        if memory.kind == DAILY:
            budget = budget._replace(statements=_OF_DAY)
        kept = []
        if with_source and self.answer:
            kept = kept_statements(self.weights, self.answer.note, self.answer.text, self.vault, self.db)
        if hit.turn:
            kept += [Line(text, author=memory.author, turn=hit.turn) for text in memory.text.split("\n")]
        lines = self._telling(budget)
        if any(candidates([*lines, *kept])) or not self.rows or budget.characters < limits.SNIPPET:
            return choose(self.weights, lines, budget, kept=kept)
        return (Line(snippet_of(hit).line, author=memory.author, number=memory.place.start_line),)

    def _telling(self, budget: Budget) -> list[Line]:
        """Return the statements that say something of the query; of a list, those of the passage that is listed.

        An answer may have other words than the question. So a note that fits into *budget* is given whole, and of a
        session more is given where the budget fills.
        """
        hit, memory = self.hit, self.hit.memory
        if not self.rows:
            listed = _lines(hit.shown or memory.text, memory.heading, hit, memory.place.start_line)
            return [line for line in listed if line.text != memory.title]
        lines = [line for said, heading, start, _ in self.rows for line in _lines(said, heading, hit, start)]
        lines = [line for line in lines if line.text != memory.title]
        is_short = len(lines) <= budget.statements and sum(len(line.text) for line in lines) <= budget.characters
        has_code = any("```" in said for said, *_ in self.rows)  # whose lines say little alone
        fills = (
            budget.fills if memory.kind in (SESSION, TRANSCRIPT) else is_short and memory.kind != DAILY and not has_code
        )
        telling = [line for line in lines if fills or strength(self.weights, line) > 0]
        return telling or lines[:1]


def _chunks(db: Tables, hit: Found) -> list[tuple[str, str, int, list[str]]]:
    """Return text, headings, first line and terms of the chunks of a note around *hit*."""
    rows = db.execute(
        "SELECT c.text, c.heading, c.start_line, l.terms"
        " FROM chunk AS c JOIN note AS n ON n.id = c.note_id JOIN term_list AS l ON l.chunk_id = c.id"
        " WHERE n.ref = ? AND c.fact_id = ? ORDER BY abs(c.start_line - ?) LIMIT ?",
        (hit.memory.path, hit.memory.fact_id, hit.memory.place.start_line, _READ),
    ).fetchall()
    read = [(text, heading, start, terms.split(" ")) for text, heading, start, terms in rows]
    return sorted(read, key=lambda row: row[2])


def _lines(text: str, heading: str, hit: Found, start: int) -> Iterator[Line]:
    """Give the statements of a chunk's *text*, which begins at the line *start* below *heading*."""
    ours = lines_of(text, heading) if hit.memory.kind in (SESSION, TRANSCRIPT) else []
    yield from (line._replace(number=line.number + start - 1) for line in ours)
    known = {line.number - 1 for line in ours}
    lines = text.split("\n")
    is_code = list(in_code(lines))
    for first, last in blocks(lines):
        if known.isdisjoint(range(first, last + 1)) and not (ours and re.match(_LABEL, lines[first])):
            between = "\n" if any(is_code[first : last + 1]) else " "  # a sentence goes on in the next line
            for said in statements(between.join(lines[first : last + 1])):
                yield Line(said.text, author=hit.memory.author, number=first + start)


def _likeness(hit: Found) -> float:
    """Return how much of what meaning can add to the score of *hit* it does add, from 0 to 1."""
    weight = 1.0 - hit.why.get("lexical_weight", 1.0)
    if weight > 0:
        return min(1.0, float(hit.why.get("by_meaning", 0.0) / weight))
    return min(1.0, float(hit.why.get("vector", {}).get("score", 0.0)))
