"""A week of ISO 8601, from Monday to Sunday; which one was consolidated on this machine, and which one was missed.

What a run leaves behind may be lost: then it is repeated. A hook reads it at the start of each session, so this module
imports little.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from memtool.errors import Busy, MemtoolError, NotWritable, UsageError
from memtool.named_tuple import NamedTuple
from memtool.vault.layout import find_state_folder
from memtool.vault.state import make_state_folder, read_record, read_state, write_state
from memtool.workspace import Workspace

_RUN, SCHEDULE, _NAMED = "consolidated", "schedule", "missed-week"  # files beside the index


class Week(NamedTuple):
    """A week: `2026-W53` has days of two years."""

    year: int
    number: int

    def __str__(self) -> str:
        return f"{self.year:04}-W{self.number:02}"

    @property
    def first(self) -> dt.date:
        """Its Monday."""
        return dt.date.fromisocalendar(self.year, self.number, 1)

    @property
    def last(self) -> dt.date:
        """Its Sunday."""
        return dt.date.fromisocalendar(self.year, self.number, 7)

    def days(self) -> Iterator[dt.date]:
        """Give its seven days."""
        return (self.first + dt.timedelta(days=day) for day in range(7))

    def holds(self, day: str) -> bool:
        """Return whether the ISO date *day*, which a time may follow, is one of its days."""
        return self.first.isoformat() <= day[:10] <= self.last.isoformat()


def week_of(day: dt.date) -> Week:
    """Return the week that *day* belongs to."""
    return Week(*day.isocalendar()[:2])


def parse_week(text: str, today: dt.date) -> Week:
    """Return the week that *text* names: `2026-W47`, `this`, or `last` for the one before.

    Raises:
        UsageError: there is no such week, or it has not begun.
    """
    if text in ("this", "last"):
        return week_of(today - dt.timedelta(days=7 if text == "last" else 0))
    match = re.fullmatch(r"(\d{4})-?[wW](\d{1,2})", text.strip())
    try:
        week = week_of(dt.date.fromisocalendar(int(match[1]), int(match[2]), 1)) if match else None
    except ValueError:
        week = None
    if week is None:
        raise UsageError(f"'{text}' is no week", hint="Write it as 2026-W47, or `this` or `last`.")
    if week.first > today:
        raise UsageError(f"the week {week} has not begun")
    return week


class LastRun(NamedTuple):
    """The last run on this machine: of which week, when (ISO 8601), whether it came to its end, and how."""

    week: str = ""
    at: str = ""
    is_done: bool = False
    said: str = ""


def read_run(work: Workspace) -> LastRun | None:
    """Return the last run on this machine; None if there was none."""
    folder = _folder(work)
    return read_record(folder / _RUN, LastRun(), largest=4_096) if folder else None


def keep_run(work: Workspace, week: Week, said: str, *, is_done: bool) -> None:
    """Remember how the run of *week* ended. If that fails, it is run again."""
    run = LastRun(str(week), work.now().isoformat(timespec="seconds"), is_done, " ".join(said.split())[:300])
    keep(work, _RUN, json.dumps(run._asdict(), ensure_ascii=False))


def was_run(work: Workspace, week: Week) -> bool:
    """Whether this machine's last run was of *week*, after it had ended, and came to its end."""
    run = read_run(work)
    return run is not None and run.is_done and run.week == str(week) and run.at[:10] > week.last.isoformat()


def last_week(work: Workspace) -> Week:
    """Return the week before the present one."""
    return week_of(work.now().date() - dt.timedelta(days=7))


def read_kept(work: Workspace, name: str) -> str:
    """Return the text that `keep` kept under *name*; empty if there is none."""
    folder = _folder(work)
    with suppress(OSError):
        return read_state(folder / name, largest=4_096).decode("utf-8", "replace") if folder else ""
    return ""


def _folder(work: Workspace) -> Path | None:
    with suppress(MemtoolError):
        return find_state_folder(work.vault, work.cache)
    return None  # the place of the cache is unknown


def keep(work: Workspace, name: str, text: str) -> None:
    """Keep *text* under *name* beside the index. If that fails, it is forgotten."""
    with suppress(OSError, MemtoolError):
        path: Path = work.index_folder / name
        make_state_folder(path.parent)
        write_state(path, text.encode("utf-8", "replace"))


def find_missed(work: Workspace) -> Week | None:
    """Return last week if it had sessions and its scheduled run is missing: once for each week.

    A run is wanted where a schedule was installed, or a week consolidated before.
    """
    week = last_week(work)
    reports = work.vault.root / "reports"
    is_monday = work.now().isoweekday() == 1  # when the schedule still has time
    if is_monday or (reports / f"{week}.md").exists() or was_run(work, week):
        return None
    if not (reports.is_dir() or read_run(work) or read_kept(work, SCHEDULE)) or read_kept(work, _NAMED) == str(week):
        return None
    if not any(_had_session(work, day) for day in week.days()):
        return None
    keep(work, _NAMED, str(week))
    return week


def _had_session(work: Workspace, day: dt.date) -> bool:
    from memtool.vault.daily import names_of, take_apart

    for name in names_of(day):
        with suppress(MemtoolError):
            if take_apart(work.vault.read(f"{work.vault.daily}/{name}")[0]).sessions:
                return True
    return False


@contextmanager
def the_only_run(work: Workspace, week: Week, *, dry: bool) -> Iterator[None]:
    """Keep other runs away, and remember it if this one fails: no one may be watching."""
    with ExitStack() as held:
        try:
            held.enter_context(work.vault.lock("consolidate", timeout=0.2))
        except Busy:
            raise Busy("another run of `memtool consolidate` is at work on this vault") from None
        except NotWritable:
            if not dry:  # a dry run needs no place for a lock
                raise
        try:
            yield
        except Exception as error:
            if not dry:
                keep_run(work, week, str(error) or type(error).__name__, is_done=False)
            raise
