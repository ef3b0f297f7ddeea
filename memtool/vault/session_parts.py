"""A session note in blocks: fields of the front matter, lines of the header, sections, and what is none of these.

A section is in turn a list of items, which are told apart by what they say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import count, pairwise
from typing import NamedTuple

from memtool.text.frontmatter import split_front_matter
from memtool.text.markdown import closes, opening
from memtool.vault.old_sessions import HEADER, SECTIONS, read_line

_LABEL = re.compile(r"(\d+)(\. \*\*[^*]+\*\*[:：])")
BULLET = re.compile(r"(\s+)[-*+] +")
_CLOSING = {"`": "`", '"': '"', "[": "]", "(": ")"}
_FIELD = re.compile(r"(?![\s#]|-(?:\s|$))([^:]+):(?:\s|$)")


class NoteBlock(NamedTuple):
    """Lines that belong together.

    Args:
        key: `matter:<field>`, `title:session`, `header:<name>`, `rule` or `section:<name>`; empty for anything else.
        lines: without their line feeds.
    """

    key: str
    lines: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The key without the name."""
        return self.key.split(":", 1)[0]


class NoteItem(NamedTuple):
    """One item of a section, or in a list on one line. *says* is its text without layout."""

    says: str
    lines: tuple[str, ...]
    is_inline: bool = False


class Parts(NamedTuple):
    """A note in blocks. *matter* is its front matter with the lines around it, empty for a note without."""

    matter: list[NoteBlock]
    body: list[NoteBlock]


def split_session(text: str) -> Parts:
    """Return *text*, without a byte order mark, in blocks; their lines, joined by line feeds, are the text again."""
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    start = split_front_matter(text)[1] - 1
    matter = _matter_blocks(lines[:start])
    if not any(block.key for block in matter):  # prose between two rules
        return Parts([], _body_blocks(lines))
    return Parts(matter, _body_blocks(lines[start:]))


def _matter_blocks(lines: Sequence[str]) -> list[NoteBlock]:
    """Return the front matter *lines* as blocks: one for each field, with the lines on which its value goes on."""
    blocks: list[NoteBlock] = []
    seen: set[str] = set()
    fields = [(at, f"matter:{match[1].strip()}") for at, line in enumerate(lines) if (match := _FIELD.match(line))]
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


def _body_blocks(lines: Sequence[str]) -> list[NoteBlock]:
    blocks: list[NoteBlock] = []
    seen: set[str] = set()
    quoted = _quoted_lines(lines)
    at = 0
    while at < len(lines):
        key = "" if quoted[at] else _key(lines, at, seen)
        end = _end_of_section(lines, at, quoted) if key.startswith("section:") else at + 1
        blocks.append(NoteBlock(key, tuple(lines[at:end])))
        seen.add(key)
        at = end
    return blocks


def _key(lines: Sequence[str], at: int, seen: set[str]) -> str:
    """Return the key of the part that begins at line *at*; a second one of the same kind is the owner's."""
    part, name, _ = read_line(lines[at].rstrip())
    in_sections = any(key.startswith("section:") for key in seen)
    if part == "section" and name in SECTIONS:
        key = f"section:{name}"
    elif in_sections:
        return ""
    elif part == "title" or (part == "header" and name in HEADER):
        key = f"{part}:{name}"
    else:
        is_rule = lines[at].strip() == "---" and any(seen) and not lines[at - 1].strip()
        key = "rule" if is_rule else ""
    return "" if key in seen else key


def _quoted_lines(lines: Sequence[str]) -> list[bool]:
    """Return for each line whether it is within code or a comment that began above it."""
    quoted, closing = [], ""
    for line in lines:
        quoted.append(bool(closing))
        text = line.strip()
        if closing:
            is_closed = "-->" in text if closing == "-->" else closes(line, closing)
            closing = "" if is_closed else closing
        elif marks := opening(line):
            closing = marks
        elif text.startswith("<!--") and "-->" not in text:
            closing = "-->"
    return quoted


def _end_of_section(lines: Sequence[str], start: int, quoted: Sequence[bool]) -> int:
    """Return the line after the section that begins at *start*: all that is indented belongs to it."""
    end = at = start + 1
    while at < len(lines) and (quoted[at] or not lines[at].strip() or lines[at][0] in " \t"):
        at += 1
        if lines[at - 1].strip():
            end = at
    return end


def items_in(section: NoteBlock | None) -> list[NoteItem]:
    """Return the items of *section*, those on the line of its label first; none of no section."""
    if section is None:
        return []
    value = section.lines[0][len(_label(section)) :].strip()
    inline = listed_items(value) if section.key == "section:files" else [NoteItem(value, (value,), is_inline=True)]
    groups: list[list[str]] = []
    indent = 0
    for line in section.lines[1:]:
        bullet = BULLET.match(line)
        if not groups or (bullet and len(bullet[1]) <= indent):
            groups.append([line])
            indent = len(bullet[1]) if bullet else 0
        else:
            groups[-1].append(line)
    return [*(item for item in inline if item.says), *(NoteItem(says_of(group), tuple(group)) for group in groups)]


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
    return [NoteItem(says_of([part]), (part,), is_inline=True) for part in parts if part]


def with_items(section: NoteBlock, items: Sequence[NoteItem]) -> NoteBlock:
    """Return *section* with other *items*: files, and a single item, on the line of the label."""
    cr = "\r" if section.lines[0].endswith("\r") else ""
    on_line = [item for item in items if item.is_inline]
    if section.key != "section:files" and len(items) > 1:
        on_line = []
    head = " ".join(filter(None, [_label(section), ", ".join(item.lines[0] for item in on_line)]))
    below = [item for item in items if item not in on_line]
    bullets = [line for item in below for line in ([f"   - {item.lines[0]}{cr}"] if item.is_inline else item.lines)]
    return NoteBlock(section.key, (head + cr, *bullets))


def numbered(blocks: Iterable[NoteBlock]) -> list[NoteBlock]:
    """Return *blocks* with the sections of the format numbered from 1."""
    numbers = count(1)
    return [
        NoteBlock(block.key, (_LABEL.sub(rf"{next(numbers)}\2", block.lines[0], count=1), *block.lines[1:]))
        if block.kind == "section"
        else block
        for block in blocks
    ]


def _label(section: NoteBlock) -> str:
    match = _LABEL.match(section.lines[0])
    return match[0] if match else ""


def label_of(section: NoteBlock) -> str:
    """Return the label of *section* without its number."""
    return _label(section).lstrip("0123456789")


def says_of(lines: Iterable[str]) -> str:
    """Return the text of *lines* without their layout."""
    return BULLET.sub("", " " + " ".join(" ".join(lines).split()), count=1).strip()
