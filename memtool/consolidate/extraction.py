"""Statements of sessions that may become facts, without a model. Pure.

In order of what speaks for them: a command that failed and then passed; the same error in three sessions; commands
that passed three times; what the user said always or never to do, chose, set right or wished; what they reported and
the agent mended; causes that nobody contradicted. Each stands on words of its session's note.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from memtool.capture.checks import check_in, is_test
from memtool.capture.turns import Turn
from memtool.consolidate.corrections import corrections_in
from memtool.consolidate.evidence import Span
from memtool.consolidate.grounds import Grounds
from memtool.consolidate.mending import mended_in
from memtool.consolidate.proposals import COMMAND as COMMAND_TAG, FIX, LONGEST, SURE, Proposal
from memtool.consolidate.sessions import SessionView
from memtool.recall.remembering.near_duplicates import Claim, is_same, statement
from memtool.text.languages import labels, mentioned
from memtool.text.lines import shortened, width
from memtool.text.similarity import is_said, words
from memtool.vault.authors import AGENT, USER
from memtool.vault.session_lines import COMMAND, DECISION, RULE, Line, parse_fix, same_error
from memtool.vault.session_rows import names_something

RETURNED = 0.15  # confidence that each further session brings
_MOST = 0.95
_SHORTEST_OPTION = 40  # columns of an option that names nothing: a shorter one is not understood by itself
_HEAD = 24  # characters by which a statement is known that was cut
_HALF = 0.5  # of the words of a proposal that another one of its session has
_THREE = 3  # sessions with one error, or successes of one command, that make it worth knowing
_NARROW = re.compile(
    r"(?i)(?:^|\s)(?:-run|-k|--grep|--filter|-t|--testpathpattern\S*)[\s=]|\.(?:py|ts|js|go|rs|rb)\b|::|/\S+/|[<>|]"
)


class Context(NamedTuple):
    """What is known of a session besides its note: its *turns*, as far as they are still kept."""

    turns: Callable[[str], Sequence[Turn]]
    language: str = "en"


def proposals_in(sessions: Sequence[SessionView], context: Context) -> list[Proposal]:
    """Return what *sessions*, oldest first, propose; what several of them say is said once, with all their words."""
    found = [proposal for view in sessions for proposal in _of_session(view, context)]
    found += _habits(sessions, context)
    found += _friction(sessions)
    return _merged(found)


def _of_session(view: SessionView, context: Context) -> Iterator[Proposal]:
    """Give what the session proposes, what speaks most for itself first; of what says half the same only the first."""
    said: list[str] = []
    for proposal in _all_of_session(view, context):
        head = proposal.text[:_HEAD]  # a fix holds it, and cuts the rest
        if not (is_said(words(proposal.text), map(words, said), _HALF) or any(head in text for text in said)):
            said.append(proposal.text)
            yield proposal


def _all_of_session(view: SessionView, context: Context) -> Iterator[Proposal]:
    turns = context.turns(view.id)
    grounds = Grounds(view, turns)
    for line in view.lines:
        if line.role == RULE and line.author == USER:
            yield _proposal(view, line, line.text, "preference", SURE)
        elif line.role == DECISION and line.author == USER and (chosen := _choice(line.text)):
            yield _proposal(view, line, chosen, "decision", SURE)
        elif line.role == "fix":
            yield _proposal(view, line, line.text, "bug", SURE, tags=(FIX,))
    yield from corrections_in(view, turns, grounds)
    yield from mended_in(view, turns, grounds)


def _proposal(
    view: SessionView, line: Line, text: str, category: str, confidence: float, tags: tuple[str, ...] = ()
) -> Proposal:
    author = line.author if line.author in (USER, AGENT) else AGENT
    span = Span(view.id, line.text)
    return Proposal(text, category, author, view.project, (span,), "", view.date, confidence, tags)


def _choice(text: str) -> str:
    """Return what the user chose: question and answer, or the option's own words; empty if that is not to be told."""
    question, arrow, answer = text.partition(" → ")
    if not arrow:
        return text
    if not question.startswith('"'):
        return text if len(text) <= LONGEST and not mentioned("procedure", question) else ""
    options = [option.partition(" = ")[2] for option in answer.split("; ") if " = " in option]
    plain = [option for option in options if option and not option.endswith(("…", "?", "？"))]
    is_whole = len(options) == len(plain) == 1 and (names_something(plain[0]) or width(plain[0]) >= _SHORTEST_OPTION)
    return plain[0] if is_whole else ""


