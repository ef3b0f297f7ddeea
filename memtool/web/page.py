"""The page: the feed, and one note or fact to read, change and revert; prompts and proposals."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from memtool.capture.captured import follow_undo
from memtool.consolidate.review import CHANGE, DROP, KEEP, Choice, stored_proposals, weeks_to_review
from memtool.consolidate.run import apply_review
from memtool.consolidate.week import parse_week
from memtool.errors import MemtoolError, NoteNotFound
from memtool.history.changes import Change, find_change, read_changes
from memtool.history.undoing import undo
from memtool.index.engine import catch_up, place_of, use_index
from memtool.index.lookup import linking_to
from memtool.memory.forget import find_target
from memtool.memory.given_now import givings_now
from memtool.memory.memories import StoredMemory, archive_memory, change_fact, change_memory, get_memory
from memtool.memory.remember import AlreadyKnown
from memtool.recall.given import read_givings, sessions_given
from memtool.recall.ledger import ledger_folder
from memtool.vault.facts import restore
from memtool.vault.files import read_head
from memtool.vault.memory import FACT, USER, Memory
from memtool.vault.session_names import note_of
from memtool.vault.sessions import parse_session
from memtool.web import limits
from memtool.web.calls import status_of
from memtool.web.feed import FeedQuery, read_part, read_projects
from memtool.web.overview import add_overview
from memtool.web.rendering import YEAR, as_html, attempt, form_of, is_part, rendered, sentence, static_files
from memtool.workspace import OpenWorkspace, Workspace

Text = Annotated[str, Query(max_length=limits.NAME)]


def add_page(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    """Add the page and its parts to *app*. It is for people: the OpenAPI document leaves it out."""
    _add_reading(app, open_workspace)
    _add_changing(app, open_workspace)
    _add_prompts(app, open_workspace)
    _add_review(app, open_workspace)
    add_overview(app, open_workspace)

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        file = static_files().get(name)
        if file is None:
            raise NoteNotFound(name)
        headers = {"cache-control": f"private, max-age={YEAR}, immutable"}  # its address changes with its content
        return Response(file.content, media_type=file.media_type, headers=headers)


def _add_reading(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    @app.get("/", include_in_schema=False)
    def page(request: Request, wanted: Annotated[FeedQuery, Query()]) -> Response:
        work = open_workspace(None)
        return rendered(
            request,
            work,
            "page.html",
            wanted=wanted,
            **_feed(work, wanted),
            projects=attempt(lambda: read_projects(work))[0] or [],
        )

    @app.get("/feed", include_in_schema=False)
    def feed(request: Request, wanted: Annotated[FeedQuery, Query()]) -> Response:
        work = open_workspace(None)
        return rendered(request, work, "feed.html", wanted=wanted, **_feed(work, wanted))

    @app.get("/read/{name:path}", include_in_schema=False)
    def read(request: Request, name: str) -> Response:
        return _pane(request, open_workspace(None), name)


def _add_changing(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    @app.post("/fact/{fact_id}/change", include_in_schema=False)
    async def change(request: Request, fact_id: str) -> Response:
        form = await form_of(request)
        values: dict[str, Any] = {name: form[name] for name in ("content", "category", "expires") if name in form}
        values["tags"] = tuple(form.get("tags", "").replace(",", " ").split())
        version = form.get("version", "")

        def changed(work: Workspace) -> str:
            memory = get_memory(work, fact_id).memory
            return change_memory(work, memory, values, version=version, author=USER).memory.id

        return await _pane_after(request, open_workspace, fact_id, changed)

    @app.post("/fact/{fact_id}/archive", include_in_schema=False)
    async def archive(request: Request, fact_id: str) -> Response:
        def archived(work: Workspace) -> str:
            return archive_memory(work, find_target(work, fact_id)).memory.id

        return await _pane_after(request, open_workspace, fact_id, archived)

    @app.post("/fact/{fact_id}/restore", include_in_schema=False)
    async def bring_back(request: Request, fact_id: str) -> Response:
        def restored(work: Workspace) -> str:
            change_fact(work, fact_id, "restore", lambda facts: restore(facts, fact_id))
            return fact_id

        return await _pane_after(request, open_workspace, fact_id, restored)

    @app.post("/undo/{commit}", include_in_schema=False)
    async def take_back(request: Request, commit: str) -> Response:
        name = (await form_of(request)).get("name", "")

        def undone(work: Workspace) -> str:
            found = find_change(work.vault, commit)
            undo(work.vault, found)
            follow_undo(work.vault, found)
            return name

        return await _pane_after(request, open_workspace, name, undone)


def _add_prompts(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    @app.get("/prompts", include_in_schema=False)
    def prompts(request: Request, session: Text = "") -> Response:
        work = open_workspace(None)
        folder = ledger_folder(work)
        sessions = {name: _topic(work, name) for name in sessions_given(folder)[:30]}
        chosen = session if session in sessions else next(iter(sessions), "")
        found, fault = attempt(lambda: list(givings_now(work, chosen, read_givings(folder, chosen)[-40:])))
        return rendered(
            request, work, "prompts.html", sessions=sessions, session=chosen, givings=(found or [])[::-1], fault=fault
        )

    @app.get("/given/{session}/{turn}", include_in_schema=False)
    def given(request: Request, session: str, turn: int) -> Response:
        work = open_workspace(None)
        folder = ledger_folder(work)
        if session not in sessions_given(folder):
            raise NoteNotFound(session)
        givings = [each for each in read_givings(folder, session) if each.turn == turn][-1:]
        found, fault = attempt(lambda: list(givings_now(work, session, givings)))
        template = "given.html" if is_part(request) else "reading.html"
        return rendered(request, work, template, within="given.html", session=session, givings=found or [], fault=fault)


def _topic(work: Workspace, session: str) -> str:
    """Return the title of a session; its id if there is none."""
    with suppress(OSError, MemtoolError):
        head = read_head(work.vault.path(note_of(work.vault, session)), 65_536).decode("utf-8", "replace")
        return parse_session(head).draft.title or session
    return session


def _add_review(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    @app.get("/review", include_in_schema=False)
    def review(request: Request) -> Response:
        return _review(request, open_workspace(None))

    @app.post("/review/{week}", include_in_schema=False)
    async def decide(request: Request, week: str) -> Response:
        form = await form_of(request)
        choices = {
            name.removeprefix("choice-"): Choice(choice, form.get(f"text-{name.removeprefix('choice-')}", "").strip())
            for name, choice in form.items()
            if name.startswith("choice-") and choice in (KEEP, CHANGE, DROP)
        }
        return await run_in_threadpool(lambda: _decided(request, open_workspace(None), week, choices))


def _decided(request: Request, work: Workspace, week: str, choices: Mapping[str, Choice]) -> Response:
    if not choices:
        return _review(request, work)
    try:
        apply_review(work, parse_week(week, work.now().date()), choices)
    except MemtoolError as error:
        return _review(request, work, fault=sentence(error), status=status_of(error))
    return _review(request, work, is_new=True)


def _review(request: Request, work: Workspace, *, fault: str = "", status: int = 200, is_new: bool = False) -> Response:
    weeks = [(week, stored_proposals(work.vault, week)) for week in weeks_to_review(work.vault)]
    return rendered(request, work, "review.html", status=status, weeks=weeks, fault=fault, is_new=is_new)


def _feed(work: Workspace, wanted: FeedQuery) -> dict[str, Any]:
    """Return the part of the feed that is wanted; a fault takes its place, and not that of the page."""
    part, fault = attempt(lambda: read_part(work, wanted))
    return {"part": part, "fault": fault}


async def _pane_after(request: Request, open_workspace: OpenWorkspace, name: str, do: Any) -> Response:  # noqa: ANN401
    """Change a memory, and return its pane as it is now; an error is shown above it."""

    def done() -> Response:
        work = open_workspace(None)
        try:
            now = do(work)
        except AlreadyKnown as known:
            return _pane(request, work, name, fault=sentence(known), status=409)
        except MemtoolError as error:
            return _pane(request, work, name, fault=sentence(error), status=status_of(error))
        catch_up(work)
        return _pane(request, work, now, is_new=True)

    return await run_in_threadpool(done)


def _pane(
    request: Request, work: Workspace, name: str, *, fault: str = "", status: int = 200, is_new: bool = False
) -> Response:
    stored: StoredMemory | None = None
    try:
        stored = get_memory(work, name)
    except (MemtoolError, OSError) as error:
        fault = fault or sentence(error)
        status = status if status != 200 else status_of(error) if isinstance(error, MemtoolError) else 500
    memory = stored.memory if stored else None
    return rendered(
        request,
        work,
        "pane.html" if is_part(request) else "reading.html",
        status=200 if is_part(request) else status,  # a refusal is shown where the answer would be
        within="pane.html",
        stored=stored,
        memory=memory,
        name=name,
        html=as_html(memory.text, memory.path) if memory and memory.kind != FACT else "",
        changes=_changes(work, memory) if memory else [],
        links=_links(work, memory) if memory else [],
        fault=fault,
        is_new=is_new,
    )


def _changes(work: Workspace, memory: Memory) -> list[Change]:
    with suppress(MemtoolError, OSError):  # a vault without a history has none to show
        return read_changes(work.vault, memory.path)[:12]
    return []


def _links(work: Workspace, memory: Memory) -> list[tuple[str, str]]:
    with suppress(MemtoolError, OSError):
        return use_index(place_of(work), lambda index: linking_to(index.db, memory.path, 30))
    return []
