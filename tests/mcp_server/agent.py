"""An agent that talks to `memtool mcp` as its users' clients do: with the SDK's own client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

import anyio
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

T = TypeVar("T")

LEGACY, MODERN = "legacy", "2026-07-28"  # `initialize` with 2025-11-25, and the protocol without a handshake


class Answer(NamedTuple):
    """The answer of a tool."""

    text: str
    fields: Mapping[str, Any]
    is_error: bool

    def __contains__(self, text: object) -> bool:
        return str(text) in self.text


def answer_of(result: CallToolResult) -> Answer:
    """Return *result* as a model sees it."""
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    return Answer(text, result.structured_content or {}, bool(result.is_error))


class Agent:
    """Calls the tools of *server*, which runs in this process, in a session for each call."""

    def __init__(self, server: MCPServer[Any], mode: str = MODERN) -> None:
        self._server, self._mode = server, mode

    def do(self, deed: Callable[[Client], Awaitable[T]]) -> T:
        """Return what *deed* makes of a client.

        Raises:
            MCPError: the server refuses.
        """

        async def doing() -> T | MCPError:
            async with Client(self._server, mode=self._mode) as client:
                try:
                    return await deed(client)
                except MCPError as refusal:  # raised in here, it would come out in a group
                    return refusal

        done = anyio.run(doing)
        if isinstance(done, MCPError):
            raise done
        return done

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Return the answer of *tool*."""
        return answer_of(self.do(lambda client: client.call_tool(tool, arguments)))


def with_server(
    deed: Callable[[Client], Awaitable[T]], *arguments: str, cwd: Path, mode: str = MODERN, err: Path | None = None
) -> T:
    """Start `memtool mcp` with *arguments* in *cwd*, and return what *deed* makes of a client of it."""
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "memtool", "mcp", *arguments], cwd=cwd, env=dict(os.environ)
    )

    async def doing() -> T:
        with (err or Path(os.devnull)).open("a", encoding="utf-8") as errors:
            async with Client(stdio_client(started, errlog=errors), mode=mode) as client:
                return await deed(client)

    return anyio.run(doing)


class Wire:
    """`memtool mcp` in a process of its own, asked line by line: for what no client would send."""

    def __init__(self, *arguments: str, cwd: Path, python: Sequence[str] = ()) -> None:
        command = [sys.executable, *python, "-m", "memtool", "mcp", *arguments]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed at the end; a pipe would fill up)
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, cwd=cwd
        )
        self._asked = 0

    def send(self, line: bytes) -> None:
        """Write *line* as it is."""
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """Return the next line, which must be JSON."""
        assert self.process.stdout
        line: dict[str, Any] = json.loads(self.process.stdout.readline())
        return line

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the answer to a request."""
        self._asked += 1
        request = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        self.send(json.dumps(request).encode())
        while (answer := self.hear()).get("id") != self._asked:
            pass
        return answer

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Return the answer of *tool*."""
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        text = "\n".join(block["text"] for block in result["content"])
        return Answer(text, result.get("structuredContent") or {}, bool(result.get("isError")))

    def __enter__(self) -> Self:
        """Shake hands."""
        about = {"name": "wire", "version": "1"}
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=about)
        self.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        return self

    def __exit__(self, *_: object) -> None:
        """Close stdin, and see the server end."""
        if self.process.returncode is None:
            self.end()
        self._errors.close()

    def end(self) -> tuple[int, bytes, bytes]:
        """Close stdin, once, and return the exit code and what else the server wrote on stdout and stderr."""
        try:
            out, _ = self.process.communicate(timeout=60)
        except BaseException:
            self.process.kill()
            raise
        self._errors.seek(0)
        return self.process.returncode, out, self._errors.read()
