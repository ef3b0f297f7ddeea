"""The hooks of memtool in the settings of a client, put into their text and taken out again.

The form is that of Claude Code, which others have taken over: `hooks.<event>[group].hooks[handler]`.

What is ours is known by the program that a handler runs, wherever that lies: so an installation by another memtool,
or one that its user has edited, is brought up to date and not doubled. What a handler runs stands behind a guard:
whoever removes memtool before its hooks would be told of a failure at every prompt. The guard looks for the interpreter
and for the package, and ends in silence where either is gone; `memtool doctor` of another installation says so.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import memtool
from memtool.errors import BadSetting
from memtool.install import json_text
from memtool.install.json_text import Node
from memtool.processes import ISOLATED

_TIMEOUT = 10  # seconds; the client's own is 600, and 1.5 for SessionEnd, which a settings file may raise
_PROGRAM = re.compile(r"(?:^|[\\/])memtool-hook(?:\.exe)?$", re.IGNORECASE)
# By their full paths, because the hook runs in the user's project. The paths come as arguments, never as shell syntax.
_SHELL = Path("/bin/sh")
_GUARD = '[ -e "$0" ] && [ -x "$1" ] || exit 0; exec "$@"'
_CMD = Path(r"C:\Windows\System32\cmd.exe")
_PLAIN_WORD = re.compile(r"[\w .:\\/~+-]+")  # means nothing to cmd but itself, quoted or not


class Hook(NamedTuple):
    """One event that memtool listens to, and what it does then."""

    event: str
    deed: str
    matcher: str = ""
    timeout: int = _TIMEOUT
    status: str = ""  # what the client shows while somebody waits for it


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
    """A handler of ours in a settings text, with its place: `hooks.<event>[group].hooks[item]`."""

    event: str
    group: int
    item: int
    groups: Node
    handlers: Node

    @property
    def node(self) -> Node:
        """The handler itself."""
        return self.handlers.members[self.item].node

    @property
    def program(self) -> Program:
        """The program and the arguments that the handler names."""
        value = self.node.value
        args = value.get("args")
        return Program(value["command"], tuple(map(str, args)) if isinstance(args, list) else ())


class WrongShape(ValueError):
    """The settings hold something else where hooks should stand; the text says what."""


def find_handlers(text: str) -> list[Handler]:
    """Return all handlers of ours in the settings *text*, in their order.

    Raises:
        json.JSONDecodeError, WrongShape
    """
    return list(_handlers(_settings(text)))


def with_hooks(text: str, program: Program, hooks: tuple[Hook, ...], spared: Collection[str] = ()) -> str:
    """Return the settings *text* with all *hooks* running *program*, and every other byte kept.

    Handlers of ours that stand there get the new program and keep the rest: timeout, matcher, place. Those of the
    events *spared* stay as they are.

    Raises:
        json.JSONDecodeError, WrongShape
    """
    if _is_blank(text):
        text = "{}\n"
    _check_lists(_settings(text), hooks)
    for handler in reversed(find_handlers(text)):  # from behind, so that places stay true
        if handler.event not in spared:
            text = _with_program(text, handler, program, hooks)
    for hook in hooks:
        text = _with_hook(text, hook, program)
    return text


def without_hooks(text: str, original: str | None, spared: Collection[str] = ()) -> str:
    """Return the settings *text* without any handler of ours, but for those of the events *spared*.

    *original* is the text from before the installation. It tells which empty lists and objects are the user's.

    Raises:
        json.JSONDecodeError, WrongShape
    """
    try:
        owned = _lists(_settings(original)) if original is not None else set()
    except ValueError:  # the original is of no help
        owned = set()
    return _without(text, owned, spared)


def changes_kept(text: str, hooks: tuple[Hook, ...]) -> list[str]:
    """Return a sentence for each change that the user has made to the handlers of *hooks* in the settings *text*.

    Raises:
        json.JSONDecodeError, WrongShape
    """
    by_event = {hook.event: hook for hook in hooks}
    return [
        sentence
        for handler in find_handlers(text)
        if handler.event in by_event
        for sentence in _changes(handler, by_event[handler.event])
    ]


def _changes(handler: Handler, hook: Hook) -> Iterator[str]:
    group, value = handler.groups.members[handler.group].node.value, handler.node.value
    expected = _group(hook, handler.program)
    pairs = [("matcher", group.get("matcher", ""), expected.get("matcher", ""))]
    pairs += [
        (name, value.get(name), expected["hooks"][0].get(name))
        for name in dict.fromkeys([*expected["hooks"][0], *value])
        if name not in ("type", "command", "args", "statusMessage")
    ]
    for name, there, ours in pairs:
        if there != ours:
            yield f"{hook.event}: {name} {_shown(there)}" + (f", not {_shown(ours)}" if ours else "")


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if value not in (None, "") else "none"


def _group(hook: Hook, program: Program) -> dict[str, Any]:
    handler = {
        "type": "command",
        **program.fields,
        "timeout": hook.timeout,
        **status_message(hook),
    }
    return ({"matcher": hook.matcher} if hook.matcher else {}) | {"hooks": [handler]}


def status_message(hook: Hook) -> dict[str, str]:
    """Return the field of a handler that says what *hook* does, if it has anything to say."""
    return {"statusMessage": hook.status} if hook.status else {}


def _with_hook(text: str, hook: Hook, program: Program) -> str:
    root = _settings(text)
    group = _group(hook, program)
    hooks = root.get("hooks")
    if hooks is None:
        return json_text.added(text, root, {hook.event: [group]}, "hooks")
    groups = hooks.get(hook.event)
    if groups is None:
        return json_text.added(text, hooks, [group], hook.event)
    if any(handler.event == hook.event for handler in _handlers(root)):
        return text
    return json_text.added(text, groups, group)


def _with_program(text: str, ours: Handler, program: Program, hooks: tuple[Hook, ...]) -> str:
    handler = ours.node
    # `args` stands there even when it is empty: without it the client hands the command to a shell.
    wanted = [(handler.get(name), name, value) for name, value in program.fields.items()]
    for node, name, value in sorted(wanted, key=lambda item: item[0].start if item[0] else handler.end, reverse=True):
        if node is None:
            text = json_text.added(text, handler, value, name)
        elif node.value != value:
            text = json_text.replaced(text, node, value)
    status = next((hook.status for hook in hooks if hook.event == ours.event), "")
    if status and handler.get("statusMessage") is None:  # an older installation has none
        again = next(each for each in find_handlers(text) if each[:3] == ours[:3])
        text = json_text.added(text, again.node, status, "statusMessage")
    return text


def _without(text: str, owned: set[str], spared: Collection[str]) -> str:
    """Return *text* without our handlers, but for those of *spared*. What is *owned* by the user stays if empty."""
    while True:
        root = _settings(text)
        handler = next((handler for handler in _handlers(root) if handler.event not in spared), None)
        if handler is None:
            return text
        text = json_text.removed(text, *_what_becomes_empty(root, handler, owned))


def _what_becomes_empty(root: Node, handler: Handler, owned: set[str]) -> tuple[Node, int]:
    """Return the outermost thing that holds nothing but *handler* and is not the user's, as (where, which)."""
    group = handler.groups.members[handler.group].node
    if len(handler.handlers.members) > 1 or group.value.keys() - {"matcher", "hooks"}:
        return handler.handlers, handler.item
    if len(handler.groups.members) > 1 or handler.event in owned:
        return handler.groups, handler.group
    hooks = root.get("hooks") or root
    if len(hooks.members) > 1 or "" in owned:
        return hooks, [member.name for member in hooks.members].index(handler.event)
    return root, [member.name for member in root.members].index("hooks")


