"""The files of clients, read as text before anything is changed, and the paths of those of Claude Code."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from memtool.errors import BadSetting, BrokenVaultFile
from memtool.text.json_places import parse
from memtool.vault import files

_MANAGED = {"darwin": "/Library/Application Support/ClaudeCode", "win32": r"C:\Program Files\ClaudeCode"}
_MEND = "Fix it with an editor. memtool has changed nothing."


class Content(NamedTuple):
    """The text of a file, and the hash to hand to `memtool.vault.files.replace`."""

    text: str
    hash: str


def read(path: Path) -> Content | None:
    """Return the content of the file at *path*; None without a file.

    Raises:
        BadSetting: it cannot be read, or is not a text file.
    """
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise BadSetting(f"'{path}' is not a file", hint="Move it away.")
        if about.st_size > 32 << 20:  # a client's file of state may hold years of prompts
            raise BadSetting(f"'{path}' is too large for a settings file ({about.st_size:,} bytes)", hint=_MEND)
        return Content(*files.read_text(path))
    except FileNotFoundError:
        return None
    except BrokenVaultFile as error:
        raise BadSetting(f"'{path}' cannot be read as text: {error}", hint=_MEND) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadSetting(f"cannot read '{path}': {reason}", hint="Check its permissions.") from None


def not_settings(path: Path, error: ValueError) -> BadSetting:
    """Return the error for a file whose text is not what settings should be."""
    if isinstance(error, json.JSONDecodeError):
        return BadSetting(f"'{path}' is not JSON: {error.msg} (line {error.lineno}, column {error.colno})", hint=_MEND)
    return BadSetting(f"'{path}' is broken: {error}", hint=_MEND)


def values(path: Path) -> dict[str, Any]:
    """Return the settings in the JSON file at *path*; empty if it cannot be read."""
    try:
        content = read(path)
        found = parse(content.text).value if content else {}
    except (BadSetting, json.JSONDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def user_settings_path(environ: Mapping[str, str]) -> Path:
    """Return the settings file of the user.

    Raises:
        BadSetting: the home folder is unknown.
    """
    if environ.get("CLAUDE_CONFIG_DIR"):
        return Path(environ["CLAUDE_CONFIG_DIR"]).absolute() / "settings.json"
    try:
        return Path.home() / ".claude" / "settings.json"
    except RuntimeError:
        raise BadSetting("your home folder is unknown", hint="Set HOME or CLAUDE_CONFIG_DIR.") from None


def state_path(environ: Mapping[str, str]) -> Path:
    """Return the file in which the client keeps its state, and the MCP servers of the user and of each project.

    Raises:
        BadSetting: the home folder is unknown.
    """
    folder = user_settings_path(environ).parent
    return (folder if environ.get("CLAUDE_CONFIG_DIR") else folder.parent) / ".claude.json"


def project_settings_path(folder: Path) -> Path:
    """Return the settings file for the project in *folder* that is not shared through git."""
    return folder / ".claude" / "settings.local.json"


def shared_settings_path(folder: Path) -> Path:
    """Return the settings file that everyone who works on the project in *folder* shares."""
    return folder / ".claude" / "settings.json"


def managed_settings_path() -> Path:
    """Return the settings file that an administrator may have written for this machine."""
    return Path(_MANAGED.get(sys.platform, "/etc/claude-code")) / "managed-settings.json"
