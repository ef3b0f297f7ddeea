"""An export brought into a vault in one commit: missing files are written, existing ones merged or kept.

An export may come from a stranger: no path leads out of the vault or to hidden files, settings are not imported,
secrets are removed, and existing prose is never overwritten.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from memtool.capture.source import cleaned_source
from memtool.errors import MemtoolError, OutsideVault
from memtool.exchange.documents import Bundle, facts_text, raw_facts, with_author
from memtool.history.merging import merge
from memtool.history.one_commit import KEEP, Kept, alone, commit
from memtool.history.template import template_text
from memtool.history.uncommitted import note_uncommitted
from memtool.text.lines import counted
from memtool.vault import files
from memtool.vault.facts import parse_facts
from memtool.vault.layout import SETTINGS_FILE, is_facts_file, kind_of
from memtool.vault.note import Note, parse_note
from memtool.vault.scan import is_note_name
from memtool.vault.sources import ignore_sources, is_source
from memtool.workspace import Workspace

ADDED, MERGED, SAME, KEPT = "added", "merged", "same", "kept"

_MERGED_KINDS = ("fact", "daily", "todo", "session")  # lists of items, and notes of which the later capture counts
_NO_SECRETS = frozenset(
    {"id", "timestamp", "status", "supersedes", "supersededBy", "category", "author", "expires", "source", "spans"}
)


class Imported(NamedTuple):
    """The outcome for each file, by its path; a sentence for each that was refused; and the commit."""

    fates: Mapping[str, str]
    refused: tuple[str, ...]
    redacted: Mapping[str, int]
    kept: Kept = Kept()

    def of(self, fate: str) -> list[str]:
        """Return the files that came to *fate*."""
        return [ref for ref, each in self.fates.items() if each == fate]


class _Step(NamedTuple):
    fate: str
    content: str | bytes = ""
    expected: str | None = None  # the hash of the file so far


def import_bundle(work: Workspace, bundle: Bundle, name: str, *, dry_run: bool = False) -> Imported:
    """Bring *bundle* into the vault; *name* says in the commit where it came from.

    Raises:
        MemtoolError: the vault cannot be written.
    """
    refused: list[str] = []
    with alone(work.vault):
        steps = {ref: step for ref in sorted(bundle) if (step := _decided(work, ref, bundle[ref], refused))}
        wanted = [ref for ref, step in steps.items() if step.fate in (ADDED, MERGED)]
        kept = Kept()
        if wanted and not dry_run:
            existing = [ref for ref in wanted if steps[ref].fate == MERGED]
            if existing:
                commit(work.vault, existing, KEEP, "what was not committed before an import")
            if any(map(is_source, wanted)):
                ignore_sources(work.vault)
            note_uncommitted(work.vault, wanted)
            with work.vault.lock():
                written = [ref for ref in wanted if _written(work, ref, steps[ref], refused)]
            kept = commit(work.vault, written, "import", f"{counted(len(written), 'file')} of {name}")
            steps = {ref: step for ref, step in steps.items() if ref in written or ref not in wanted}
    fates = {ref: step.fate for ref, step in steps.items()}
    redacted = {kind: count for kind, count in work.redact.counts.items() if kind}
    return Imported(fates, tuple(refused), redacted, kept)


def _decided(work: Workspace, ref: str, content: str | bytes, refused: list[str]) -> _Step | None:
    """Return the new text of the file *ref*; None, and a sentence, if it is refused."""
    try:
        if fault := _fault(ref, content):
            raise OutsideVault(fault)
        path = work.vault.path(ref)
        try:
            existing = files.read_content(path)
        except FileNotFoundError:
            existing = None
        if isinstance(content, bytes):
            content = cleaned_source(ref, content, work.redact) if is_source(ref) else content
            return _Step(ADDED if existing is None else SAME if existing == content else KEPT, content)
        ours = None if existing is None else existing.decode("utf-8")
        if content == ours:
            return _Step(SAME)
        theirs = _facts(work, ref, ours, content, refused) if is_facts_file(ref) else work.redact(content)
        expected = None if existing is None else files.content_hash(existing)
        if ours is not None and ours == template_text(ref):
            return _Step(SAME if theirs == ours else MERGED, theirs, expected)  # no one has written there yet
        return _beside(work, ref, ours, theirs)._replace(expected=expected)
    except UnicodeDecodeError:
        refused.append(f"'{ref}': yours is not UTF-8, so it was kept")
    except (MemtoolError, OSError) as error:
        shown = f"'{ref[:200]}'" if ref.isprintable() else ascii(ref[:200])
        refused.append(f"{shown}: {error}")
    return None


def _fault(ref: str, content: str | bytes) -> str:
    parts = ref.split("/")
    if not ref.isprintable() or "\\" in ref or re.match("[A-Za-z]:", ref):
        return "it is not a path in a vault"
    is_long = len(parts) > 32 or any(len(part.encode("utf-8", "replace")) > 240 for part in parts)
    if is_long or any(not part or part.startswith(".") for part in parts):
        return "its path is hidden, leads out of the vault, or is too long"
    if ref == SETTINGS_FILE:
        return "settings are not imported"
    if isinstance(content, str) and not is_note_name(parts[-1]):
        return "it is not a note"
    return "it is too large" if isinstance(content, str) and len(content) > 16 << 20 else ""


def _beside(work: Workspace, ref: str, ours: str | None, theirs: str) -> _Step:
    """Return the text *theirs* put together with *ours*. Prose that differs is kept as its owner has it."""
    if ours is None:
        return _Step(ADDED, theirs)
    if theirs == ours:
        return _Step(SAME)
    note = None if is_facts_file(ref) else parse_note(ref, ours.encode("utf-8"))
    declared = note.field("type") if isinstance(note, Note) else ""
    if kind_of(ref, declared, daily=work.vault.daily) not in _MERGED_KINDS:
        return _Step(KEPT)
    merged = merge(ref, None, ours, theirs, daily=work.vault.daily)
    if merged.conflicts:
        return _Step(KEPT)
    is_same = merged.text == ours or (is_facts_file(ref) and _said(merged.text, ref) == _said(ours, ref))
    return _Step(SAME) if is_same else _Step(MERGED, merged.text)


def _said(text: str, ref: str) -> list[str]:
    """Return the facts of *text* in an order and a form that say nothing."""
    return sorted(json.dumps(fact, sort_keys=True) for fact in raw_facts(text, ref))


def _facts(work: Workspace, ref: str, ours: str | None, theirs: str, refused: list[str]) -> str:
    """Return the facts of *theirs* that *ours* lacks or has otherwise, redacted; *ours* itself if there are none.

    Raises:
        BrokenVaultFile: one of them is no list of facts.
    """
    given = raw_facts(theirs, ref)
    readable = [fact for fact in given if _is_readable(fact)]
    if lost := len(given) - len(readable):
        refused.append(f"'{ref}': {lost} of its facts have no statement, no known status, or half a character")
    clean = [
        {name: value if name in _NO_SECRETS else _without_secrets(work, value) for name, value in fact.items()}
        for fact in readable
    ]
    if ours is None:
        return theirs if clean == given else facts_text(clean)
    known = [with_author(fact) for fact in raw_facts(ours, ref) if isinstance(fact, dict)]
    news = [fact for fact in map(with_author, clean) if fact not in known]
    return facts_text(news) if news else ours


def _is_readable(fact: object) -> bool:
    try:
        return len(parse_facts(json.dumps({"facts": [fact]})).facts) == 1
    except (MemtoolError, ValueError, RecursionError):
        return False


def _without_secrets(work: Workspace, value: Any) -> Any:  # noqa: ANN401  (whatever JSON holds)
    if isinstance(value, str):
        return work.redact(value)
    if isinstance(value, list):
        return [_without_secrets(work, each) for each in value]
    if isinstance(value, dict):
        return {name: _without_secrets(work, each) for name, each in value.items()}
    return value


def _written(work: Workspace, ref: str, step: _Step, refused: list[str]) -> bool:
    """Write one file, if it is as it was read; a whole import may be repeated, so nothing waits for the disk."""
    try:
        path = work.vault.path(ref)
        if isinstance(step.content, str):
            files.replace(path, step.content, expected=step.expected, durable=False)
        else:
            files.make_folder(path.parent)
            files.write_over(path, step.content, durable=False)
    except (MemtoolError, OSError) as error:
        refused.append(f"'{ref}': {error}")
        return False
    return True
