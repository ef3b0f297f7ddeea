"""Resources and prompts: notes that a user attaches, and what he has remembered, recalled or handed over by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import Resource
from pydantic import Field

from memtool.errors import MemtoolError, NoteNotFound, OutsideVault
from memtool.mcp.tool_calls import OpenWorkspace, sentence_of
from memtool.text.lines import without_surrogates

if TYPE_CHECKING:
    from memtool.workspace import Workspace

_MARKDOWN = "text/markdown"
_PROJECT = "memtool://projects/"


def add_resources(server: MCPServer[Any], open_workspace: OpenWorkspace) -> None:
    """Add the resources to *server*."""

    @server.resource("memtool://MEMORY.md", title="MEMORY.md", mime_type=_MARKDOWN)
    def memory() -> str:
        """The user's preferences, ways of working and hard-won lessons."""
        return _read(open_workspace, "MEMORY.md")

    @server.resource(_PROJECT + "{name}", title="A project's overview", mime_type=_MARKDOWN)
    def project(name: str) -> str:
        """A project's overview: its summary, by its name in the vault."""
        return _read(open_workspace, f"areas/projects/{name}/summary.md", is_whole=False)

    @server.resource("memtool://notes/{+path}", title="A note", mime_type=_MARKDOWN)
    def note(path: str) -> str:
        """One note of the vault, whole, by its path such as areas/projects/shop/decisions/2026-02-10-jwt.md."""
        return _read(open_workspace, path)


def project_resources(open_workspace: OpenWorkspace) -> list[Resource]:
    """Return the overview of each project that there is now; none while the vault is away."""
    with suppress(MemtoolError, OSError):
        return [
            Resource(
                uri=_PROJECT + quote(name, safe=""), name=name, title=f"Project {name}: overview", mime_type=_MARKDOWN
            )
            for name in _names(open_workspace(None))
        ]
    return []


def _names(work: Workspace) -> Iterator[str]:
    for path in sorted(work.vault.path("areas/projects").glob("*/summary.md")):
        if path.parent.name.isprintable():
            yield path.parent.name


def _read(open_workspace: OpenWorkspace, ref: str, *, is_whole: bool = True) -> str:
    from memtool.vault.marks import UNSOLVED
    from memtool.vault.reading import OVERVIEW, WHOLE, Ref, read_note
    from memtool.vault.scan import is_note_name

    if not is_note_name(ref.rpartition("/")[2]):
        raise ResourceNotFoundError(f"'{ref}' is no note")
    try:
        work = open_workspace(None)
        note = read_note(work.vault, Ref(ref), level=WHOLE if is_whole else OVERVIEW, max_bytes=work.max_bytes)
    except (NoteNotFound, OutsideVault) as error:
        raise ResourceNotFoundError(sentence_of(error)) from None
    except (MemtoolError, OSError) as error:
        raise ResourceError(sentence_of(error)) from None
    if note.problem == UNSOLVED:
        raise ResourceError(f"'{ref}': {UNSOLVED}")
    return without_surrogates(note.text)


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
