"""Which files of a vault a text, a file or a table leads to, and why: the words, globs and prefixes that it names."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, product
from pathlib import PurePosixPath
from typing import NamedTuple

from memtool.errors import BrokenVaultFile, OutsideVault
from memtool.recall.routing import globs
from memtool.recall.routing.area_triggers import Area, TriggerProblem, fault_in_word, read_areas
from memtool.recall.routing.loader_table import LOADER, Row, hand_rows
from memtool.recall.routing.prefix_map import PREFIX_MAP, longest, parse_prefix_map, table_names
from memtool.recall.routing.triggers import atoms, find_triggers, normal, trie_of
from memtool.vault.files import read_text
from memtool.vault.layout import NOTE_SUFFIXES, Vault

WORD, GLOB, PREFIX, PAGE = "word", "path", "prefix", "page"
LARGEST = 262_144  # bytes of the table and of the map

_MOST_TRIES = 20_000  # globs against the paths that a text names
# What may be a path in running text: with Chinese around it, only the second finds its ends.
_PATHS = (re.compile(r"[\w.@+~/\\-]+"), re.compile(r"[A-Za-z0-9_.@+~/\\-]+"))


class Route(NamedTuple):
    """When *trigger* comes up, *refs* are worth reading; `source:line` says so. *project* owns a glob, if any does."""

    kind: str
    trigger: str
    refs: tuple[str, ...]
    source: str
    line: int
    project: str = ""


class Routing(NamedTuple):
    """All routes of a vault that lead somewhere, its areas that have triggers, and what is wrong."""

    routes: tuple[Route, ...] = ()
    areas: tuple[Area, ...] = ()
    findings: tuple[TriggerProblem, ...] = ()


def read_routing(vault: Vault) -> Routing:
    """Return the routes of *vault* as its files say them now. Nothing in them is an error; see `findings`."""
    areas = read_areas(vault)
    findings = [finding for area in areas for finding in area.findings]
    routes = [route for area in areas for route in _area_routes(area)]
    for found in (_table_routes, _map_routes):
        routes += _leading_somewhere(vault, found(vault, findings), findings)
    return Routing((*routes, *_pages(vault)), tuple(areas), tuple(findings))


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
    found = (route for path, route in islice(tries, _MOST_TRIES) if globs.matches(route.trigger, path))
    return list(dict.fromkeys(found))


def _area_routes(area: Area) -> Iterator[Route]:
    project = area.name if area.kind == "project" else ""
    for kind, triggers in ((WORD, area.words), (GLOB, area.globs)):
        for trigger in triggers:
            yield Route(kind, trigger.text, area.refs, area.ref, trigger.line, project if kind == GLOB else "")


def _table_routes(vault: Vault, findings: list[TriggerProblem]) -> Iterator[Route]:
    for row in hand_rows(_text(vault, LOADER, findings)):
        if not row.triggers or not row.refs:
            missing = "trigger" if not row.triggers else "file"
            findings.append(TriggerProblem(LOADER, row.line, f"the row names no {missing}"))
            continue
        for trigger in row.triggers:
            yield from _row_route(row, trigger, findings)


def _row_route(row: Row, trigger: str, findings: list[TriggerProblem]) -> Iterator[Route]:
    kind = GLOB if "*" in trigger else WORD
    fault = globs.fault_of(trigger) if kind == GLOB else fault_in_word(trigger)
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
            if stat.S_ISREG(about.st_mode) and about.st_size <= LARGEST:
                return read_text(path)[0].removeprefix("\ufeff")
            findings.append(TriggerProblem(ref, 1, f"it is no file of at most {LARGEST // 1024} KiB"))
        except (OutsideVault, BrokenVaultFile) as error:
            findings.append(TriggerProblem(ref, 1, str(error)))
        except PermissionError as error:
            findings.append(TriggerProblem(ref, 1, f"it cannot be read: {error.strerror}"))
    return ""
