"""Whether the weekly run is wanted and did not happen. A hook asks this at each start: this module imports little."""

from __future__ import annotations

import datetime as dt
from contextlib import suppress

from memtool.consolidate.week import Week, keep, last_week, read_kept, read_run, was_run
from memtool.errors import MemtoolError
from memtool.workspace import Workspace

_SCHEDULE, _SAID = "schedule", "missed-week"


def keep_schedule(work: Workspace, kind: str) -> None:
    """Remember which *kind* of schedule was installed; empty if it was removed."""
    keep(work, _SCHEDULE, kind)


def kept_schedule(work: Workspace) -> str:
    """Return the kind of schedule that was installed on this machine; empty for none."""
    return read_kept(work, _SCHEDULE)


def missed_week(work: Workspace) -> Week | None:
    """Return last week if it had sessions and its scheduled run is missing: once for each week.

    It is wanted where a schedule was installed, or a week consolidated before.
    """
    week = last_week(work)
    reports = work.vault.root / "reports"
    is_monday = work.now().isoweekday() == 1  # when the schedule still has time
    if is_monday or (reports / f"{week}.md").exists() or was_run(work, week):
        return None
    if not (reports.is_dir() or read_run(work) or kept_schedule(work)) or read_kept(work, _SAID) == str(week):
        return None
    if not any(_had_session(work, day) for day in week.days()):
        return None
    keep(work, _SAID, str(week))
    return week


def _had_session(work: Workspace, day: dt.date) -> bool:
    from memtool.vault.daily import names_of, take_apart
    from memtool.vault.files import read_text

    for name in names_of(day):
        with suppress(OSError, MemtoolError):
            if take_apart(read_text(work.vault.path(f"{work.vault.daily}/{name}"))[0]).sessions:
                return True
    return False
