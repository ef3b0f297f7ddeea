"""`python -m benchmarks.recall`: hold the labelled conversations and print how good recall was.

With `--sessions FOLDER` they are those over real session notes, which are held on what the transcripts in
`FOLDER/sessions` leave behind.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.recall import measures, session_notes, session_prompts
from benchmarks.recall.labelled import (
    DEVELOPMENT,
    PARTS,
    PLAIN,
    Area,
    known_ids,
    read_areas,
    read_conversations,
)
from benchmarks.recall.sessions import Hook, HookFailed, Turn, hold
from benchmarks.recall.vaults import Shelf, write_vault


def main(arguments: list[str]) -> int:
    """Measure recall on the labelled set; return 1 if a goal is missed by the part that the goals are meant for."""
    asked = _parse(arguments)
    try:
        if asked.sessions:
            return _over_sessions(asked.sessions / "sessions", asked.keep, as_json=asked.json)
        if asked.fit:
            print(_fit(asked.model))
            return 0
        parts = _hold([asked.part] if asked.part else list(PARTS), asked.model, asked.postgres)
    except HookFailed as error:
        print(error, file=sys.stderr)
        return 1
    measured = {name: measures.measure(sessions) for name, sessions in parts.items()}
    print(json.dumps(measures.as_json(parts), indent=2) if asked.json else measures.table(measured))
    for line in _faults(parts) if asked.faults else ():
        print(line, file=sys.stderr)
    return 1 if any(measures.missed(part) for name, part in measured.items() if name == PLAIN) else 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=main.__doc__)
    parser.add_argument("--part", choices=PARTS, help="only this part of the conversations")
    parser.add_argument("--fit", action="store_true", help="print the weights that suit the development part best")
    parser.add_argument("--model", type=Path, metavar="DIR", help="by meaning, too, with the model in this folder")
    parser.add_argument("--postgres", default="", metavar="ADDRESS", help="with the index in this empty database")
    parser.add_argument(
        "--sessions", type=Path, metavar="FOLDER", help="instead: prompts over the transcripts of FOLDER"
    )
    parser.add_argument("--keep", type=Path, metavar="FILE", help="with --sessions: write what was given to FILE")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--faults", action="store_true", help="name each fault in the development part on stderr")
    return parser.parse_args(arguments)


def _over_sessions(transcripts: Path, keep: Path | None, *, as_json: bool) -> int:
    if not transcripts.is_dir():
        print(f"skipped: the transcripts that the prompts are about are not in {transcripts}", file=sys.stderr)
        return 0
    conversations = session_prompts.read_conversations()
    with session_notes.imported(transcripts) as (hook, places):
        talks = [session_notes.hold(conversation, hook, places) for conversation in conversations]
        hook.check()
    if keep:
        keep.write_text(session_prompts.to_read(conversations, talks), encoding="utf-8")
    print(json.dumps(session_prompts.as_json(talks), indent=2) if as_json else session_prompts.table(talks))
    return 0


def _hold(names: list[str], model: Path | None, database: str) -> dict[str, list[list[Turn]]]:
    areas = read_areas()
    with _vault(areas, model, database) as (hook, shelf), hook.helper():
        parts = {
            name: [hold(conversation, hook.ask, shelf) for conversation in read_conversations(name, known_ids(areas))]
            for name in names
        }
        hook.check()
    if hook.late:
        print(f"words decided for {hook.late} prompts, because the helper was late", file=sys.stderr)
    return parts


def _fit(model: Path | None) -> dict[str, float]:
    from benchmarks.recall.fitting import fit  # noqa: PLC0415  (numpy, which nothing else here needs)

    areas, today = read_areas(), datetime.now(UTC).date()
    with _vault(areas, model) as (hook, shelf), hook.index() as db:
        meaning = hook.meaning(db, today) if model else None
        return fit(db, read_conversations(DEVELOPMENT, known_ids(areas)), shelf, today, meaning)


@contextlib.contextmanager
def _vault(areas: list[Area], model: Path | None, database: str = "") -> Iterator[tuple[Hook, Shelf]]:
    with tempfile.TemporaryDirectory(prefix="memtool-recall-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        shelf = Shelf(write_vault(folder / "vault", areas, datetime.now(UTC).date()))
        yield Hook(folder, folder / "vault", model.resolve() if model else None, database), shelf


def _faults(parts: dict[str, list[list[Turn]]]) -> Iterator[str]:
    """Give the faults of the part that recall may be tuned on. The others are to stay unseen."""
    for turns in parts.get(DEVELOPMENT, []):
        yield from measures.faults(turns)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
