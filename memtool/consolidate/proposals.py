"""Proposals for facts: what the sessions say that may become one, and the writing of those that do.

Without a model a line becomes a proposal if the user decided or demanded it, or if it is a proved fix. What anyone
saved is a fact already; everything else that the agent said, found or proposed stays in the notes.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from memtool.errors import MemtoolError
from memtool.memory.fact_book import FactBook, Span, session_of_span
from memtool.text.frontmatter import plain_fields, split_front_matter
from memtool.text.languages import labels, without_openings
from memtool.text.lines import shortened, width
from memtool.text.near_duplicates import Claim, is_same, letters, statement
from memtool.vault.facts import Fact, add, new_fact_id, supersede, update_facts
from memtool.vault.layout import Vault, facts_ref
from memtool.vault.memory import DECISION, FIX, RULE, USER
from memtool.vault.sessions import Line, SessionNote, parse_session
from memtool.workspace import Workspace

T = TypeVar("T")
Fate: TypeAlias = Literal["new", "known", "supersedes", "review", "rejected"]

SESSIONS, ARCHIVE = "sessions", "archive/sessions"
ARROW = " → "  # in the line of a fix, before the cause or the change; in a decision, before the answer
PROVED = "✓"  # in the line of a fix, before what proved it
SURE, LIKELY = 0.8, 0.65  # confidence in what the user said in a role, and in what a model proposes
LEAST_SESSIONS = 2  # in which something counts for a project
HALF, NEARLY_ALL = 0.5, 0.8  # of the words of one text that another one has
_CATEGORIES = {(DECISION, USER): "decision", (RULE, USER): "preference"}


class SessionView(NamedTuple):
    """A session note at *ref*."""

    ref: str
    note: SessionNote

    @property
    def id(self) -> str:
        """The id of the session; of a note without one, its name."""
        return self.note.id or self.name

    @property
    def name(self) -> str:
        """The name of the file, without its suffix."""
        return self.ref.rpartition("/")[2].removesuffix(".md")

    @property
    def project(self) -> str:
        """The project that was worked on."""
        return self.note.project

    @property
    def date(self) -> str:
        """The day, and the minute where the note says it."""
        return self.note.updated or self.note.date

    @property
    def lines(self) -> tuple[Line, ...]:
        """The statements of the note."""
        return self.note.draft.lines

    def span(self, line: Line) -> Span:
        """Return where *line* is found again, by the name of the file: the note may be moved to the archive."""
        return Span(f"{self.id}#{line.turn}" if line.turn else self.id, line.text, f"{self.name}.md:{line.number}")


def read_sessions(vault: Vault, *, folder: str = SESSIONS) -> list[SessionView]:
    """Return the session notes in *folder*, oldest first, without archived ones and those that cannot be read."""
    names: list[str] = []
    with suppress(OSError, MemtoolError):
        names = os.listdir(vault.path(folder))  # noqa: PTH208  (names only)
    found: list[SessionView] = []
    for ref in (f"{folder}/{name}" for name in names if name.endswith(".md") and not name.startswith(".")):
        with suppress(MemtoolError):
            text, _ = vault.read(ref)
            if plain_fields(split_front_matter(text)[0] or "").get("status", "").casefold() != "archived":
                found.append(SessionView(ref, parse_session(text)))
    return sorted(found, key=lambda view: (view.date, view.id))


class Proposal(NamedTuple):
    """A statement that may become a fact.

    Args:
        text: one claim.
        category: of the fact.
        author: who said it.
        project: where it belongs; empty for no project.
        spans: the words that support it, the newest last.
        evidence: in words, for a reader.
        at: when it was said last, ISO.
        confidence: from 0 to 1.
        subject: what it is about, if that is named.
    """

    text: str
    category: str
    author: str
    project: str
    spans: tuple[Span, ...] = ()
    evidence: str = ""
    at: str = ""
    confidence: float = LIKELY
    subject: str = ""

    @property
    def id(self) -> str:
        """Eight digits made of its text and its project."""
        return hashlib.sha256(f"{self.project}\n{letters(self.text)}".encode("utf-8", "replace")).hexdigest()[:8]


class Judged(NamedTuple):
    """A proposal and its fate. *other* is the id of the fact that says the same, or otherwise."""

    proposal: Proposal
    fate: Fate
    reason: str = ""
    other: str = ""


def proposals_of(sessions: Sequence[SessionView], *, only_rules: Container[str] = ()) -> list[Proposal]:
    """Return the proposals of *sessions*, oldest first; a statement of several sessions is one, with all their spans.

    Of the sessions whose ids *only_rules* holds, rules are taken: a model has chosen among the other lines.
    """
    proposals = (
        found
        for view in sessions
        for line in view.lines
        if (line.role == RULE or view.id not in only_rules) and (found := _proposal(view, line))
    )
    return [_joined(group) for group in grouped(proposals, lambda one: one.text, lambda one: one.project)]


def _proposal(view: SessionView, line: Line) -> Proposal | None:
    before_proof, proved, _ = line.text.partition(PROVED)
    if line.role == FIX and proved and before_proof.count(ARROW) > 1:  # error, cause, change and proof are known
        text, category, confidence = before_proof.strip(), "bug", LIKELY
    elif category := _CATEGORIES.get((line.role, line.author), ""):
        text, confidence = without_openings(_bare(line.text)), SURE
    else:
        return None
    return Proposal(text, category, line.author, view.project, (view.span(line),), "", view.date, confidence)


def _bare(text: str) -> str:
    """Return *text* without the quotation marks around all of it; of a chosen option, that option first.

    A question of up to 12 columns only names its option, such as "option 2" or 方案二.
    """
    if match := re.fullmatch(rf"“([^“”]+)”{ARROW}(.+)", text):
        return match[2] if width(match[1]) <= 12 else f"{match[2]} (“{match[1]}”)"
    quoted = re.fullmatch(r"“([^“”]+)”", text)
    return quoted[1] if quoted else text


def grouped(items: Iterable[T], text_of: Callable[[T], str], place_of: Callable[[T], str]) -> list[list[T]]:
    """Return *items* in groups of those that say the same in one place."""
    groups: list[tuple[str, Claim, list[T]]] = []
    for item in items:
        place, claim = place_of(item), statement(text_of(item))
        same = (group for where, other, group in groups if where == place and is_same(claim, other))
        if (group := next(same, None)) is not None:
            group.append(item)
        else:
            groups.append((place, claim, [item]))
    return [group for _, _, group in groups]


def _joined(group: Sequence[Proposal]) -> Proposal:
    newest = max(group, key=lambda proposal: (proposal.author == USER, proposal.at))
    spans = tuple(dict.fromkeys(span for proposal in group for span in proposal.spans))
    confidence = _surer(newest.confidence, len({span.session for span in spans}) - 1)
    return newest._replace(spans=spans, confidence=confidence, at=max(proposal.at for proposal in group))


def _surer(confidence: float, more: int) -> float:
    """Return the *confidence* in a statement that *more* sessions repeat: each halves the doubt."""
    return round(1 - (1 - confidence) * 0.5**more, 2)


def quotation(spans: Sequence[Span]) -> str:
    """Return the newest of *spans* for a reader, with its place."""
    newest = spans[-1]
    return f'"{shortened(newest.text, 160)}" ({newest.place or newest.source})'


def fact_of(proposal: Proposal, fact_id: str, language: str) -> Fact:
    """Return *proposal* as a fact."""
    evidence = quotation(proposal.spans) if proposal.spans else proposal.evidence or proposal.text
    if (others := len({span.session for span in proposal.spans}) - 1) > 0:
        evidence = f"{evidence}, {labels('evidence', language)['more'].format(others)}"
    return Fact(
        id=fact_id,
        fact=proposal.text,
        evidence=evidence,
        timestamp=proposal.at.replace(" ", "T"),
        category=proposal.category,
        subject=proposal.subject,
        source=proposal.spans[-1].source if proposal.spans else "",
        author=proposal.author,
        confidence=proposal.confidence,
        spans=tuple(span.as_field() for span in proposal.spans),
    )


BeforeWriting = Callable[[Sequence[str]], None]


def write_facts(
    work: Workspace,
    book: FactBook,
    judged: Sequence[Judged],
    announce: Callable[[Judged, Fact, Fact | None], None],
    before_writing: BeforeWriting | None = None,
) -> None:
    """Write what *judged* says into the vault and *book*, a file at a time; without *before_writing* only announce it.

    *announce* gets each fact before it is written, and the one that it replaces.
    """
    by_file: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        if one.fate in ("new", "supersedes", "known"):
            by_file[facts_ref(one.proposal.project)].append(one)
    for ref, own in by_file.items():

        def with_ours(facts: tuple[Fact, ...], ref: str = ref, own: Sequence[Judged] = own) -> tuple[Fact, ...]:
            after, written = _with_facts(work, own, facts)
            if before_writing and after != facts:
                before_writing([ref])
            for each in written:
                announce(*each)
            return after

        if before_writing is None:
            with_ours(book.files[ref].facts if ref in book.files else ())
        elif (file := update_facts(work.vault, ref, with_ours)).facts:
            book.files[ref] = file


def _with_facts(
    work: Workspace, judged: Sequence[Judged], facts: tuple[Fact, ...]
) -> tuple[tuple[Fact, ...], list[tuple[Judged, Fact, Fact | None]]]:
    ids, written = dict[str, str](), list[tuple[Judged, Fact, Fact | None]]()
    for one in judged:
        proposal, other_id = one.proposal, ids.get(one.other, one.other)
        other = next((fact for fact in facts if fact.id == other_id), None)
        if one.fate == "known":
            if other and (again := _said_again(other, proposal)):
                facts = tuple(again if fact is other else fact for fact in facts)
                written.append((one, again, None))
            continue
        fact = fact_of(proposal, new_fact_id(work.now, work.random), work.language)
        ids[f"new-{proposal.id}"] = fact.id
        replaced = other if other and other.status == "active" else None
        written.append((one, fact, replaced))
        facts = supersede(facts, replaced.id, fact) if replaced else add(facts, fact)
    return facts, written


def _said_again(fact: Fact, proposal: Proposal) -> Fact | None:
    """Return *fact* with more confidence, if *proposal* brings words of the user from other sessions; else None.

    The agent's own words are no evidence: it may only repeat what memory gave it.
    """
    known = {session_of_span(span) for span in fact.spans} | {fact.source.partition("#")[0]}
    fresh = [span for span in proposal.spans if span.session not in known]
    if not fresh or proposal.author != USER:
        return None
    confidence = proposal.confidence if fact.confidence is None else fact.confidence
    return fact._replace(
        spans=(*fact.spans, *(span.as_field() for span in fresh)), confidence=min(_surer(confidence, 1), 0.99)
    )


def write_dropped(work: Workspace, dropped: Iterable[Judged], before_writing: BeforeWriting) -> None:
    """Keep what a person has dropped as archived facts, so that it is not proposed again on any machine."""
    for one in dropped:
        ref = facts_ref(one.proposal.project)
        fact = fact_of(one.proposal, new_fact_id(work.now, work.random), work.language)._replace(status="archived")
        before_writing([ref])
        update_facts(work.vault, ref, partial(add, new=fact))
