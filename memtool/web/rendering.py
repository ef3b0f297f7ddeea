"""Pages as HTML: the templates, their words in each language, the files that they load, and notes.

No text of a note can run or load anything, or hide where a link leads.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias, TypeVar
from urllib.parse import parse_qs, quote, unquote

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from memtool.consolidate.review import stored_proposals, weeks_to_review
from memtool.errors import MemtoolError, in_words
from memtool.resources import shipped
from memtool.vault.memory import CATEGORIES, KINDS
from memtool.web.feed import FeedQuery
from memtool.workspace import Workspace

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt

YEAR = 31_536_000  # seconds

_HERE = Path(__file__).parent
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_COOKIE = "memtool-language"

T = TypeVar("T")
_JOINTS = ((": ", "："), (". ", "。"))  # between two sentences, and the same in Chinese


class StaticFile(NamedTuple):
    """A script, a style or an icon. Its *version* is in its address, so that a browser may keep it."""

    content: bytes
    version: str
    media_type: str


def attempt(read: Callable[[], T]) -> tuple[T | None, str]:
    """Call *read*: return (result, ""), or (None, the error as a sentence), so that a part of a page can fail alone."""
    try:
        return read(), ""
    except (MemtoolError, OSError) as error:
        return None, in_words(error)


def is_part(request: Request) -> bool:
    """Return whether the script of the page asks, for a part of it."""
    return "x-part" in request.headers


def rendered(request: Request, work: Workspace, template: str, *, status: int = 200, **values: object) -> Response:
    """Return the page that *template* makes of *values*, in the language of the reader."""
    chosen = request.query_params.get("lang", "")
    accepted = request.headers.get("accept-language", "")[:2].casefold()
    wanted = (chosen, request.cookies.get(_COOKIE, ""), accepted, work.language)
    language = next((each for each in wanted if each in languages()), languages()[0])
    text = (
        _templates()
        .get_template(template)
        .render(
            t=words_in(language),
            language=language,
            languages=languages(),
            kinds=("prompt", "edit", *KINDS),
            categories=CATEGORIES,
            static={name: f"/static/{name}?v={file.version}" for name, file in static_files().items()},
            vault=work.shown_vault,
            here=request.url.path,
            to_decide=lambda: sum(len(stored_proposals(work.vault, week)) for week in weeks_to_review(work.vault)),
            **{"wanted": FeedQuery(), "projects": [], "feed": None, "fault": "", **values},
        )
    )
    response = HTMLResponse(text, status)
    if language == chosen:
        response.set_cookie(_COOKIE, language, max_age=YEAR, httponly=True, samesite="strict")
    return response


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of the form that a request brings; of several with one name, the last."""
    fields = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=50)
    return {name: values[-1].replace("\r\n", "\n") for name, values in fields.items()}


Form: TypeAlias = Annotated[dict[str, str], Depends(form_of)]


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, select_autoescape  # only who looks at the page needs them

    found = Environment(
        loader=FileSystemLoader(_HERE / "templates"), autoescape=select_autoescape(["html"]), trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    found.filters["path"] = quote
    found.filters["day"] = _day
    found.filters["translated"] = lambda sentence, language: _coded(in_language(sentence, language))
    found.filters["coded"] = _coded
    return found


def _coded(sentence: str) -> Markup:
    """Return *sentence* with the parts between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(Markup.escape(sentence))))  # noqa: S704  (it is escaped)


def _day(date: str, t: Mapping[str, Any]) -> str:
    """Return the ISO *date* in the words of *t*."""
    try:
        day = dt.date.fromisoformat(date)
    except ValueError:
        return date
    month, weekday = t["months"][day.month - 1], t["weekdays"][day.weekday()]
    return str(t["day"]).format(year=day.year, month=month, day=day.day, weekday=weekday)


@cache
def languages() -> tuple[str, ...]:
    """Return the languages that pages are in, English first: those with a `page.toml` in their folder of `rules`."""
    found = sorted(path.parent.name for path in shipped("rules").glob("*/page.toml"))
    return tuple(sorted(found, key=lambda code: code != "en"))


@cache
def words_in(language: str) -> Mapping[str, Any]:
    """Return the words of pages in one of `languages()`; what it lacks is in English."""
    words = {**words_in("en")} if language != "en" else {}
    for name, own in tomllib.loads((shipped("rules") / language / "page.toml").read_text(encoding="utf-8")).items():
        words[name] = {**words.get(name, {}), **own} if isinstance(own, dict) else own
    labels = {name: kind.label or name for name, kind in KINDS.items()}  # of a kind that is not translated yet
    return {**words, "kind_names": {**labels, **words["kind_names"]}}


@cache
def static_files() -> Mapping[str, StaticFile]:
    """Return the files that pages load, by name."""
    found = {}
    for path in (_HERE / "static").iterdir():
        if path.suffix in _TYPES:
            content = path.read_bytes()
            found[path.name] = StaticFile(content, hashlib.sha256(content).hexdigest()[:12], _TYPES[path.suffix])
    return found


def in_language(sentence: str, language: str) -> str:
    """Return *sentence*, which is in English, in *language*; an unknown sentence stays as it is.

    The words of others, such as git, a model or the system, are not translated.
    """
    return _translated(sentence, language, 3) if len(sentence) <= 2_000 else sentence


@lru_cache(maxsize=2_000)
def _translated(sentence: str, language: str, depth: int) -> str:
    for form, words in _forms(language):
        if found := form.fullmatch(sentence):
            return words.format(*(_translated(part, language, depth - 1) if depth else part for part in found.groups()))
    for mark, own_mark in _JOINTS if depth else ():
        parts = sentence.split(mark, 1)
        found_parts = [_translated(part, language, depth - 1) for part in parts]
        if found_parts != parts:
            return own_mark.join(found_parts)
    return sentence


@cache
def _forms(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    path = shipped("rules") / language / "sentences.toml"
    if not path.exists():
        return ()  # English is what the sentences are in
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    patterns = (re.escape(form).replace(r"\{\}", "(.+?)").replace(r"\{n\}", r"([\d,]+)") for form in table)
    return tuple(
        (re.compile(pattern, re.DOTALL), words) for pattern, words in zip(patterns, table.values(), strict=True)
    )


_TAGS = frozenset(
    "a blockquote br code del em h1 h2 h3 h4 h5 h6 hr li ol p pre strong table tbody td th thead tr ul".split()
)
_OUTSIDE = ("http://", "https://", "mailto:")
_WIKI_LINK = re.compile(r"\[\[([^\]|#\n]{1,200})(?:[#|]([^\]\n]{0,200}))?\]\]")
_READ = "/read/"


def as_html(text: str, ref: str) -> str:
    """Return the Markdown *text* of the note at *ref* as HTML. Links to other notes lead to their reading pane."""
    import nh3

    html = _parser().render(text[:400_000], {"ref": ref})
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
    """Return a link instead of an image: loading it would tell its server that the note was read."""
    token = tokens[at]
    source = str(token.attrGet("src") or "")
    return f'<a href="{escape(_target(source, env["ref"]))}">{escape(token.content or source)}</a>'


def _link_open(_self: Any, tokens: Any, at: int, _options: Any, env: Any) -> str:  # noqa: ANN401
    return f'<a href="{escape(_target(str(tokens[at].attrGet("href") or ""), env["ref"]))}">'


def _text(_self: Any, tokens: Any, at: int, _options: Any, _env: Any) -> str:  # noqa: ANN401
    """Return a text with its wiki links as links. Each part is escaped by itself: a name may hold `&` and quotes."""
    text, html, end = tokens[at].content, "", 0
    for link in _WIKI_LINK.finditer(text):
        before, shown = escape(text[end : link.start()]), escape(link[2] or link[1])
        html += f'{before}<a href="{escape(_inside(link[1].strip()))}">{shown}</a>'
        end = link.end()
    return html + escape(text[end:])


def _target(href: str, ref: str) -> str:
    """Return where a link of the note at *ref* leads from the page."""
    if href.startswith(_OUTSIDE):
        return href
    path = unquote(href.split("#", maxsplit=1)[0])
    if not path or ":" in path.split("/")[0] or path.startswith(("/", "\\")):
        return ""
    return _inside(join(dirname(ref), path))


def _inside(path: str) -> str:
    """Return the address at which the page shows the file *path*; empty where that leads out of the vault."""
    inside = normpath(path)
    return "" if inside.startswith(("..", "/", "\\")) else f"{_READ}{quote(inside)}"


def _kept(_tag: str, attribute: str, value: str) -> str | None:
    return value if attribute == "rel" or value.startswith((*_OUTSIDE, _READ)) else None
