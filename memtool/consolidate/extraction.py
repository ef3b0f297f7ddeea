"""Statements that may become facts, without a model: of sessions, and of what a repository shows.

What the user decided, what they said always or never to do, and commands that passed in three sessions. Each stands on
words of its session's note; what a repository shows is anchored to its file. What the agent found, mended or proposed
is in the notes and becomes no fact.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from memtool.capture.checks import is_test
from memtool.consolidate.proposals import COMMAND as COMMAND_TAG, STACK, SURE, Proposal
from memtool.consolidate.session_views import SessionView
from memtool.memory.anchors import blob_of, root_of
from memtool.memory.spans import Span
from memtool.recall.remembering.near_duplicates import Claim, is_same, statement
from memtool.text.languages import labels, mentioned, without_openings
from memtool.text.lines import one_line
from memtool.vault.authors import AGENT, COMMAND, DECISION, RULE, TOOL, USER
from memtool.vault.session_lines import OldLine
from memtool.vault.session_rows import ARROW
from memtool.workspace import Workspace

_RETURNED = 0.15  # confidence that each further session brings
_MOST = 0.95
_THREE = 3  # sessions in which a command passed, that make it worth knowing
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


def proposals_of(work: Workspace, sessions: Sequence[SessionView]) -> list[Proposal]:
    """Return the proposals of *sessions*, oldest first, and of the repositories of their projects, without a model.

    What several sessions say is said once, with the words of all of them.
    """
    found = _merged([*(one for view in sessions for one in _of_session(view)), *_habits(sessions, work.language)])
    latest = {view.project: view.date for view in sessions}
    for project, seen in sorted(latest.items()):
        if project and (root := root_of(work.vault, project)):
            found += _configuration_of(Path(root), project, seen, work.language)
    return found


def _of_session(view: SessionView) -> Iterator[Proposal]:
    for line in view.lines:
        if line.author != USER:
            continue
        if line.role == RULE:
            yield _proposal(view, line, without_openings(line.text), "preference")
        elif line.role == DECISION and not _is_of_the_moment(line.text):
            yield _proposal(view, line, without_openings(line.text), "decision")


def _proposal(view: SessionView, line: OldLine, text: str, category: str) -> Proposal:
    return Proposal(text, category, USER, view.project, (Span(view.id, line.text),), "", view.date, SURE)


def _is_of_the_moment(decision: str) -> bool:
    """Return whether *decision* only says how to go on, or takes an option that others beside it explain."""
    question, arrow, _ = decision.partition(ARROW)
    return bool(arrow) and (question.startswith('"') or bool(mentioned("procedure", question)))


def _habits(sessions: Sequence[SessionView], language: str) -> Iterator[Proposal]:
    """Give the build and test commands that passed in three sessions of a project."""
    shown: dict[tuple[str, str], list[tuple[SessionView, OldLine]]] = defaultdict(list)
    for view in sessions:
        for line in view.lines:
            if line.role == COMMAND and not (_NARROW.search(line.text) or "&&" in line.text):
                shown[view.project, line.text].append((view, line))
    words = labels("facts", language)
    for (project, command), lines in shown.items():
        if len(lines) >= _THREE:
            spans = tuple(Span(view.id, line.text) for view, line in lines)
            text = words["tests" if is_test(command) else "checks"].format(command)
            yield Proposal(text, "configuration", AGENT, project, spans, "", lines[-1][0].date, SURE, (COMMAND_TAG,))


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
