"""`memtool install`: into the agents of `memtool.clients`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, cast

import click

from memtool import settings
from memtool.cli import output, writer_choice
from memtool.cli.session import Session, with_vault
from memtool.errors import UsageError
from memtool.history.template import make_vault
from memtool.install.agents import AGENTS, AgentPart, AgentSetup, Target, get_setup
from memtool.install.hook_probe import probe
from memtool.install.hooks import find_program
from memtool.install.plans import Plan, carry_out, plan
from memtool.install.record import call_own_while_installed, do_without, is_own, parts_without
from memtool.recall.routing.routes import read_routing
from memtool.vault.layout import Vault
from memtool.vault.project_area import shown_path

PROJECT = click.option(
    "--project",
    metavar="[PATH]",
    is_flag=False,
    flag_value=".",
    help="Only for the project in PATH, or in the working folder.",
)
DRY_RUN = click.option("--dry-run", is_flag=True, help="Print the difference and write nothing.")
NAMES = click.argument("agents", nargs=-1, required=True, metavar="AGENT...", type=click.Choice(list(AGENTS)))
_ASKED_FOR = "memtool.agents"
JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


class AgentCommand(click.Command):
    """A command on agents. Its help lists them; behind the name of one, what that one gets."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take note of the agents for the help, which is asked for before the arguments are read."""
        ctx.meta[_ASKED_FOR] = [get_setup(name) for name in args if name in AGENTS]
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the text, and below it the agents or their parts."""
        super().format_help_text(ctx, formatter)
        for client in ctx.meta[_ASKED_FOR]:
            with formatter.section(f"The parts of {client.title}"):
                formatter.write_dl([(part.name, _purpose(part)) for part in client.parts()])
        if not ctx.meta[_ASKED_FOR]:
            with formatter.section("Agents"):
                formatter.write_dl([(name, get_setup(name).title) for name in AGENTS])


def _purpose(part: AgentPart) -> str:
    return f"{part.purpose[0].upper()}{part.purpose[1:]}{'' if part.is_default else ' (on request)'}."


def _with_flags(install: Callable[..., Any]) -> Callable[..., Any]:
    """Give *install* the options that parts have of their own."""
    parts = {part.flag: part for client in map(get_setup, AGENTS) for part in client.parts() if part.flag}
    for flag, part in parts.items():
        install = click.option(flag, part.name, is_flag=True, default=None, help=_purpose(part))(install)
    return install


@click.command(cls=AgentCommand, no_args_is_help=True)
@NAMES
@PROJECT
@click.option("--with", "with_parts", multiple=True, metavar="PART", help="Have this part, too.")
@click.option("--without", multiple=True, metavar="PART", help="Do not have this part; take it out if it is there.")
@_with_flags
@writer_choice.OPTION
@writer_choice.YES
@DRY_RUN
@JSON
@with_vault
def command(
    session: Session,
    agents: tuple[str, ...],
    *,
    writer: str | None,
    yes: bool,
    as_json: bool,
    **options: Any,  # noqa: ANN401
) -> None:
    """Let Claude Code and other agents work with memtool.

    A vault is made where there is none. Every other byte of a file that is changed stays, and `memtool uninstall`
    takes out what this puts in. Run it again at any time: it brings everything up to date, and keeps what you have
    changed in it. A part that you have done without stays out, also when you run this again, until --with brings it
    back. What each agent gets: `memtool install AGENT --help`.

    At a terminal you are asked once who writes the notes of sessions: a model, of which nothing is asked without your
    yes, or memtool's own rules. `memtool config set llm.writer none` changes that at any time.
    """
    clients = [get_setup(name) for name in dict.fromkeys(agents)]
    _check_parts(clients, options)
    done = [_install(client, session, as_json=as_json, **options) for client in clients]
    captures = any("hooks" in cast("list[str]", one["parts"]) for one in done)
    choice = writer_choice.WriterChoice(agents, writer, yes=yes, may_ask=not as_json, dry_run=options["dry_run"])
    note = choice.made(session.environ) if captures or writer else ""
    if as_json:
        output.emit_json({**(done[0] if len(done) == 1 else {"agents": done}), "notes": note})
        return
    if note and (choice.is_made_now or any(one["changed"] for one in done)):
        click.echo(note)
    if diffs := [str(one["diff"]) for one in done if options["dry_run"] and one["diff"]]:
        output.emit_text("\n" + "".join(diffs))


def _check_parts(clients: list[AgentSetup], options: dict[str, Any]) -> None:
    known = {part.name for client in clients for part in client.parts()}
    for option, names in (("--with", options["with_parts"]), ("--without", options["without"])):
        for name in names:
            if name not in known:
                listed = ", ".join(dict.fromkeys(part.name for client in clients for part in client.parts()))
                raise UsageError(f"{option} names no part: '{name}'", hint=f"There are {listed}.")
    flags = {part.flag for client in clients for part in client.parts()}
    for client in map(get_setup, AGENTS):
        for part in client.parts():
            if part.flag and part.flag not in flags and options[part.name] is not None:
                raise UsageError(f"{part.flag.partition('/')[0]} is for {client.title} only")
    if both := sorted({*options["with_parts"]} & {*options["without"]}):
        raise UsageError(f"--with and --without both name {both[0]}")


def _install(
    client: AgentSetup, session: Session, *, project: str | None, with_parts: Collection[str],
    without: Collection[str], dry_run: bool, as_json: bool, **flags: bool | None,
) -> dict[str, object]:  # fmt: skip
    """Install into *client*, tell of it unless it is told as JSON, and return what there is to tell."""
    if project and not Path(project).is_dir():
        raise UsageError(f"there is no folder '{project}'", hint="Name the folder of a project, such as `--project .`.")
    own = {part.name for part in client.parts()}
    vault, is_new = _vault(session, dry_run=dry_run)
    if not (is_new or dry_run or as_json):
        _ask_whose(client, session, vault)
    target = target_of(session, project)._replace(vault=vault, named=_named(session, vault))
    flagged = {name: flag for name, flag in flags.items() if flag is not None and name in own}
    asked = ({*with_parts} & own) | {name for name, flag in flagged.items() if flag}
    refused = ({*without} & own | {*parts_without(session.environ, client.installation(target))}) - asked
    brought = {*client.brought(target)} - asked - refused
    planned = plan(client.shares(target), client.wanted({*with_parts} & own, refused | brought) | flagged)
    if not dry_run:
        carry_out(planned, session.environ)
        do_without(session.environ, client.installation(target), refused)
    notices = [*planned.notices, *_left_out(brought, refused - {*without}), *client.notices(target, planned)]
    if not as_json:
        click.echo(output.printable_lines(_as_text(client, target, vault, planned, is_new=is_new, dry_run=dry_run)))
        output.say(*notices)
    fields = {"parts": planned.parts, "vault": str(vault.root), "vault_made": is_new, "notices": notices}
    return {"agent": client.name, **as_fields(planned, dry_run=dry_run), **fields}


def _left_out(brought: Collection[str], refused: Collection[str]) -> Iterator[str]:
    if brought:
        yield f"left to the plugin: {', '.join(sorted(brought))}. With both, the model would have each tool twice"
    if refused:
        yield f"still without {', '.join(sorted(refused))}, as you said before: `--with` brings a part back"


def _vault(session: Session, *, dry_run: bool) -> tuple[Vault, bool]:
    """Return the vault, and whether there was none: then it is made, unless that is only tried."""
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
    """Ask whether a vault with triggers is the user's: the words of others' vaults reach no file of a client."""
    if is_own(session.environ, vault) or not sys.stdin.isatty() or not read_routing(vault).routes:
        return
    root = output.printable(str(vault.root))
    question = f"{client.title} would read rules made of the triggers in {root}. Is that vault yours?"
    if click.confirm(question, err=True):
        call_own_while_installed(session.environ, vault)


def target_of(session: Session, project: str | None) -> Target:
    """Return the target that the command line names, without a vault."""
    if project == "":
        raise UsageError("PATH is empty", hint="Name the folder of a project, such as `--project .`.")
    folder = Path(project).absolute() if project else None
    return Target(session.environ, Path.home(), working_folder(), folder)


def working_folder() -> Path | None:
    """Return the working folder, None if it has been removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


