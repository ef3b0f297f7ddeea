r"""Other readings of a text, in which rules find what its spelling hides: `\u003d` is `=`, a wrapped line is one.

A finding in a view is mapped back, so that the text itself keeps its spelling. Patterns are texts: `re` compiles them
when they are first used.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

_WIDE = "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff0d\uff3f"  # full-width digits, letters, hyphen and underscore
_UNSEEN = "\u00ad\u034f\u061c\u115f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
_SUSPECT = rf"[\\%&\x1b{_WIDE}{_UNSEEN}]"
_MARKER = r"\[redacted: [a-z0-9-]{1,40}\]"
_LONG_WORD = r"[A-Za-z0-9_./+=:~$%@?-]{14,}+"
_GOES_ON = (
    r"[A-Za-z0-9_+/=.-]\r?\n[ \t>|│]{0,16}"
    r"(?=[A-Za-z_+/.-]{0,512}[0-9]|[A-Z_+/.-]{0,64}[a-z]{1,64}[A-Z])"
    r"(?=[A-Za-z0-9_+/.-]{1,512}+={0,2}(?:[\s\"'`,;)}\]│]|$))"
)
# "…" + "…", the same without a sign on the next line, and a line of a shell that goes on.
_JOINT = (
    r"([\"'`])(?:[ \t]{0,8}(?:[+.&]|\.\.|<>)[ \t]{0,8}(?:\r?\n[ \t]{0,40})?[rbfu]?\1"
    r"|[ \t]{0,8}\\?\r?\n[ \t]{0,40}(?:[+.&][ \t]{0,8}|(?![rbfu]?[\"'`][^\n\"'`]{0,200}[\"'`][ \t]?[:=]))[rbfu]?\1)"
    r"|(?<=[^\s\\])\\\r?\n(?=\S)"
)
# ["…", "…"].join(""), "".join(["…", "…"]), implode("", ["…", "…"]), strings.Join([]string{"…", "…"}, "")
_QUOTED = r"[\"'][^\"'\n]{0,64}[\"']"
_LIST = (
    r"(?:[\"'][^\"'\n]{0,3}[\"']\.join\(|implode\([^,\n]{2,5},[ ]?|strings\.Join\((?:\[\]string)?)?[\[({]\s{0,24}"
    rf"(?P<items>{_QUOTED}(?:,\s{{0,24}}{_QUOTED}){{1,16}}+)(?=,?\s{{0,24}}[\])}}](?P<behind>\.join\()?)"
)
# Escapes of code, where a line end matters only before what may be the beginning of a secret or of its name; of URLs
# and HTML; full-width characters, those that are not seen, and colours of a terminal.
_SPELLINGS = (
    r"\\(?:u00[0-7][0-9a-fA-F]|x[2-7][0-9a-fA-F]|[\"'/\\]|[nrt](?=[A-Za-z0-9_-])|\r?\n)|%[2-7][0-9a-fA-F]"
    rf"|&(?:quot|amp|apos|#34|#39);|[{_WIDE}]++|[{_UNSEEN}]++|\x1b\[[0-9;]{{0,16}}[A-Za-z]"
)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "\n": " ", "\r": " "}
_ENTITIES = {"&quot;": '"', "&#34;": '"', "&amp;": "&", "&apos;": "'", "&#39;": "'"}
_GAP = "\n\n\n"  # no name and value span it


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return *pattern* compiled, once."""
    return re.compile(pattern)


def any_of(*patterns: str) -> str:
    """Return the pattern of what matches one of *patterns*."""
    return "|".join(patterns)


class Replacement(NamedTuple):
    """*start* to *end* of a text reads *new*."""

    start: int
    end: int
    new: str


class View:
    """One reading of a text, and the way back."""

    def __init__(
        self, text: str, below: View | None = None, starts: Sequence[int] = (0,), shifts: Sequence[int] = (0,)
    ) -> None:
        self.text = text
        self._below = below
        self._starts = starts  # from here on in this text ...
        self._shifts = shifts  # ... add this for the place in the text below

    def changed(self, changes: Iterable[Replacement]) -> View:
        """Return the reading with *changes*, which are in order and apart."""
        pieces, starts, shifts = [], [0], [0]
        done = length = 0
        for start, end, new in changes:
            pieces += [self.text[done:start], new]
            length += start - done
            starts += [length, length + len(new)]
            shifts += [start - length, end - length - len(new)]
            length += len(new)
            done = end
        return View("".join(pieces) + self.text[done:], self, starts, shifts)

    def original(self, finding: Finding) -> Finding:
        """Return *finding* at its place in the first text."""
        if self._below is None:
            return finding
        start, end = self._place_below(finding.start), self._place_below(finding.end)
        return self._below.original(Finding(start, end, finding.kind))

    def _place_below(self, place: int) -> int:
        return place + self._shifts[bisect_right(self._starts, place) - 1]


def without_markers(view: View) -> View:
    """Return *view* with what was redacted before as a gap that no name or value spans, so that it is left alone."""
    if "[redacted: " not in view.text:
        return view
    return view.changed(Replacement(*found.span(), _GAP) for found in re.finditer(_MARKER, view.text))


