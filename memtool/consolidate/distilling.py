"""Facts from sessions: what may become one, the verdict beside what is known, and their places.

Without a model a line becomes a proposal if the user decided or demanded it, or if it is a proved fix. What anyone
saved is a fact already; all else that the agent said, found or proposed is in the notes and becomes no fact.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from memtool.consolidate.proposals import ARROW, LIKELY, SURE, Judge, Judged, Proposal
from memtool.consolidate.session_views import SessionView, quotation
from memtool.errors import MemtoolError
from memtool.memory.anchors import root_of
from memtool.memory.fact_book import FactBook
from memtool.memory.spans import session_of_span
from memtool.recall.start.session_start import said_to_client
from memtool.text.languages import labels, without_openings
from memtool.text.lines import width
from memtool.text.near_duplicates import Claim, is_same, statement
from memtool.text.similarity import words
from memtool.vault.authors import DECISION, FIX, RULE, USER
from memtool.vault.facts import Fact, add, new_fact_id, supersede, update_facts
from memtool.vault.files import read_text
from memtool.vault.layout import facts_ref
from memtool.vault.marks import with_generated
from memtool.vault.sessions import Line
from memtool.workspace import Workspace

T = TypeVar("T")

PROVED = "✓"  # in the line of a fix, before what proved it
_RETURNED = 0.15  # confidence that each further session brings
_MOST = 0.95
_STEPS = 2  # of a fix, from the error to its cause, and from there to the change
_WIDEST_CHOICE = 12  # columns of what names an option and says no more: "option 2", 方案二
_CATEGORIES = {(DECISION, USER): "decision", (RULE, USER): "preference"}


def proposals_of(sessions: Sequence[SessionView], only_rules: Container[str] = ()) -> list[Proposal]:
    """Return the proposals of *sessions*, oldest first. What several say is said once, with the words of all.

    Of the sessions whose ids *only_rules* holds, rules are taken: a model has chosen among the other lines.
    """
    proposals = (
        found
        for view in sessions
        for line in view.lines
        if (line.role == RULE or view.id not in only_rules) and (found := _proposal(view, line))
    )
    return [_one(group) for group in grouped(proposals, lambda one: one.text, lambda one: one.project)]


def _proposal(view: SessionView, line: Line) -> Proposal | None:
    category = _CATEGORIES.get((line.role, line.author), "bug" if _is_proved(line) else "")
    if not category:
        return None
    told = line.text.partition(PROVED)[0].strip()  # what proved it is in the note
    text = told if category == "bug" else without_openings(_bare(line.text))
    sure = LIKELY if category == "bug" else SURE
    return Proposal(text, category, line.author, view.project, (view.span(line),), "", view.date, sure)


def _bare(text: str) -> str:
    """Return *text* without the quotation marks around all of it; of an option that was taken, that option first."""
    if match := re.fullmatch(rf"“([^“”]+)”{ARROW}(.+)", text):
        return match[2] if width(match[1]) <= _WIDEST_CHOICE else f"{match[2]} (“{match[1]}”)"
    quoted = re.fullmatch(r"“([^“”]+)”", text)
    return quoted[1] if quoted else text


def _is_proved(line: Line) -> bool:
    """Return whether *line* is a fix of which error, cause, change and proof are known."""
    return line.role == FIX and line.text.partition(PROVED)[0].count(ARROW) >= _STEPS and PROVED in line.text


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


def _one(group: Sequence[Proposal]) -> Proposal:
    newest = max(group, key=lambda proposal: (proposal.author == USER, proposal.at))
    spans = tuple(dict.fromkeys(span for proposal in group for span in proposal.spans))
    more = _RETURNED * (len({span.session for span in spans}) - 1)
    at = max(proposal.at for proposal in group)
    return newest._replace(spans=spans, confidence=round(min(_MOST, newest.confidence + more), 2), at=at)


_GAINED, _MOST = 0.5, 0.99  # of the doubt that is left, for a statement that returned


class Written(NamedTuple):
    """The outcome of a proposal in the vault: its fact, and the *other* that it replaced."""

    fate: str
    project: str
    fact: Fact
    other: Fact | None = None


Announce = Callable[[Written], None]
BeforeWriting = Callable[[Sequence[str]], None]


def judge_all(work: Workspace, book: FactBook, proposals: Sequence[Proposal]) -> list[Judged]:
    """Return the verdict on each of *proposals*, oldest first, beside the facts of *book*."""
    by_project: dict[str, list[Proposal]] = defaultdict(list)
    for proposal in proposals:
        by_project[proposal.project].append(proposal)
    return [judged for name, own in sorted(by_project.items()) for judged in _judge_project(work, book, name, own)]


def _judge_project(work: Workspace, book: FactBook, project: str, proposals: Sequence[Proposal]) -> Iterator[Judged]:
    known = [stored.fact for stored in book if stored.project in (project, "") or stored.ref == facts_ref(project)]
    judge = Judge(known, _told(work, project), work.redact)
    for proposal in sorted(proposals, key=lambda proposal: (proposal.at, -proposal.confidence)):
        judged = judge.judge(proposal)
        if judged.fate in ("new", "supersedes"):
            judge.heed(fact_of(proposal, f"new-{proposal.id}", work.language)._replace(supersedes=judged.other))
        yield judged


def _told(work: Workspace, project: str) -> list[frozenset[str]]:
    """Return the words of each line that an agent of *project* reads anyway: CLAUDE.md, MEMORY.md and the rules."""
    root = root_of(work.vault, project) if project else ""
    told = said_to_client(Path(root) if root else None, work.client_folder, work.home)
    for ref in ("MEMORY.md", f"areas/projects/{project}/rules.md"):
        with suppress(MemtoolError, OSError):
            lines = with_generated(read_text(work.vault.path(ref))[0], "").splitlines()
            told += [said for line in lines if len(said := words(line)) >= 3]
    return told


def fact_of(proposal: Proposal, fact_id: str, language: str) -> Fact:
    """Return *proposal* as a fact."""
    return Fact(
        id=fact_id,
        fact=proposal.text,
        evidence=_evidence(proposal, language),
        timestamp=proposal.at.replace(" ", "T"),
        category=proposal.category,
        subject=proposal.subject,
        source=proposal.spans[-1].source if proposal.spans else "",
        author=proposal.author,
        confidence=proposal.confidence,
        spans=tuple(span.as_field() for span in proposal.spans),
    )


def _evidence(proposal: Proposal, language: str) -> str:
    if not proposal.spans:
        return proposal.evidence or proposal.text
    quoted = quotation(proposal.spans)
    others = len({span.session for span in proposal.spans}) - 1
    return f"{quoted}, {labels('evidence', language)['more'].format(others)}" if others else quoted


def write_facts(
    work: Workspace,
    book: FactBook,
    judged: Sequence[Judged],
    announce: Announce,
    before_writing: BeforeWriting | None = None,
) -> None:
    """Write what *judged* says into the vault and *book*, a file at a time; without *before_writing* only announce it.

    *announce* is given each fact before it is written.
    """
    for ref, own in _by_file(judged).items():

        def distilled(facts: tuple[Fact, ...], ref: str = ref, own: Sequence[Judged] = own) -> tuple[Fact, ...]:
            after, written = _distilled(work, own, facts)
            if before_writing and after != facts:
                before_writing([ref])
            for each in written:
                announce(each)
            return after

        if before_writing is None:
            distilled(book.files[ref].facts if ref in book.files else ())
        elif (file := update_facts(work.vault, ref, distilled)).facts:
            book.files[ref] = file


def _by_file(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    found: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        if one.fate in ("new", "supersedes", "known"):
            found[facts_ref(one.proposal.project)].append(one)
    return found


def _distilled(
    work: Workspace, judged: Sequence[Judged], facts: tuple[Fact, ...]
) -> tuple[tuple[Fact, ...], list[Written]]:
    ids, written = dict[str, str](), list[Written]()
    for one in judged:
        proposal, other_id = one.proposal, ids.get(one.other, one.other)
        other = next((fact for fact in facts if fact.id == other_id), None)
        if one.fate == "known":
            again = _said_again(other, proposal) if other else None
            if again:
                facts = tuple(again if fact is other else fact for fact in facts)
                written.append(Written("known", proposal.project, again))
            continue
        fact = fact_of(proposal, new_fact_id(work.now, work.random), work.language)
        ids[f"new-{proposal.id}"] = fact.id
        replaced = other if other and other.status == "active" else None
        written.append(Written(one.fate, proposal.project, fact, replaced))
        facts = supersede(facts, replaced.id, fact) if replaced else add(facts, fact)
    return facts, written


def _said_again(fact: Fact, proposal: Proposal) -> Fact | None:
    """Return *fact* with more confidence, if *proposal* brings words of the user from other sessions; else None.

    The agent's own words are no evidence: it may only repeat what memory has told it.
    """
    known = {session_of_span(span) for span in fact.spans} | {fact.source.partition("#")[0]}
    fresh = [span for span in proposal.spans if span.session not in known]
    if not fresh or proposal.author != USER:
        return None
    doubt = 1 - (proposal.confidence if fact.confidence is None else fact.confidence)
    spans = (*fact.spans, *(span.as_field() for span in fresh))
    return fact._replace(spans=spans, confidence=round(min(_MOST, 1 - doubt * _GAINED), 2))


def write_dropped(work: Workspace, dropped: Sequence[Judged], before_writing: BeforeWriting) -> None:
    """Keep what a person has dropped as archived facts: so it is not proposed again, on any machine."""
    for one in dropped:
        ref = facts_ref(one.proposal.project)
        fact = fact_of(one.proposal, new_fact_id(work.now, work.random), work.language)._replace(status="archived")
        before_writing([ref])
        update_facts(work.vault, ref, partial(add, new=fact))
