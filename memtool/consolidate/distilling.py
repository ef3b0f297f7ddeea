"""Proposals beside what is known: which become facts, and these in their places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from memtool.consolidate.proposals import COMMAND, Judge, Judged, Proposal
from memtool.errors import MemtoolError
from memtool.memory.anchors import root_of
from memtool.memory.fact_book import FactBook
from memtool.recall.start.session_start import said_to_client
from memtool.text.languages import labels
from memtool.text.lines import shortened
from memtool.text.similarity import words
from memtool.vault.authors import USER
from memtool.vault.facts import Fact, add, new_fact_id, supersede, update_facts
from memtool.vault.files import read_text
from memtool.vault.layout import facts_ref
from memtool.workspace import Workspace

_WIDEST_EVIDENCE = 160  # columns of the words that a fact stands on
_GAINED, _MOST = 0.5, 0.99  # of the doubt that is left, for a statement that returned


class Written(NamedTuple):
    """The outcome of a proposal in the vault: the id of its fact, and of the *other* that it replaced."""

    fate: str
    project: str
    id: str
    text: str
    other: str = ""


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
            judge.heed(fact_of(proposal, f"new-{proposal.id}", ""))
        yield judged


def _told(work: Workspace, project: str) -> list[frozenset[str]]:
    """Return the words of each line that an agent of *project* reads anyway: CLAUDE.md, MEMORY.md and the rules."""
    root = root_of(work.vault, project) if project else ""
    told = said_to_client(Path(root) if root else None, work.client_folder, work.home)
    for ref in ("MEMORY.md", f"areas/projects/{project}/rules.md"):
        with suppress(MemtoolError, OSError):
            lines = read_text(work.vault.path(ref))[0].splitlines()
            told += [said for line in lines if len(said := words(line)) >= 3]
    return told


def fact_of(proposal: Proposal, fact_id: str, evidence: str) -> Fact:
    """Return *proposal* as a fact."""
    newest = proposal.spans[-1].source if proposal.spans else ""
    return Fact(
        id=fact_id,
        fact=proposal.text,
        evidence=evidence or proposal.evidence or proposal.text,
        timestamp=proposal.at.replace(" ", "T"),
        category=proposal.category,
        tags=proposal.tags,
        source=newest,
        author=proposal.author,
        confidence=proposal.confidence,
        anchors=tuple({"path": path, "blob": blob} for path, blob in proposal.anchors),
        spans=tuple(span.as_field() for span in proposal.spans),
    )


def write_facts(
    work: Workspace,
    judged: Sequence[Judged],
    before_writing: Callable[[Sequence[str]], None],
    tell: Callable[[Written], None],
    *,
    dry: bool,
) -> None:
    """Write what *judged* says into the vault, a file at a time. *tell* is given each fact before it is written.

    A *dry* one only tells.
    """
    by_ref: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        if one.fate in ("new", "supersedes", "known"):
            by_ref[facts_ref(one.proposal.project)].append(one)
    for ref, own in by_ref.items():
        if dry:
            for one in own:
                if one.fate != "known":
                    tell(Written(one.fate, one.proposal.project, one.proposal.id, one.proposal.text, one.other))
        else:
            update_facts(work.vault, ref, partial(_distilled, work, ref, own, before_writing, tell))


def _distilled(
    work: Workspace,
    ref: str,
    judged: Sequence[Judged],
    before_writing: Callable[[Sequence[str]], None],
    tell: Callable[[Written], None],
    facts: tuple[Fact, ...],
) -> tuple[Fact, ...]:
    after, ids, written = facts, dict[str, str](), list[Written]()
    for one in judged:
        after = _with(after, one, work, ids, written)
    if after != facts:
        before_writing([ref])
    for each in written:
        tell(each)
    return after


def write_dropped(work: Workspace, dropped: Sequence[Judged], before_writing: Callable[[Sequence[str]], None]) -> None:
    """Keep what a person has dropped as archived facts: so it is not proposed again, on any machine."""
    for one in dropped:
        proposal, ref = one.proposal, facts_ref(one.proposal.project)
        fact = fact_of(proposal, new_fact_id(work.now, work.random), _evidence(proposal, work.language))
        before_writing([ref])
        update_facts(work.vault, ref, lambda facts, fact=fact: (*facts, fact._replace(status="archived")))  # type: ignore[misc]


def _with(
    facts: tuple[Fact, ...], judged: Judged, work: Workspace, ids: dict[str, str], written: list[Written]
) -> tuple[Fact, ...]:
    proposal = judged.proposal
    other = ids.get(judged.other, judged.other)
    if judged.fate == "known":
        return _said_again(facts, other, proposal, written)
    fact = fact_of(proposal, new_fact_id(work.now, work.random), _evidence(proposal, work.language))
    ids[f"new-{proposal.id}"] = fact.id
    is_here = any(one.id == other and one.status == "active" for one in facts)
    written.append(Written(judged.fate, proposal.project, fact.id, fact.fact, other if is_here else ""))
    return supersede(facts, other, fact) if is_here else add(facts, fact)


def _said_again(facts: tuple[Fact, ...], fact_id: str, proposal: Proposal, written: list[Written]) -> tuple[Fact, ...]:
    """Return *facts* with more confidence in *fact_id*, if *proposal* brings words of other sessions.

    The agent's own words are no evidence: it may only repeat what memory has told it.
    """
    at = next((at for at, fact in enumerate(facts) if fact.id == fact_id), None)
    if at is None:
        return facts
    if proposal.anchors:
        return _shown_again(facts, at, proposal)
    known = {str(span["source"]).partition("#")[0] for span in facts[at].spans} | {facts[at].source.partition("#")[0]}
    fresh = [span for span in proposal.spans if span.session not in known]
    if not fresh or not (proposal.author == USER or COMMAND in proposal.tags):
        return facts
    sure = facts[at].confidence
    doubt = 1 - (proposal.confidence if sure is None else sure)
    more = facts[at]._replace(
        spans=(*facts[at].spans, *(span.as_field() for span in fresh)),
        confidence=round(min(_MOST, 1 - doubt * _GAINED), 2),
    )
    written.append(Written("known", proposal.project, fact_id, more.fact))
    return (*facts[:at], more, *facts[at + 1 :])


def _shown_again(facts: tuple[Fact, ...], at: int, proposal: Proposal) -> tuple[Fact, ...]:
    """Return *facts* with the file as it is now behind the one at *at*, which a repository still shows."""
    anchors = fact_of(proposal, "", "").anchors
    if facts[at].author != proposal.author or facts[at].anchors == anchors:
        return facts
    return (*facts[:at], facts[at]._replace(anchors=anchors, review=""), *facts[at + 1 :])


def _evidence(proposal: Proposal, language: str) -> str:
    if proposal.evidence or not proposal.spans:
        return proposal.evidence
    form = labels("evidence", language)
    newest = proposal.spans[-1]
    told = f'"{shortened(newest.text, _WIDEST_EVIDENCE)}" ({form["session"].format(newest.source)})'
    others = len({span.session for span in proposal.spans}) - 1
    return f"{told}, {form['more'].format(others)}" if others else told
