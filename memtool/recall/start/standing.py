"""Which notes of sessions hold decisions, rules or open items, of all sessions there ever were.

A start has no time to look into hundreds of notes. A worker lists those that hold such lines, by project, the newest
first, in `.memtool/standing.json`, those in the archive as well; the lines themselves are only in the notes.
"""

from __future__ import annotations

import codecs
import json
import os
import re
from contextlib import suppress
from functools import cache
from typing import Any

from memtool.recall.start.excerpt import Folder, one_line_fields
from memtool.text.languages import all_labels
from memtool.vault.authors import DECISION, OPEN, RULE
from memtool.vault.layout import ARCHIVE, Vault
from memtool.vault.sessions import parse_session
from memtool.vault.state import make_state_folder, read_state, write_state

STANDING = {DECISION: "decisions", RULE: "rules", OPEN: "open"}
LARGEST_NOTE = 65_536  # bytes
_NAME, _STAMPS = "standing.json", "standing-read.json"
_LARGEST = 16 << 20  # bytes
_FOLDERS = ("sessions", f"{ARCHIVE}sessions")


def gather_standing(vault: Vault) -> None:
    """Bring the list up to date; only notes that have changed since the last time are read."""
    known = _read(vault, _STAMPS)
    seen: dict[str, list[Any]] = {}
    for folder in _FOLDERS:
        notes = Folder(vault, folder)
        with suppress(OSError), os.scandir(vault.root / folder) as entries:
            for entry in entries:
                if entry.name.endswith(".md") and entry.name[0] != ".":
                    about = entry.stat(follow_symlinks=False)
                    stamp, row = [about.st_size, about.st_mtime_ns], known.get(f"{folder}/{entry.name}")
                    is_known = isinstance(row, list) and len(row) == 4 and row[:2] == stamp
                    found = list(row or ()) if is_known else [*stamp, *_standing_in(notes, entry.name)]
                    seen[f"{folder}/{entry.name}"] = found
    if seen == known:
        return
    by_project: dict[str, list[list[str]]] = {}
    for ref, (_, _, project, when) in seen.items():
        if project:
            by_project.setdefault(project, []).append([when, ref])
    with suppress(OSError):  # the next worker will do it
        make_state_folder(vault.state_path)
        listed = {project: sorted(rows, reverse=True) for project, rows in by_project.items()}
        for name, content in ((_NAME, listed), (_STAMPS, seen)):
            write_state(vault.state_path / name, json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))


def standing_notes(vault: Vault, project: str) -> list[tuple[str, str]] | None:
    """Return when each note of *project* that is listed was heard of last, and its path; None if there is no list."""
    listed = _read(vault, _NAME)
    rows = listed.get(project, [])
    if not listed or not isinstance(rows, list):
        return None
    return [(row[0], row[1]) for row in rows if isinstance(row, list) and len(row) == 2 and all(map(_is_text, row))]


def holds_standing(content: bytes) -> bool:
    """Return whether the note with *content* holds a decision, a rule or an open item."""
    return any(label in content for label in _labels())


def last_heard(content: bytes) -> tuple[str, str, str]:
    """Return the project of the session with the note *content*, and the day and minute when it was last heard of.

    All are empty for a note of another kind, and for a session that was forgotten as a whole.
    """
    text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(content).replace("\r\n", "\n")
    matter, _, body = text.removeprefix("---\n").partition("\n---")
    if not re.search(r"(?m)^type: *[\"']?session\b", matter):
        return "", "", ""
    fields = one_line_fields(matter)
    if fields.get("type") != "session" or not is_there(content):
        return "", "", ""
    when = fields.get("updated") or parse_session(body).updated or fields.get("date", "")
    return fields.get("project", ""), when[:10], when[11:16]


def is_there(content: bytes | None) -> bool:
    """Return whether *content* begins a session's note that was not forgotten as a whole."""
    if content is None or not content.startswith((b"---", b"\xef\xbb\xbf---")):
        return content is not None
    return re.search(rb"\nstatus:[ \t]*[\"']?archived\b", content.split(b"\n---", 1)[0], re.IGNORECASE) is None


def _standing_in(notes: Folder, name: str) -> tuple[str, str]:
    """Return the project of a note that holds such lines, and when it was heard of last; empty for all others."""
    content = notes.read(name, LARGEST_NOTE)
    if content is None or not holds_standing(content):
        return "", ""
    project, day, minute = last_heard(content)
    return project, f"{day} {minute}".strip()


@cache
def _labels() -> tuple[bytes, ...]:
    """Return what stands above decisions, rules and open items, in any language and any version of the note."""
    words = [word for name in STANDING.values() for word in all_labels("session")[name]]
    return tuple(form.format(word).encode() for word in words for form in ("\n## {}", ". **{}**"))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _read(vault: Vault, name: str) -> dict[str, Any]:
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(read_state(vault.state_path / name, largest=_LARGEST))
        return found if isinstance(found, dict) else {}
    return {}
