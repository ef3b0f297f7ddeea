"""A home folder of a test's own: what it runs knows nothing of the user who runs the tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def close(patch: pytest.MonkeyPatch, home: Path) -> None:
    """Point the user's folders to *home*, and forget the user's settings, until *patch* is undone."""
    for name in os.environ:
        if name.startswith(("MEMTOOL_", "GIT_", "XDG_", "CLAUDE")):
            patch.delenv(name)
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        patch.setenv(name, str(home))
    patch.setenv("MEMTOOL_CONFIG", str(home / "config.toml"))
    patch.setenv("MEMTOOL_CACHE", str(home / "cache"))
    patch.setenv("MEMTOOL_SESSIONS_NAMES", "id")  # so that a test can name the note of its session
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
