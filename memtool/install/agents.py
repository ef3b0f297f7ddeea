"""The installation into an agent of `memtool.clients`: for the user in all projects, or for one project.

An agent gets *parts*, such as its hooks or the MCP server, which `--with` and `--without` choose from; each part has
shares in files (`memtool.install.plans`). `AgentSetup` follows an agent's row; Claude Code, whose files are its own,
extends it (`memtool.install.claude_code`). The command line does the rest for all of them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from memtool import clients, settings
from memtool.errors import MemtoolError
from memtool.install import own_texts
from memtool.install.entries import McpEntry
from memtool.install.hook_shares import HookShare
from memtool.install.hooks import Program, find_program
from memtool.install.own_texts import Block, OwnFile, skill_files
from memtool.install.plans import Plan, Share, has_share, parts_there, plan
from memtool.processes import ISOLATED
from memtool.resources import agent_text, shipped
from memtool.vault.layout import Vault

AGENTS = tuple(name for name, client in clients.CLIENTS.items() if client.folder)  # into which memtool can be installed


class Target(NamedTuple):
    """The target of an installation.

    Args:
        environ: the variables of the environment.
        home: the user's home folder.
        folder: the working folder; None if it was removed.
        project: the folder of the project that the installation is for; None if it is for all of them.
        vault: the vault that is written to; None to uninstall.
        named: the vault to write into the client's files; None if the programs find it, so that it may move.
    """

    environ: Mapping[str, str]
    home: Path
    folder: Path | None
    project: Path | None = None
    vault: Vault | None = None
    named: Path | None = None

    def mcp_program(self) -> tuple[str, ...]:
        """Return the program and the arguments of the MCP server."""
        vault = ("--vault", str(self.named)) if self.named else ()
        return (sys.executable, *ISOLATED, "-m", "memtool", *vault, "mcp")

    def instructions(self) -> str:
        """Return the text that tells a model of its memory, in the vault's language."""
        if self.vault is None:
            return agent_text("instructions", "en")
        return agent_text("instructions", settings.load(self.vault.settings_path, self.environ).general.language)


class AgentPart(NamedTuple):
    """A part of an installation: what it does for the user, and whether it is installed without a request."""

    name: str
    purpose: str
    is_default: bool = True


