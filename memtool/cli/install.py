"""`memtool install`: one command for each client of `memtool.integrations.client_setups`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import click

from memtool import settings
from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import UsageError
from memtool.integrations.client_setups import CLIENTS, ClientSetup, Target, get_client
from memtool.integrations.hook_probe import probe
from memtool.integrations.hooks import find_program
from memtool.integrations.plans import Plan, carry_out, plan
from memtool.integrations.record import call_own_while_installed, do_without, is_own, parts_without
from memtool.recall.routing.routes import read_routing
from memtool.vault.layout import Vault
from memtool.vault.project_area import shown_path
from memtool.vault.template import make_vault

PROJECT = click.option(
    "--project",
    metavar="[PATH]",
    is_flag=False,
    flag_value=".",
    help="Only for the project in PATH, or in the working folder.",
)
DRY_RUN = click.option("--dry-run", is_flag=True, help="Print the difference and write nothing.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


@click.group(chain=True)
def command() -> None:
    """Let another program work with memtool."""


def _command_for(client: ClientSetup) -> click.Command:
    """Return the command that installs into *client*."""

    def install(session: Session, **options: Any) -> None:  # noqa: ANN401  (click hands them over)
        _install(client, session, **options)

    names = click.Choice([part.name for part in client.parts])
    install.__doc__ = f"""Let {client.title} work with memtool.

    A vault is made where there is none. Every other byte of a file that is changed stays, and `memtool uninstall
    {client.name}` takes out what this puts in. Run it again at any time: it brings everything up to date, and keeps
    what you have changed in it.

    A part that you have done without stays out, also when you run this again, until --with brings it back.

    \b
    The parts:
    {_part_lines(client)}
    """
    options: list[Callable[[Any], Any]] = [
        PROJECT,
        click.option("--with", "with_parts", multiple=True, type=names, help="Have this part, too."),
        click.option("--without", multiple=True, type=names, help="Do not have this part; take it out if it is there."),
        *(
            click.option(
                part.flag, part.name, is_flag=True, default=None, help=f"{part.deed[0].upper()}{part.deed[1:]}."
            )
            for part in client.parts
            if part.flag
        ),
        DRY_RUN,
        JSON,
    ]
    for option in reversed(options):
        install = option(install)
    return click.command(client.name)(with_vault(install))


def _sentence(deed: str) -> str:
    return f"{deed[0].upper()}{deed[1:]}."


def _part_lines(client: ClientSetup) -> str:
    """Return a line for each part; the text of a command is indented by four."""
    width = max(len(part.name) for part in client.parts)
    on_request = {True: "", False: " (on request)"}
    lines = (f"{part.name:<{width}}  {part.deed}{on_request[part.is_default]}" for part in client.parts)
    return "\n    ".join(lines)


def _install(
    client: ClientSetup, session: Session, *, project: str | None, with_parts: Collection[str],
    without: Collection[str], dry_run: bool, as_json: bool, **flags: bool | None,
) -> None:  # fmt: skip
    if both := sorted({*with_parts} & {*without}):
        raise UsageError(f"--with and --without both name {both[0]}")
    if project and not Path(project).is_dir():
        raise UsageError(f"there is no folder '{project}'", hint="Name the folder of a project, such as `--project .`.")
    vault, is_new = _vault(session, dry_run=dry_run)
    if not (is_new or dry_run or as_json):
        _ask_whose(client, session, vault)
    target = target_of(session, project)._replace(vault=vault, named=_named(session, vault))
    flagged = {name: flag for name, flag in flags.items() if flag is not None}
    asked = {*with_parts, *(name for name, flag in flagged.items() if flag)}
    refused = {*without, *(parts_without(session.environ, client.installation(target)))} - asked
    brought = {*client.brought(target)} - asked - refused
    planned = plan(client.shares(target), client.wanted(with_parts, refused | brought) | flagged)
    if not dry_run:
        carry_out(planned, session.environ)
        do_without(session.environ, client.installation(target), refused)
    notices = [*planned.notices, *_left_out(brought, refused - {*without}), *client.notices(target, planned)]
    if as_json:
        fields = {"parts": planned.parts, "vault": str(vault.root), "vault_made": is_new, "notices": notices}
        output.emit_json(as_fields(planned, dry_run=dry_run) | fields)
    elif dry_run and planned.changes:
        output.emit_text(planned.diff())
    else:
        click.echo(output.printable_lines(_as_text(client, target, vault, planned, is_new=is_new)))
    if not as_json:
        output.say(*notices)


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


def _ask_whose(client: ClientSetup, session: Session, vault: Vault) -> None:
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


def _as_text(client: ClientSetup, target: Target, vault: Vault, planned: Plan, *, is_new: bool) -> str:
    if not planned.changes:
        return f"Nothing to do: {client.title} has {', '.join(planned.parts)} of memtool already."
    backups = any(change.original for change in planned.changes)
    where = shown_path(str(vault.root), None, target.home)
    named = "" if target.named else ", or into another that your settings name later"
    written = "Sessions are written into" if "hooks" in planned.parts else "What its model saves is written into"
    return "\n".join([
        f"{client.title} works with memtool now: {', '.join(planned.parts)}. {_HEARD[client.reads_at_once]}",
        f"Changed: {files_of(planned, target.home)}.{' As it was: *.memtool-backup beside it.' if backups else ''}",
        f"{written} the vault at {where}{', made now' if is_new else ''}{named}.",
        f"Cost: {_cost(target, vault) if client.recalls and 'hooks' in planned.parts else _ASKED}",
        f"To undo: memtool uninstall {client.name}{_project_option(target)}",
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


for _name in CLIENTS:
    command.add_command(_command_for(get_client(_name)))
