"""`python -m benchmarks.recall`: hold the labelled conversations and print how good recall was."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.recall import measures
from benchmarks.recall.labelled import HALVES, read_areas, read_conversations
from benchmarks.recall.sessions import Hook, HookFailed, Turn, hold
from benchmarks.recall.vaults import Shelf, write_vault


def main(arguments: list[str]) -> int:
    """Measure recall on the labelled set; return 1 if a goal is missed."""
    asked = _parse(arguments)
    try:
        halves = _hold([asked.half] if asked.half else list(HALVES))
    except HookFailed as error:
        print(error, file=sys.stderr)
        return 1
    measured = {name: measures.measure(sessions) for name, sessions in halves.items()}
    print(json.dumps(measures.as_json(halves), indent=2) if asked.json else measures.table(measured))
    for line in _faults(halves) if asked.faults else ():
        print(line, file=sys.stderr)
    return 1 if any(map(measures.missed, measured.values())) else 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=main.__doc__)
    parser.add_argument("--half", choices=HALVES, help="only this half of the conversations")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--faults", action="store_true", help="name each fault in the development half on stderr")
    return parser.parse_args(arguments)


def _hold(names: list[str]) -> dict[str, list[list[Turn]]]:
    areas = read_areas()
    known = [memory.id for area in areas for memory in area.memories]
    with tempfile.TemporaryDirectory(prefix="memtool-recall-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        shelf = Shelf(write_vault(folder / "vault", areas, datetime.now(UTC).date()))
        hook = Hook(folder, folder / "vault")
        halves = {
            name: [hold(conversation, hook.ask, shelf) for conversation in read_conversations(name, known)]
            for name in names
        }
        hook.check()
    return halves


def _faults(halves: dict[str, list[list[Turn]]]) -> Iterator[str]:
    """Give the faults of the half that recall may be tuned on. The other half is to stay unseen."""
    for turns in halves.get(HALVES[0], []):
        yield from measures.faults(turns)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
