"""The weekly run, set up with the system: systemd, launchd, cron or the Task Scheduler of Windows.

The files are made from those in `cron/`. Everything of ours has a name that belongs to one vault: two vaults have two
schedules, and removing one leaves everything else alone.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple

from memtool.consolidate.week import SCHEDULE, keep, last_week, read_kept, was_run
from memtool.errors import BadSetting, MemtoolError, NotWritable, ProviderMissing
from memtool.installation import how_to_add
from memtool.processes import ISOLATED
from memtool.resources import shipped
from memtool.vault import files
from memtool.workspace import Workspace

SYSTEMD, LAUNCHD, CRON, WINDOWS = "systemd", "launchd", "cron", "windows"
KINDS = (SYSTEMD, LAUNCHD, CRON, WINDOWS)
CRONTAB = Path("crontab -l")  # in the place of the path of the user's crontab
_PROGRAMS = {SYSTEMD: "systemctl", LAUNCHD: "launchctl", CRON: "crontab", WINDOWS: "schtasks"}
_WEEKLY = ("consolidate", "--week", "last", "--once")
_FIELD = re.compile(r"\{(\w+)\}")
_AT = dt.time(9, 17)  # as the files in `cron/` say it; in local time


class Schedule(NamedTuple):
    """A schedule for one vault.

    Args:
        kind: one of `KINDS`.
        name: its name; another one for each vault.
        texts: what is written, by path; of cron, one line of the crontab at the path `crontab -l`.
        start: the commands that put it in force.
        stop: the commands that take it out, before its files go.
        check: the command that succeeds while it is in force.
    """

    kind: str
    name: str
    texts: Mapping[Path, str]
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]
    check: tuple[str, ...]


def command_of(root: Path) -> tuple[str, ...]:
    """Return the program and the arguments that consolidate the last week of the vault at *root*."""
    return (sys.executable, *ISOLATED, "-m", "memtool", "--vault", str(root), *_WEEKLY)


def name_of(root: Path) -> str:
    """Return the name of the schedule of the vault at *root*."""
    return f"memtool-weekly-{hashlib.sha256(os.fsencode(root)).hexdigest()[:8]}"


def plan(work: Workspace, kind: str) -> Schedule:
    """Return the schedule of *kind* for the vault.

    Raises:
        BadSetting: a path cannot be written into such a file.
    """
    for word in command_of(work.vault.root):
        if not word.isprintable():  # a line break, or bytes that are not Unicode
            shown = word.encode("utf-8", "replace").decode()
            hint = "Give the folder another name."
            raise BadSetting(f"'{shown}' has characters that no schedule can hold", hint=hint)
    return MAKERS[kind](work, work.vault.root, name_of(work.vault.root))


def _systemd(work: Workspace, root: Path, name: str) -> Schedule:
    folder = Path(work.environ.get("XDG_CONFIG_HOME") or work.home / ".config") / "systemd" / "user"
    user, timer = ("systemctl", "--user"), f"{name}.timer"
    words = _systemd_words(command_of(root))
    texts = {
        folder / f"{name}.service": _filled("memtool.service", root, name, _of_systemd, words),
        folder / timer: _filled("memtool.timer", root, name, _of_systemd),
    }
    reload = (*user, "daemon-reload")
    start, stop = (reload, (*user, "enable", "--now", timer)), ((*user, "disable", "--now", timer), reload)
    return Schedule(SYSTEMD, name, texts, start, stop, (*user, "is-active", timer))


def _launchd(work: Workspace, root: Path, name: str) -> Schedule:
    path = work.home / "Library" / "LaunchAgents" / f"{name}.plist"
    words = "\n".join(f"    <string>{escape(word)}</string>" for word in command_of(root))
    domain = f"gui/{os.getuid() if hasattr(os, 'getuid') else 0}"
    texts = {path: _filled("memtool.plist", root, name, escape, words)}
    start, stop = ("launchctl", "bootstrap", domain, str(path)), ("launchctl", "bootout", f"{domain}/{name}")
    return Schedule(LAUNCHD, name, texts, (start,), (stop,), ("launchctl", "print", f"{domain}/{name}"))


def _cron(_: Workspace, root: Path, name: str) -> Schedule:
    line = _filled("crontab", root, name, _of_cron, " ".join(map(_of_cron, command_of(root))))
    return Schedule(CRON, name, {CRONTAB: line}, (), (), ("crontab", "-l"))


def _windows(work: Workspace, root: Path, name: str) -> Schedule:
    path = work.cache / "schedule" / f"{name}.xml"  # the system keeps its own; this one says later what was asked for
    words = escape(subprocess.list2cmdline(command_of(root)[1:]))
    texts = {path: _filled("memtool.xml", root, name, escape, words)}
    start, stop = (
        ("schtasks", "/create", "/tn", name, "/xml", str(path), "/f"),
        ("schtasks", "/delete", "/tn", name, "/f"),
    )
    return Schedule(WINDOWS, name, texts, (start,), (stop,), ("schtasks", "/query", "/tn", name))


MAKERS: Mapping[str, Callable[[Workspace, Path, str], Schedule]] = {
    SYSTEMD: _systemd, LAUNCHD: _launchd, CRON: _cron, WINDOWS: _windows,
}  # fmt: skip


def _filled(name: str, root: Path, own: str, quote: Callable[[str], str], command: str = "") -> str:
    """Return the file *name* of `cron/` with its fields filled in; braces in a path are no field."""
    text = (shipped("cron") / name).read_text(encoding="utf-8")
    values = {"name": own, "vault": quote(str(root)), "settings": quote(str(root / "memtool.toml")), "command": command}
    values["python"] = quote(sys.executable)
    return _FIELD.sub(lambda match: values.get(match[1], match[0]), text)


def _of_systemd(path: str) -> str:
    return path.replace("%", "%%")


def _systemd_words(words: Sequence[str]) -> str:
    quoted = (word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") for word in words)
    program, *arguments = (f'"{word}"' for word in quoted)
    return " ".join([program, *(word.replace("$", "$$") for word in arguments)])  # it looks for variables in these only


def _of_cron(word: str) -> str:
    return shlex.quote(word).replace("%", "\\%")  # cron itself takes the backslash away, in quotes, too


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
        # In a container there may be the program and no system for it to ask.
        if kind != SYSTEMD or _run(work, ("systemctl", "--user", "show", "--property=Version"))[0]:
            return kind
    hint = "In a container, let `memtool schedule run` run; else name one with --kind."
    names = " nor ".join(_PROGRAMS[kind] for kind in preferred)
    raise MemtoolError(f"this machine has neither {names} at work" if " nor " in names else f"no {names}", hint=hint)


def look(work: Workspace, wanted: Schedule) -> State:
    """Return the state of the plan *wanted*."""
    if wanted.kind == CRON:
        lines = (line for line in _crontab(work).splitlines(keepends=True) if _is_ours(line, wanted))
        there = {CRONTAB: next(lines, None)}
    else:
        there = {path: _read(path) for path in wanted.texts}
    if not any(text is not None for text in there.values()):
        return State()
    is_in_force = wanted.kind == CRON or _run(work, wanted.check)[0]
    return State(is_there=True, differs=there != dict(wanted.texts), is_in_force=is_in_force)


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
    found = []
    for lost in _all_written(work):
        vault = Path(lost.vault)
        with suppress(OSError):  # where nothing is beside it, a disk may just not be there
            found += [lost] if not vault.exists() and any(vault.parent.iterdir()) else []
    return found


def remove_lost(work: Workspace, lost: Lost) -> None:
    """Take *lost* out.

    Raises:
        MemtoolError: the system refuses.
    """
    gone = MAKERS[lost.kind](work, Path(lost.vault), lost.name)
    kept = read_kept(work, SCHEDULE)
    remove(work, gone)
    keep(work, SCHEDULE, kept)  # which is of another vault


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
    if read_kept(work, SCHEDULE) == CRON:  # or else the system is not asked
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
    keep(work, SCHEDULE, wanted.kind)
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
        if installed.kind == SYSTEMD:  # a link that `disable` left, because no system answered
            (path.parent / "timers.target.wants" / path.name).unlink(missing_ok=True)
    for command in installed.stop[1:]:
        refused += _refusal(work, command)
    keep(work, SCHEDULE, "")
    return refused


def next_run(now: dt.datetime) -> dt.datetime:
    """Return the next Monday on which a week is consolidated, in the local time of *now*."""
    monday = now.date() - dt.timedelta(days=now.weekday())
    this = dt.datetime.combine(monday, _AT, now.tzinfo)
    return this if this > now else this + dt.timedelta(weeks=1)


def keep_running(work: Workspace, say: Callable[[str], None], pause: Callable[[float], None]) -> None:
    """Consolidate each week in a process of its own until this one is ended; a missed week is done at once.

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
        pause(min(max(calendar.idle_seconds or 0.0, 0.0), 60.0))  # seconds; the machine may sleep in between
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
    return line.rstrip("\r\n").endswith(f"# {wanted.name}") and not line.lstrip().startswith("#")


