"""Changing a daily note while others change it too."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from memtool.vault import files
from memtool.vault.daily import render_daily
from memtool.vault.layout import Vault

PATIENCE = 8.0  # seconds
HOOK_PATIENCE = 0.5  # seconds; somebody waits for a hook


def daily_ref(day: date) -> str:
    """Return the path of the daily note of *day*."""
    return f"daily/{day.isoformat()}.md"


def change_daily(
    vault: Vault, day: date, change: Callable[[str], str], *, language: str, patience: float = PATIENCE
) -> bool:
    """Let *change* turn the text of the daily note of *day* into its new one; return whether it differs.

    Raises:
        Busy, NoteChanged, NotWritable, BrokenVaultFile, OutsideVault: nothing was written.
    """
    path = vault.path(daily_ref(day))

    def changed(text: str | None) -> str | None:
        before = render_daily(day, language=language) if text is None else text
        after = change(before)
        return text if after == before else after

    with vault.lock("daily", timeout=patience):
        return files.change(path, changed)
