"""`memtool install` and `memtool uninstall`, for the agents of `memtool.clients`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import click

from memtool import settings
from memtool.cli import completion, output, writer_choice
from memtool.cli.options import DRY_RUN, with_json
from memtool.cli.session import Session
from memtool.clients import CLAUDE_CODE
from memtool.consolidate.week import SCHEDULE, read_kept
from memtool.doctor.vault import can_write
from memtool.errors import MemtoolError, UsageError
from memtool.history.template import make_vault
from memtool.install.agents import AGENTS, AgentPart, AgentSetup, Target, agents_with_memtool, get_setup
from memtool.install.hook_probe import probe
from memtool.install.hooks import find_program
from memtool.install.plans import Plan, carry_out, plan
from memtool.install.record import call_own_while_installed, do_without, is_own, parts_without, update
from memtool.installation import how_to_remove
from memtool.recall.routing.routes import read_routing
from memtool.service_client import end_services
from memtool.vault.layout import Vault
from memtool.vault.project_area import shown_path

_PROJECT = click.option(
    "--project",
    metavar="[PATH]",
    is_flag=False,
    flag_value=".",
    shell_complete=completion.folders,
    help="Only for the project in PATH, by default in the working folder.",
)
_NAMES = click.argument("agents", nargs=-1, required=True, metavar="AGENT...", type=click.Choice(list(AGENTS)))
_NAMED = "memtool.agents"


class AgentCommand(click.Command):
    """A command on agents. Its help lists them; after the name of one, the parts of that one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remember the agents for the help, which is printed before the arguments are parsed."""
        ctx.meta[_NAMED] = [get_setup(name) for name in args if name in AGENTS]
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the text, and below it the agents or their parts."""
        super().format_help_text(ctx, formatter)
        for client in ctx.meta[_NAMED]:
            with formatter.section(f"The parts of {client.title}"):
                formatter.write_dl([(part.name, _help(part)) for part in client.parts()])
        if not ctx.meta[_NAMED]:
            with formatter.section("Agents"):
                formatter.write_dl([(name, get_setup(name).title) for name in AGENTS])


def _help(part: AgentPart) -> str:
    return f"{part.purpose[0].upper()}{part.purpose[1:]}{'' if part.is_default else ' (on request)'}."


_PARTS = {part.name: _help(part) for part in get_setup(CLAUDE_CODE).parts()}


@click.command(cls=AgentCommand, no_args_is_help=True)
@_NAMES
@_PROJECT
@click.option("--with", "with_parts", multiple=True, metavar="PART", help="Include this part. Repeatable.")
@click.option("--without", multiple=True, metavar="PART", help="Leave this part out, or remove it. Repeatable.")
@click.option("--hints/--no-hints", default=None, help=_PARTS["hints"])
@click.option("--claude-md", is_flag=True, help=_PARTS["instructions"])
@writer_choice.OPTION
@writer_choice.YES
@DRY_RUN
@with_json
def command(
    session: Session,
    agents: tuple[str, ...],
    *,
    writer: str | None,
    yes: bool,
    hints: bool | None,
    claude_md: bool,
    **options: Any,  # noqa: ANN401
) -> None:
    """Connect Claude Code and other agents to memtool.

    If there is no vault, it is made. Only memtool's own entries in a file are changed, and `memtool uninstall` removes
    them. Run this again at any time: it brings everything up to date, and keeps your changes. A part that you left out
    stays out until --with brings it back. `memtool install AGENT --help` lists the parts of an agent.

    At a terminal you are asked once who writes the notes of sessions: a model, or memtool's own rules. No model is
    called without your consent. `memtool config set llm.writer none` changes that at any time.
    """
    clients = [get_setup(name) for name in dict.fromkeys(agents)]
    if (claude_md or hints is not None) and CLAUDE_CODE not in agents:
        raise UsageError(f"{'--claude-md' if claude_md else '--hints'} is for Claude Code only")
    options["with_parts"] += ("instructions",) * claude_md + ("hints",) * (hints is True)
    options["without"] += ("hints",) * (hints is False)
    _check_parts(clients, options)
    done = [_install(client, session, **options) for client in clients]
    captures = any("hooks" in cast("list[str]", one["parts"]) for one in done)
    asks = not session.as_json and sys.stdin is not None and sys.stdin.isatty()
    note = ""
    if captures or writer:
        dry_run = options["dry_run"]
        note = writer_choice.choose_writer(session.environ, agents, writer, yes=yes, asks=asks, dry_run=dry_run)
    if session.emits({**(done[0] if len(done) == 1 else {"agents": done}), "notes": note}):
        return
    if note and (writer or yes or asks or any(one["changed"] for one in done)):
        click.echo(note)
    if diffs := [str(one["diff"]) for one in done if options["dry_run"] and one["diff"]]:
        output.emit_text("\nThe changes, line by line:\n" + "".join(diffs))


