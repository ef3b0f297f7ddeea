"""Notes of two sessions to which two machines gave one name: before a merge, the one that is not shared gives way."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import PurePosixPath

from memtool.capture.captured import read_record, write_record
from memtool.errors import MemtoolError
from memtool.vault import history
from memtool.vault.files import read_text, replace
from memtool.vault.git import ask, tell, texts_in
from memtool.vault.layout import Vault
from memtool.vault.session_names import FOLDER, session_of
from memtool.vault.syncing import Remote

_LETTERS = 4  # of the session's id behind the name


def part_same_names(vault: Vault, remote: Remote) -> None:
    """Rename each note of a session here whose name *remote* has for another one, with its line in the daily note.

    Raises:
        HistoryFailed: git refuses.
    """
    base = ask(vault.root, "merge-base", "HEAD", remote.tracked).out.strip()
    if not base:
        return
    listed = tell(vault.root, "diff", "--name-only", "--no-renames", "--diff-filter=A", "-z", base, remote.tracked)
    refs = [ref for ref in listed.split("\0") if ref.startswith(FOLDER) and (vault.root / ref).is_file()]
    theirs = texts_in(vault.root, remote.tracked, refs)
    for ref in refs:
        with suppress(MemtoolError, OSError):
            ours = session_of(ref, read_text(vault.path(ref))[0])
            if (text := theirs.get(ref)) and session_of(ref, text) != ours:
                _give_way(vault, ref, ours)


def _give_way(vault: Vault, ref: str, session: str) -> None:
    renamed = f"{FOLDER}{PurePosixPath(ref).stem}-{session[:_LETTERS]}.md"
    if os.path.lexists(vault.root / renamed):
        return
    changed = [ref, renamed]
    with vault.lock():
        os.replace(vault.path(ref), vault.path(renamed))
        for path in sorted((vault.root / vault.daily).glob("*.md")):
            text, expected = read_text(path)
            if f"](../{ref})" in text:
                replace(path, text.replace(f"](../{ref})", f"](../{renamed})"), expected=expected)
                changed.append(path.relative_to(vault.root).as_posix())
    write_record(vault, session, read_record(vault, session)._replace(ref=renamed))
    with vault.lock("history"):
        history.commit(vault.root, changed, f"sync: {renamed} gives way to another session's note")
