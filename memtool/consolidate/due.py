"""Which week was consolidated on this machine, and which one was missed. All of it may be lost: then a run is repeated.

A hook reads this at the start of each session, so it imports little.
"""

from __future__ import annotations

import datetime as dt
import json
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from memtool.consolidate.week import Week, week_of
from memtool.errors import MemtoolError
from memtool.vault.state import find_state_folder, make_state_folder, read_record, read_state, write_state
from memtool.workspace import Workspace

_RUN, _SCHEDULE, _SAID = "consolidated", "schedule", "missed-week"
_LARGEST = 4096  # bytes
_LONGEST = 300  # characters of how a run ended
_TUESDAY = 1  # on Monday, a schedule has still time


class LastRun(NamedTuple):
    """The last run on this machine: of which week, when (ISO 8601), whether it came to its end, and how."""

    week: str = ""
    at: str = ""
    is_done: bool = False
    said: str = ""


def read_run(work: Workspace) -> LastRun | None:
    """Return the last run on this machine; None if there was none."""
    folder = _folder(work)
    return read_record(folder / _RUN, LastRun(), largest=_LARGEST) if folder else None


def keep_run(work: Workspace, week: Week, said: str, *, is_done: bool) -> None:
    """Remember how the run of *week* ended. If that fails, it is run again."""
    run = LastRun(str(week), work.now().isoformat(timespec="seconds"), is_done, " ".join(said.split())[:_LONGEST])
    _keep(work, _RUN, json.dumps(run._asdict(), ensure_ascii=False))


def was_run(work: Workspace, week: Week) -> bool:
    """Whether this machine's last run was of *week*, after it had ended, and came to its end."""
    run = read_run(work)
    return run is not None and run.is_done and run.week == str(week) and run.at[:10] > week.last.isoformat()


def last_week(work: Workspace) -> Week:
    """Return the week before the present one."""
    return week_of(work.now().date() - dt.timedelta(days=7))


def keep_schedule(work: Workspace, kind: str) -> None:
    """Remember which *kind* of schedule was installed; empty if it was removed."""
    _keep(work, _SCHEDULE, kind)


def kept_schedule(work: Workspace) -> str:
    """Return which kind of schedule is said to be installed on this machine; empty for none."""
    return _kept(work, _SCHEDULE)


def missed_week(work: Workspace) -> Week | None:
    """Return last week if it had sessions and nobody consolidated it, though somebody wanted that: once for each week.

    It is wanted where a schedule was installed, or a week consolidated before.
    """
    week = last_week(work)
    reports = work.vault.root / "reports"
    if work.now().weekday() < _TUESDAY or (reports / f"{week}.md").exists() or was_run(work, week):
        return None
    if not (reports.is_dir() or read_run(work) or kept_schedule(work)) or _kept(work, _SAID) == str(week):
        return None
    if not any(_had_session(work, day) for day in week.days()):
        return None
    _keep(work, _SAID, str(week))
    return week


def _had_session(work: Workspace, day: dt.date) -> bool:
    folder = work.vault.root / work.vault.daily
    notes = [path for path in (folder / f"{day}.md", folder / f"{day}.memtool.md") if path.exists()]
    return any(_tells_of_session(work, path) for path in notes)


def _tells_of_session(work: Workspace, path: Path) -> bool:
    from memtool.vault.daily import take_apart
    from memtool.vault.files import read_text

    with suppress(OSError, MemtoolError):
        ref = path.relative_to(work.vault.root).as_posix()
        return bool(take_apart(read_text(work.vault.path(ref))[0]).sessions)
    return False


def _kept(work: Workspace, name: str) -> str:
    folder = _folder(work)
    with suppress(OSError):
        return read_state(folder / name, largest=_LARGEST).decode("utf-8", "replace") if folder else ""
    return ""


def _folder(work: Workspace) -> Path | None:
    with suppress(MemtoolError):
        return find_state_folder(work.vault, work.cache)
    return None  # nobody knows where the cache is


def _keep(work: Workspace, name: str, text: str) -> None:
    with suppress(OSError, MemtoolError):
        path: Path = work.index_folder / name
        make_state_folder(path.parent)
        write_state(path, text.encode("utf-8", "replace"))
