"""The rows that the index stores of a note, and the chunks that it is cut into: pure functions from a file's content.

A note is cut along its headings, then its paragraphs and bullets. Conversations measured best with chunks of 800 to
1,200 characters; one bullet a chunk and 3,200 characters were both worse (docs/decisions/0006-ranking.md).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from memtool.errors import BrokenVaultFile
from memtool.index import limits
from memtool.index.filters import DECISION, SHIPPED, folded_tag
from memtool.index.times import date_words, parse_date
from memtool.resources import shipped
from memtool.text.languages import all_labels
from memtool.text.markdown import closes, heading_text, opening
from memtool.text.tokens import CONTEXT_END, WordTerms, fold, index_terms
from memtool.vault.facts import FactFile, parse_facts
from memtool.vault.layout import DAILY, is_archived, is_facts_file, kind_of, project_of
from memtool.vault.marks import UNSOLVED, is_unsolved
from memtool.vault.memory import AUTHORS, IMPORTED, KINDS
from memtool.vault.note import BrokenNote, Note, parse_note
from memtool.vault.sessions import lines_of, session_title

TARGET = 1000  # characters of a chunk
SMALLEST = 200  # a section shorter than this joins the next one
LONGEST_BLOCK = 1500  # a single paragraph or line longer than this is cut at a sentence

_HEADING = re.compile(r"(#{1,6})[ \t]+\S")
_BEGINS_BLOCK = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s|#{1,6}[ \t]+\S")  # a bullet or a heading
_SENTENCE_END = re.compile(r"[.!?。！？；;]\s*|\s")
_TAG = re.compile(r"#(?<!\S#)([^\W\d][\w/-]*)")  # found by its mark, five times as fast as by what is before it
_DATE_IN_FRONT = re.compile(r"\d{4}-\d{2}-\d{2}[-_]?")
_GENERATED = re.compile(r"<!-- memtool begin .*?<!-- memtool end -->", re.DOTALL)  # rows for the areas' triggers
_BRACKETED_KIND = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+\[([a-z]+)\]\s", re.MULTILINE)


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
    for block in _blocks(body, first_line):
        new_section = block.level and size >= SMALLEST
        if held and (new_section or (size + len(block.text) > TARGET and not only_headings)):
            chunks.append(_chunk(held, held_heading))
            held, size, only_headings = [], 0, True
        if block.level:
            path = [(level, text) for level, text in path if level < block.level]
            path.append((block.level, (heading_text(block.text) or block.text)[: limits.LONGEST_FIELD]))
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
    pieces = [block.text.strip() for block in _blocks(text, 1) if not block.level]
    return pieces if len(pieces) > 1 else []


def _chunk(blocks: list[_LineGroup], heading: str) -> Chunk:
    parts = [blocks[0].text]
    for before, block in pairwise(blocks):
        has_gap = block.start - before.end > 1
        parts.append(("\n\n" if has_gap else "\n") + block.text)
    return Chunk("".join(parts), blocks[0].start, blocks[-1].end, heading)


def _blocks(body: str, first_line: int) -> Iterator[_LineGroup]:
    lines = [line.rstrip("\r") for line in body.split("\n")] if "\r" in body else body.split("\n")
    start = 0
    while start < len(lines):
        if not lines[start].strip():
            start += 1
            continue
        heading = _HEADING.match(lines[start])
        end = start + 1 if heading else _block_end(lines, start)
        level, text = len(heading[1]) if heading else 0, "\n".join(lines[start:end])
        if len(text) <= LONGEST_BLOCK:  # nearly all are
            yield _LineGroup(text, first_line + start, first_line + end - 1, level)
        else:
            yield from _cut(lines[start:end], first_line + start, level)
        start = end


def _block_end(lines: list[str], start: int) -> int:
    """Return the line after the paragraph, bullet or fenced code that begins at *start*."""
    end = start + 1
    if marks := opening(lines[start]):
        while end < len(lines) and not closes(lines[end], marks):
            end += 1
        end = min(end + 1, len(lines))
        while not lines[end - 1].strip():  # no mark closes it, so it ends with the text
            end -= 1
        return end
    while end < len(lines) and (line := lines[end]).strip() and not (_BEGINS_BLOCK.match(line) or opening(line)):
        end += 1
    return end


def _cut(lines: list[str], start: int, level: int) -> Iterator[_LineGroup]:
    """Give a block cut between lines, and within a line only where one line alone is too long."""
    held: list[tuple[int, str]] = []
    size = 0
    for number, line in enumerate(lines, start):
        for part in _cut_line(line):
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


class ChunkRow(NamedTuple):
    """A row of the table `chunk`, but for its ids, and the terms it is found by."""

    start_line: int
    end_line: int
    heading: str
    text: str
    kind: str
    project: str
    category: str
    status: str
    date: str
    tags: str
    expires: str
    archived: bool
    fact_id: str
    author: str
    context: str
    name: str = ""  # by which alone it is found

    def terms(self, known: WordTerms) -> str:
        """Return the terms of the chunk's context, which says what it is about, and of its text, joined for FTS5."""
        if self.name:
            terms = _whole_terms(self.name)
            known.words.update(terms)
            return " ".join(terms)
        return CONTEXT_END.join((known.of(self.context), known.of(self.text)))


