"""Which files of a vault a text, a file or a table leads to, and why: the words, globs and prefixes that it names."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, product
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from memtool.errors import BrokenVaultFile, MemtoolError, OutsideVault
from memtool.recall import limits
from memtool.recall.routing.loader_table import LOADER, TableRow, fitting, hand_rows, with_rows
from memtool.recall.routing.triggers import (
    Area,
    TriggerProblem,
    atoms,
    fault_in_glob,
    fault_in_word,
    find_triggers,
    matches_glob,
    normal,
    read_areas,
    trie_of,
)
from memtool.resources import shipped
from memtool.vault.files import read_text, replace
from memtool.vault.layout import NOTE_SUFFIXES, Vault, project_of

WORD, GLOB, PREFIX, PAGE = "word", "path", "prefix", "page"

# What may be a path in running text: with Chinese around it, only the second finds its ends.
_PATHS = (re.compile(r"[\w.@+~/\\-]+"), re.compile(r"[A-Za-z0-9_.@+~/\\-]+"))

PREFIX_MAP = "rules/prefix-map.json"
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:)?', re.DOTALL)
_QUOTES = "\"'`[]"


class Route(NamedTuple):
    """When *trigger* comes up, *refs* are worth reading; `source:line` says so."""

    kind: str
    trigger: str
    refs: tuple[str, ...]
    source: str
    line: int

    @property
    def project(self) -> str:
        """The project whose notes say so; empty where it is said for all, as in the table of the vault."""
        return project_of(self.source)


class Routing(NamedTuple):
    """All routes of a vault that lead somewhere, its areas that have triggers, and what is wrong."""

    routes: tuple[Route, ...] = ()
    areas: tuple[Area, ...] = ()
    findings: tuple[TriggerProblem, ...] = ()


def read_routing(vault: Vault) -> Routing:
    """Return the routes of *vault* as its files say them now. Nothing in them is an error; see `findings`."""
    areas = read_areas(vault)
    findings = [finding for area in areas for finding in area.findings]
    routes = [
        Route(kind, trigger.text, area.refs, area.ref, trigger.line)
        for area in areas
        for kind, triggers in ((WORD, area.words), (GLOB, area.globs))
        for trigger in triggers
    ]
    for found in (_table_routes, _map_routes):
        routes += _leading_somewhere(vault, found(vault, findings), findings)
    return Routing((*routes, *_pages(vault)), tuple(areas), tuple(findings))


def in_reach(routing: Routing, here: str, text: str = "") -> Routing:
    """Return *routing* without the routes of other projects than *here*, where there is one, and those *text* names."""
    if not here:
        return routing
    from memtool.index.reach import is_named

    kept = (route for route in routing.routes if route.project in ("", here) or is_named(route.project, text))
    return routing._replace(routes=tuple(kept))


def routes_of_text(routing: Routing, text: str) -> list[Route]:
    """Return the routes whose trigger occurs in *text*: first words, then globs of paths in it, then prefixes."""
    line = normal(text)
    words = _by_trigger(routing, WORD)
    prefixes = _by_trigger(routing, PREFIX)
    names = dict.fromkeys([*re.findall(r"\w+", line), *atoms(line)]) if prefixes else ()
    return [
        *_all_of(words, find_triggers(trie_of(words), line)),
        *_globbing(routing, [placed(routing, path)[0] for path in _paths_in(text)]),
        *_all_of(prefixes, longest(prefixes, names)),
    ]


def routes_of_file(routing: Routing, path: str, *, project: str = "") -> list[Route]:
    """Return the routes that a file leads to: globs first, then words in its path.

    *path* is relative to the root of its project; globs of other projects than *project* are left out, if it is known.
    """
    words = _by_trigger(routing, WORD)
    globbing = [route for route in _globbing(routing, [path]) if not project or route.project in ("", project)]
    return [*globbing, *_all_of(words, find_triggers(trie_of(words), normal(path)))]


def placed(routing: Routing, path: str) -> tuple[str, str]:
    """Return *path* relative to the root of its project, and that project's name.

    A path that lies in no root which an area lists among its identities stays as it is; the name is empty.
    """
    roots = {
        identity.removeprefix("path:").rstrip("/") + "/": area.name
        for area in routing.areas
        if area.kind == "project"
        for identity in area.identities
        if identity.startswith("path:")
    }
    root = max((root for root in roots if path.startswith(root)), key=len, default="")
    return path.removeprefix(root), roots.get(root, "")


def routes_of_table(routing: Routing, name: str) -> list[Route]:
    """Return the routes with the longest prefix of a table's name. The map counts before the names of schema pages."""
    mapped, pages = _by_trigger(routing, PREFIX), _by_trigger(routing, PAGE)
    best = max(longest({*mapped, *pages}, table_names(name)), key=len, default="")
    return mapped.get(best) or pages.get(best, [])


