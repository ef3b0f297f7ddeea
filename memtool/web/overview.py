"""The pages around the feed: an overview in figures, the timeline of a project, and the log."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Annotated

from fastapi import FastAPI, Query, Request
from fastapi.responses import Response

from memtool.capture.log import LogEntry, read_log
from memtool.capture.queue import Job, Queue
from memtool.consolidate.week import Week, parse_week, week_of
from memtool.doctor.check import Check
from memtool.doctor.index import index_checks
from memtool.doctor.vault import content_checks
from memtool.doctor.work import capture_checks, model_checks, schedule_checks
from memtool.errors import MemtoolError
from memtool.index.engine import place_of, use_index
from memtool.llm.call_log import Usage, usage
from memtool.web.calls import LONGEST_NAME, OpenWorkspace
from memtool.web.feed import Wanted, read_part, read_projects
from memtool.web.figures import GIVEN, HEIGHT, HELD, given_in, growth_of, held_in, totals
from memtool.web.rendering import attempt, rendered
from memtool.web.settings_page import add_settings_page
from memtool.workspace import Workspace

_DAYS_OF_COSTS = 14
_DAYS_OF_LOG, _MOST_ENTRIES = 30, 300

Text = Annotated[str, Query(max_length=LONGEST_NAME)]


def add_overview(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    """Add these pages to *app*. A part of one that fails is told in its place."""
    _add_figures(app, open_workspace)
    add_settings_page(app, open_workspace)

    @app.get("/timeline", include_in_schema=False)
    def past(request: Request, wanted: Annotated[Wanted, Query()]) -> Response:
        work = open_workspace(None)
        projects = attempt(lambda: read_projects(work))[0] or []
        if wanted.project not in projects:
            wanted = wanted.model_copy(update={"project": _latest_project(work) or next(iter(projects), "")})
        growth, growth_fault = attempt(lambda: growth_of(work, wanted.project))
        part, fault = attempt(lambda: read_part(work, wanted))
        return rendered(
            request, work, "timeline.html", wanted=wanted, projects=projects, part=part, fault=fault,
            growth=growth or (), growth_fault=growth_fault, series=HELD, height=HEIGHT,
        )  # fmt: skip

    @app.get("/log", include_in_schema=False)
    def log(request: Request, level: Text = "") -> Response:
        work = open_workspace(None)
        entries, fault = attempt(lambda: _entries(work, level))
        return rendered(request, work, "log.html", entries=entries or [], level=level, fault=fault)


def _add_figures(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    @app.get("/overview", include_in_schema=False)
    def overview(request: Request, week: Text = "") -> Response:
        work = open_workspace(None)
        today = work.now().date()
        try:
            shown = parse_week(week, today) if week else _latest_week(work)
        except MemtoolError:
            shown = week_of(today)
        panels = {
            "totals": attempt(lambda: totals(work)),
            "held": attempt(lambda: held_in(work, shown)),
            "given": attempt(lambda: given_in(work, shown)),
            "queue": attempt(lambda: _queue(work)),
            "costs": attempt(lambda: _costs(work)),
        }
        after = week_of(shown.last + dt.timedelta(days=1))
        return rendered(
            request, work, "overview.html", week=shown, panels=panels, held_series=HELD, given_series=GIVEN,
            height=HEIGHT, before=week_of(shown.first - dt.timedelta(days=1)),
            after=after if after.first <= today else None,
        )  # fmt: skip

    @app.get("/overview/health", include_in_schema=False)
    def health(request: Request) -> Response:
        work = open_workspace(None)
        checks, fault = attempt(lambda: list(_checks(work)))
        return rendered(request, work, "health.html", checks=checks or [], fault=fault)


def _checks(work: Workspace) -> Iterator[Check]:
    yield from content_checks(work, deep=False)
    yield from capture_checks(work)
    yield from schedule_checks(work)
    yield from model_checks(work, deep=False)
    yield from index_checks(work)


def _queue(work: Workspace) -> list[tuple[str, str, Job]]:
    """Return the sessions that wait and those that were given up, with their names."""
    queue = Queue(work.vault)
    waiting = [("waiting", queue.name_of(job, work.home), job) for job in queue.waiting()]
    return [*(("parked", queue.name_of(job, work.home), job) for job in queue.parked()), *waiting]


def _costs(work: Workspace) -> list[Usage]:
    since = (work.now().date() - dt.timedelta(days=_DAYS_OF_COSTS)).isoformat()
    return [row for row in usage(work.vault) if row.day >= since]


def _entries(work: Workspace, level: str) -> list[LogEntry]:
    since = work.now() - dt.timedelta(days=_DAYS_OF_LOG)
    entries = read_log([work.vault.state_path, work.index_folder], since)
    return [each for each in reversed(entries) if level in ("", each.level)][:_MOST_ENTRIES]


_LATEST = "SELECT date, project FROM chunk WHERE date <> '' AND {} ORDER BY date DESC LIMIT 1"


def _latest_week(work: Workspace) -> Week:
    """Return this week, or the last one in which anything happened."""
    today = work.now().date()
    row = use_index(
        place_of(work), lambda index: index.db.execute(_LATEST.format("date <= ?"), (today.isoformat(),)).fetchone()
    )
    return week_of(dt.date.fromisoformat(row[0]) if row else today)


def _latest_project(work: Workspace) -> str:
    """Return the project of which something was written last."""
    row, _ = attempt(
        lambda: use_index(place_of(work), lambda index: index.db.execute(_LATEST.format("project <> ''")).fetchone())
    )
    return str(row[1]) if row else ""
