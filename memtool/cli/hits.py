"""The hits of a search as a person reads them: each title once, and places that fit on a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memtool.cli.output import columns, shortened
from memtool.index.search import TURN, Hit
from memtool.vault.authors import IMPORTED

LINES = 3  # of a snippet
_SESSION = re.compile(r"(?P<start>(?:archive/)?sessions/[0-9a-f]{8})[0-9a-f-]{12,}\.md")


class ShownHit(NamedTuple):
    """A hit, with the title and place that are printed above its snippet. A repeated title is empty."""

    title: str
    place: tuple[str, ...]
    hit: Hit


def entries(hits: Iterable[Hit], room: int) -> Iterator[ShownHit]:
    """Give *hits* grouped by title, the best group first; each line of a place has *room* columns."""
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.title, []).append(hit)
    for title, group in groups.items():
        shown: set[tuple[str, ...]] = set()
        for hit in group:
            section, about = _section(hit), _about(hit)
            heading = f" > {section}" if section and not shown else ""
            below = [f"> {section}"] if section and shown else []
            parts = [*below, *([] if (hit.path, *about) in shown else about)]
            yield ShownHit(f"{title}{heading}" if not shown else "", _place(hit, parts, room), hit)
            shown.add((hit.path, *about))


def short_path(path: str) -> str:
    """Return *path*, with the id of a session shortened: `sessions/ef299174…`."""
    match = _SESSION.fullmatch(path)
    return f"{match['start']}…" if match else path


def _place(hit: Hit, about: list[str], room: int) -> tuple[str, ...]:
    """Return where *hit* is found and what it is, on one line if need be without what the path says anyway."""
    lines = f"  turn {hit.turn}" if hit.turn else f":{hit.start_line}-{hit.end_line}"
    path = short_path(hit.path)
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


def _section(hit: Hit) -> str:
    below = hit.heading.rsplit(" > ", 1)[-1]  # of a session, its title once more
    return "" if hit.kind in ("session", TURN) or hit.heading.endswith(hit.title) else below


def _about(hit: Hit) -> list[str]:
    by = hit.author and hit.author != IMPORTED and f"by {hit.author}"
    newer = hit.why.get("contradicted")
    doubt = newer and f"contradicted by what was said on {newer}"
    return [part for part in (hit.date, hit.project, hit.kind, by, doubt) if part]
