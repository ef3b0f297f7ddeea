"""Blocks that go whole: `<private>…</private>`, the context that memtool itself gave to an agent, and private keys.

A tag may be in capitals, have attributes or blanks in it, and be escaped as in JSON or a URL. A block may hold further
tags of its name: what counts is the outermost pair. A tag that nobody closes hides the rest of the text: better to lose
a paragraph than to keep a secret. Talk about a tag hides nothing: that is a tag alone in quotes or backticks and, where
nobody closes it, one that punctuation or a word such as "tag" follows. A private key stands in its armour (RFC 7468,
OpenSSH, PGP, PuTTY), whole or cut off, its line ends escaped or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from memtool.redaction.views import Finding, merge

CONTEXT_TAG = "memtool-context"
PRIVATE_TAG = "private"
_CONTEXT_TAGS = f"(?:{CONTEXT_TAG}|claude-mem-context)"  # the service speaks the dialect of that one, too
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」"}
_PRIVATE_KEY = "private-key"
_TALK = r"[.,;:!?)\]}，。；：！？）、]|\s?(?:tags?|blocks?|elements?|markers?|标签|標籤|标记|块|タグ|태그)(?![A-Za-z])"
_ARMOUR = r"-{4,5} ?(?P<what>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_PUTTY = r"Private-Lines: ?\d{1,4}(?:(?:\s|\\++[nr]){1,8}[A-Za-z0-9+/=]{4,80}(?![A-Za-z0-9:-]))++"


def find_blocks(text: str) -> list[Finding]:
    """Return the blocks that the user marked as private, and those that a memory gave: no secrets, a space is left."""
    contexts = merge(_blocks(text, _CONTEXT_TAGS, ""))
    # What memtool quoted in its own block may speak of the other tag. It must not open a block that goes on behind.
    pieces, end = [], 0
    for block in contexts:
        pieces += [text[end : block.start], " " * (block.end - block.start)]
        end = block.end
    return _blocks("".join([*pieces, text[end:]]), PRIVATE_TAG, "private") + contexts


def _blocks(text: str, name: str, kind: str) -> list[Finding]:
    unclosed: list[re.Match[str]] = []
    pairs: list[Finding] = []
    for tag in _tags(name).finditer(text):
        if not tag["closes"]:
            if not _is_quoted(text, tag):
                unclosed.append(tag)
        elif unclosed:
            pairs.append(Finding(unclosed.pop().start(), tag.end(), kind))
    talk = re.compile(_TALK, re.IGNORECASE)
    pairs += [Finding(tag.start(), len(text), kind) for tag in unclosed if not talk.match(text, tag.end())]
    return pairs


def _is_quoted(text: str, tag: re.Match[str]) -> bool:
    before, after = text[max(tag.start() - 1, 0) : tag.start()], text[tag.end() : tag.end() + 4].lstrip("\\")
    return before in _QUOTES and after.startswith(_QUOTES[before])


@cache
def _tags(name: str) -> re.Pattern[str]:
    begin, end = r"(?:[<＜]|\\{1,4}u003c|%3c)", r"(?:[>＞]|\\{1,4}u003e|%3e)"
    attributes = r"(?:\s(?:(?!%3e)[^<>＜＞\\]){0,400}+)?"
    return re.compile(
        rf"{begin}\s{{0,8}}(?P<closes>(?:\\{{0,4}}/)?)\s{{0,8}}{name}{attributes}(?<!/){end}", re.IGNORECASE
    )


def find_private_keys(text: str) -> Iterator[Finding]:
    """Return every private key: up to its end mark or, where that is missing, as far as its lines go."""
    if "PRIVATE KEY" in text:
        for mark, following in pairwise([*re.finditer(_ARMOUR, text), None]):
            if mark is None or mark["what"] == "END":
                continue
            if following is not None and following["what"] == "END":
                yield Finding(mark.start(), following.end(), _PRIVATE_KEY)
            elif lines := _lines().match(text, mark.end()):
                yield Finding(mark.start(), lines.end(), _PRIVATE_KEY)
    if "Private-Lines:" in text:
        yield from (Finding(found.start(), found.end(), _PRIVATE_KEY) for found in re.finditer(_PUTTY, text))


@cache
def _lines() -> re.Pattern[str]:
    gap = r"(?:\s|\\++[nr]|[\"'+,]){0,40}"
    header = r"[A-Z][A-Za-z-]{2,20}: [^\n\\]{1,200}"
    return re.compile(
        rf"(?:{gap}(?:{header}|[A-Za-z0-9+/=]{{16,}}+))++(?:{gap}[A-Za-z0-9+/]{{1,15}}={{0,2}}(?![A-Za-z0-9]))?"
    )
