"""Private keys in their armour (RFC 7468, OpenSSH, PGP, PuTTY), whole or cut off, their line ends escaped or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from memtool.redaction.finding import Finding

KIND = "private-key"


def find_private_keys(text: str) -> Iterator[Finding]:
    """Return every private key: up to its end mark or, where that is missing, as far as its lines go."""
    if "PRIVATE KEY" in text:
        for mark, following in pairwise([*_mark().finditer(text), None]):
            if mark is None or mark["what"] == "END":
                continue
            if following is not None and following["what"] == "END":
                yield Finding(mark.start(), following.end(), KIND)
            elif lines := _lines().match(text, mark.end()):
                yield Finding(mark.start(), lines.end(), KIND)
    if "Private-Lines:" in text:
        yield from (Finding(found.start(), found.end(), KIND) for found in _putty().finditer(text))


@cache
def _mark() -> re.Pattern[str]:
    return re.compile(r"-{4,5} ?(?P<what>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")


@cache
def _lines() -> re.Pattern[str]:
    gap = r"(?:\s|\\++[nr]|[\"'+,]){0,40}"
    header = r"[A-Z][A-Za-z-]{2,20}: [^\n\\]{1,200}"
    return re.compile(
        rf"(?:{gap}(?:{header}|[A-Za-z0-9+/=]{{16,}}+))++(?:{gap}[A-Za-z0-9+/]{{1,15}}={{0,2}}(?![A-Za-z0-9]))?"
    )


@cache
def _putty() -> re.Pattern[str]:
    return re.compile(r"Private-Lines: ?\d{1,4}(?:(?:\s|\\++[nr]){1,8}[A-Za-z0-9+/=]{4,80}(?![A-Za-z0-9:-]))++")
