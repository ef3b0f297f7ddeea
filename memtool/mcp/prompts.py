"""Prompts: what a user picks by name to have something remembered, recalled or handed over."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server import MCPServer
from pydantic import Field

_TOOLS = {
    "context": ("context_save", "context_search"),
    "memory": ("memory_store", "memory_search"),
    "all": ("context_save", "context_search"),
}


def add_prompts(server: MCPServer[Any], profile: str) -> None:
    """Add the prompts to *server*, in the words of the tools of *profile*."""
    save, search = _TOOLS[profile]

    @server.prompt(title="Remember something")
    def remember(what: Annotated[str, Field(description="What to remember.")]) -> str:
        """Have something written into the memory."""
        return (
            f"Remember this for later sessions, with {save}: write it so that it is understood alone (names, versions,"
            f" files, and why), in the language in which I say it, and tell me in one line what was saved.\n\n{what}"
        )

    @server.prompt(title="Recall something")
    def recall(about: Annotated[str, Field(description="What to look for.")]) -> str:
        """Have the memory searched, and told with its sources."""
        return (
            f"Look up in memory, with {search}, what is known about the following; try other words if little is found."
            " Answer from what you find, with date and path of each source, and say so where there is nothing or where"
            f" it may be outdated.\n\n{about}"
        )

    @server.prompt(title="Hand over to the next session")
    def handover() -> str:
        """Have what the next session must know saved now."""
        return _HANDOVER[save]


_HANDOVER = {
    "context_save": (
        "Hand over to the next session: save with context_save what it must know. First a session_summary with the"
        " headings Decisions, Done and Open; then each decision with its reason, each fix and each open item as an"
        " entry of its own, unless it was saved already. Only what was really said and done. Then tell me in five"
        " lines what you saved."
    ),
    "memory_store": (
        "Hand over to the next session: store with memory_store, one memory each, every decision with its reason,"
        " every fix and every open item of this session, unless it was stored already. Only what was really said"
        " and done. Then tell me in five lines what you stored."
    ),
}
