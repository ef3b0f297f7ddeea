"""Which files of a vault `index.ignore` leaves out: patterns as in a `.gitignore`, without its exceptions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache

Ignores = Callable[[str], bool]

_WILD = re.compile(r"(?:\*\*/)+|\*\*+|\*")


@cache
def ignores(patterns: tuple[str, ...]) -> Ignores | None:
    """Return whether a path of the vault is left out by *patterns*, as a function; a folder ends with `/`.

    `Templates/` means folders of that name, `*.excalidraw.md` files, wherever they are; with a slash before its end a
    pattern begins at the vault: `/Templates/`, `work/drafts/*.md`, `work/**/old`. None: there are no patterns.
    """
    stated = [_normal(pattern.strip()) for pattern in patterns if pattern.strip("/ ")]
    if not stated:
        return None
    found = re.compile("|".join(map(_as_regex, stated))).match
    return lambda ref: found(_normal(ref)) is not None


def _as_regex(pattern: str) -> str:
    path = pattern.strip("/")
    first, *plain = [re.escape(part).replace("\\?", "[^/]") for part in _WILD.split(path)]
    wild = _WILD.findall(path)
    rest = (_matching(*pair, is_last=at == len(wild)) for at, pair in enumerate(zip(wild, plain, strict=True), 1))
    anywhere = "" if "/" in pattern.rstrip("/") else "(?:.*/)?"
    return f"{anywhere}{first}{''.join(rest)}{'/' if pattern.endswith('/') else '(?:/|$)'}"


def _matching(wild: str, plain: str, *, is_last: bool) -> str:
    """Return the regular expression of *wild* and the *plain* text behind it."""
    if wild.endswith("/"):
        return f"(?:.*/)?{plain}"
    if wild != "*":
        return f".*{plain}"
    # The first place of the text is as good as any later one: without a way back, no pattern takes long.
    return f"[^/]*{plain}" if is_last or not plain else f"(?>[^/]*?{plain})"


def _normal(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)
