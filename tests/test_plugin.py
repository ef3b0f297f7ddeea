"""The plugin for Claude Code: the folder `hooks/claude-code` of the clone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from memtool.clients import CLAUDE_HOOKS, HOOKS
from memtool.vault.layout import Vault
from scripts import generate_plugin
from scripts.generate_plugin import CLONE, HOW_TO_MEND

PLUGIN = CLONE / "hooks" / "claude-code"
SKILLS = sorted((PLUGIN / "skills").glob("*/SKILL.md"))
LAUNCHER = PLUGIN / "hooks" / "launch.sh"

# What 2.1.197 knows: of a plugin's hooks it drops all when one event has another name.
NAMES = [event.name for event in CLAUDE_HOOKS.events if event.part == HOOKS]
EVENTS = frozenset(
    """PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit UserPromptExpansion
    SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact PermissionRequest
    PermissionDenied Setup TeammateIdle TaskCreated TaskCompleted Elicitation ElicitationResult ConfigChange
    WorktreeCreate WorktreeRemove InstructionsLoaded CwdChanged FileChanged MessageDisplay""".split()
)

unix = pytest.mark.skipif(sys.platform == "win32", reason="the launcher is a shell script")


def test_the_plugin_says_what_the_code_says() -> None:
    stale = generate_plugin.stale_files(CLONE)
    assert not stale, f"{', '.join(stale)}: {HOW_TO_MEND}"


def test_a_changed_file_is_noticed_and_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate_plugin, "CLONE", tmp_path)
    generate_plugin.main()
    assert generate_plugin.stale_files(tmp_path) == []
    (tmp_path / generate_plugin.PLUGIN / "hooks" / "hooks.json").write_text("{}", encoding="utf-8")
    capsys.readouterr()
    generate_plugin.main()
    assert capsys.readouterr().out == "wrote hooks/claude-code/hooks/hooks.json\n"
    assert generate_plugin.stale_files(tmp_path) == []


def test_every_hook_tells_the_launcher_its_event_and_needs_nothing_of_this_machine() -> None:
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    assert list(hooks) == NAMES
    assert set(hooks) <= EVENTS
    for event, [group] in hooks.items():
        assert [handler["args"] for handler in group["hooks"]] == [["${CLAUDE_PLUGIN_ROOT}/hooks/launch.sh", event]]


def test_the_marketplace_offers_the_folder_of_the_plugin_and_nothing_else() -> None:
    offered = json.loads((CLONE / ".claude-plugin" / "marketplace.json").read_text(encoding="utf-8"))["plugins"]
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    assert [(plugin["name"], plugin["source"]) for plugin in offered] == [(manifest["name"], "./hooks/claude-code")]
    files = {path.relative_to(PLUGIN).parts[0] for path in PLUGIN.rglob("*") if path.is_file()}
    assert files == {".claude-plugin", ".mcp.json", "hooks", "skills"}


def front_matter(skill: Path) -> dict[str, Any]:
    fields: dict[str, Any] = yaml.safe_load(skill.read_text(encoding="utf-8").split("---\n")[1])
    return fields


def test_there_are_three_skills() -> None:
    assert [skill.parent.name for skill in SKILLS] == ["forget", "recall", "remember"]


@pytest.mark.parametrize("skill", SKILLS, ids=lambda skill: skill.parent.name)
def test_a_skill_says_when_to_call_it_in_english_and_in_chinese(skill: Path) -> None:
    fields = front_matter(skill)
    assert fields["name"] == skill.parent.name
    assert "Use it" in fields["description"]
    assert len(re.findall(r'"[A-Za-z\', ]+"', fields["description"])) >= 4
    assert len(re.findall(r'"[一-鿿]+"', fields["description"])) >= 4
    assert len(fields["description"]) <= 1_536  # characters that the client lists


@pytest.mark.parametrize("skill", SKILLS, ids=lambda skill: skill.parent.name)
def test_a_skill_may_run_nothing_unasked_but_what_reads_or_adds(skill: Path) -> None:
    allowed = front_matter(skill)["allowed-tools"].split(", ")
    assert set(allowed) <= {f"Bash(memtool {command}:*)" for command in ("search", "show", "timeline", "remember")}


class Machine:
    """A home folder, an empty project and a vault; memtool may be on PATH."""

    def __init__(self, folder: Path, vault: Vault) -> None:
        self.vault = vault
        self.home, self.project, self.programs = folder / "home", folder / "project", folder / "programs"
        for made in (self.home / ".claude", self.project / ".claude", self.programs):
            made.mkdir(parents=True)
        self.environ = {
            "PATH": f"{self.programs}{os.pathsep}/usr/bin{os.pathsep}/bin",
            "HOME": str(self.home),
            "MEMTOOL_VAULT": str(vault.root),
            "MEMTOOL_CONFIG": str(folder / "no-config.toml"),
            "MEMTOOL_CACHE": str(folder / "cache"),
            "CLAUDE_PROJECT_DIR": str(self.project),
        }

    def install_program(self, folder: Path | None = None) -> None:
        program = (folder or self.programs) / "memtool-hook"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memtool.hook "$@"\n', encoding="utf-8")
        program.chmod(0o755)

    def fire(self, event: str, **fields: Any) -> str:
        """Return what the plugin answers to *event*; it must succeed and complain about nothing."""
        content = json.dumps({"hook_event_name": event, "cwd": str(self.project), **fields}, separators=(",", ":"))
        command = ["sh", str(LAUNCHER), event]
        ran = subprocess.run(
            command, input=content, env=self.environ, cwd=CLONE, capture_output=True, text=True, check=False
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        return ran.stdout

    def edit(self, name: str) -> list[str]:
        """Return the lines of the daily notes after an edit of the file *name*."""
        self.fire("PostToolUse", tool_name="Write", tool_input={"file_path": str(self.project / name)})
        notes = (note.read_text(encoding="utf-8") for note in (self.vault.root / "daily").glob("*.md"))
        return [line for note in notes for line in note.splitlines() if line.startswith("- ")]


@pytest.fixture
def machine(tmp_path: Path, vault: Vault) -> Machine:
    return Machine(tmp_path, vault)


@unix
@pytest.mark.parametrize("folder", ["programs", "home/.local/bin"])
def test_the_launcher_finds_the_program(folder: str, machine: Machine, tmp_path: Path) -> None:
    machine.install_program(tmp_path / folder)
    [line] = machine.edit("支付 回调.py")
    assert "支付 回调.py" in line


@unix
def test_nothing_in_the_project_passes_for_the_program(machine: Machine) -> None:
    machine.install_program()
    machine.environ |= {"PYTHONPATH": str(machine.project), "PYTHONWARNINGS": "error"}
    machine.environ["PATH"] = f".{os.pathsep}{machine.environ['PATH']}"
    (machine.project / "json.py").write_text("raise SystemExit('hijacked')\n", encoding="utf-8")
    [line] = machine.edit("支付.py")
    assert "支付.py" in line


@unix
def test_without_memtool_the_start_of_a_session_says_so_and_nothing_else_does(machine: Machine) -> None:
    told = json.loads(machine.fire("SessionStart", source="startup"))
    assert list(told) == ["systemMessage"]
    assert "Install memtool" in told["systemMessage"]
    assert [machine.fire("SessionStart", source=source) for source in ("resume", "clear", "compact")] == ["", "", ""]
    assert [machine.fire(event) for event in NAMES if event != "SessionStart"] == [""] * (len(NAMES) - 1)


@unix
def test_the_launcher_starts_the_server_and_without_memtool_it_ends(machine: Machine) -> None:
    command = ["sh", str(LAUNCHER), "mcp"]
    run = partial(
        subprocess.run, command, stdin=subprocess.DEVNULL, env=machine.environ, capture_output=True, text=True
    )
    ran = run(check=False)
    assert (ran.returncode, ran.stdout) == (0, "")
    program = machine.programs / "memtool"
    program.write_text('#!/bin/sh\necho "ran $*"\n', encoding="utf-8")
    program.chmod(0o755)
    assert run(check=False).stdout == "ran mcp\n"


@pytest.mark.slow
@unix
def test_without_a_vault_the_start_of_a_session_says_what_to_do(machine: Machine) -> None:
    machine.install_program()
    machine.environ["MEMTOOL_VAULT"] = str(machine.home / "记忆")
    told = json.loads(machine.fire("SessionStart", source="startup"))
    assert told == {"systemMessage": told["systemMessage"]}
    assert f"there is no vault at '{machine.home / '记忆'}'" in told["systemMessage"]
    assert "memtool init" in told["systemMessage"]
    assert [machine.fire("SessionStart", source="resume"), machine.fire("Stop")] == ["", ""]


def in_settings(path: Path, event: str, command: str = "/opt/memtool-hook") -> None:
    handler = {"type": "command", "command": command, "args": []}
    path.write_text(json.dumps({"hooks": {event: [{"hooks": [handler]}]}}), encoding="utf-8")


@unix
@pytest.mark.parametrize(
    "path", ["home/.claude/settings.json", "project/.claude/settings.json", "project/.claude/settings.local.json"]
)
def test_the_plugin_leaves_an_event_to_the_settings_that_name_memtool(
    path: str, machine: Machine, tmp_path: Path
) -> None:
    machine.install_program()
    in_settings(tmp_path / path, "PostToolUse")
    assert machine.edit("one.py") == []


@pytest.mark.slow
@unix
def test_the_plugin_acts_where_the_settings_name_memtool_for_something_else(machine: Machine) -> None:
    machine.install_program()
    settings = machine.home / ".claude" / "settings.json"
    in_settings(settings, "Stop")
    assert len(machine.edit("one.py")) == 1
    in_settings(settings, "PostToolUse", "/opt/another-memtool")
    assert "two.py" in machine.edit("two.py")[0]
    settings.write_text('{"permissions": {"allow": ["Bash(memtool-hook:*)"]}}', encoding="utf-8")
    assert "three.py" in machine.edit("three.py")[0]


@pytest.mark.slow
@unix
@pytest.mark.parametrize("broken", ["{", "[]", '{"hooks": 3, "a": "memtool"}', "\x00memtool"])
def test_the_plugin_acts_where_the_client_ignores_the_settings(broken: str, machine: Machine) -> None:
    machine.install_program()
    settings = machine.home / ".claude" / "settings.json"
    settings.write_text(broken, encoding="utf-8")
    assert len(machine.edit("one.py")) == 1
    in_settings(settings, "PostToolUse")
    settings.write_text("// mine\n" + settings.read_text(encoding="utf-8"), encoding="utf-8")
    assert "two.py" in machine.edit("two.py")[0]


@pytest.mark.slow
@unix
def test_the_local_settings_of_the_repository_count_in_its_folders_and_not_in_another_repository(
    machine: Machine,
) -> None:
    machine.install_program()
    in_settings(machine.project / ".claude" / "settings.local.json", "PostToolUse")
    (machine.project / ".git").mkdir()
    inner = machine.project / "packages" / "web"
    inner.mkdir(parents=True)
    machine.environ["CLAUDE_PROJECT_DIR"] = str(inner)
    assert machine.edit("one.py") == []
    (inner / ".git").write_text("gitdir: elsewhere", encoding="utf-8")
    assert len(machine.edit("two.py")) == 1


@unix
def test_a_settings_file_in_another_folder_of_the_client_counts(machine: Machine, tmp_path: Path) -> None:
    machine.install_program()
    in_settings(machine.home / ".claude" / "settings.json", "PostToolUse")
    machine.environ["CLAUDE_CONFIG_DIR"] = str(tmp_path / "elsewhere")
    assert len(machine.edit("one.py")) == 1
