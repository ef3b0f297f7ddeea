"""The weekly run, put into the hands of the system: systemd, launchd, cron or the Task Scheduler of Windows.

What is written is made from the files in `cron/`. Everything of ours bears a name that belongs to one vault: two vaults
have two schedules, and taking one out leaves alone whatever else stands there.
"""

from __future__ import annotations

import datetime as dt
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from html import unescape
from pathlib import Path
from typing import NamedTuple

from memtool.consolidate.week import last_week, was_run
from memtool.errors import MemtoolError, NotWritable, ProviderMissing
from memtool.installation import how_to_add
from memtool.schedules.missed_week import keep_schedule, kept_schedule
from memtool.schedules.schedule_files import (
    CRON,
    CRONTAB,
    KINDS,
    LAUNCHD,
    MAKERS,
    SYSTEMD,
    WINDOWS,
    Schedule,
    command_of,
    plan,
)
from memtool.vault import files
from memtool.workspace import Workspace

_PROGRAMS = {SYSTEMD: "systemctl", LAUNCHD: "launchctl", CRON: "crontab", WINDOWS: "schtasks"}
_AT = dt.time(9, 17)  # as the files in `cron/` say it; in local time
_PATIENCE = 30.0  # seconds for a program of the system
_LONGEST_PAUSE = 60.0  # seconds; a machine may sleep in between


class State(NamedTuple):
    """The state of a plan: whether it is *there*, whether it *differs*, and whether the system heeds it."""

    is_there: bool = False
    differs: bool = False
    is_in_force: bool = False


def choose_kind(work: Workspace) -> str:
    """Return the best kind of schedule that this machine has.

    Raises:
        MemtoolError: it has none.
    """
    preferred = {"darwin": (LAUNCHD, CRON), "win32": (WINDOWS,)}.get(sys.platform, (SYSTEMD, CRON))
    for kind in preferred:
        if not shutil.which(_PROGRAMS[kind], path=work.environ.get("PATH", "")):
            continue
        # In a container there may be the program, and nobody whom it could ask.
        if kind != SYSTEMD or _is_done(work, ("systemctl", "--user", "show", "--property=Version")):
            return kind
    hint = "In a container, let `memtool schedule run` run; else name one with --kind."
    names = " nor ".join(_PROGRAMS[kind] for kind in preferred)
    raise MemtoolError(f"this machine has neither {names} at work" if " nor " in names else f"no {names}", hint=hint)


def look(work: Workspace, wanted: Schedule) -> State:
    """Return the state of the plan *wanted*."""
    if wanted.kind == CRON:
        line = next((line for line in _crontab(work).splitlines() if _is_ours(line, wanted)), None)
        return State(line is not None, line != wanted.texts[CRONTAB].rstrip("\n"), line is not None)
    there = {path: _read(path) for path in wanted.texts}
    if not any(text is not None for text in there.values()):
        return State()
    return State(is_there=True, differs=there != dict(wanted.texts), is_in_force=_is_done(work, wanted.check))


def is_in_force(work: Workspace, kind: str) -> bool:
    """Return whether the system heeds the schedule of *kind* for the vault."""
    with suppress(MemtoolError):
        return kind in KINDS and look(work, plan(work, kind)).is_in_force
    return False


def find_installed(work: Workspace) -> list[Schedule]:
    """Return the schedules of the vault that this machine has, in the order of `KINDS`."""
    found = []
    for kind in KINDS:
        with suppress(MemtoolError):  # a crontab that cannot be read
            if look(work, each := plan(work, kind)).is_there:
                found.append(each)
    return found


class Lost(NamedTuple):
    """A schedule of memtool, called *name*, whose *vault* has been moved or removed."""

    kind: str
    name: str
    vault: str


def find_lost(work: Workspace) -> list[Lost]:
    """Return the schedules of vaults that are gone. Only files and the crontab are read."""
    return [lost for lost in _all_written(work) if _is_gone(Path(lost.vault))]


def _is_gone(vault: Path) -> bool:
    """Return whether *vault* was moved or removed. Where nothing is beside it, a disk may just not be there."""
    with suppress(OSError):
        return not vault.exists() and any(vault.parent.iterdir())
    return False


