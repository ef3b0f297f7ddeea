"""An event, what acting on it needs, and what the client is told."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from memtool import settings
from memtool.named_tuple import NamedTuple

if TYPE_CHECKING:
    from memtool.workspace import Workspace


class Options(NamedTuple):
    """The options with which an installation starts a hook.

    Args:
        vault: that was named, if one was.
        this_project: whether memtool was installed for one project only.
        plugin: whether it is a plugin of the client.
        client: the client, if it is another one than Claude Code.
    """

    vault: str = ""
    this_project: bool = False
    plugin: bool = False
    client: str = ""


class Occasion(NamedTuple):
    """An event, and what acting on it needs."""

    name: str
    event: Mapping[str, Any]
    work: Workspace
    options: Options

    def text(self, field: str) -> str:
        """Return a field of the event; empty if it is missing or no text."""
        value = self.event.get(field)
        return value if isinstance(value, str) else ""

    def edited_files(self) -> list[str]:
        """Return the absolute paths of the files that a tool edits; only tools of other clients edit several."""
        asked = self.event.get("tool_input")
        if not isinstance(asked, dict):
            return []
        named = [asked.get("file_path"), asked.get("notebook_path")]
        if self.options.client and isinstance(asked.get("files"), list):
            named += asked["files"]
        return [path for path in named if isinstance(path, str) and Path(path).is_absolute()]


class Reply(NamedTuple):
    """The answer to the client.

    Args:
        text: for the model.
        notice: a line for the user.
    """

    text: str = ""
    notice: str = ""


Action: TypeAlias = Callable[[Occasion], Reply | None]


def parse_options(arguments: Sequence[str]) -> Options:
    """Return the options. Arguments that mean nothing here may come from a newer installation."""
    named = {name: value for name, value in reversed(list(pairwise(arguments))) if name in ("--vault", "--client")}
    client = named.get("--client", "")
    return Options(
        named.get("--vault", ""),
        "--this-project" in arguments,
        "--plugin" in arguments,
        "" if client == "claude-code" else client,
    )


def vault_path(options: Options, environ: Mapping[str, str]) -> Path:
    """Return the path of the vault, found as by every command, but for the folders above the working folder.

    That is where the agent works: a repository from a stranger must not draw the user's notes to itself by a
    `memtool.toml` (docs/decisions/0017-projects-and-vaults.md).

    Raises:
        BadSetting: the user's settings cannot be read.
    """
    path, _ = settings.find_vault_path(options.vault or None, environ, Path(os.sep))
    return path
