"""A note that is made now: its name, its title and its text. The text that it is made of stays as it is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtool.text.frontmatter import quoted
from memtool.text.lines import one_line
from memtool.text.markdown import heading_text
from memtool.vault.note import first_sentence

FOLDERS = {"decision": "decisions", "change": "changes", "knowledge": "knowledge"}

_LONGEST_SLUG = 160  # bytes; with the date in front and a number behind it any disk takes the name
_LONGEST_TITLE = 80  # characters
_SENTENCE_END = re.compile(r"[.!?。！？]\s*$")
_VARIANTS = re.compile("[\ufe00-\ufe0f]")  # how a character is drawn; emoji carry them


class NewNote(NamedTuple):
    """A note before it is written. *text* is its body; *sources* are paths or session ids."""

    kind: str
    title: str
    date: str
    text: str
    project: str = ""
    category: str = ""
    tags: Sequence[str] = ()
    expires: str = ""
    evidence: str = ""
    author: str = ""
    sources: Sequence[str] = ()


def title_of(text: str) -> str:
    """Return a title for *text*: the heading it begins with, else its first sentence, in 80 characters at most."""
    first_line = text.strip().partition("\n")[0]
    title = one_line(heading_text(first_line) or first_sentence(text) or first_line)
    title = _SENTENCE_END.sub("", title)
    if len(title) <= _LONGEST_TITLE:
        return title
    cut = title[:_LONGEST_TITLE]
    words = cut.rpartition(" ")[0]
    return (words if len(words) > _LONGEST_TITLE // 2 else cut).rstrip(" ,;:，；：、") + "…"


def slug(title: str) -> str:
    """Return *title* as a part of a file's name: letters of any script, digits, dots and single dashes; never empty."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", title).lower())
    dashed = re.sub(r"[-.]*-[-.]*", "-", "".join(_in_slug(_VARIANTS.sub("", plain)))).strip("-.")
    short = dashed.encode("utf-8")[:_LONGEST_SLUG].decode("utf-8", "ignore")
    if len(short) < len(dashed):
        words = short.rpartition("-")[0]
        short = words if len(words) > len(short) // 2 else short
    return short.strip("-.") or "note"


def render_note(note: NewNote) -> str:
    """Return the Markdown of *note*: front matter, and its text as it is."""
    fields = {
        "type": note.kind,
        "title": quoted(note.title),
        "date": note.date,
        "project": note.project and quoted(note.project),
        "tags": _listed(note.tags),
        "category": note.category,
        "expires": note.expires,
        "evidence": note.evidence and quoted(one_line(note.evidence)),
        "author": note.author,
        "sources": _listed(note.sources),
    }
    matter = "".join(f"{name}: {value}\n" for name, value in fields.items() if value)
    return f"---\n{matter}---\n\n{note.text}\n"


def _in_slug(text: str) -> Iterator[str]:
    """Give each character of *text* that a name may hold, and a dash for any other."""
    before = "-"
    for char in text:
        kind = unicodedata.category(char)
        is_kept = kind[0] in "LN" or char == "." or (kind in {"Mn", "Mc"} and before != "-")
        before = char if is_kept else "-"
        yield before


def _listed(words: Sequence[str]) -> str:
    return f"[{', '.join(map(quoted, words))}]" if words else ""
