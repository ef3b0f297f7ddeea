"""Synthetic vaults: the same seed and number give the same note, byte for byte, on every machine.

A note is made from the seed, its number and its revision alone, so that a larger vault begins with the notes of a
smaller one, and a note can be changed and changed back without reading it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.words import Deck, chinese, english, identifier

SEED = 20_260_210
NOTES_PER_PROJECT = 50
MEDIAN = 600  # characters before front matter and title, which makes about a kilobyte
LONGEST = 60_000
_FIRST_DAY = date(2023, 1, 1)
_DAYS = 1_100  # until the first days of 2026: a file from the future is read again before every search


class File(NamedTuple):
    """A file of a vault: its path, its text, the day on which it was written."""

    ref: str
    text: str
    day: date


def files(size: int, seed: int = SEED) -> Iterator[File]:
    """Give the files of a vault: *size* notes, and the facts of every second project."""
    for number in range(size):
        yield note(number, seed)
        if number % (2 * NOTES_PER_PROJECT) == 0:
            yield _facts(number // NOTES_PER_PROJECT, seed)


def note(number: int, seed: int = SEED, revision: int = 0) -> File:
    """Return note *number*. Another *revision* has another text in the same place."""
    chance = Random(f"{seed}/{number}")
    kind, folder = _place(number, chance)
    day = _day(number, chance)
    name = day.isoformat() if kind == "daily" else f"{number:06}-{chance.getrandbits(24):06x}"
    ref = f"{folder}/{kind if kind in ('summary', 'rules') else name}.md"
    writer = _Writer(Random(f"{seed}/{number}/{revision}"))
    return File(ref, writer.note(kind, day, _length(kind, chance)), day + timedelta(days=revision))


def write_vault(folder: Path, size: int, seed: int = SEED) -> Path:
    """Make the vault of *size* notes in *folder* and return the folder. A finished one is left as it is."""
    finished = folder / ".finished"
    if not finished.exists():
        for file in files(size, seed):
            write(folder, file)
        finished.touch()
    (folder / "memtool.toml").touch()
    return folder


def write(folder: Path, file: File) -> None:
    """Write *file*, as old as it says: the index rightly distrusts the stamps of files that are seconds old."""
    path = folder / file.ref
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file.text.encode())
    written_at = datetime(file.day.year, file.day.month, file.day.day, 12, tzinfo=UTC).timestamp()
    os.utime(path, (written_at, written_at))


def some_numbers(size: int, count: int, seed: int = SEED) -> list[int]:
    """Return the numbers of *count* notes of a vault of *size*, spread over it."""
    return sorted(Random(f"{seed}/some").sample(range(size), count))


def _place(number: int, chance: Random) -> tuple[str, str]:
    """Return the kind of note *number* and the folder that it lies in."""
    project = f"areas/projects/project-{number // NOTES_PER_PROJECT:04}"
    fixed = {0: ("summary", project), 1: ("rules", project), 2: ("daily", "daily")}
    within = number % NOTES_PER_PROJECT
    if within in fixed and not (within == 2 and number // NOTES_PER_PROJECT >= _DAYS):
        return fixed[within]
    places = (
        ("session", "sessions"),
        ("session", "archive/sessions"),
        ("decision", f"{project}/decisions"),
        ("change", f"{project}/changes"),
        ("knowledge", f"{project}/knowledge"),
        ("note", f"notes/{chance.randrange(40):02}"),
    )
    return chance.choices(places, weights=(30, 15, 10, 10, 15, 20))[0]


def _day(number: int, chance: Random) -> date:
    days = number // NOTES_PER_PROJECT if number % NOTES_PER_PROJECT == 2 else chance.randrange(_DAYS)
    return _FIRST_DAY + timedelta(days=days % _DAYS)


def _length(kind: str, chance: Random) -> int:
    """Return how many characters to write: in most notes some hundreds, in a few very many."""
    usual = MEDIAN * chance.lognormvariate(0, 0.9)
    return min(LONGEST, int(usual * (8 if kind == "daily" else 1)))


class _Writer:
    """Writes one note: a language, a subject that its rare words come from, and a random stream."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._language = chance.choices(("en", "zh", "mixed"), weights=(60, 25, 15))[0]
        self._subject = [*english().draw_rare(chance, 4), *(identifier(chance) for _ in range(2))]

    def note(self, kind: str, day: date, length: int) -> str:
        """Return front matter on most notes, a title, and sections until *length* is reached."""
        title = _sentence_case(" ".join(self._words(4)))
        parts = [self._front_matter(kind, title, day)] if kind != "note" or self._chance.random() < 0.3 else []
        parts.append(f"# {title}\n")
        written = 0
        while written < length:
            part = self._section(length - written)
            written += len(part)
            parts.append(part)
        return "\n".join(parts)

    def sentence(self) -> str:
        """Return one sentence, in the note's language or now in the one, now in the other."""
        is_chinese = self._language == "zh" or (self._language == "mixed" and self._chance.random() < 0.5)
        return self._chinese_sentence() if is_chinese else self._english_sentence()

    def _front_matter(self, kind: str, title: str, day: date) -> str:
        tags = ", ".join(self._chance.sample(english().words[60:90], 2))
        declared = {"summary": "project"}.get(kind, kind)
        return f"---\ntype: {declared}\ntitle: {title}\ndate: {day.isoformat()}\ntags: [{tags}]\n---\n"

    def _section(self, room: int) -> str:
        lines = [f"## {' '.join(self._words(3))}", ""] if room > 400 else []
        if self._chance.random() < 0.5:
            lines += [f"- {self.sentence()}" for _ in range(self._chance.randint(2, 6))]
        else:
            lines.append(" ".join(self.sentence() for _ in range(self._chance.randint(1, 5))))
        if self._chance.random() < 0.05:
            code = (f"{identifier(self._chance)} = {identifier(self._chance)!r}" for _ in range(4))
            lines += ["", "```python", *code, "```"]
        return "\n".join([*lines, ""])

    def _words(self, count: int) -> list[str]:
        deck: Deck = chinese() if self._language == "zh" else english()
        return [*deck.draw(self._chance, count), self._chance.choice(self._subject)]

    def _english_sentence(self) -> str:
        words = english().draw(self._chance, self._chance.randint(5, 16))
        words[self._chance.randrange(len(words))] = self._special()
        return _sentence_case(" ".join(words)) + "."

    def _chinese_sentence(self) -> str:
        words = chinese().draw(self._chance, self._chance.randint(4, 12))
        if self._chance.random() < 0.3:
            words[self._chance.randrange(len(words))] = f" {self._special()} "
        return "".join(words).strip() + "。"

    def _special(self) -> str:
        return identifier(self._chance) if self._chance.random() < 0.3 else self._chance.choice(self._subject)


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]


def _facts(project: int, seed: int) -> File:
    chance = Random(f"{seed}/facts/{project}")
    writer = _Writer(chance)
    day = _FIRST_DAY + timedelta(days=chance.randrange(_DAYS))
    facts = [
        {
            "id": f"fact-{number:03}",
            "fact": writer.sentence(),
            "evidence": writer.sentence(),
            "timestamp": f"{day.isoformat()}T12:00:00Z",
            "status": "active",
            "category": chance.choice(("decision", "bug", "code", "configuration")),
        }
        for number in range(chance.randint(3, 12))
    ]
    text = json.dumps({"facts": facts}, ensure_ascii=False, indent=2)
    return File(f"areas/projects/project-{project:04}/facts.json", text + "\n", day)
