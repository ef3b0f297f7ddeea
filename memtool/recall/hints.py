"""Hints: the rules and decisions that name a file, given right before it is edited.

A background worker gathers them in `.memtool/hints.json`, from session notes and facts. A hook looks a file up there,
and reads the line once more where it stands: what was deleted or superseded since is not given.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from memtool.errors import MemtoolError
from memtool.named_tuple import NamedTuple
from memtool.recall import limits
from memtool.vault.files import read_text
from memtool.vault.layout import FACTS_FILE, Vault, project_of
from memtool.vault.state import make_state_folder, read_state, write_state

_NAME, _STAMPS = "hints.json", "hints-read.json"
_TOLD_ROLES = ("rule", "decision")
_TOLD_CATEGORIES = ("preference", "decision")
_FILE = re.compile(r"(?<![\w.])((?:[\w.@-]+/)*[\w@-][\w.@-]*\.[A-Za-z]\w{0,7})(?![\w/])")


class Hint(NamedTuple):
    """A rule or decision of a note, or a fact, that names a file.

    Args:
        ref: the note or the file of facts.
        text: what it says.
        date: of the note or the fact.
        source: the id of the fact or the session.
        project: whose it is; empty for none.
        files: that it names.
    """

    ref: str
    text: str
    date: str
    source: str
    project: str
    files: tuple[str, ...]


# Gathering


def gather_hints(vault: Vault) -> None:
    """Bring `.memtool/hints.json` up to date; only what has changed since the last time is read."""
    known, stamps = _read(vault, _NAME), _read(vault, _STAMPS)
    found: dict[str, list[object]] = {}
    seen: dict[str, list[int]] = {}
    for ref in _sources(vault):
        with suppress(OSError, MemtoolError):
            about = vault.path(ref).stat()
            seen[ref] = [about.st_size, about.st_mtime_ns]
            is_known = stamps.get(ref) == seen[ref] and all(map(_sound, known.get(ref, [])))
            if entries := known.get(ref, []) if is_known else list(map(list, _hints_in(vault, ref))):
                found[ref] = [*entries]
    if found != known or seen != stamps:
        with suppress(OSError):  # the next worker will do it
            make_state_folder(vault.state_path)
            _write(vault, _NAME, found)
            _write(vault, _STAMPS, seen)


def _sources(vault: Vault) -> Iterator[str]:
    with suppress(OSError):
        for name in os.listdir(vault.root / "sessions"):  # noqa: PTH208  (names only)
            if name.endswith(".md"):
                yield f"sessions/{name}"
    for path in sorted(vault.root.glob(f"areas/*/*/{FACTS_FILE}")):
        yield path.relative_to(vault.root).as_posix()


def _hints_in(vault: Vault, ref: str) -> list[Hint]:
    text, _ = read_text(vault.path(ref))
    return list(_of_facts(ref, text) if ref.endswith(FACTS_FILE) else _of_note(ref, text))


def _of_facts(ref: str, text: str) -> Iterator[Hint]:
    from memtool.vault.facts import parse_facts

    for fact in parse_facts(text, ref).facts:
        is_told = fact.category in _TOLD_CATEGORIES and fact.author in ("user", "agent")
        if is_told and fact.status == "active" and not fact.expires:
            yield from _hints_of(ref, fact.fact, fact.timestamp[:10], fact.id, fact.project or project_of(ref))


def _of_note(ref: str, text: str) -> Iterator[Hint]:
    from memtool.vault.note import parse_note
    from memtool.vault.sessions import lines_of

    note = parse_note(ref, text.encode("utf-8", "replace"))
    fields = getattr(note, "fields", {})
    project, date = str(fields.get("project", "")), str(fields.get("date", ""))[:10]
    name = ref.rsplit("/", 1)[-1].removesuffix(".md")
    for line in lines_of(text):
        if line.role in _TOLD_ROLES and line.author == "user":
            yield from _hints_of(ref, line.text, date, name, project)


def _hints_of(ref: str, text: str, date: str, source: str, project: str) -> Iterator[Hint]:
    if files := tuple(dict.fromkeys(_FILE.findall(text))):
        yield Hint(ref, text, date, source, project, files)


# Looking up


def hints_of_project(vault: Vault, project: str) -> list[Hint]:
    """Return all hints of *project*, the newest first."""
    entries = (entry for entries in _read(vault, _NAME).values() for entry in entries)
    found = [hint for entry in entries if (hint := _sound(entry)) and hint.project == project]
    return sorted(found, key=lambda hint: hint.date, reverse=True)


def for_file(hints: Iterable[Hint], path: str) -> list[Hint]:
    """Return the rules and decisions among *hints* that name the file at *path*."""
    parts = path.replace("\\", "/").split("/")
    return [hint for hint in hints if any(name.split("/") == parts[-len(name.split("/")) :] for name in hint.files)]


def still_standing(vault: Vault, hints: Sequence[Hint]) -> list[Hint]:
    """Return the first of *hints* that are still said where they were found, each thing once."""
    found: dict[str, Hint] = {}
    for hint in hints:
        with suppress(OSError, MemtoolError):
            if len(found) < limits.MOST_HINTS and any(each.text == hint.text for each in _hints_in(vault, hint.ref)):
                found.setdefault(hint.text, hint)
    return list(found.values())


def _sound(entry: object) -> Hint | None:
    match entry:
        case [str(ref), str(text), str(date), str(source), str(project), [*files]] if files:
            return Hint(ref, text, date, source, project, tuple(map(str, files)))
    return None


def _read(vault: Vault, name: str) -> dict[str, list[object]]:
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(read_state(vault.state_path / name, largest=limits.LARGEST_LIST))
        if isinstance(found, dict):
            return {ref: entries for ref, entries in found.items() if isinstance(entries, list)}
    return {}


def _write(vault: Vault, name: str, content: object) -> None:
    write_state(vault.state_path / name, json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))
