"""The background worker: captures the sessions that wait, then brings up to date what follows from their notes."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import NamedTuple

from memtool.capture.drain import Drained, drain
from memtool.capture.log import ERROR, ROUTES, LogEntry, log, log_once_a_day
from memtool.capture.queue import Queue
from memtool.errors import Busy, MemtoolError, NoteChanged, sentence_of
from memtool.history.one_commit import Kept, alone, commit
from memtool.index.engine import catch_up
from memtool.index.turn_table import catch_up_turns
from memtool.install.plans import Plan, carry_out, plan
from memtool.install.record import is_own
from memtool.install.rule_files import are_for, rule_shares
from memtool.recall.arrived import look_back
from memtool.recall.hints import gather_hints
from memtool.recall.routing.loader_table import LOADER
from memtool.recall.routing.routes import update_table
from memtool.recall.start.last_sessions import gather_standing
from memtool.service.starting import start_service
from memtool.vault.layout import outer_folder
from memtool.workspace import Workspace


class RouteUpdate(NamedTuple):
    """The result of an update: has the table changed, which commit holds it, and the rule files that changed."""

    changed: bool
    kept: Kept
    rules: Plan


def work_off(work: Workspace) -> tuple[Drained, list[LogEntry]]:
    """Capture every session that is due; return what was done, and the problems, which are in the log, too.

    Then the routing table, the client's rules and the index follow, and the model while a session goes on.
    """
    problems: list[LogEntry] = []

    def tell(entry: LogEntry) -> None:
        problems.append(entry)
        log([work.vault.state_path], entry)

    try:
        if any(job.event == "Stop" for job in Queue(work.vault).waiting()):
            # The session goes on: the process with the model ends when no prompt has come for a while.
            with suppress(MemtoolError, OSError):
                start_service(work)
        drained = drain(work, tell, partial(look_back, work))
        if not drained.busy:
            problems += _follow_triggers(work)
            gather_hints(work.vault)
            gather_standing(work.vault)
            catch_up(work)
            catch_up_turns(work)
    except Exception as error:  # no one may be watching: see memtool.capture.queue
        folders = [work.vault.state_path, outer_folder(work.vault.root, work.cache)]
        log(folders, _entry(work, f"{type(error).__name__}: {error}"))
        raise
    return drained, problems


def update_routes(work: Workspace, *, new_table: bool) -> RouteUpdate:
    """Bring the table and the rules up to date with the triggers. Without *new_table*, one that is missing stays so.

    Raises:
        MemtoolError: a file cannot be read or written, or others were at it all the time.
    """
    vault = work.vault
    with alone(vault):
        changed = (new_table or vault.path(LOADER).exists()) and update_table(vault)
        follows = are_for(work.environ, vault) and is_own(work.environ, vault)
        kept = commit(vault, [LOADER], "route", f"update {LOADER}") if changed else Kept()
        rules = plan(rule_shares(work.environ, vault), {"rules": True}) if follows else Plan()
        carry_out(rules, work.environ)
    return RouteUpdate(changed, kept, rules)


def _follow_triggers(work: Workspace) -> list[LogEntry]:
    """Bring the table and the rules up to date with the triggers; return what is wrong, logged, and once a day only."""
    try:
        update_routes(work, new_table=False)
    except (Busy, NoteChanged):
        return []  # the next worker will do it
    except Exception as error:  # noqa: BLE001  (the sessions are captured, whatever happens here)
        entry = _entry(work, f"triggers could not be followed: {sentence_of(error)}", ROUTES)
    else:
        return []
    return [entry] if log_once_a_day([work.vault.state_path], entry) else []


def _entry(work: Workspace, sentence: str, subject: str = "worker") -> LogEntry:
    return LogEntry(work.now().isoformat(timespec="seconds"), ERROR, subject, sentence)
