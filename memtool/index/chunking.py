"""Chunks: a note cut along its headings, then its paragraphs and bullets, into pieces of about 1000 characters.

A conversation measured best at 800 to 1200 characters; one bullet per chunk and 3200 characters were both worse
(docs/decisions/0006-ranking.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from memtool.text.markdown import closes, heading_text, opening

TARGET = 1000  # characters of a chunk
SMALLEST = 200  # a section shorter than this joins the next one
LONGEST_HEADING = 200  # characters of a heading that go with the chunks below it
LONGEST_BLOCK = 1500  # a single paragraph or line longer than this is cut at a sentence

_HEADING = re.compile(r"(#{1,6})[ \t]+\S")
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_SENTENCE_END = re.compile(r"[.!?。！？；;]\s*|\s")


@dataclass(frozen=True)
class Chunk:
    """A part of a note. Lines count from 1 and include both ends; *heading* is the path of headings above it."""

    text: str
    start_line: int
    end_line: int
    heading: str


class _LineGroup(NamedTuple):
    """Lines that belong together: a heading, a paragraph, a bullet with what hangs below it, a fenced code block."""

    text: str
    start: int
    end: int
    level: int = 0  # 1 to 6 for a heading


def chunk_note(body: str, first_line: int = 1) -> list[Chunk]:
    """Return the chunks of *body*, whose first line is line *first_line* of its file."""
    chunks: list[Chunk] = []
    path: list[tuple[int, str]] = []
    held: list[_LineGroup] = []
    held_heading, size, only_headings = "", 0, True
    for block in _blocks(body.split("\n"), first_line):
        new_section = block.level and size >= SMALLEST
        if held and (new_section or (size + len(block.text) > TARGET and not only_headings)):
            chunks.append(_chunk(held, held_heading))
            held, size, only_headings = [], 0, True
        if block.level:
            path = [(level, text) for level, text in path if level < block.level]
            path.append((block.level, (heading_text(block.text) or block.text)[:LONGEST_HEADING]))
        if only_headings:
            held_heading = " > ".join(text for _, text in path)
        held.append(block)
        size += len(block.text) + 1
        only_headings = only_headings and bool(block.level)
    if held:
        chunks.append(_chunk(held, held_heading))
    return chunks


def pieces_of(text: str) -> list[str]:
    """Return the paragraphs and bullets of a chunk's *text*, if it has several: each gets a vector of its own."""
    pieces = [block.text.strip() for block in _blocks(text.split("\n"), 1) if not block.level]
    return pieces if len(pieces) > 1 else []


def _chunk(blocks: list[_LineGroup], heading: str) -> Chunk:
    parts = [blocks[0].text]
    for before, block in pairwise(blocks):
        has_gap = block.start - before.end > 1
        parts.append(("\n\n" if has_gap else "\n") + block.text)
    return Chunk("".join(parts), blocks[0].start, blocks[-1].end, heading)


def _blocks(lines: list[str], first_line: int) -> Iterator[_LineGroup]:
    start = 0
    while start < len(lines):
        if not lines[start].strip():
            start += 1
            continue
        end = _block_end(lines, start)
        heading = _HEADING.match(lines[start])
        yield from _cut(lines[start:end], first_line + start, len(heading[1]) if heading else 0)
        start = end


def _block_end(lines: list[str], start: int) -> int:
    """Return the line after the block that begins at *start*."""
    end = start + 1
    if marks := opening(lines[start]):
        while end < len(lines) and not closes(lines[end], marks):
            end += 1
        end = min(end + 1, len(lines))
        while not lines[end - 1].strip():  # no mark closes it, so it ends with the text
            end -= 1
        return end
    if _HEADING.match(lines[start]):
        return end
    while end < len(lines) and lines[end].strip() and not _begins_block(lines[end]):
        end += 1
    return end


def _begins_block(line: str) -> bool:
    return bool(_BULLET.match(line) or _HEADING.match(line) or opening(line))


def _cut(lines: list[str], start: int, level: int) -> Iterator[_LineGroup]:
    """Give the block, cut between lines, and within a line only where one line alone is too long."""
    whole = "\n".join(line.rstrip("\r") for line in lines)
    if len(whole) <= LONGEST_BLOCK:  # nearly all are
        yield _LineGroup(whole, start, start + len(lines) - 1, level)
        return
    held: list[tuple[int, str]] = []
    size = 0
    for number, line in enumerate(lines, start):
        for part in _cut_line(line.rstrip("\r")):
            if held and size + len(part) > LONGEST_BLOCK:
                yield _joined(held, level)
                held, size = [], 0
            held.append((number, part))
            size += len(part) + 1
    yield _joined(held, level)


def _joined(parts: list[tuple[int, str]], level: int) -> _LineGroup:
    return _LineGroup("\n".join(text for _, text in parts), parts[0][0], parts[-1][0], level)


def _cut_line(line: str) -> Iterator[str]:
    start = 0
    while len(line) - start > LONGEST_BLOCK:
        ends = [match.end() for match in _SENTENCE_END.finditer(line, start + TARGET // 2, start + TARGET)]
        end = ends[-1] if ends else start + TARGET
        yield line[start:end]
        start = end
    yield line[start:]
