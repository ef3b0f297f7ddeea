"""The purged texts: as git's history shows them, for an undo, and as salted hashes, for a capture."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from memtool.errors import HistoryFailed
from memtool.git import tell
from memtool.history.commits import SIGNATURE
from memtool.redaction.hashed import HashedTexts
from memtool.redaction.known import KnownSecrets
from memtool.vault.layout import Vault
from memtool.vault.state import make_state_folder, read_state, write_state

PURGE = "purge"  # the deed of a commit that purged
KIND = "purged"

_MARKER = f"[redacted: {KIND}]"
_HASHES, _LARGEST = "purged.json", 1_048_576  # bytes
_LEAST = 8  # characters of a line that was taken out whole


def read_purged(vault: Vault) -> HashedTexts:
    """Return the hashes of the texts that were purged from *vault* on this machine."""
    try:
        kept = json.loads(read_state(vault.state_path / _HASHES, largest=_LARGEST))
        return HashedTexts(
            str(kept["salt"]), tuple((int(size), int(ends), str(hash_)) for size, ends, hash_ in kept["of"])
        )
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return HashedTexts()


def keep_purged(vault: Vault, text: str, salt: str) -> None:
    """Keep the hash of *text*, so that a capture does not bring it back.

    Raises:
        OSError: it cannot be written.
    """
    known = read_purged(vault)
    known = (known if known.salt else HashedTexts(salt)).with_text(text)
    make_state_folder(vault.state_path)
    content = json.dumps({"salt": known.salt, "of": list(dict.fromkeys(known.prints))})
    write_state(vault.state_path / _HASHES, content.encode(), durable=True)


def refuse_purged_texts(root: Path, files: Iterable[tuple[bytes | None, bytes | None]]) -> None:
    """Raise if one of *files*, each as it is and as it is to be, would hold again what was purged.

    Raises:
        HistoryFailed: it would.
    """
    known, lines = KnownSecrets(), set[str]()
    for removed, added in _hunks(root):
        masked = [_around_marker(line) for line in added if _MARKER in line]
        found = [match for line in removed for pattern in masked if (match := pattern.fullmatch(line))]
        for match in found:
            for text in match.groups():
                known.add(text, KIND)
        if not masked:
            gone = set(map(str.strip, removed)) - set(map(str.strip, added))
            lines |= {line for line in gone if len(line) >= _LEAST}
    for now, then in files:
        before, after = ((data or b"").decode("utf-8", "replace") for data in (now, then))
        new_lines = {line.strip() for line in after.splitlines()} - {line.strip() for line in before.splitlines()}
        if lines & new_lines or len(list(known.find(after))) > len(list(known.find(before))):
            raise HistoryFailed("that would bring back what was purged", hint="Write the rest of it by hand.")


def _hunks(root: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Give the lines that each hunk of each purge took out, and those that it put in their place."""
    options = ("--format=", "-p", "--unified=0", "--no-renames", "--no-ext-diff", "--no-textconv")
    said = tell(root, "log", *options, f"--grep=^{SIGNATURE}: {PURGE}$", timeout=None)
    for hunk in re.split(r"^(?:@@ |diff --git )", said, flags=re.MULTILINE)[1:]:
        lines = hunk.split("\n")[1:]
        yield [line[1:] for line in lines if line.startswith("-")], [line[1:] for line in lines if line.startswith("+")]


def _around_marker(line: str) -> re.Pattern[str]:
    return re.compile("(.{4,4096}?)".join(map(re.escape, line.split(_MARKER))))
