"""Links in generated prose, which neither a text nor a path can break out of."""

from __future__ import annotations

import re

from memtool.text.lines import one_line

# Patterns are texts, here and in daily.py and sessions.py: `re` compiles them when they are first used, and a hook
# that needs none of them pays for none.
LINK_TEXT = r"(?:\\.|[^\\\[\]\r\n])*"

_MARKUP = r"[\\`*\[\]<]|__"  # means something to Markdown in the text of a link
_NOT_IN_TARGET = r"""[\s()<>\[\]{}%"\\#?|^`]"""


def link(text: str, target: str) -> str:
    """Return a Markdown link that neither *text* nor the relative path *target* can break out of."""
    path = re.sub(_NOT_IN_TARGET, lambda match: f"%{ord(match[0]):02X}", one_line(target))
    return f"[{re.sub(_MARKUP, _escaped, one_line(text))}]({path})"


def find_links(text: str) -> list[tuple[str, str]]:
    """Return the text and the target of each Markdown link in *text*, as `link` was given them."""
    return [
        (unescape(shown), _unquoted(target)) for shown, target in re.findall(rf"\[({LINK_TEXT})\]\(([^()\s]+)\)", text)
    ]


def unescape(text: str) -> str:
    """Return the text of a link as it reads."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


def _escaped(match: re.Match[str]) -> str:
    return "".join(f"\\{character}" for character in match[0])


def _unquoted(target: str) -> str:
    return re.sub(r"%([2-7][0-9A-F])", lambda match: chr(int(match[1], 16)), target)
