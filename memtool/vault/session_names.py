"""The notes of sessions by name: from a session's id to its note, wherever its owner has put it, and back."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import PurePosixPath

from memtool.errors import MemtoolError
from memtool.text.frontmatter import plain_fields, split_front_matter
from memtool.vault.files import read_head
from memtool.vault.layout import ARCHIVE, Vault, session_name, session_ref
from memtool.vault.state import read_state

FOLDER = "sessions/"


def note_of(vault: Vault, session: str) -> str:
    """Return the path of the note of *session*: its id, or the name that its note bears.

    It is where the session's record says, else where a note of that name lies, archived or not. If there is none it is
    the path of a note that is named by the id. A note that its owner has moved since is found by `find_moved`.
    """
    recorded = recorded_ref(vault, session)
    named = [f"{FOLDER}{session}.md"] if PurePosixPath(session).name == session else []
    refs = [*filter(None, [recorded]), *named, session_ref(session)]
    for ref in (place for each in refs for place in (each, f"{ARCHIVE}{each}")):
        with suppress(MemtoolError, OSError, ValueError):
            if vault.path(ref).is_file():
                return ref
    return session_ref(session)


def recorded_ref(vault: Vault, session: str) -> str:
    """Return where the note of the session lay when it was captured last; empty if that is not known."""
    try:
        fields = json.loads(
            read_state(vault.state_path / "captured" / f"{session_name(session)}.json", largest=16_777_216)
        )
        ref = fields.get("ref", "")
    except (OSError, ValueError, AttributeError, RecursionError):
        return ""
    return ref if isinstance(ref, str) else ""


def find_moved(vault: Vault, session: str) -> str:
    """Return the path of the note whose front matter names *session*; empty if there is none.

    Every note is looked at.
    """
    from memtool.vault.scan import scan

    refs = scan(vault.root).stamps
    for ref in sorted(refs, key=lambda ref: not ref.startswith(FOLDER)):
        if ref.endswith(".md") and _session_in(vault, ref) == session:
            return ref
    return ""


def session_of(ref: str, text: str) -> str:
    """Return the id of the session whose note at *ref* is *text*: from its front matter, else its name."""
    matter = split_front_matter(text.removeprefix("\ufeff").replace("\r\n", "\n"))[0]
    return plain_fields(matter or "").get("session") or PurePosixPath(ref).stem


def session_at(vault: Vault, ref: str) -> str:
    """Return the id of the session whose note lies at *ref*; from its path where it cannot be read."""
    return _session_in(vault, ref) or PurePosixPath(ref).stem


def _session_in(vault: Vault, ref: str) -> str:
    with suppress(OSError, MemtoolError):
        head = read_head(vault.path(ref), 4_096).decode("utf-8", "replace")
        if re.search(r"(?m)^session:", head):
            return session_of("", head if "\n---" in head[3:] else f"{head}\n---\n")
    return ""
