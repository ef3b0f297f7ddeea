"""An agent that talks to `memtool mcp` as its users' clients do: with the SDK's own client."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

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
