"""Hints at failing checks, replayed over recorded sessions: `python -m benchmarks.hints FOLDER… [--aside PROJECT…]`.

FOLDER holds transcripts of Claude Code (`.jsonl`, `.jsonl.gz`). Counted are the commands that failed a third time, and
what the hint says then; and the pairs of a failure and a fix that the notes of the project's other sessions tell,
where both share the error's line or a name in it: what a hint across sessions would give. `--show` prints all of them.
"""

from __future__ import annotations

import argparse
import gzip
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from memtool.capture.checks import check_in, error_lines
from memtool.capture.mended import fixes_in
from memtool.capture.transcript.reader import read_transcript
from memtool.capture.transcript.record_fields import calls_in, content_of, results_in
from memtool.capture.transcript.record_stream import Tally, open_transcript, read_records
from memtool.capture.turns import Turn, turns_of
from memtool.recall.tried import Tried, tried_in
from memtool.text.identifiers import names_in
from memtool.vault.sessions import Line

_THIRD = 3


class Session(NamedTuple):
    """A recorded session."""

    name: str
    project: str
    path: Path
    turns: tuple[Turn, ...]


def sessions_in(folders: Iterable[Path], scratch: Path) -> Iterator[Session]:
    """Give the sessions whose transcripts lie in *folders*; a packed one is unpacked into *scratch*."""
    for path in sorted(path for folder in folders for path in folder.glob("*.jsonl*")):
        name = path.name.partition(".jsonl")[0]
        plain = path
        if path.suffix == ".gz":
            plain = scratch / f"{name}.jsonl"
            plain.write_bytes(gzip.decompress(path.read_bytes()))
        conversation = read_transcript(plain, str)
        project = name.rpartition("-")[0] if "__" in name else conversation.cwd
        yield Session(name, project, plain, tuple(turns_of(conversation.steps)))


def third_failures(session: Session) -> Iterator[tuple[str, Tried]]:
    """Give each command that failed for the third time, and what was tried until then."""
    with open_transcript(session.path) as file:
        records = list(read_records(file, Tally()))
    commands, failed = dict[str, str](), Counter[str]()
    for number, record in enumerate(records):
        commands |= {call.id: call.command for call in calls_in(content_of(record), "") if call.command}
        for result in results_in(record):
            command = commands.get(result.call_id, "")
            failed[command] += result.failed and not result.stopped
            if check_in(command) and result.failed and failed[command] == _THIRD:
                yield command, tried_in(records[:number], command)


def pairs(session: Session, others: Iterable[Line]) -> Iterator[tuple[str, str, str]]:
    """Give each fix of *others* that shares something with a failure of *session*: what they share, error and fix."""
    errors = [error for turn in session.turns for run in turn.runs if check_in(run.command) and run.error
              for error in error_lines(run.error)]  # fmt: skip
    for fix in others:
        told = match[1] if (match := re.search("“(.*?)”", fix.text)) else ""
        same = next((error for error in errors if _plain(error).startswith(_plain(told)[:60])), "")
        named = {name for name in names_in(told) if not name.replace(".", "").isdigit()}
        alike = next((error for error in errors if named.intersection(names_in(error))), "")
        if same or alike:
            yield "line" if same else "name", same or alike, fix.text


def _plain(text: str) -> str:
    return re.sub(r"\d+", "#", text).strip("… ").casefold()


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--aside", nargs="*", default=[], metavar="PROJECT", help="count these projects apart")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        found = list(sessions_in(options.folders, Path(scratch)))
        fixes = {session.name: fixes_in(session.turns) for session in found}
        for is_aside in (False, True):
            counts = defaultdict[str, int](int)
            for session in (each for each in found if (each.project in options.aside) == is_aside):
                counts["sessions"] += 1
                counts["fixes told"] += len(fixes[session.name])
                for command, tried in third_failures(session):
                    counts["third failures"] += 1
                    counts["hints given"] += tried.failures >= _THIRD - 1 and bool(tried.edits)
                    if options.show:
                        print(f"{session.name[:24]}  {command[:60]}  {' | '.join(tried.edits)}")
                same_project = (each for each in found if each.project == session.project and each is not session)
                for kind, error, fix in pairs(session, [fix for each in same_project for fix in fixes[each.name]]):
                    counts[f"fixes that share the error's {kind}"] += 1
                    if options.show:
                        print(f"{session.name[:24]}  {error[:100]}\n    {fix[:200]}")
            print("aside:" if is_aside else "all but those aside:", dict(counts))


if __name__ == "__main__":
    main()
