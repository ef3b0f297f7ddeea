"""A token budget, filled with parts by importance, each whole, at a lower level of detail, or cut.

Tokens are estimated, as for the models (`memtool.text.lines`): one for four ASCII characters, which is the rule of
thumb that vendors give for English, and one for every other character, which is on the safe side for Chinese.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from memtool.named_tuple import NamedTuple
from memtool.recall.limits import MOST_UNITS
from memtool.text.lines import tokens_in
from memtool.text.similarity import is_said, words

# No UTF-16 unit counts for less than a quarter of a token, so a budget of this size keeps below MOST_UNITS as well.
MOST_TOKENS = MOST_UNITS // 4
JOINED = "· "  # begins a line that is shown behind the one before it
SAME = 0.85  # of the words of a line: a line that has so many says the same


class BlockLine(NamedTuple):
    """A line of a part, defused.

    Args:
        text: as it is shown.
        ref: the path it comes from, with its lines where it is one of many there.
        where: what the path of its part leaves open, such as `lines 22-35`.
        key: of the memory that it gives, as ledgers and counts know it; empty for a line of a page.
        said: what it says in its note, where *text* shows it with something around it.
        id: the short id by which it can be forgotten (`memtool.recall.framing.line_id`).
        when: it was said, local time: `2026-11-22 14:09`; empty if nobody knows.
        author: one of `memtool.vault.memory.AUTHORS`, where that is known.
        category: of a fact.
        note: what is to be known of it besides, such as what contradicts it; *text* says it, too.
    """

    text: str
    ref: str
    where: str = ""
    key: str = ""
    said: str = ""
    id: str = ""
    when: str = ""
    author: str = ""
    category: str = ""
    note: str = ""

    def __str__(self) -> str:
        about = " ".join(filter(None, (self.id, self.where)))
        return f"{self.text} [{about}]" if about else self.text


class BlockPart(NamedTuple):
    """Lines that belong together.

    Args:
        title: what they are, defused.
        path: where they come from; a folder ends in a slash.
        date: of the file, if it has one.
        share: of the budget, which it may fill whatever else there is.
        levels: the lines at each level of detail, most detailed first. The last level may be cut.
        made_for: returns the lines for so many tokens, of a part that can be made to any size; it has one level, which
            only says what there is to know.
        shortened: whether this is not all of it.
        left_out: how many lines, each of which stands for itself, were left out.
        more: the line that counts those (`{count}`) and names the command that shows them.
        when_cut: what is said where this is not all of it.
        kind: one of `memtool.settings.sections.KINDS`.
    """

    title: str
    path: str
    date: str
    share: float
    levels: tuple[tuple[BlockLine, ...], ...]
    made_for: Callable[[int], tuple[BlockLine, ...]] | None = None
    shortened: bool = False
    left_out: int = 0
    more: str = ""
    when_cut: str = "shortened"
    kind: str = ""

    @property
    def lines(self) -> tuple[BlockLine, ...]:
        """The lines at the highest level of detail that is left."""
        return self.levels[0]


def fit(parts: Sequence[BlockPart], budget: int) -> list[BlockPart]:
    """Return as many of *parts*, most important first, as fit into *budget* tokens, each at one level.

    Every part may fill its share, and has room for its first line if that can be; what is left over goes to the most
    important ones.
    """
    shares = [int(part.share * budget) for part in parts]
    # A part that can be made to any size fills its share.
    rooms = [
        share if part.made_for else _cost_of(_fitted(part, share)) for part, share in zip(parts, shares, strict=True)
    ]
    left = budget - sum(rooms)
    for at, part in enumerate(parts):
        first = cost(part._replace(levels=(part.levels[-1][:1],), left_out=1))  # with the line that counts the others
        if not rooms[at] and first <= left:
            rooms[at] = first
            left -= first
    chosen = []
    for part, room in zip(parts, rooms, strict=True):
        chosen.append(_fitted(part, room + left))
        left += room - _cost_of(chosen[-1])
    return [part for part in chosen if part]


def render(part: BlockPart) -> str:
    """Return *part* as Markdown: a heading that says where the lines come from, and the lines."""
    about = ", ".join(filter(None, (part.path, part.date, part.when_cut if part.shortened else "")))
    more = [f"- {part.more.replace('{count}', str(part.left_out))}"] if part.left_out else []
    return "\n".join([f"## {part.title} ({about})", *map(str, part.lines), *more]).replace(f"\n{JOINED}", f" {JOINED}")


def cost(part: BlockPart) -> int:
    """Return how many tokens *part* takes at most, with the empty line above it."""
    return tokens_in(f"\n\n{render(part._replace(levels=((),)))}") + sum(map(_cost_of_line, part.lines))


def _cost_of(part: BlockPart | None) -> int:
    return cost(part) if part else 0


def _cost_of_line(line: BlockLine) -> int:
    return tokens_in(f"\n{line}")


def _fitted(part: BlockPart, room: int) -> BlockPart | None:
    """Return *part* at the highest level that takes at most *room* tokens, else the beginning of the last level."""
    if part.made_for:
        part = part._replace(levels=(part.made_for(room - cost(part._replace(levels=((),)))),))
        if not part.lines:
            return None
    for level, lines in enumerate(part.levels):
        whole = part._replace(levels=(lines,), shortened=part.shortened or level > 0)
        if cost(whole) <= room:
            return whole
    return _cut(part._replace(levels=part.levels[-1:], shortened=True), room)


def _cut(part: BlockPart, room: int) -> BlockPart | None:
    left = room - cost(part._replace(levels=((),), left_out=len(part.lines)))
    count = 0
    for line in part.lines:
        left -= _cost_of_line(line)
        if left < 0:
            break
        count += 1
    while count and part.lines[count - 1].text.startswith("> #"):  # a heading with nothing below it
        count -= 1
    if not count:
        return None
    left_out = len(part.lines) - count if all(line.text.startswith("- ") for line in part.lines) else 0
    return part._replace(levels=(part.lines[:count],), left_out=part.left_out + left_out)


def said_once(
    parts: Iterable[BlockPart], said: Sequence[frozenset[str]], shown: Iterable[frozenset[str]]
) -> Iterator[BlockPart]:
    """Give *parts* with what several lines say only once, in the first of them.

    What the client reads by itself, *said*, and what is *shown* word by word are left out. Notes and sessions are left
    as they are.
    """
    told = list(shown)
    for part in parts:
        if not _is_list(part):
            yield part
            continue
        kept = []
        for line in part.lines:
            own = words(line.said)
            if not (is_said(own, told, 1.0) or is_said(own, said, SAME)):
                kept.append(line)
                told.append(own)
        if kept:
            yield part._replace(levels=(tuple(kept),))


def first_lines(parts: Sequence[BlockPart], most: int) -> list[BlockPart]:
    """Return *parts* with at most *most* lines in all lists: each gets one in turn, the most important ones first."""
    room = [0] * len(parts)
    while most > 0:
        waiting = [at for at, part in enumerate(parts) if _is_list(part) and room[at] < len(part.lines)][:most]
        if not waiting:
            break
        for at in waiting:
            room[at] += 1
        most -= len(waiting)
    kept = []
    for part, count in zip(parts, room, strict=True):
        if _is_list(part):
            left_out = part.left_out + len(part.lines) - count
            part = part._replace(levels=(part.lines[:count],), left_out=left_out)  # noqa: PLW2901
        if part.lines:
            kept.append(part)
    return kept


def _is_list(part: BlockPart) -> bool:
    return not part.made_for and len(part.levels) == 1 and all(line.text.startswith("- ") for line in part.lines)
