"""Statements in Markdown: its sentences, list items and table rows, plain, without code, logs and marks.

A sentence ends in any script, with spaces or without, but not at `v2.1`, `auth.ts` or `e.g.` this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from memtool.text.languages import words
from memtool.text.lines import one_line, width
from memtool.text.markdown import closes, opening
from memtool.text.scripts import is_unspaced

LONGEST_TEXT = 24_000  # characters of one text that are read: its beginning and, twice as much, its end
_LONGEST_LINE = 4_000


class Statement(NamedTuple):
    """One sentence, list item or table row, on one line without Markdown's marks.

    Args:
        text: what it says.
        lead: of an item or a row, the line above its list that ends in a colon, else the heading above it.
        is_listed: whether it is an item or a row.
        codes: how many code spans it held.
        is_strong: whether part of a sentence was in bold type, or the beginning of an item.
        section: of a sentence, the heading above it.
    """

    text: str
    lead: str = ""
    is_listed: bool = False
    codes: int = 0
    is_strong: bool = False
    section: str = ""


_EMOJI = re.compile(
    "[\u2600-\u27bf\u2b1b-\u2b55\u23e9-\u23fa\U0001f000-\U0001faff][\ufe0f\u200d\u20e3]*|[\ufe0f\u20e3]"
)
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,500}\)")
_EMPHASIS = re.compile(r"(?<![\w*])\*(\w[^*]{0,300})\*(?![\w*])|(?<!\w)_([^\W_][^_]{0,300} [^_]{0,300})_(?!\w)")
_STRONG = re.compile(r"\*\*([^*]{2,300})\*\*")
_TAG = re.compile(
    r"<!--.{0,2000}?-->|</?(?:details|summary|b|i|u|em|strong|br|p|code|kbd|sub|sup|ins|del|div|span|ul|li)\s{0,3}/?>"
)
_BLOCK_TAG = re.compile(r"<(/?)([a-z]{1,40}[-_][a-z_-]{1,40})\b[^<>]{0,300}>")  # <pasted_content id="1">
_HEADING = re.compile(r"#{1,6}\s+(\S.*)")
_ITEM = re.compile(r"(?:[-*+•–·]|\(?\d{1,3}[.)、）]|[①-⑳])\s+(?:\[[ xX]\]\s+)?(\S.*)|\d{1,2}、(\S.*)")
_ROW = re.compile(r"\|(.*\|.*)\|?")
_HEAD_MARK = "\x00"  # before the head of a table
_TABLE_HEAD = re.compile(_HEAD_MARK + r"\|(.*\|.*)\|?")
_RULE = re.compile(r"[-=*_#~+|:\s]{3,}")
_LABEL = re.compile(r"\*\*([^*]{2,60})\*\*[:：]?|(.{2,60})[:：](?:\*\*)?")  # a whole line that names what follows
_SENTENCE_END = (".", "!", "?", "。", "！", "？")
_MACHINE = re.compile(
    r"""\s*(?:
      [+\u2500-\u257f\u25a0-\u25ff\u2b1b-\u2b1e] | [^.]*\s[\u25b6\u25ba]\s
    | [$>%➜❯]\s | \S{1,60}@\S{1,80}[$#]\s | [{}()\[\];,]+$ | //|/\*|\#!|<\?|</?\w[^>]{0,200}>\s*$
    | (?:File\ "|Traceback\ |During\ handling|Caused\ by:|\.\.\.\ \d+\ more)
    | (?:at\ [\w.$<>\[\] ]{1,120}\s?\((?:<|[^()\s]{1,200}:\d)|at\ \S+:\d)
    | \[?\d{4}-\d\d-\d\d[T ]\d\d: | \[\d\d:\d\d | \d\d:\d\d:\d\d[\s.,]
    | \[(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE)\] | (?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|npm\ ERR!|npm\ WARN)[\s:]
    | (?:import|from|const|let|var|def|class|return|function|export|async|public|private|package|fn|func|use)\s
      [^.]{0,200}[;{(:=]\s*$
    | (?:sudo|npm|npx|yarn|pnpm|pip|git|docker|kubectl|curl|cd|ls|cat|grep|brew|apt|apt-get|cargo|uv|python3?|node|bash
        |make|pytest)\s
      (?:[a-z-]{1,20}\s)?[-./~\w:@=]+(?:\s+[-./~\w:@=&|]+){0,8}\s*$
    | [\w.]{1,60}\s(?:=|:=|\+=)\s[\w.]{1,80}\(.{0,200}\)\s*$
    | \d{1,5}\s+[+-](?:\s|$) | "[^"]{1,80}"\s*:\s | [+-]{3}\s[ab]/ | @@\s | diff\s--git
    )""",
    re.VERBOSE,
)
_SENTENCE = re.compile(r"[。！？]+[”’\"'」』）)\]]*|(?<!\s)[.!?]+[\"'”’)\]]*(?=\s)")
_LETTERS = re.compile(r"[^\W\d_]+|\s+")
_JOINS_ON = re.compile(r"[a-z]")
_ENDED = re.compile(r"[.!?:;。！？：；…|]$")


def statements(text: str, longest: int = LONGEST_TEXT) -> list[Statement]:
    """Return the statements of a Markdown *text*, in order; of a text over *longest* those of its two ends.

    Code blocks, logs, commands on lines of their own and headings are none. A paragraph is cut into its sentences, an
    item or a row is one statement.
    """
    return [each for each in _statements(bounded(text, longest)) if each.text]


def _statements(text: str) -> Iterator[Statement]:
    section = lead = ""
    columns: list[str] = []
    for line in _joined(_prose_lines(text)):
        row = _ROW.fullmatch(line)
        columns = columns if row else []
        if match := _HEADING.fullmatch(line):
            section, lead = plain(match[1])[0].strip(" :："), ""
        elif match := _TABLE_HEAD.fullmatch(line):
            columns = [cell.strip() for cell in match[1].rstrip("|").split("|")]
        elif match := _ITEM.fullmatch(line):
            item = match[1] or match[2]
            yield _listed(item, lead or section)._replace(is_strong=item.startswith("**"))
        elif row:
            cells = [cell.strip() for cell in row[1].rstrip("|").split("|")]
            yield _listed(_row(cells, columns), lead or section)
        elif match := _LABEL.fullmatch(line):
            *before, last = sentences(plain(match[1] or match[2])[0]) or [""]
            if last.endswith(_SENTENCE_END):  # it says something rather than names what follows
                *before, last = *before, last, ""
            yield from (Statement(sentence, is_strong=True) for sentence in before)
            lead = last.strip(" :：")
        else:
            lead = ""
            said, codes = plain(line)
            cut = sentences(said) if codes != [said] else []  # of a name or a command nothing is said
            if cut and cut[-1].endswith((":", "：")):
                lead = cut[-1].strip(" :：")
            for sentence in cut:
                is_strong = any(plain(part)[0] in sentence for part in _STRONG.findall(line))
                yield Statement(sentence, "", False, sum(code in sentence for code in codes), is_strong, section)


def _row(cells: list[str], columns: list[str]) -> str:
    """Return the row of a table as a statement, each cell but the first with the name of its column.

    Nothing of a wide table, whose rows cannot be read without it.
    """
    if len(cells) != len(columns) or not 2 <= len(cells) <= 4 or not cells[0]:
        return ""
    if len(cells) == 2:
        return ": ".join(cells)
    named = (f"{name} = {cell}" for name, cell in zip(columns[1:], cells[1:], strict=True) if cell)
    return f"{cells[0]}: {', '.join(named)}"


def _listed(text: str, lead: str) -> Statement:
    said, codes = plain(text)
    return Statement(said, lead, is_listed=True, codes=len(codes))


def prose(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return the prose of *text* on one line: all of it but code blocks, logs, tables and marks."""
    told = (line for line in _joined(_prose_lines(bounded(text, longest))) if not line.startswith(("|", _HEAD_MARK)))
    lines = (re.sub(r"^#{1,6}\s+", "", line) for line in told)
    return " ".join(filter(None, (plain(line)[0] for line in lines)))


def plain(text: str) -> tuple[str, list[str]]:
    """Return one line of Markdown without its marks, and the code spans that it held."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # an odd mark is no code span
        parts[-2:] = [" ".join(parts[-2:])]
    parts[::2] = [_unmarked(part) for part in parts[::2]]
    spans = [one_line(span) for span in parts[1::2] if span.strip()]
    line = "".join(parts)
    return one_line(line if line.isascii() else _EMOJI.sub("", line)), spans


def is_machine_text(line: str) -> bool:
    """Return whether *line* is code, a log or a command rather than something that was said."""
    if _MACHINE.match(line) or line.count("│") > 1:
        return True
    start = line[:200].replace("**", "")
    return len(start) > 8 and len(_LETTERS.sub("", start)) > 0.4 * len(start)


def bounded(text: str, longest: int) -> str:
    """Return *text*, or its beginning and its end if it is over *longest*, whole lines where it has any."""
    if len(text) <= longest:
        return text
    head, tail = text[: longest // 3], text[-2 * longest // 3 :]
    return head.rpartition("\n")[0] + "\n\n" + tail.partition("\n")[2]


def _prose_lines(text: str) -> Iterator[str]:
    """Give the lines outside of code blocks and quoted tool blocks; an empty line for what was left out."""
    fence = tag = ""
    lines = text.splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        body = line.strip()
        if fence:
            fence = "" if closes(line, fence) else fence
        elif tag:
            tag = "" if f"</{tag}>" in body else tag
        elif fence := opening(line):
            pass
        elif (match := _BLOCK_TAG.match(body)) and not match[1] and f"</{match[2]}>" in text:
            tag = "" if f"</{match[2]}>" in body else match[2]
        elif body and len(line) <= _LONGEST_LINE and not _RULE.fullmatch(body):
            body = body.lstrip("> ") if body.startswith(">") else body
            is_head = body.startswith("|") and _RULE.fullmatch(following.strip())
            is_said = body.startswith(("|", "##")) or not is_machine_text(body)
            yield _HEAD_MARK + body if is_head else body if is_said else ""
            continue
        yield ""


def _joined(lines: Iterator[str]) -> Iterator[str]:
    """Give *lines* with wrapped ones put together again."""
    held = ""
    for line in lines:
        if held and line and len(held) < _LONGEST_LINE and _continues(held, line):
            held += line if is_unspaced(line[0]) else " " + line
            continue
        if held:
            yield held
        held = line
    if held:
        yield held


def _continues(held: str, line: str) -> bool:
    if _ENDED.search(held) or _HEADING.match(held):
        return False
    if _JOINS_ON.match(line):
        return True
    return is_unspaced(line[0]) and is_unspaced(held[-1]) and width(held) >= 60


def _unmarked(text: str) -> str:
    if "<" in text:
        text = _BLOCK_TAG.sub(" ", _TAG.sub(" ", text))
    if "[" in text:
        text = _LINK.sub(r"\1", text)
    text = text.replace("**", "").replace("~~", "")
    return _EMPHASIS.sub(lambda match: match[1] or match[2], text) if "*" in text or "_" in text else text


def sentences(text: str) -> list[str]:
    """Return *text*, which is one line, cut where its sentences end; not at `v2.1`, `auth.ts` or `e.g.` this."""
    cut, start = [], 0
    for match in _SENTENCE.finditer(text):
        if _ends(text, match, start):
            cut.append(text[start : match.end()].strip())
            start = match.end()
    return [sentence for sentence in (*cut, text[start:].strip()) if sentence]


def _ends(text: str, match: re.Match[str], start: int) -> bool:
    if match[0][0] in "。！？":
        return True
    if text[match.start() - 1 : match.start()] == "/":  # `go test ./...`
        return False
    if match[0].startswith(".") and _abbreviation().search(text, max(start, match.start() - 8), match.start() + 1):
        return False
    if text[start : match.start()].strip().isdigit():  # the number of an item
        return False
    following = text[match.end() : match.end() + 2].strip()
    return not following[:1].islower()


@cache
def _abbreviation() -> re.Pattern[str]:
    return re.compile(rf"(?:^|[\s(\[\"'])(?:{'|'.join(map(re.escape, words('abbreviations')))})\.$", re.IGNORECASE)
