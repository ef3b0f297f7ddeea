"""Facts that a model proposes, from the lines of the sessions of one project. Nothing is believed that no line says.

Each fact names its lines. It is dropped if it has a number or a name that does not stand there, or shares too few words
with them: a model may have been talked into anything, and may make things up by itself.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from memtool.consolidate.proposals import LIKELY, LONGEST, Proposal
from memtool.consolidate.session_views import SessionView
from memtool.errors import ProviderFailed
from memtool.llm import Request
from memtool.llm.call_log import CallLog
from memtool.llm.chain import Chain, Clock
from memtool.memory.spans import Span
from memtool.recall.remembering.near_duplicates import statement
from memtool.resources import agent_text
from memtool.text.lines import one_line, shortened, width
from memtool.text.similarity import words
from memtool.vault.authors import AGENT, USER
from memtool.vault.session_lines import OldLine, hash_of_words
from memtool.vault.state import read_state, write_state
from memtool.workspace import Workspace

PURPOSE = "facts"
_LEAST_SESSIONS = 2  # of a project, for a model to be asked
_MOST_FACTS = 3  # of one project

_COLUMNS = 16_000  # of lines that a model is shown
_WIDEST_LINE = 300
_MAX_TOKENS = 1_000
_LONGEST_ANSWER = 50_000  # characters
_GROUNDED = 0.6  # of the words of a fact that its lines hold
_NAMED = re.compile(r"\d+(?:[.:]\d+)*|`[^`]+`|[A-Za-z_][\w-]*(?:[./_()]+[\w-]+)+|[a-z]+[A-Z]\w*|[A-Z]{2,}\w*")
_CATEGORIES = ("decision", "preference", "architecture", "configuration", "code", "bug", "project")
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["facts"],
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["text", "category", "lines"],
                "properties": {
                    "text": {"type": "string"},
                    "category": {"enum": list(_CATEGORIES)},
                    "lines": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                },
            },
        }
    },
}


class NamedLine(NamedTuple):
    """A line of a session, as a model sees it."""

    name: str
    view: SessionView
    line: OldLine


def proposals_by_model(work: Workspace, sessions: Sequence[SessionView], problems: list[str]) -> list[Proposal]:
    """Return a model's proposals for each project with two sessions or more; *problems* are added to."""
    by_project: dict[str, list[SessionView]] = {}
    for view in sessions:
        by_project.setdefault(view.project, []).append(view)
    found = []
    for project, own in sorted(by_project.items()):
        if project and len(own) >= _LEAST_SESSIONS:
            found += _of_project(work, own, problems)
    return found


def _of_project(work: Workspace, sessions: Sequence[SessionView], problems: list[str]) -> list[Proposal]:
    lines = named_lines(sessions)
    known = _asked(work)
    mark = hash_of_words("\n".join(each.line.text for each in lines))
    if not lines or known.get(sessions[0].project) == mark:
        return []
    settings, code = work.settings, secrets.token_hex(8)

    def accept(answer: str) -> list[Proposal]:
        return read_answer(answer, lines)

    log = CallLog(work.vault, settings.llm.daily_tokens)
    chain = Chain(settings.llm, settings.keys, log, Clock(work.now))
    outcome = chain.complete(_request_for(lines, code), accept, purpose=PURPOSE)
    if outcome.value is None:
        project = sessions[0].project
        problems.append(f"no model distilled {project}: {'; '.join(outcome.reasons) or 'none is set up'}")
    else:
        write_state(_asked_path(work), json.dumps(known | {sessions[0].project: mark}).encode())
    return outcome.value or []


def _asked(work: Workspace) -> dict[str, str]:
    """Return which lines of each project a model has been asked about, by their hash: it is asked once."""
    with suppress(OSError, ValueError):
        found = json.loads(read_state(_asked_path(work), largest=1 << 20))
        return found if isinstance(found, dict) else {}
    return {}


