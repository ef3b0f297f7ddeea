"""Strings that a machine drew at random, told from what a person wrote, without a name beside them.

English words, identifiers and paths use few of the 676 pairs of letters, and the same ones everywhere; random
letters use them all alike. Hashes, ids and the like are random too, but no secrets: their form tells them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from memtool.redaction.views import Finding, compiled

KIND = "random"
_JUDGED = 128  # characters of a long string are enough
_FRONT = 64  # characters that tell what begins behind them

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
_RUN = r"[A-Za-z0-9+/=_-]{24,}+"
_PIECE = r"[A-Za-z0-9+/_-]{24,}+=*+"
# Integrity hashes, C++ symbols, public SSH keys, and the ids of messages, objects and requests.
_PUBLIC = (
    r"sha(?:1|256|384|512)-|_Z[A-Z0-9]|AAAA[BC]3Nza|AAAAE2Vj|[a-z]{2,12}_01[A-Za-z0-9]{20,24}(?![A-Za-z0-9])"
    r"|(?:msg|toolu|srvtoolu|req|chatcmpl|call|resp|thread|asst|step|file|session|evt|cus|prod|price|sub|acct|org"
    r"|proj|dpl)[_-](?!.{0,64}secret)"
)
# Public keys and certificates in their armour (RFC 7468, OpenPGP).
_ARMOUR = (
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,2}(?:PUBLIC KEY(?: BLOCK)?|CERTIFICATE(?: REQUEST)?|CRL)-----"
    r"(?:\s|\\+[nr])*+(?:[A-Za-z0-9+/=]{1,80}+(?:\s|\\+[nr])*+)++-----END "
)
# Fingerprints and checksums, the contents of files in addresses, ids in addresses.
_PUBLIC_FRONT = (
    r"(?:SHA256:|\b[Ee][Tt]ag\"?: ?(?:W/)?\"|\bPublicKey ?= ?|\bpin-sha256=\"?|\bh1:|\bdata:[\w/+.-]{1,40};base64,"
    r"|[?&](?:list|v|id)=)\Z"
)
_IN_HOST = r"://[^\s/?#]{1,60}\Z"
_LINK = r"(?:password|reset|magic-link|invite)/([A-Za-z0-9_-]{16,}+)"
_DRAWN = r"[0-9a-f]{20,}"
_KNOWN = (
    r"(?i:sha|aes|md|rsa|utf|base|pbkdf)[0-9]{1,4}"
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{7,}+"
)
_UNBROKEN = r"[A-Za-z0-9+/]{11}"
_PART = "[A-Z]?[a-z]+|[A-Z]+(?![a-z])"
_DIGIT = "[0-9]"
_LOWER = "[a-z]"
_UPPER = "[A-Z]"


def find_random(text: str) -> Iterator[Finding]:
    """Return strings of 24 characters or more that look drawn at random."""
    for run in compiled(_RUN).finditer(text):
        if compiled(_PUBLIC).match(text, run.start()):
            continue
        for piece in compiled(_PIECE).finditer(text, *run.span()):
            for found in _random_parts(piece[0], piece.start()):
                # without the end of a host that it begins with: https://a.example/…
                is_in_host = compiled(_IN_HOST).search(text, max(found.start - _FRONT, 0), found.start)
                slash = text.find("/", *found[:2]) if is_in_host else -1
                yield found._replace(start=slash + 1 or found.start)


def find_in_links(text: str) -> Iterator[Finding]:
    """Return what looks drawn at random in the path of a link that logs in: `/reset-password/…`."""
    for found in compiled(_LINK).finditer(text):
        if looks_random(found[1], 16) or compiled(_DRAWN).fullmatch(found[1]):
            yield Finding(*found.span(1), KIND)


def is_public(text: str, start: int) -> bool:
    """Return whether what is in front of *start* says that no secret begins there."""
    begin = text.rfind("-----BEGIN ", max(start - 4_096, 0), start)
    armour = compiled(_ARMOUR).match(text, begin) if begin >= 0 else None
    return (armour is not None and start < armour.end()) or (
        compiled(_PUBLIC_FRONT).search(text, max(start - _FRONT, 0), start) is not None
    )


def looks_random(text: str, least: int = 24) -> bool:
    """Return whether *text* is made of letters and digits that no person would put together, and is no hash or UUID.

    16 bytes in base64 and a little are *least* 24 characters: what most makers of tokens draw.
    """
    if len(text) < least or not text.isascii() or not compiled(_DIGIT).search(text, 0, _JUDGED):
        return False
    rest = compiled(_KNOWN).sub("", text[:_JUDGED])
    has_upper = compiled(_UPPER).search(rest) is not None
    if len(rest) < min(least, 16) or not compiled(_UNBROKEN).search(rest):  # characters that are not hexadecimal
        return False
    if not compiled(_LOWER).search(rest) or not compiled(_DIGIT).search(rest):
        return False
    if not has_upper and len(text) < least + 8:  # fewer letters to draw from take more of them
        return False
    parts = " ".join(compiled(_PART).findall(rest))  # a name of long parts that are words: KeyDataX509GetKlass
    pairs = sum(a.isalpha() and b.isalpha() for a, b in pairwise(parts))
    is_name = 2 * pairs >= len(rest) and common_share(parts) >= COMMON_SHARE
    return common_share(rest) < COMMON_SHARE and not is_name


def _random_parts(piece: str, start: int) -> Iterator[Finding]:
    """Return the piece, or those parts of a path that look random."""
    may_be_path = "/" in piece and (not compiled(_UPPER).search(piece) or "-" in piece or "_" in piece)
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


_REST = (
    r"(?P<sign>[ \t]{0,4}\\|=?)[ \t]{0,4}\r?\n[ \t>|│]{0,16}"
    r"(?P<rest>[A-Za-z0-9_~+/.-]{6,256}+={0,2})(?=[\s\"'`,;)}\]│]|\Z)"
)


def find_rest(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Return what goes on, in the lines below, of those *findings* that end their line and look drawn."""
    for found in findings:
        end = found.end
        for _ in range(16 if found.kind and _is_drawn(text[found.start : end]) else 0):  # lines at most
            rest = compiled(_REST).match(text, end)
            if rest is None or not _is_drawn(rest["rest"]):
                break
            is_behind_sign = bool(rest["sign"]) or text[end - 1] in "=\\"
            if not (len(rest["rest"]) >= 8 if is_behind_sign else looks_random(rest["rest"], 12)):
                break
            yield Finding(*rest.span("rest"), found.kind)
            end = rest.end()


def _is_drawn(token: str) -> bool:
    """Return whether *token* has capitals, small letters and digits, and no words."""
    classes = (str.isupper, str.islower, str.isdigit)
    has_all = all(any(map(is_one, token)) for is_one in classes)
    return has_all and len(token.split()) == 1 and common_share(token) < COMMON_SHARE
