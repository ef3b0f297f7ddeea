"""`memtool serve`."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from memtool.beside import SERVICES, load_object
from memtool.cli import output
from memtool.cli.options import with_json
from memtool.cli.session import Session
from memtool.errors import ProviderMissing, UsageError
from memtool.index.engines import ENGINES, FILES
from memtool.installation import how_to_add
from memtool.processes import start_command
from memtool.service_client import (
    Address,
    NoAnswer,
    ServicePlace,
    ask_again,
    end_service,
    find_service,
    is_at_work,
    read_address,
    service_place,
)

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from memtool.workspace import OpenWorkspace

_NEEDED = ("fastapi", "uvicorn", "jinja2", "nh3")
_ACTIONS = ("status", "stop", "open_page")


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), help="The port; by default 47474, or a free one.")
@click.option("--idle", type=click.FloatRange(min=0), metavar="MINUTES", help="End after so long without a request.")
@click.option(
    "--no-http", is_flag=True, help="Only hold the model for prompts and searches; by default for 15 idle minutes."
)
@click.option(
    "--engine",
    type=click.Choice([*ENGINES]),
    default=FILES,
    show_default=True,
    help="With postgres: serve the vaults of a team, from your settings.",
)
@click.option("--status", is_flag=True, help="Show whether a service runs, and where. Exit code 1: none does.")
@click.option("--stop", is_flag=True, help="End the running service.")
@click.option("--open", "open_page", is_flag=True, help="Open its page in the browser; start it if need be.")
@with_json
@click.pass_context
def command(
    ctx: click.Context,
    session: Session,
    /,
    *,
    host: str,
    port: int | None,
    idle: float | None,
    no_http: bool,
    engine: str,
    **actions: bool,
) -> None:
    """Serve the vault over HTTP, to pages and programs on this machine, until it is stopped.

    There is one process for each vault, and nothing requires it. It ends with Ctrl-C, with --stop, or by itself with
    --idle. It also holds this machine's model for prompts and searches. Requests must send its token, which is in a
    file that only you can read, or in MEMTOOL_TOKEN.

    With --engine postgres it serves the vaults of a team, named in the settings, to everyone with a token of
    `memtool team token`.
    """
    if len([name for name in _ACTIONS if actions[name]]) > 1:
        raise UsageError("--status, --stop and --open exclude each other")
    if actions["status"]:
        ctx.exit(_show_status(session))
    if actions["stop"]:
        _stop(session)
        return
    if no_http:
        from memtool.service.process import hold_model

        hold_model(session.work, idle=(15 if idle is None else idle) * 60)
        return
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise ProviderMissing(f"{missing[0]} is not installed", hint=how_to_add("serve"))
    if engine in SERVICES:
        load_object(SERVICES[engine])(session.environ, host=host, port=port, as_json=session.as_json)
        return
    if actions["open_page"]:
        _open(session)
        return
    from memtool.web.server import serve

    def announce(address: Address) -> None:
        if not session.emits({"state": "starting", **_fields(address)}):
            click.echo(f"Serving {output.printable(session.work.shown_vault)} at {address.url}")
            token = _place(session).path("token")
            output.say("`memtool serve --open` opens its page; Ctrl-C ends it.", f"The token for programs: {token}")

    serve(
        session.open_workspace, host=host, port=port, idle=(idle or 0.0) * 60, started=announce,
        make_agent_app=make_agent_app,
    )  # fmt: skip


def make_agent_app(profile: str, open_workspace: OpenWorkspace, path: str) -> Starlette:
    """Return the application that serves the tools of *profile* at *path*, when the first agent asks for it."""
    from memtool.mcp.server import make_http_app  # the SDK takes half a second to import

    return make_http_app(profile, open_workspace, path)


def _place(session: Session) -> ServicePlace:
    return service_place(session.work.cache, session.work.vault.root)


def _show_status(session: Session) -> int:
    """Print the state of the vault's process, and return the exit code."""
    place = _place(session)
    address = find_service(place)
    state, more = "stopped", ""
    if address:
        answer = ask_again(place, {"ask": "state"}, patience=5.0)
        state = str(answer.get("state")) if answer else "silent"
        more = f": {address.url}, process {address.pid}, since {address.started_at}"
    elif is_at_work(place):
        model_only = read_address(place.path("json"))
        state, more = ("model only", f": process {model_only.pid}") if model_only else ("starting", "")
    if not session.emits({"state": state, **_fields(address)}):
        click.echo(f"{state}{more}")
    return 0 if address else 1


def _stop(session: Session) -> None:
    place = _place(session)
    address = find_service(place)
    if address:
        ask_again(place, {"ask": "end"}, patience=5.0)
        if not _until(lambda: not is_at_work(place), 15.0):  # requests under way have ten seconds
            raise NoAnswer(f"the service at {address.url} did not end within 15 seconds")
    has_ended = end_service(place) or address is not None
    if not session.emits({"stopped": has_ended}):
        click.echo("The service has ended." if has_ended else "No service is running.")


def _open(session: Session) -> None:
    place = _place(session)
    address = find_service(place)
    if address is None:
        start_command(session.vault.root, session.environ, "serve")
        _until(lambda: find_service(place) is not None, 20.0)
        address = find_service(place)
    if address is None:
        raise NoAnswer("the service did not start", hint="`memtool serve` shows why.")
    answer = ask_again(place, {"ask": "link"}, patience=20.0)
    if answer is None:
        raise NoAnswer(f"the service at {address.url} does not answer")
    url = f"{address.url}{answer['path']}"
    if session.emits({**_fields(address), "link": url}):
        return
    click.echo(url)
    output.say("The link works once, within a minute.")
    if output.on_terminal():
        click.launch(url)


def _fields(address: Address | None) -> dict[str, Any]:
    names = ("vault", "pid", "host", "port", "started_at", "version", "url")
    return {name: getattr(address, name) for name in names} if address else {}


def _until(is_so: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
