"""`memtool`: the command group, and its errors as sentences.

A command's module is imported when the command runs, so that `memtool search` does not pay for the others
(docs/decisions/0002-imports-and-modules.md).
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import click

from memtool import __version__, beside
from memtool.cli import output
from memtool.cli.examples import add_examples
from memtool.cli.session import Session
from memtool.errors import MemtoolError, in_words
from memtool.settings import environment, user_config_path

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_NO_COMMAND: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())  # since click 8.2; its message is the help

# name -> its line in `memtool --help`. The command is `memtool.cli.<name>:command`, or as `_PLACES` says.
COMMANDS = {
    "init": "Make a vault, or complete a folder of notes to one.",
    "search": "Find notes by words and by meaning.",
    "timeline": "Show what happened around a note, a time or a word.",
    "show": "Read a note, a fact, some lines, or the turns of a session.",
    "remember": "Save a fact, a note or an open item.",
    "facts": "List, show, change and check facts.",
    "forget": "Archive a fact or a note, or close an open item.",
    "purge": "Remove a text for good: from files, index and git history.",
    "log": "Show the changes of the memory, and why they were made.",
    "diff": "Show what a change did, line by line.",
    "blame": "Show which session and which change brought a line.",
    "undo": "Revert a change of the memory.",
    "sync": "Synchronise the vault with your other machines.",
    "given": "Show which memories a session received, and why.",
    "context": "Show what an agent receives when a session begins.",
    "consolidate": "Propose facts from the week, tidy up, write a report.",
    "config": "Read and change settings, one at a time.",
    "schedule": "Let the system consolidate each week.",
    "route": "Show which files a text, a path or a table leads to.",
    "index": "Bring the index up to date with the vault.",
    "test": "Check that prompts receive the memories you expect.",
    "eval": "Measure the search with your own questions.",
    "capture": "Turn sessions into notes; show the queue.",
    "import": "Import sessions and memories of other programs, or an export.",
    "export": "Write all facts and notes into one file.",
    "mcp": "Serve the memory to an agent over MCP.",
    "serve": "Serve the memory over HTTP, with a web page.",
    "team": "Share a memory: tokens, audit log, joining.",
    "install": "Connect Claude Code and other agents to memtool.",
    "uninstall": "Disconnect an agent, and restore its files.",
    "doctor": "Check that everything works, and show how to fix it.",
    "completion": "Let the shell complete commands, notes and ids.",
}
GROUPS = {
    "Set up": ("init", "install", "uninstall", "import", "config", "schedule", "doctor", "completion"),
    "Find and read": ("search", "show", "timeline", "context", "route", "given"),
    "Write and correct": ("remember", "facts", "forget", "purge", "capture", "consolidate"),
    "History and other machines": ("log", "diff", "blame", "undo", "sync", "export"),
    "Serve and share": ("mcp", "serve", "team"),
    "Measure and maintain": ("index", "test", "eval"),
}  # commands in no group come last in `memtool --help`
_PLACES = {
    "blame": "memtool.cli.history:blame",
    "diff": "memtool.cli.history:diff",
    "eval": "memtool.cli.measure:evaluate",
    "export": "memtool.cli.exchange:export",
    "forget": "memtool.cli.remember:forget",
    "given": "memtool.cli.context:given",
    "import": "memtool.cli.exchange:import_",
    "log": "memtool.cli.history:log",
    "purge": "memtool.cli.remember:purge",
    "schedule": "memtool.cli.consolidate:schedule",
    "sync": "memtool.cli.history:sync",
    "test": "memtool.cli.measure:test",
    "timeline": "memtool.cli.history:around",
    "undo": "memtool.cli.history:undo",
    "uninstall": "memtool.cli.install:uninstall",
    **beside.COMMANDS,
}  # commands that share a module with a sibling, or come from another room


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command *cmd_name*, imported now; None if there is no such command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = beside.load_object(_PLACES.get(cmd_name, f"memtool.cli.{cmd_name}:command"))
        return add_examples(command, cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Return the commands and options that begin like *incomplete*, without importing a command."""
        from click.shell_completion import CompletionItem

        names = [CompletionItem(name, help=COMMANDS[name]) for name in COMMANDS if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that *args* begin with, or name the nearest one."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            ctx.fail(f"No such command '{args[0]}'.{_nearest(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any."""
        grouped = {name for names in GROUPS.values() for name in names}
        others = tuple(name for name in COMMANDS if name not in grouped)
        width = max(map(len, COMMANDS))
        for title, names in (*GROUPS.items(), ("Others", others)):
            if there := [name for name in names if name in COMMANDS]:
                with formatter.section(title):
                    formatter.write_dl([(f"{name:<{width}}", COMMANDS[name]) for name in there])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Give examples, and the path of the user's own settings."""
        super().format_epilog(ctx, formatter)
        with contextlib.suppress(MemtoolError):
            formatter.write_paragraph()
            formatter.write_text(f"Your settings: {user_config_path(environment())}")


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="memtool")
@click.option("--vault", metavar="PATH", help="The vault to work on. Also accepted after the command.")
@click.pass_context
def cli(ctx: click.Context, vault: str | None) -> None:
    """The memory of a coding agent, kept as plain Markdown."""
    ctx.obj.vault_option = vault
    if ctx.obj.environ.get("NO_COLOR"):
        ctx.color = False


add_examples(cli, "")


def main() -> None:
    """Run the command line and end the process with its exit code."""
    os.umask(0o077)  # what memtool and its git write is for the user's eyes only
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    _end(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:  # noqa: PLR0911  (one for each way to end)
    """Run `memtool` with *arguments* and return its exit code. Errors become one sentence on stderr."""
    try:
        code = cli.main(arguments, prog_name="memtool", standalone_mode=False, obj=Session())
    except MemtoolError as error:
        return _say(str(error), error.hint, error.exit_code)
    except click.ClickException as error:
        return _say_wrong_use(error)
    except (click.Abort, KeyboardInterrupt) as interrupt:  # click makes the one of the other
        output.say(*getattr(interrupt.__cause__ or interrupt, "__notes__", ()))
        return 130
    except SystemExit:  # click ends so when the reader of a pipe, `head` for instance, has seen enough
        return 0
    except OSError as error:
        return _say(in_words(error), "", 1)
    except Exception:  # noqa: BLE001  (a bug in memtool: a file to report in place of a traceback)
        return _report_bug()
    return code if isinstance(code, int) else 0  # the argument of `ctx.exit`


def _end(exit_code: int) -> NoReturn:
    """End the process, as a rule without the interpreter's tidying up, which takes as long as a search."""
    if threading.active_count() == 1:  # no thread's work would be cut off
        with contextlib.suppress(OSError, ValueError):  # a full disk, a closed stream: the ordinary end deals with it
            atexit._run_exitfuncs()  # noqa: SLF001  (there is no other way to let them run now)
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:  # the caller has closed it
                    stream.flush()
            os._exit(exit_code)
    sys.exit(exit_code)


def _say_wrong_use(error: click.ClickException) -> int:
    if isinstance(error, _NO_COMMAND):
        error.show()
        return int(error.exit_code)
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context else "memtool"
    sentence = error.format_message().replace("is not a valid integer range", "is not a whole number")
    if isinstance(error, click.NoSuchOption) and context and isinstance(context.command, LazyGroup):
        group = context.command
        owners = [
            name
            for name in COMMANDS
            if (owner := group.get_command(context, name))
            and any(error.option_name in one.opts for one in owner.params)
        ]
        command = f"memtool {owners[0]}" if owners else command
        sentence = (
            f"{error.option_name} belongs after the command, as in `{command} {error.option_name}`"
            if owners
            else sentence
        )
    elif isinstance(error, click.BadParameter) and error.param and isinstance(error.param.type, click.Choice):
        sentence += _nearest(error.message.split("'")[1], error.param.type.choices)
    return _say(sentence, f"See `{command} --help`.", error.exit_code)


def _nearest(word: str, known: Iterable[str]) -> str:
    """Return the question `Did you mean …?` with the nearest of *known*; empty if none is near."""
    from difflib import get_close_matches

    near = get_close_matches(word.casefold(), list(known), 1)
    return f" Did you mean '{near[0]}'?" if near else ""


def _say(sentence: str, hint: str, exit_code: int) -> int:
    click.echo(click.style("memtool: ", fg="red") + output.printable(sentence), err=True)
    if hint:
        click.echo(output.printable(hint), err=True)
    return exit_code


def _report_bug() -> int:
    import tempfile
    import traceback

    last = traceback.format_exc(limit=-1).strip().rsplit("\n", 1)[-1]
    report = f"memtool {__version__}, Python {sys.version}, {sys.platform}\n\n{traceback.format_exc()}"
    hint = "Please report it"
    with (
        contextlib.suppress(OSError),
        tempfile.NamedTemporaryFile("wb", prefix="memtool-bug-", suffix=".log", delete=False) as log,
    ):
        log.write(report.encode("utf-8", "replace"))
        hint += f" with the file {log.name}"
    return _say(f"this is a bug in memtool: {last}", hint, 3)