def remove_lost(work: Workspace, lost: Lost) -> None:
    """Take *lost* out.

    Raises:
        MemtoolError: the system refuses.
    """
    gone = MAKERS[lost.kind](work, Path(lost.vault), lost.name)
    kept = kept_schedule(work)
    remove(work, gone)
    keep_schedule(work, kept)  # which is of another vault


def _all_written(work: Workspace) -> Iterator[Lost]:
    """Give every schedule of memtool that is written down on this machine, whichever vault it is for."""
    for kind in (SYSTEMD, LAUNCHD, WINDOWS):
        try:
            wanted = MAKERS[kind](work, work.vault.root, "memtool-weekly-*")
        except MemtoolError:  # the cache cannot be named
            continue
        pattern = next(iter(wanted.texts))
        for path in sorted(pattern.parent.glob(pattern.name)):
            text = _read(path) or ""
            if vault := _vault_named_in(unescape(text) if kind == WINDOWS else text):
                yield Lost(wanted.kind, path.stem, vault)
    if kept_schedule(work) == CRON:  # or else the system is not asked
        with suppress(MemtoolError):
            for line in _crontab(work).splitlines():
                if (name := re.search(r"# (memtool-weekly-\w+)$", line)) and (vault := _vault_named_in(line)):
                    yield Lost(CRON, name[1], vault)


def _vault_named_in(text: str) -> str:
    """Return the vault that a written schedule names behind `--vault`; empty if that cannot be read without doubt."""
    found = re.search(
        r"--vault(?:\"|</string>)?\s+(?:<string>([^<&]+)</string>|\"([^\"\\%$]+)\"|'([^'\\]+)'|([^\s'\"\\<&]+))", text
    )
    return unescape(next(filter(None, found.groups()), "")) if found else ""


def install(work: Workspace, wanted: Schedule) -> bool:
    """Put *wanted* in force, in the place of any other kind for the same vault; return whether that changed anything.

    Raises:
        MemtoolError: the system refused; nothing of ours is left.
    """
    others = [found for found in find_installed(work) if found.kind != wanted.kind]
    state = look(work, wanted)
    is_new = not state.is_in_force or state.differs
    if is_new:
        try:
            _put(work, wanted, again=state.is_there)
        except MemtoolError:
            remove(work, wanted)
            raise
    for other in others:
        remove(work, other)
    keep_schedule(work, wanted.kind)
    return is_new or bool(others)


def remove(work: Workspace, installed: Schedule) -> list[str]:
    """Take *installed* out; return a sentence for each thing that the system refused. The files go all the same."""
    refused = []
    if installed.kind == CRON:
        _write_crontab(work, _without(_crontab(work), installed))
    for command in installed.stop[:1]:
        refused += _refusal(work, command)
    for path in installed.texts if installed.kind != CRON else ():
        path.unlink(missing_ok=True)
        if installed.kind == SYSTEMD:  # a link that `disable` has left, because nobody answered it
            (path.parent / "timers.target.wants" / path.name).unlink(missing_ok=True)
    for command in installed.stop[1:]:
        refused += _refusal(work, command)
    keep_schedule(work, "")
    return refused


def next_run(now: dt.datetime) -> dt.datetime:
    """Return the next Monday on which a week is consolidated, in the local time of *now*."""
    monday = now.date() - dt.timedelta(days=now.weekday())
    this = dt.datetime.combine(monday, _AT, now.tzinfo)
    return this if this > now else this + dt.timedelta(weeks=1)


def keep_running(work: Workspace, say: Callable[[str], None], pause: Callable[[float], None]) -> None:
    """Consolidate each week in a process of its own, until somebody ends this one: what was missed at once.

    Raises:
        ProviderMissing: the package `schedule` is not installed.
    """
    try:
        import schedule
    except ImportError:
        raise ProviderMissing("the package `schedule` is not installed", hint=how_to_add("schedule")) from None

    def consolidate() -> None:
        if was_run(work, last_week(work)):
            return
        say(f"consolidating {last_week(work)}")
        # No pipe: what it says goes where this program's words go, and it ends with this program.
        with subprocess.Popen(command_of(work.vault.root), env=dict(work.environ)) as child:
            try:
                code = child.wait()
            except BaseException:
                child.terminate()
                raise
        if code:
            say(f"it ended with exit code {code}, and is tried again tomorrow")

    calendar = schedule.Scheduler()
    calendar.every().day.at(f"{_AT:%H:%M}").do(consolidate)
    consolidate()
    while True:
        pause(min(max(calendar.idle_seconds or 0.0, 0.0), _LONGEST_PAUSE))
        calendar.run_pending()