def _paths_in(text: str) -> list[str]:
    found = (match.replace("\\", "/").rstrip(".") for pattern in _PATHS for match in pattern.findall(text))
    return [path for path in dict.fromkeys(found) if "/" in path or "." in path]


def _by_trigger(routing: Routing, kind: str) -> dict[str, list[Route]]:
    found: dict[str, list[Route]] = {}
    for route in routing.routes:
        if route.kind == kind:
            found.setdefault(normal(route.trigger), []).append(route)
    return found


def _all_of(routes: dict[str, list[Route]], triggers: Iterable[str]) -> list[Route]:
    return [route for trigger in triggers for route in routes[trigger]]


def _globbing(routing: Routing, paths: Sequence[str]) -> list[Route]:
    tries = product(paths, (route for route in routing.routes if route.kind == GLOB))
    found = (route for path, route in islice(tries, limits.MOST_GLOB_TRIES) if matches_glob(route.trigger, path))
    return list(dict.fromkeys(found))


def _table_routes(vault: Vault, findings: list[TriggerProblem]) -> Iterator[Route]:
    for row in hand_rows(_text(vault, LOADER, findings)):
        if not row.triggers or not row.refs:
            missing = "trigger" if not row.triggers else "file"
            findings.append(TriggerProblem(LOADER, row.line, f"the row names no {missing}"))
            continue
        for trigger in row.triggers:
            yield from _row_route(row, trigger, findings)


def _row_route(row: TableRow, trigger: str, findings: list[TriggerProblem]) -> Iterator[Route]:
    kind = GLOB if "*" in trigger else WORD
    fault = fault_in_glob(trigger) if kind == GLOB else fault_in_word(trigger)
    if fault:
        findings.append(TriggerProblem(LOADER, row.line, f"the trigger '{trigger[:60]}' {fault}"))
    else:
        yield Route(kind, trigger, row.refs, LOADER, row.line)


def _map_routes(vault: Vault, findings: list[TriggerProblem]) -> Iterator[Route]:
    text = _text(vault, PREFIX_MAP, findings)
    try:
        entries = parse_prefix_map(text) if text.strip() else []
    except json.JSONDecodeError as error:
        findings.append(TriggerProblem(PREFIX_MAP, error.lineno, f"it is no map of prefixes: {error.msg}"))
        return
    for prefix, ref, line in entries:
        fault = fault_in_word(prefix)
        if fault:
            findings.append(TriggerProblem(PREFIX_MAP, line, f"the prefix '{prefix[:60]}' {fault}"))
        else:
            yield Route(PREFIX, prefix, (ref,), PREFIX_MAP, line)


def _pages(vault: Vault) -> Iterator[Route]:
    """Give the schema pages that lie in the projects: each is named after a prefix."""
    for path in sorted((vault.root / "areas" / "projects").glob("*/schema/*")):
        ref = path.relative_to(vault.root).as_posix()
        if path.name.lower().endswith(NOTE_SUFFIXES) and not _fault_of_target(vault, ref) and normal(path.stem):
            yield Route(PAGE, path.stem, (ref,), ref, 1)


def _leading_somewhere(vault: Vault, routes: Iterable[Route], findings: list[TriggerProblem]) -> Iterator[Route]:
    for route in routes:
        faults = {ref: _fault_of_target(vault, ref) for ref in route.refs}
        findings += [
            TriggerProblem(route.source, route.line, f"'{route.trigger}' leads nowhere: '{ref[:200]}' {fault}")
            for ref, fault in faults.items()
            if fault
        ]
        good = tuple(ref for ref, fault in faults.items() if not fault)
        if good:
            yield route._replace(refs=good)


def _fault_of_target(vault: Vault, ref: str) -> str:
    """Return why *ref* is no file that may be read, as the end of a sentence, or an empty string."""
    try:
        path = vault.path(ref)
        name = path.resolve().relative_to(vault.root)
        if not path.is_file():
            return "is not there"
        is_note = not any(part.startswith(".") for part in name.parts) and not PurePosixPath(ref).is_absolute()
    except OutsideVault:
        return "lies outside the vault"
    except (OSError, ValueError):
        return "cannot be read"
    return "" if is_note else "is no path of a note"


def _text(vault: Vault, ref: str, findings: list[TriggerProblem]) -> str:
    """Return the text of the file at *ref*, which need not be there."""
    with suppress(FileNotFoundError, NotADirectoryError):
        try:
            path = vault.path(ref)
            about = path.stat()
            if stat.S_ISREG(about.st_mode) and about.st_size <= limits.LARGEST_TABLE:
                return read_text(path)[0].removeprefix("\ufeff")
            findings.append(TriggerProblem(ref, 1, f"it is no file of at most {limits.LARGEST_TABLE // 1024} KiB"))
        except (OutsideVault, BrokenVaultFile) as error:
            findings.append(TriggerProblem(ref, 1, str(error)))
        except PermissionError as error:
            findings.append(TriggerProblem(ref, 1, f"it cannot be read: {error.strerror}"))
    return ""