class NoteRow(NamedTuple):
    """The row of one file: its title, its fault, its chunks, and its aliases."""

    title: str
    problem: str
    chunks: tuple[ChunkRow, ...]
    names: str = ""


def note_row(ref: str, content: bytes, *, daily: str = DAILY, kind: str = "") -> NoteRow:
    """Return the row of the file at *ref*; of a broken one, with what can be read of it and the problem.

    *daily* is the vault's folder of daily notes. With a *kind*, a note is of that, whatever it says.
    """
    if is_unsolved(content):
        return NoteRow(ref.rsplit("/", 1)[-1], UNSOLVED, ())
    if is_facts_file(ref):
        return _fact_file_row(ref, content)
    note = parse_note(ref, content)
    if isinstance(note, BrokenNote):
        readable = Note(ref, note.text)
        title = _title_of(readable)
        return NoteRow(title, note.reason, tuple(_note_chunks(readable, title, daily, kind)))
    title = _title_of(note)
    if note.field("search").casefold() in {"false", "no", "off"}:
        return NoteRow(title, "", ())
    return NoteRow(title, "", tuple(_note_chunks(note, title, daily, kind)), _names_of(note))


def _names_of(note: Note) -> str:
    """Return the aliases of *note*, and the id of its session, as the index holds them: folded, between line breaks."""
    names = [*filter(None, [note.field("session")]), *note.words("aliases")]
    folded = [fold(name) for name in names[: limits.MOST_TAGS]]
    return "\n".join(["", *folded, ""]) if folded else ""


def _note_chunks(note: Note, title: str, daily: str, kind: str) -> Iterator[ChunkRow]:
    kind = kind or kind_of(note.ref, note.field("type"), daily=daily)
    project = (note.field("project") or project_of(note.ref))[: limits.LONGEST_FIELD]
    category = note.field("category")[: limits.LONGEST_FIELD] or KINDS[kind].category
    status = note.field("status").casefold()[: limits.LONGEST_FIELD]
    author = note.field("author") if note.field("author") in AUTHORS else ""
    dates = note.field("date"), note.field("created"), note.ref.rsplit("/", 1)[-1]
    date = next(filter(None, map(_iso, dates)), "")
    note_tags = [tag[: limits.LONGEST_FIELD] for tag in (*note.words("tags"), *note.words("keywords"))][
        : limits.MOST_TAGS
    ]
    ours = _shipped_lines(note.ref)
    told = [note.field(name) for name in ("summary", "description") if f"{name}: {note.field(name)}" not in ours]
    body = _without(ours, note.body)
    name = note.ref.rsplit("/", 1)[-1] if ours and not body.strip() else ""
    lines = lines_of(note.body) if kind == "session" else ()
    decisions = tuple(line.text for line in lines if line.role == DECISION)
    extra = "\n".join([*_name_beside(title, note.ref), *note.words("aliases"), *note_tags, *told])
    # A note may say nothing but its name, which others link to.
    for chunk in chunk_note(body, note.body_line) or [Chunk(title, 1, max(1, note.body_line - 1), "")]:
        yield ChunkRow(
            chunk.start_line, chunk.end_line, chunk.heading, chunk.text,
            kind, project, category, status, date,
            tags=_tag_list(*note_tags, *_tags_in(chunk.text, decisions)),
            expires=_expiry(note.field("expires")), archived=is_archived(note.ref), fact_id="", author=author,
            context=f"{context(title, chunk.heading, date)}\n{project}\n{extra[: limits.LONGEST_EXTRA]}", name=name,
        )  # fmt: skip


@cache
def _shipped_lines(ref: str) -> frozenset[str]:
    """Return the lines that `memtool init` wrote into the note at *ref*; none into one that it does not make."""
    path = shipped("vault_template") / ref if ref in SHIPPED else None
    return frozenset(path.read_text(encoding="utf-8").splitlines()) if path and path.is_file() else frozenset()


