"""The profile `context`: what a project's memory holds, found, saved and put in order."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer

from memtool.mcp.calls import Limit, OpenWorkspace, Page, ProjectPath, Query, Scope, annotated, project_folder, told


def add_context_tools(server: MCPServer[Any], open_workspace: OpenWorkspace) -> None:
    """Add the tools to *server*."""

    @server.tool(annotations=annotated("Search the project's memory", reads=True), structured_output=False)
    @told
    def context_search(
        project_path: ProjectPath,
        query: Query = "",
        scope: Scope = "all",
        limit: Limit = 5,
        page: Page = 1,
        all_projects: bool = False,
    ) -> str:
        """Search what is remembered of this project: decisions and their reasons, past sessions, fixes, conventions.

        Call it before you ask the user about something that may have been settled before, before you decide again,
        and whenever the user refers to the past: "as we agreed", "last time", "the usual way", "why did we",
        "remember", 上次, 之前, 我们说好的, 为什么当时. Words of any language, names and error codes are found by whole
        and by part. Results are of this project and of what belongs to none; all_projects looks everywhere.
        """
        from memtool.mcp.rendering import found_text
        from memtool.recall.agent_search import search_memory

        work = open_workspace(project_folder(project_path))
        return found_text(search_memory(work, query, scope=scope, limit=limit, page=page, everywhere=all_projects))
