"""The plugin in the real client: found, installed, and acting once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from claude_code.api import ScriptedApi
from claude_code.box import Box, wait_until
from claude_code.owner import Owner
from claude_code.processes import processes_of
from claude_code.script import text_of, use
from claude_code.talk import Talk

from memtool.redaction import CONTEXT_TAG

CLONE = Path(__file__).resolve().parents[2]
PLUGIN = CLONE / "hooks" / "claude-code"
NO_SERVER = "--strict-mcp-config"  # of the plugin: it takes the processor longer than all the rest of a session


@pytest.fixture
def programs(box: Box, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder `~/.local/bin` on the PATH of the box, with memtool's two programs in it."""
    folder = box.home / ".local" / "bin"
    folder.mkdir(parents=True)
    for name, module in (("memtool", "memtool"), ("memtool-hook", "memtool.hook")):
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m {module} "$@"\n')
        (folder / name).chmod(0o755)
    plain = box.environ

    def environ(url: str = "http://127.0.0.1:9") -> dict[str, str]:
        given = plain(url)
        return given | {"PATH": f"{folder}:{given['PATH']}"}

    monkeypatch.setattr(box, "environ", environ)
    return folder


@pytest.fixture
def plugin_owner(owner: Owner, programs: Path) -> Owner:
    """An owner who has memtool's programs, and no hook of it in any settings file."""
    assert programs.is_dir()
    owner.run("uninstall", "claude-code")
    return owner


