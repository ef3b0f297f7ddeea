"""Taking the content of a vault out into one file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from memtool.errors import BrokenVaultFile, NoteNotFound
from memtool.exchange.documents import TAR, facts_in, raw_facts, rendered
from memtool.vault.files import read_content
from memtool.vault.layout import Vault, is_facts_file, project_of
from memtool.vault.marks import UNSOLVED, is_unsolved
from memtool.vault.note import Note, parse_note
from memtool.vault.scan import is_note_name


class Exported(NamedTuple):
    """The bytes of an export, how many files and facts it holds, and a sentence for each that it lacks."""

    content: bytes
    files: int
    facts: int
    problems: tuple[str, ...]


def export(vault: Vault, form: str, project: str = "") -> Exported:
    """Return all facts and notes of the vault, in *form*; with a *project*, only those that belong to it.

    Raises:
        NoteNotFound: nothing belongs to that project.
    """
    bundle: dict[str, str | bytes] = {}
    problems: list[str] = []
    facts = 0
    for ref in _files(vault.root):
        is_text = is_note_name(ref.rsplit("/", 1)[-1])
        if not is_text and form != TAR:
            continue
        try:
            content = read_content(vault.root / ref)
            if is_text and form != TAR and is_unsolved(content):
                problems.append(f"'{ref}' was left out: {UNSOLVED}")
                continue
            if project and _project_of(ref, content) != project:
                continue
            bundle[ref] = content.decode("utf-8") if is_text else content
            if is_facts_file(ref):
                facts += _count_of(content.decode("utf-8"), ref, form, problems)
        except (OSError, UnicodeDecodeError, BrokenVaultFile) as error:
            bundle.pop(ref, None)
            reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
            problems.append(f"'{ref}' was left out: {reason}")
    if project and not bundle:
        raise NoteNotFound(project)
    return Exported(rendered(bundle, form), len(bundle), facts, tuple(problems))


def _count_of(text: str, ref: str, form: str, problems: list[str]) -> int:
    """Return how many facts of *text* travel; those that cannot are a problem."""
    if form == TAR:
        with suppress(BrokenVaultFile):
            return len(raw_facts(text, ref))
        return 0
    count = len(facts_in(text, ref))
    if lost := len(raw_facts(text, ref)) - count:
        problems.append(f"{lost} of '{ref}' were left out: they are no facts, or hold half a character")
    return count


def _files(root: Path) -> Iterator[str]:
    """Give the paths of the vault's files, without hidden ones; no symlink is followed."""
    for folder, below, names in os.walk(root):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            ref = path.relative_to(root).as_posix()
            with suppress(OSError):
                if not name.startswith(".") and ref.isprintable() and stat.S_ISREG(path.lstat().st_mode):
                    yield ref


def _project_of(ref: str, content: bytes) -> str:
    """Return the project that a file belongs to: by its place, else by its front matter; empty for none."""
    if (owner := project_of(ref)) or not is_note_name(ref) or is_facts_file(ref):
        return owner
    note = parse_note(ref, content)
    return note.field("project") if isinstance(note, Note) else ""
