"""`python -m benchmarks.account`: measure what each weight and each word list wins, and write docs/account.md.

Each is taken away in turn: a list is emptied; a number becomes 0, and then so large that it bounds nothing, of which
the one that does less harm counts. What has a row with the same value and measure is not measured anew, unless `--all`
asks; `--only memtool.redaction` asks for one room.
`--check` names what has no row, as `tests/benchmarks/test_account.py` does.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

from benchmarks.account.entries import LISTS, Entry, entries
from benchmarks.account.measures import MEASURED_BY, Figures, Measure, measures_of
from benchmarks.account.notes import forget, read_without
from benchmarks.account.table import PAGE, Row, parse_rows, render
from benchmarks.processes import CLONE
from memtool.text import languages

LARGE, TIMES = 1_000, 100  # what bounds nothing: so much at least, and so many times a number
NEEDED = 1e9  # points
NOISE = 0.05  # points
UNMEASURED = "not measured"
TODAY = dt.datetime.now(dt.UTC).date().isoformat()


def main(arguments: list[str]) -> int:
    """Bring the account up to date; with `--check` return 1 if something has no row."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.account", description=__doc__)
    parser.add_argument("--shared", type=Path, default=CLONE.parent / "shared", help="the private material")
    parser.add_argument("--all", action="store_true", help="measure everything anew")
    parser.add_argument("--check", action="store_true", help="name what has no row")
    parser.add_argument("--only", default="", help="names that begin so")
    asked = parser.parse_args(arguments)
    rows = parse_rows(PAGE.read_text("utf-8")) if PAGE.exists() else {}
    wanted = [entry for entry in entries() if entry.name.startswith(asked.only)]
    missing = [each for each in wanted if asked.all or not _is_accounted(each, rows.get(each.name))]
    if asked.check:
        print(*(f"{each.name} = {each.value}" for each in missing), sep="\n")
        return 1 if missing else 0
    with tempfile.TemporaryDirectory(prefix="memtool-account-", ignore_cleanup_errors=True) as scratch:
        for row in _measured(missing, measures_of(asked.shared, Path(scratch))):
            rows[row.name] = row
            print(*row, sep=" | ", flush=True)
            PAGE.write_text(render([rows[each.name] for each in entries() if each.name in rows]), encoding="utf-8")
    return 0


def _measured(missing: list[Entry], makers: Mapping[str, Callable[[], Measure]]) -> Iterator[Row]:
    """Give the rows of *missing*."""
    made: dict[str, tuple[Measure, Figures]] = {}
    for entry in missing:
        wins = []
        for name in (names := _measures(entry)):
            if name not in made:
                measure = makers[name]()
                made[name] = (measure, measure())
            measure, whole = made[name]
            wins.append(_wins(whole, entry, measure))
        won = ", ".join(filter(None, wins)) or "nothing"
        yield Row(entry.name, entry.value, won if names else UNMEASURED, ", ".join(names), TODAY)


def _is_accounted(entry: Entry, row: Row | None) -> bool:
    return bool(row and row.value == entry.value and row.measure == ", ".join(_measures(entry)))


def _measures(entry: Entry) -> tuple[str, ...]:
    return next((names for beginning, names in MEASURED_BY.items() if entry.name.startswith(beginning)), ())


def _wins(whole: Figures, entry: Entry, measure: Measure) -> str:
    """Return what is lost without *entry*; of two ways to take a number away, by the one that loses less."""
    losses = []
    for value in _ways(entry):
        try:
            with _without(entry, value):
                found = measure()
        except Exception as error:  # noqa: BLE001  (a number that is needed to run at all)
            losses.append((NEEDED, f"needed ({type(error).__name__})"))
            continue
        changes = {name: whole[name] - found[name] for name in whole if abs(whole[name] - found[name]) > NOISE}
        losses.append((sum(changes.values()), ", ".join(f"{name} {change:+.1f}" for name, change in changes.items())))
    return min(losses)[1]


def _ways(entry: Entry) -> tuple[float | None, ...]:
    """Return the values that take *entry* away; None empties a list."""
    if entry.module == LISTS:
        return (None,)
    return 0, max(LARGE, TIMES * abs(_value_of(entry)))


def _value_of(entry: Entry) -> float:
    module, _, name = entry.name.rpartition(".")
    return float(getattr(import_module(module), name))


@contextmanager
def _without(entry: Entry, value: float | None) -> Iterator[None]:
    """Take *entry* away: put *value* for a number wherever it was imported, or empty a list."""
    with ExitStack() as stack:
        if value is None:
            kind = entry.name.removeprefix(f"{LISTS}.")
            stack.enter_context(patch.object(languages, "_value", read_without(kind)))
        else:
            module, _, name = entry.name.rpartition(".")
            home = import_module(module)
            own = getattr(home, name)
            ours = [each for key, each in sys.modules.items() if key.startswith("memtool.") and name[0] != "_"]
            importers = [each for each in ours if each is not home and getattr(each, name, None) == own]
            for each in (home, *importers):
                stack.enter_context(patch.object(each, name, type(own)(value)))
        forget()
        yield
    forget()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
