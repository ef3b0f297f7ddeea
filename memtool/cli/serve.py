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

_NEEDED = ("fastapi", "uvicorn", "jinja2", "nh3")
_START = 20.0  # seconds in which a service that is started in the background is there
_END = 15.0  # seconds in which one is gone: requests under way have ten
_PATIENCE = 5.0  # seconds for an answer
_PAUSE = 0.05
_ACTIONS = ("status", "stop", "open_page")


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65_535), help="The port; without it 47474, or a free one.")
@click.option("--idle", type=click.FloatRange(min=0), metavar="MINUTES", help="End when no request came for so long.")
@click.option(
    "--no-http", is_flag=True, help="Only hold the model for prompts and searches; without --idle for 15 minutes."
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
    idle: float | None,
    no_http: bool,
    engine: str,
    as_json: bool,
    **actions: bool,
) -> None:
    """Serve the vault over HTTP, to pages and programs on this machine, until it is stopped.

    There is one process for each vault, and nothing needs it: it ends with Ctrl-C, with --stop, or by itself with
    --idle. It also holds the model of this machine for prompts and searches. Requests bring the token that lies in a
    file only you can read, or MEMTOOL_TOKEN.

    With --engine postgres it serves the vaults of a team, which the settings name, to whoever has a token of
    `memtool team token`.
    """
    chosen = [name for name in _ACTIONS if actions[name]]
    if len(chosen) > 1:
        raise UsageError("--status, --stop and --open exclude each other")
    if actions["status"]:
        ctx.exit(_show_status(session, as_json=as_json))
    if actions["stop"]:
        _stop(session, as_json=as_json)
        return
    if no_http:
        from memtool.service.process import IDLE, hold_model

        hold_model(session.work, idle=IDLE if idle is None else idle * 60)
        return
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise ProviderMissing(f"{missing[0]} is not installed", hint=how_to_add("serve"))
    if engine in SERVICES:
        by_name(SERVICES[engine])(session.environ, host=host, port=port, as_json=as_json)
        return
    if actions["open_page"]:
        _open(session, as_json=as_json)
        return
    from memtool.web.server import serve

    def started(address: Address) -> None:
        token = _place(session).path("token")
        if as_json:
            output.emit_json({"state": "starting", **_fields(address)})
            return
        click.echo(f"Serving {output.printable(session.work.shown_vault)} at {address.url}")
        output.say("`memtool serve --open` shows its page; Ctrl-C ends it.", f"The token for programs lies in {token}.")

    serve(session.open_workspace, host=host, port=port, idle=(idle or 0.0) * 60, started=started)


def _place(session: Session) -> ServicePlace:
    return service_place(session.work.cache, session.work.vault.root)


def _show_status(session: Session, *, as_json: bool) -> int:
    """Print which process there is, and return the exit code."""
    place = _place(session)
    address = find_service(place)
    if address:
        answer = ask_again(place, {"ask": "state"}, patience=_PATIENCE)
        state, more = str(answer.get("state")) if answer else "silent", ""
    elif is_at_work(place):
        model_only = read_address(place.path("json"))
        state, more = ("model only", f": process {model_only.pid}") if model_only else ("starting", "")
    else:
        state, more = "stopped", ""
    if as_json:
        output.emit_json({"state": state, **_fields(address)})
    elif address:
        click.echo(f"{state}: {address.url}, process {address.pid}, since {address.started_at}")
    else:
        click.echo(f"{state}{more}")
    return 0 if address else 1


def _stop(session: Session, *, as_json: bool) -> None:
    place = _place(session)
    address = find_service(place)
    if address:
        ask_again(place, {"ask": "end"}, patience=_PATIENCE)
        if not _until(lambda: not is_at_work(place), _END):
            raise NoAnswer(f"the service at {address.url} did not end within {_END:g} seconds")
    has_ended = end_service(place) or address is not None
    if as_json:
        output.emit_json({"stopped": has_ended})
    else:
        click.echo("The service has ended." if has_ended else "There is no service.")


def _open(session: Session, *, as_json: bool) -> None:
    place = _place(session)
    address = find_service(place)
    if address is None:
        start_command(session.vault.root, session.environ, "serve")
        _until(lambda: find_service(place) is not None, _START)
        address = find_service(place)
    if address is None:
        raise NoAnswer("the service did not start", hint="`memtool serve` says why.")
    answer = ask_again(place, {"ask": "link"}, patience=_START)
    if answer is None:
        raise NoAnswer(f"the service at {address.url} does not answer")
    url = f"{address.url}{answer['path']}"
    if as_json:
        output.emit_json({**_fields(address), "link": url})
        return
    click.echo(url)
    output.say("The link is good once, within a minute.")
    if output.on_terminal():
        click.launch(url)


def _fields(address: Address | None) -> dict[str, Any]:
    if address is None:
        return {}
    names = ("vault", "pid", "host", "port", "started_at", "version", "url")
    return {name: getattr(address, name) for name in names}


def _until(is_so: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE)
    return True
