"""The paths of the files of Claude Code."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from memtool.errors import BadSetting

_MANAGED = {"darwin": "/Library/Application Support/ClaudeCode", "win32": r"C:\Program Files\ClaudeCode"}


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
