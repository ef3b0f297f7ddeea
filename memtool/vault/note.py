"""Notes: Markdown with optional YAML front matter, read into frozen values, and new ones.

A note that is broken is a value, too. The text that a new one is made of stays as it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from memtool.named_tuple import NamedTuple
from memtool.text.frontmatter import quoted, read_front_matter
from memtool.text.languages import words
from memtool.text.lines import one_line
from memtool.text.markdown import heading_text, headings
from memtool.vault import limits
from memtool.vault.memory import NewMemory

_FIRST_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|[。！？]|$)", re.DOTALL)
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[.\]\s+)?")
_STRUCTURE = re.compile(r"^\s*(?:[-*+>|#]|\d+[.)]|```|~~~|-{3})")
_VARIANTS = "[\ufe00-\ufe0f]"  # how a character is drawn; emoji carry them


class BrokenNote(NamedTuple):
    """A file that cannot be read as a note, or only in part: *text* is what can still be searched."""

    ref: str
    reason: str
    text: str = ""


class Note(NamedTuple):
    """A Markdown file. *fields* holds its front matter, every scalar as the text its owner wrote."""

    ref: str
    text: str
    fields: Mapping[str, Any] = {}
    body_line: int = 1  # the line of the file on which the body begins

    @property
    def body(self) -> str:
        """The text below the front matter."""
        return "\n".join(self.text.split("\n")[self.body_line - 1 :])

    def field(self, key: str) -> str:
        """Return the front matter value of *key* as one line of text; empty where it is missing or no scalar."""
        value = self.fields.get(key)
        return " ".join(value.split()) if isinstance(value, str) else ""

    def words(self, key: str) -> tuple[str, ...]:
        """Return the front matter list of *key*; `a, b` is a list of two as well."""
        value = self.fields.get(key)
        items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
        return tuple(item.strip().lstrip("#") for item in items if isinstance(item, str) and item.strip())

    @property
    def title(self) -> str:
        """The front matter's title, else the first heading if it is of the first level, else the file's name."""
        if title := self.field("title"):
            return title
        lines = self.body.split("\n")
        at, first = next(headings(lines), (0, ""))
        return (first if lines[at].startswith("# ") else "") or self.ref.rsplit("/", 1)[-1].rsplit(".", 1)[0]

    @property
    def summary(self) -> str:
        """Level 0: the front matter's summary, else the first sentence."""
        return self.field("summary") or first_sentence(self.body)


NoteFile: TypeAlias = Note | BrokenNote


def parse_note(ref: str, content: bytes) -> NoteFile:
    """Return the note in *content*; a broken one keeps as much of its text as can be read."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        readable, encoding = _decode_anyway(content)
        return BrokenNote(ref, f"not UTF-8 (byte {error.start}){encoding}", readable)
    if "\x00" in text:
        return BrokenNote(ref, "holds NUL bytes, so it is hardly Markdown")
    fields, body_line = read_front_matter(text)
    return Note(ref, text, fields, body_line)


def first_sentence(body: str) -> str:
    """Return the first sentence of running text in *body*, else its first bullet, cut at 200 characters."""
    for paragraph in body.replace("\r\n", "\n").split("\n\n"):
        lines = [line for line in paragraph.split("\n") if line.strip() and not _STRUCTURE.match(line)]
        match = _FIRST_SENTENCE.match(" ".join(line.strip() for line in lines))
        if match:
            return match[0][:200]
    bullets = (line[match.end() :] for line in body.split("\n") if (match := _BULLET.match(line)))
    return next(bullets, "").strip()[:200]


def overview(body: str) -> str:
    """Level 1: the section called overview or summary, else the text before the second heading.

    If only a title is above the second heading, the first section with text comes with it.
    """
    lines = body.split("\n")
    heads = list(headings(lines))
    for (at, heading), (following, _) in zip(heads, [*heads[1:], (len(lines), "")], strict=False):
        if heading.casefold() in words("overview"):
            return "\n".join(lines[at:following]).strip()
    said = next((at for at, line in enumerate(lines) if line.strip() and not heading_text(line)), 0)
    return "\n".join(lines[: next((at for at, _ in heads[1:] if at > said), len(lines))]).strip()


def _decode_anyway(content: bytes) -> tuple[str, str]:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace"), ", read as UTF-16"
    try:
        return content.decode("gb18030"), ", read as GB18030"
    except UnicodeDecodeError:
        return content.decode("utf-8", "replace"), ""


def title_of(text: str) -> str:
    """Return a title for *text*: the heading it begins with, else its first sentence, in 80 characters at most."""
    first_line = text.strip().partition("\n")[0]
    title = one_line(heading_text(first_line) or first_sentence(text) or first_line)
    title = re.sub(r"[.!?。！？]\s*$", "", title)
    if len(title) <= limits.TITLE:
        return title
    cut = title[: limits.TITLE]
    words = cut.rpartition(" ")[0]
    return (words if len(words) > limits.TITLE // 2 else cut).rstrip(" ,;:，；：、") + "…"


def slug(title: str) -> str:
    """Return *title* as a part of a file's name: letters of any script, digits, dots and single dashes; never empty."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", title).lower())
    dashed = re.sub(r"[-.]*-[-.]*", "-", "".join(_in_slug(re.sub(_VARIANTS, "", plain)))).strip("-.")
    # With the date in front and a number behind it, any disk takes a name of that many bytes.
    short = dashed.encode("utf-8")[:160].decode("utf-8", "ignore")
    if len(short) < len(dashed):
        words = short.rpartition("-")[0]
        short = words if len(words) > len(short) // 2 else short
    return short.strip("-.") or "note"


def render_note(memory: NewMemory, *, title: str, date: str) -> str:
    """Return the Markdown of *memory* as a note: front matter, and its text as it is."""
    fields = {
        "type": memory.kind,
        "title": quoted(title),
        "summary": memory.summary and quoted(memory.summary),
        "date": date,
        "project": memory.project and quoted(memory.project),
        "tags": memory.tags and f"[{', '.join(map(quoted, memory.tags))}]",
        "category": memory.category,
        "expires": memory.expires,
        "evidence": memory.evidence and quoted(one_line(memory.evidence)),
        "author": memory.author,
        "sources": memory.source and f"[{quoted(memory.source)}]",
    }
    matter = "".join(f"{name}: {value}\n" for name, value in fields.items() if value)
    return f"---\n{matter}---\n\n{memory.text}\n"


def _in_slug(text: str) -> Iterator[str]:
    """Give each character of *text* that a name may hold, and a dash for any other."""
    before = "-"
    for char in text:
        kind = unicodedata.category(char)
        is_kept = kind[0] in "LN" or char == "." or (kind in {"Mn", "Mc"} and before != "-")
        before = char if is_kept else "-"
        yield before
