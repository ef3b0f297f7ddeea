"""The last sessions of a project, as the daily notes list them; session notes themselves may be thousands."""

from __future__ import annotations

import codecs
import re

from memtool.recall.start.excerpt import names_in, read_bytes
from memtool.vault.daily import DailySession, listed_sessions
from memtool.vault.layout import Vault

_MOST_DAYS = 30  # daily notes that are looked at, however long ago they were written
_LARGEST_DAY = 262_144  # bytes
_DAY = r"\d{4}-\d\d-\d\d\.md"


def last_sessions(vault: Vault, project: str, most: int, besides: str = "") -> list[tuple[str, DailySession, str]]:
    """Return the day, the entry and the path of the note of each of the last *most* sessions, newest first.

    Sessions whose notes are gone are left out, and so is the one of the note *besides*.
    """
    found: dict[str, tuple[str, DailySession, str]] = {}
    for name in names_in(vault, "daily", _MOST_DAYS):
        if len(found) >= most:
            break
        for session in _sessions_of(vault, name) if re.fullmatch(_DAY, name) else ():
            ref = f"sessions/{session.session_id}.md"
            if session.project == project and ref != besides and (vault.root / ref).is_file():
                found.setdefault(ref, (name[:10], session, ref))
    return list(found.values())[:most]


def _sessions_of(vault: Vault, name: str) -> list[DailySession]:
    """Return the sessions of one day, latest first."""
    found = read_bytes(vault, f"daily/{name}", _LARGEST_DAY)
    if found is None or b"](../sessions/" not in found[0]:
        return []
    text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(found[0])
    return sorted(listed_sessions(text), key=lambda session: session.minute, reverse=True)
