"""Claude Code, as memtool is installed into it: for the user in all projects, or for one project."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from memtool.clients import CLAUDE_CODE, CLAUDE_HOOKS, HINTS, HOOKS
from memtool.install import claude_health as health, client_files
from memtool.install.agents import AgentPart, AgentSetup, Target
from memtool.install.entries import McpEntry
from memtool.install.hook_shares import HookShare, changes_kept
from memtool.install.hooks import find_program
from memtool.install.own_texts import Block, skill_files
from memtool.install.plans import Plan, Share, parts_there
from memtool.install.record import is_own
from memtool.install.rule_files import rule_shares
from memtool.recall.routing.routes import read_routing
from memtool.vault.project_area import find_project


class ClaudeCode(AgentSetup):
    """The installation into Claude Code."""

    reads_at_once = True

    def __init__(self) -> None:
        super().__init__(CLAUDE_CODE)

    def parts(self) -> tuple[AgentPart, ...]:
        """Return the parts that the client can have."""
        hints = "show the rules that name a file before it is edited, and earlier attempts when a check keeps failing"
        about = "tell the model about its memory in the project's CLAUDE.md"
        return (
            AgentPart(HOOKS, "capture each session and give it its project's memory"),
            AgentPart("mcp", "let the model search and save memories itself"),
            AgentPart("skills", "commands to remember, recall and forget"),
            AgentPart("rules", "name the notes to read when a word is mentioned or a file is opened"),
            AgentPart("instructions", about, is_default=False),
            AgentPart(HINTS, hints, is_default=False),
        )

    def shares(self, target: Target) -> list[Share]:
        """Return every share that may be in a file (`AgentSetup.shares`)."""
        environ = target.environ
        program = find_program(target.named, this_project=target.project is not None)
        found: list[Share] = [HookShare(part, _settings_path(target), CLAUDE_HOOKS, program) for part in (HOOKS, HINTS)]
        found += [_mcp_share(target), *_instruction_shares(target)]
        if target.project is None:
            found += skill_files(client_files.user_settings_path(environ).parent / "skills", self.name)
            if target.vault is None or is_own(environ, target.vault):
                found += rule_shares(environ, target.vault)
        return found

    def brought(self, target: Target) -> tuple[str, ...]:
        """Return the parts that the plugin brings, if it is there: its hooks leave each event to ours."""
        plugin = health.find_plugin(health.settings_paths(target.environ, target.project), target.environ)
        return ("mcp", "skills") if plugin and plugin.version else ()

    def shared(self, target: Target) -> tuple[str, ...]:  # noqa: ARG002
        """Return no part: no other agent reads these files."""
        return ()

    def notices(self, target: Target, planned: Plan) -> Iterator[str]:
        """Give a sentence for each thing that keeps the installation from doing what its user expects."""
        project, path = target.project, _settings_path(target)
        after = next((change.after for change in planned.changes if change.path == path), None)
        content = None if after else client_files.read(path)
        text = after or (content.text if content else "")
        yield from (f"kept as you have changed it: {sentence}" for sentence in changes_kept(text, CLAUDE_HOOKS))
        if unread := health.why_unread(path, text):
            yield unread
        vault = target.vault
        if vault and project is None and not is_own(target.environ, vault) and read_routing(vault).routes:
            yield f"no rules were written: run `memtool init {vault.root}` if that vault is yours"
        yield from health.project_notices(project) if project else ()
        yield from health.obstacles(target.environ, project or target.folder)

    def left(self, target: Target) -> Iterator[str]:
        """Give a sentence for each other place in which memtool is still installed."""
        for path in health.installed_in(target.environ, target.folder):
            yield f"{path} still has hooks of memtool"
        for project in _known_projects(target):
            here = target._replace(project=project)
            if parts_there([_mcp_share(here)]) or (project != target.folder and health.has_hooks(_settings_path(here))):
                folder = shlex.quote(str(project))
                yield f"still installed for one project: `memtool uninstall claude-code --project {folder}`"


def _settings_path(target: Target) -> Path:
    if target.project:
        return client_files.project_settings_path(target.project)
    return client_files.user_settings_path(target.environ)


def _known_projects(target: Target) -> list[Path]:
    """Return the projects in which the client has been used, or has a server for one project."""
    known = client_files.values(client_files.state_path(target.environ)).get("projects")
    return [Path(name) for name in known] if isinstance(known, dict) else []


def _instruction_shares(target: Target) -> list[Block]:
    """Return a block in the CLAUDE.md of the project at hand; to uninstall, in that of each project that has one."""
    folder = target.project or target.folder
    projects = [health.repository_of(folder)] if folder else []
    if target.vault is None and target.project is None:
        projects += _known_projects(target)
    body = target.instructions()
    return [Block("instructions", root / "CLAUDE.md", body) for root in dict.fromkeys(projects)]


def _mcp_share(target: Target) -> McpEntry:
    command, *args = target.mcp_program()
    value = {"type": "stdio", "command": command, "args": args, "env": {}}  # as the client itself writes it
    # A project is known by the folder of its repository: one for all its subfolders and worktrees (seen in 2.1.330).
    where = ("projects", str(find_project(target.project).root)) if target.project else ()
    return McpEntry("mcp", client_files.state_path(target.environ), (*where, "mcpServers", "memtool"), value)
