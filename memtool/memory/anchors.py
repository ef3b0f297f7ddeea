"""The files that a fact speaks of, known by the blob ids they had; and the folder of a project on this machine."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from memtool.errors import MemtoolError
from memtool.text.languages import labels
from memtool.vault.facts import Fact
from memtool.vault.files import read_text
from memtool.vault.layout import Vault
from memtool.vault.note import Note, parse_note

_LARGEST_ANCHOR = 16 << 20  # bytes; a larger file is not hashed


def root_of(vault: Vault, project: str) -> str:
    """Return the folder of *project* on this machine, or an empty string."""
    with suppress(OSError, MemtoolError):
        ref = f"areas/projects/{project}/summary.md"
        note = parse_note(ref, read_text(vault.path(ref))[0].encode("utf-8"))
        listed = note.fields.get("identities") if isinstance(note, Note) else None
        for identity in listed if isinstance(listed, list) else []:
            path = str(identity).removeprefix("path:")
            if path != identity and os.path.isabs(path) and os.path.isdir(path):  # noqa: PTH112, PTH117
                return path
    return ""


def moved_anchors(vault: Vault, fact: Fact, project: str, language: str) -> list[str]:
    """Return a sentence for each file that the *fact* of *project* names and that changed since."""
    root = root_of(vault, project) if fact.anchors and project else ""
    words = labels("facts", language)
    return [sentence for anchor in fact.anchors if root and (sentence := _moved(Path(root), anchor, words))]


def blob_of(path: Path) -> str:
    """Return the id that git gives to the content of the file at *path*; empty if it cannot be read."""
    with suppress(OSError):
        if path.is_file() and path.stat().st_size <= _LARGEST_ANCHOR:
            return _blob(path.read_bytes())
    return ""


def _blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _moved(root: Path, anchor: Mapping[str, Any], words: Mapping[str, str]) -> str:
    name, known = str(anchor["path"]), str(anchor.get("blob") or "")
    path = root / name
    if not path.resolve().is_relative_to(root.resolve()):
        return ""
    if not path.exists():
        return words["gone"].format(name)
    if not known or not path.is_file() or len(known) != 40:  # of another kind of repository
        return ""
    with suppress(OSError):
        content = path.read_bytes() if path.stat().st_size <= _LARGEST_ANCHOR else None
        if content is not None and known not in (_blob(content), _blob(content.replace(b"\r\n", b"\n"))):
            return words["changed"].format(name)
    return ""
