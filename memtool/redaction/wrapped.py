r"""The rest of a secret that a terminal, a mail or a `\` broke over lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtool.redaction.randomness import COMMON_SHARE, common_share, looks_random
from memtool.redaction.shapes import compiled
from memtool.redaction.views import Finding

_REST = (
    r"(?P<sign>[ \t]{0,4}\\|=?)[ \t]{0,4}\r?\n[ \t>|│]{0,16}"
    r"(?P<rest>[A-Za-z0-9_~+/.-]{6,256}+={0,2})(?=[\s\"'`,;)}\]│]|\Z)"
)
_LEAST, _LEAST_BEHIND_SIGN = 12, 8
_MOST_LINES = 16


def find_rest(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Return what goes on, in the lines below, of those *findings* that end their line and look drawn."""
    for found in findings:
        end = found.end
        for _ in range(_MOST_LINES if found.kind and _is_drawn(text[found.start : end]) else 0):
            rest = compiled(_REST).match(text, end)
            if rest is None or not _goes_on(rest["rest"], bool(rest["sign"]) or text[end - 1] in "=\\"):
                break
            yield Finding(*rest.span("rest"), found.kind)
            end = rest.end()


def _goes_on(rest: str, is_behind_sign: bool) -> bool:
    if is_behind_sign:
        return len(rest) >= _LEAST_BEHIND_SIGN and _is_drawn(rest)
    return _is_drawn(rest) and looks_random(rest, _LEAST)


def _is_drawn(token: str) -> bool:
    """Return whether *token* has capitals, small letters and digits, and no words."""
    classes = (str.isupper, str.islower, str.isdigit)
    has_all = all(any(map(is_one, token)) for is_one in classes)
    return has_all and len(token.split()) == 1 and common_share(token) < COMMON_SHARE
