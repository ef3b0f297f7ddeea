"""The report of a week: what happened in it, as a note in `reports/`, which searches leave out.

Its last section lists what the runs of the week changed. A later run keeps these lines and adds its own, so that a run
that changes nothing leaves the report as it is.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from memtool.consolidate.session_views import SessionView
from memtool.consolidate.week import Week
from memtool.errors import MemtoolError
from memtool.memory.fact_book import FactBook, stands
from memtool.recall.given_now import never_used
from memtool.recall.uses import fates_between, sums_of
from memtool.text.frontmatter import split_front_matter
from memtool.text.languages import all_labels, labels
from memtool.text.markdown import link
from memtool.vault.daily import DailyEntry, names_of, parse_daily
from memtool.vault.files import read_text
from memtool.vault.generated_part import with_generated
from memtool.vault.layout import Vault
from memtool.workspace import Workspace

FOLDER = "reports"
_BAR = 20  # columns of the longest bar
_MOST_FILES = 10


class Activity(NamedTuple):
    """The figures of a week.

    Args:
        days: edits (a file in a minute) and sessions of each day.
        files: project and path of the files that were edited most, with how often.
        topics: the titles of each project's sessions, with their paths, newest first.
    """

    days: dict[dt.date, tuple[int, int]]
    files: list[tuple[str, str, int]]
    topics: dict[str, list[tuple[str, str]]]

    @property
    def is_empty(self) -> bool:
        """Whether nothing happened."""
        return not self.topics and not any(edits for edits, _ in self.days.values())


def activity_of(
    week: Week, entries: Mapping[dt.date, Sequence[DailyEntry]], sessions: Iterable[SessionView]
) -> Activity:
    """Return the activity of *week*, from the *entries* of its daily notes and from all *sessions*. Pure."""
    own = [view for view in sessions if week.holds(view.date)]
    days = {
        day: (
            sum(len(entry.files) for entry in entries.get(day, ())),
            sum(view.date[:10] == day.isoformat() for view in own),
        )
        for day in week.days()
    }
    counts = Counter(
        (entry.project, file) for day in week.days() for entry in entries.get(day, ()) for file in entry.files
    )
    files = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST_FILES]
    topics: dict[str, list[tuple[str, str]]] = {}
    for view in sorted(own, key=lambda view: (view.project, view.date), reverse=True):
        topics.setdefault(view.project, []).append((view.note.draft.title, view.ref))
    return Activity(days, [(project, file, count) for (project, file), count in files], dict(sorted(topics.items())))


def read_entries(vault: Vault, days: Iterable[dt.date]) -> dict[dt.date, tuple[DailyEntry, ...]]:
    """Return the edits that the daily notes of *days* tell of; archived ones, too."""
    found: dict[dt.date, tuple[DailyEntry, ...]] = {}
    for day in days:
        for name in names_of(day):
            for folder in (vault.daily, f"archive/{vault.daily}"):
                with suppress(OSError, MemtoolError):
                    found[day] = found.get(day, ()) + parse_daily(read_text(vault.path(f"{folder}/{name}"))[0])
                    break
    return found


def to_look_at(work: Workspace, book: FactBook, sessions: Sequence[SessionView]) -> list[str]:
    """Return a sentence for each area whose summary says nothing, and for the facts that need a look."""
    words = labels("facts", work.language)
    areas = sorted({view.project for view in sessions} - {""})
    found = [words["empty"].format(area) for area in areas if not _says_something(work.vault, area)]
    due = [stored for stored in book if stored.fact.status == "active" and stored.fact.review]
    found += [words["review"].format(stored.fact.fact, stored.fact.id, stored.fact.review) for stored in due]
    over = sum(stored.fact.status == "active" and not stands(stored, work) for stored in book)
    return [*found, words["expired"].format(over)] if over else found


def _says_something(vault: Vault, project: str) -> bool:
    with suppress(MemtoolError, OSError):
        text = with_generated(read_text(vault.path(f"areas/projects/{project}/summary.md"))[0], "")
        body = text.split("\n")[split_front_matter(text)[1] - 1 :]
        return any(line.strip() and not line.startswith("#") for line in body)
    return False


def came_of_given(work: Workspace, week: Week) -> list[str]:
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
    week: Week,
    activity: Activity,
    state: Sequence[str],
    changes: Iterable[str],
    *,
    before: str,
    language: str,
    given: Sequence[str] = (),
) -> str:
    """Return the report of *week*.

    Args:
        week: its week.
        activity: what happened.
        state: sentences on areas and facts that somebody should look at.
        changes: what this run changed, a line each.
        before: the report as it stands, whose changes are kept; empty if there is none.
        language: of its words.
        given: sentences on what sessions were given; without any, what *before* says of that is kept: another machine
            may have written it.
    """
    words = labels("report", language)
    parts = [
        f"---\ntype: note\ndate: {week.last.isoformat()}\nsearch: no\n---\n\n# {words['title'].format(week)}",
        *_section(words["activity"], _days(activity)),
        *_section(words["files"], (_file(each) for each in activity.files)),
        *_section(words["topics"], _topics(activity)),
        *_section(words["given"], list(map("- {}".format, given)) or _listed_in(before, "given")),
        *_section(words["state"], (f"- {sentence}" for sentence in state)),
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


def _days(activity: Activity) -> Iterator[str]:
    most = max((edits for edits, _ in activity.days.values()), default=0)
    if activity.is_empty:
        return
    yield from (
        "```text",
        *(_day(day.isoformat(), edits, sessions, most) for day, (edits, sessions) in activity.days.items()),
    )
    yield "```"


def _day(day: str, edits: int, sessions: int, most: int) -> str:
    bar = "█" * round(_BAR * edits / most) if most else ""
    return f"{day}  {edits:4}  {sessions:3}  {bar}".rstrip()


def _file(each: tuple[str, str, int]) -> str:
    project, file, count = each
    name = f"**{project}** " if project else ""
    return f"- {name}`{file}` ({count})"


def _topics(activity: Activity) -> Iterator[str]:
    for project, topics in activity.topics.items():
        yield f"- **{project or '–'}** ({len(topics)})"
        yield from (f"  - {link(topic, f'../{ref}')}" for topic, ref in topics)
