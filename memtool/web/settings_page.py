"""The settings as a form: those that travel with the vault may be changed, those of its owner are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from memtool.errors import BadSetting, MemtoolError
from memtool.settings import choices_of, shown_value
from memtool.settings.sections import ABOUT
from memtool.web.calls import OpenWorkspace
from memtool.web.problem_details import status_of
from memtool.web.rendering import form_of, rendered, sentence
from memtool.web.state_api import change_settings
from memtool.workspace import Workspace


class Field(NamedTuple):
    """A setting in the form.

    Args:
        key: such as `search.limit`.
        value: as text; a list has one item on each line.
        kind: `choice`, `number`, `list` or `text`.
        help: what it is for.
        choices: of a choice.
        least: of a number.
        origin: where the value in force came from.
        is_open: whether the vault's own file decides it.
    """

    key: str
    value: str
    kind: str
    help: str
    choices: tuple[str, ...]
    least: int
    origin: str
    is_open: bool

    def said(self, text: str) -> str | int | bool | list[str]:
        """Return the value that *text* in the form means; text that means none is left to be refused."""
        if self.kind == "list":
            return [line.strip() for line in text.split("\n") if line.strip()]
        if self.kind == "number" and text.isascii() and text.isdigit():
            return int(text)
        return text == "true" if self.choices == _YES_NO else text


_YES_NO = ("true", "false")


def add_settings_page(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    """Add the form and what it sends to *app*."""

    @app.get("/settings", include_in_schema=False)
    def settings(request: Request) -> Response:
        return _form(request, open_workspace(None))

    @app.post("/settings", include_in_schema=False)
    async def change(request: Request) -> Response:
        form = await form_of(request)
        return await run_in_threadpool(lambda: _changed(request, open_workspace, form))


def _changed(request: Request, open_workspace: OpenWorkspace, form: Mapping[str, str]) -> Response:
    work = open_workspace(None)
    fields = (field for field in _fields(work) if field.is_open)
    values = {
        field.key: field.said(form[field.key]) for field in fields if form.get(field.key, field.value) != field.value
    }
    try:
        if values:
            change_settings(work, values)
    except MemtoolError as error:
        status = 400 if isinstance(error, BadSetting) else status_of(error)
        return _form(request, work, fault=sentence(error), status=status)
    return _form(request, open_workspace(None), is_new=bool(values))


def _form(request: Request, work: Workspace, *, fault: str = "", status: int = 200, is_new: bool = False) -> Response:
    sections: dict[str, list[Field]] = {}
    for field in _fields(work):
        sections.setdefault(field.key.rpartition(".")[0] if field.is_open else "*", []).append(field)
    closed = sections.pop("*", [])
    return rendered(
        request, work, "settings.html", status=status, sections=sections, closed=closed, fault=fault, is_new=is_new
    )


def _fields(work: Workspace) -> Iterator[Field]:
    for key, about in ABOUT.items():
        value, origin = shown_value(work.settings, key), work.settings.origins.get(key, "default")
        is_own = origin in ("default", str(work.vault.settings_path))
        choices = _YES_NO if isinstance(value, bool) else () if isinstance(value, tuple) else choices_of(key)
        kind = "choice" if choices else {int: "number", tuple: "list"}.get(type(value), "text")
        text = "\n".join(value) if isinstance(value, tuple) else str(value).lower() if choices else str(value)
        yield Field(key, text, kind, about.help, choices, about.least, origin, is_own and not about.trusted)
