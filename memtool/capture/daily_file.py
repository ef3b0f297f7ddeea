"""Changing a daily note while others change it too."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from memtool.vault import files
from memtool.vault.daily import listed_sessions, parse_daily, render_daily
from memtool.vault.layout import Vault

PATIENCE = 8.0  # seconds
_HEAD = 65_536  # bytes of a note, in which memtool is looked for
HOOK_PATIENCE = 0.5  # seconds; somebody waits for a hook


def daily_ref(vault: Vault, day: date) -> str:
    """Return the path of the daily note of *day*; beside the user's own, where a journal of theirs has that name."""
    ref = f"{vault.daily}/{day.isoformat()}.md"
    return ref if _is_free(vault, ref) else f"{vault.daily}/{day.isoformat()}.memtool.md"


def change_daily(
    vault: Vault, day: date, change: Callable[[str], str], *, language: str, patience: float = PATIENCE
) -> bool:
    """Let *change* turn the text of the daily note of *day* into its new one; return whether it differs.

    Raises:
        Busy, NoteChanged, NotWritable, BrokenVaultFile, OutsideVault: nothing was written.
    """
    path = vault.path(daily_ref(vault, day))

    def changed(text: str | None) -> str | None:
        before = render_daily(day, language=language) if text is None else text
        after = change(before)
        return text if after == before else after

    with vault.lock("daily", timeout=patience):
        return files.change(path, changed)


def _is_free(vault: Vault, ref: str) -> bool:
    """Return whether nothing stands at *ref*, or a note that memtool writes: it has the type, or lines of ours."""
    try:
        head = files.read_head(vault.path(ref), _HEAD).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):  # whoever writes there will say it
        return True
    return (
        not head.strip()
        or re.search(r"(?m)^type:\s*[\"']?daily\b", head) is not None
        or bool(parse_daily(head) or listed_sessions(head))
    )
