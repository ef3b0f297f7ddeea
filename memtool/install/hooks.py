"""The handlers of memtool in the settings of a client, and the program that they run.

A handler of ours is recognised by its program, from any installation: so one by another memtool, or one that the
user has edited, is updated and not doubled. The program is behind a guard, or a user who
removes memtool before its hooks would see a failure at every prompt. The guard looks for the interpreter and for the
package, and ends in silence where either is missing; `memtool doctor` of another installation says so.
"""

from __future__ import annotations

import re
import shlex
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import memtool
from memtool.errors import BadSetting
from memtool.install import json_text
from memtool.processes import ISOLATED
from memtool.text.json_places import Node

_PROGRAM = re.compile(r"(?:^|[\\/])memtool-hook(?:\.exe)?$", re.IGNORECASE)
# By their full paths, because the hook runs in the user's project. The paths come as arguments, never as shell syntax.
_SHELL = Path("/bin/sh")
_GUARD = '[ -e "$0" ] && [ -x "$1" ] || exit 0; exec "$@"'
_CMD = Path(r"C:\Windows\System32\cmd.exe")
_PLAIN_WORD = re.compile(r"[\w .:\\/~+-]+")  # means nothing to cmd but itself, quoted or not


class Program(NamedTuple):
    """The program of a handler and its arguments, which the client hands to no shell.

    One that *is_line* is for a client that hands all of it to a shell: a handler of it has no arguments.
    """

    command: str
    args: tuple[str, ...] = ()
    is_line: bool = False

    @property
    def line(self) -> str:
        """The program with its arguments as a command for a shell."""
        words = (self.command, *self.args)
        if sys.platform != "win32":
            return shlex.join(words)
        from subprocess import list2cmdline

        return list2cmdline(words)

    @property
    def fields(self) -> dict[str, Any]:
        """The members of a handler that name it."""
        return {"command": self.line} if self.is_line else {"command": self.command, "args": list(self.args)}

    @property
    def interpreter(self) -> str:
        """The Python behind its guard (`memtool.install.hooks`); without one, the program itself."""
        words = (self.command, *self.args)
        return words[words.index(ISOLATED[0]) - 1] if ISOLATED[0] in self.args else self.command

    @property
    def vault(self) -> str:
        """The vault that it names, or an empty string."""
        return next((value for name, value in pairwise(self.args) if name == "--vault"), "")


class Handler(NamedTuple):
    """A handler of ours in a settings text: its event, its *path* from the root, itself, and the group around it."""

    event: str
    path: json_text.Path
    node: Node
    group: Node | None = None

    @property
    def program(self) -> Program:
        """The program and the arguments that the handler names."""
        value = self.node.value
        args = value.get("args")
        return Program(value["command"], tuple(map(str, args)) if isinstance(args, list) else ())


def find_handlers(text: str, command: str = "") -> list[Handler]:
    """Return all handlers of ours in the settings *text*, in their order.

    They are in groups, as in Claude Code; where *command* names the member that holds their command, in one list for
    each event.

    Raises:
        ValueError: it is not JSON, or not what settings should be.
    """
    hooks = hooks_of(text)
    found = []
    for event in hooks.members if hooks else ():
        for at, member in enumerate(event.node.members):
            path: json_text.Path = ("hooks", event.name, at)
            if command:
                is_found = isinstance(member.node.value, dict) and is_ours({"command": member.node.value.get(command)})
                found += [Handler(event.name, path, member.node)] if is_found else []
            elif handlers := member.node.get("hooks"):
                found += [
                    Handler(event.name, (*path, "hooks", item), handler.node, member.node)
                    for item, handler in enumerate(handlers.members)
                    if is_ours(handler.node.value)
                ]
    return found


def hooks_of(text: str | None) -> Node | None:
    """Return the object that holds the handlers of each event, if the settings *text* have one.

    Raises:
        ValueError: it is not JSON, or not what settings should be.
    """
    hooks = json_text.object_of(text).get("hooks")
    if hooks and not isinstance(hooks.value, dict):
        raise ValueError("'hooks' in it should be an object, {…}")
    return hooks


def is_ours(handler: object) -> bool:
    """Return whether the *handler* of a client runs the hook of memtool, from any installation."""
    match handler:
        case {"command": str(command), "args": [*args]}:
            words = [command, *map(str, args)]
        case {"command": str(command)}:
            words = _words(command)
        case _:
            return False
    runs_module = ("-m", "memtool.hook") in pairwise(words)
    return runs_module or bool(words and _PROGRAM.search(words[0]))


def program_of(line: str) -> Program:
    """Return the program that the *line* for a shell runs."""
    try:
        command, *args = _words(line) if sys.platform == "win32" else shlex.split(line)
    except ValueError:
        command, *args = line.split()
    return Program(command, tuple(args), is_line=True)


def _words(command: str) -> list[str]:
    """Return the words of a *command* for a shell, in which a backslash may be a part of a path."""
    try:
        return [word.strip("\"'") for word in shlex.split(command, posix=False)]
    except ValueError:
        return command.split()


def find_program(vault: Path | None, *, this_project: bool, client: str = "") -> Program:
    """Return the program that runs this memtool's hook on *vault*; None leaves it to the hook to find the vault.

    That of another *client* than Claude Code is a line for a shell.

    Raises:
        BadSetting: the vault's path cannot be written into a settings file.
    """
    try:
        str(vault).encode("utf-8")
    except UnicodeEncodeError:
        hint = "Give its folder another name."
        raise BadSetting(f"the path of the vault '{vault}' is not Unicode", hint=hint) from None
    args = (*(("--vault", str(vault)) if vault else ()), *(("--this-project",) if this_project else ()))
    args += ("--client", client) if client else ()
    # Not the script `memtool-hook`: it runs in the user's project, where a PYTHONPATH may lead to a stranger's modules.
    words = (sys.executable, *ISOLATED, "-m", "memtool.hook", *args)
    guarded = _guarded(words, str(Path(memtool.__file__).parent / "hook" / "__main__.py"))
    return guarded._replace(is_line=bool(client))


def _guarded(words: tuple[str, ...], needed: str) -> Program:
    """Return the program *words*, behind a guard where this system has one: it runs if the file *needed* is there."""
    if sys.platform != "win32" and _SHELL.exists():
        return Program(str(_SHELL), ("-c", _GUARD, needed, *words))
    if _CMD.exists() and all(map(_PLAIN_WORD.fullmatch, (needed, *words))):
        return Program(str(_CMD), ("/d", "/c", "if", "exist", needed, "if", "exist", words[0], *words))
    return Program(words[0], words[1:])
