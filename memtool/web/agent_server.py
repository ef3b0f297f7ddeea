"""The MCP server over HTTP: the SDK's own application, made at its first request, because its import is dear."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from memtool.beside import load_object
from memtool.workspace import OpenWorkspace

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Receive, Scope, Send

PATHS = {"/mcp": "context", "/mcp/memory": "memory"}  # and the profile of the tools there

_END = 2.0  # seconds for what is under way, when the service ends


class AgentServer:
    """The tools of *profile* for agents that speak MCP over HTTP at *path*. The gate stands in front of it."""

    def __init__(self, open_workspace: OpenWorkspace, path: str, profile: str) -> None:
        self._open_workspace = open_workspace
        self._path = path
        self._profile = profile
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
        """End what is under way."""
        self._ending.set()
        if self._running:
            await asyncio.wait([self._running], timeout=_END)

    async def _started(self) -> ASGIApp:
        make_app = load_object("memtool.mcp.server:make_http_app")  # interfaces do not import each other
        app: Starlette = await asyncio.to_thread(make_app, self._profile, self._open_workspace, self._path)
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
