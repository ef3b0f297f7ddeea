"""Pages as HTML: the templates, their words in each language, and the files that they load."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qs, quote

from fastapi import Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, select_autoescape
from markupsafe import Markup, escape

from memtool.consolidate.review import stored_proposals, weeks_to_review
from memtool.errors import MemtoolError
from memtool.vault.fact_rules import CATEGORIES
from memtool.vault.layout import KINDS
from memtool.web.feed import Wanted
from memtool.web.problem_details import Refusal
from memtool.web.sentences import said
from memtool.workspace import Workspace

LANGUAGES = ("en", "zh")
YEAR = 31_536_000  # seconds

_HERE = Path(__file__).parent
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_COOKIE = "memtool-language"

T = TypeVar("T")


class StaticFile(NamedTuple):
    """A script, a style or an icon. Its *version* is in its address, so that a browser may keep it."""

    content: bytes
    version: str
    media_type: str


def attempt(read: Callable[[], T]) -> tuple[T | None, str]:
    """Return what *read* gives, and no fault; or nothing, and the sentence of its fault, for one part of a page."""
    try:
        return read(), ""
    except (MemtoolError, OSError) as error:
        return None, sentence(error)


def is_part(request: Request) -> bool:
    """Return whether the script of the page asks, for a part of it."""
    return "x-part" in request.headers


def rendered(request: Request, work: Workspace, template: str, *, status: int = 200, **values: object) -> Response:
    """Return the page that *template* makes of *values*, in the language of whoever asks."""
    language, is_chosen = _language(request, work)
    text = (
        _templates()
        .get_template(template)
        .render(
            t=words_in(language),
            language=language,
            languages=LANGUAGES,
            kinds=("prompt", "edit", *KINDS),
            categories=CATEGORIES,
            static={name: f"/static/{name}?v={file.version}" for name, file in static_files().items()},
            vault=work.shown_vault,
            here=request.url.path,
            to_decide=lambda: sum(len(stored_proposals(work.vault, week)) for week in weeks_to_review(work.vault)),
            **{"wanted": Wanted(), "projects": [], "part": None, "fault": "", **values},
        )
    )
    response = HTMLResponse(text, status)
    if is_chosen:
        response.set_cookie(_COOKIE, language, max_age=YEAR, httponly=True, samesite="strict")
    return response


def _language(request: Request, work: Workspace) -> tuple[str, bool]:
    """Return the language of the page, and whether it was chosen just now."""
    chosen = request.query_params.get("lang", "")
    if chosen in LANGUAGES:
        return chosen, True
    wanted = [
        request.cookies.get(_COOKIE, ""),
        request.headers.get("accept-language", "")[:2].casefold(),
        work.language,
    ]
    return next((each for each in wanted if each in LANGUAGES), LANGUAGES[0]), False


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of the form that a request brings; of several with one name, the last."""
    fields = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=50)
    return {name: values[-1].replace("\r\n", "\n") for name, values in fields.items()}


def sentence(error: Exception) -> str:
    """Return what went wrong and what to do, for a person."""
    hint = error.hint if isinstance(error, MemtoolError | Refusal) else ""
    return f"{str(error).rstrip('.')}. {hint}".strip()


@cache
def _templates() -> Environment:
    found = Environment(
        loader=FileSystemLoader(_HERE / "templates"), autoescape=select_autoescape(["html"]), trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    found.filters["path"] = quote
    found.filters["day"] = _day
    found.filters["said"] = lambda sentence, language: _coded(said(sentence, language))
    found.filters["coded"] = _coded
    return found


def _coded(sentence: str) -> Markup:
    """Return *sentence* with what stands between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(sentence))))  # noqa: S704  (it is escaped)


def _day(date: str, t: Mapping[str, Any]) -> str:
    """Return the ISO *date* as people say it."""
    try:
        day = dt.date.fromisoformat(date)
    except ValueError:
        return date
    month, weekday = t["months"][day.month - 1], t["weekdays"][day.weekday()]
    return str(t["day"]).format(year=day.year, month=month, day=day.day, weekday=weekday)


@cache
def words_in(language: str) -> Mapping[str, Any]:
    """Return what pages say in one of `LANGUAGES`."""
    return tomllib.loads((_HERE / "words" / f"{language}.toml").read_text(encoding="utf-8"))


@cache
def static_files() -> Mapping[str, StaticFile]:
    """Return the files that pages load, by name."""
    found = {}
    for path in (_HERE / "static").iterdir():
        if path.suffix in _TYPES:
            content = path.read_bytes()
            found[path.name] = StaticFile(content, hashlib.sha256(content).hexdigest()[:12], _TYPES[path.suffix])
    return found
