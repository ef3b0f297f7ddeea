"""The lines that say what a run changed, kept until its report is committed: so that a kill loses none of them.

Each is noted before the change is made. The next run takes them over, but for those of facts that were not written.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress

from memtool.consolidate.distilling import Written
from memtool.consolidate.week import Week
from memtool.text.languages import labels
from memtool.vault.state import append_state, make_state_folder, read_state
from memtool.workspace import Workspace

_LARGEST = 16_777_216  # bytes


class ChangeLines:
    """What the runs of a *week* have changed that are in no report yet; a *dry* run keeps nothing."""

    def __init__(self, work: Workspace, week: Week, known: Collection[str], *, dry: bool) -> None:
        self._words = labels("report", work.language)
        self._path = None if dry else work.vault.state_path / f"changes-{week}"
        self._moved: dict[str, str] = {}  # the notes that went to the archive, and the day of each
        self.lines: list[str] = []
        for line, fact_id, moved in self._read():
            if line and (not fact_id or fact_id in known):
                self.lines.append(line)
            self._moved |= {ref: day for ref, day in moved.items() if not work.vault.path(ref).exists()}

    def say(self, form: str, *values: str, fact_id: str = "") -> None:
        """Note the line of that *form* with *values*; *fact_id* is that of the fact that it announces."""
        line = self._words[form].format(*values)
        if line not in self.lines:
            self.lines.append(line)
            self._note(line, fact_id, {})

    def say_fact(self, written: Written) -> None:
        """Note the line about a fact that is about to be written."""
        fact, old = written.fact, written.other
        values = [written.project or "–", fact.fact, fact.id]
        if written.fate == "known":
            self.say("known", fact.id, fact_id=fact.id)
        elif old:
            self.say("superseded", *values, old.id, old.timestamp[:10], fact.timestamp[:10], fact_id=fact.id)
        else:
            self.say("new", *values, fact_id=fact.id)

    def note_moves(self, moves: Mapping[str, str]) -> None:
        """Note the notes that are about to go to the archive, with the day of each."""
        if moves:
            self._note("", "", moves)

    def say_moves(self, moved: Mapping[str, str]) -> None:
        """Note the line about the notes that went to the archive, those of a run that was cut off as well."""
        self._moved |= moved
        if self._moved:
            self.say("archived", str(len(self._moved)), min(self._moved.values()))

    def end(self) -> None:
        """Forget all of it: the report says it."""
        if self._path:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _note(self, *row: object) -> None:
        if self._path:
            with suppress(OSError):
                make_state_folder(self._path.parent / "locks")
                append_state(self._path, json.dumps(row).encode() + b"\n")

    def _read(self) -> Iterator[tuple[str, str, dict[str, str]]]:
        with suppress(OSError):
            for row in read_state(self._path, largest=_LARGEST).split(b"\n") if self._path else ():
                with suppress(ValueError, RecursionError):
                    match json.loads(row):
                        case [str(line), str(fact_id), dict(moved)]:
                            yield line, fact_id, {str(ref): str(day) for ref, day in moved.items()}
