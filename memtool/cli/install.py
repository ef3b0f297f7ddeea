"""`memtool install`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from memtool import settings
from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import UsageError
from memtool.integrations.claude_code import hooks, places
from memtool.integrations.claude_code.health import obstacles, project_notices, why_unread
from memtool.integrations.claude_code.hooks import HINTS, HOOKS, Hook, Program, find_program
from memtool.integrations.claude_code.install import Change, install
from memtool.integrations.claude_code.rule_files import RuleChanges, install_rules
from memtool.integrations.claude_code.skill_files import SKILL_FILE, install_skills
from memtool.integrations.own_vaults import call_own, is_own

PROJECT = click.option(
    "--project",
    metavar="[PATH]",
    is_flag=False,
    flag_value=".",
    help="Only for the project in PATH, or in the working folder.",
)
DRY_RUN = click.option("--dry-run", is_flag=True, help="Print the difference and write nothing.")


@click.group()
def command() -> None:
    """Let another program work with memtool."""


@command.command("claude-code")
@PROJECT
@click.option(
    "--hints/--no-hints",
    default=None,
    help="Also look before each command and each edit for what held before: a fix, a rule, a decision.",
)
@DRY_RUN
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@with_vault
def claude_code(session: Session, project: str | None, *, hints: bool | None, dry_run: bool, as_json: bool) -> None:
    """Let Claude Code write down its sessions and read notes.

    The hooks go into your own settings, so that they hold in every project. With --project they go into
    `.claude/settings.local.json` there. Every other byte of the file is kept. Run it again at any time: it
    brings the hooks up to date, and keeps a timeout or a matcher that you have changed.

    The skills memtool-remember, memtool-recall and memtool-forget come beside your own settings. If areas of the vault
    have triggers or paths, rule files there name the notes to read.
    """
    path = settings_path(session, project)
    program = find_program(named_vault(session), this_project=project is not None)
    change = install(path, program, hints=hints, dry_run=dry_run)
    rules = RuleChanges()
    if project is None:
        rules = _rules(session, dry_run=dry_run, may_ask=not as_json)
        rules = together(rules, install_skills(session.environ, dry_run=dry_run))
    notices = [*_notices(session, change, project), *rules.notices]
    if as_json:
        fields = {
            "events": [hook.event for hook in _installed(change)],
            "command": [program.command, *program.args],
            "vault": str(session.vault.root),
            "notices": notices,
        }
        output.emit_json(as_fields(change, rules, dry_run=dry_run) | fields)
    elif dry_run and (change.is_change or rules.changes):
        output.emit_text(diff(change, rules))
    else:
        click.echo(output.printable_lines(_as_text(change, rules, program, session.vault.root, project)))
    if not as_json:
        output.say(*notices)


def _rules(session: Session, *, dry_run: bool, may_ask: bool) -> RuleChanges:
    """Bring the rules up to date; the words of a vault that the user has not called his own stay where they are."""
    vault = session.vault
    planned = install_rules(session.environ, vault, dry_run=True)
    if dry_run or not any(change.after for change in planned.changes):
        return install_rules(session.environ, vault, dry_run=dry_run)
    if not is_own(session.environ, vault):
        root = output.printable(str(vault.root))
        question = f"Claude Code would read rules made of the triggers in {root}. Is that vault yours?"
        if not (may_ask and sys.stdin.isatty() and click.confirm(question, err=True)):
            return RuleChanges(notices=(f"no rules were written: `memtool init {root}` says that the vault is yours",))
        call_own(session.environ, vault)
    return install_rules(session.environ, vault)


def settings_path(session: Session, project: str | None) -> Path:
    """Return the settings file that the command line speaks of."""
    if project is None:
        return places.user_settings_path(session.environ)
    return places.project_settings_path(project_folder(project))


def project_folder(name: str) -> Path:
    """Return the folder *name*, absolute.

    Raises:
        UsageError: there is no such folder.
    """
    folder = Path(name).absolute()
    if not name or not folder.is_dir():
        raise UsageError(f"there is no folder '{name}'", hint="Name the folder of a project, such as `--project .`.")
    return folder


def working_folder() -> Path | None:
    """Return the working folder, None if it has been removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


def diff(change: Change, rules: RuleChanges) -> str:
    """Return the changes to all files as one unified diff."""
    return "".join(one.diff() for one in (change, *rules.changes))


def as_fields(change: Change, rules: RuleChanges, *, dry_run: bool) -> dict[str, object]:
    """Return *change* and that of the *rules* for JSON."""
    return {
        "settings": str(change.path),
        "rules": [str(rule.path) for rule in rules.changes if rule.path.name != SKILL_FILE],
        "skills": [str(skill.path) for skill in rules.changes if skill.path.name == SKILL_FILE],
        "changed": change.is_change or bool(rules.changes),
        "dry_run": dry_run,
        "diff": diff(change, rules),
        "backup": str(change.original) if change.original else "",
    }


def named_vault(session: Session) -> Path | None:
    """Return the vault to name to the hooks: none where they find it by themselves, so that it may move."""
    origin = session.vault_path()[1]
    vault = session.vault.root  # it must be there
    found_by_itself = origin in ("default", str(settings.user_config_path(session.environ)))
    return None if found_by_itself else vault


def _notices(session: Session, change: Change, project: str | None) -> list[str]:
    kept = [f"kept as you have changed it: {sentence}" for sentence in hooks.changes_kept(change.after or "")]
    unread = why_unread(change.path, change.after or "")
    for_project = project_notices(project_folder(project)) if project else []
    folder = project_folder(project) if project else working_folder()
    return [*kept, *filter(None, [unread]), *for_project, *obstacles(session.environ, folder)]


def _as_text(change: Change, rules: RuleChanges, program: Program, vault: Path, project: str | None) -> str:
    if not change.is_change:
        done = "" if rules.changes else "Nothing to do: "
        return "\n".join([f"{done}memtool's hooks are in {change.path} already.", *rule_lines(rules)])
    installed = _installed(change)
    width = max(len(hook.event) for hook in installed)
    named = "" if program.vault else ", or into another that your settings name later"
    lines = [f"memtool's hooks are in {change.path} now:"]
    lines += [f"  {hook.event:<{width}}  {hook.deed}" for hook in installed]
    lines.append(f"From now on sessions are written into the vault at {vault}{named}.")
    lines += rule_lines(rules)
    lines.append("Sessions that are running take part within seconds.")
    if project:
        lines.append("The file is for this machine only, because it holds paths of this machine.")
    if change.original:
        lines.append(f"The file as it was before: {change.original}")
    lines.append(f"To undo: {_undoing(project)}")
    return "\n".join(lines)


def _installed(change: Change) -> list[Hook]:
    """Return the hooks that the settings have after *change*."""
    there = {handler.event for handler in hooks.find_handlers(change.after or "")}
    return [hook for hook in (*HOOKS, *HINTS) if hook.event in there]


def together(rules: RuleChanges, skills: RuleChanges) -> RuleChanges:
    """Return the changes of both."""
    return RuleChanges((*rules.changes, *skills.changes), (*rules.notices, *skills.notices))


def rule_lines(rules: RuleChanges) -> list[str]:
    """Say which rules and skills are other ones now."""
    kinds = {SKILL_FILE: "skill"}
    return [
        f"{'Removed' if rule.after is None else 'Wrote'} the {kinds.get(rule.path.name, 'rule')} {rule.path}"
        for rule in rules.changes
    ]


def _undoing(project: str | None) -> str:
    import shlex

    option = f" --project {shlex.quote(str(project_folder(project)))}" if project else ""
    return f"memtool uninstall claude-code{option}"
