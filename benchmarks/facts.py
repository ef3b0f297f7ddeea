"""`python -m benchmarks.facts FOLDER`: the facts that come out of labelled sessions, as four weeks of one team.

FOLDER holds `sessions/<id>.jsonl`, transcripts of the client, and `labels.jsonl`: a session a line, with `items` of a
`kind`, a `text`, and patterns in `any` of which one must match. All checkouts of one repository are one project. The
facts are printed to be read: how many of them are junk, a reader has to say.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.processes import own_environment
from benchmarks.recall.session_notes import lay
from memtool.consolidate.proposals import read_sessions
from memtool.history.template import make_vault
from memtool.memory.fact_book import StoredFact, read_facts
from memtool.text.near_duplicates import is_same, statement
from memtool.vault.layout import open_vault

KINDS = ("rule", "fix")
_WEEKS = 4
_WORKTREE = re.compile(r"/\.worktrees/[^/]+/?$")


class Label(NamedTuple):
    """Something that the facts of a session should say, in one of these *patterns*."""

    session: str
    kind: str
    text: str
    patterns: tuple[str, ...]

    def is_in(self, facts: Sequence[StoredFact]) -> bool:
        """Return whether one of *facts* that stand on words of the session says it."""
        own = [stored.fact.fact for stored in facts if self.session in _sessions_of(stored)]
        return any(re.search(pattern, text, re.IGNORECASE | re.DOTALL) for text in own for pattern in self.patterns)


def main(arguments: Sequence[str]) -> int:
    """Make the vault, distil it four times, and print the facts and what was found of the labels."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.facts", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--missed", action="store_true", help="also print the labels that no fact says")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="memtool-facts-", ignore_cleanup_errors=True) as scratch:
        vault = _vault(asked.folder / "sessions", Path(scratch))
        facts = [stored for stored in read_facts(open_vault(vault)) if stored.fact.status == "active"]
        lost = _memtool(vault, "facts", "verify", "--json")
    for stored in facts:
        print(f"{stored.project:16} {stored.fact.category:13} {stored.fact.author:5} {stored.fact.fact}")
    labels = labels_in(asked.folder / "labels.jsonl")
    found = [label for label in labels if label.is_in(facts)]
    for label in labels if asked.missed else ():
        if label not in found:
            print(f"missed: {label.session[:8]} {label.kind}: {label.text}")
    claims = [statement(stored.fact.fact) for stored in facts]
    doubles = sum(is_same(one, other) for one, other in combinations(claims, 2))
    unfound = sum(finding["kind"] == "evidence" for finding in json.loads(lost)["findings"])
    print(f"{len(facts)} facts, {doubles} doubles, {unfound} without their evidence")
    print(f"labelled rules and fixes found: {len(found)} of {len(labels)} ({len(found) / len(labels):.0%})")
    return 0


def labels_in(path: Path) -> list[Label]:
    """Return the rules and fixes that the labels at *path* ask for."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Label(line["session"], item["kind"], item["text"], tuple(item["any"]))
        for line in lines
        for item in line["items"]
        if item["kind"] in KINDS
    ]


def _sessions_of(stored: StoredFact) -> set[str]:
    return {str(span["source"]).partition("#")[0] for span in stored.fact.spans}


def _vault(transcripts: Path, scratch: Path) -> Path:
    """Return a vault with the notes of *transcripts*, distilled as of four weeks, with a quarter of them each."""
    for transcript in transcripts.glob("*.jsonl"):
        text = transcript.read_text(encoding="utf-8")
        cwd = str(next(record["cwd"] for record in map(json.loads, text.splitlines()) if record.get("cwd")))
        place = scratch / "work" / Path(_WORKTREE.sub("", cwd)).name
        place.mkdir(parents=True, exist_ok=True)
        (scratch / "transcripts").mkdir(exist_ok=True)
        copy = scratch / "transcripts" / transcript.name
        copy.write_text(text.replace(f'"{cwd}', f'"{place}'), encoding="utf-8")
    lay(scratch / "transcripts", scratch / "home")
    vault = make_vault(scratch / "vault").vault.root
    _memtool(vault, "import", "claude-code", "-y")
    days = [view.date[:10] for view in read_sessions(open_vault(vault))]
    for quarter in range(1, _WEEKS + 1):
        _memtool(
            vault, "consolidate", "--facts", "--accept", "--week", _week_of(days[len(days) * quarter // _WEEKS - 1])
        )
    return vault


def _week_of(day: str) -> str:
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year}-W{week:02}"


def _memtool(vault: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "memtool", "--vault", str(vault), *arguments]
    environ = own_environment(vault.parent / "home")
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
