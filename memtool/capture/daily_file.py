"""Changing a daily note while others change it too."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from memtool.errors import NoteChanged
from memtool.vault.daily import render_daily
from memtool.vault.files import read_text, replace
from memtool.vault.layout import Vault

PATIENCE = 8.0  # seconds; the client gives a hook ten
_TRIES = 5  # an editor may save the note between our reading and writing


def daily_ref(day: date) -> str:
    """Return the path of the daily note of *day*."""
    return f"daily/{day.isoformat()}.md"


def change_daily(vault: Vault, day: date, change: Callable[[str], str], *, language: str) -> bool:
    """Let *change* turn the text of the daily note of *day* into its new one; return whether it differs.

    Raises:
        Busy, NoteChanged, NotWritable, BrokenVaultFile, OutsideVault: nothing was written.
    """
    path = vault.path(daily_ref(day))
    with vault.lock("daily", timeout=PATIENCE):
        for attempt in range(_TRIES):
            try:
                text, expected = read_text(path)
            except FileNotFoundError:
                text, expected = render_daily(day, language=language), None
            changed = change(text)
            if changed == text:
                return False
            try:
                replace(path, changed, expected=expected)
            except NoteChanged:
                if attempt == _TRIES - 1:
                    raise
                continue
            return True
    return False
