"""Secrets that were found once, or are known by a hash: they are masked wherever they occur again, in any spelling.

A text is read as it is, then with one level of escapes less after the other (URL, JSON, HTML, shell), and what looks
like base64 or hexadecimal is decoded. So the time grows with the text, and with the number of secrets only as fast as
`str.find` is.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from memtool.redaction.values import is_common, is_telling
from memtool.redaction.views import Finding, Replacement, View, compiled, without_markers

_LEVELS = 3  # of escapes within escapes; of base64 within base64
_LEAST = 4  # characters
_TAG = r"</?private[^<>]*>"
_GAP = r"[^\S\n]*+\n[\s>]*+|[^\S\n]{2,}+|[^\S\n ]"
_ESCAPE = (
    r"(?P<url>(?:%[0-9A-Fa-f]{2}){1,256}+)"
    r"|(?P<code>(?:\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}){1,256}+)"
    r"|(?P<html>&(?:quot|apos|amp|lt|gt|nbsp|#[0-9]{1,6}|#[xX][0-9A-Fa-f]{1,5});)"
    r"""|(?P<quotes>'\\''|'"'"')"""
    r"|(?P<sign>\\[^A-Za-z0-9\s])"
)
# Programs break base64 after 60 characters and more.
_CODED_RUN = r"[A-Za-z0-9+/_-]{6,}+(?:(?<=[A-Za-z0-9+/]{60})(?:\\r)?(?:\r?\n|\\n)[A-Za-z0-9+/]{1,}+)*+={0,2}"
_NAMED = {"quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">", "nbsp": " "}


class KnownSecrets:
    """The secrets found so far, each with its kind."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._kinds)

    def learn(self, text: str, kind: str) -> None:
        """Remember *text*, and what it reads when it is decoded; of several words those that tell, too."""
        for plain in _plain_forms(re.sub(_TAG, "", text[:4_096])):
            pieces = re.split(r"[\s;,&]+|(?<=\w)[:=](?=\S)", plain)
            telling = [piece for piece in pieces if len(pieces) > 1 and is_telling(piece)]
            for secret in (plain, plain.rstrip("!?.:"), *telling):
                is_long = len(secret) >= (6 if secret.isdigit() else _LEAST)
                is_worth = is_long and "[redacted" not in secret and not is_common(secret)
                if is_worth and len(self._kinds) < 1_000:  # in one session
                    self._kinds.setdefault(_folded(secret), kind)

    def add(self, text: str, kind: str) -> None:
        """Remember *text* as it is, and what it reads when it is decoded, however short or common."""
        for plain in filter(None, _plain_forms(text)):
            for form in (plain, unicodedata.normalize("NFC", plain), unicodedata.normalize("NFD", plain)):
                self._kinds.setdefault(_folded(form), kind)

    def find_wrapped(self, text: str) -> Iterator[Finding]:
        """Return what `find` does, and each place where other white space or a line end parts the words."""
        yield from self.find(text)
        if any(" " in secret for secret in self._kinds):
            view = View(text).changed(Replacement(*found.span(), " ") for found in compiled(_GAP).finditer(text))
            yield from (view.original(found) for found in self.find(view.text))

    def find(self, text: str) -> Iterator[Finding]:
        """Return each place of *text* that holds one of the secrets, in whatever spelling."""
        if self._kinds:
            yield from self._find(text, 2)  # base64 within base64

    def _find(self, text: str, levels: int) -> Iterator[Finding]:
        view = without_markers(View(text))
        for _ in range(_LEVELS + 1):
            yield from (view.original(found) for found in (*self._spelled(view.text), *self._coded(view.text, levels)))
            if (view_below := _decoded(view)) is None:
                return
            view = view_below

    def _spelled(self, text: str) -> Iterator[Finding]:
        lowered = _folded(text)
        for secret, kind in self._kinds.items():
            place = lowered.find(secret)
            while place >= 0:
                end = place + len(secret)
                # a long one is a secret anywhere, a shorter one only as a whole word
                if len(secret) >= 16 or not _is_within_a_word(lowered, place, end):
                    yield Finding(place, end, kind)
                place = lowered.find(secret, end)

    def _coded(self, text: str, levels: int) -> Iterator[Finding]:
        """Give each run of base64 or hexadecimal digits that holds a secret; all of them are decoded into one text."""
        runs: list[re.Match[str]] = []
        pieces, starts, length = [], [], 0
        for run in compiled(_CODED_RUN).finditer(text) if levels else ():
            for plain in _decodings(run[0]):
                runs.append(run)
                pieces.append(plain)
                starts.append(length)
                length += len(plain) + 1
        for found in self._find("\n".join(pieces), levels - 1) if pieces else ():
            run = runs[bisect_right(starts, found.start) - 1]
            yield Finding(*run.span(), found.kind)


def _folded(text: str) -> str:
    return text.replace("İ", "I").lower()  # the one letter whose small form is longer


def _is_within_a_word(text: str, start: int, end: int) -> bool:
    """Return whether a letter or digit of ASCII goes on in front of *start*, or behind *end*."""
    joints = (text[max(start - 1, 0) : start + 1], text[end - 1 : end + 1])
    return any(len(joint) == 2 and joint.isascii() and joint.isalnum() for joint in joints)


def _plain_forms(text: str) -> Iterator[str]:
    view: View | None = View(text.strip())
    for _ in range(_LEVELS + 1):
        if view is None:
            return
        yield view.text
        if run := compiled(_CODED_RUN).fullmatch(view.text):
            yield from (
                plain for plain in _decodings(run[0]) if len(plain) > _LEAST and plain.isascii() and plain.isprintable()
            )
        view = _decoded(view)


def _decoded(view: View) -> View | None:
    """Return *view* with one level of escapes less; None if there are none."""
    found = compiled(_ESCAPE).finditer(view.text)
    changes = [Replacement(*each.span(), new) for each in found if (new := _read(each))]
    return view.changed(changes) if changes else None


def _read(found: re.Match[str]) -> str:
    escape = found[0]
    if found.lastgroup == "url":
        return "".join(bytes.fromhex(escape.replace("%", "")).decode("utf-8", "replace"))
    if found.lastgroup == "quotes":
        return "'"
    if found.lastgroup == "html":
        if escape[1] != "#":
            return _NAMED[escape[1:-1]]
        number = escape[2:-1]
        code = int(number[1:], 16) if number[0] in "xX" else int(number)
        return chr(code) if code <= sys.maxunicode else ""
    if found.lastgroup == "code":
        units = bytes(escape, "ascii").decode("unicode_escape").encode("utf-16", "surrogatepass")
        return units.decode("utf-16", "replace")
    return escape[1:]


def _decodings(run: str) -> Iterator[str]:
    """Return the texts that *run* may hold, read as hexadecimal and as base64 from each of four places on."""
    run = re.sub(r"\\r|\\n|\s", "", run).rstrip("=")
    if re.fullmatch(r"(?:[0-9a-fA-F]{2}){4,}", run):
        yield bytes.fromhex(run).decode("utf-8", "replace")
    letters = run.replace("-", "+").replace("_", "/")
    for start in range(4):
        piece = letters[start:]
        piece = piece[: len(piece) - (len(piece) % 4 == 1)]
        try:
            content = base64.b64decode(piece + "=" * (-len(piece) % 4))
        except (ValueError, binascii.Error):
            continue
        yield content.replace(b"\0", b"").decode("utf-8", "replace")  # PowerShell writes UTF-16


_START = r"(?<![A-Za-z0-9])[A-Za-z0-9]|[^\sA-Za-z0-9]"


class HashedTexts(NamedTuple):
    """The *salt*, and of each text its length, a small checksum of its ends, and its hash."""

    salt: str = ""
    prints: tuple[tuple[int, int, str], ...] = ()

    def with_text(self, text: str) -> HashedTexts:
        """Return these and *text*."""
        plain = _folded(text)
        return self._replace(prints=(*self.prints, (len(plain), _ends(plain, 0, len(plain)), self._hash(plain))))

    def find(self, text: str, kind: str) -> Iterator[Finding]:
        """Return each place of *text* that holds one of the texts, from the beginning of a word on."""
        prints = set(self.prints[:200])  # more are not compared
        lengths = {length for length, _, _ in prints}
        ends = {(length, sum_) for length, sum_, _ in prints}
        plain = _folded(text) if prints else ""
        for start in (found.start() for found in re.finditer(_START, plain)):
            for length in lengths:
                end = start + length
                if end > len(plain) or (length, check := _ends(plain, start, end)) not in ends:
                    continue
                if (length, check, self._hash(plain[start:end])) in prints:
                    yield Finding(start, end, kind)

    def _hash(self, plain: str) -> str:
        return hashlib.sha256(f"{self.salt}{plain}".encode("utf-8", "surrogatepass")).hexdigest()


def _ends(text: str, start: int, end: int) -> int:
    return (ord(text[start]) * 31 + ord(text[end - 1])) % 64
