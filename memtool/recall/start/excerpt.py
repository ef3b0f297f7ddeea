"""The beginning of a note, read in bounded time: a hook may not wait for a huge file, and yaml takes long to import."""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, tzinfo

from memtool.errors import OutsideVault
from memtool.named_tuple import NamedTuple
from memtool.recall import limits
from memtool.recall.budget import BlockLine, BlockPart
from memtool.recall.framing import defused, quoted
from memtool.text.lines import cut
from memtool.vault.layout import Vault
from memtool.vault.marks import is_unsolved

MINUTE = "%Y-%m-%d %H:%M"


class Excerpt(NamedTuple):
    """The beginning of a note. *fields* are those of its front matter that are a line of text.

    Its file was *changed* last at that minute of local time: `2026-11-22 14:09`.
    """

    ref: str
    changed: str
    fields: Mapping[str, str]
    body: str
    body_line: int = 1

    @property
    def date(self) -> str:
        """The day on which its file was changed last."""
        return self.changed[:10]


def read_excerpt(vault: Vault, ref: str, zone: tzinfo | None = None) -> Excerpt | None:
    """Return the beginning of the note at *ref*; None where no file of the vault can be read there."""
    found = read_bytes(vault, ref, limits.LARGEST_NOTE)
    if found is None:
        return None
    from memtool.text.frontmatter import split_front_matter

    content, changed_at = found
    text = _decoded(ref, content).replace("\r\n", "\n")
    matter, body_line = split_front_matter(text)
    fields = one_line_fields(matter) if matter else {}
    body = "\n".join(text.split("\n")[body_line - 1 :])
    return Excerpt(ref, _minute(changed_at, zone), fields, body, body_line)


def read_bytes(vault: Vault, ref: str, most: int) -> tuple[bytes, float] | None:
    """Return up to *most* bytes of the file at *ref* and when it changed.

    None if it is no file within the vault, or it holds two texts between conflict marks.
    """
    with suppress(OSError, ValueError, OutsideVault):
        path = os.fspath(vault.path(ref))
        return _content(path, os.stat(path), most)  # noqa: PTH116
    return None


class Folder:
    """A folder of the vault, looked up once however many of its files are read: a start reads hundreds."""

    def __init__(self, vault: Vault, ref: str) -> None:
        self._vault, self._ref, self._path = vault, ref, ""
        with suppress(OSError, ValueError, OutsideVault):
            self._path = os.fspath(vault.path(ref))

    def read(self, name: str, most: int) -> bytes | None:
        """Return what `read_bytes` gives of the file *name* in this folder."""
        path = f"{self._path}{os.sep}{name}"
        with suppress(OSError, ValueError):
            about = os.lstat(path)
            if not self._path or stat.S_ISLNK(about.st_mode) or os.path.basename(name) != name:  # noqa: PTH119  (speed)
                found = read_bytes(self._vault, f"{self._ref}/{name}", most)
            else:
                found = _content(path, about, most)
            return found[0] if found else None
        return None


def _content(path: str, about: os.stat_result, most: int) -> tuple[bytes, float] | None:
    if not stat.S_ISREG(about.st_mode):  # a pipe would keep us waiting
        return None
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        content = os.read(handle, min(most, about.st_size + 1))
    finally:
        os.close(handle)
    is_whole = len(content) == about.st_size
    return None if is_unsolved(content, is_whole=is_whole) else (content, about.st_mtime)


def names_in(vault: Vault, ref: str, most: int | None = None) -> list[str]:
    """Return the names of the Markdown files in the folder *ref*, last first: all, or the last *most* of them."""
    with suppress(OSError, ValueError, OutsideVault):
        names = [name for name in os.listdir(vault.path(ref)) if name.endswith(".md") and name[0] != "."]  # noqa: PTH208
        return sorted(names, reverse=True)[:most]
    return []


def one_line_fields(matter: str) -> dict[str, str]:
    """Return the fields of the front matter *matter* that are text, each on one line."""
    from memtool.text.frontmatter import plain_fields

    return {name: " ".join(value.split()) for name, value in plain_fields(matter).items()}


def _decoded(ref: str, content: bytes) -> str:
    whole = len(content) < limits.LARGEST_NOTE
    try:  # where the file goes on, the last character may be half
        return codecs.getincrementaldecoder("utf-8-sig")().decode(content, final=whole)
    except UnicodeDecodeError:
        from memtool.vault.note import parse_note

        return parse_note(ref, content).text


def _minute(changed_at: float, zone: tzinfo | None) -> str:
    with suppress(OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(changed_at, zone).strftime(MINUTE)
    return ""


def note_part(note: Excerpt, share: float, levels: Iterable[str]) -> BlockPart | None:
    """Return the texts in *levels* as quotations; None if the first says nothing."""
    quotations = [tuple(_quotation(text, note.ref)) for text in levels]
    if not quotations[0]:
        return None
    return BlockPart("", defused(note.ref), note.date, share, tuple(filter(None, dict.fromkeys(quotations))))


def _quotation(text: str, ref: str) -> Iterator[BlockLine]:
    lines = without_comments(text)[: limits.LONGEST_TEXT].split("\n")[: limits.MOST_LINES]
    if any(says_something(line) for line in lines):
        quotation = quoted("\n".join(line[: limits.LONGEST_LINE] for line in lines))
        yield from (BlockLine(line, ref) for line in quotation.split("\n") if line)


def says_something(line: str) -> bool:
    """Return whether *line* is more than a heading, a rule or nothing."""
    return bool(line.strip()) and not re.match(r"#{1,6}\s|[-=*_ ]+$", line)


def clipped(text: str) -> str:
    """Return *text* as a line of a block, without what could end the block."""
    return cut(
        defused(text[: 4 * limits.LONGEST_LINE]), limits.LONGEST_LINE
    )  # most characters of the excerpt may be invisible


def without_comments(text: str) -> str:
    """Return *text* without HTML comments, which the client leaves out as well."""
    kept, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        kept.append(text[at:start])
        at = end + len("-->")
    return "".join([*kept, text[at:]])