def client(box: Box, *arguments: str) -> str:
    """Run a command of the client that needs no model, and return what it says."""
    command = [str(box.client), *arguments]
    ran = subprocess.run(
        command, cwd=box.project, env=box.environ(), capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def run_edit(box: Box, api: ScriptedApi, name: str, *flags: str) -> list[str]:
    """Let a session write the file *name*, and return what its hooks said that was not silence or success."""
    api.answers([use("Write", file_path=str(box.project / name), content="text\n"), "Wrote it."])
    session = box.run(api.url, f"Write {name}", "--allowedTools", "Write", *flags)
    assert session.answer == "Wrote it."
    box.wait_until_idle()
    return [str(hook["output"]) for hook in session.hooks if hook["exit_code"] or hook["stderr"] or hook["output"]]


def client_checks(owner: Owner) -> list[str]:
    """What `memtool doctor` says of the client."""
    checks = json.loads(owner.run("doctor", "--json"))["checks"]
    return [check["sentence"] for check in checks if check["subject"] == "claude-code"]


def remember_tea(owner: Owner) -> None:
    note = owner.vault / "areas" / "global" / "knowledge" / "2026-02-10-tea.md"
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text("---\ntype: knowledge\n---\n\n# 泡茶\n\n白毫银针 needs 80 degrees.\n")


def test_the_client_finds_the_folder_valid(box: Box) -> None:
    assert "Validation passed" in client(box, "plugin", "validate", "--strict", str(CLONE))
    assert "Validation passed" in client(box, "plugin", "validate", "--strict", str(PLUGIN))


def test_a_session_with_the_plugin_alone_is_given_one_block_and_captured(
    box: Box, api: ScriptedApi, plugin_owner: Owner
) -> None:
    remember_tea(plugin_owner)
    plugin_owner.run("index")
    api.answers([use("Write", file_path=str(box.project / "auth.ts"), content="text\n"), "Wrote it."])
    flags = ("--allowedTools", "Write", "--plugin-dir", str(PLUGIN))
    box.run(api.url, "白毫银针该用多少度的水泡? 写进 auth.ts。", *flags)
    box.wait_until_idle()
    asked = "\n".join(text_of(message) for message in api.asked("main")[0]["messages"])
    assert asked.count(f'<{CONTEXT_TAG} event="prompt">') == 1
    assert "needs 80 degrees" in asked
    assert plugin_owner.edited() == ["project/auth.ts"]
    assert [note.draft.files for note in plugin_owner.notes().values()] == [("auth.ts",)]


def test_the_plugin_is_installed_from_the_clone_as_a_marketplace_and_taken_out(
    box: Box, api: ScriptedApi, plugin_owner: Owner
) -> None:
    client(box, "plugin", "marketplace", "add", str(CLONE))
    client(box, "plugin", "install", "memtool@memtool")
    [installed] = json.loads(client(box, "plugin", "list", "--json"))
    assert (installed["id"], installed["enabled"]) == ("memtool@memtool", True)
    named = f"the plugin memtool@memtool {installed['version']}, enabled in {box.home / '.claude' / 'settings.json'}"
    assert f"{named}, writes to the vault of your settings" in client_checks(plugin_owner)
    run_edit(box, api, "one.ts", NO_SERVER)
    assert plugin_owner.edited() == ["project/one.ts"]
    assert "plugin:memtool:memtool: sh" in (listed := client(box, "mcp", "list"))
    assert "✔ Connected" in listed
    client(box, "plugin", "uninstall", "memtool@memtool")
    assert "no session is captured: its settings have no hook of memtool" in client_checks(plugin_owner)
    run_edit(box, api, "two.ts", NO_SERVER)
    assert plugin_owner.edited() == ["project/one.ts"]


def test_with_the_plugin_and_the_installation_each_event_is_answered_once(
    box: Box, api: ScriptedApi, plugin_owner: Owner
) -> None:
    remember_tea(plugin_owner)
    plugin_owner.run("remember", "水壶停在七十九度。", "--project", "project")
    plugin_owner.run("index")
    plugin_owner.run("install", "claude-code")
    api.answers(["We decided to brew at 80 degrees."], compact=["<summary>We spoke of tea.</summary>"])
    with Talk(box, api.url, "--plugin-dir", str(PLUGIN), NO_SERVER) as talk:
        talk.say("白毫银针该用多少度的水泡? 以后都用这个温度，不要用开水。")
        wait_until(lambda: "--drain" not in str(processes_of(box.root)), lambda: str(processes_of(box.root)))
        talk.say("/compact")
    before, compaction = ("\n".join(map(text_of, api.asked(lane)[0]["messages"])) for lane in ("main", "compact"))
    told = [before.count(f'<{CONTEXT_TAG} event="{event}">') for event in ("session-start", "prompt")]
    assert told == [1, 1]
    assert compaction.count(f'<{CONTEXT_TAG} event="pre-compact">') == 1
    box.wait_until_idle()
    assert len(plugin_owner.notes()) == 1
    assert plugin_owner.daily().count("](../sessions/") == 1


def test_without_memtool_one_sentence_says_so_and_no_hook_fails(box: Box, api: ScriptedApi) -> None:
    told = run_edit(box, api, "auth.ts", "--plugin-dir", str(PLUGIN))
    assert len(told) == 1
    assert "Install memtool" in told[0]


def test_skills_search_without_permission_forget_with_it_and_name_the_session_of_what_they_save(
    box: Box, api: ScriptedApi, plugin_owner: Owner
) -> None:
    remember_tea(plugin_owner)
    session_id = "6f1c1f0e-3f2a-4c9b-8d57-0a2b4c6d8e10"
    note = plugin_owner.vault / "tea.md"
    note.write_text("# Tea\n")
    saves = f"memtool remember '茶要八十度。' --category fact --source {session_id}"
    api.answers([
        use("Bash", command="memtool search '白毫银针' --json", description="search"), "80 degrees.",
        use("Bash", command="memtool forget tea.md --purge --yes", description="forget"), "I may not.",
        use("Bash", command=saves, description="remember"), "Saved.",
    ])  # fmt: skip
    with Talk(box, api.url, "--plugin-dir", str(PLUGIN), NO_SERVER, "--session-id", session_id) as talk:
        for prompt in ("/memtool:recall 白毫银针", "/memtool:forget tea", "/memtool:remember 茶要八十度"):
            talk.say(prompt)
    asked = [json.dumps(body["messages"], ensure_ascii=False) for body in api.asked("main")]
    assert "Find this in memtool's memory: 白毫银针" in asked[0]
    assert "needs 80 degrees" in asked[1]
    assert note.exists()
    assert "requires approval" in asked[3]
    assert "Save this with memtool: 茶要八十度" in asked[4]
    assert f"--source {session_id}" in asked[4]
    facts = [path.read_text() for path in plugin_owner.vault.rglob("facts.json")]
    assert [text for text in facts if "茶要八十度" in text and session_id in text]
