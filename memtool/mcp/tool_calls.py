"""Calls of tools: the types of their arguments, what an agent is told of a tool, and what becomes of errors."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, ParamSpec, TypeAlias, TypeVar
from urllib.parse import unquote

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memtool.errors import MemtoolError, NoteNotFound
from memtool.vault.kinds import FOLDERS, TODO
from memtool.workspace import Workspace

_FIND = "Search for it, or list what there is, to learn its id."

P = ParamSpec("P")
T = TypeVar("T")

OpenWorkspace: TypeAlias = Callable[[Path | None], Workspace]  # for a project's folder, or the server's own

LONGEST_PATH = 4_096  # characters
LONGEST_QUERY = 20_000
LONGEST_CONTENT = 100_000

ProjectPath = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST_PATH,
        description="Absolute path of the project, as a rule the folder you work in; a subfolder or worktree will do.",
    ),
]
Query = Annotated[
    str,
    Field(
        max_length=LONGEST_QUERY, description="Words to look for, in any language, without syntax. Empty: the newest."
    ),
]
Scope = Annotated[
    Literal["all", "sessions", "decisions", "changes", "knowledge"],
    Field(description="What sort of thing to look for."),
]
Session = Annotated[
    str, Field(min_length=1, max_length=LONGEST_PATH, description="Its id, or the path of its note, as a search says.")
]
Turn = Annotated[int, Field(ge=0, le=1_000_000, description="The number of the turn.")]
SearchedTurns = Annotated[
    Literal["auto", "only", "no"],
    Field(description="The kept turns of sessions: where no note answers, alone, or not at all."),
]
AllProjects = Annotated[bool, Field(description="Also what belongs to other projects: only if the user asks for it.")]
Limit = Annotated[int, Field(ge=1, le=20, description="How many results to give.")]
Page = Annotated[int, Field(ge=1, le=100, description="2, 3 and so on give the results after those.")]
Action = Annotated[Literal["list", "delete", "update", "init_project"], Field(description="What to do.")]
Target = Annotated[
    str,
    Field(
        max_length=LONGEST_PATH,
        description="An id, or id@version, as list gives it, such as fact-20260210-9f3a@1c04be12; or a memtool:// URI.",
    ),
]
Content = Annotated[
    str, Field(max_length=LONGEST_CONTENT, description="Of update and init_project: the new text, Markdown.")
]
Tag = Annotated[str, Field(max_length=100)]


class Entry(BaseModel):
    """One thing to be saved."""

    model_config = ConfigDict(extra="forbid")

    type: Literal[("session_summary", *FOLDERS, TODO)]  # type: ignore[valid-type]  # pydantic reads the table
    content: str = Field(min_length=1, max_length=LONGEST_CONTENT, description="Markdown; of a todo one line.")
    title: str = Field("", max_length=200, description="What it is about, in a few words; else its first sentence.")
    tags: list[Tag] = Field(default=[], max_length=10, description="Words to find it by.")


Entries = Annotated[list[Entry], Field(min_length=1, max_length=20, description="What to save, 1 to 20 entries.")]


def annotated(title: str, *, reads: bool = False, destroys: bool = False, repeats: bool = False) -> ToolAnnotations:
    """Return the annotations of a tool, all four of them: the defaults of the protocol say the worst.

    Args:
        title: its name for a person.
        reads: whether it changes nothing.
        destroys: whether something may be gone afterwards.
        repeats: whether a second call like the first changes nothing more.
    """
    return ToolAnnotations(
        title=title,
        read_only_hint=reads,
        destructive_hint=destroys,
        idempotent_hint=reads or repeats,
        open_world_hint=False,
    )


def told(tool: Callable[P, T]) -> Callable[P, T]:
    """Return *tool* with each error that a model can mend as a sentence and a hint, its description not indented."""

    @functools.wraps(tool)
    def telling(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return tool(*args, **kwargs)
        except (MemtoolError, OSError) as error:
            raise ToolError(sentence_of(error)) from None

    telling.__doc__ = inspect.getdoc(tool)
    return telling


def sentence_of(error: MemtoolError | OSError) -> str:
    """Return *error* with its hint."""
    if isinstance(error, OSError):
        return f"the system refused: {error.strerror or error}"
    hint = _FIND if isinstance(error, NoteNotFound) else error.hint
    return f"{str(error).rstrip('.')}. {hint}".strip()


def project_folder(text: str) -> Path:
    """Return the folder that *text* names; it may be gone.

    Raises:
        ToolError: it is no absolute path.
    """
    path = Path(os.path.expanduser(text))  # noqa: PTH111  (that of Path raises for users whom nobody knows)
    if "\0" in text or not path.is_absolute():
        raise ToolError(
            f"project_path is no absolute path: {text[:200]!r}. Give the folder you work in, such as /home/me/src/shop."
        )
    return path


def named_by(target: str) -> str:
    """Return the id, with its version, that *target* names, which may be the URI of a resource."""
    scheme, _, path = target.strip().partition("://")
    if scheme != "memtool":
        return target
    kind, _, name = unquote(path).partition("/")
    if kind == "projects":
        name, at, version = name.partition("@")
        return f"areas/projects/{name}/summary.md{at}{version}"
    return name if kind == "notes" else unquote(path)


def refusal(tool: str, error: ValidationError) -> ToolError:
    """Return the faults in the arguments of a call, one line for each, without repeating long values."""
    faults = [
        f"- {'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}{_got(each)}" for each in error.errors()
    ]
    return ToolError("\n".join([f"{tool} was not called, nothing has changed:", *faults[:10]]))


def _got(fault: Any) -> str:  # noqa: ANN401  (pydantic's own dictionary)
    value = fault.get("input")
    return f" (got {value!r})" if isinstance(value, int | float) or (isinstance(value, str) and len(value) < 60) else ""
