"""`python -m benchmarks`: measure memtool against its budgets, and print a table."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import groups, vaults
from benchmarks.floors import walk
from benchmarks.processes import own_environment, run
from benchmarks.rows import Row, as_json, table


def main(arguments: list[str]) -> int:
    """Measure what *arguments* ask for; return 1 if a budget is missed."""
    asked = _parse(arguments)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="memtool-benchmarks-") as scratch:
        for row in _measure(asked, Path(scratch)):
            print(f"{row.what} ({row.notes:,} notes): {min(row.ours):.2f} {row.unit}", file=sys.stderr, flush=True)
            rows.append(row)
    rows += groups.linearity(rows)
    print(table(rows))
    if asked.json:
        answer = as_json(rows, _machine())
        asked.json.write_text(json.dumps(answer, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if any(row.ok is False for row in rows) else 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=main.__doc__)
    parser.add_argument("--sizes", type=_sizes, default=[1_000, 10_000], help="notes of each vault (1000,10000)")
    parser.add_argument("--only", type=_groups, default=list(groups.GROUPS), help=", ".join(groups.GROUPS))
    parser.add_argument("--repeat", type=int, default=3, help="tries of what takes long; short things get more (3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all tries there")
    parser.add_argument("--model", type=Path, metavar="DIR", help="a folder with an embedding model, for the helper")
    parser.add_argument("--postgres", metavar="ADDRESS", help="keep the index in this database: hooks, process, helper")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="make the vaults there, and use them again")
    return parser.parse_args(arguments)


def _sizes(text: str) -> list[int]:
    return [int(part.replace("_", "")) for part in text.split(",")]


def _groups(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in groups.GROUPS:
            raise argparse.ArgumentTypeError(f"there is no '{name}', only {', '.join(groups.GROUPS)}")
    return names


def _measure(asked: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    environ = own_environment(scratch)
    if asked.postgres:
        environ |= {"MEMTOOL_INDEX_ENGINE": "postgres", "MEMTOOL_POSTGRES": asked.postgres}
    vault = scratch
    for size in asked.sizes:
        vault = vaults.write_vault((asked.keep or scratch) / f"vault-{size}", size)
        _warm(vault)
        if asked.postgres:
            run([sys.executable, "-m", "memtool", "--vault", str(vault), "index"], environ)
        stage = groups.Stage(vault, scratch, size, asked.repeat, environ, asked.model)
        for name in asked.only:
            if name not in groups.ONCE:
                yield from groups.GROUPS[name](stage)
    for name in groups.ONCE:
        if name in asked.only:
            yield from groups.GROUPS[name](groups.Stage(vault, scratch, 0, asked.repeat, environ))


def _warm(vault: Path) -> None:
    """Read every file once, so that all sides find it in the page cache."""
    for path in walk(str(vault)):
        Path(path).read_bytes()


def _machine() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": platform.system(),
        "processors": os.cpu_count(),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
