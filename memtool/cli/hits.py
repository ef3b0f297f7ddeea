"""A hit of a search as text for a person: its title, its place, the statements that answer, the reasons of its rank."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtool.cli.output import columns, printable, shortened, wrapped
from memtool.recall.answers.found import in_words
from memtool.vault.memory import IMPORTED, Found

_SESSION = re.compile(r"(?P<start>(?:archive/)?sessions/[0-9a-f]{8})[0-9a-f-]{12,}\.md")


def title_of(hit: Found, room: int) -> tuple[str, str]:
    """Return the title of a memory, and how likely it answers, for one line of *room* columns."""
    fits = in_words(hit.likelihood) if hit.likelihood < 1 else ""
    about = f"  ({fits})" if fits else ""
    return shortened(printable(hit.memory.title), min(room - len(about), 90)), about


def place_of(hit: Found, room: int) -> tuple[str, ...]:
    """Return the place of *hit*, its date, project and kind, on one line, if need be without what the path says."""
    memory = hit.memory
    by = memory.author and memory.author != IMPORTED and f"by {memory.author}"
    newer = hit.why.get("contradicted")
    doubt = newer and f"contradicted by a fact of {newer}"
    about = [part for part in (memory.date, memory.project, memory.kind, by, doubt) if part]
    numbers = [line.number for line in hit.statements if line.number and not memory.fact_id]
    lines = f":{min(numbers)}-{max(numbers)}" if numbers else f":{memory.place.start_line}-{memory.place.end_line}"
    if hit.turn:
        lines = f"  turn {hit.turn}"
    path = short_path(memory.path)
    name = f"…/{path.rpartition('/')[2]}"
    for place in (path, name):
        for parts in (about, [part for part in about if not _names(place, part)]):
            line = "  ".join([f"{place}{lines}", *parts])
            if columns(line) <= room:
                return (line,)
    place = path if columns(f"{path}{lines}") <= room else name
    return tuple(shortened(line, room) for line in (f"{place}{lines}", "  ".join(about)) if line)


def statement_lines(statement: str, room: int) -> Iterator[str]:
    """Give the lines of *room* columns of one statement, a bullet before the first."""
    for number, part in enumerate(wrapped(statement, room - 2, 12)):
        yield f"{'- ' if number == 0 else '  '}{part}"


def short_path(path: str) -> str:
    """Return *path*, with the id of a session shortened: `sessions/ef299174…`."""
    match = _SESSION.fullmatch(path)
    return f"{match['start']}…" if match else path


def _names(path: str, part: str) -> bool:
    folders = path.split("/")
    return part in folders or f"{part}s" in folders or folders[-1].startswith(f"{part}-")


def reasons(hit: Found) -> Iterator[str]:
    """Give sentences that explain the rank of *hit*."""
    why = hit.why
    if hit.likelihood < 1:
        yield f"About {round(100 * hit.likelihood)} of 100 hits like this one answer the query."
    if words := why.get("bm25"):
        added = [f"{words[name]:.1f} {reason}" for name, reason in _ADDED.items() if words.get(name)]
        more = f", and {', '.join(added)}" if added else ""
        yield f"By words it is number {words['rank']}: {words['score']:.1f} points (BM25){more}."
        yield from (sentence for name, sentence in _FACTORS.items() if words.get(name))
    if meaning := why.get("vector"):
        yield f"By meaning it is number {meaning['rank']}: similarity {meaning['score']:.2f}."
    if "by_words" in why:
        yield f"Of its score, {why['by_words']:.2f} comes from words and {why['by_meaning']:.2f} from meaning."
    if turn := why.get("transcript"):
        yield f"No note matches as well: turn {hit.turn} of the session holds {turn['covered']:.0%} of the query."
    if why.get("author"):
        yield f"Stated by: {why['author']}."
    if uses := why.get("uses"):
        yield f"It was used {'once' if uses == 1 else f'{uses} times'} before."


_ADDED = {"note": "for the rest of the note", "pairs": "for adjacent words", "named": "for a whole name or phrase"}
_FACTORS = {
    "characters": "It also holds more single characters of the query.",
    "people": "It holds a name of a person or place in the query.",
    "dated": "Its date is a day that the query names, or shortly after.",
    "completed": "It was found only after a word of the query was completed.",
}
