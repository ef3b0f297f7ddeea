"""The agents of the table, as memtool is installed into them: for the user in all projects, or for one project."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from memtool import settings
from memtool.clients import CLIENTS
from memtool.errors import MemtoolError
from memtool.install import own_texts
from memtool.install.agent_table import (
    AGENTS,
    COPILOT,
    FLAT,
    GOOSE,
    JSON,
    LISTED,
    PLAIN,
    SCRIPT,
    TOML,
    TYPED,
    Agent,
    Hooks,
    Mcp,
)
from memtool.install.claude_code.skill_files import SKILL_FILE, skill_texts
from memtool.install.client_setups import ClientPart, ClientSetup, Target
from memtool.install.entries import JsonEntry, TomlTable, YamlEntry
from memtool.install.hook_shares import FlatHooks, HookShare
from memtool.install.hooks import Program, find_program
from memtool.install.own_texts import Block, OwnFile
from memtool.install.plans import Plan, Share, has_share
from memtool.resources import agent_text, shipped

_HOOKS = "capture each session and give it the memory of its project"
_CAPTURE = "capture each session"
_MCP = "let the model search and save by itself"
_SKILLS = "remember, recall and forget by a word of yours"
_INSTRUCTIONS = "tell the model when to ask its memory"
_HINTS = "give the rules that name a file before each edit of it"


class HookScript(OwnFile):
    """A plugin in JavaScript that runs the hook."""

    def programs(self) -> list[Program]:
        """Return the program that the plugin runs; none if memtool did not write the plugin."""
        found = re.search(r"(?m)^const PROGRAM = (\[.*\])$", self.read() or "")
        command, *args = json.loads(found[1]) if found else [""]
        return [Program(command, tuple(args))] if command else []


def _parts(name: str, agent: Agent) -> tuple[ClientPart, ...]:
    recalls = _recalls(name)
    return (
        *([ClientPart("hooks", _HOOKS if recalls else _CAPTURE)] if agent.hooks else []),
        ClientPart("mcp", _MCP),
        *([ClientPart("skills", _SKILLS)] if agent.reads_skills else []),
        ClientPart("instructions", _INSTRUCTIONS, is_default=_has_instructions(name, agent)),
        *([ClientPart("hints", _HINTS, is_default=False)] if agent.hooks and agent.hooks.hints else []),
    )


def _has_instructions(name: str, agent: Agent) -> bool:
    """Return whether an agent gets instructions without being asked: where its hooks give nothing."""
    return bool(agent.instructions) and not _recalls(name)


def _recalls(name: str) -> bool:
    """Return whether what the hooks of an agent say reaches its model at the start of a session."""
    return name in CLIENTS and "SessionStart" in CLIENTS[name].hears


def _shares(name: str, target: Target) -> list[Share]:
    agent = AGENTS[name]
    folder = folder_of(agent, target)
    found: list[Share] = []
    if agent.hooks and (path := _path(agent.hooks, folder, target)):
        found += _hook_shares(name, agent, path, target)
    if mcp := _mcp_share(agent, folder, target):
        found.append(mcp)
    found += _instruction_shares(agent, target)
    if agent.reads_skills and target.project is None:
        found += _skill_shares(target)
    return found


def folder_of(agent: Agent, target: Target) -> Path:
    """Return the folder of *agent*."""
    if agent.variable and (named := target.environ.get(agent.variable)):
        return Path(named).absolute()
    special = {"darwin": agent.mac, "win32": agent.windows}.get(sys.platform)
    place = special or agent.folder
    if place.startswith(".config/") and (config := target.environ.get("XDG_CONFIG_HOME")):
        return Path(config).absolute() / place.removeprefix(".config/")
    return target.home / place


def _path(place: Hooks | Mcp, folder: Path, target: Target) -> Path | None:
    if target.project is None:
        return folder / place.path
    return target.project / place.project if place.project else None


def _hook_shares(name: str, agent: Agent, path: Path, target: Target) -> list[Share]:
    hooks = agent.hooks
    if hooks is None:
        return []
    program = find_program(target.named, this_project=target.project is not None, client=name)
    if hooks.form == SCRIPT:
        return [HookScript("hooks", path, _script(name, target))]
    if hooks.form == FLAT:
        events = tuple(hook.event for hook in hooks.events)
        handler = {**hooks.handler, hooks.command: program.line}
        return [FlatHooks("hooks", path, events, handler, hooks.head, hooks.command)]
    spared = frozenset(hook.event for hook in hooks.hints)
    found: list[Share] = [HookShare("hooks", path, program, hooks.events, spared)]
    if hooks.hints:
        others = frozenset(hook.event for hook in hooks.events)
        found.append(HookShare("hints", path, program, hooks.hints, others))
    return found


def _script(name: str, target: Target) -> str:
    """Return the plugin of the client *name*, with the program that it runs written into it."""
    program = find_program(target.named, this_project=target.project is not None, client=name)
    words = json.dumps([program.command, *program.args], ensure_ascii=False)
    text = (shipped("hooks") / name / "memtool.js").read_text(encoding="utf-8")
    return own_texts.marked(text.replace('["memtool-hook"]', words), "plugin", name, comment=("// ", ""))


def _mcp_share(agent: Agent, folder: Path, target: Target) -> Share | None:
    path = _path(agent.mcp, folder, target)
    if path is None:
        return None
    path = next((path.with_name(name) for name in agent.mcp.others if path.with_name(name).exists()), path)
    values = _server(agent.mcp.shape, target.mcp_program())
    if agent.mcp.file_format == JSON:
        return JsonEntry("mcp", path, (*agent.mcp.keys, "memtool"), values)
    if agent.mcp.file_format == TOML:
        return TomlTable("mcp", path, (*agent.mcp.keys, "memtool"), values)
    return YamlEntry("mcp", path, agent.mcp.keys[0], values)


def _server(shape: str, program: tuple[str, ...]) -> Mapping[str, Any]:
    command, *args = program
    shapes: dict[str, dict[str, Any]] = {
        PLAIN: {"command": command, "args": args},
        TYPED: {"type": "stdio", "command": command, "args": args},
        LISTED: {"type": "local", "command": list(program), "enabled": True},
        COPILOT: {"type": "local", "command": command, "args": args, "tools": ["*"]},
        GOOSE: {"name": "memtool", "type": "stdio", "enabled": True, "cmd": command, "args": args, "timeout": 300},
    }
    return shapes[shape]


def _instruction_shares(agent: Agent, target: Target) -> list[Share]:
    path = _instructions_path(agent, target)
    return [Block("instructions", path, agent_text("instructions", _language(target)))] if path else []


def _instructions_path(agent: Agent, target: Target) -> Path | None:
    """Return the path of the file of instructions that *agent* reads; None if it has none."""
    if target.project:
        path = target.project / agent.project_instructions if agent.project_instructions else None
    else:
        path = folder_of(agent, target) / agent.instructions if agent.instructions else None
    return None if path and agent.adds_to_instructions and not path.exists() else path


def _language(target: Target) -> str:
    return settings.load(target.vault.settings_path, target.environ).general.language if target.vault else "en"


def _skill_shares(target: Target) -> list[OwnFile]:
    """Return the skills in the folder that many agents share. Their mark names no client: several have them."""
    folder = target.home / ".agents" / "skills"
    wanted = {folder / name / SKILL_FILE: text for name, text in skill_texts("…").items()}
    return own_texts.own_files("skills", wanted, folder.glob(f"memtool-*/{SKILL_FILE}"))


def _shared(name: str, target: Target) -> set[str]:
    """Return the parts whose files another agent reads, too, that has memtool."""
    path = _instructions_path(AGENTS[name], target)
    found: set[str] = set()
    for other, agent in AGENTS.items():
        reads = {"skills"} if agent.reads_skills and target.project is None else set()
        if path and _has_instructions(other, agent) and _instructions_path(agent, target) == path:
            reads.add("instructions")
        if other != name and not reads <= found and _is_in(other, target):
            found |= reads
    return found


def _is_in(name: str, target: Target) -> bool:
    """Return whether the agent called *name* has memtool's server or hooks."""
    agent = AGENTS[name]
    folder = folder_of(agent, target)
    shares: list[Share | None] = [_mcp_share(agent, folder, target)]
    if agent.hooks and (path := _path(agent.hooks, folder, target)):
        shares += _hook_shares(name, agent, path, target)
    for share in filter(None, shares):
        with suppress(MemtoolError, ValueError):  # a file that cannot be read is another agent's matter
            if has_share(share, share.read()):
                return True
    return False


def _notices(name: str, target: Target, planned: Plan) -> Iterator[str]:
    """Give the remark on the agent *name* where what it is about is new or another now."""
    agent = AGENTS[name]
    parts = {part for change in planned.changes for part in change.parts}
    if agent.remark and parts & ({"hooks", "hints"} if agent.hooks else {"mcp"}):
        yield agent.remark
    if target.project and parts & {"hooks", "hints", "mcp"}:
        yield "what was written into the project names places of this machine: keep it out of git"


BY_NAME: Mapping[str, ClientSetup] = {
    name: ClientSetup(
        name,
        agent.title,
        _parts(name, agent),
        partial(_shares, name),
        partial(_notices, name),
        shared=partial(_shared, name),
        recalls=_recalls(name),
    )
    for name, agent in AGENTS.items()
}
