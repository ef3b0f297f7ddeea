"""What the user typed, whole: a note shows the beginning of it, and the kept source of the session has the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from memtool.errors import MemtoolError
from memtool.vault.authors import ASKED, USER
from memtool.vault.sessions import Line

if TYPE_CHECKING:
    from memtool.index.tables import Tables
    from memtool.vault.layout import Vault
    from memtool.vault.sessions import SessionNote

_CUT = "…"
_LARGEST = 100_000  # bytes of a packed source; of a larger one no prompt waits for what was typed
_END = re.compile(r"(?<=[.!?])(?=\s)|(?<=[。！？；])|(?=\n)|\Z")  # of a sentence, or of the line


def with_whole_words(lines: Sequence[Line], note: SessionNote, text: str, vault: Vault, db: Tables) -> list[Line]:
    """Return the *lines* of *note*, which is *text*, with what the user typed to the end of the sentence.

    What its owner has forgotten is left as it is, and so is what the source does not hold.
    """
    cut = [line for line in lines if _is_cut(line)]
    typed = _typed(note.id, vault) if cut and note.id else []
    whole = {line: said for line in cut if (said := next(filter(None, (_found(line, each) for each in typed)), ""))}
    if whole and _may_be_forgotten(note, text, db):
        from memtool.index.lookup import forgotten_of_note  # few prompts come here, and a hook is short

        gone = forgotten_of_note(db, note.project, text)
        whole = {line: said for line, said in whole.items() if not gone.is_in(said)}
    return [line._replace(text=whole.get(line, line.text)) for line in lines]


def _may_be_forgotten(note: SessionNote, text: str, db: Tables) -> bool:
    """Whether anything of the session, or of its project, was forgotten."""
    find = "SELECT 1 FROM chunk WHERE project IN (?, '') AND status = 'archived' LIMIT 1"
    return "forgotten:" in text or db.execute(find, (note.project,)).fetchone() is not None


def _is_cut(line: Line) -> bool:
    return line.role == ASKED and line.author == USER and line.text.endswith(_CUT)


def _typed(session: str, vault: Vault) -> list[str]:
    """Return the prompts of a session, as its source has them; none if that is gone, damaged or large."""
    from memtool.vault.sources import objects_in, read_lines, source_ref

    with suppress(MemtoolError, OSError):
        ref = source_ref(vault, session)
        if ref and vault.path(ref).stat().st_size <= _LARGEST:
            turns = objects_in(read_lines(vault, ref))
            return [said for turn in turns if isinstance(said := turn.get("typed"), str)]
    return []


def _found(line: Line, typed: str) -> str:
    """Return the sentences of *typed* that *line* begins with, the last of them whole; empty if they are not there."""
    words = line.text.removesuffix(_CUT).split()
    start = re.search(r"\s*".join(map(re.escape, words)), typed) if words else None
    end = _END.search(typed, start.end()) if start else None
    return " ".join(typed[start.start() : end.start()].split()) if start and end else ""
