"""The pages of a run: the report of a week, in `reports/`, and what MEMORY.md and the summaries have for each start.

The last section of a report lists what the runs of the week changed. A later run keeps these lines and adds its own, so
that a run that changes nothing leaves the report as it is. The next run takes over the lines of one that was killed.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate

from memtool.consolidate.proposals import LEAST_SESSIONS, Judged, SessionView, grouped
from memtool.consolidate.review import FOLDER
from memtool.consolidate.week import Week
from memtool.errors import MemtoolError
from memtool.memory.fact_book import FactBook, StoredFact
from memtool.memory.given_now import never_used
from memtool.recall.uses import fates_between, sums_of
from memtool.text.frontmatter import split_front_matter
from memtool.text.languages import all_labels, labels
from memtool.text.markdown import link
from memtool.vault.daily import DailyEntry, listed_entries, names_of
from memtool.vault.facts import Fact
from memtool.vault.layout import Vault
from memtool.vault.marks import with_generated
from memtool.vault.memory import COMMAND
from memtool.vault.state import append_state, make_state_folder, read_state
from memtool.workspace import Workspace


def _entries_of(vault: Vault, day: dt.date) -> Iterator[DailyEntry]:
    """Give the edits in the daily notes of *day*, also in archived ones."""
    for name in names_of(day):
        for folder in (vault.daily, f"archive/{vault.daily}"):
            with suppress(MemtoolError):
                yield from listed_entries(vault.read(f"{folder}/{name}")[0])
                break


def _to_look_at(work: Workspace, book: FactBook, sessions: Sequence[SessionView]) -> list[str]:
    """Return a sentence for each area whose summary says nothing, and for the facts that need a look."""
    words = labels("facts", work.language)
    areas = sorted({view.project for view in sessions} - {""})
    found = [words["empty"].format(area) for area in areas if not _says_something(work.vault, area)]
    due = [stored for stored in book if stored.fact.status == "active" and stored.fact.review]
    found += [words["review"].format(stored.fact.fact, stored.fact.id, stored.fact.review) for stored in due]
    over = sum(stored.fact.status == "active" and not stored.is_current(work) for stored in book)
    return [*found, words["expired"].format(over)] if over else found


def _says_something(vault: Vault, project: str) -> bool:
    with suppress(MemtoolError):
        text = with_generated(vault.read(f"areas/projects/{project}/summary.md")[0], "")
        body = text.split("\n")[split_front_matter(text)[1] - 1 :]
        return any(line.strip() and not line.startswith("#") for line in body)
    return False


def _came_of_given(work: Workspace, week: Week) -> list[str]:
    """Return sentences on what became of the lines that the sessions of *week* were given on this machine."""
    words, first, last = labels("report", work.language), week.first.isoformat(), week.last.isoformat()
    sums = None
    with suppress(MemtoolError):  # there may be no folder for an index
        sums = sums_of(fates_between(work.index_folder, first, last))
    if sums is None or sums.arrived is None:
        return []
    never = (words["never_used"].format(text, ref) for text, ref in never_used(work, first, last))
    return [words["came_of"].format(**sums._asdict()), *never]


def report_ref(week: Week) -> str:
    """Return the path of the report of *week*."""
    return f"{FOLDER}/{week}.md"


def render_report(
    work: Workspace,
    week: Week,
    book: FactBook,
    sessions: Sequence[SessionView],
    changes: Sequence[str],
    *,
    before: str,
) -> str:
    """Return the report of *week*; empty if nothing happened, and there was none *before*.

    Args:
        work: whose daily notes hold the edits.
        week: its week.
        book: facts, some of which a person should look at.
        sessions: all of them.
        changes: what this run changed, a line each.
        before: the report so far, whose changes are kept; also its lines on the memories that sessions were given, if
            this machine has none: another one may have written it.
    """
    words, own = labels("report", work.language), [view for view in sessions if week.holds(view.date)]
    entries = {day: list(_entries_of(work.vault, day)) for day in week.days()}
    if not (own or any(entries.values()) or changes or before):
        return ""
    parts = [
        f"---\ntype: note\ndate: {week.last.isoformat()}\nsearch: no\n---\n\n# {words['title'].format(week)}",
        *_section(words["activity"], _days(entries, own)),
        *_section(words["files"], _files(entries)),
        *_section(words["topics"], _topics(own)),
        *_section(words["given"], list(map("- {}".format, _came_of_given(work, week))) or _listed_in(before, "given")),
        *_section(words["state"], map("- {}".format, _to_look_at(work, book, sessions))),
        *_section(words["changes"], dict.fromkeys([*_listed_in(before, "changes"), *map("- {}".format, changes)])),
    ]
    return "\n\n".join(parts) + "\n"


def _listed_in(report: str, section: str) -> list[str]:
    """Return the lines that *report* lists in one of its sections, in any language."""
    titles = "|".join(map(re.escape, all_labels("report")[section]))
    match = re.search(rf"(?ms)^## (?:{titles})\n\n(.*?)(?=^## |\Z)", report)
    return [line for line in match[1].splitlines() if line.startswith("- ")] if match else []


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    if body := "\n".join(lines):
        yield f"## {title}\n\n{body}"


def _days(entries: Mapping[dt.date, Sequence[DailyEntry]], sessions: Sequence[SessionView]) -> Iterator[str]:
    """Give a line for each day: its edits (a file in a minute), its sessions, and a bar."""
    edits = {day: sum(len(entry.files) for entry in own) for day, own in entries.items()}
    most = max(edits.values())
    if not (most or sessions):
        return
    yield "```text"
    for day, count in edits.items():
        bar = "█" * round(20 * count / most) if most else ""
        held = sum(view.date[:10] == day.isoformat() for view in sessions)
        yield f"{day.isoformat()}  {count:4}  {held:3}  {bar}".rstrip()
    yield "```"


def _files(entries: Mapping[dt.date, Sequence[DailyEntry]]) -> Iterator[str]:
    """Give the files that were edited most, with how often."""
    counts = Counter((entry.project, file) for own in entries.values() for entry in own for file in entry.files)
    for (project, file), count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:10]:
        yield f"- {f'**{project}** ' if project else ''}`{file}` ({count})"


def _topics(sessions: Sequence[SessionView]) -> Iterator[str]:
    """Give the titles of each project's sessions, newest first."""
    for project in sorted({view.project for view in sessions}):
        own = sorted((view for view in sessions if view.project == project), key=lambda view: view.date, reverse=True)
        yield f"- **{project or '–'}** ({len(own)})"
        yield from (f"  - {link(view.note.draft.title, f'../{view.ref}')}" for view in own)


