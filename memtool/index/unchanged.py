"""The question to a running service whether a walk over the vault would find anything that the index does not hold.

The service watches the vault (`memtool.web.watcher`) and is asked as the warm helper of prompts is, at another socket.
Files outside the vault are not watched: whoever asks walks over those, and tells in few bytes what that found.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from memtool.embeddings.helper import HelperPlace, ask_helper, fell_silent
from memtool.vault.scan import Scan

if TYPE_CHECKING:
    from memtool.index.engine import Place

_PATIENCE = 0.2  # seconds: half of a walk over 100,000 notes. Who was silent is left alone for a while


def claim(place: Place, index: Path) -> Mapping[str, Any]:
    """Return the marks of vault, settings and files outside that must be alike for an answer to hold here."""
    about, outside = place.vault.root.stat(), Scan({}, [], [])
    place.outside.add_to(outside, place.vault.root)
    found = crc32(outside.as_bytes(), len(outside.problems))
    read = {"max_bytes": place.max_bytes, "ignore": list(place.ignore)}
    return {"index": str(index), **read, "root": [about.st_dev, about.st_ino], "outside": found}


def is_unchanged(place: Place, watchers: Path, index: Path) -> bool | None:
    """Return whether a service, found in *watchers*, vouches that *index* holds what the vault holds now.

    None says that there is one which was asked just now and did not answer in time.
    """
    at, began = HelperPlace(watchers, place.vault.root), time.time()
    try:
        request = {"ask": "unchanged", **claim(place, index)}
    except OSError:
        return False
    answer = ask_helper(at, request, patience=_PATIENCE)
    if answer is None:
        return None if fell_silent(at, began) else False
    return answer.get("unchanged") is True
