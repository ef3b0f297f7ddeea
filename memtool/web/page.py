"""The page: the feed, and one note or fact to read, change and revert; prompts and proposals."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from memtool.capture.captured import take_back
from memtool.consolidate.review import CHANGE, DROP, KEEP, Choice, stored_proposals, weeks_to_review
from memtool.consolidate.run import apply_review
from memtool.consolidate.week import parse_week
from memtool.errors import MemtoolError, NoteNotFound, in_words
from memtool.history.changes import find_change, read_changes
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
from memtool.web.calls import Name, Work
from memtool.web.feed import FeedQuery, read_feed, read_projects
from memtool.web.rendering import YEAR, Form, as_html, attempt, is_part, rendered, static_files
from memtool.workspace import Workspace

router = APIRouter(include_in_schema=False)


@router.get("/static/{name}")
def static(name: str) -> Response:
    """Return a script, a style or an icon of the page."""
    file = static_files().get(name)
    if file is None:
        raise NoteNotFound(name)
    headers = {"cache-control": f"private, max-age={YEAR}, immutable"}  # its address changes with its content
    return Response(file.content, media_type=file.media_type, headers=headers)


@router.get("/")
def page(request: Request, work: Work, wanted: Annotated[FeedQuery, Query()]) -> Response:
    """Return the page with the first part of the feed; a fault takes its place, and not that of the page."""
    entries, fault = attempt(lambda: read_feed(work, wanted))
    projects = attempt(lambda: read_projects(work))[0] or []
    return rendered(request, work, "page.html", wanted=wanted, feed=entries, fault=fault, projects=projects)


@router.get("/feed")
def feed(request: Request, work: Work, wanted: Annotated[FeedQuery, Query()]) -> Response:
    """Return one part of the feed."""
    entries, fault = attempt(lambda: read_feed(work, wanted))
    return rendered(request, work, "feed.html", wanted=wanted, feed=entries, fault=fault)


@router.get("/read/{name:path}")
def read(request: Request, work: Work, name: str) -> Response:
    """Return the pane of one memory."""
    return _pane(request, work, name)


@router.post("/fact/{fact_id}/change")
def change(request: Request, work: Work, form: Form, fact_id: str) -> Response:
    """Change a fact, and return its pane."""
    values: dict[str, Any] = {name: form[name] for name in ("content", "category", "expires") if name in form}
    values["tags"] = tuple(form.get("tags", "").replace(",", " ").split())

    def changed() -> str:
        memory = get_memory(work, fact_id).memory
        return change_memory(work, memory, values, version=form.get("version", ""), author=USER).memory.id

    return _pane_after(request, work, fact_id, changed)


@router.post("/fact/{fact_id}/archive")
def archive(request: Request, work: Work, fact_id: str) -> Response:
    """Archive a fact, and return its pane."""
    return _pane_after(request, work, fact_id, lambda: archive_memory(work, find_target(work, fact_id)).memory.id)


@router.post("/fact/{fact_id}/restore")
def restore_fact(request: Request, work: Work, fact_id: str) -> Response:
    """Restore a fact, and return its pane."""
    return _pane_after(
        request,
        work,
        fact_id,
        lambda: change_fact(work, fact_id, "restore", lambda facts: restore(facts, fact_id))[0].fact.id,
    )


@router.post("/undo/{commit}")
def undo(request: Request, work: Work, form: Form, commit: str) -> Response:
    """Revert a change, and return the pane from which that was requested."""
    name = form.get("name", "")

    def undone() -> str:
        take_back(work, find_change(work.vault, commit))
        return name

    return _pane_after(request, work, name, undone)


@router.get("/prompts")
def prompts(request: Request, work: Work, session: Name = "") -> Response:
    """Return the page of the memories that the prompts of a session received."""
    folder = ledger_folder(work)
    sessions = {name: _topic(work, name) for name in sessions_given(folder)[:30]}
    chosen = session if session in sessions else next(iter(sessions), "")
    found, fault = attempt(lambda: list(givings_now(work, chosen, read_givings(folder, chosen)[-40:])))
    return rendered(
        request, work, "prompts.html", sessions=sessions, session=chosen, givings=(found or [])[::-1], fault=fault
    )


@router.get("/given/{session}/{turn}")
def given(request: Request, work: Work, session: str, turn: int) -> Response:
    """Return the pane of the memories that one prompt received."""
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


@router.get("/review")
def review(request: Request, work: Work) -> Response:
    """Return the page of the facts that the weekly run proposes."""
    return _review(request, work)


@router.post("/review/{week}")
def decide(request: Request, work: Work, form: Form, week: str) -> Response:
    """Carry out decisions on proposed facts, and return the page with those that are left."""
    choices = {
        name.removeprefix("choice-"): Choice(choice, form.get(f"text-{name.removeprefix('choice-')}", "").strip())
        for name, choice in form.items()
        if name.startswith("choice-") and choice in (KEEP, CHANGE, DROP)
    }
    try:
        if choices:
            apply_review(work, parse_week(week, work.now().date()), choices)
    except MemtoolError as error:
        return _review(request, work, fault=in_words(error), status=error.http_status)
    return _review(request, work, is_new=bool(choices))


def _review(request: Request, work: Workspace, *, fault: str = "", status: int = 200, is_new: bool = False) -> Response:
    weeks = [(week, stored_proposals(work.vault, week)) for week in weeks_to_review(work.vault)]
    return rendered(request, work, "review.html", status=status, weeks=weeks, fault=fault, is_new=is_new)


def _pane_after(request: Request, work: Workspace, name: str, do: Callable[[], str]) -> Response:
    """Change a memory, and return its pane as it is now; an error is shown above it."""
    try:
        now = do()
    except MemtoolError as error:
        status = 409 if isinstance(error, AlreadyKnown) else error.http_status
        return _pane(request, work, name, fault=in_words(error), status=status)
    catch_up(work)
    return _pane(request, work, now, is_new=True)


def _pane(
    request: Request, work: Workspace, name: str, *, fault: str = "", status: int = 200, is_new: bool = False
) -> Response:
    stored: StoredMemory | None = None
    try:
        stored = get_memory(work, name)
    except (MemtoolError, OSError) as error:
        fault = fault or in_words(error)
        status = status if status != 200 else getattr(error, "http_status", 500)
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
        changes=(memory and attempt(lambda: read_changes(work.vault, memory.path)[:12])[0]) or [],
        links=(memory and attempt(lambda: _links(work, memory))[0]) or [],
        fault=fault,
        is_new=is_new,
    )


def _links(work: Workspace, memory: Memory) -> list[tuple[str, str]]:
    return use_index(place_of(work), lambda index: linking_to(index.db, memory.path, 30))
