"""What is worth reading at each start: decisions and rules that hold, with their dates, and commands that prove."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from memtool.consolidate.session_views import SessionView
from memtool.memory.fact_book import FactBook, StoredFact, stands
from memtool.recall.remembering.near_duplicates import is_same, statement
from memtool.text.languages import labels
from memtool.vault.authors import COMMAND
from memtool.workspace import Workspace

_LARGEST = 1_000  # characters of a generated section
_MOST_OF_A_KIND, _MOST_COMMANDS = 6, 3
_LEAST_SESSIONS = 2  # in which a command passed


def shared_section(book: FactBook, work: Workspace) -> str:
    """Return the section of rules and decisions that hold in two projects or more."""
    held = [stored for stored in _holding(book, work, "preference", "decision") if stored.project]
    lines = list(_shared(held))
    return _section(labels("facts", work.language)["ways"], lines) if lines else ""


def _shared(held: Sequence[StoredFact]) -> Iterator[str]:
    groups: list[list[StoredFact]] = []
    for stored in held:
        claim = statement(stored.fact.fact)
        same = (group for group in groups if is_same(claim, statement(group[0].fact.fact)))
        if group := next(same, None):
            group.append(stored)
        else:
            groups.append([stored])
    for group in groups:
        if len(projects := {stored.project for stored in group}) > 1:
            yield _line(group[0], ", ".join(sorted(projects)))


def project_section(book: FactBook, project: str, sessions: Sequence[SessionView], work: Workspace) -> str:
    """Return the section of the decisions and rules that hold in *project*, and of the commands that prove."""
    names = labels("session", work.language)
    parts = []
    for name, category in (("decisions", "decision"), ("rules", "preference")):
        held = [stored for stored in _holding(book, work, category) if stored.project == project]
        parts += [_section(names[name], [_line(stored) for stored in held[:_MOST_OF_A_KIND]])] if held else []
    if commands := _proving(sessions):
        parts.append(_section(names["commands"], [f"- `{command}`" for command in commands]))
    return "\n\n".join(parts)


def _holding(book: FactBook, work: Workspace, *categories: str) -> list[StoredFact]:
    """Return the facts of *categories* that hold, the newest first."""
    held = [stored for stored in book if stands(stored, work) and stored.fact.category in categories]
    return sorted(held, key=lambda stored: (stored.fact.timestamp, stored.fact.id), reverse=True)


def _line(stored: StoredFact, *about: str) -> str:
    return f"- {stored.fact.fact} ({', '.join([*about, stored.fact.timestamp[:10]])})"


def _proving(sessions: Sequence[SessionView]) -> list[str]:
    """Return the commands that passed in most of *sessions*, and last, if in more than one."""
    passed = Counter(line for view in sessions for line in {each.text for each in view.lines if each.role == COMMAND})
    last = {each.text: view.date for view in sessions for each in view.lines if each.role == COMMAND}
    often = [command for command, count in passed.items() if count >= _LEAST_SESSIONS]
    return sorted(often, key=lambda command: (passed[command], last[command], command), reverse=True)[:_MOST_COMMANDS]


def _section(title: str, lines: Sequence[str]) -> str:
    return f"## {title}\n\n" + "\n".join(within(lines, _LARGEST))


def within(lines: Sequence[str], room: int) -> list[str]:
    """Return as many of *lines*, from the first on, as have *room* characters."""
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept
