"""Notes as HTML: nothing that a note says can run, load or lead anywhere unseen."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import nh3

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_TAGS = frozenset(
    "a blockquote br code del em h1 h2 h3 h4 h5 h6 hr li ol p pre strong table tbody td th thead tr ul".split()
)
_OUTSIDE = ("http://", "https://", "mailto:")
_WIKI_LINK = re.compile(r"\[\[([^\]|#\n]{1,200})(?:[#|]([^\]\n]{0,200}))?\]\]")
_READ = "/read/"
_LARGEST = 400_000  # characters; of more, the rest is left out


def as_html(text: str, ref: str) -> str:
    """Return the Markdown *text* of the note at *ref* as HTML. Links to other notes lead to their reading pane."""
    html = _parser().render(text[:_LARGEST], {"ref": ref})
    return nh3.clean(html, tags=set(_TAGS), attributes={"a": {"href"}}, attribute_filter=_kept, link_rel=_REL)


_REL = "noopener noreferrer"


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("text", _text)
    return parser


def _image(_self: Any, tokens: Any, at: int, _options: Any, env: Any) -> str:  # noqa: ANN401
    """Return a link in the place of an image: a page that loads it would tell somebody that it was read."""
    token = tokens[at]
    source = str(token.attrGet("src") or "")
    return f'<a href="{escape(_target(source, env["ref"]))}">{escape(token.content or source)}</a>'


def _link_open(_self: Any, tokens: Any, at: int, _options: Any, env: Any) -> str:  # noqa: ANN401
    return f'<a href="{escape(_target(str(tokens[at].attrGet("href") or ""), env["ref"]))}">'


def _text(_self: Any, tokens: Any, at: int, _options: Any, _env: Any) -> str:  # noqa: ANN401
    return _WIKI_LINK.sub(
        lambda link: f'<a href="{_READ}{quote(link[1].strip())}">{link[2] or link[1]}</a>', escape(tokens[at].content)
    )


def _target(href: str, ref: str) -> str:
    """Return where a link of the note at *ref* leads from the page."""
    if href.startswith(_OUTSIDE):
        return href
    path = unquote(href.split("#", maxsplit=1)[0])
    if not path or ":" in path.split("/")[0] or path.startswith(("/", "\\")):
        return ""
    inside = normpath(join(dirname(ref), path))
    return "" if inside.startswith("..") else f"{_READ}{quote(inside)}"


def _kept(_tag: str, attribute: str, value: str) -> str | None:
    return value if attribute == "rel" or value.startswith((*_OUTSIDE, _READ)) else None