def shared_section(book: FactBook, work: Workspace) -> str:
    """Return the section of rules and decisions that hold in two projects or more."""
    held = [stored for stored in _holding(book, work, "preference", "decision") if stored.project]
    groups = grouped(held, lambda stored: stored.fact.fact, lambda _: "")
    places = [(group[0], sorted({stored.project for stored in group})) for group in groups]
    lines = [_line(stored, ", ".join(projects)) for stored, projects in places if len(projects) > 1]
    return _part(labels("facts", work.language)["ways"], lines) if lines else ""


def project_section(book: FactBook, project: str, sessions: Sequence[SessionView], work: Workspace) -> str:
    """Return the section of the decisions and rules of *project*, and of the commands that passed in most sessions."""
    names = labels("session", work.language)
    parts = []
    for name, category in (("decisions", "decision"), ("rules", "preference")):
        held = [stored for stored in _holding(book, work, category) if stored.project == project]
        parts += [_part(names[name], [_line(stored) for stored in held[:6]])] if held else []
    passed = Counter(line for view in sessions for line in {each.text for each in view.lines if each.role == COMMAND})
    last = {each.text: view.date for view in sessions for each in view.lines if each.role == COMMAND}
    often = [command for command, count in passed.items() if count >= LEAST_SESSIONS]
    if commands := sorted(often, key=lambda each: (passed[each], last[each], each), reverse=True)[:3]:
        parts.append(_part(names["commands"], [f"- `{command}`" for command in commands]))
    return "\n\n".join(parts)


