"""The program that git runs to merge a file of a vault: `python -m memtool.cli.merge_driver BASE OURS THEIRS PATH`.

The result replaces OURS. It ends with 0, or with `CONFLICT` if conflict marks are left; any other exit code leaves the
merge to git.
"""

from __future__ import annotations

import sys
from pathlib import Path

from memtool.errors import MemtoolError
from memtool.history.merging import CONFLICT, Merged, merge
from memtool.recall.routing.loader_table import LOADER, merge_tables
from memtool.vault.layout import DAILY, open_vault
from memtool.vault.marks import holds_two_texts


def main(arguments: list[str]) -> int:
    """Merge the files that git names; return the exit code."""
    base_path, ours_path, theirs_path, ref = arguments
    try:
        base, ours, theirs = (Path(path).read_bytes().decode("utf-8") for path in (base_path, ours_path, theirs_path))
    except (OSError, UnicodeDecodeError):
        return 2  # neither merged nor a conflict: git decides
    merged = merge_file(ref, base, ours, theirs)
    Path(ours_path).write_bytes(merged.text.encode("utf-8"))
    return CONFLICT if holds_two_texts(merged.text) else 0


def merge_file(ref: str, base: str, ours: str, theirs: str) -> Merged:
    """Return the file at *ref* of the vault at hand with the changes of both sides."""
    try:
        daily = open_vault(Path.cwd()).daily
    except MemtoolError:
        daily = DAILY
    if ref == LOADER:
        return Merged(merge_tables(base, ours, theirs))
    return merge(ref, base, ours, theirs, daily=daily)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
