"""The files by which a system runs memtool each week, made from those in `cron/`: systemd, launchd, cron, Windows."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from memtool.errors import BadSetting
from memtool.processes import ISOLATED
from memtool.resources import shipped
from memtool.workspace import Workspace

SYSTEMD, LAUNCHD, CRON, WINDOWS = "systemd", "launchd", "cron", "windows"
KINDS = (SYSTEMD, LAUNCHD, CRON, WINDOWS)

CRONTAB = Path("crontab -l")  # stands for the path of the user's crontab
_WEEKLY = ("consolidate", "--week", "last", "--once")
_FIELD = re.compile(r"\{(\w+)\}")


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
    _check_paths(command_of(work.vault.root))
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


def _check_paths(words: Sequence[str]) -> None:
    for word in words:
        if not word.isprintable():  # a line break, or bytes that are no Unicode
            raise BadSetting(
                f"'{word.encode('utf-8', 'replace').decode()}' holds characters that no schedule can hold",
                hint="Give the folder another name.",
            )


def _of_systemd(path: str) -> str:
    return path.replace("%", "%%")


def _systemd_words(words: Sequence[str]) -> str:
    quoted = (word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") for word in words)
    program, *arguments = (f'"{word}"' for word in quoted)
    return " ".join([program, *(word.replace("$", "$$") for word in arguments)])  # it looks for variables in these only


def _of_cron(word: str) -> str:
    return shlex.quote(word).replace("%", "\\%")  # cron itself takes the backslash away, in quotes, too