def _check_parts(clients: list[AgentSetup], options: dict[str, Any]) -> None:
    known = dict.fromkeys(part.name for client in clients for part in client.parts())
    for option, names in (("--with", options["with_parts"]), ("--without", options["without"])):
        for name in names:
            if name not in known:
                raise UsageError(f"{option}: there is no part '{name}'", hint=f"The parts are {', '.join(known)}.")
    if both := sorted({*options["with_parts"]} & {*options["without"]}):
        raise UsageError(f"--with and --without both name {both[0]}")


def _install(
    client: AgentSetup, session: Session, *, project: str | None, with_parts: Collection[str],
    without: Collection[str], dry_run: bool,
) -> dict[str, object]:  # fmt: skip
    """Install into *client*, print the result unless it is to be JSON, and return it."""
    if project and not Path(project).is_dir():
        raise UsageError(f"there is no folder '{project}'", hint="Name the folder of a project, such as `--project .`.")
    own = {part.name for part in client.parts()}
    vault, is_new = _vault(session, dry_run=dry_run)
    if not (is_new or dry_run or session.as_json):
        _ask_whose(client, session, vault)
    # A vault that memtool finds by itself may move, so the client's files do not name it.
    is_found = session.vault_path()[1] in ("default", str(settings.user_config_path(session.environ)))
    target = _target(session, project)._replace(vault=vault, named=None if is_found else vault.root)
    chosen = {*with_parts} & own
    refused = ({*without} & own | {*parts_without(session.environ, client.installation(target))}) - chosen
    brought = {*client.brought(target)} - chosen - refused
    planned = plan(client.shares(target), client.wanted(chosen, refused | brought))
    if not dry_run:
        carry_out(planned, session.environ)
        do_without(session.environ, client.installation(target), refused)
    notices = [*planned.notices, *_left_out(brought, refused - {*without}), *client.notices(target, planned)]
    if vault.root.exists() and not can_write(vault.root):
        notices.append(f"{vault.root} is read-only, so nothing can be saved there: check its permissions")
    if not session.as_json:
        click.echo(output.printable_lines(_as_text(client, target, vault, planned, is_new=is_new, dry_run=dry_run)))
        output.say(*notices)
    fields = {"parts": planned.parts, "vault": str(vault.root), "vault_made": is_new, "notices": notices}
    return {"agent": client.name, **_fields(planned, dry_run=dry_run), **fields}


def _left_out(brought: Collection[str], refused: Collection[str]) -> Iterator[str]:
    if brought:
        yield f"left to the plugin: {', '.join(sorted(brought))}. Otherwise the model would have each tool twice"
    if refused:
        yield f"still without {', '.join(sorted(refused))}, as you chose before: `--with` brings a part back"


def _vault(session: Session, *, dry_run: bool) -> tuple[Vault, bool]:
    """Return the vault, and whether there was none: then it is made, except in a dry run."""
    root = session.vault_path()[0].expanduser()
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        session.vault.check_made()
        return session.vault, False
    if dry_run:
        return Vault(root.absolute()), True
    made = make_vault(root, home=Path.home(), announce=output.say)
    call_own_while_installed(session.environ, made.vault)
    return made.vault, True


def _ask_whose(client: AgentSetup, session: Session, vault: Vault) -> None:
    """Ask whether a vault with triggers is the user's: no text of a stranger's vault gets into a client's files."""
    if is_own(session.environ, vault) or not sys.stdin.isatty() or not read_routing(vault).routes:
        return
    root = output.printable(str(vault.root))
    question = f"{client.title} would read rules made from the triggers in {root}. Is that vault yours?"
    if click.confirm(question, err=True):
        call_own_while_installed(session.environ, vault)


def _target(session: Session, project: str | None) -> Target:
    """Return the target of the command line, without a vault."""
    if project == "":
        raise UsageError("PATH is empty", hint="Name the folder of a project, such as `--project .`.")
    folder = Path(project).absolute() if project else None
    here: Path | None = None
    with suppress(FileNotFoundError):  # it has been removed
        here = Path.cwd()
    return Target(session.environ, Path.home(), here, folder)


def _fields(planned: Plan, *, dry_run: bool) -> dict[str, object]:
    """Return the plan for JSON."""
    return {
        "files": [
            {
                "path": str(change.path),
                "parts": change.parts,
                "removed": change.after is None,
                "backup": str(change.original or ""),
            }
            for change in planned.changes
        ],
        "changed": bool(planned.changes),
        "dry_run": dry_run,
        "diff": planned.diff(),
    }


