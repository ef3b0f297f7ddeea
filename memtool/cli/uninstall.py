"""`memtool uninstall`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import click

from memtool.cli import output
from memtool.cli.install import DRY_RUN, PROJECT, as_fields, diff, rule_lines, settings_path, together, working_folder
from memtool.cli.session import Session, with_vault
from memtool.consolidate.due import kept_schedule
from memtool.embeddings.helper import end_helpers
from memtool.errors import MemtoolError
from memtool.integrations.claude_code.health import installed_in
from memtool.integrations.claude_code.install import Change, uninstall
from memtool.integrations.claude_code.rule_files import RuleChanges, uninstall_rules
from memtool.integrations.claude_code.skill_files import uninstall_skills
from memtool.settings import user_cache_path


@click.group()
def command() -> None:
    """Take memtool out of another program."""


@command.command("claude-code")
@PROJECT
@DRY_RUN
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@with_vault
def claude_code(session: Session, project: str | None, *, dry_run: bool, as_json: bool) -> None:
    """Take memtool's hooks, rules and skills out of Claude Code.

    Exactly what `memtool install claude-code` put in goes, whichever memtool did it, and for whichever vault.
    The vault stays, and need not be there.
    """
    change = uninstall(settings_path(session, project), dry_run=dry_run)
    rules = uninstall_rules(session.environ, dry_run=dry_run) if project is None else RuleChanges()
    if project is None:
        rules = together(rules, uninstall_skills(session.environ, dry_run=dry_run))
    ended = end_helpers(user_cache_path(session.environ)) if project is None and not dry_run else 0
    others = [str(path) for path in installed_in(session.environ, working_folder()) if path != change.path]
    notices = [*(f"hooks of memtool still stand in {path}" for path in others), *rules.notices, *_schedule(session)]
    if as_json:
        output.emit_json(as_fields(change, rules, dry_run=dry_run) | {"helpers_ended": ended, "notices": notices})
        return
    if dry_run and (change.is_change or rules.changes):
        output.emit_text(diff(change, rules))
    else:
        click.echo(output.printable_lines(_as_text(change, rules)))
    output.say(*notices)


def _schedule(session: Session) -> Iterator[str]:
    with suppress(MemtoolError):  # the vault need not be there
        if kind := kept_schedule(session.work):
            yield f"{kind} still consolidates each week: `memtool schedule remove` takes that out"


def _as_text(change: Change, rules: RuleChanges) -> str:
    if not change.is_change:
        done = "No" if rules.changes else "Nothing to do: no"
        return "\n".join([f"{done} hook of memtool stands in {change.path}.", *rule_lines(rules)])
    if change.after is None:
        lines = [f"Removed {change.path}, which held nothing but memtool's hooks."]
    else:
        lines = [f"memtool's hooks are out of {change.path}."]
    lines += rule_lines(rules)
    if change.original:
        lines.append(f"The file as it was before the installation stays until you delete it: {change.original}")
    lines.append(
        "Your vault stays. To remove it, delete its folder; to remove memtool, `pipx uninstall memtool-vault`."
    )
    return "\n".join(lines)
