"""The report of a week: a note in `reports/`, which searches leave out. Pure.

Its last section lists what the runs of the week changed. A later run keeps these lines and adds its own, so that a run
that changes nothing leaves the report as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from memtool.consolidate.activity import Activity
from memtool.consolidate.week import Week
from memtool.text.languages import all_labels, labels
from memtool.text.markdown import link

FOLDER = "reports"
_BAR = 20  # columns of the longest bar


def report_ref(week: Week) -> str:
    """Return the path of the report of *week*."""
    return f"{FOLDER}/{week}.md"


def render_report(
    week: Week, activity: Activity, state: Sequence[str], changes: Iterable[str], *, before: str, language: str
) -> str:
    """Return the report of *week*.

    Args:
        week: its week.
        activity: what happened.
        state: sentences on areas and facts that somebody should look at.
        changes: what this run changed, a line each.
        before: the report as it stands, whose changes are kept; empty if there is none.
        language: of its words.
    """
    words = labels("report", language)
    parts = [
        f"---\ntype: note\ndate: {week.last.isoformat()}\nsearch: no\n---\n\n# {words['title'].format(week)}",
        *_section(words["activity"], _days(activity)),
        *_section(words["files"], (_file(each) for each in activity.files)),
        *_section(words["topics"], _topics(activity)),
        *_section(words["state"], (f"- {sentence}" for sentence in state)),
        *_section(words["changes"], dict.fromkeys([*changes_in(before), *(f"- {line}" for line in changes)])),
    ]
    return "\n\n".join(parts) + "\n"


def changes_in(report: str) -> list[str]:
    """Return the lines of the changes that *report* lists, in any language."""
    titles = "|".join(map(re.escape, all_labels("report")["changes"]))
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
        yield from (f"  - {link(topic, f'../sessions/{session}.md')}" for topic, session in topics)
