"""The parser of session notes: a note in blocks, which are fields of the front matter, title, sections, and all else.

All that reads a session note reads these blocks: `sessions` the statements in them, `hand_edits` their items. The lines
of all blocks are the text again. A section is in turn a list of items, which differ by what they say; below an item its
nested bullets are items of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from memtool.named_tuple import NamedTuple
from memtool.text.frontmatter import split_front_matter
from memtool.vault.session_text import joined_lines, quoted_lines, read_line

_BULLET = r"(\s*)[-*+] +"
_CLOSING = {"`": "`", '"': '"', "[": "]", "(": ")"}
_FIELD = r"(?![\s#]|-(?:\s|$))([^:]+):(?:\s|$)"
_TAIL = ("files", "links")
_ASIDE = (" ", "\t", "<!--")
_ONCE = ("title", "asked", *_TAIL)  # parts that a note has once


class NoteBlock(NamedTuple):
    """Lines that belong together.

    Args:
        key: `matter:<field>`, `title`, `summary`, `asked`, `section:<name>`, `files` or `links`; empty for anything
            else, and for a second part of the same kind, which its owner has written.
        lines: without their line feeds.
        part: the key, also of a second part of its kind, without the name of a section.
        number: of its first line in the note, from 1; 0 for a block that was not read from one.
        text: of its first line, without the signs of its part; of a section, its name.
    """

    key: str
    lines: tuple[str, ...]
    part: str = ""
    number: int = 0
    text: str = ""

    @property
    def kind(self) -> str:
        """The key without the name."""
        return self.key.split(":", 1)[0]

    @property
    def name(self) -> str:
        """The name of a field or a section."""
        return self.key.partition(":")[2]


class NoteItem(NamedTuple):
    """One item of a section, or in a list on one line. *says* is its text without layout.

    What is no bullet is an item, too: it stays where its owner put it. *below* are the bullets nested in it.
    """

    says: str
    lines: tuple[str, ...]
    below: tuple[NoteItem, ...] = ()

    @property
    def is_bullet(self) -> bool:
        """Whether it is a bullet."""
        return re.match(_BULLET, self.lines[0]) is not None


class Parts(NamedTuple):
    """A note in blocks. *matter* is its front matter with the lines around it, empty for a note without."""

    matter: list[NoteBlock]
    body: list[NoteBlock]


def split_session(text: str) -> Parts:
    """Return *text*, without a byte order mark, in blocks; their lines, joined by line feeds, are the text again."""
    text = text.removeprefix("\ufeff")
    body = list(body_blocks(text))
    above = text.split("\n")[: body[0].number - 1]
    return Parts(_matter_blocks(above) if above else [], body)


def body_blocks(text: str) -> Iterator[NoteBlock]:
    """Give the blocks of *text* below its front matter; all of it, if what begins like one is prose between rules."""
    lines, start = text.split("\n"), split_front_matter(text)[1] - 1
    if not any(re.match(_FIELD, line) for line in lines[:start]):
        start = 0
    yield from _body_blocks(lines[start:], start + 1)


def _matter_blocks(lines: Sequence[str]) -> list[NoteBlock]:
    """Return the front matter *lines* as blocks: one for each field, with the lines on which its value goes on."""
    blocks: list[NoteBlock] = []
    seen: set[str] = set()
    fields = [(at, f"matter:{match[1].strip()}") for at, line in enumerate(lines) if (match := re.match(_FIELD, line))]
    starts = [(0, ""), *fields]
    for (start, key), (stop, _) in zip(starts, [*fields, (len(lines), "")], strict=True):
        end = start
        if key:
            end = stop
            while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith(("#", "---"))):
                end -= 1  # comments, empty lines and the closing fence are not part of the field above them
            blocks.append(NoteBlock("" if key in seen else key, tuple(lines[start:end])))
            seen.add(key)
        blocks += [NoteBlock("", (line,)) for line in lines[end:stop]]
    return blocks


def _body_blocks(lines: Sequence[str], number: int) -> Iterator[NoteBlock]:
    quoted = quoted_lines(lines)
    seen: set[str] = set()
    at, is_head, is_below, summary_end = 0, True, False, 0
    while at < len(lines):
        line = lines[at].rstrip()
        if quoted[at] or not line:
            yield NoteBlock("", (lines[at],), "", number + at)
            at += 1
            continue
        part, name, said = read_line(line)
        key, end = part if part in _ONCE else "", at + 1
        if part == "section":
            key, said, end = f"section:{name}", name, _end_of_section(lines, at, quoted)
        elif part in ("title", "asked") and is_below:
            key = ""
        elif part == "text" and is_head and (summary_end == at or not (summary_end or line.startswith(_ASIDE))):
            key = "summary" if "title" in seen and not summary_end else ""
            part, summary_end = "summary", end
        elif key == "title":
            summary_end = 0
        is_below = is_below or part == "section" or part in _TAIL
        is_head = is_head and not is_below and part != "heading"
        yield NoteBlock("" if key in seen else key, tuple(lines[at:end]), part, number + at, said)
        seen.add(key)
        at = end


def _end_of_section(lines: Sequence[str], start: int, quoted: Sequence[bool]) -> int:
    """Return the line after the section that begins at *start*: at the next heading, or the files."""
    end = at = start + 1
    while at < len(lines):
        line = lines[at]
        may_end = line.startswith(("#", "**")) and not quoted[at]  # reading each line would take most of the time
        if may_end and (re.match(r"#{1,6}\s+\S", line) or read_line(line.rstrip())[0] in _TAIL):
            break
        at += 1
        if line.strip():
            end = at
    return end


def items_in(section: NoteBlock | None) -> list[NoteItem]:
    """Return the items of *section*; none of no section."""
    if section is None:
        return []
    lines, quoted = section.lines[1:], quoted_lines(section.lines)[1:]
    groups: list[list[list[str]]] = []  # of each item its own lines, and those of each bullet below it
    for line, is_quoted in zip(lines, quoted, strict=True):
        bullet = None if is_quoted else re.match(_BULLET, line)
        if not groups or (bullet and not bullet[1]):
            groups.append([[line]])
        elif bullet and re.match(_BULLET, groups[-1][0][0]):
            groups[-1].append([line])
        elif is_quoted or not line.strip() or line[0] in " \t" or not re.match(_BULLET, groups[-1][0][0]):
            groups[-1][-1].append(line)
        else:
            groups.append([[line]])
    return [_item(group[0], [_item(lines) for lines in group[1:]]) for group in groups]


def said_lines(block: NoteBlock) -> Iterator[tuple[int, str]]:
    """Give the number and the text of each line of *block* that is no code and no comment; as `joined_lines`."""
    return joined_lines(block.lines, quoted_lines(block.lines), block.number)


def _item(lines: Sequence[str], below: Sequence[NoteItem] = ()) -> NoteItem:
    return NoteItem(says_of(lines), tuple(lines), tuple(below))


def listed_items(value: str) -> list[NoteItem]:
    """Return the items of a list on one line; a comma within code, quotes or a link separates nothing."""
    ends, closing = [-1], ""
    for at, character in enumerate(value):
        if closing:
            closing = "" if character == closing else closing
        elif character in _CLOSING:
            closing = _CLOSING[character]
        elif character == ",":
            ends.append(at)
    parts = [value[start + 1 : end].strip() for start, end in pairwise([*ends, len(value)])]
    return [NoteItem(says_of([part]), (part,)) for part in parts if part]


def with_items(section: NoteBlock, items: Iterable[NoteItem]) -> NoteBlock:
    """Return *section* with other *items*."""
    lines = (line for item in items for each in (item, *item.below) for line in each.lines)
    return NoteBlock(section.key, (section.lines[0], *lines))


def with_parts(text: str, change: Callable[[NoteBlock], NoteBlock | None]) -> str:
    """Return *text* with each part of its body as *change* returns it; the empty line above one that goes, goes too."""
    parts = split_session(text)
    blocks = [*parts.matter, *without_gaps((block, change(block)) for block in parts.body)]
    return ("\ufeff" if text.startswith("\ufeff") else "") + "\n".join(line for each in blocks for line in each.lines)


def without_gaps(pairs: Iterable[tuple[NoteBlock, NoteBlock | None]]) -> list[NoteBlock]:
    """Return the second block of each pair, and without the empty line above those that are None."""
    kept: list[NoteBlock] = []
    for before, after in pairs:
        if after is not None:
            kept.append(after)
        elif before.key and kept and not "".join(kept[-1].lines).strip():
            kept.pop()
    return kept


def says_of(lines: Iterable[str]) -> str:
    """Return the text of *lines* without their layout."""
    return re.sub(_BULLET, "", " " + " ".join(" ".join(lines).split()), count=1).strip()