def _without(crontab: str, wanted: Schedule) -> str:
    kept = [line for line in crontab.splitlines(keepends=True) if not _is_ours(line, wanted)]
    text = "".join(kept)
    return text if text.endswith("\n") or not text else f"{text}\n"


def _crontab(work: Workspace) -> str:
    """Return the user's crontab; empty if there is none.

    Raises:
        MemtoolError: it cannot be read. Taking it for empty would overwrite it.
    """
    is_done, said = _run(work, ("crontab", "-l"))
    if is_done or "no crontab" in said or "No such file" in said:
        return said if is_done else ""
    raise MemtoolError(f"your crontab cannot be read: {said}", hint="Try `crontab -l`.")


def _write_crontab(work: Workspace, text: str) -> None:
    is_done, said = _run(work, ("crontab", "-") if text else ("crontab", "-r"), text)
    if not is_done:
        raise MemtoolError(f"crontab refused: {said}", hint="Look at it with `crontab -l`.")


def _refusal(work: Workspace, command: Sequence[str]) -> list[str]:
    is_done, said = _run(work, command)
    return [] if is_done else [f"`{shlex.join(command)}` failed: {said}"]


def _run(work: Workspace, command: Sequence[str], stdin: str = "") -> tuple[bool, str]:
    """Return whether *command* succeeded, and what it printed; if it failed, the first line that says why."""
    program = shutil.which(command[0], path=work.environ.get("PATH", ""))
    with suppress(OSError, subprocess.TimeoutExpired):
        if program:
            done = subprocess.run(
                [program, *command[1:]], input=stdin.encode("utf-8", "surrogateescape"), capture_output=True,
                timeout=30, check=False, env={**work.environ, "LC_ALL": "C"}, cwd=tempfile.gettempdir(),
            )  # fmt: skip
            if done.returncode == 0:
                return True, done.stdout.decode("utf-8", "surrogateescape")
            said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
            return False, next(iter(said.splitlines()), f"exit code {done.returncode}")
    return False, "it is not there, or gave no answer"


def shown(wanted: Schedule) -> Iterator[str]:
    """Give the lines that show a plan: its files and the commands."""
    for path, text in wanted.texts.items():
        yield f"# {path}" if wanted.kind != CRON else "# one line of your crontab"
        yield from text.rstrip("\n").splitlines()
        yield ""
    yield from (f"$ {shlex.join(command)}" for command in wanted.start or (("crontab", "-"),))