def _is_blank(text: str) -> bool:
    return not text.strip("\ufeff \t\r\n")


def _lists(root: Node) -> set[str]:
    """Return the events that have a list of groups, and an empty string if there is an object for them at all."""
    hooks = root.get("hooks")
    return {"", *hooks.value} if hooks else set()


def _settings(text: str) -> Node:
    root = json_text.parse("{}" if _is_blank(text) else text)
    if not isinstance(root.value, dict):
        raise WrongShape("it should hold an object, {…}")
    hooks = root.value.get("hooks", {})
    if not isinstance(hooks, dict):
        raise WrongShape("'hooks' in it should be an object, {…}")
    return root


def _check_lists(root: Node, hooks: tuple[Hook, ...]) -> None:
    there = root.value.get("hooks", {})
    for hook in hooks:
        if not isinstance(there.get(hook.event, []), list):
            raise WrongShape(f"'hooks.{hook.event}' in it should be a list, […]")


def _handlers(root: Node) -> Iterator[Handler]:
    hooks = root.get("hooks")
    for event in hooks.members if hooks else ():
        for group, member in enumerate(event.node.members):
            handlers = member.node.get("hooks")
            for item, handler in enumerate(handlers.members if handlers else ()):
                if handlers and is_ours(handler.node.value):
                    yield Handler(event.name, group, item, event.node, handlers)


def is_ours(handler: object) -> bool:
    """Return whether the *handler* of a client runs the hook of memtool, wherever that lies."""
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
    if vault and not _is_unicode(vault):
        raise BadSetting(f"the path of the vault '{vault}' is not Unicode", hint="Give its folder another name.")
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


def _is_unicode(path: Path) -> bool:
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