def _asked_path(work: Workspace) -> Path:
    return work.vault.state_path / "asked-for-facts.json"


def named_lines(sessions: Sequence[SessionView]) -> list[NamedLine]:
    """Return the lines of *sessions* that a model is shown: of the newest ones, as many as there is room for."""
    shown: list[NamedLine] = []
    room = _COLUMNS
    for number in range(len(sessions), 0, -1):
        view = sessions[number - 1]
        for at, line in enumerate(view.lines, 1):
            room -= min(_WIDEST_LINE, width(line.text)) + 20
            if room < 0:
                break
            shown.append(NamedLine(f"S{number}.{at}", view, line))
    return sorted(shown, key=lambda each: [int(part) for part in each.name[1:].split(".")])


def _request_for(lines: Sequence[NamedLine], code: str) -> Request:
    """Return the request for the facts of *lines*; *code* is random: no line can forge the marker."""
    told = "\n".join(
        f"{each.name} ({each.view.date[:10]}, {each.line.author}"
        f"{', ' + each.line.role if each.line.role else ''}): {shortened(one_line(each.line.text), _WIDEST_LINE)}"
        for each in lines
    )
    prompt = f"The lines stand between the two lines `=== {code} ===`.\n=== {code} ===\n{told}\n=== {code} ===\n"
    return Request(agent_text("facts-of-a-project"), f"{prompt}Answer with the JSON object.", _MAX_TOKENS)


def read_answer(answer: str, lines: Sequence[NamedLine]) -> list[Proposal]:
    """Return the proposals in a model's *answer*, without those that its *lines* do not say.

    Raises:
        ProviderFailed: it has not the form that was asked for.
    """
    from jsonschema import Draft202012Validator

    found = _object_in(answer)
    error = next(iter(Draft202012Validator(_SCHEMA).iter_errors(found)), None) if found is not None else None
    if found is None or error:
        why = one_line(error.message)[:120] if error else "it holds no JSON object"
        raise ProviderFailed(f"its answer has not the form that was asked for: {why}")
    return list(_proposals(found["facts"], {each.name: each for each in lines}))[:_MOST_FACTS]


def _proposals(facts: Sequence[Mapping[str, Any]], lines: Mapping[str, NamedLine]) -> Iterator[Proposal]:
    for fact in facts[: 4 * _MOST_FACTS]:
        text = one_line(fact["text"])
        named = [lines[name] for name in dict.fromkeys(fact["lines"]) if name in lines]
        said = [each.line.text for each in named]
        if named and len(text) <= LONGEST and _is_grounded(text, " ".join(said)) and _is_affirmed(text, said):
            author = USER if all(each.line.author == USER for each in named) else AGENT
            spans = tuple(dict.fromkeys(Span(each.view.id, each.line.text) for each in reversed(named)))
            at = max(each.view.date for each in named)
            yield Proposal(text, fact["category"], author, named[0].view.project, spans, "", at, LIKELY)


def _is_grounded(text: str, said: str) -> bool:
    """Return whether the names in *text*, and most of its words, are in what was *said*."""
    plain = said.casefold()
    if any(name.strip("`()").casefold() not in plain for name in _NAMED.findall(text)):
        return False
    told = words(text)
    return len(told & words(said)) >= _GROUNDED * len(told)


def _is_affirmed(text: str, said: Sequence[str]) -> bool:
    """Return whether *text* affirms or denies as one of the lines does that *said* it: a "not" changes no word."""
    return statement(text).negated in {statement(line).negated for line in said}


def _object_in(answer: str) -> dict[str, Any] | None:
    for start in [match.start() for match in re.finditer(r"\{", answer[:_LONGEST_ANSWER])][:20]:
        with suppress(ValueError, RecursionError):
            found, _ = json.JSONDecoder().raw_decode(answer[start:_LONGEST_ANSWER])
            if isinstance(found, dict):
                return found
    return None
