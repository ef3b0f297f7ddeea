"""The patches of `apply_patch`, by which Codex and others edit files. Pure."""

from __future__ import annotations

import re

_FILE = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (\S[^\n]*)", re.MULTILINE)
_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_MOST = 100  # files of one patch


def patch_in(command: str) -> str:
    """Return the patch that *command* applies, as its argument or from a here-document; empty if it applies none."""
    start = command.find(_BEGIN)
    if start < 0 or (start > 0 and "apply_patch" not in command[:start]):
        return ""
    end = command.find(_END, start)
    return command[start:end] if end > 0 else command[start:]


def files_in_patch(patch: str) -> list[str]:
    """Return the files that *patch* adds, changes, deletes or moves to, as it names them, in order."""
    return list(dict.fromkeys(match[1].rstrip() for match in _FILE.finditer(patch)))[:_MOST]