class AgentSetup:
    """The installation into the agent called *name*."""

    reads_at_once = False
    """Whether a running session reads its settings anew."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.row: clients.Client = clients.CLIENTS[name]
        self.title = self.row.title

    def parts(self) -> tuple[AgentPart, ...]:
        """Return the parts that the agent can have."""
        row = self.row
        is_hinting = row.hooks and any(event.part == clients.HINTS for event in row.hooks.events)
        recalls = "capture each session and give it its project's memory"
        return (
            *([AgentPart(clients.HOOKS, recalls if row.recalls else "capture each session")] if row.hooks else []),
            AgentPart("mcp", "let the model search and save memories itself"),
            *([AgentPart("skills", "commands to remember, recall and forget")] if row.reads_skills else []),
            AgentPart("instructions", "tell the model when to use its memory", is_default=self.needs_instructions()),
            *([AgentPart(clients.HINTS, "show the rules that name a file before it is edited", is_default=False)]
              if is_hinting else []),
        )  # fmt: skip

    def shares(self, target: Target) -> list[Share]:
        """Return every share that may be in a file, wanted or not, so that uninstalling finds them all.

        A target without a vault is one to uninstall from.

        Raises:
            BadSetting: the home folder is unknown, or the vault's path cannot be written into settings.
        """
        found: list[Share] = [*self._hook_shares(target)]
        if self.row.mcp and (entry := self._mcp_share(self.row.mcp, target)):
            found.append(entry)
        if path := self.instructions_path(target):
            found.append(Block("instructions", path, target.instructions()))
        if self.row.reads_skills and target.project is None:
            # Many agents share this folder, so the mark names none of them.
            found += skill_files(target.home / ".agents" / "skills", "…")
        return found

    def brought(self, target: Target) -> Collection[str]:  # noqa: ARG002  (as a rule there is no plugin)
        """Return the parts that the agent's own plugin brings: they are left to it."""
        return ()

    def notices(self, target: Target, planned: Plan) -> Iterable[str]:
        """Give what else the user should know after `install`."""
        parts = {part for change in planned.changes for part in change.parts}
        if self.row.remark and parts & ({clients.HOOKS, clients.HINTS} if self.row.hooks else {"mcp"}):
            yield self.row.remark
        if target.project and parts & {clients.HOOKS, clients.HINTS, "mcp"}:
            yield "the files in the project name places of this machine: keep them out of git"

    def left(self, target: Target) -> Iterable[str]:  # noqa: ARG002  (as a rule nothing is)
        """Give a sentence for each other place in which memtool is still installed after `uninstall`."""
        return ()

    def shared(self, target: Target) -> Collection[str]:
        """Return the parts whose files another agent with memtool reads, too: `uninstall` leaves them."""
        path = self.instructions_path(target)
        found: set[str] = set()
        for other in (AgentSetup(name) for name in AGENTS if name not in (self.name, clients.CLAUDE_CODE)):
            reads = {"skills"} if other.row.reads_skills and target.project is None else set()
            if path and other.needs_instructions() and other.instructions_path(target) == path:
                reads.add("instructions")
            if not reads <= found and other.is_in(target):
                found |= reads
        return found

    def wanted(self, with_parts: Collection[str] = (), without: Collection[str] = ()) -> dict[str, bool]:
        """Return the parts to have and to lack; one that comes on request only and is not named is in neither."""
        chosen = {part.name: True for part in self.parts() if part.is_default}
        return chosen | dict.fromkeys(with_parts, True) | dict.fromkeys(without, False)

    def parts_in(self, target: Target) -> list[str]:
        """Return the parts that this agent has; none if it has nothing but what it shares with another one."""
        parts = parts_there(self.shares(target))
        return parts if {*parts} - {*self.shared(target)} else []

    def removal(self, target: Target) -> Plan:
        """Return the plan that takes all parts out but those that another agent needs.

        Raises:
            BadSetting: a file cannot be read, or is not what it should be.
        """
        shared = self.shared(target)
        shares = [share for share in self.shares(target) if share.part not in shared]
        return plan(shares, {part.name: False for part in self.parts()})

    def installation(self, target: Target) -> str:
        """Return the name under which an installation is remembered (`memtool.install.record`)."""
        return f"{self.name} {target.project}" if target.project else self.name

    def folder(self, target: Target) -> Path:
        """Return the agent's folder."""
        row = self.row
        if row.variable and (named := target.environ.get(row.variable)):
            return Path(named).absolute()
        place = {"darwin": row.mac, "win32": row.windows}.get(sys.platform) or row.folder
        if place.startswith(".config/") and (config := target.environ.get("XDG_CONFIG_HOME")):
            return Path(config).absolute() / place.removeprefix(".config/")
        return target.home / place

    def _path(self, place: clients.Hooks | clients.Mcp, target: Target) -> Path | None:
        if target.project is None:
            return self.folder(target) / place.path
        return target.project / place.project if place.project else None

    def _hook_shares(self, target: Target) -> Iterator[Share]:
        hooks = self.row.hooks
        path = self._path(hooks, target) if hooks else None
        if hooks is None or path is None:
            return
        program = find_program(target.named, this_project=target.project is not None, client=self.name)
        if hooks.form == clients.SCRIPT:  # the plugin, with the program that it runs written into it
            words = json.dumps([program.command, *program.args], ensure_ascii=False)
            text = (shipped("hooks") / self.name / "memtool.js").read_text(encoding="utf-8")
            text = text.replace('["memtool-hook"]', words)
            yield HookScript(clients.HOOKS, path, own_texts.marked(text, "plugin", self.name, comment=("// ", "")))
            return
        for part in dict.fromkeys(event.part for event in hooks.events if event.part):
            yield HookShare(part, path, hooks, program)

    def _mcp_share(self, mcp: clients.Mcp, target: Target) -> McpEntry | None:
        path = self._path(mcp, target)
        if path is None:
            return None
        path = next((path.with_name(name) for name in mcp.others if path.with_name(name).exists()), path)
        return McpEntry("mcp", path, (*mcp.keys, "memtool"), server(mcp.shape, target.mcp_program()))

    def needs_instructions(self) -> bool:
        """Return whether the agent gets instructions without being asked: where its hooks give nothing."""
        return bool(self.row.instructions) and not self.row.recalls

    def instructions_path(self, target: Target) -> Path | None:
        """Return the path of the file of instructions that the agent reads; None if it has none."""
        name = self.row.project_instructions if target.project else self.row.instructions
        path = (target.project or self.folder(target)) / name
        return path if name and (path.exists() or not self.row.adds_to_instructions) else None

    def is_in(self, target: Target) -> bool:
        """Return whether the agent has memtool's server or hooks."""
        entry = self._mcp_share(self.row.mcp, target) if self.row.mcp else None
        for share in (*self._hook_shares(target), *([entry] if entry else [])):
            with suppress(MemtoolError, ValueError):  # a file that cannot be read is another agent's matter
                if has_share(share, share.read()):
                    return True
        return False


class HookScript(OwnFile):
    """A plugin in JavaScript that runs the hook."""

    def programs(self) -> list[Program]:
        """Return the program that the plugin runs; none if memtool did not write the plugin."""
        found = re.search(r"(?m)^const PROGRAM = (\[.*\])$", self.read() or "")
        command, *args = json.loads(found[1]) if found else [""]
        return [Program(command, tuple(args))] if command else []


def server(shape: str, program: tuple[str, ...]) -> dict[str, Any]:
    """Return the entry by which a client of that *shape* runs *program* as an MCP server."""
    command, *args = program
    plain = {"command": command, "args": args}
    goose = {"name": "memtool", "type": "stdio", "enabled": True, "cmd": command, "args": args, "timeout": 300}
    shapes: dict[str, dict[str, Any]] = {
        clients.PLAIN: plain,
        clients.TYPED: {"type": "stdio", **plain},
        clients.LISTED: {"type": "local", "command": list(program), "enabled": True},
        clients.COPILOT: {"type": "local", **plain, "tools": ["*"]},
        clients.GOOSE: goose,
    }
    return shapes[shape]


def get_setup(name: str) -> AgentSetup:
    """Return the installation into the agent called *name*, one of `AGENTS`."""
    if name == clients.CLAUDE_CODE:
        setup: AgentSetup = import_module("memtool.install.claude_code").ClaudeCode()
        return setup
    return AgentSetup(name)


def agents_with_memtool(target: Target) -> list[str]:
    """Return the names of the agents in which the user has memtool for all projects."""
    user = target._replace(project=None, vault=None)
    return [name for name in AGENTS if get_setup(name).parts_in(user)]
