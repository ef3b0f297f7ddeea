"""A handshake with an MCP server over stdio, for `memtool doctor`: `python -m memtool.mcp.handshake COMMAND ...`.

It prints `{"tools": [...]}`; the doctor, which knows nothing of MCP, reads that.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from memtool import settings


async def tools_of(command: Sequence[str]) -> list[str]:
    """Return the names of the tools that the server started by *command* offers to the SDK's own client."""
    server = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(settings.environment()))
    async with Client(server) as client:
        return [tool.name for tool in (await client.list_tools()).tools]


if __name__ == "__main__":
    try:
        sys.stdout.write(json.dumps({"tools": asyncio.run(tools_of(sys.argv[1:]))}))
    except Exception:  # noqa: BLE001  (the doctor shows what the server itself wrote to stderr)
        sys.exit(1)
