"""The profile `memory`: single memories, stored, found and forgotten, for agents that know nothing of notes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from pydantic import Field

from memtool.errors import NoteNotFound
from memtool.mcp.tool_calls import LONGEST_CONTENT, LONGEST_PATH, LONGEST_QUERY, Limit, OpenWorkspace, annotated, told

Text = Annotated[
    str,
    Field(
        min_length=1, max_length=LONGEST_CONTENT, description="One statement, understood alone, in the user's language."
    ),
]
Category = Annotated[
    Literal[
        "identity", "preference", "decision", "architecture", "project", "research", "code", "configuration", "bug",
        "conversation", "entity", "fact", "general", "other",
    ],
    Field(description="What sort of thing it is. Identity and preference are the user's, whatever the project."),
]  # fmt: skip
Asked = Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY, description="Words to look for, in any language.")]
Around = Annotated[
    str,
    Field(
        max_length=LONGEST_QUERY,
        description="An id, a path, a day or time (2026-02-10, 2026-02-10T14:30, 7d, yesterday), or words. Empty: now.",
    ),
]
Events = Annotated[int, Field(ge=0, le=20, description="How many events on that side.")]
MemoryId = Annotated[
    str, Field(min_length=1, max_length=LONGEST_PATH, description="The id that memory_store or memory_search gave.")
]


def add_memory_tools(server: MCPServer[Any], open_workspace: OpenWorkspace) -> None:
    """Add the tools to *server*; the project is that of the folder in which it runs."""

    @server.tool(annotations=annotated("Remember", repeats=True))
    @told
    def memory_store(text: Text, category: Category) -> dict[str, Any]:
        """Store one memory: a preference, a decision with its reason, a fact, how something is done or was mended.

        Call it when the user says "remember", "from now on", "I prefer", "note that", 记住, 以后都, 我喜欢, and when
        something was settled that the next session must know. The same text in the same category is stored once:
        `status` is `stored` or `duplicate`, with the `id`. Secrets are removed.
        """
        from memtool.mcp.rendering import stored_fields
        from memtool.memory.saving import store

        return stored_fields(store(open_workspace(None), text, category))

    @server.tool(annotations=annotated("Search memories", reads=True), structured_output=False)
    @told
    def memory_search(query: Asked, limit: Limit = 5) -> str:
        """Search all memories: facts, notes and what the user typed in earlier sessions, in one ranking.

        Call it when the user refers to the past ("do you remember", "what did I say about", "as always", 还记得吗,
        我之前说过) and before you ask them something that they may have told you already.
        """
        from memtool.mcp.rendering import memories_text
        from memtool.memory.search import search_memories

        return memories_text(search_memories(open_workspace(None), query, limit=limit))

    @server.tool(annotations=annotated("Look around a moment", reads=True), structured_output=False)
    @told
    def memory_timeline(around: Around = "", before: Events = 5, after: Events = 5) -> str:
        """Tell what happened around a memory, a day or a word, in order: sessions, decisions, edits, facts, notes.

        Call it when the user asks "when did we", "what happened before", "what came of it", "what did we do on
        Tuesday", 什么时候, 那之前, 后来呢.
        """
        from memtool.mcp.rendering import timeline_text
        from memtool.memory.search import timeline_around

        return timeline_text(timeline_around(open_workspace(None), around, before=before, after=after))

    @server.tool(annotations=annotated("Forget", destroys=True, repeats=True))
    @told
    def memory_forget(id: MemoryId) -> dict[str, bool]:
        """Archive one memory, so that it is no longer given. The user can bring it back, or purge it for good.

        Call it when the user says "forget that", "that is wrong", 忘掉, 不对. `archived`, as `deleted`, is false if
        there is no such memory, or none any more.
        """
        from memtool.memory.memories import archive_memory, find_entry

        try:
            work = open_workspace(None)
            changed = archive_memory(work, *find_entry(work, id)).changed
        except NoteNotFound:
            changed = False
        return {"deleted": changed, "archived": changed}
