"""The text of `rules/memory-loader.md`: rows by hand, and a part that is generated from the areas' triggers. All pure.

The generated part stands between two marks. The first one carries a checksum, so that rows which somebody wrote into
that part are known, and move out of it instead of getting lost.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple
from zlib import crc32

from memtool.recall import limits
from memtool.text.lines import newline_of
from memtool.text.markdown import in_code
from memtool.text.merging import Clean, lines_of, merge_lines

LOADER = "rules/memory-loader.md"

_HEADER = ("| Trigger | Read |", "| --- | --- |")
_BEGIN = "<!-- memtool begin {}: from the triggers in the areas' front matter, by `memtool route --update` -->"
_END = "<!-- memtool end -->"
_IS_BEGIN = re.compile(r"<!-- memtool begin ([0-9a-f]{8}):[^\n]*-->\s*")
_CELL_END = re.compile(r"(?<!\\)\|")
_LINK_OR_COMMA = re.compile(r"(\[[^\]\[]*\]\([^()]*\)|[,，、])")
_PLAIN = re.compile(r"[^\W_](?:[^\W_]|[ ./-])*")


class TableRow(NamedTuple):
    """One line of a table: when a trigger comes up, the files are worth reading. *line* counts from 1."""

    triggers: tuple[str, ...]
    refs: tuple[str, ...]
    line: int = 0


class _GeneratedPart(NamedTuple):
    """The lines from one mark to the other, as `lines[begin:end]`, and the checksum that the first one carries."""

    begin: int
    end: int
    checksum: str


def hand_rows(text: str) -> list[TableRow]:
    """Return the rows of all tables in *text* that are written by hand, also those that say nothing of use."""
    lines = text.split("\n")
    generated = {at for part in _parts(lines) for at in range(part.begin, part.end)}
    return [_row(lines[at], at + 1) for at in _row_places(lines) if at not in generated]


def with_rows(text: str, rows: Sequence[TableRow]) -> str:
    """Return *text* with a generated part that says *rows*, and every byte kept that is not generated.

    The part stays where it is; without one it is added at the end, if there are rows at all. Lines of it that are not
    as memtool wrote them stand above it afterwards, except for what the new rows say as well.
    """
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    parts = _parts(lines)
    if not parts:
        return text + _gap(text) + _rendered(rows, newline_of(text)) if rows else text
    kept: list[str] = []
    at = 0
    for part in parts:
        kept += lines[at : part.begin] + _of_others(lines[part.begin : part.end], part.checksum, rows)
        kept += [_rendered(rows, newline_of(text), lines[part.end - 1])] if part is parts[0] else []
        at = part.end
    return "".join([*kept, *lines[at:]])


def fitting(text: str, rows: Sequence[TableRow], largest: int) -> list[TableRow]:
    """Return the first of *rows*, as many as `with_rows` can write into *text* within *largest* bytes."""
    room = largest - _size(with_rows(text, ())) - limits.TABLE_FRAME
    ends = accumulate(_size(_line(row)) + 2 for row in rows)
    return [row for row, end in zip(rows, ends, strict=True) if end <= room]


def merge_tables(base: str, ours: str, theirs: str) -> str:
    """Return the table with the rows of both sides: those by hand are kept, and the generated ones sorted.

    The next update generates them anew from the triggers that the areas then have.
    """
    first, second = sorted((ours, theirs))
    lines: list[str] = []
    for part in merge_lines(*(lines_of(with_rows(text, ())) for text in (base, first, second))):
        kept = part.lines if isinstance(part, Clean) else (*part.ours, *part.theirs)
        lines += [line if line.endswith("\n") else f"{line}\n" for line in kept]
    rows = {row[:2] for text in (ours, theirs) for row in _generated(text)}
    gone = {row[:2] for row in _generated(base)}
    for text in (ours, theirs):
        rows -= gone - {row[:2] for row in _generated(text)}
    return with_rows("".join(lines), [TableRow(*row) for row in sorted(rows)])


def _generated(text: str) -> list[TableRow]:
    """Return the rows of the generated part."""
    lines = text.split("\n")
    return [_row(lines[at], 0) for at in _row_places(lines) for part in _parts(lines) if part.begin <= at < part.end]


def code(text: str) -> str:
    """Return *text* as a Markdown code span, which a table may hold."""
    ticks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    padding = " " if "`" in text else ""
    return f"{ticks}{padding}{text}{padding}{ticks}".replace("|", r"\|")


def _rendered(rows: Sequence[TableRow], newline: str, last: str = "\n") -> str:
    body = [*_HEADER, *map(_line, rows)] if rows else []
    end = _END + (newline if last.endswith(("\n", "\r")) else "")
    return newline.join([_BEGIN.format(_checksum(body)), *body, end])


def _line(row: TableRow) -> str:
    triggers = ", ".join(one if _PLAIN.fullmatch(one) else code(one) for one in row.triggers)
    return f"| {triggers} | {', '.join(one if _PLAIN.fullmatch(one) else code(one) for one in row.refs)} |"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _of_others(part: list[str], checksum: str, rows: Sequence[TableRow]) -> list[str]:
    """Return the lines of a generated *part* that somebody else wrote and that *rows* do not say."""
    body = part[1:-1]
    if _checksum(body) == checksum:
        return []
    said = {(row.triggers, row.refs) for row in rows}
    ours = {at for at in _row_places(body) if _row(body[at], at)[:2] in said}
    # What every table of ours has, in any width: the header, the rule below it, or nothing.
    plain = map(str.strip, body)
    ours |= {at for at, line in enumerate(plain) if not line or _is_rule(line) or _row(line, 0) == _row(_HEADER[0], 0)}
    return [line for at, line in enumerate(body) if at not in ours]


def _checksum(lines: Iterable[str]) -> str:
    # Line ends are left out: git may change them.
    return f"{crc32(chr(10).join(line.rstrip() for line in lines).encode('utf-8', 'replace')):08x}"


def _parts(lines: Sequence[str]) -> list[_GeneratedPart]:
    """Return the generated parts: from a first mark to the last one that follows it, without another in between."""
    parts: list[_GeneratedPart] = []
    begin: tuple[int, str] | None = None
    for at, line in enumerate(lines):
        if mark := _IS_BEGIN.fullmatch(line):
            begin = at, mark[1]
        elif begin and line.rstrip() == _END:
            parts.append(_GeneratedPart(begin[0], at + 1, begin[1]))
            begin = None
    return parts


def _row_places(lines: Sequence[str]) -> Iterator[int]:
    """Give the positions of the rows of all tables in *lines*, without headers; what stands in fenced code is none."""
    for at, (line, is_code) in enumerate(zip(lines, in_code(lines), strict=True)):
        if not is_code and line.lstrip().startswith("|") and not any(map(_is_rule, lines[at : at + 2])):
            yield at


def _is_rule(line: str) -> bool:
    return line.lstrip().startswith("|") and "-" in line and not line.strip("|:- \t\r\n")


def _row(line: str, number: int) -> TableRow:
    cells = _CELL_END.split(line.strip()[: limits.LONGEST_TEXT].removeprefix("|"))
    triggers, refs = ([*map(_items, cells), (), ()])[:2]
    return TableRow(tuple(text for text, _ in triggers), tuple(_ref(*item) for item in refs), number)


def _items(cell: str) -> list[tuple[str, bool]]:
    """Return the items of a cell, and whether each is the target of a link. A comma in a code span does not cut."""
    items = [("", False)]
    for part, is_code in _spans(cell.replace(r"\|", "|")):
        for piece in [part] if is_code else _LINK_OR_COMMA.split(part):
            text, is_link = items[-1]
            if is_code or piece not in tuple(",，、"):
                link = not is_code and _LINK_OR_COMMA.fullmatch(piece) is not None
                items[-1] = (text + (piece.partition("](")[2][:-1] if link else piece), is_link or link)
            else:
                items.append(("", False))
    return [(" ".join(text.split()), is_link) for text, is_link in items if text.strip()]


def _spans(cell: str) -> Iterator[tuple[str, bool]]:
    """Give the parts of a cell, and whether each is what a code span holds."""
    parts = re.split("(`+)", cell)
    at = 0
    while at < len(parts):
        ticks = parts[at]
        end = parts.index(ticks, at + 1) if ticks.startswith("`") and ticks in parts[at + 1 :] else 0
        yield ("".join(parts[at + 1 : end]), True) if end else (ticks, False)
        at = max(at, end) + 1


def _ref(text: str, is_link: bool) -> str:
    """Return the path that a cell names, relative to the vault. A link is relative to the table's own folder."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(LOADER), text) if is_link else text)


def _gap(text: str) -> str:
    newline = newline_of(text)
    missing = "" if not text or text.endswith("\n") else newline
    return missing + ("" if not text or (text + missing).endswith(newline * 2) else newline)
