"""The agent's options, by number or letter, and those that a prompt takes: "option 3, but …", "B". Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from memtool.text.languages import words
from memtool.text.lines import one_line, shortened, width
from memtool.text.statements import plain

_MOST, _WIDEST = 12, 110  # options of one message that are kept; columns of each
_LONGEST_PROMPT = 300  # columns; a longer one has a list of its own
_SENTENCES = 4  # of a prompt in which an option may be taken
_LABEL = r"(?P<label>[A-H]|\d{1,2}|[一二三四五六])"
_DIGITS = {digit: str(number) for number, digit in enumerate("一二三四五六", 1)}
_END = r"(?=\s*(?:$|[,;，；。!！~]|\.(?:\s|$)|吧|\s[-–—]|\s(?:but|and|please|with|first|then)\b))"  # what may follow
_CALLED = "option "  # before a label that stood behind such a word


class Meant(NamedTuple):
    """The option that a prompt names, and whether the prompt takes it rather than speaks of it."""

    label: str
    is_chosen: bool = False


def offered(said: str) -> dict[str, str]:
    """Return the options in the message *said* by their labels; of several lists with the same labels the last."""
    found: dict[str, str] = {}
    for line in said.splitlines():
        if match := _option().match(line):
            label = _plain(match["label"])
            if label in ("1", "A") and label in found:
                found.clear()
            if text := shortened(one_line(plain(match["text"])[0]).rstrip(" :："), _WIDEST):
                found[label] = text
                if match["word"]:
                    found[_CALLED + label] = text
    return dict(list(found.items())[: 2 * _MOST]) if len(found) > 1 else {}


def called_options(said: str) -> list[str]:
    """Return the options in the message *said* that are called so: "Option 1: …"."""
    return [text.removesuffix("…") for label, text in offered(said).items() if label.startswith(_CALLED)]


def names_option(text: str) -> bool:
    """Return whether *text* speaks of one of several options by its label: "Option 2 is less work"."""
    return _mention().search(text) is not None


def meant(asked: str, messages: Sequence[Mapping[str, str]]) -> dict[Meant, str]:
    """Return the options that the prompt *asked* names, of those in *messages*, the last of them last.

    Only what the last one offered can be taken. "Option 5" is an option that was called so, if there is one.
    """
    last = messages[-1] if messages else {}
    taken = _taken(asked)
    answered = re.findall(r"(?:^|[,，;；])\s*([A-H]|\d)\s*[-–:：]\s", asked)  # "1 - yeah, 2 - no"
    if named := {label: last[label] for label in [taken, *answered] if label in last}:
        return {Meant(label, bool(taken)): text for label, text in named.items()}
    mentions = _mention().finditer(asked) if width(asked) <= _LONGEST_PROMPT else ()
    labels = [_plain(match["label"]) for match in mentions]
    for choices in reversed(messages):
        if called := {Meant(label): choices[_CALLED + label] for label in labels if _CALLED + label in choices}:
            return called
    return {Meant(label): last[label] for label in labels if label in last}


def _taken(asked: str) -> str:
    """Return the label of the option that *asked* begins with and takes, or takes by a word for it later on."""
    for at, sentence in enumerate(re.split(r"(?<=[.!?])\s+|(?<=[。！？])", asked)[:_SENTENCES]):
        match = _taking().match(sentence) if not sentence.endswith(("?", "？")) else None
        label = (match["label"] or match["bare"]) if match else ""
        if match and (at == 0 or match[0] != label):
            return _plain(label)
    return ""


def _plain(label: str) -> str:
    return _DIGITS.get(label, label)


def _any(kind: str) -> str:
    return f"(?i:{'|'.join(re.escape(word) for word in words(kind))})"


@cache
def _option() -> re.Pattern[str]:
    marks = r"\s*(?:[-*+•]\s+|#{1,6}\s+|\|\s*)?(?:\*\*|`)?"
    return re.compile(
        rf"{marks}(?P<word>{_any('option')}\s*)?{_LABEL}(?:[.)、:：）]|\s+[-–—])(?:\*\*)?\s*(?P<text>\S.*)"
    )


@cache
def _taking() -> re.Pattern[str]:
    lead = (
        rf"\W*(?:(?:{_any('consent')}|{_any('picking')})[\s,，]*){{0,3}}"  # bounded: words of it begin with one another
    )
    bare = _LABEL.replace("label", "bare").replace(r"\d{1,2}", r"\d")
    return re.compile(rf"{lead}(?:(?:{_any('option')}|{_any('picking')})\s*{_LABEL}|{bare}){_END}")


@cache
def _mention() -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_]){_any('option')}\s*{_LABEL}(?![\w.%])")
