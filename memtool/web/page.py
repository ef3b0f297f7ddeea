"""The page: what is remembered, as it is written; one note or fact to read, to change, and to take back."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import parse_qs, quote

from fastapi import FastAPI, Query, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, select_autoescape
from starlette.concurrency import run_in_threadpool

from memtool.capture.records import follow_undo
from memtool.consolidate.fact_book import change_fact
from memtool.consolidate.memories import StoredMemory, change_memory, get_memory
from memtool.consolidate.review import CHANGE, DROP, KEEP, Choice, stored_proposals, weeks_to_review
from memtool.consolidate.run import apply_review
from memtool.consolidate.week import parse_week
from memtool.errors import MemtoolError, NoteNotFound
from memtool.index.engine import catch_up, place_of, use_index
from memtool.index.lookup import linking_to
from memtool.recall.given import read_givings, sessions_given
from memtool.recall.given_now import told_now
from memtool.recall.ledger import ledger_folder
from memtool.recall.remembering.forget import find_target, forget
from memtool.recall.remembering.remember import AlreadyKnown
from memtool.vault.authors import USER
from memtool.vault.changes import Change, find_change, read_changes
from memtool.vault.fact_rules import CATEGORIES
from memtool.vault.facts import restore
from memtool.vault.layout import KINDS
from memtool.vault.undoing import undo
from memtool.web.calls import LONGEST_NAME, OpenWorkspace
from memtool.web.feed import Wanted, read_part, read_projects
from memtool.web.markdown import as_html
from memtool.web.problems import Refusal, status_of
from memtool.workspace import Workspace

LANGUAGES = ("en", "zh")

_HERE = Path(__file__).parent
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_MOST_CHANGES, _MOST_LINKS = 12, 30
_MOST_SESSIONS, _MOST_GIVINGS = 30, 40
_YEAR = 31_536_000  # seconds
_COOKIE = "memtool-language"

Text = Annotated[str, Query(max_length=LONGEST_NAME)]


class _File(NamedTuple):
    content: bytes
    version: str
    media_type: str


def add_page(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    """Add the page and what belongs to it to *app*. It is for people: the OpenAPI document leaves it out."""
    _add_reading(app, open_workspace)
    _add_changing(app, open_workspace)
    _add_prompts(app, open_workspace)
    _add_review(app, open_workspace)

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        file = _files().get(name)
        if file is None:
            raise NoteNotFound(name)
        headers = {"cache-control": f"private, max-age={_YEAR}, immutable"}  # its address changes with its content
        return Response(file.content, media_type=file.media_type, headers=headers)


def _add_reading(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    @app.get("/", include_in_schema=False)
    def page(request: Request, wanted: Annotated[Wanted, Query()]) -> Response:
        work = open_workspace(None)
        return _rendered(request, work, "page.html", wanted=wanted, **_feed(work, wanted), projects=_projects(work))

    @app.get("/feed", include_in_schema=False)
    def feed(request: Request, wanted: Annotated[Wanted, Query()]) -> Response:
        work = open_workspace(None)
        return _rendered(request, work, "feed.html", wanted=wanted, **_feed(work, wanted))

    @app.get("/read/{name:path}", include_in_schema=False)
    def read(request: Request, name: str) -> Response:
        return _pane(request, open_workspace(None), name)


def _add_changing(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    @app.post("/fact/{fact_id}/change", include_in_schema=False)
    async def change(request: Request, fact_id: str) -> Response:
        form = await _form(request)
        values: dict[str, Any] = {name: form[name] for name in ("content", "category", "expires") if name in form}
        values["tags"] = tuple(form.get("tags", "").replace(",", " ").split())
        version = form.get("version", "")
        return await _deed(
            request,
            open_workspace,
            fact_id,
            lambda work: change_memory(work, fact_id, values, version=version, author=USER),
        )

    @app.post("/fact/{fact_id}/archive", include_in_schema=False)
    async def archive(request: Request, fact_id: str) -> Response:
        def archived(work: Workspace) -> str:
            forget(work, find_target(work, fact_id))
            return fact_id

        return await _deed(request, open_workspace, fact_id, archived)

    @app.post("/fact/{fact_id}/restore", include_in_schema=False)
    async def bring_back(request: Request, fact_id: str) -> Response:
        def restored(work: Workspace) -> str:
            change_fact(work, fact_id, "restore", lambda facts: restore(facts, fact_id))
            return fact_id

        return await _deed(request, open_workspace, fact_id, restored)

    @app.post("/undo/{commit}", include_in_schema=False)
    async def take_back(request: Request, commit: str) -> Response:
        name = (await _form(request)).get("name", "")

        def undone(work: Workspace) -> str:
            found = find_change(work.vault, commit)
            undo(work.vault, found)
            follow_undo(work.vault, found)
            return name

        return await _deed(request, open_workspace, name, undone)


def _add_prompts(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    @app.get("/prompts", include_in_schema=False)
    def prompts(request: Request, session: Text = "") -> Response:
        work = open_workspace(None)
        folder = ledger_folder(work)
        sessions = sessions_given(folder)[:_MOST_SESSIONS]
        chosen = session if session in sessions else next(iter(sessions), "")
        try:
            told = list(told_now(work, read_givings(folder, chosen)[-_MOST_GIVINGS:]))
            fault = ""
        except (MemtoolError, OSError) as error:
            told, fault = [], _sentence(error)
        return _rendered(request, work, "prompts.html", sessions=sessions, session=chosen, told=told[::-1], fault=fault)


def _add_review(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    @app.get("/review", include_in_schema=False)
    def review(request: Request) -> Response:
        return _review(request, open_workspace(None))

    @app.post("/review/{week}", include_in_schema=False)
    async def decide(request: Request, week: str) -> Response:
        form = await _form(request)
        choices = {
            name.removeprefix("deed-"): Choice(deed, form.get(f"text-{name.removeprefix('deed-')}", "").strip())
            for name, deed in form.items()
            if name.startswith("deed-") and deed in (KEEP, CHANGE, DROP)
        }
        return await run_in_threadpool(lambda: _decided(request, open_workspace(None), week, choices))


def _decided(request: Request, work: Workspace, week: str, choices: Mapping[str, Choice]) -> Response:
    if not choices:
        return _review(request, work)
    try:
        apply_review(work, parse_week(week, work.now().date()), choices)
    except MemtoolError as error:
        return _review(request, work, fault=_sentence(error), status=status_of(error))
    return _review(request, work, is_new=True)


def _review(request: Request, work: Workspace, *, fault: str = "", status: int = 200, is_new: bool = False) -> Response:
    weeks = [(week, stored_proposals(work.vault, week)) for week in weeks_to_review(work.vault)]
    return _rendered(request, work, "review.html", status=status, weeks=weeks, fault=fault, is_new=is_new)


def _feed(work: Workspace, wanted: Wanted) -> dict[str, Any]:
    """Return the part of the feed that is wanted; a fault takes its place, and not that of the page."""
    try:
        return {"part": read_part(work, wanted), "fault": ""}
    except (MemtoolError, OSError) as error:
        return {"part": None, "fault": _sentence(error)}


def _projects(work: Workspace) -> list[str]:
    with suppress(MemtoolError, OSError):
        return read_projects(work)
    return []


async def _deed(request: Request, open_workspace: OpenWorkspace, name: str, do: Any) -> Response:  # noqa: ANN401
    """Do something to a memory, and return its pane as it stands then; a refusal is told above it."""

    def done() -> Response:
        work = open_workspace(None)
        try:
            now = do(work)
        except AlreadyKnown as known:
            return _pane(request, work, name, fault=_sentence(known), status=409)
        except MemtoolError as error:
            return _pane(request, work, name, fault=_sentence(error), status=status_of(error))
        catch_up(work)
        return _pane(request, work, now, is_new=True)

    return await run_in_threadpool(done)


def _pane(
    request: Request, work: Workspace, name: str, *, fault: str = "", status: int = 200, is_new: bool = False
) -> Response:
    memory: StoredMemory | None = None
    try:
        memory = get_memory(work, name)
    except (MemtoolError, OSError) as error:
        fault = fault or _sentence(error)
        status = status if status != 200 else status_of(error) if isinstance(error, MemtoolError) else 500
    if request.headers.get("hx-request"):
        status = 200  # a refusal is shown where the answer would be
    return _rendered(
        request,
        work,
        "pane.html" if request.headers.get("hx-request") else "reading.html",
        status=status,
        memory=memory,
        name=name,
        html=as_html(memory.content, memory.path) if memory and memory.kind != "fact" else "",
        changes=_changes(work, memory) if memory else [],
        links=_links(work, memory) if memory else [],
        fault=fault,
        is_new=is_new,
    )


def _changes(work: Workspace, memory: StoredMemory) -> list[Change]:
    with suppress(MemtoolError, OSError):  # a vault without a history has none to show
        return read_changes(work.vault, memory.path)[:_MOST_CHANGES]
    return []


def _links(work: Workspace, memory: StoredMemory) -> list[tuple[str, str]]:
    with suppress(MemtoolError, OSError):
        return use_index(place_of(work), lambda index: linking_to(index.db, memory.path, _MOST_LINKS))
    return []


def _rendered(request: Request, work: Workspace, template: str, *, status: int = 200, **values: object) -> Response:
    language, is_chosen = _language(request, work)
    text = (
        _templates()
        .get_template(template)
        .render(
            t=_words(language),
            language=language,
            languages=LANGUAGES,
            kinds=KINDS,
            categories=CATEGORIES,
            static={name: f"/static/{name}?v={file.version}" for name, file in _files().items()},
            vault=work.shown_vault,
            here=request.url.path,
            **{"wanted": Wanted(), "projects": [], "part": None, "fault": "", **values},
        )
    )
    response = HTMLResponse(text, status)
    if is_chosen:
        response.set_cookie(_COOKIE, language, max_age=_YEAR, httponly=True, samesite="strict")
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


async def _form(request: Request) -> dict[str, str]:
    fields = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=50)
    return {name: values[-1].replace("\r\n", "\n") for name, values in fields.items()}


def _sentence(error: Exception) -> str:
    hint = error.hint if isinstance(error, MemtoolError | Refusal) else ""
    return f"{str(error).rstrip('.')}. {hint}".strip()


@cache
def _templates() -> Environment:
    found = Environment(
        loader=FileSystemLoader(_HERE / "templates"), autoescape=select_autoescape(["html"]), trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    found.filters["path"] = quote
    return found


@cache
def _words(language: str) -> Mapping[str, str]:
    return tomllib.loads((_HERE / "words" / f"{language}.toml").read_text(encoding="utf-8"))


@cache
def _files() -> Mapping[str, _File]:
    found = {}
    for path in (_HERE / "static").iterdir():
        if path.suffix in _TYPES:
            content = path.read_bytes()
            found[path.name] = _File(content, hashlib.sha256(content).hexdigest()[:12], _TYPES[path.suffix])
    return found
