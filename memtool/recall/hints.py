"""Hints: what held for a command or a file before, given right before it goes wrong again.

A background worker gathers them in `.memtool/hints.json`, from the fixes, rules and decisions of session notes and
facts. A hook looks a command or a file up there, and reads the line once more where it stands: what was deleted or
superseded since is not given.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

from memtool.errors import MemtoolError
from memtool.vault.files import read_text
from memtool.vault.layout import FACTS_FILE, Vault, project_of
from memtool.vault.state import make_state_folder, read_state, write_state

MOST_GIVEN = 2
_NAME, _STAMPS = "hints.json", "hints-read.json"
_LARGEST = 8 << 20  # bytes; a file that is larger was not written by memtool
_LONGEST = 10_000  # characters of a command; what follows is data, and a hook has no time for it
_FIX, _LINE = "fix", "line"
_TOLD_ROLES = ("rule", "decision")
_TOLD_CATEGORIES = ("preference", "decision")
_ALIKE = 0.5  # of the words of an error, or of the arguments of a command that failed
_LEADING = re.compile(r"^(?:[A-Za-z_]\w*=\S*\s+)+")
_PARTS = re.compile(r"&&|\|\||[;|\n]")
_TRIVIAL = frozenset("cd echo tail head grep tee cat export sleep true false ls pwd set source test [ printf".split())
_RUNNERS = frozenset(
    "npm npx pnpm yarn bun go cargo make mise just task uv poetry pipenv pdm python python3 git docker kubectl mvn"
    " gradle bundle rake composer dotnet swift deno hatch tox nox mix".split()
)
_FILE = re.compile(r"(?<![\w.])((?:[\w.@-]+/)*[\w@-][\w.@-]*\.[A-Za-z]\w{0,7})(?![\w/])")
_WORD = re.compile(r"[^\W_]{3,}|\d+")


class Hint(NamedTuple):
    """One line of a note, or a fact, that may be given.

    Args:
        kind: `fix`, or `line` for a rule or decision that names a file.
        ref: the note or the file of facts.
        text: what it says.
        date: of the note or the fact.
        source: the id of the fact or the session.
        project: whose it is; empty for none.
        about: the command and the error of a fix; the files that a line names.
    """

    kind: str
    ref: str
    text: str
    date: str
    source: str
    project: str
    about: tuple[str, ...]


class ProgramCall(NamedTuple):
    """One program that a command runs: its name with what it is told to do, and the arguments that are no options."""

    program: str
    arguments: frozenset[str]


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
            is_known = stamps.get(ref) == seen[ref]
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
        if fact.status == "active" and not fact.expires:
            project = fact.project or project_of(ref)
            is_told = fact.category in _TOLD_CATEGORIES and fact.author in ("user", "agent")
            yield from _hints_of(ref, fact.fact, fact.timestamp[:10], fact.id, project, is_told=is_told)


def _of_note(ref: str, text: str) -> Iterator[Hint]:
    from memtool.vault.note import parse_note
    from memtool.vault.session_lines import lines_of

    note = parse_note(ref, text.encode("utf-8", "replace"))
    fields = getattr(note, "fields", {})
    project, date = str(fields.get("project", "")), str(fields.get("date", ""))[:10]
    name = ref.rsplit("/", 1)[-1].removesuffix(".md")
    for line in lines_of(text):
        is_told = line.role in _TOLD_ROLES and line.author == "user"
        if line.role == _FIX or is_told:
            yield from _hints_of(ref, line.text, date, name, project, is_told=is_told)


def _hints_of(ref: str, text: str, date: str, source: str, project: str, *, is_told: bool) -> Iterator[Hint]:
    from memtool.vault.session_lines import parse_fix

    if fix := parse_fix(text):
        yield Hint(_FIX, ref, text, date, source, project, (fix.command, fix.error))
    elif is_told and (files := tuple(dict.fromkeys(_FILE.findall(text)))):
        yield Hint(_LINE, ref, text, date, source, project, files)


# Looking up


def hints_of_project(vault: Vault, project: str) -> list[Hint]:
    """Return all hints of *project*, the newest first."""
    entries = (entry for entries in _read(vault, _NAME).values() for entry in entries)
    found = [hint for entry in entries if (hint := _sound(entry)) and hint.project == project]
    return sorted(found, key=lambda hint: hint.date, reverse=True)


def for_command(hints: Iterable[Hint], command: str) -> list[Hint]:
    """Return the fixes among *hints* that held for *command*, options aside."""
    run = calls_in(command)
    found = []
    for hint in hints:
        wanted = calls_in(hint.about[0]) if hint.kind == _FIX else []
        if wanted and all(call in run for call in wanted):
            found.append(hint)
    return found


def for_failure(hints: Iterable[Hint], command: str, error: str) -> list[Hint]:
    """Return the fixes among *hints* for the failure *error* of *command*: of the same program, and a like error.

    Where nobody knows the error, half of the arguments must be the same.
    """
    run, said = calls_in(command), frozenset(_WORD.findall(error.casefold()))
    found = []
    for hint in hints:
        if hint.kind != _FIX:
            continue
        wanted = calls_in(hint.about[0])
        near = [(call, other) for call in wanted for other in run if call.program == other.program]
        told = frozenset(_WORD.findall(hint.about[1].casefold()))
        is_like_error = bool(told) and len(told & said) >= max(2, _ALIKE * len(told))
        if near and (is_like_error or (len(said) <= 3 and any(_are_near(*pair) for pair in near))):
            found.append(hint)
    return found


def for_file(hints: Iterable[Hint], path: str) -> list[Hint]:
    """Return the rules and decisions among *hints* that name the file at *path*."""
    parts = path.replace("\\", "/").split("/")
    return [
        hint
        for hint in hints
        if hint.kind == _LINE and any(name.split("/") == parts[-len(name.split("/")) :] for name in hint.about)
    ]


def still_standing(vault: Vault, hints: Sequence[Hint]) -> list[Hint]:
    """Return the first of *hints* that are still said where they were found, each thing once."""
    found: dict[str, Hint] = {}
    for hint in hints:
        with suppress(OSError, MemtoolError):
            if len(found) < MOST_GIVEN and any(each.text == hint.text for each in _hints_in(vault, hint.ref)):
                found.setdefault(hint.text, hint)
    return list(found.values())


def calls_in(command: str) -> list[ProgramCall]:
    """Return the programs that *command* runs, those aside that only print or change the folder."""
    return [call for part in _PARTS.split(command[:_LONGEST]) if (call := _call(part)) and call.program not in _TRIVIAL]


def _call(part: str) -> ProgramCall | None:
    words = _LEADING.sub("", re.sub(r"\d?>&?\d?\S*", " ", part).strip()).replace("'", "").replace('"', "").split()
    if not words:
        return None
    program = words[0].rsplit("/", 1)[-1]
    rest = [word for before, word in pairwise(words) if not (word.startswith("-") or _is_value(before, word))]
    if program in _RUNNERS and rest:
        program, rest = f"{program} {rest[0]}", rest[1:]
        if program.endswith(" run") and rest:
            program, rest = f"{program} {rest[0]}", rest[1:]
    return ProgramCall(program, frozenset(word for word in rest if "…" not in word))


def _is_value(option: str, word: str) -> bool:
    """Return whether *word* is the value of the *option* before it: of a long one, and no path."""
    return re.fullmatch(r"--?[A-Za-z][\w-]+", option) is not None and not re.search(r"[/.]", word)


def _are_near(call: ProgramCall, other: ProgramCall) -> bool:
    larger = max(len(call.arguments), len(other.arguments))
    return not larger or len(call.arguments & other.arguments) >= _ALIKE * larger


def _sound(entry: object) -> Hint | None:
    match entry:
        case [str(kind), str(ref), str(text), str(date), str(source), str(project), [*about]] if about:
            return Hint(kind, ref, text, date, source, project, tuple(map(str, about)))
    return None


def _read(vault: Vault, name: str) -> dict[str, list[object]]:
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(read_state(vault.state_path / name, largest=_LARGEST))
        if isinstance(found, dict):
            return {ref: entries for ref, entries in found.items() if isinstance(entries, list)}
    return {}


def _write(vault: Vault, name: str, content: object) -> None:
    write_state(vault.state_path / name, json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))