def _put(work: Workspace, wanted: Schedule, *, again: bool) -> None:
    if wanted.kind == CRON:
        _write_crontab(work, _without(_crontab(work), wanted) + wanted.texts[CRONTAB])
        return
    if again and wanted.kind == LAUNCHD:
        _refusal(work, wanted.stop[0])  # an agent that is loaded cannot be loaded
    for path, text in wanted.texts.items():
        try:
            files.make_folder(path.parent)
            files.write_over(path, text.encode(_encoding(path)), durable=True)
        except OSError as error:
            raise NotWritable(f"cannot write '{path}': {error.strerror}") from None
    for command in wanted.start:
        if refused := _refusal(work, command):
            raise MemtoolError(refused[0], hint="Try another kind with --kind, or `memtool schedule run`.")


def _encoding(path: Path) -> str:
    return "utf-16" if path.suffix == ".xml" else "utf-8"  # the Task Scheduler reads nothing else


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode(_encoding(path))
    except (OSError, UnicodeDecodeError):
        return "" if path.is_symlink() or path.exists() else None


def _is_ours(line: str, wanted: Schedule) -> bool:
    return line.endswith(f"# {wanted.name}") and not line.lstrip().startswith("#")


def _without(crontab: str, wanted: Schedule) -> str:
    kept = [line for line in crontab.splitlines(keepends=True) if not _is_ours(line.rstrip("\r\n"), wanted)]
    text = "".join(kept)
    return text if text.endswith("\n") or not text else f"{text}\n"


def _crontab(work: Workspace) -> str:
    """Return the user's crontab; empty if there is none.

    Raises:
        MemtoolError: it cannot be read. Who took it for empty would write it so.
    """
    done = _run(work, ("crontab", "-l"))
    if done and done.returncode == 0:
        return done.stdout.decode("utf-8", "surrogateescape")
    if done and any(words in done.stderr for words in (b"no crontab", b"No such file")):
        return ""
    raise MemtoolError(f"your crontab cannot be read: {_first_line(done)}", hint="Try `crontab -l`.")


def _write_crontab(work: Workspace, text: str) -> None:
    done = _run(work, ("crontab", "-") if text else ("crontab", "-r"), text.encode("utf-8", "surrogateescape"))
    if done is None or done.returncode:
        raise MemtoolError(f"crontab refused: {_first_line(done)}", hint="Look at it with `crontab -l`.")


def _refusal(work: Workspace, command: Sequence[str]) -> list[str]:
    done = _run(work, command)
    return [f"`{shlex.join(command)}` failed: {_first_line(done)}"] if done is None or done.returncode else []


def _is_done(work: Workspace, command: Sequence[str]) -> bool:
    done = _run(work, command)
    return done is not None and done.returncode == 0


def _run(work: Workspace, command: Sequence[str], stdin: bytes = b"") -> subprocess.CompletedProcess[bytes] | None:
    """Return how *command* ended; None if it is not there, or takes too long."""
    program = shutil.which(command[0], path=work.environ.get("PATH", ""))
    with suppress(OSError, subprocess.TimeoutExpired):
        if program:
            return subprocess.run(
                [program, *command[1:]], input=stdin, capture_output=True, timeout=_PATIENCE, check=False,
                env={**work.environ, "LC_ALL": "C"}, cwd=tempfile.gettempdir(),
            )  # fmt: skip
    return None


def _first_line(done: subprocess.CompletedProcess[bytes] | None) -> str:
    if done is None:
        return "it is not there, or gave no answer"
    said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
    return next(iter(said.splitlines()), f"exit code {done.returncode}")


def shown(wanted: Schedule) -> Iterator[str]:
    """Give the lines that show a plan: its files and the commands."""
    for path, text in wanted.texts.items():
        yield f"# {path}" if wanted.kind != CRON else "# one line of your crontab"
        yield from text.rstrip("\n").splitlines()
        yield ""
    yield from (f"$ {shlex.join(command)}" for command in wanted.start or (("crontab", "-"),))
