"""Whether the routes of a vault lead somewhere, one way each, and bringing its table up to date."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from memtool.errors import BrokenVaultFile, MemtoolError
from memtool.recall.routing.area_triggers import Area, TriggerProblem, read_areas
from memtool.recall.routing.loader_table import LOADER, Row, fitting, with_rows
from memtool.recall.routing.routes import LARGEST, PAGE, Route, Routing
from memtool.recall.routing.triggers import normal
from memtool.resources import shipped
from memtool.vault.files import read_text, replace
from memtool.vault.layout import Vault


def check(vault: Vault, routing: Routing) -> list[TriggerProblem]:
    """Return what is wrong with the routes of *vault*, faults first; warnings do not keep anything from working."""
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
        updated = with_rows(text, fitting(text, rows_of(read_areas(vault)), LARGEST))
        if updated == text:
            return False
        replace(path, updated, expected=expected)
    return True


def rows_of(areas: Iterable[Area]) -> list[Row]:
    """Return the rows that *areas* bring into the table, one for each."""
    return [
        Row(tuple(trigger.text for trigger in (*area.words, *area.globs)), area.refs)
        for area in areas
        if area.words or area.globs
    ]


def _table(vault: Vault) -> tuple[str, str | None]:
    """Return the text of the table and its hash, None for one that is not there yet."""
    path = vault.path(LOADER)
    if not path.exists():
        return (shipped("vault_template") / LOADER).read_text(encoding="utf-8"), None
    if not path.is_file() or path.stat().st_size > LARGEST:
        raise BrokenVaultFile(f"'{LOADER}' is no file of at most {LARGEST // 1024} KiB", hint="Move it away.")
    return read_text(path)


def _stale(vault: Vault, routing: Routing) -> Iterator[TriggerProblem]:
    with suppress(MemtoolError, OSError):  # a table that cannot be read has been found before
        text, rows = _table(vault)[0], rows_of(routing.areas)
        fit = fitting(text, rows, LARGEST)
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
