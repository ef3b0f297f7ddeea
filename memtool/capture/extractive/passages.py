"""Markdown made plain: the prose in what was said, without code, tables, pasted logs and marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memtool.capture.extractive.sentences import sentences, width
from memtool.vault.prose import one_line

LONGEST_TEXT = 24_000  # characters of one text that are read: its beginning and, twice as much, its end
LONGEST_PROMPT = 6_000  # a longer one holds something pasted
LONGEST_LINE = 4_000


class Passage(NamedTuple):
    """One sentence or list item.

    Args:
        text: plain, on one line.
        heading: the heading and the lead-in that it stands under, one line each.
        item: whether it is a list item.
        checked: of a task list's item, whether it is ticked; else None.
        codes: how many code spans it held.
        nested: whether the item is part of another.
    """

    text: str
    heading: str = ""
    item: bool = False
    checked: bool | None = None
    codes: int = 0
    nested: bool = False


_EMOJI = re.compile(
    "[\u2600-\u27bf\u2b1b-\u2b55\u23e9-\u23fa\U0001f000-\U0001faff][\ufe0f\u200d\u20e3]*|[\ufe0f\u20e3]"
)
_TICKED = re.compile("^\\s*[✅✔☑✓]")
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,500}\)")
_EMPHASIS = re.compile(r"(?<![\w*])\*(\w[^*]{0,300})\*(?![\w*])|(?<!\w)_([^\W_][^_]{0,300} [^_]{0,300})_(?!\w)")
_TAG = re.compile(
    r"<!--.{0,2000}?-->|</?(?:details|summary|b|i|u|em|strong|br|p|code|kbd|sub|sup|ins|del|div|span|ul|li)\s{0,3}/?>"
)
_BLOCK_TAG = re.compile(r"<(/?)([a-z]{1,40}[-_][a-z_-]{1,40})\b[^<>]{0,300}>")  # <pasted_content id="1">
_FENCE = re.compile(r"(?:[-*+]|\d{1,3}[.)])? {0,8}(`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,6}\s+(\S.*)")
_ITEM = re.compile(r"(?:[-*+•–·]|\(?\d{1,3}[.)、）]|[①-⑳])\s+(?:\[([ xX])\]\s+)?(\S.*)|\d{1,2}、(\S.*)")
_RULE = re.compile(r"[-=*_#~+|\s]{3,}")
_LABEL = re.compile(r"(.{2,60}?)[:：](?:\*\*)?|\*\*([^*]{2,60})\*\*[:：]?")  # a whole line that leads in
_MACHINE = re.compile(
    r"""\s*(?:
      [|+\u2500-\u257f]  | [$>%➜❯]\s | \S{1,60}@\S{1,80}[$#]\s | [{}()\[\];,]+$ | //|/\*|\#!|<\?|</?\w[^>]{0,200}>\s*$
    | (?:File\ "|Traceback\ |During\ handling|Caused\ by:|\.\.\.\ \d+\ more)
    | (?:at\ [\w.$<>\[\] ]{1,120}\s?\((?:<|[^()\s]{1,200}:\d)|at\ \S+:\d)
    | \[?\d{4}-\d\d-\d\d[T ]\d\d: | \[\d\d:\d\d | \d\d:\d\d:\d\d[\s.,]
    | \[(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE)\] | (?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|npm\ ERR!|npm\ WARN)[\s:]
    | (?:import|from|const|let|var|def|class|return|function|export|async|public|private|package|fn|func|use)\s
      [^.]{0,200}[;{(:=]\s*$
    | (?:sudo|npm|npx|yarn|pnpm|pip|git|docker|kubectl|curl|cd|ls|cat|grep|brew|apt|apt-get|cargo|uv|python3?|node|bash
        |make|pytest)\s
      (?:[a-z-]{1,20}\s)?[-./~\w:@=]+(?:\s+[-./~\w:@=&|]+){0,8}\s*$
    | "[^"]{1,80}"\s*:\s | [+-]{3}\s[ab]/ | @@\s | diff\s--git
    )""",
    re.VERBOSE,
)
_LETTERS = re.compile(r"[^\W\d_]+|\s+")
_JOINS_ON = re.compile(r"[a-z]")
_ENDED = re.compile(r"[.!?:;。！？：；…|]$")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]")


def passages(text: str, longest: int = LONGEST_TEXT, *, whole_items: bool = False) -> Iterator[Passage]:
    """Give the sentences of a Markdown *text*, in order; of a text over *longest* its beginning and end.

    With *whole_items* an item of a list is not cut into sentences.
    """
    section = lead = ""
    listed = False  # a lead-in speaks for the list, or the paragraph, right below it
    for line in _joined(_prose_lines(bounded(text, longest))):
        body = line.lstrip()
        if match := _HEADING.fullmatch(body):
            section, lead, listed = _name(match[1]), "", False
        elif (item := _ITEM.fullmatch(body)) and not item[0].rstrip("*").endswith((":", "：")):
            for passage in _item(item, f"{section}\n{lead}", whole=whole_items):
                yield passage._replace(nested=body is not line)
            listed = True
        elif item:
            lead, listed = _name(item[2] or item[3]), False
        elif match := _LABEL.fullmatch(body):
            *told, lead = sentences(_name(match[1] or match[2])) or [""]
            yield from (Passage(sentence, section) for sentence in told)
            listed = False
        else:
            yield from _cut(body, Passage("", f"{section}\n{'' if listed else lead}"))
            lead = ""


def plain(text: str) -> tuple[str, int]:
    """Return one line of Markdown without its marks, and how many code spans it held."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # an odd mark is no code span
        parts[-2:] = [" ".join(parts[-2:])]
    parts[::2] = [_unmarked(part) for part in parts[::2]]
    spans = sum(1 for span in parts[1::2] if span.strip())
    line = "".join(parts)
    return one_line(line if line.isascii() else _EMOJI.sub("", line)), spans


def is_machine_text(line: str) -> bool:
    """Return whether *line* is code, a log, a command or a table rather than something that was said."""
    if _MACHINE.match(line) or line.count(" | ") > 1 or line.count("│") > 1:
        return True
    start = line[:200]
    return len(start) > 8 and len(_LETTERS.sub("", start)) > 0.4 * len(start)


def bounded(text: str, longest: int) -> str:
    """Return *text*, or its beginning and its end if it is over *longest*, whole lines where it has any."""
    if len(text) <= longest:
        return text
    head, tail = text[: longest // 3], text[-2 * longest // 3 :]
    return head.rpartition("\n")[0] + "\n\n" + tail.partition("\n")[2]


def _prose_lines(text: str) -> Iterator[str]:
    """Give the lines outside of code blocks, quoted tool blocks and tables; an empty line for what was left out."""
    fence = tag = ""
    for line in text.splitlines():
        body = line.strip()
        if fence:
            fence = "" if body.startswith(fence) and not body.strip(fence[0]) else fence
        elif tag:
            tag = "" if f"</{tag}>" in body else tag
        elif match := _FENCE.match(body):
            fence = match[1]
        elif (match := _BLOCK_TAG.match(body)) and not match[1] and f"</{match[2]}>" in text:
            tag = "" if f"</{match[2]}>" in body else match[2]
        elif body and len(line) <= LONGEST_LINE and not _RULE.fullmatch(body):
            yield line if not is_machine_text(_unquoted(body)) else ""
            continue
        yield ""


def _joined(lines: Iterator[str]) -> Iterator[str]:
    """Give *lines* with wrapped ones put together again."""
    held = ""
    for raw in lines:
        body = _unquoted(raw.strip())
        line = " " * (len(raw) - len(raw.lstrip())) + body
        if held and body and len(held) < LONGEST_LINE and _continues(held, body):
            held += body if _WIDE.match(body) else " " + body
            continue
        if held.strip():
            yield held
        held = line
    if held.strip():
        yield held


def _continues(held: str, body: str) -> bool:
    if _ENDED.search(held) or _HEADING.match(held.lstrip()):
        return False
    if _JOINS_ON.match(body):
        return True
    return bool(_WIDE.match(body) and _WIDE.match(held[-1]) and width(held) >= 60)


def _item(match: re.Match[str], heading: str, *, whole: bool) -> Iterator[Passage]:
    box = match[1]
    checked = box != " " if box else (True if _TICKED.match(match[2] or "") else None)
    yield from _cut(match[2] or match[3], Passage("", heading, item=True, checked=checked), whole=whole)


def _cut(body: str, passage: Passage, *, whole: bool = False) -> Iterator[Passage]:
    text, codes = plain(body)
    cut = [text] if whole else sentences(text)
    for sentence in cut:
        if not sentence.endswith((":", "：")):  # what leads in to a list or to code says little by itself
            yield passage._replace(text=sentence, codes=-(-codes // len(cut)))


def _name(heading: str) -> str:
    return plain(heading)[0].strip(" :：")


def _unquoted(line: str) -> str:
    return line.lstrip("> ") if line.startswith(">") else line


def _unmarked(text: str) -> str:
    if "<" in text:
        text = _BLOCK_TAG.sub(" ", _TAG.sub(" ", text))
    if "[" in text:
        text = _LINK.sub(r"\1", text)
    text = text.replace("**", "").replace("~~", "")
    return _EMPHASIS.sub(lambda match: match[1] or match[2], text) if "*" in text or "_" in text else text