def spelled_out(view: View) -> View | None:
    """Return the lines of *view* in which something is spelled otherwise, one level of escapes less; None if none is.

    That is escapes of JSON, URLs and HTML, characters that are not seen, and full-width ones.
    """
    if not re.search(_SUSPECT, view.text):
        return None
    changes = [Replacement(*found.span(), _spelled(found[0])) for found in re.finditer(_SPELLINGS, view.text)]
    if all(change.new == "\\" for change in changes):  # a backslash that stands for itself hides nothing
        return None
    return view.changed(sorted([*changes, *_far_lines(changes, view.text)]))


def unwrapped(view: View) -> View | None:
    """Return *view* without the line ends that cut a token in two; None if there are none.

    A line that is cut is long, ends in the token, and goes on with something that is no word and no name of a setting.
    """
    changes = list(_wraps(view.text))
    return view.changed(changes) if changes else None


def joined(view: View) -> View | None:
    """Return *view* with the texts that code or a shell puts together as one; None if there are none."""
    changes = [Replacement(*found.span(), "") for found in re.finditer(_JOINT, view.text)]
    changes = list(_lists(view.text)) or changes
    return view.changed(changes) if changes else None


def _lists(text: str) -> Iterator[Replacement]:
    """Give what is between the texts of a list that code joins."""
    for found in re.finditer(_LIST, text) if "join(" in text or "Join(" in text or "implode(" in text else ():
        if found[0][0] not in "[({" or found["behind"]:
            yield Replacement(found.start(), found.start("items"), "")
            for between in re.finditer(r"[\"'],\s{0,24}[\"']", found["items"]):
                yield Replacement(found.start("items") + between.start(), found.start("items") + between.end(), "")


def long_words(view: View) -> View:
    """Return *view* with only those words, each in its line, that are long enough for a token and not just letters."""
    pieces, starts, shifts, length = [], [], [], 0
    has_digit = re.compile(r"[0-9]|\b[a-z]{2,6}[-_][a-z]{0,24}[A-Z]{1,24}[a-z]{1,24}[A-Z]").search
    for word in re.finditer(_LONG_WORD, view.text):
        if word.end() - word.start() >= 32 or has_digit(word[0]):  # so long a word without a digit may be a token
            pieces.append(word[0])
            starts.append(length)
            shifts.append(word.start() - length)
            length += word.end() - word.start() + 1
    return View("\n".join(pieces), view, starts, shifts)


def _wraps(text: str) -> Iterator[Replacement]:
    line_start, goes_on = 0, re.compile(_GOES_ON)
    while (line_end := text.find("\n", line_start)) >= 0:
        if line_end - line_start >= 60:  # characters: a shorter line was not wrapped
            end = line_end - (text[line_end - 1] == "\r")
            if found := goes_on.match(text, end - 1):
                yield Replacement(end, found.end(), "")
        line_start = line_end + 1


def _far_lines(changes: list[Replacement], text: str) -> Iterator[Replacement]:
    """Give the text that lies more than a line before and behind any of the *changes*, as a gap."""
    ends = [0, *(change.end for change in changes)]
    starts = [*(change.start for change in changes), len(text)]
    for end, start in zip(ends, starts, strict=True):
        if start - end > 500:  # characters
            first = end if end == 0 else text.find("\n", text.find("\n", end, start) + 1 or start, start)
            last = start if start == len(text) else text.rfind("\n", end, max(text.rfind("\n", end, start), end))
            if 0 <= first < last:
                yield Replacement(first, last, _GAP)


def _spelled(escape: str) -> str:
    """Return what *escape*, a match of `_SPELLINGS`, spells."""
    if escape[0] == "%" or escape[:2] in {"\\u", "\\x"}:
        return chr(int(escape[-2:], 16))
    if escape[0] == "\\":
        return _CONTROLS.get(escape[1], escape[1])
    if escape[0] == "&":
        return _ENTITIES[escape]
    return "".join(chr(ord(each) - 0xFEE0) for each in escape) if re.match(f"[{_WIDE}]", escape) else ""


class Finding(NamedTuple):
    """A piece of a text that goes. An empty *kind* is no secret and leaves a space."""

    start: int
    end: int
    kind: str

    @property
    def marker(self) -> str:
        """The text that takes its place."""
        return f"[redacted: {self.kind}]" if self.kind else " "


def merge(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings from left to right, with those that overlap as one.

    Its kind is that of the earliest in *findings*: exact rules come first.
    """
    merged: list[tuple[int, Finding]] = []
    for rank, finding in sorted(enumerate(findings), key=lambda ranked: ranked[1].start):
        if not merged or finding.start >= merged[-1][1].end:
            merged.append((rank, finding))
            continue
        other_rank, other = merged[-1]
        kind = other.kind if other_rank < rank else finding.kind
        merged[-1] = (min(rank, other_rank), Finding(other.start, max(other.end, finding.end), kind))
    return [finding for _, finding in merged]


def replace(text: str, findings: Sequence[Finding]) -> str:
    """Return *text* with a marker for each of the merged *findings*."""
    pieces, end = [], 0
    for finding in findings:
        pieces += [text[end : finding.start], finding.marker]
        end = finding.end
    return "".join(pieces) + text[end:]
