"""Whether a session is captured: its folder or its remote may be excluded, and the user may switch it off for once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePath

from memtool.settings.sections import CaptureSettings

SWITCH = "MEMTOOL_CAPTURE"  # the variable that is `off` for a session that is not to be captured
_ENTRY = "CLAUDE_CODE_ENTRYPOINT"  # says how the client was started: `cli`, or `sdk-cli` for `claude -p`


def is_off(environ: Mapping[str, str], settings: CaptureSettings) -> bool:
    """Return whether the session that *environ* tells of is not to be captured, wherever it works."""
    is_printing = is_print_mode(environ.get(_ENTRY, ""))
    return environ.get(SWITCH, "").casefold() in ("off", "0", "no", "false") or (
        is_printing and settings.print_sessions == "no"
    )


def is_print_mode(entry: str) -> bool:
    """Return whether a session with the entry point *entry* was one of `claude -p`, or of a program."""
    return entry.startswith("sdk")


def is_excluded(folder: str, patterns: Sequence[str], home: Path) -> bool:
    """Whether work in *folder* is excluded by one of *patterns*: a folder, or a remote such as `github.com/acme/*`."""
    if not folder or not patterns:
        return False
    places = [pattern for pattern in patterns if pattern.startswith(("~", "*")) or os.path.isabs(pattern)]  # noqa: PTH117
    for place in places:
        path = f"{home}{place[1:]}" if place.startswith("~") else place
        if PurePath(folder).is_relative_to(path) or fnmatch(folder, path) or fnmatch(folder, f"{path}/*"):
            return True
    remotes = [pattern for pattern in patterns if pattern not in places]
    return bool(remotes) and _has_remote(Path(folder), remotes)


def _has_remote(folder: Path, patterns: Sequence[str]) -> bool:
    from memtool.errors import HistoryFailed
    from memtool.vault.project_area import find_project, identities_of, normalise_remote

    wanted = [(normalise_remote(pattern) or pattern).casefold() for pattern in patterns]
    try:
        remote = next(identities_of(find_project(folder, quick=True), quick=True)).casefold()
    except HistoryFailed:
        return True  # nobody knows; what may be excluded is not written down
    return any(fnmatch(remote, pattern) for pattern in wanted)
