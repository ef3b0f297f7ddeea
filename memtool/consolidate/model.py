"""Facts that a model proposes, from the lines of the sessions of one project. Nothing is believed that no line says.

Each fact has a subject, a claim, perhaps a reason, and names its lines. It is dropped unless these hold its numbers,
its names and most of its words. A model may have been talked into anything, and may make things up by itself.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from memtool.capture.gate import Ground, content_terms, foul, ground_of, is_borne
from memtool.consolidate.proposals import LEAST_SESSIONS, LIKELY, Proposal, SessionView
from memtool.errors import ProviderFailed
from memtool.llm import Request
from memtool.llm.call_log import CallLog
from memtool.llm.chain import Chain, Clock
from memtool.memory.fact_book import FactBook
from memtool.memory.limits import LONGEST_CLAIM
from memtool.resources import agent_text
from memtool.text.identifiers import unfounded
from memtool.text.languages import all_labels, pattern_of
from memtool.text.lines import one_line, shortened, width
from memtool.text.near_duplicates import statement
from memtool.text.scripts import is_unspaced
from memtool.text.similarity import words
from memtool.text.tokens import is_stop_word
from memtool.vault.memory import AGENT, DECISION, FINDING, FIX, RULE, USER
from memtool.vault.sessions import Line, hash_of_words
from memtool.vault.state import read_state, write_state
from memtool.workspace import Workspace

PURPOSE = "facts"
_ROLES = (DECISION, RULE, FIX, FINDING)  # of lines that a fact may be made of
_CLAUSE = re.compile(r"→|[;；。，]|[,.]\s")
_CATEGORIES = ("decision", "preference", "architecture", "configuration", "code", "bug", "project")


class NamedLine(NamedTuple):
    """A line of a session, as a model sees it."""

    name: str
    view: SessionView
    line: Line


def proposals_by_model(
    work: Workspace, book: FactBook, sessions: Sequence[SessionView], problems: list[str]
) -> tuple[list[Proposal], set[str]]:
    """Return a model's proposals for each project with two sessions or more, and the sessions that it has read.

    *problems* are added to.
    """
    found, read = list[Proposal](), set[str]()
    for project in sorted({view.project for view in sessions} - {""}):
        own = [view for view in sessions if view.project == project]
        if len(own) >= LEAST_SESSIONS:
            proposals = _of_project(work, book, own, problems)
            found += proposals or []
            read |= {view.id for view in own} if proposals is not None else set()
    return found, read


def _of_project(
    work: Workspace, book: FactBook, sessions: Sequence[SessionView], problems: list[str]
) -> list[Proposal] | None:
    """Return a model's proposals; none if it has seen these lines, and None if it did not answer."""
    project, lines = sessions[0].project, named_lines(sessions)
    asked, asked_path = dict[str, str](), work.vault.state_path / "asked-for-facts.json"
    with suppress(OSError, ValueError, TypeError):  # a model is asked once about the same lines
        asked |= json.loads(read_state(asked_path, largest=1 << 20))
    mark = hash_of_words("\n".join(each.line.text for each in lines))
    if not lines or asked.get(project) == mark:
        return []
    held = [stored.fact for stored in book if stored.project == project and stored.is_current(work)]
    newest = sorted(held, key=lambda fact: fact.timestamp)[-30:]
    known = [f"KNOWN [{fact.subject}] {shortened(fact.fact, LONGEST_CLAIM)}" for fact in newest]
    settings, request = work.settings, _request_for(known, lines, secrets.token_hex(8))
    chain = Chain(settings.llm, settings.keys, CallLog(work.vault, settings.llm.daily_tokens), Clock(work.now))
    outcome = chain.complete(request, partial(read_answer, lines=lines), purpose=PURPOSE)
    if outcome.value is None:
        problems.append(f"no model distilled {project}: {'; '.join(outcome.reasons) or 'none is set up'}")
    else:
        write_state(asked_path, json.dumps(asked | {project: mark}).encode())
    return outcome.value


def named_lines(sessions: Sequence[SessionView]) -> list[NamedLine]:
    """Return the lines of *sessions* that a model is shown: of the newest ones, as many as there is room for."""
    shown: list[NamedLine] = []
    room = 16_000  # columns
    for number in range(len(sessions), 0, -1):
        view = sessions[number - 1]
        for line in view.lines:
            if line.role not in _ROLES or line.author not in (USER, AGENT):
                continue
            room -= min(LONGEST_CLAIM, width(line.text)) + 20
            if room < 0:
                break
            shown.append(NamedLine(f"S{number}.{line.number}", view, line))
    return sorted(shown, key=lambda each: [int(part) for part in each.name[1:].split(".")])


