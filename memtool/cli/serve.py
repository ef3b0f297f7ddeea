"""`memtool serve`."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import click

from memtool.beside import SERVICES, by_name
from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import ProviderMissing, UsageError
from memtool.index.engines import ENGINES, FILES
from memtool.installation import how_to_add
from memtool.processes import start_command
from memtool.web.runtime import NoAnswer, Runtime, ask, find_service, find_token, is_at_work, service_place

_NEEDED = ("fastapi", "uvicorn", "jinja2", "nh3")
_START = 20.0  # seconds in which a service that is started in the background is there
_END = 15.0  # seconds in which one is gone: requests under way have ten
_PAUSE = 0.05
_DEEDS = ("status", "stop", "open_page")


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65_535), help="The port; without it 47474, or a free one.")
@click.option(
    "--idle", type=click.FloatRange(min=0), default=0.0, metavar="MINUTES", help="End when nobody asked for so long."
)
@click.option(
    "--engine",
    type=click.Choice([*ENGINES]),
    default=FILES,
    show_default=True,
    help="With postgres: the vaults of a team, from its settings.",
)
@click.option("--status", is_flag=True, help="Say whether a service is there, and where. Exit code 1: none is.")
@click.option("--stop", is_flag=True, help="End the service that is there.")
@click.option("--open", "open_page", is_flag=True, help="Open its page in the browser; start it if need be.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
@click.pass_context
def command(
    ctx: click.Context,
    session: Session,
    /,
    *,
    host: str,
    port: int | None,
    idle: float,
    engine: str,
    as_json: bool,
    **deeds: bool,
) -> None:
    """Serve the vault over HTTP, to pages and programs on this machine, until it is stopped.

    There is one service for each vault, and nothing needs it: it ends with Ctrl-C, with --stop, or by itself with
    --idle. Requests bring the token that lies in a file only you can read, or MEMTOOL_TOKEN.

    With --engine postgres it serves the vaults of a team, which the settings name, to whoever has a token of
    `memtool team token`.
    """
    chosen = [name for name in _DEEDS if deeds[name]]
    if len(chosen) > 1:
        raise UsageError("--status, --stop and --open exclude each other")
    if deeds["status"]:
        ctx.exit(_show_status(session, as_json=as_json))
    if deeds["stop"]:
        _stop(session, as_json=as_json)
        return
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise ProviderMissing(f"{missing[0]} is not installed", hint=how_to_add("serve"))
    if engine in SERVICES:
        by_name(SERVICES[engine])(session.environ, host=host, port=port, as_json=as_json)
        return
    if deeds["open_page"]:
        _open(session, as_json=as_json)
        return
    from memtool.web.server import serve

    def told(runtime: Runtime) -> None:
        token = service_place(session.work).path("token")
        if as_json:
            output.emit_json({"state": "starting", **runtime._asdict(), "url": runtime.url})
            return
        click.echo(f"Serving {output.printable(session.work.shown_vault)} at {runtime.url}")
        output.say("`memtool serve --open` shows its page; Ctrl-C ends it.", f"The token for programs lies in {token}.")

    serve(session.open_workspace, host=host, port=port, idle=idle * 60, started=told)


def _show_status(session: Session, *, as_json: bool) -> int:
    """Print what there is, and return the exit code."""
    place = service_place(session.work)
    runtime = find_service(place)
    state = _state(session, runtime) if runtime else "starting" if is_at_work(place) else "stopped"
    if as_json:
        output.emit_json({"state": state, **_fields(runtime)})
    elif runtime:
        click.echo(f"{state}: {runtime.url}, process {runtime.pid}, since {runtime.started_at}")
    else:
        click.echo(state)
    return 0 if runtime else 1


def _state(session: Session, runtime: Runtime) -> str:
    try:
        return str(ask(runtime, find_token(session.work, service_place(session.work)), "GET", "/health").get("state"))
    except NoAnswer:
        return "silent"


def _stop(session: Session, *, as_json: bool) -> None:
    place = service_place(session.work)
    runtime = find_service(place)
    if runtime:
        ask(runtime, find_token(session.work, place), "POST", "/service/stop")
        if not _until(lambda: not is_at_work(place), _END):
            raise NoAnswer(f"the service at {runtime.url} did not end within {_END:g} seconds")
    if as_json:
        output.emit_json({"stopped": runtime is not None})
    else:
        click.echo("The service has ended." if runtime else "There is no service.")


def _open(session: Session, *, as_json: bool) -> None:
    place = service_place(session.work)
    runtime = find_service(place)
    if runtime is None:
        start_command(session.vault.root, session.environ, "serve")
        _until(lambda: find_service(place) is not None, _START)
        runtime = find_service(place)
    if runtime is None:
        raise NoAnswer("the service did not start", hint="`memtool serve` says why.")
    answer: dict[str, Any] = ask(runtime, find_token(session.work, place), "POST", "/service/link", patience=_START)
    url = f"{runtime.url}{answer['path']}"
    if as_json:
        output.emit_json({**_fields(runtime), "link": url})
        return
    click.echo(url)
    output.say("The link is good once, within a minute.")
    if output.on_terminal():
        click.launch(url)


def _fields(runtime: Runtime | None) -> dict[str, Any]:
    return {**runtime._asdict(), "url": runtime.url} if runtime else {}


def _until(is_so: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE)
    return True