def files_of(planned: Plan, home: Path) -> str:
    """Return the files that the plan changes as one line; several of one part by the folder that they are in."""
    by_parts: dict[tuple[str, ...], list[Path]] = {}
    for change in planned.changes:
        by_parts.setdefault(change.parts, []).append(change.path)
    return ", ".join(
        shown_path(str(paths[0]), None, home)
        if len(paths) == 1
        else f"{shown_path(os.path.commonpath(paths), None, home)} ({len(paths)} files)"
        for paths in by_parts.values()
    )


def _as_text(client: AgentSetup, target: Target, vault: Vault, planned: Plan, *, is_new: bool, dry_run: bool) -> str:
    if not planned.changes:
        return f"Nothing to do: {client.title} already has memtool's {', '.join(planned.parts)}."
    kept = " The original: *.memtool-backup beside it." if any(change.original for change in planned.changes) else ""
    where = shown_path(str(vault.root), None, target.home)
    project = f" --project {shlex.quote(str(target.project))}" if target.project else ""
    named = "" if target.named else ", or to another one that your settings name later"
    written = "Sessions are saved to" if "hooks" in planned.parts else "What its model saves goes to"
    made = ", which would be made" if dry_run else ", made now"
    parts = ", ".join(planned.parts)
    return "\n".join([
        f"{client.title} would work with memtool: {parts}. Nothing has been written."
        if dry_run
        else f"{client.title} now works with memtool: {parts}. {_STARTS[client.reads_at_once]}",
        f"{'Would change' if dry_run else 'Changed'}: {files_of(planned, target.home)}.{kept}",
        f"{written} the vault at {where}{made if is_new else ''}{named}.",
        f"Cost: {_cost(target, vault) if client.row.recalls and 'hooks' in planned.parts else _ON_REQUEST}",
        f"To install: memtool install {client.name}{project}, with the same options."
        if dry_run
        else f"To undo: memtool uninstall {client.name}{project}",
    ])  # fmt: skip


_STARTS = {True: "It starts with running sessions.", False: "It starts with new sessions."}
_ON_REQUEST = "only what the model requests from its memory."


def _cost(target: Target, vault: Vault) -> str:
    """Return the cost of a session and a prompt: the limits of the settings, and the measured time of a hook."""
    recall = settings.load(vault.settings_path, target.environ).recall
    program = find_program(None, this_project=False)
    took = min(probe(program).milliseconds for _ in range(2))
    return (
        f"at most {recall.session_tokens:,} tokens when a session begins and {recall.prompt_characters:,} characters "
        f"for a prompt, if something fits; {took} ms for a hook on this machine; no model is called."
    )


@click.command("uninstall", cls=AgentCommand, no_args_is_help=True)
@_NAMES
@_PROJECT
@DRY_RUN
@with_json
def uninstall(session: Session, agents: tuple[str, ...], *, project: str | None, dry_run: bool) -> None:
    """Remove memtool from Claude Code and other agents.

    This removes exactly what `memtool install` added, whichever version did it, and for whichever vault. A file that
    was not changed since gets its original bytes back. The vault is kept, and need not exist.
    """
    clients = [get_setup(name) for name in dict.fromkeys(agents)]
    done = [_uninstall(client, session, project, dry_run=dry_run) for client in clients]
    session.emits(done[0] if len(done) == 1 else {"agents": done})


def _uninstall(client: AgentSetup, session: Session, project: str | None, *, dry_run: bool) -> dict[str, object]:
    target = _target(session, project)
    planned = client.removal(target)
    if not dry_run:
        carry_out(planned, session.environ)
        do_without(session.environ, client.installation(target), ())
        if not agents_with_memtool(target):
            update(session.environ, lambda record: record.vaults.clear())
    ended = end_services(settings.user_cache_path(session.environ)) if project is None and not dry_run else 0
    notices = [*planned.notices, *client.left(target)]
    with suppress(MemtoolError):  # the vault need not exist
        if kind := read_kept(session.work, SCHEDULE):
            notices.append(f"{kind} still consolidates each week: `memtool schedule remove` removes that")
    if not session.as_json:
        if dry_run and planned.changes:
            output.emit_text(planned.diff())
        elif planned.changes:
            click.echo(f"memtool is removed from {client.title}. Changed: {files_of(planned, target.home)}.")
            click.echo(f"Your vault is kept: delete its folder to remove it. To remove memtool, `{how_to_remove()}`.")
        else:
            click.echo(f"Nothing to do: memtool is not in {client.title}.")
        output.say(*notices)
    fields = {"processes_ended": ended, "notices": notices}
    return {"agent": client.name, **_fields(planned, dry_run=dry_run), **fields}