def _request_for(known: Sequence[str], lines: Sequence[NamedLine], code: str) -> Request:
    """Return the request for the facts of *lines*; *code* is random: no line can forge the marker."""
    rows = [*known]
    for name, view, line in lines:
        text = shortened(one_line(line.text), LONGEST_CLAIM)
        rows.append(f"{name} ({view.date[:10]}, {line.role}, {line.author}): {text}")
    marked = "\n".join([f"=== {code} ===", *rows, f"=== {code} ==="])
    prompt = f"The lines stand between the two lines `=== {code} ===`.\n{marked}\nAnswer with the JSON object."
    return Request(agent_text("facts-of-a-project"), prompt, max_tokens=1_000)


def read_answer(answer: str, lines: Sequence[NamedLine]) -> list[Proposal]:
    """Return the proposals in a model's *answer*, three at most, without those that its *lines* do not support.

    Raises:
        ProviderFailed: it has not the form that was asked for.
    """
    answer = answer[:50_000]
    for start in islice(re.finditer(r"\{", answer), 20):
        with suppress(ValueError, RecursionError):
            facts = json.JSONDecoder().raw_decode(answer, start.start())[0].get("facts")
            if isinstance(facts, list) and all(map(_is_fact, facts)):
                return list(_proposals(facts, {each.name: each for each in lines}))[:3]
    raise ProviderFailed("its answer has not the form that was asked for: an object with `facts`")


def _is_fact(fact: object) -> bool:
    """Return whether *fact* has the fields that a model is asked for."""
    if not isinstance(fact, dict) or fact.get("category") not in _CATEGORIES or not isinstance(fact.get("lines"), list):
        return False
    texts = [*fact["lines"], fact.get("subject"), fact.get("claim"), fact.get("why") or ""]
    return bool(fact["lines"]) and all(isinstance(text, str) for text in texts)


def _proposals(facts: Sequence[Mapping[str, Any]], lines: Mapping[str, NamedLine]) -> Iterator[Proposal]:
    for fact in facts[:12]:
        subject, claim, why = (one_line(fact.get(name) or "") for name in ("subject", "claim", "why"))
        named = [lines[name] for name in dict.fromkeys(fact["lines"]) if name in lines]
        said = [each.line.text for each in named]
        ground = ground_of(said)
        is_supported = 0 < len(claim) <= LONGEST_CLAIM and _is_supported(claim, ground) and _agree(said, claim)
        if not (named and is_supported and _is_named(subject, claim, ground)):
            continue
        whole = claim
        if why and _is_supported(why, ground):
            end, gap = ("。", "") if any(map(is_unspaced, claim)) else (".", " ")
            whole = f"{claim.rstrip('.。')}{end}{gap}{why[0].upper()}{why[1:].rstrip('.。')}{end}"
        text = whole if len(whole) <= LONGEST_CLAIM else claim
        author = USER if all(each.line.author == USER for each in named) else AGENT
        spans = tuple(dict.fromkeys(each.view.span(each.line) for each in reversed(named)))
        at = max(each.view.date for each in named)
        yield Proposal(text, fact["category"], author, named[0].view.project, spans, "", at, LIKELY, subject)


def _agree(said: Sequence[str], claim: str) -> bool:
    """Return whether each clause of *claim* affirms or denies as one of *said* that it is made of: a "not" is short.

    What a decision rejected is denied. A clause that denies twice is none.
    """
    clauses = [(_content(clause), _denies(clause)) for line in said for clause in _CLAUSE.split(line)]
    for clause in _CLAUSE.split(claim):
        shared = [(len(_content(clause) & those), denies) for those, denies in clauses]
        least = max(2, max(shared)[0] / 2)  # words that clauses about one thing share
        like = {denies for count, denies in shared if count >= least}
        if like and _denies(clause) not in like:
            return False
        if len(re.findall(pattern_of("negation"), clause, re.IGNORECASE)) > 1:
            return False
    return True


def _content(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if not is_stop_word(word))


def _denies(clause: str) -> bool:
    rejected = tuple(label.partition("{}")[0] for label in all_labels("session")["rejected"])
    return clause.strip().startswith(rejected) or statement(clause).negated


def _is_supported(text: str, ground: Ground) -> bool:
    return not (foul(text) or unfounded(text, ground.said)) and is_borne(text, ground)


def _is_named(subject: str, claim: str, ground: Ground) -> bool:
    """Return whether *claim* names its *subject*, half of whose words the lines of *ground* hold."""
    terms = content_terms(subject)
    is_short = len(subject) <= LONGEST_CLAIM // 3 and not unfounded(subject, ground.said)
    return is_short and bool(words(subject) & words(claim)) and 2 * sum(map(ground.has, terms)) >= len(terms)