def as_fields(planned: Plan, *, dry_run: bool) -> dict[str, object]:
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


def _named(session: Session, vault: Vault) -> Path | None:
    """Return the vault to name to the programs: none where they find it by themselves, so that it may move."""
    origin = session.vault_path()[1]
    found_by_itself = origin in ("default", str(settings.user_config_path(session.environ)))
    return None if found_by_itself else vault.root


def _as_text(client: AgentSetup, target: Target, vault: Vault, planned: Plan, *, is_new: bool, dry_run: bool) -> str:
    if not planned.changes:
        return f"Nothing to do: {client.title} has {', '.join(planned.parts)} of memtool already."
    kept = " As it was: *.memtool-backup beside it." if any(change.original for change in planned.changes) else ""
    where = shown_path(str(vault.root), None, target.home)
    named = "" if target.named else ", or into another that your settings name later"
    written = "Sessions are written into" if "hooks" in planned.parts else "What its model saves is written into"
    made = ", which would be made" if dry_run else ", made now"
    parts, project = ", ".join(planned.parts), _project_option(target)
    return "\n".join([
        f"{client.title} would work with memtool: {parts}. Nothing has been written."
        if dry_run
        else f"{client.title} works with memtool now: {parts}. {_HEARD[client.reads_at_once]}",
        f"{'Would change' if dry_run else 'Changed'}: {files_of(planned, target.home)}.{kept}",
        f"{written} the vault at {where}{made if is_new else ''}{named}.",
        f"Cost: {_cost(target, vault) if client.client.recalls and 'hooks' in planned.parts else _ASKED}",
        f"To do it: memtool install {client.name}{project}, with the same options. The changes line by line:"
        if dry_run
        else f"To undo: memtool uninstall {client.name}{project}",
    ])  # fmt: skip


_HEARD = {True: "Running sessions take part at once.", False: "Sessions that begin from now on take part."}
_ASKED = "none but what the model asks its memory for."


def _cost(target: Target, vault: Vault) -> str:
    """Say what a session and a prompt cost: tokens at most, as the settings say, and the time of a hook, measured."""
    recall = settings.load(vault.settings_path, target.environ).recall
    program = find_program(None, this_project=False)
    took = min(probe(program).milliseconds for _ in range(2))
    return (
        f"at most {recall.session_tokens:,} tokens when a session begins and {recall.prompt_characters:,} characters "
        f"for a prompt, where something fits; {took} ms for a hook on this machine; no model is asked."
    )


def _project_option(target: Target) -> str:
    import shlex

    return f" --project {shlex.quote(str(target.project))}" if target.project else ""
