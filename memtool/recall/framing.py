"""The block in which an agent is given remembered text, and what keeps that text from breaking out of it.

A note may come from anybody. Between the tags it is quoted: it cannot close the block, imitate the tags of memtool or
of the client, begin a line of its own, or hide words in characters that nobody sees.
"""

from __future__ import annotations

import re
import zlib

from memtool.recall import limits
from memtool.resources import agent_text

# Capture knows the block by it. It is `memtool.redaction.CONTEXT_TAG`, which would bring all of redaction along.
TAG = "memtool-context"

# Four signs with a digit in second place and no vowel: no word, and hardly the name of a note.
_SIGNS, _DIGITS = "23456789bcdfghjkmnpqrstvwxz", "23456789"

# Patterns are texts: `re` compiles them when they are first used.
_UNSEEN = (
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\uffff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Those among them that Python counts as printable. A text without them is not worth compiling the pattern.
_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0\ufffc\ufffd").union(
    map(chr, range(0xE0100, 0xE01F0))
)
# What reads like `<`, with what may stand between it and the name of a tag.
_BRACKETS = "<＜﹤˂ᐸ"
_OPENING = "(?:[" + _BRACKETS + "]|&(?:lt|#0{0,6}60|#[xX]0{0,6}3[cC]);?)"
_TAG_BEGINS = _OPENING + "(?=[!?]|[\\s/／∕⁄!?\\\\|*'\"`\u0300-\u036f\ufe00-\ufe0f]*[^\\W\\d])"
_TAG_ENDS = "(‹[^‹›<>＜＞﹥&]{0,200})(?:[>＞﹥]|&gt;)"
_BLOCK_MARKS = r"\A(?:(?:#{1,6}|[>*+-]|[-=_*~]{3,})(?:\s+|$))+"


def framed(body: str, *, event: str, vault: str = "", language: str = "en", text: str = "frame") -> str:
    """Return *body* in a context block that says what it is; an empty text for an empty body.

    Capture knows the block by its tag and leaves it out. *body* holds lines of our own and text that was `defused`;
    *vault* is the folder of the notes as the reader should see it, *language* that of the vault, *text* the name of
    what says it.
    """
    if not body.strip():
        return ""
    about = re.sub(r"\[(.*)\]", r"\1" if vault else "", agent_text(text, language)).replace("{vault}", defused(vault))
    name = re.sub("[^a-z0-9-]", "", event.lower())[:40]
    return f'<{TAG} event="{name}">\n{about}\n\n{without_tags(body).strip()}\n</{TAG}>'


def defused(text: str) -> str:
    """Return somebody's *text* as one line that is nothing but text: no tag, no heading, no unseen character."""
    return re.sub(_BLOCK_MARKS, "", inline(text))


def quoted(text: str) -> str:
    """Return the lines of somebody's *text* as a Markdown quotation, each defused; empty lines are left out."""
    lines = (" " * min(len(line) - len(line.lstrip(" ")), 6) + inline(line) for line in text.splitlines())
    return "\n".join(f"> {line}" for line in lines if line.strip())


def inline(text: str) -> str:
    """Return *text* on one line without tags, unseen characters and fences; what Markdown it begins with stays."""
    is_seen = text.isprintable() and _BLANKS.isdisjoint(text)
    line = " ".join((text if is_seen else re.sub(_UNSEEN, "", text)).split())
    return without_tags(re.sub("[`~]{3,}", "`", line))


def without_tags(text: str) -> str:
    """Return *text* with `‹` and `›` for the brackets of whatever reads like a tag."""
    if "&" not in text and frozenset(_BRACKETS).isdisjoint(text):
        return text
    begun = re.sub(_TAG_BEGINS, "‹", text)
    return re.sub(_TAG_ENDS, r"\1›", begun) if begun != text else text


def line_id(ids: dict[str, int], key: str, text: str = "") -> str:
    """Return the short id of a line that is given, such as `k3f9`, and add it to *ids*.

    It is the same whenever the line is given, unless another one of the session has it.

    Args:
        ids: those of the session so far: `dict(ledger.ids)`.
        key: what the memory is known by in ledgers, or the path of the note.
        text: of a line that is one of many in its note; empty for a fact, or a note as a whole.
    """
    said = ("".join(filter(str.isalnum, text)) or text)[: limits.COMPARED]
    mark = zlib.crc32(f"{key}\0{said}".encode("utf-8", "replace"))
    number = mark
    while ids.setdefault(name := _short(number), mark) != mark:
        number = zlib.crc32(b"%d" % number)
    return name


def is_line_id(text: str) -> bool:
    """Return whether *text* has the form of a short id."""
    return len(text) == 4 and text[1] in _DIGITS and all(sign in _SIGNS for sign in text)


def _short(number: int) -> str:
    name = ""
    for signs in (_SIGNS, _DIGITS, _SIGNS, _SIGNS):
        number, at = divmod(number, len(signs))
        name += signs[at]
    return name
