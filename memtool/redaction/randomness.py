"""Strings that a machine drew at random, told from what a person wrote, without a name beside them.

English words, identifiers and paths use few of the 676 pairs of letters, and the same ones everywhere; random
letters use them all alike. Hashes, ids and the like are random too, but no secrets: their form tells them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from memtool.redaction.views import Finding

KIND = "random"
_LEAST = 24  # 16 bytes in base64 and a little: what most makers of tokens draw at least
_JUDGED = 128  # characters of a long string are enough
_FRONT = 64  # characters that tell what begins behind them
_LONGEST_KEY = 4_096
_LEAST_IN_LINK = 16
_REMAINS = 16  # characters that are not hexadecimal

# The 230 pairs that make up nine tenths of the words in a few megabytes of Python code and English documentation.
_COMMON_PAIRS = frozenset(
    """
    ab ac ad ag ai ak al am an ap ar as at au av ay ba be bi bl bo br bs bu ca cc ce ch ci ck cl co cr cs ct cu da
    dd de di dl do dr ds du ea ec ed ee ef eg ei el em en eo ep er es et ev ew ex fa fe ff fi fl fo fr fu ga ge gh
    gi gn gr gs ha he hi ho ht ia ib ic id ie if ig il im in io ip ir is it iv iz ke ki la ld le li ll lo ls lt lu
    ly ma mb me mi mm mo mp ms mu na nc nd ne nf ng ni nk nl nn no ns nt nu nv ob oc od of og oi ol om on oo op or
    os ot ou ov ow pa pe pi pl po pp pr ps pt pu py qu ra rc rd re rg ri rl rm rn ro rp rr rs rt ru ry sa sc se sh
    si sl so sp ss st su sy ta tc te th ti tl tm to tp tr ts tt tu ty ua ub uc ue ui ul um un up ur us ut va ve vi
    wa we wi xp xt yp ys ze
    """.split()
)
COMMON_SHARE = 0.7  # of the pairs of words 0.9 are common, of random letters 0.34; one random string in 100 is above
_IN_PARTS = (
    0.5  # pairs within the parts of a name, for each character; one random string in 200 has as many common ones
)


def find_random(text: str) -> Iterator[Finding]:
    """Return strings of 24 characters or more that look drawn at random."""
    patterns = _patterns()
    for run in patterns.run.finditer(text):
        if not patterns.public.match(text, run.start()):
            for piece in patterns.piece.finditer(text, *run.span()):
                yield from (_behind_host(text, found) for found in _random_parts(piece[0], piece.start()))


def find_in_links(text: str) -> Iterator[Finding]:
    """Return what looks drawn at random in the path of a link that logs in: `/reset-password/…`."""
    for found in _patterns().link.finditer(text):
        if looks_random(found[1], _LEAST_IN_LINK) or _patterns().drawn.fullmatch(found[1]):
            yield Finding(*found.span(1), KIND)


def _behind_host(text: str, found: Finding) -> Finding:
    """Return *found* without the end of a host that it begins with: `https://a.example/…`."""
    if _patterns().in_host.search(text, max(found.start - _FRONT, 0), found.start):
        return found._replace(start=text.find("/", *found[:2]) + 1 or found.start)
    return found


def is_public(text: str, start: int) -> bool:
    """Return whether what is in front of *start* says that no secret begins there."""
    begin = text.rfind("-----BEGIN ", max(start - _LONGEST_KEY, 0), start)
    armour = _patterns().armour.match(text, begin) if begin >= 0 else None
    return (armour is not None and start < armour.end()) or (
        _patterns().front.search(text, max(start - _FRONT, 0), start) is not None
    )


def looks_random(text: str, least: int = _LEAST) -> bool:
    """Return whether *text* is made of letters and digits that no person would put together, and is no hash or UUID."""
    patterns = _patterns()
    if len(text) < least or not text.isascii() or not patterns.digit.search(text, 0, _JUDGED):
        return False
    rest = patterns.known.sub("", text[:_JUDGED])
    has_upper = patterns.upper.search(rest) is not None
    if len(rest) < min(least, _REMAINS) or not patterns.unbroken.search(rest):
        return False
    if not patterns.lower.search(rest) or not patterns.digit.search(rest):
        return False
    if not has_upper and len(text) < least + 8:  # fewer letters to draw from take more of them
        return False
    return common_share(rest) < COMMON_SHARE and not _is_name(rest)


def _is_name(text: str) -> bool:
    """Return whether *text* is a name of long parts that are words, such as `KeyDataX509GetKlass`."""
    parts = " ".join(_patterns().part.findall(text))
    pairs = sum(a.isalpha() and b.isalpha() for a, b in pairwise(parts))
    return pairs >= _IN_PARTS * len(text) and common_share(parts) >= COMMON_SHARE


def _random_parts(piece: str, start: int) -> Iterator[Finding]:
    """Return the piece, or those parts of a path that look random."""
    may_be_path = "/" in piece and (not _patterns().upper.search(piece) or "-" in piece or "_" in piece)
    if not may_be_path and looks_random(piece):
        yield Finding(start, start + len(piece), KIND)
    elif "/" in piece:
        for part in piece.split("/"):
            if looks_random(part):
                yield Finding(start, start + len(part), KIND)
            start += len(part) + 1


def common_share(text: str) -> float:
    """Return how many of the pairs of letters in *text* are pairs that words are made of, from 0 to 1."""
    pairs = [a + b for a, b in pairwise(text.lower()) if a.isalpha() and b.isalpha()]
    return sum(pair in _COMMON_PAIRS for pair in pairs) / len(pairs) if pairs else 0.0


class _RunPatterns(NamedTuple):
    run: re.Pattern[str]
    piece: re.Pattern[str]
    public: re.Pattern[str]
    armour: re.Pattern[str]
    front: re.Pattern[str]
    in_host: re.Pattern[str]
    link: re.Pattern[str]
    drawn: re.Pattern[str]
    known: re.Pattern[str]
    unbroken: re.Pattern[str]
    part: re.Pattern[str]
    digit: re.Pattern[str]
    lower: re.Pattern[str]
    upper: re.Pattern[str]


@cache
def _patterns() -> _RunPatterns:
    return _RunPatterns(
        run=re.compile(r"[A-Za-z0-9+/=_-]{24,}+"),
        piece=re.compile(r"[A-Za-z0-9+/_-]{24,}+=*+"),
        # Integrity hashes, C++ symbols, public SSH keys, and the ids of messages, objects and requests.
        public=re.compile(
            r"sha(?:1|256|384|512)-|_Z[A-Z0-9]|AAAA[BC]3Nza|AAAAE2Vj|[a-z]{2,12}_01[A-Za-z0-9]{20,24}(?![A-Za-z0-9])"
            r"|(?:msg|toolu|srvtoolu|req|chatcmpl|call|resp|thread|asst|step|file|session|evt|cus|prod|price|sub|acct|org"
            r"|proj|dpl)[_-](?!.{0,64}secret)"
        ),
        # Public keys and certificates in their armour (RFC 7468, OpenPGP).
        armour=re.compile(
            r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,2}(?:PUBLIC KEY(?: BLOCK)?|CERTIFICATE(?: REQUEST)?|CRL)-----"
            r"(?:\s|\\+[nr])*+(?:[A-Za-z0-9+/=]{1,80}+(?:\s|\\+[nr])*+)++-----END "
        ),
        # Fingerprints and checksums, the contents of files in addresses, ids in addresses.
        front=re.compile(r"(?:SHA256:|\bh1:|\bdata:[\w/+.-]{1,40};base64,|[?&](?:list|v|id)=)\Z"),
        in_host=re.compile(r"://[^\s/?#]{1,60}\Z"),
        link=re.compile(r"(?:password|reset|magic-link|invite)/([A-Za-z0-9_-]{16,}+)"),
        drawn=re.compile(r"[0-9a-f]{20,}"),
        known=re.compile(
            r"(?i:sha|aes|md|rsa|utf|base|pbkdf)[0-9]{1,4}"
            r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{7,}+"
        ),
        unbroken=re.compile(r"[A-Za-z0-9+/]{11}"),  # names have short parts
        part=re.compile("[A-Z]?[a-z]+|[A-Z]+(?![a-z])"),
        digit=re.compile("[0-9]"),
        lower=re.compile("[a-z]"),
        upper=re.compile("[A-Z]"),
    )
