"""The owner's words in notes that memtool has written into since: they are committed first, as the owner's.

A daily note is parted into memtool's lines and all else; the lines that are in no commit yet are left out. Of a
session's note its source knows what memtool wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress

from memtool.capture.kept_note import kept_note
from memtool.capture.source import find_source
from memtool.errors import HistoryFailed, MemtoolError
from memtool.git import ask, texts_in
from memtool.history.commits import NewContent, commit_contents
from memtool.history.repository import get_own_repository
from memtool.vault.daily import DailyItem, DailyParts, put_together, take_apart
from memtool.vault.files import read_content
from memtool.vault.hand_edits import keep_hand_edits
from memtool.vault.layout import Vault
from memtool.vault.session_names import session_of
from memtool.vault.sessions import is_as_written

_SKELETON = re.compile(r"\A\ufeff?---\r?\n(?:.*\n)*?---\r?\n\s*(?:# .*)?\s*\Z")  # front matter and a title
_SESSIONS = "sessions/"


def keep_what_is_by_hand(vault: Vault, refs: Iterable[str]) -> None:
    """Commit what the owner of *vault* wrote into those of the notes *refs* that are about to be committed.

    What they wrote into a session's note that is in no commit yet cannot stand before it. Where git refuses, nothing is
    kept apart.
    """
    with suppress(HistoryFailed):
        _keep(vault, refs)


def _keep(vault: Vault, refs: Iterable[str]) -> None:
    staged = ask(vault.root, "diff", "--cached", "--name-only", "--no-renames", "-z").out.split("\0")
    contents: dict[str, NewContent | None] = {}
    ours = [ref for ref in refs if ref not in staged and ref.endswith(".md") and "\n" not in ref]
    ours = [ref for ref in ours if ref.startswith((_SESSIONS, f"{vault.daily}/"))]
    before = texts_in(vault.root, "HEAD", ours)
    for ref in ours:
        with suppress(OSError, UnicodeDecodeError, MemtoolError):  # gone, broken, or a link out of the vault
            if (own := _of_owner(vault, ref, before.get(ref))) is not None:
                contents[ref] = NewContent(own.encode())
    if contents:
        repository = get_own_repository(vault.root)
        repository.refuse_unsafe()
        commit_contents(repository, contents, f"keep: {', '.join(contents)}"[:200], is_ours=False)


def _of_owner(vault: Vault, ref: str, before: str | None) -> str | None:
    """Return the note as its owner would have it without memtool's latest lines; None if they have written nothing."""
    now = read_content(vault.path(ref)).decode("utf-8")
    if not ref.startswith(_SESSIONS):
        return own_words(now, before)
    if before is None or is_as_written(now):
        return None
    source = find_source(vault, session_of(ref, now))
    base = kept_note(source.note).text if source else ""
    own = keep_hand_edits(base or None, now, before)
    return None if _is_same(own, before) else own


def own_words(now: str, before: str | None) -> str | None:
    """Return the daily note *now* without those lines of memtool that *before* lacks; None if all else is the same."""
    parts, known = take_apart(now), take_apart(before or "")
    own = DailyParts(
        parts.rest, _own_items(parts.entries, known.entries), _own_items(parts.sessions, known.sessions), parts.heading
    )
    is_nothing = before is None and not (own.entries or own.sessions) and _SKELETON.match(parts.rest)
    is_as_before = before is not None and _is_same(put_together(own), put_together(known))
    return None if is_nothing or is_as_before else put_together(own)


def _own_items(now: Mapping[str, DailyItem], before: Mapping[str, DailyItem]) -> dict[str, DailyItem]:
    """Return the items that were there, with the words of *now*, and new ones that have words of their owner."""
    return {
        key: before[key]._replace(words=item.words) if key in before else item
        for key, item in now.items()
        if key in before or item.words.strip()
    }


def _is_same(one: str, other: str) -> bool:
    return one.split() == other.split()
