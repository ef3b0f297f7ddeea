"""Texts that are known by salted hashes only, and are masked wherever they are written again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from memtool.redaction.views import Finding

_MOST = 200  # hashes that are compared
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
        prints = set(self.prints[:_MOST])
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


def _folded(text: str) -> str:
    return text.replace("İ", "I").lower()  # the one letter whose small form is longer


def _ends(text: str, start: int, end: int) -> int:
    return (ord(text[start]) * 31 + ord(text[end - 1])) % 64
