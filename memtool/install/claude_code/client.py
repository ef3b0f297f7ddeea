"""Claude Code, as memtool is installed into it: for the user in all projects, or for one project."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from memtool import settings
from memtool.install import client_files
from memtool.install.claude_code import places
from memtool.install.claude_code.health import (
    find_plugin,
    hooks_in,
    installed_in,
    obstacles,
    project_notices,
    repository_of,
    settings_paths,
    why_unread,
)
from memtool.install.claude_code.hook_list import HINTS, HOOKS
from memtool.install.claude_code.rule_files import rule_shares
from memtool.install.claude_code.skill_files import skill_shares
from memtool.install.client_setups import ClientPart, ClientSetup, Target
from memtool.install.entries import JsonEntry
from memtool.install.hook_shares import HookShare
from memtool.install.hooks import Hook, changes_kept, find_program
from memtool.install.own_texts import Block
from memtool.install.plans import Plan, Share, parts_there
from memtool.install.record import is_own
from memtool.recall.routing.routes import read_routing
from memtool.resources import agent_text
from memtool.vault.projects import find_project

_PARTS = (
    ClientPart("hooks", "capture each session and give it the memory of its project"),
    ClientPart("mcp", "let the model search and save by itself"),
    ClientPart("skills", "remember, recall and forget by a word of yours"),
    ClientPart("rules", "name the notes to read when a word comes up or a file is opened"),
    ClientPart(
        "instructions", "tell the model of the memory in the project's CLAUDE.md", is_default=False, flag="--claude-md"
    ),
    ClientPart(
        "hints",
        "give the rules that name a file before its edit, and what was tried when a check keeps failing",
        is_default=False,
        flag="--hints/--no-hints",
    ),
)


def shares(target: Target) -> list[Share]:
    """Return the shares of all parts.

    Raises:
        BadSetting: the home folder is unknown, or the vault's path cannot be written into settings.
    """
    environ, project = target.environ, target.project
    path = places.project_settings_path(project) if project else places.user_settings_path(environ)
    program = find_program(target.named, this_project=project is not None)
    found: list[Share] = [
        HookShare("hooks", path, program, HOOKS, _events(HINTS)),
        HookShare("hints", path, program, HINTS, _events(HOOKS)),
        _mcp_share(target),
        *_instruction_shares(target),
    ]
    if project is None:
        found += skill_shares(environ)
        if target.vault is None or is_own(environ, target.vault):
            found += rule_shares(environ, target.vault)
    return found


def brought(target: Target) -> tuple[str, ...]:
    """Return the parts that the plugin brings, where the client has it: its hooks leave each event to ours."""
    plugin = find_plugin(settings_paths(target.environ, target.project), target.environ)
    return ("mcp", "skills") if plugin and plugin.version else ()


def notices(target: Target, planned: Plan) -> Iterator[str]:
    """Give a sentence for whatever keeps the installation from doing what its user expects."""
    project = target.project
    path = places.project_settings_path(project) if project else places.user_settings_path(target.environ)
    after = next((change.after for change in planned.changes if change.path == path), None)
    content = None if after else client_files.read(path)
    text = after or (content.text if content else "")
    yield from (f"kept as you have changed it: {sentence}" for sentence in changes_kept(text, (*HOOKS, *HINTS)))
    if unread := why_unread(path, text):
        yield unread
    vault = target.vault
    if vault and project is None and not is_own(target.environ, vault) and read_routing(vault).routes:
        yield f"no rules were written: `memtool init {vault.root}` says that the vault is yours"
    yield from project_notices(project) if project else ()
    yield from obstacles(target.environ, project or target.folder)


def left(target: Target) -> Iterator[str]:
    """Give a sentence for each other place where memtool is still installed."""
    for path in installed_in(target.environ, target.folder):
        yield f"hooks of memtool still stand in {path}"
    for project in _known_projects(target):
        here = target._replace(project=project)
        settings_file = places.project_settings_path(project)
        if parts_there([_mcp_share(here)]) or (project != target.folder and hooks_in(settings_file)):
            folder = shlex.quote(str(project))
            yield f"still installed for one project: `memtool uninstall claude-code --project {folder}`"


def _known_projects(target: Target) -> list[Path]:
    """Return the projects in which the client has been used, or has a server for one project."""
    known = client_files.values(places.state_path(target.environ)).get("projects")
    return [Path(name) for name in known] if isinstance(known, dict) else []


def _instruction_shares(target: Target) -> list[Block]:
    """Return a block in the CLAUDE.md of the project at hand; to uninstall, in that of each project that has one."""
    folder = target.project or target.folder
    projects = [repository_of(folder)] if folder else []
    if target.vault is None and target.project is None:
        projects += _known_projects(target)
    language = settings.load(target.vault.settings_path, target.environ).general.language if target.vault else "en"
    body = agent_text("instructions", language)
    return [Block("instructions", root / "CLAUDE.md", body) for root in dict.fromkeys(projects)]


def _mcp_share(target: Target) -> JsonEntry:
    command, *args = target.mcp_program()
    value = {"type": "stdio", "command": command, "args": args, "env": {}}  # as the client itself writes it
    # A project is known by the folder of its repository: one for all its subfolders and worktrees (seen in 2.1.330).
    where = ("projects", str(find_project(target.project).root)) if target.project else ()
    return JsonEntry("mcp", places.state_path(target.environ), (*where, "mcpServers", "memtool"), value)


def _events(hooks: tuple[Hook, ...]) -> frozenset[str]:
    return frozenset(hook.event for hook in hooks)


BY_NAME = {
    "claude-code": ClientSetup("claude-code", "Claude Code", _PARTS, shares, notices, left, brought, reads_at_once=True)
}
