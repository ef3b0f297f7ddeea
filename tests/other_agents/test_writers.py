"""The real commands of Codex, Gemini CLI and OpenCode, asked once for a text: nothing of the user's takes part."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from claude_code.api import ScriptedApi
from claude_code.script import Json, Use, use
from other_agents.api import OtherApis, _chat
from other_agents.box import Box
from other_agents.conftest import Client
from terminal import MEMTOOL

from memtool.errors import ProviderFailed
from memtool.llm import Request
from memtool.llm.clients import CodexCommand, GeminiCommand, OpenCodeCommand
from memtool.llm.command import ClientCommand

REQUEST = Request("You write notes. 你写笔记。", "TURN 1: see @secret.txt\n决定：订单号用 ULID。")
NOTE = "# 订单号用 ULID，由 ann@example.org 提出"
COMMANDS: dict[str, type[ClientCommand]] = {
    "codex": CodexCommand,
    "gemini": GeminiCommand,
    "opencode": OpenCodeCommand,
}


class Apis(OtherApis):
    """As ever, but a request without tools is ours and not one for a title."""

    def do_POST(self) -> None:  # noqa: N802  (http.server names it so)
        if self.path.endswith("/chat/completions"):
            self.send_events(_chat(self._turn(self.asked())))
        else:
            super().do_POST()


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with ScriptedApi(Apis) as api:
        yield api


@pytest.fixture(params=list(COMMANDS))
def command(
    request: pytest.FixtureRequest, box: Box, api: ScriptedApi, client: Client, monkeypatch: pytest.MonkeyPatch
) -> ClientCommand:
    """The command of a user who has hooks, an MCP server, a plugin and instructions of their own."""
    agent = client(request.param)
    monkeypatch.setenv("HOME", str(box.home))
    plant(box)
    environ = box.environ(api.url) | {"CLAUDE_CODE_SESSION_ID": "around us"}
    return COMMANDS[request.param](str(agent.program), "", environ)


def plant(box: Box) -> None:
    """Write hooks and an MCP server that leave a file `ran-…` at home, whichever client runs them."""

    def ran(what: str) -> str:
        return str(box.home / f"ran-{what}")

    hook = {"hooks": [{"type": "command", "command": f"touch {ran('hook')}; echo {{}}"}]}
    (box.home / ".codex").mkdir(exist_ok=True)
    events = ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")
    (box.home / ".codex" / "hooks.json").write_text(json.dumps({"hooks": {name: [hook] for name in events}}))
    if (codex := box.home / ".codex" / "config.toml").exists():
        codex.write_text(f'{codex.read_text()}\n[mcp_servers.mine]\ncommand = "touch"\nargs = ["{ran("mcp")}"]\n')
    if (gemini := box.home / ".gemini" / "settings.json").exists():
        servers = {"mine": {"command": "touch", "args": [ran("mcp")]}}
        hooks = {name: [hook] for name in ("SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd")}
        gemini.write_text(json.dumps({**json.loads(gemini.read_text()), "hooks": hooks, "mcpServers": servers}))
    plugins = box.home / ".config" / "opencode" / "plugins"
    plugins.mkdir(parents=True, exist_ok=True)
    script = f'export const P = async () => {{ writeFileSync("{ran("plugin")}", "") }}\n'
    (plugins / "p.js").write_text(f'import {{writeFileSync}} from "fs";\n{script}')
    if (opencode := plugins.parent / "opencode.json").exists():
        server = {"mine": {"type": "local", "command": [*MEMTOOL, "--vault", str(box.project), "mcp"]}}
        (box.project / "memtool.toml").touch()
        known = json.loads(opencode.read_text())
        opencode.write_text(json.dumps({**known, "permission": {"*": "allow"}, "mcp": server}))


def tools_of(body: Json) -> list[str]:
    """The names of the tools that a request offers the model."""
    tools = [each for tool in body.get("tools") or [] for each in tool.get("functionDeclarations", [tool])]
    return [tool.get("name") or tool.get("function", {}).get("name") for tool in tools]


def kept(box: Box) -> list[str]:
    """The files at home that hold a word of the prompt or of the answer."""
    words = [word.encode(encoding) for word in ("订单号用", "TURN 1") for encoding in ("utf-8", "utf-16-le")]
    files = [path for path in box.root.rglob("*") if path.is_file()]
    return [str(path) for path in files if any(word in path.read_bytes() for word in words)]


def test_one_request_without_tools_and_nothing_is_left_of_it(
    box: Box, api: ScriptedApi, command: ClientCommand
) -> None:
    api.answers([NOTE])
    answer = command.complete(REQUEST, 120)
    assert (answer.text, answer.provider) == (NOTE, command.name)
    assert answer.input_tokens > 0
    assert answer.output_tokens > 0
    (body,) = api.asked("main")
    sent = json.dumps(body, ensure_ascii=False)
    assert REQUEST.system in sent
    assert "决定：订单号用 ULID。" in sent
    assert "@secret.txt" not in sent
    assert tools_of(body) == (["apply_patch"] if command.name == "codex" else [])
    assert list(box.home.glob("ran-*")) == []
    assert kept(box) == []


def test_an_api_that_refuses_is_one_short_sentence(api: ScriptedApi, command: ClientCommand) -> None:
    command._environ = {**command._environ, "FAKE_KEY": "", "GEMINI_API_KEY": "", "HOME": "/nonexistent"}
    with pytest.raises(ProviderFailed, match=f"the `{command.command}` command failed: ") as caught:
        command.complete(REQUEST, 120)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300
    assert api.asked("main") == []


def test_codex_writes_no_file_whatever_the_model_wants(box: Box, api: ScriptedApi, client: Client) -> None:
    program = client("codex").program
    evil: Use | object = use("apply_patch", patch="*** Begin Patch\n*** Add File: evil.txt\n+text\n*** End Patch\n")
    api.answers([evil, NOTE])  # type: ignore[list-item]
    assert CodexCommand(str(program), "", box.environ(api.url)).complete(REQUEST, 120).text == NOTE
    assert list(Path(box.root).rglob("evil*")) == []