def _habits(sessions: Sequence[SessionView], context: Context) -> Iterator[Proposal]:
    """Give the build, test and deploy commands that passed three times, or in three sessions of a project."""
    passes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    shown: dict[tuple[str, str], list[tuple[SessionView, Line]]] = defaultdict(list)
    for view in sessions:
        for line in view.lines:
            if line.role == COMMAND and not (_NARROW.search(line.text) or "&&" in line.text):
                shown[view.project, line.text].append((view, line))
        runs = (run for turn in context.turns(view.id) for run in turn.runs if not run.error)
        for command in (check_in(run.command) for run in runs):
            passes[view.project, command][view.id] += 1
    words = labels("facts", context.language)
    for (project, command), lines in shown.items():
        if max(len(lines), passes[project, command].total()) < _THREE:
            continue
        kind = "tests" if is_test(command) else "deploys" if mentioned("deploying", command) else "checks"
        spans = tuple(Span(view.id, line.text) for view, line in lines)
        confidence = min(_MOST, SURE + 0.05 * (len(lines) - 1))
        text = words[kind].format(command)
        yield Proposal(text, "configuration", AGENT, project, spans, "", lines[-1][0].date, confidence, (COMMAND_TAG,))


def _friction(sessions: Sequence[SessionView]) -> Iterator[Proposal]:
    """Give the errors that were met in three sessions of a project, with what mended them last."""
    met: dict[tuple[str, str], list[tuple[SessionView, Line]]] = defaultdict(list)
    for view in sessions:
        for line in view.lines:
            if line.role == "fix" and (fix := parse_fix(line.text)):
                key = (view.project, same_error(fix.error))
                if not met[key] or met[key][-1][0] is not view:
                    met[key].append((view, line))
    for (project, _), lines in met.items():
        if len(lines) >= _THREE:
            spans = tuple(Span(view.id, line.text) for view, line in lines)
            text = shortened(lines[-1][1].text, LONGEST)
            yield Proposal(text, "bug", AGENT, project, spans, "", lines[-1][0].date, _MOST, (FIX, "friction"))


def _merged(proposals: Iterable[Proposal]) -> list[Proposal]:
    """Return *proposals* with those that say the same in one project as one, in the words of the newest."""
    groups: list[list[Proposal]] = []
    claims: list[Claim] = []
    for proposal in proposals:
        claim = statement(proposal.text)
        at = next(
            (
                at
                for at, group in enumerate(groups)
                if group[0].project == proposal.project and is_same(claim, claims[at])
            ),
            None,
        )
        if at is None:
            groups.append([proposal])
            claims.append(claim)
        else:
            groups[at].append(proposal)
    return [_one(group) for group in groups]


def _one(group: Sequence[Proposal]) -> Proposal:
    newest = max(group, key=lambda proposal: (proposal.author == USER, proposal.confidence, proposal.at))
    spans = tuple(dict.fromkeys(span for proposal in group for span in proposal.spans))
    sessions = {span.session for span in spans}
    confidence = min(_MOST, max(proposal.confidence for proposal in group) + RETURNED * (len(sessions) - 1))
    tags = tuple(dict.fromkeys(tag for proposal in group for tag in proposal.tags))
    at = max(proposal.at for proposal in group)
    return newest._replace(spans=spans, confidence=round(confidence, 2), tags=tags, at=at)