def _without(ours: frozenset[str], body: str) -> str:
    """Return *body* with empty lines for *ours* and for what is generated: they are about memtool, not about notes."""
    if not ours:
        return body
    body = _GENERATED.sub(lambda part: "\n" * part[0].count("\n"), body)
    return "\n".join("" if line.rstrip("\r") in ours else line for line in body.split("\n"))


def _whole_terms(name: str) -> list[str]:
    """Return the terms for *name* whole, without those of its words, which ordinary questions hold."""
    parts = set(index_terms(re.sub(r"\W", " ", name)))
    return [term for term in index_terms(name) if term not in parts]


def _name_beside(title: str, ref: str) -> list[str]:
    """Return the note's file name but for its date, which is known, unless its title says the same."""
    name = _DATE_IN_FRONT.sub("", ref.rsplit("/", 1)[-1])
    return [] if set(index_terms(name.removesuffix(".md"))) <= set(index_terms(title)) else [name]


def _fact_file_row(ref: str, content: bytes) -> NoteRow:
    project = project_of(ref)
    title = f"{project or ref.rsplit('/', 2)[-2] if '/' in ref else 'facts'}: facts"
    try:
        file = parse_facts(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return NoteRow(title, f"not UTF-8 (byte {error.start})", ())
    except BrokenVaultFile as error:
        return NoteRow(title, str(error), ())
    rows = tuple(_fact_chunks(ref, title, project, file))
    return NoteRow(title, "; ".join(file.problems[:3]), rows)


def _fact_chunks(ref: str, title: str, project: str, file: FactFile) -> Iterator[ChunkRow]:
    for fact, place in zip(file.facts, file.places, strict=True):
        date = _iso(fact.timestamp)
        reason = _without_entry(fact.evidence)
        evidence = f"\n{reason}" if reason else ""
        yield ChunkRow(
            place.start_line, place.end_line, fact.summary, fact.fact + evidence,
            "fact", fact.project or project, fact.category, fact.status, date,
            tags=_tag_list(*fact.tags),
            expires=_expiry(fact.expires), archived=is_archived(ref), fact_id=fact.id,
            author=fact.author or IMPORTED,
            context="\n".join([context(title, fact.summary, date), fact.project or project, fact.id, *fact.tags]),
        )  # fmt: skip


def _without_entry(evidence: str) -> str:
    """Return *evidence* without who entered it through a team's service: all facts of a team would be alike by that."""
    for sentence in all_labels("evidence")["service"]:
        before, _, after = sentence.partition("{}")
        at = evidence.rfind(before) if evidence.endswith(after) else -1
        if at == 0 or (at > 0 and evidence[:at].endswith("; ")):
            return evidence[:at].removesuffix("; ")
    return evidence


def context(title: str, heading: str, date: str) -> str:
    """Return the context of a chunk beside its own text: title, headings and the words of its date, a line each."""
    lines = [title, *heading.split(" > "), _words_of_day(date)]
    return "\n".join(dict.fromkeys(line for line in lines if line))


@lru_cache(16)  # the chunks of a note are of one day
def _words_of_day(date: str) -> str:
    day = parse_date(date)
    return date_words(day) if day else ""


def _title_of(note: Note) -> str:
    title = session_title(note) if kind_of(note.ref, note.field("type")) == "session" else note.title
    return title[: limits.LONGEST_FIELD]


def _iso(text: str) -> str:
    date = parse_date(text)
    return date.isoformat() if date else ""


def _expiry(text: str) -> str:
    """Return the last day that *text* names, or the moment, in UTC."""
    day = _iso(text)
    with suppress(ValueError, OverflowError):
        return dt.datetime.fromisoformat(text).astimezone(dt.UTC).isoformat() if len(text) > len(day) > 0 else day
    return day


def _tags_in(text: str, decisions: Sequence[str]) -> list[str]:
    """Return the tags within *text*, its kinds in brackets, and `decision` where it holds the start of a decision."""
    found: list[str] = [*_TAG.findall(text), *(_BRACKETED_KIND.findall(text) if "[" in text else ())]
    return [*found, DECISION] if any(each[:60] in text for each in decisions) else found


def _tag_list(*tags: str) -> str:
    """Return the tags as one text with a space on both sides of each, so that SQL can look for ` tag `."""
    folded = dict.fromkeys(map(folded_tag, tags))
    return f" {' '.join(folded)} " if folded else ""