class PrefixEntry(NamedTuple):
    """A name that begins with *prefix* belongs to the page *ref*; empty where the map holds no text for it."""

    prefix: str
    ref: str
    line: int


def parse_prefix_map(text: str) -> list[PrefixEntry]:
    """Return the entries of a map in their order.

    Raises:
        json.JSONDecodeError: the text is not one object of JSON.
    """
    try:
        pairs = json.loads(text, object_pairs_hook=_Pairs)
    except RecursionError:
        raise json.JSONDecodeError("it is nested too deeply", text, 0) from None
    if not isinstance(pairs, _Pairs):
        raise json.JSONDecodeError("it should be an object, {…}", text, 0)
    lines: dict[str, list[int]] = {}
    for key, line in _key_lines(text):
        lines.setdefault(key, []).append(line)
    return [PrefixEntry(key, ref if isinstance(ref, str) else "", lines[key].pop(0)) for key, ref in pairs]


def longest(prefixes: Collection[str], names: Iterable[str]) -> list[str]:
    """Return the longest of *prefixes* that each of *names* begins with. All are `normal`."""
    lengths = sorted({len(prefix) for prefix in prefixes if prefix}, reverse=True)
    found = (next((name[:length] for length in lengths if name[:length] in prefixes), "") for name in names)
    return [prefix for prefix in dict.fromkeys(found) if prefix]


def table_names(text: str) -> list[str]:
    """Return the names of the table *text*: with its schema and without, unquoted and `normal`."""
    whole = normal(text.translate(dict.fromkeys(map(ord, _QUOTES))))
    return list(dict.fromkeys([whole, whole.rpartition(".")[2]]))


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON, with every key that it holds twice."""


def _key_lines(text: str) -> Iterator[tuple[str, int]]:
    line, at = 1, 0
    for match in _STRING.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        if match[1]:
            yield json.loads(match[0].removesuffix(match[1])), line


def check(vault: Vault, routing: Routing) -> list[TriggerProblem]:
    """Return the problems of the routes of *vault*, faults first; warnings do not keep anything from working."""
    findings = [*routing.findings, *_ambiguities(routing), *_stale(vault, routing)]
    return sorted(dict.fromkeys(findings), key=lambda finding: (finding.is_warning, finding.path, finding.line))


def update_table(vault: Vault) -> bool:
    """Bring the generated part of the table up to date with the areas; return whether that changed the file.

    Areas that have no room in it are left out; `check` names them.

    Raises:
        OutsideVault, BrokenVaultFile, NotWritable, Busy, NoteChanged
    """
    path = vault.path(LOADER)
    with vault.lock():
        text, expected = _table(vault)
        updated = with_rows(text, fitting(text, rows_of(read_areas(vault)), limits.LARGEST_TABLE))
        if updated == text:
            return False
        replace(path, updated, expected=expected)
    return True


def rows_of(areas: Iterable[Area]) -> list[TableRow]:
    """Return the rows that *areas* bring into the table, one for each."""
    return [
        TableRow(tuple(trigger.text for trigger in (*area.words, *area.globs)), area.refs)
        for area in areas
        if area.words or area.globs
    ]


def _table(vault: Vault) -> tuple[str, str | None]:
    """Return the text of the table and its hash, None for one that is not there yet."""
    path = vault.path(LOADER)
    if not path.exists():
        return (shipped("vault_template") / LOADER).read_text(encoding="utf-8"), None
    if not path.is_file() or path.stat().st_size > limits.LARGEST_TABLE:
        raise BrokenVaultFile(
            f"'{LOADER}' is no file of at most {limits.LARGEST_TABLE // 1024} KiB", hint="Move it away."
        )
    return read_text(path)


def _stale(vault: Vault, routing: Routing) -> Iterator[TriggerProblem]:
    with suppress(MemtoolError, OSError):  # a table that cannot be read has been found before
        text, rows = _table(vault)[0], rows_of(routing.areas)
        fit = fitting(text, rows, limits.LARGEST_TABLE)
        if len(fit) < len(rows):
            first = rows[len(fit)].refs[0]
            sentence = f"the table has no room for {len(rows) - len(fit)} of {len(rows)} areas, from '{first}' on"
            yield TriggerProblem(LOADER, 1, sentence, is_warning=True)
        if with_rows(text, fit) != text:
            yield TriggerProblem(
                LOADER, 1, "the table is not up to date: run `memtool route --update`", is_warning=True
            )


def _ambiguities(routing: Routing) -> Iterator[TriggerProblem]:
    """Warn of triggers that lead to different files, at every place but the first."""
    first: dict[tuple[str, str], Route] = {}
    for route in routing.routes:
        known = first.setdefault((route.kind, normal(route.trigger)), route)
        if set(known.refs) != set(route.refs) and route.kind != PAGE:
            sentence = f"'{route.trigger}' leads to other files in {known.source}:{known.line}"
            yield TriggerProblem(route.source, route.line, sentence, is_warning=True)
