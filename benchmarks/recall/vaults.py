"""A vault that holds the memories of the labelled set, and which of them a line of a context block speaks of."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from benchmarks.recall.labelled import Area, Memory
from memtool.history.template import make_vault
from memtool.vault.facts import Fact, render_facts
from memtool.vault.layout import session_ref
from memtool.vault.sessions import Draft, Line, SessionNote, render_session

_FOLDERS = {"decision": "decisions", "change": "changes", "knowledge": "knowledge"}
REF = re.compile(r"(?<![\w./-])((?:[\w.-]+/)*[\w.-]+\.(?:md|json))(?::(\d+)(?:-\d+)?)?")


def write_vault(folder: Path, areas: Iterable[Area], today: date) -> dict[str, str]:
    """Make a vault of *areas* in *folder*, and return the ref and line at which each memory begins, by its id."""
    make_vault(folder)
    places: dict[str, str] = {}
    for area in areas:
        if area.about:
            about = f"---\ntype: project\n---\n\n# {Path(area.name).name}\n\n{area.about}\n"
            _write(folder / "areas" / area.name / "summary.md", about, today - timedelta(days=200))
        notes = [memory for memory in area.memories if memory.kind != "fact"]
        for memory in notes:
            ref = _ref(memory, today)
            _write(folder / ref, _note(memory, today), today - timedelta(days=memory.days))
            places[memory.id] = ref
        places |= _write_facts(folder, [memory for memory in area.memories if memory.kind == "fact"], today)
    return places


class Shelf:
    """Knows the memory that a line of a context block speaks of, by the path and line that it names."""

    def __init__(self, places: dict[str, str]) -> None:
        self._notes = {place: memory_id for memory_id, place in places.items() if ":" not in place}
        self._facts: dict[str, list[tuple[int, str]]] = {}
        for memory_id, place in places.items():
            ref, _, line = place.partition(":")
            if line:
                self._facts.setdefault(ref, []).append((int(line), memory_id))

    def given(self, block: str) -> list[str]:
        """Return what each line that names a file gives: the id of a memory, or the path of something else.

        The last file that a line names is its source. Those before stand in what is remembered.
        """
        named = (REF.findall(line)[-1:] for line in block.splitlines())
        return [self.name_of(ref, int(line or 0)) for matches in named for ref, line in matches]

    def name_of(self, ref: str, line: int) -> str:
        """Return the id of the memory at *line* of *ref*, or *ref* where that is none."""
        begun = [(first, memory_id) for first, memory_id in self._facts.get(ref, []) if first <= line]
        if begun:
            return max(begun)[1]
        return self._notes.get(ref, ref)


def _ref(memory: Memory, today: date) -> str:
    if memory.kind == "session":
        return session_ref(memory.id)
    day = today - timedelta(days=memory.days)
    return f"areas/{memory.area}/{_FOLDERS[memory.kind]}/{day.isoformat()}-{memory.id}.md"


def _note(memory: Memory, today: date) -> str:
    day = today - timedelta(days=memory.days)
    if memory.kind == "session":
        lines = tuple(Line(line.removeprefix("- ")) for line in memory.text.splitlines())
        project = Path(memory.area).name
        return render_session(
            SessionNote(memory.id, project, updated=f"{day} 14:30", draft=Draft(memory.title, lines=lines))
        )
    return f"---\ntype: {memory.kind}\ndate: {day}\n---\n\n# {memory.title}\n\n{memory.text}"


def _write_facts(folder: Path, memories: list[Memory], today: date) -> dict[str, str]:
    if not memories:
        return {}
    ref = f"areas/{memories[0].area}/facts.json"
    text = render_facts([_fact(memory, today) for memory in memories])
    _write(folder / ref, text, today - timedelta(days=min(memory.days for memory in memories)))
    lines = text.splitlines()
    return {memory.id: f"{ref}:{_first_line(lines, memory.id)}" for memory in memories}


def _fact(memory: Memory, today: date) -> Fact:
    day = today - timedelta(days=memory.days)
    return Fact(id=memory.id, fact=memory.text, evidence="said in a session", timestamp=f"{day}T12:00:00Z",
                category=memory.category)  # fmt: skip


def _first_line(lines: list[str], fact_id: str) -> int:
    """Return the number of the line with the brace of the fact."""
    named = next(number for number, line in enumerate(lines) if f'"id": "{fact_id}"' in line)
    return next(number for number in range(named, -1, -1) if lines[number].strip() == "{") + 1


def _write(path: Path, text: str, day: date) -> None:
    """Write a file as old as it says: the index rightly distrusts the stamps of files that are seconds old."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    written_at = datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp()
    os.utime(path, (written_at, written_at))
