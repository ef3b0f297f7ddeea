"""A workspace around a vault, with a clock that stands still: what tests of use cases start from."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from memtool.settings import Settings
from memtool.vault.layout import Vault
from memtool.workspace import Workspace

NOW = datetime(2026, 2, 10, 14, 30, tzinfo=timezone(timedelta(hours=8)))


def workspace(
    vault: Vault, *, now: datetime = NOW, cache: Path | None = None, client: Path | None = None, **settings: Any
) -> Workspace:
    """Return where somebody works on *vault*; the home folder lies around it, the cache and the *client* in there."""
    home = vault.root.parent
    environ = {"MEMTOOL_CACHE": str(cache or home / "cache"), "CLAUDE_CONFIG_DIR": str(client or home / ".claude")}
    return Workspace(vault, Settings()._replace(**settings), environ, home, home, lambda: now)
