"""`python -m benchmarks.helps`: one table that says whether memory helps (docs/benchmarks.md).

Beside memtool is what the same user has without it (a search of the transcripts by words, as with `rg`), an empty
vault, which must bring nothing, and the vault of somebody who worked on other projects. The first rows need nothing
but this repository. The others need labelled sessions that may not be published: they lie in `../shared`, or where
`--shared` says, and are skipped with a reason where they are missing. Of them nothing is printed but figures.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.helps import measures
from benchmarks.helps.measures import LATER, Row, Skipped
from benchmarks.processes import CLONE

HEAD = Row("", "memtool", "without: words in the transcripts", "an empty vault", "a wrong vault")


def main(arguments: list[str]) -> int:
    """Measure and print the table; return 1 if an empty vault brought anything."""
    asked = _parse(arguments)
    groups: dict[str, Callable[[Path], Iterator[Row]]] = {
        "decisions": lambda scratch: measures.decisions(scratch, asked.later),
        "next-day": lambda scratch: measures.next_day(asked.shared, scratch),
        "prompts": lambda scratch: measures.real_prompts(asked.shared, scratch),
        "issues": lambda scratch: measures.related_issues(asked.shared, scratch),
    }
    rows = []
    for name in asked.only or groups:
        with tempfile.TemporaryDirectory(prefix="memtool-helps-", ignore_cleanup_errors=True) as scratch:
            try:
                for row in groups[name](Path(scratch)):
                    print(*row, sep=" | ", file=sys.stderr, flush=True)
                    rows.append(row)
            except Skipped as reason:
                print(f"{name}: skipped: {reason}", file=sys.stderr)
    print(table(rows))
    return 1 if any(re.search("[1-9]", row.empty) for row in rows) else 0


def table(rows: list[Row]) -> str:
    """Return *rows* as a table of Markdown."""
    lines = [HEAD, Row("---", "--:", "--:", "--:", "--:"), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.helps", description=__doc__)
    parser.add_argument("--shared", type=Path, default=CLONE.parent / "shared", help="the private material")
    parser.add_argument("--only", type=lambda text: text.split(","), help="decisions, next-day, prompts, issues")
    parser.add_argument("--later", type=lambda text: tuple(map(int, text.split(","))), default=LATER)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
