"""Statements that may become facts, without a model: of sessions, and of what a repository shows.

In order of what speaks for them: a command that failed and then passed; the same error in three sessions; commands
that passed three times; what the user said always or never to do, chose, set right or wished; what they reported and
the agent mended; causes that nobody contradicted. Each stands on words of its session's note; what a repository shows
is anchored to its file.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from memtool.capture.captured import read_record
from memtool.capture.checks import check_in, is_test
from memtool.capture.turns import Turn
from memtool.consolidate.corrections import corrections_in
from memtool.consolidate.fact_book import root_of
from memtool.consolidate.mending import mended_in
from memtool.consolidate.proposals import COMMAND as COMMAND_TAG, FIX, LONGEST, STACK, SURE, Proposal
from memtool.consolidate.session_views import SessionView
from memtool.consolidate.spans import Grounds, Span
from memtool.consolidate.verification import blob_of
from memtool.recall.remembering.near_duplicates import Claim, is_same, statement
from memtool.text.languages import labels, mentioned, without_openings
from memtool.text.lines import one_line, shortened, width
from memtool.text.similarity import is_said, words
from memtool.vault.authors import AGENT, COMMAND, DECISION, RULE, TOOL, USER
from memtool.vault.session_lines import Line, parse_fix, same_error
from memtool.vault.session_rows import names_something
from memtool.workspace import Workspace

_RETURNED = 0.15  # confidence that each further session brings
_MOST = 0.95
_SHORTEST_OPTION = 40  # columns of an option that names nothing: a shorter one is not understood by itself
_HEAD = 24  # characters by which a statement is known that was cut
_HALF = 0.5  # of the words of a proposal that another one of its session has
_THREE = 3  # sessions with one error, or successes of one command, that make it worth knowing
_NARROW = re.compile(
    r"(?i)(?:^|\s)(?:-run|-k|--grep|--filter|-t|--testpathpattern\S*)[\s=]|\.(?:py|ts|js|go|rs|rb)\b|::|/\S+/|[<>|]"
)


_LARGEST = 1 << 20  # bytes of a file that is looked into
_LOCKS = {
    "pnpm-lock.yaml": "pnpm", "yarn.lock": "Yarn", "package-lock.json": "npm", "bun.lock": "Bun", "bun.lockb": "Bun",
    "uv.lock": "uv", "poetry.lock": "Poetry", "Pipfile.lock": "Pipenv", "pdm.lock": "PDM", "Cargo.lock": "Cargo",
    "go.sum": "Go modules", "Gemfile.lock": "Bundler", "composer.lock": "Composer", "gradlew": "Gradle",
    "mvnw": "Maven",
}  # fmt: skip
_VERSIONS = {".nvmrc": "Node.js", ".node-version": "Node.js", ".python-version": "Python", ".ruby-version": "Ruby"}

Turns: TypeAlias = Callable[[str], Sequence[Turn]]  # of a session, by its id, as far as they are still kept


def proposals_of(work: Workspace, sessions: Sequence[SessionView]) -> list[Proposal]:
    """Return the proposals of *sessions*, oldest first, and of the repositories of their projects, without a model.

    What several sessions say is said once, with the words of all of them.
    """

    @cache
    def turns_of(session_id: str) -> Sequence[Turn]:
        return read_record(work.vault, session_id).reading.all_turns

    found = [proposal for view in sessions for proposal in _of_session(view, turns_of)]
    found = _merged([*found, *_habits(sessions, turns_of, work.language), *_friction(sessions)])
    latest = {view.project: view.date for view in sessions}
    for project, seen in sorted(latest.items()):
        if project and (root := root_of(work.vault, project)):
            found += _configuration_of(Path(root), project, seen, work.language)
    return found


def _of_session(view: SessionView, turns_of: Turns) -> Iterator[Proposal]:
    """Give the proposals of the session, the surest first; of two that say half the same only the first."""
    said: list[str] = []
    for typed in _all_of_session(view, turns_of):
        proposal = typed._replace(text=without_openings(typed.text))
        head = proposal.text[:_HEAD]  # a fix holds it, and cuts the rest
        if not (is_said(words(proposal.text), map(words, said), _HALF) or any(head in text for text in said)):
            said.append(proposal.text)
            yield proposal


def _all_of_session(view: SessionView, turns_of: Turns) -> Iterator[Proposal]:
    turns = turns_of(view.id)
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
    """Return the user's choice: question and answer, or the option's own words; empty if that is not to be told."""
    question, arrow, answer = text.partition(" → ")
    if not arrow:
        return text
    if not question.startswith('"'):
        return text if len(text) <= LONGEST and not mentioned("procedure", question) else ""
    options = [option.partition(" = ")[2] for option in answer.split("; ") if " = " in option]
    plain = [option for option in options if option and not option.endswith(("…", "?", "？"))]
    is_whole = len(options) == len(plain) == 1 and (names_something(plain[0]) or width(plain[0]) >= _SHORTEST_OPTION)
    return plain[0] if is_whole else ""


def _habits(sessions: Sequence[SessionView], turns_of: Turns, language: str) -> Iterator[Proposal]:
    """Give the build, test and deploy commands that passed three times, or in three sessions of a project."""
    passes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    shown: dict[tuple[str, str], list[tuple[SessionView, Line]]] = defaultdict(list)
    for view in sessions:
        for line in view.lines:
            if line.role == COMMAND and not (_NARROW.search(line.text) or "&&" in line.text):
                shown[view.project, line.text].append((view, line))
        runs = (run for turn in turns_of(view.id) for run in turn.runs if not run.error)
        for command in (check_in(run.command) for run in runs):
            passes[view.project, command][view.id] += 1
    words = labels("facts", language)
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
    confidence = min(_MOST, max(proposal.confidence for proposal in group) + _RETURNED * (len(sessions) - 1))
    tags = tuple(dict.fromkeys(tag for proposal in group for tag in proposal.tags))
    at = max(proposal.at for proposal in group)
    return newest._replace(spans=spans, confidence=round(confidence, 2), tags=tags, at=at)


def _configuration_of(root: Path, project: str, seen: str, language: str = "en") -> list[Proposal]:
    """Return the configuration in the files at the top of the repository *root*, as of *seen*. Nothing is run."""
    words = labels("facts", language)
    found = []
    for name, form, value in _shown(root):
        if blob := blob_of(root / name):
            text = words[form].format(value)
            evidence = words["seen"].format(name)
            found.append(
                Proposal(text, "configuration", TOOL, project, (), evidence, seen, 0.9, (STACK,), ((name, blob),))
            )
    return found


def _shown(root: Path) -> Iterator[tuple[str, str, str]]:
    for name, manager in _LOCKS.items():
        if (root / name).is_file():
            yield name, "packages", manager
    for name, what in _VERSIONS.items():
        if match := re.fullmatch(r"\s*v?([\w.-]{1,20})\s*", _text(root / name)):
            yield name, "version", f"{what} {match[1]}"
    package = _json(root / "package.json")
    scripts = package.get("scripts")
    if (
        isinstance(scripts, dict)
        and isinstance(scripts.get("test"), str)
        and "no test specified" not in scripts["test"]
    ):
        yield "package.json", "test_script", one_line(scripts["test"])[:80]
    if match := re.search(r"(?m)^go (\d[\w.]{0,10})$", _text(root / "go.mod")):
        yield "go.mod", "version", f"Go {match[1]}"
    pyproject = _toml(root / "pyproject.toml")
    project = pyproject.get("project")
    if isinstance(project, dict) and isinstance(wanted := project.get("requires-python"), str):
        yield "pyproject.toml", "version", f"Python {one_line(wanted)[:30]}"
    tool = pyproject.get("tool")
    if isinstance(tool, dict) and isinstance(tool.get("pytest"), dict):
        yield "pyproject.toml", "test_script", "pytest"


def _text(path: Path) -> str:
    with suppress(OSError):
        if path.is_file() and path.stat().st_size <= _LARGEST:
            return path.read_text(encoding="utf-8", errors="replace")
    return ""


def _json(path: Path) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        found = json.loads(_text(path) or "{}")
        return found if isinstance(found, dict) else {}
    return {}


def _toml(path: Path) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        return tomllib.loads(_text(path))
    return {}
