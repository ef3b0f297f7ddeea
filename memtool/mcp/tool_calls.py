"""What all tools share: their annotations, errors as sentences that a model can act on, and the names it passes."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar
from urllib.parse import unquote

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import ValidationError

from memtool.errors import MemtoolError, NoteNotFound
from memtool.workspace import Workspace

P = ParamSpec("P")
T = TypeVar("T")

OpenWorkspace: TypeAlias = Callable[[Path | None], Workspace]  # for a project's folder, or the server's own


def annotated(title: str, *, reads: bool = False, destroys: bool = False, repeats: bool = False) -> ToolAnnotations:
    """Return all four annotations of a tool: the protocol's defaults assume the worst.

    Args:
        title: its name for a person.
        reads: whether it changes nothing.
        destroys: whether it may remove something.
        repeats: whether repeating a call changes nothing more.
    """
    return ToolAnnotations(
        title=title,
        read_only_hint=reads,
        destructive_hint=destroys,
        idempotent_hint=reads or repeats,
        open_world_hint=False,
    )


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


def sentence_of(error: MemtoolError | OSError) -> str:
    """Return *error* with its hint."""
    if isinstance(error, OSError):
        return f"the system refused: {error.strerror or error}"
    hint = "Search for it, or list the entries, to get its id." if isinstance(error, NoteNotFound) else error.hint
    return f"{str(error).rstrip('.')}. {hint}".strip()


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
    """Return the error with the faults in the arguments of a call, a line for each; long values are not repeated."""
    lines = [f"{tool} was not called, nothing has changed:"]
    for fault in error.errors()[:10]:
        value: Any = fault.get("input")
        is_short = isinstance(value, int | float) or (isinstance(value, str) and len(value) < 60)
        got = f" (got {value!r})" if is_short else ""
        lines.append(f"- {'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}{got}")
    return ToolError("\n".join(lines))
