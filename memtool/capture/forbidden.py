"""What must not be in a note, whatever the session says: links, markup, hidden characters, orders to an agent. Pure."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from memtool.text.languages import pattern_of

_LINK = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://|(?<![a-z])(?:www\.[a-z]|(?:javascript|data|mailto|vbscript):\S)|\]\(|\[\[",
    re.IGNORECASE,
)
_MARKUP = re.compile(  # not `Vec<u8>`, not `<id>`
    r"</[a-z]|<!--|```|~~~|<[\w-]{0,40}(?:system|context|memory|reminder|instruction|private)[\w-]{0,40}[\s>/]"
    r"|<[^<>]{0,200}\son\w{1,20}\s{0,9}="
    r"|<(?:a|b|base|br|button|div|embed|form|h[1-6]|hr|html|i|iframe|img|input|li|link|meta|object|ol|p|pre|script|span"
    r"|style|svg|table|td|tr|u|ul|video)(?:\s[^<>]{0,500})?/?>",
    re.IGNORECASE,
)


def foul(text: str, code: str = "") -> str:
    """Return why *text* must not be in a note, whatever the session says; empty if it may."""
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs") and character not in "\n\r\t\u200c\u200d":
            return f"it holds an invisible character (U+{ord(character):04X})"
    if _LINK.search(text):
        return "it holds a link"
    if _MARKUP.search(text):
        return "it holds markup"
    if _instruction().search(text) or (code and code in text):
        return "it repeats an instruction"
    return ""


@cache
def _instruction() -> re.Pattern[str]:
    return re.compile(pattern_of("instruction"), re.IGNORECASE)
