"""What was saved while a session went on: it stands in the memory already, and not once more in the session's note."""

from __future__ import annotations

from contextlib import suppress

from memtool.errors import MemtoolError
from memtool.text.lines import one_line
from memtool.text.markdown import heading_text
from memtool.text.statements import sentences
from memtool.vault.authors import COMMAND, OPEN
from memtool.vault.facts import parse_facts
from memtool.vault.files import read_text
from memtool.vault.kinds import FOLDERS
from memtool.vault.layout import Vault, area_folder, facts_ref
from memtool.vault.note import Note, parse_note
from memtool.vault.sessions import Draft

_KEPT = (OPEN, COMMAND)  # roles of lines that no fact takes the place of


def saved_in(vault: Vault, session: str, project: str) -> list[str]:
    """Return the statements that were saved in *session*: its facts, and those of the notes that it is the source of.

    A fact that was made of a session's lines is none of them.
    """
    found = []
    for area in dict.fromkeys((project, "")):
        with suppress(OSError, MemtoolError):
            facts = parse_facts(read_text(vault.root / facts_ref(area))[0]).facts
            found += [fact.fact for fact in facts if fact.source.partition("#")[0] == session and not fact.spans]
        for folder in FOLDERS.values():
            for path in sorted((vault.root / area_folder(area) / folder).glob("*.md")):
                with suppress(OSError, MemtoolError):
                    found += _statements(path.name, read_text(path)[0], session)
    return found


def _statements(name: str, text: str, session: str) -> list[str]:
    if session not in text:
        return []
    note = parse_note(name, text.encode())
    sources = note.fields.get("sources", []) if isinstance(note, Note) else []
    if not (isinstance(note, Note) and session in {str(source).partition("#")[0] for source in sources}):
        return []
    lines = (heading_text(line) or one_line(line) for line in note.body.splitlines())
    return [each for line in lines for each in (line, *sentences(line)) if each]


def without_saved(draft: Draft, saved: list[str]) -> Draft:
    """Return *draft* without the lines that say what was *saved*; what is open, and what to run, stays."""
    if not saved:
        return draft
    from memtool.text.near_duplicates import is_same, statement  # slow to import, and seldom needed

    known = [statement(text) for text in saved]

    def is_new(text: str) -> bool:
        return not any(is_same(statement(text), one) for one in known)

    return draft._replace(lines=tuple(line for line in draft.lines if line.role in _KEPT or is_new(line.text)))
