"""Resources: MEMORY.md, the overview of each project, and each note by its path, for a user who attaches them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import Resource

from memtool.errors import MemtoolError, NoteNotFound, OutsideVault
from memtool.mcp.calls import OpenWorkspace, sentence_of

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
        """What a project is: its summary, by its name in the vault."""
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
    from memtool.vault.reading import OVERVIEW, WHOLE, Ref, read_note
    from memtool.vault.scan import is_note_name

    if not is_note_name(ref.rpartition("/")[2]):
        raise ResourceNotFoundError(f"'{ref}' is no note")
    try:
        work = open_workspace(None)
        text = read_note(work.vault, Ref(ref), level=WHOLE if is_whole else OVERVIEW, max_bytes=work.max_bytes).text
    except (NoteNotFound, OutsideVault) as error:
        raise ResourceNotFoundError(sentence_of(error)) from None
    except (MemtoolError, OSError) as error:
        raise ResourceError(sentence_of(error)) from None
    return text.encode("utf-8", "replace").decode()
