"""The MCP server over HTTP: an application from outside, made at its first request, because its import is slow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from memtool.workspace import OpenWorkspace

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Receive, Scope, Send

# From a profile of tools, what opens a workspace, and a path: the application that serves the tools at that path.
# The caller that starts the service passes it: interfaces do not import each other.
MakeAgentApp: TypeAlias = "Callable[[str, OpenWorkspace, str], Starlette]"

PATHS = {"/mcp": "context", "/mcp/memory": "memory"}  # and the profile of the tools there


def agent_servers(make_app: MakeAgentApp, open_workspace: OpenWorkspace) -> dict[str, AgentServer]:
    """Return the server of the tools at each of `PATHS`."""
    return {path: AgentServer(partial(make_app, profile, open_workspace, path)) for path, profile in PATHS.items()}


class AgentServer:
    """The application that *make* returns, with its lifespan. The gate is in front of it."""

    def __init__(self, make: Callable[[], Starlette]) -> None:
        self._make = make
        self._starting = asyncio.Lock()
        self._ending = asyncio.Event()
        self._app: ASGIApp | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        async with self._starting:
            app = self._app or await self._started()
        await app(scope, receive, send)

    async def end(self) -> None:
        """End open requests."""
        self._ending.set()
        if self._running:
            await asyncio.wait([self._running], timeout=2.0)

    async def _started(self) -> ASGIApp:
        app = await asyncio.to_thread(self._make)
        ready = asyncio.Event()

        async def run() -> None:
            # The SDK's sessions live in a group of tasks, which one task must open and close.
            async with app.router.lifespan_context(app):
                ready.set()
                await self._ending.wait()

        self._running = asyncio.create_task(run())
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait([self._running, waiting], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._running.done():
            await self._running  # raises what went wrong
        self._app = app
        return app
