"""The options in a message of the agent by their labels, and those that a prompt takes: "option 3, but …", "B". Pure.

Whatever word stands before a label ("Option 2", 方案二), it need not be known.
"""

from __future__ import annotations

import re

from memtool.text.lines import shortened, width
from memtool.text.statements import plain

_MOST, _WIDEST = 12, 160  # options of one message that are kept; columns of each
_LONGEST_LINE = 2_000
_LONGEST_PROMPT = 300  # columns; a longer one has a list of its own
_DIGITS = {digit: str(number) for number, digit in enumerate("一二三四五六", 1)}
_LABEL = r"([A-Ha-h]|\d{1,2}|[一二三四五六])"
_WORD = r"(?:[A-Za-z]{2,12}\s|[^\W\d_A-Za-z]{1,4})?"
_OPTION = re.compile(rf"(?:[-*+•|]\s+|#{{1,6}}\s+)?{_WORD}[(（]?{_LABEL}(?:[.)、:：）](?!\d)|\s+[-–—](?=\s))\s*(\w.*)")
_NEXT = re.compile(
    rf"(?<=[.:;。：；，,])\s*(?={_WORD}{_LABEL.replace('(', '(?:', 1)}[.)、:：）]\s*[^\W\d])|\s(?=\d[.)]\s)"
)
_JOINED = rf"\s*(?:[,&+/、和与]|\s[^\W\d_]{{1,3}}\s)\s*{_LABEL.replace('(', '(?:', 1)}(?!\w)"
_END = rf"(?=\s*(?:$|[,;，；。!！~]|\.(?:\s|$)|吧|\s[-–—]\s|\s[a-z]+(?:\W*$|[,;])|{_JOINED}))"
_TAKEN = re.compile(rf"(?:^|(?<=[\s,，。：:])|(?<=[^\W\da-zA-Z_])){_LABEL}(?![A-Za-z0-9_%.]\w){_END}")
_FIRST = re.compile(r"([B-H])\s|第\s?(\d|[一二三四五六])\s?[^\W\dA-Za-z_]?")  # "B but …", 第二个


def offered(said: str) -> dict[str, str]:
    """Return the options in the message *said* by their labels; of several lists with the same labels the last."""
    found: dict[str, str] = {}
    lines = (part for line in said.splitlines() for part in _NEXT.split(line[:_LONGEST_LINE]) if part)
    for match in filter(None, (_OPTION.match(plain(line)[0]) for line in lines)):
        label = _label(match[1])
        if label in ("1", "A") and label in found:
            found.clear()
        if text := shortened(match[2].rstrip(" :：,，;；"), _WIDEST):
            found[label] = text
    return dict(list(found.items())[:_MOST]) if len(found) > 1 else {}


def taken(typed: str, said: str) -> dict[str, str]:
    """Return the options of the message *said* that the user takes with the first sentence of what was *typed*."""
    options = offered(said) if width(typed) <= _LONGEST_PROMPT else {}
    first = re.split(r"(?<=[.!?])\s+|(?<=[。！？])|\n", typed.strip())[0]
    if not options or first.endswith(("?", "？")):
        return {}
    labels = {_label(match[1]) for match in _TAKEN.finditer(first) if match.start() == 0 or not match[1].islower()}
    if begins := _FIRST.match(first):
        labels.add(_label(begins[1] or begins[2]))
    return {label: text for label, text in options.items() if label in labels}


def _label(label: str) -> str:
    return _DIGITS.get(label, label.upper())
