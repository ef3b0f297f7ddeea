"""Statements of sessions that may become facts, without a model. Pure.

In order of what speaks for them: a command that failed and then passed; the same error in three sessions; commands
that passed three times; what the user said always or never to do, chose, or wished and got; what the agent found to be
the cause of something and nobody contradicted. Each stands on words of its session's note.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from memtool.capture.checks import check_in, is_test
from memtool.capture.turns import Turn
from memtool.consolidate.evidence import Span
from memtool.consolidate.proposals import COMMAND as COMMAND_TAG, FIX, LIKELY, LONGEST, POSSIBLE, SURE, Proposal
from memtool.consolidate.sessions import SessionView
from memtool.recall.remembering.near_duplicates import Claim, is_same, statement
from memtool.text.languages import labels, mentioned, starts_with
from memtool.text.lines import shortened, width
from memtool.text.sentences import sentences
from memtool.vault.authors import AGENT, USER
from memtool.vault.fix_lines import parse_fix, same_error
from memtool.vault.session_lines import ASKED, COMMAND, DECISION, RULE, Line
from memtool.vault.session_rows import OF_LIST, names_something

RETURNED = 0.15  # confidence that each further session brings
_MOST = 0.95
_LONGEST_TYPED = 700  # columns of a prompt; a longer one holds a plan or a document
_SHORTEST_CAUSE = 60  # columns
_LISTED = re.compile(r"^\W*(?:\d{1,2}[.)、]\s*)|(?:\s+\d{1,2}[.)])$")  # the number of an item, or of the next one
_MENDING = re.compile(r"(?i)(?:bug)?fix\b")  # how the subject of such a commit begins, by convention
_COMMIT = "commit: "  # what the subject of a commit begins with in a note
_ANSWERED = re.compile(r"^[«“][^»”]{1,200}[»”]\s*")
_QUOTED = re.compile(r"[\"“「][^\"”」]{1,100}[\"”」]")
_PLACE = re.compile(r"^(?:[Ll]ine|第) ?\d+ ?行?[:：] |\s?\([\w./-]+:\d+(?:-\d+)?\)")
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
    turns = context.turns(view.id)
    for line in view.lines:
        if line.role == RULE and line.author == USER:
            yield _proposal(view, line, line.text, "preference", SURE)
        elif line.role == DECISION and line.author == USER and (chosen := _choice(line.text)):
            yield _proposal(view, line, chosen, "decision", SURE)
        elif line.role == "fix":
            yield _proposal(view, line, line.text, "bug", SURE, tags=(FIX,))
        elif line.role == ASKED:
            yield from _wishes(view, line, turns)
        elif not line.role and line.author == AGENT and (cause := _cause(line, turns)):
            yield _proposal(view, line, cause, "bug", LIKELY if line.text.startswith(_COMMIT) else POSSIBLE)


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
    return plain[0] if len(options) == len(plain) == 1 else ""


def _wishes(view: SessionView, line: Line, turns: Sequence[Turn]) -> Iterator[Proposal]:
    """Give what the user wants to be so: sentences of a prompt that they did not take back with the next one."""
    at = _turn_of(line.text, turns)
    if at is None or turns[at].pasted or width(turns[at].asked) > _LONGEST_TYPED:
        return
    turn = turns[at]
    is_correction = turn.refused or (at > 0 and turns[at - 1].verdict in ("corrected", "rejected"))
    if turn.verdict in ("rejected", "refuted") or not (turn.files or turn.runs or is_correction):
        return
    for sentence in map(_plain, sentences(turn.asked)):
        if _is_wish(sentence) and (is_correction or names_something(sentence)):
            source = Span(f"{view.id}#{at + 1}", line.text)
            confidence = LIKELY if is_correction else POSSIBLE
            yield Proposal(sentence, "preference", USER, view.project, (source,), "", view.date, confidence)


def _is_wish(sentence: str) -> bool:
    """Return whether *sentence* says how something is to be, and not that one deed is to be done."""
    if sentence.endswith(("?", "？")) or mentioned("hedge", sentence) or not mentioned("wish", sentence):
        return False
    return not any(starts_with(kind, sentence) for kind in ("continuing", "picking"))


def _plain(sentence: str) -> str:
    """Return *sentence* without the number of a list and what it quotes to answer it."""
    return _LISTED.sub("", _ANSWERED.sub("", sentence)).strip()


def _turn_of(text: str, turns: Sequence[Turn]) -> int | None:
    head = re.split(r" … |…$", text)[0]
    return next((at for at, turn in enumerate(turns) if head and turn.asked.startswith(head)), None)


def _cause(line: Line, turns: Sequence[Turn]) -> str:
    """Return why something was so, or what mended it, if *line* says that in a turn that nobody came back to."""
    text = _PLACE.sub("", re.sub(rf"^{OF_LIST}", "", line.text))
    if text.startswith(_COMMIT):
        subject = text.removeprefix(_COMMIT)
        return subject if _MENDING.match(subject) or starts_with("explaining", subject) else ""
    at = _turn_of(line.asked, turns) if line.asked else 0
    if width(text) < _SHORTEST_CAUSE or at is None or at >= len(turns) or not names_something(text):
        return ""
    said, turn = _QUOTED.sub("", text), turns[at]
    is_cause = bool(mentioned("cause", said)) or (bool(turn.files) and bool(mentioned("explaining", said)))
    is_list = said.count("; ") > 1
    return text if is_cause and not is_list and turn.verdict in ("", "confirmed", "went on") else ""


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
