"""The tools: the profile `context` works on one project's memory, the profile `memory` on single memories.

Models read the descriptions of the tools and their arguments. Each tool imports its own use case, and no other.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, ParamSpec, TypeVar
from urllib.parse import unquote

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memtool.errors import MemtoolError, NoteNotFound, faults_in, in_words
from memtool.mcp import rendering
from memtool.vault.memory import CATEGORIES, FOLDERS, TODO
from memtool.workspace import OpenWorkspace

P = ParamSpec("P")
T = TypeVar("T")

_Id = Annotated[str, Field(max_length=4_096)]
_Words = Annotated[str, Field(max_length=20_000)]
_Markdown = Annotated[str, Field(max_length=100_000)]
ProjectPath = Annotated[
    _Id,
    Field(
        min_length=1,
        description="Absolute path of the project: usually the folder you work in. A subfolder or worktree is fine.",
    ),
]
Query = Annotated[_Words, Field(description="Words to search for, in any language. No syntax. Empty: the newest.")]
Scope = Annotated[
    Literal["all", "sessions", "decisions", "changes", "knowledge"], Field(description="What kind of memory to search.")
]
Session = Annotated[_Id, Field(min_length=1, description="Its id, or the path of its note, from a search.")]
Turn = Annotated[int, Field(ge=0, le=1_000_000, description="The number of the turn. 0: list the turns.")]
SearchedTurns = Annotated[
    Literal["auto", "only", "no"],
    Field(description="The recorded turns of sessions: auto searches them if no note answers; only these; or never."),
]
AllProjects = Annotated[bool, Field(description="Include other projects. Use it only if the user asks for it.")]
Limit = Annotated[int, Field(ge=1, le=20, description="How many results to return.")]
Page = Annotated[int, Field(ge=1, le=100, description="2, 3 and so on return the next results.")]
Action = Annotated[Literal["list", "delete", "update", "init_project"], Field(description="What to do.")]
Target = Annotated[
    _Id,
    Field(
        description="An id or id@version from action=list, such as fact-20260210-9f3a@1c04be12; or a memtool:// URI."
    ),
]
Content = Annotated[_Markdown, Field(description="For update and init_project: the new text, in Markdown.")]
Text = Annotated[
    _Markdown, Field(min_length=1, description="One statement that is clear without context, in the user's language.")
]
Category = Annotated[
    Literal[(*CATEGORIES, "other")],  # type: ignore[valid-type]  # pydantic reads the table
    Field(description="Its category. identity and preference belong to the user, in every project."),
]
Words = Annotated[_Words, Field(min_length=1, description="Words to search for, in any language.")]
Around = Annotated[
    _Words,
    Field(
        description="An id, a path, a day or time (2026-02-10, 2026-02-10T14:30, 7d, yesterday), or words. Empty: now."
    ),
]
Events = Annotated[int, Field(ge=0, le=20, description="How many events on that side.")]
MemoryId = Annotated[_Id, Field(min_length=1, description="The id from memory_store or memory_search.")]


class Entry(BaseModel):
    """One entry to save."""

    model_config = ConfigDict(extra="forbid")

    type: Literal[("session_summary", *FOLDERS, TODO)]  # type: ignore[valid-type]  # pydantic reads the table
    content: _Markdown = Field(min_length=1, description="Markdown; for a todo one line.")
    title: str = Field("", max_length=200, description="Its subject in a few words; by default its first sentence.")
    tags: list[Annotated[str, Field(max_length=100)]] = Field(
        default=[], max_length=10, description="Words to find it by."
    )


Entries = Annotated[list[Entry], Field(min_length=1, max_length=20, description="What to save: 1 to 20 entries.")]


def add_context_tools(server: MCPServer[Any], open_workspace: OpenWorkspace) -> None:
    """Add the tools of the profile `context` to *server*."""
    tools = _ContextTools(open_workspace)
    _add(server, tools.context_load, "Load the project's memory", reads=True, has_fields=True)
    _add(server, tools.context_search, "Search the project's memory", reads=True)
    _add(server, tools.context_turn, "Read a turn of a session", reads=True)
    _add(server, tools.context_save, "Save to the project's memory")
    _add(server, tools.context_manage, "Manage the project's memory", destroys=True, repeats=True)


def add_memory_tools(server: MCPServer[Any], open_workspace: OpenWorkspace) -> None:
    """Add the tools of the profile `memory` to *server*."""
    tools = _MemoryTools(open_workspace)
    _add(server, tools.memory_store, "Remember", repeats=True, has_fields=True)
    _add(server, tools.memory_search, "Search memories", reads=True)
    _add(server, tools.memory_timeline, "Show a timeline", reads=True)
    _add(server, tools.memory_forget, "Forget", destroys=True, repeats=True, has_fields=True)


def _add(
    server: MCPServer[Any], tool: Callable[..., Any], title: str, *, reads: bool = False, destroys: bool = False,
    repeats: bool = False, has_fields: bool = False,
) -> None:  # fmt: skip
    """Add *tool* to *server*, with all four annotations: the protocol's defaults assume the worst.

    Its docstring is its description. It *reads* if it changes nothing, *destroys* if it may remove something, *repeats*
    if a repeated call changes nothing more, and *has_fields* if its answer is an object whose schema is published.
    """
    annotations = ToolAnnotations(
        title=title,
        read_only_hint=reads,
        destructive_hint=destroys,
        idempotent_hint=reads or repeats,
        open_world_hint=False,
    )
    server.tool(annotations=annotations, structured_output=None if has_fields else False)(answering(tool))


class _ContextTools:
    """The profile `context`, on the memory of one project."""

    def __init__(self, open_workspace: OpenWorkspace) -> None:
        self._open_workspace = open_workspace

    def context_load(self, project_path: ProjectPath) -> dict[str, Any]:
        """Load the memory of a project: its rules, decisions, open items, last sessions and overview.

        Call it once, first, when you begin to work on a project and have not received its memory; and when the user
        asks "where were we", "what did we do last time", "what is open", 上次做到哪了, 接着做, 还有什么没做.
        {"registered": false} means that memory does not know the project. {"available": false} means that memory
        cannot be reached now: continue without it.
        """
        from memtool.recall.start.project_state import project_state

        try:
            return rendering.state_fields(project_state(self._open_workspace(project_folder(project_path))))
        except (MemtoolError, OSError) as error:
            return {"available": False, "reason": sentence_of(error)}

    def context_search(
        self,
        project_path: ProjectPath,
        query: Query = "",
        scope: Scope = "all",
        limit: Limit = 5,
        page: Page = 1,
        all_projects: AllProjects = False,
        transcripts: SearchedTurns = "auto",
    ) -> CallToolResult:
        """Search the memory of this project: decisions and their reasons, past sessions, fixes, conventions.

        Call it before you ask the user about something that may already be settled, before you decide something again,
        and whenever the user refers to the past: "as we agreed", "last time", "the usual way", "why did we",
        "remember", 上次, 之前, 我们说好的, 为什么当时. It finds words of any language, names and error codes, also by
        parts of them. Results belong to this project or to no project; all_projects searches every project.
        """
        from memtool.memory.search import search_memory

        work = self._open_workspace(project_folder(project_path))
        found = search_memory(
            work, query, scope=scope, limit=limit, page=page, everywhere=all_projects, transcripts=transcripts
        )
        text = TextContent(type="text", text=rendering.found_text(found))
        return CallToolResult(content=[text], structured_content=rendering.found_fields(found))

    def context_turn(
        self, project_path: ProjectPath, session: Session, turn: Turn = 0, all_projects: AllProjects = False
    ) -> str:
        """Read one whole turn of a past session: the prompt, the actions and the answer. Without turn, list its turns.

        Call it when a search names a turn, or when a note does not say enough about what happened.
        """
        from memtool.memory.search import read_turns

        work = self._open_workspace(project_folder(project_path))
        return rendering.turns_text(read_turns(work, session, turn, here="" if all_projects else work.area().name))

    def context_save(self, project_path: ProjectPath, entries: Entries) -> str:
        """Save what the next session must know. Each entry becomes a note of its own, at once.

        Call it as soon as the user decides something that must hold later; when a fix was found; when the user says
        "remember", "note that", "for next time", 记住, 记一下, 以后; and with a session_summary before a long session
        ends. Entries are recorded as yours. Write them so that they are clear without context: names, versions, files,
        reasons; no "this", no "as above".

        session_summary: the subject and the result of the session; Markdown lists under Decisions, Done, Open.
        decision: what was chosen, instead of what, and why. change: what was changed, and its consequences.
        knowledge: how something works, how to do it, why it failed. todo: an open item, one line.

        Secrets are removed. An entry that repeats a memory is not saved twice. If one entry is refused, the others are
        saved all the same.
        """
        from memtool.memory.saving import save_entries
        from memtool.vault.memory import NewMemory

        new = [NewMemory(each.content, each.type, tags=tuple(each.tags), summary=each.title) for each in entries]
        return rendering.saved_text(save_entries(self._open_workspace(project_folder(project_path)), new))

    def context_manage(
        self, project_path: ProjectPath, action: Action, target: Target = "", content: Content = "", page: Page = 1
    ) -> str:
        """List the memory of a project, archive what is wrong, or correct what has changed.

        Call it when the user says that a memory is wrong, outdated or done ("forget that", "that is no longer so",
        "tick it off", 忘掉, 已经不是了, 做完了), and to see what there is.

        list: every entry with its id and version, as id@version; page 2 and so on return the next ones.
        delete: archives target (an id, with or without version). Agents no longer receive it; git can restore it.
        update: replaces target (id@version, from list) by content. It is refused if the entry changed in the meantime.
        A fact is superseded. An open item is ticked off if content is [x].
        init_project: creates the project's area; content, if any, becomes its overview.
        """
        from memtool.memory.memories import archive_memory, change_entry, find_entry, list_entries
        from memtool.memory.saving import init_project

        work = self._open_workspace(project_folder(project_path))
        if action == "list":
            return rendering.listing_text(list_entries(work, page=page))
        if action == "init_project":
            return rendering.project_text(*init_project(work, content))
        if not target.strip():
            raise ToolError(f"{action} needs a target: an id from action=list")
        if action == "update" and not content.strip():
            raise ToolError("update needs content: the text that replaces the target")
        target = named_by(target)
        try:
            if action == "delete":
                return rendering.changed_text("archived", archive_memory(work, *find_entry(work, target)))
            return rendering.changed_text("updated", change_entry(work, target, content))
        except NoteNotFound as error:
            raise ToolError(f"{error}. Nothing has changed. action=list returns the known ids.") from None


class _MemoryTools:
    """The profile `memory`, on single memories; the project is that of the folder in which the server runs."""

    def __init__(self, open_workspace: OpenWorkspace) -> None:
        self._open_workspace = open_workspace

    def memory_store(self, text: Text, category: Category) -> dict[str, Any]:
        """Store one memory: a preference, a decision with its reason, a fact, a procedure or a fix.

        Call it when the user says "remember", "from now on", "I prefer", "note that", 记住, 以后都, 我喜欢, and when
        something is settled that the next session must know. The same text in the same category is stored once:
        `status` is `stored` or `duplicate`, and `id` names the memory. Secrets are removed.
        """
        from memtool.memory.saving import store

        return rendering.stored_fields(store(self._open_workspace(None), text, category))

    def memory_search(self, query: Words, limit: Limit = 5) -> str:
        """Search all memories: facts, notes and the user's prompts in earlier sessions, in one ranking.

        Call it when the user refers to the past ("do you remember", "what did I say about", "as always", 还记得吗,
        我之前说过), and before you ask for something that the user may have told you already.
        """
        from memtool.memory.search import search_memories

        return rendering.memories_text(search_memories(self._open_workspace(None), query, limit=limit))

    def memory_timeline(self, around: Around = "", before: Events = 5, after: Events = 5) -> str:
        """Show what happened around a memory, a day or a word, in order: sessions, decisions, edits, facts, notes.

        Call it when the user asks "when did we", "what happened before", "what came of it", "what did we do on
        Tuesday", 什么时候, 那之前, 后来呢.
        """
        from memtool.memory.search import timeline_around

        return rendering.timeline_text(timeline_around(self._open_workspace(None), around, before=before, after=after))

    def memory_forget(self, id: MemoryId) -> dict[str, bool]:
        """Archive one memory, so that agents no longer receive it. The user can restore it, or purge it for good.

        Call it when the user says "forget that", "that is wrong", 忘掉, 不对. `archived`, like `deleted`, is false if
        there is no such memory, or it is archived already.
        """
        from memtool.memory.memories import archive_memory, find_entry

        try:
            work = self._open_workspace(None)
            changed = archive_memory(work, *find_entry(work, id)).changed
        except NoteNotFound:
            changed = False
        return {"deleted": changed, "archived": changed}


def answering(tool: Callable[P, T]) -> Callable[P, T]:
    """Return *tool* with each foreseen error as a sentence and a hint, and with a description without indentation."""

    @functools.wraps(tool)
    def answer(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return tool(*args, **kwargs)
        except (MemtoolError, OSError) as error:
            raise ToolError(sentence_of(error)) from None

    answer.__doc__ = inspect.getdoc(tool)
    return answer


def sentence_of(error: Exception) -> str:
    """Return *error* with a hint for an agent."""
    if isinstance(error, NoteNotFound):
        return f"{error}. Search for it, or list the entries, to get its id."
    return in_words(error)


def project_folder(text: str) -> Path:
    """Return the folder that *text* names; it need not exist.

    Raises:
        ToolError: it is no absolute path.
    """
    path = Path(os.path.expanduser(text))  # noqa: PTH111  (that of Path raises for unknown users)
    if "\0" in text or not path.is_absolute():
        raise ToolError(
            f"project_path is not absolute: {text[:200]!r}. Pass the folder you work in, such as /home/me/src/shop."
        )
    return path


def named_by(target: str) -> str:
    """Return the id, with its version, that *target* names; *target* may be the URI of a resource."""
    scheme, _, path = target.strip().partition("://")
    if scheme != "memtool":
        return target
    kind, _, name = unquote(path).partition("/")
    if kind == "projects":
        name, at, version = name.partition("@")
        return f"areas/projects/{name}/summary.md{at}{version}"
    return name if kind == "notes" else unquote(path)


def refusal(tool: str, error: ValidationError) -> ToolError:
    """Return the error with the faults in the arguments of a call, a line for each."""
    faults = [f"- {fault}" for fault in faults_in(error.errors())]
    return ToolError("\n".join([f"{tool} was not called, nothing has changed:", *faults]))
