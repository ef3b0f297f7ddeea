"""Instructions to the client's own summariser before it compacts a session. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from memtool.recall.framing import defused, framed
from memtool.resources import agent_text
from memtool.text.languages import labels
from memtool.vault.sessions import SessionNote

EVENT = "pre-compact"

_LONGEST_ITEM = 240  # characters
_ROOM = 2_000  # characters of all items
_MOST_FILES = 20


def what_must_survive(note: SessionNote, language: str = "en") -> str:
    """Return the topic, decisions, rules, constraints, open items and files of a session as a block; empty if none."""
    points = [point.text for point in note.key_points if point.text not in note.decisions]
    label = labels("session", language)
    lines = [
        *_list(label["topic"], [note.topic]),
        *_list(label["decisions"], note.decisions),
        *_list(label["rules"], note.rules),
        *_list(label["open"], note.open),
        *_list(labels("start", language)["findings"], points),
        *_list(label["files"], [", ".join(note.files[:_MOST_FILES])] if note.files else []),
    ]
    kept = _within(lines)
    if not kept:
        return ""
    return framed("\n".join([agent_text("compaction", language), *kept]), event=EVENT, language=language)


def _list(label: str, items: Iterable[str]) -> list[str]:
    return [f"- {label}: {text[:_LONGEST_ITEM]}" for item in items if (text := defused(item))]


def _within(lines: list[str]) -> list[str]:
    kept, left = [], _ROOM
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    return kept