def _holding(book: FactBook, work: Workspace, *categories: str) -> list[StoredFact]:
    """Return the facts of *categories* that hold, the newest first."""
    held = [stored for stored in book if stored.is_current(work) and stored.fact.category in categories]
    return sorted(held, key=lambda stored: (stored.fact.timestamp, stored.fact.id), reverse=True)


def _line(stored: StoredFact, *about: str) -> str:
    return f"- {stored.fact.fact} ({', '.join([*about, stored.fact.timestamp[:10]])})"


def _part(title: str, lines: Sequence[str]) -> str:
    """Return as many of *lines*, from the first on, as 1,000 characters hold."""
    ends = accumulate(len(line) + 1 for line in lines)
    return f"## {title}\n\n" + "\n".join(line for line, end in zip(lines, ends, strict=True) if end <= 1_000)


class ChangeLines:
    """What the runs of a *week* have changed that are in no report yet; a *dry* run keeps nothing."""

    def __init__(self, work: Workspace, week: Week, known: Collection[str], *, dry: bool) -> None:
        self._words = labels("report", work.language)
        self._path = None if dry else work.vault.state_path / f"changes-{week}"
        self._moved: dict[str, str] = {}  # the notes that went to the archive, and the day of each
        self.lines: list[str] = []
        for line, fact_id, moved in self._read():
            if line and (not fact_id or fact_id in known):
                self.lines.append(line)
            self._moved |= {ref: day for ref, day in moved.items() if not work.vault.path(ref).exists()}

    def say(self, form: str, *values: str, fact_id: str = "") -> None:
        """Note the line of that *form* with *values*; *fact_id* is that of the fact that it announces."""
        line = self._words[form].format(*values)
        if line not in self.lines:
            self.lines.append(line)
            self._note(line, fact_id, {})

    def say_fact(self, judged: Judged, fact: Fact, old: Fact | None) -> None:
        """Note the line about a *fact* that is about to be written, in the place of the *old* one."""
        values = [judged.proposal.project or "–", fact.fact, fact.id]
        if judged.fate == "known":
            self.say("known", fact.id, fact_id=fact.id)
        elif old:
            self.say("superseded", *values, old.id, old.timestamp[:10], fact.timestamp[:10], fact_id=fact.id)
        else:
            self.say("new", *values, fact_id=fact.id)

    def note_moves(self, moves: Mapping[str, str]) -> None:
        """Note the notes that are about to go to the archive, with the day of each."""
        if moves:
            self._note("", "", moves)

    def say_moves(self, moved: Mapping[str, str]) -> None:
        """Note the line about the notes that went to the archive, those of a run that was cut off as well."""
        self._moved |= moved
        if self._moved:
            self.say("archived", str(len(self._moved)), min(self._moved.values()))

    def end(self) -> None:
        """Forget all of it: the report says it."""
        if self._path:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _note(self, *row: object) -> None:
        if self._path:
            with suppress(OSError):
                make_state_folder(self._path.parent / "locks")
                append_state(self._path, json.dumps(row).encode() + b"\n")

    def _read(self) -> Iterator[tuple[str, str, dict[str, str]]]:
        with suppress(OSError):
            for row in read_state(self._path, largest=16 << 20).split(b"\n") if self._path else ():
                with suppress(ValueError, RecursionError):
                    match json.loads(row):
                        case [str(line), str(fact_id), dict(moved)]:
                            yield line, fact_id, {str(ref): str(day) for ref, day in moved.items()}
