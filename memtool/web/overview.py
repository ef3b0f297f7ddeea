"""The pages around the feed: an overview in figures, the timeline of a project, the settings, and the log."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from memtool.capture.queue import Job, Queue
from memtool.consolidate.week import parse_week, week_of
from memtool.doctor.check import Check
from memtool.doctor.index import index_checks
from memtool.doctor.vault import content_checks
from memtool.doctor.work import work_checks
from memtool.errors import BadSetting, MemtoolError, in_words
from memtool.index.engine import place_of, use_index
from memtool.llm.call_log import usage
from memtool.settings import choices_of, shown_value
from memtool.settings.sections import ABOUT
from memtool.vault.scan import ignores, scan
from memtool.web.calls import Name, Opening, Work
from memtool.web.feed import FeedQuery, read_feed, read_projects
from memtool.web.figures import GIVEN, HEIGHT, HELD, given_in, growth_of, held_in, totals
from memtool.web.rendering import Form, attempt, rendered
from memtool.web.state_api import change_settings, latest_entries
from memtool.workspace import Workspace

router = APIRouter(include_in_schema=False)


@router.get("/timeline")
def timeline(request: Request, work: Work, wanted: Annotated[FeedQuery, Query()]) -> Response:
    """Return the timeline of a project. A part that fails shows its error in its place, here and below."""
    latest = attempt(lambda: _latest(work, "project <> ''")[1])[
        0
    ]  # looks at the vault first, so that a new project is known below
    projects = attempt(lambda: read_projects(work))[0] or []
    if wanted.project not in projects:
        wanted = wanted.model_copy(update={"project": latest or next(iter(projects), "")})
    growth, growth_fault = attempt(lambda: growth_of(work, wanted.project))
    entries, fault = attempt(lambda: read_feed(work, wanted))
    return rendered(
        request, work, "timeline.html", wanted=wanted, projects=projects, feed=entries, fault=fault,
        growth=growth or (), growth_fault=growth_fault, series=HELD, height=HEIGHT,
    )  # fmt: skip


@router.get("/log")
def log(request: Request, work: Work, level: Name = "") -> Response:
    """Return the page of the log."""
    entries, fault = attempt(lambda: [each for each in latest_entries(work) if level in ("", each.level)][:300])
    return rendered(request, work, "log.html", entries=entries or [], level=level, fault=fault)


@router.get("/overview")
def overview(request: Request, work: Work, week: Name = "") -> Response:
    """Return the page of figures."""
    today = work.now().date()
    two_weeks_ago = (today - dt.timedelta(days=14)).isoformat()
    try:
        newest = "" if week else _latest(work, "date <= ?", today.isoformat())[0]
        shown = week_of(dt.date.fromisoformat(newest)) if newest else parse_week(week or "this", today)
    except MemtoolError:
        shown = week_of(today)
    panels = {
        "totals": attempt(lambda: totals(work)),
        "held": attempt(lambda: held_in(work, shown)),
        "given": attempt(lambda: given_in(work, shown)),
        "queue": attempt(lambda: _queue(work)),
        "costs": attempt(lambda: [row for row in usage(work.vault) if row.day >= two_weeks_ago]),
    }
    after = week_of(shown.last + dt.timedelta(days=1))
    return rendered(
        request, work, "overview.html", week=shown, panels=panels, held_series=HELD, given_series=GIVEN,
        height=HEIGHT, before=week_of(shown.first - dt.timedelta(days=1)),
        after=after if after.first <= today else None,
    )  # fmt: skip


@router.get("/overview/health")
def health(request: Request, work: Work) -> Response:
    """Return the findings of the doctor on what the service uses."""
    checks, fault = attempt(lambda: list(_checks(work)))
    return rendered(request, work, "health.html", checks=checks or [], fault=fault)


def _checks(work: Workspace) -> Iterator[Check]:
    found = scan(work.vault.root, ignores(work.settings.index.ignore))
    yield from content_checks(work, found, deep=False)
    yield from work_checks(work, deep=False)
    yield from index_checks(work, found)


def _queue(work: Workspace) -> list[tuple[str, str, Job]]:
    """Return the pending and the failed sessions, with their names."""
    queue = Queue(work.vault)
    waiting = [("waiting", queue.name_of(job, work.home), job) for job in queue.waiting()]
    return [*(("parked", queue.name_of(job, work.home), job) for job in queue.parked()), *waiting]


def _latest(work: Workspace, condition: str, *parameters: str) -> tuple[str, str]:
    """Return the date and the project of the newest entry for which *condition* holds; empty if there is none."""
    query = f"SELECT date, project FROM chunk WHERE date <> '' AND {condition} ORDER BY date DESC LIMIT 1"  # noqa: S608
    row = use_index(place_of(work), lambda index: index.db.execute(query, parameters).fetchone())
    return (str(row[0]), str(row[1])) if row else ("", "")


class Field(NamedTuple):
    """A setting in the form, with its *value* as text: a list has one item on each line.

    Its *kind* is `choice`, `number`, `list` or `text`. It *is_open* if the vault's own file decides it.
    """

    key: str
    value: str
    kind: str
    help: str
    choices: tuple[str, ...]
    least: int
    origin: str
    is_open: bool

    def value_of(self, text: str) -> str | int | bool | list[str]:
        """Return the value of *text* in the form; invalid text is returned as it is, to be refused."""
        if self.kind == "list":
            return [line.strip() for line in text.split("\n") if line.strip()]
        if self.kind == "number" and text.isascii() and text.isdigit():
            return int(text)
        return text == "true" if self.choices == _YES_NO else text


_YES_NO = ("true", "false")


@router.get("/settings")
def settings(request: Request, work: Work) -> Response:
    """Return the page of the settings."""
    return _form(request, work)


@router.post("/settings")
def change(request: Request, open_workspace: Opening, form: Form) -> Response:
    """Change settings of the vault, and return their page."""
    work = open_workspace(None)
    values = {
        field.key: field.value_of(form[field.key])
        for field in _fields(work)
        if field.is_open and form.get(field.key, field.value) != field.value
    }
    try:
        change_settings(work, values)
    except MemtoolError as error:
        status = 400 if isinstance(error, BadSetting) else error.http_status
        return _form(request, work, fault=in_words(error), status=status)
    return _form(request, open_workspace(None), is_new=bool(values))


def _form(request: Request, work: Workspace, *, fault: str = "", status: int = 200, is_new: bool = False) -> Response:
    sections: dict[str, list[Field]] = {}
    for field in _fields(work):
        sections.setdefault(field.key.rpartition(".")[0] if field.is_open else "*", []).append(field)
    closed = sections.pop("*", [])
    return rendered(
        request, work, "settings.html", status=status, sections=sections, closed=closed, fault=fault, is_new=is_new
    )


def _fields(work: Workspace) -> Iterator[Field]:
    for key, about in ABOUT.items():
        value, origin = shown_value(work.settings, key), work.settings.origins.get(key, "default")
        is_own = origin in ("default", str(work.vault.settings_path))
        choices = _YES_NO if isinstance(value, bool) else () if isinstance(value, tuple) else choices_of(key)
        kind = "choice" if choices else {int: "number", tuple: "list"}.get(type(value), "text")
        text = "\n".join(value) if isinstance(value, tuple) else str(value).lower() if choices else str(value)
        yield Field(key, text, kind, about.help, choices, about.least, origin, is_own and not about.user_only)
