"""One `memtool install` in the home folder of somebody who uses the real client, and its way back."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from claude_code.api import ScriptedApi
from claude_code.box import Box
from claude_code.script import text_of, use

OTHERS = {
    ".claude.json": '{"numStartups": 3, "mcpServers": {"别人": {"type": "stdio", "command": "/bin/true", "args": []}}}',
    ".claude/CLAUDE.md": "# Mine\n",
    ".claude/rules/mine.md": "Always tabs.\n",
    ".claude/settings.json": '{\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}\n}',
    ".claude/skills/mine/SKILL.md": "---\nname: mine\ndescription: mine\n---\n",
}
LOCKED = "For the order ids we take ULIDs, because they sort by time."


def tree(home: Path) -> dict[str, str]:
    """What is below the client's folder, and its file of state."""
    paths = [home / ".claude.json", *(path for path in (home / ".claude").rglob("*") if path.is_file())]
    return {path.relative_to(home).as_posix(): path.read_text() for path in paths if path.exists()}


def furnish(home: Path) -> None:
    for name, text in OTHERS.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)


def run(box: Box, *arguments: str, folder: Path | None = None) -> str:
    """Run a command of the client that needs no model, and return what it says."""
    ran = subprocess.run(
        [str(box.client), *arguments], cwd=folder or box.project, env=box.environ(), capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip
    return ran.stdout + ran.stderr


def memtool(box: Box, *arguments: str) -> str:
    ran = box.memtool(*arguments)
    assert ran.code == 0, ran.err
    return ran.out


def test_after_one_command_a_decision_is_known_to_the_next_session_and_then_all_goes(
    box: Box, api: ScriptedApi
) -> None:
    furnish(box.home)
    memtool(box, "install", "claude-code")
    api.answers([use("Write", file_path=str(box.project / "order.py"), content="text\n"), "The model is in order.py."])
    session = box.run(api.url, f"Add the order model. {LOCKED}", "--allowedTools", "Write")
    assert session.code == 0
    assert [hook for hook in session.hooks if hook["exit_code"]] == []
    [init] = [event for event in session.events if event.get("subtype") == "init"]
    assert "memtool" in [server["name"] for server in init["mcp_servers"]]
    box.wait_until_idle()
    before = len(api.asked("main"))
    api.answers(["Tests are next."])
    box.run(api.url, "What is next?", "--strict-mcp-config")  # the server was there in the first session
    heard = "\n".join(map(text_of, api.asked("main")[before]["messages"]))
    assert "because they sort by time" in heard
    box.wait_until_idle()

    memtool(box, "uninstall", "claude-code")
    left = tree(box.home)
    assert [name for name, text in left.items() if "memtool" in name and "projects/" not in name] == []
    state = json.loads(left.pop(".claude.json"))
    assert state["mcpServers"].keys() == {"别人"}
    assert {name: left.get(name) for name in OTHERS if name != ".claude.json"} == {
        name: text for name, text in OTHERS.items() if name != ".claude.json"
    }
    before = len(api.asked("main"))
    api.answers(["Nothing."])
    assert len(box.run(api.url, "What is next?").hooks) == 1  # that of the others
    assert "sort by time" not in "\n".join(map(text_of, api.asked("main")[before]["messages"]))


def test_the_client_connects_to_the_server_that_is_registered(box: Box) -> None:
    memtool(box, "install", "claude-code")
    assert "memtool mcp - ✔ Connected" in run(box, "mcp", "list")
    assert "Scope: User config" in run(box, "mcp", "get", "memtool")
    memtool(box, "uninstall", "claude-code")
    assert "memtool" not in run(box, "mcp", "list")


def test_for_one_project_the_client_knows_the_server_there_and_nowhere_else(box: Box) -> None:
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@y", "-C", str(box.project)]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True, env=box.environ())
    worktree = box.root / "worktree"
    subprocess.run([*git, "worktree", "add", "-q", str(worktree)], check=True, env=box.environ())
    memtool(box, "install", "claude-code", "--project", str(worktree))
    assert "✔ Connected" in run(box, "mcp", "get", "memtool", folder=worktree)
    assert "Scope: Local config" in run(box, "mcp", "get", "memtool", folder=box.project)
    assert "No MCP server" in run(box, "mcp", "get", "memtool", folder=box.home)
    memtool(box, "uninstall", "claude-code", "--project", str(worktree))
    assert "No MCP server" in run(box, "mcp", "get", "memtool", folder=worktree)


def test_a_project_whose_folder_is_gone_is_taken_out(box: Box) -> None:
    gone = box.root / "gone"
    gone.mkdir()
    memtool(box, "install", "claude-code", "--project", str(gone))
    (gone / ".claude" / "settings.local.json").unlink()
    (gone / ".claude").rmdir()
    gone.rmdir()
    assert str(gone) in (box.home / ".claude.json").read_text()
    memtool(box, "uninstall", "claude-code", "--project", str(gone))
    assert not (box.home / ".claude.json").exists()
    assert box.memtool("install", "claude-code", "--project", str(gone)).code == 2
