"""The profile `context`: what a project's memory holds, found, saved and put in order."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent

from memtool.errors import MemtoolError, NoteNotFound
from memtool.mcp.tool_calls import (
    Action,
    AllProjects,
    Content,
    Entries,
    Limit,
    OpenWorkspace,
    Page,
    ProjectPath,
    Query,
    Scope,
    SearchedTurns,
    Session,
    Target,
    Turn,
    annotated,
    named_by,
    project_folder,
    sentence_of,
    told,
)
from memtool.workspace import Workspace


def add_context_tools(server: MCPServer[Any], open_workspace: OpenWorkspace) -> None:
    """Add the tools to *server*."""

    @server.tool(annotations=annotated("Load the project's memory", reads=True))
    @told
    def context_load(project_path: ProjectPath) -> dict[str, Any]:
        """Load what is remembered of a project: its rules, decisions, open items, the last sessions and its overview.

        Call it first, once, when you begin to work on a project and have not been given its memory; and when you are
        asked "where were we", "what did we do last time", "what is open", 上次做到哪了, 接着做, 还有什么没做.
        A project that memory does not know gives {"registered": false}; {"available": false} means that the memory
        cannot be reached now: go on without it.
        """
        from memtool.mcp.rendering import state_fields
        from memtool.recall.start.project_state import project_state

        try:
            return state_fields(project_state(open_workspace(project_folder(project_path))))
        except (MemtoolError, OSError) as error:
            return {"available": False, "reason": sentence_of(error)}

    @server.tool(annotations=annotated("Search the project's memory", reads=True), structured_output=False)
    @told
    def context_search(
        project_path: ProjectPath,
        query: Query = "",
        scope: Scope = "all",
        limit: Limit = 5,
        page: Page = 1,
        all_projects: AllProjects = False,
        transcripts: SearchedTurns = "auto",
    ) -> CallToolResult:
        """Search what is remembered of this project: decisions and their reasons, past sessions, fixes, conventions.

        Call it before you ask the user about something that may have been settled before, before you decide again,
        and whenever the user refers to the past: "as we agreed", "last time", "the usual way", "why did we",
        "remember", 上次, 之前, 我们说好的, 为什么当时. Words of any language, names and error codes are found by whole
        and by part. Results are of this project and of what belongs to none; all_projects looks everywhere.
        """
        from memtool.mcp.rendering import found_fields, found_text
        from memtool.memory.search import search_memory

        work = open_workspace(project_folder(project_path))
        found = search_memory(
            work, query, scope=scope, limit=limit, page=page, everywhere=all_projects, transcripts=transcripts
        )
        text = TextContent(type="text", text=found_text(found))
        return CallToolResult(content=[text], structured_content=found_fields(found))

    @server.tool(annotations=annotated("Read a turn of a session", reads=True), structured_output=False)
    @told
    def context_turn(
        project_path: ProjectPath, session: Session, turn: Turn = 0, all_projects: AllProjects = False
    ) -> str:
        """Read what was said and done in one turn of a past session, whole; without turn, the list of its turns.

        Call it when a search names a turn, or when a note says too little of what really happened.
        """
        from memtool.mcp.rendering import turns_text
        from memtool.memory.search import read_turns

        work = open_workspace(project_folder(project_path))
        return turns_text(read_turns(work, session, turn, here="" if all_projects else work.area().name))

    @server.tool(annotations=annotated("Save to the project's memory"), structured_output=False)
    @told
    def context_save(project_path: ProjectPath, entries: Entries) -> str:
        """Save what the next session must know, each entry as a note of its own, at once.

        Call it as soon as the user decides something that must hold later, when a fix was found, when the user says
        "remember", "note that", "for next time", 记住, 记一下, 以后, and with a session_summary before a long session
        ends. An entry counts as your word. Write it so that it is understood alone: names, versions, files, reasons; no
        "this", no "as above".

        session_summary: what the session was about and came to; Markdown lists, headings such as Decisions, Done, Open.
        decision: what was chosen, instead of what, and why. change: what was changed, and what follows from it.
        knowledge: how something works, how to do it, why it failed. todo: an open item, one line.

        Secrets are removed. What stands already is not written twice. If an entry is refused, the others stand.
        """
        from memtool.mcp.rendering import saved_text
        from memtool.memory.saving import NewEntry, save_entries

        given = [NewEntry(each.type, each.content, each.title, tuple(each.tags)) for each in entries]
        return saved_text(save_entries(open_workspace(project_folder(project_path)), given))

    @server.tool(
        annotations=annotated("Put the project's memory in order", destroys=True, repeats=True), structured_output=False
    )
    @told
    def context_manage(
        project_path: ProjectPath, action: Action, target: Target = "", content: Content = "", page: Page = 1
    ) -> str:
        """List what is remembered of a project, and put it in order: archive what is wrong, correct what has changed.

        Call it when the user says that something remembered is wrong, outdated or done ("forget that", "that is no
        longer so", "tick it off", 忘掉, 已经不是了, 做完了), and to see what there is.

        list: every entry with its id and version, as id@version; page 2 and so on go on.
        delete: archives target (an id, with or without its version): it is no longer given, and git can bring it back.
        update: puts content in place of target (id@version, as list gave it). It is refused if the entry changed since.
        A fact is superseded; an open item with the content [x] is ticked off.
        init_project: makes the project's area; content, if any, becomes its overview.
        """
        return _managed(open_workspace(project_folder(project_path)), action, target, content, page)


def _managed(work: Workspace, action: str, target: str, content: str, page: int) -> str:
    from memtool.mcp.rendering import changed_text, listing_text, project_text
    from memtool.memory.memories import archive_memory, change_entry, find_entry, list_entries
    from memtool.memory.saving import init_project

    if action == "list":
        return listing_text(list_entries(work, page=page))
    if action == "init_project":
        return project_text(*init_project(work, content))
    if not target.strip():
        raise ToolError(f"{action} needs a target: an id, as action=list gives it")
    if action == "update" and not content.strip():
        raise ToolError("update needs content: what shall stand in the place of the target")
    target = named_by(target)
    try:
        if action == "delete":
            return changed_text("archived", archive_memory(work, *find_entry(work, target)))
        return changed_text("updated", change_entry(work, target, content))
    except NoteNotFound as error:
        raise ToolError(f"{error}. Nothing has changed. action=list gives the ids that there are.") from None
