"""The hits of a search as a person reads them: each memory once, with its place and the statements that answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from memtool.cli.output import columns, printable, shortened, wrapped
from memtool.recall.answers.answer import MemoryAnswer
from memtool.recall.answers.found import in_words
from memtool.vault.authors import IMPORTED
from memtool.vault.memory import Found

_LONGEST_TITLE = 90  # columns
_MOST_LINES = 12  # of one statement on a narrow terminal
_SESSION = re.compile(r"(?P<start>(?:archive/)?sessions/[0-9a-f]{8})[0-9a-f-]{12,}\.md")


def title_of(answer: MemoryAnswer, room: int) -> tuple[str, str]:
    """Return the title of a memory, and how likely it answers, for one line of *room* columns."""
    fits = in_words(answer.likelihood) if answer.likelihood < 1 else ""
    about = f"  ({fits})" if fits else ""
    return shortened(printable(answer.title), min(room - len(about), _LONGEST_TITLE)), about


def place_of(hit: Found, answer: MemoryAnswer, room: int) -> tuple[str, ...]:
    """Return where *hit* is found, and what it is, on one line of *room* columns if it fits."""
    return _place(hit, answer, _about(hit), room)


def statement_lines(said: str, room: int) -> Iterator[str]:
    """Give the lines of *room* columns of one statement, a bullet before the first."""
    for number, part in enumerate(wrapped(said, room - 2, _MOST_LINES)):
        yield f"{'- ' if number == 0 else '  '}{part}"


def short_path(path: str) -> str:
    """Return *path*, with the id of a session shortened: `sessions/ef299174…`."""
    match = _SESSION.fullmatch(path)
    return f"{match['start']}…" if match else path


def _place(hit: Found, answer: MemoryAnswer, about: list[str], room: int) -> tuple[str, ...]:
    """Return where *hit* is found and what it is, on one line if need be without what the path says anyway."""
    memory = hit.memory
    numbers = [line.number for line in answer.statements if line.number and not memory.fact_id]
    lines = f":{min(numbers)}-{max(numbers)}" if numbers else f":{memory.place.start_line}-{memory.place.end_line}"
    if hit.turn:
        lines = f"  turn {hit.turn}"
    path = short_path(memory.path)
    name = f"…/{path.rpartition('/')[2]}"
    for place in (path, name):
        for parts in (about, [part for part in about if not _says(place, part)]):
            line = "  ".join([f"{place}{lines}", *parts])
            if columns(line) <= room:
                return (line,)
    place = path if columns(f"{path}{lines}") <= room else name
    return tuple(shortened(line, room) for line in (f"{place}{lines}", "  ".join(about)) if line)


def _says(path: str, part: str) -> bool:
    folders = path.split("/")
    return part in folders or f"{part}s" in folders or folders[-1].startswith(f"{part}-")


def _about(hit: Found) -> list[str]:
    memory = hit.memory
    by = memory.author and memory.author != IMPORTED and f"by {memory.author}"
    newer = hit.why.get("contradicted")
    doubt = newer and f"contradicted by what was said on {newer}"
    return [part for part in (memory.date, memory.project, memory.kind, by, doubt) if part]


def reasons(hit: Found, answer: MemoryAnswer) -> Iterator[str]:
    """Give sentences that say why *hit* has its place."""
    why = hit.why
    if answer.likelihood < 1:
        yield f"Of 100 such hits, about {round(100 * answer.likelihood)} answer."
    if words := why.get("bm25"):
        yield f"By words it is number {words['rank']}, with {words['score']:.1f} points (BM25){_added(words)}."
        yield from (sentence for name, sentence in _FACTORS.items() if words.get(name))
    if meaning := why.get("vector"):
        yield f"By meaning it is number {meaning['rank']}, with a likeness of {meaning['score']:.2f}."
    if "by_words" in why:
        yield f"Of its score, {why['by_words']:.2f} is due to words and {why['by_meaning']:.2f} to meaning."
    if turn := why.get("transcript"):
        yield f"No note holds as much: turn {hit.turn} of the session holds {turn['covered']:.0%} of the question."
    if why.get("author"):
        yield f"It is the word of: {why['author']}."
    if uses := why.get("uses"):
        yield f"It was used {'once' if uses == 1 else f'{uses} times'} before."


_ADDED = {
    "note": "for the rest of the note",
    "pairs": "for words side by side",
    "named": "for a name or phrase found whole",
}
_FACTORS = {
    "characters": "It has more of the single characters of the query, too.",
    "people": "It has a name of a person or place in the query.",
    "dated": "It is of a day that the query names, or shortly after.",
    "completed": "Only a word that was completed found it.",
}


def _added(words: Mapping[str, Any]) -> str:
    added = [f"{words[name]:.1f} {reason}" for name, reason in _ADDED.items() if words.get(name)]
    return f", and {', '.join(added)}" if added else ""
