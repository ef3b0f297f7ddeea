"""`memtool team`."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memtool import settings as settings_module
from memtool.cli import output
from memtool.errors import BadSetting, NotWritable, ProviderMissing
from memtool.installation import how_to_add
from memtool.settings import environment
from memtool.team import limits, tokens
from memtool.team.tokens import SCOPES, Token
from memtool.vault.files import make_folder, read_text, replace, write_over

if TYPE_CHECKING:
    import psycopg

_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_NO_DATABASE = "Set `[index] dsn` in your own config.toml, or MEMTOOL_POSTGRES."


@click.group()
def command() -> None:
    """Share a memory: tokens and the audit log for the operator of a team's service; joining for a member."""


@command.group()
def token() -> None:
    """Say who may read and write which vaults of the team."""


@token.command()
@click.argument("holder")
@click.option("--email", required=True, metavar="ADDRESS", help="The author of the holder's commits.")
@click.option("--on", "vaults", multiple=True, required=True, metavar="VAULT", help="A vault's name; `*` for all.")
@click.option(
    "--scope", "scopes", multiple=True, type=click.Choice(SCOPES), default=("read", "write"), show_default=True
)
@click.option("--project", "projects", multiple=True, metavar="NAME", help="Only what belongs to this project.")
@click.option("--days", type=click.IntRange(min=1), default=365, show_default=True, help="How long it is good.")
@_AS_JSON
def add(
    holder: str,
    *,
    email: str,
    vaults: tuple[str, ...],
    scopes: tuple[str, ...],
    projects: tuple[str, ...],
    days: int,
    as_json: bool,
) -> None:
    """Make a token for HOLDER, a person or a machine, and show it: once, because only its hash is kept."""
    now = _now()
    wanted = Token("", holder.strip(), email, scopes, vaults, projects, expires_at=now + timedelta(days=days))
    with _database() as db:
        _show(*tokens.add_token(db, wanted, os.urandom(limits.TOKEN_BYTES), now), as_json=as_json)


@token.command("list")
@_AS_JSON
def list_all(*, as_json: bool) -> None:
    """List the tokens, with what each may do and when it was last used."""
    now = _now()
    with _database() as db:
        found = tokens.list_tokens(db)
    if as_json:
        output.emit_json({"tokens": [_fields(each, now) for each in found]})
        return
    for each in found:
        kept = f" projects {', '.join(each.projects)}" if each.projects else ""
        used = f"used {each.used_at:%Y-%m-%d %H:%M}" if each.used_at else "never used"
        until = f"until {each.expires_at:%Y-%m-%d}" if each.expires_at else "for good"
        about = f"{each.id}  {each.state(now):<8}  {each.author}  {', '.join(each.scopes)} on {', '.join(each.vaults)}"
        click.echo(output.printable(f"{about}{kept}  {until}  {used}"))


@token.command()
@click.argument("token_id")
@click.option("--grace", type=click.IntRange(min=0), default=24, show_default=True, metavar="HOURS",
              help="How long the old one is still good.")  # fmt: skip
@_AS_JSON
def rotate(token_id: str, *, grace: int, as_json: bool) -> None:
    """Make another token in the place of TOKEN_ID, and show it once."""
    with _database() as db:
        made = tokens.rotate_token(db, token_id, os.urandom(limits.TOKEN_BYTES), _now(), timedelta(hours=grace))
    _show(*made, as_json=as_json)


@token.command()
@click.argument("token_id")
@_AS_JSON
def revoke(token_id: str, *, as_json: bool) -> None:
    """Revoke the token TOKEN_ID: it no longer works from the next request on."""
    with _database() as db:
        gone = tokens.revoke_token(db, token_id, _now())
    if as_json:
        output.emit_json(_fields(gone, _now()))
    else:
        click.echo(output.printable(f"The token {gone.id} of {gone.holder} is revoked."))


@command.command()
@click.option("--days", type=click.IntRange(min=1), default=7, show_default=True, help="How far back.")
@click.option("--who", default="", metavar="NAME", help="A holder, or the id of a token.")
@click.option("--on", "vault", default="", metavar="VAULT", help="Of this vault only.")
@click.option("--writes", is_flag=True, help="Only what may have changed something.")
@click.option("--limit", type=click.IntRange(min=1), default=200, show_default=True)
@_AS_JSON
def audit(*, days: int, who: str, vault: str, writes: bool, limit: int, as_json: bool) -> None:
    """Show who asked and who wrote, newest first. What they asked for is not kept."""
    from memtool.team.tokens import read_audit

    with _database() as db:
        found = read_audit(db, since=_now() - timedelta(days=days), holder=who, vault=vault, writes=writes, limit=limit)
    if as_json:
        output.emit_json({"deeds": [{**each._asdict(), "at": each.at.isoformat()} for each in found]})
        return
    for each in found:
        said = f"{each.at:%Y-%m-%d %H:%M:%S}  {each.status}  {each.holder} ({each.token})  {each.deed}  {each.vault}"
        click.echo(output.printable(f"{said}  {each.ms} ms"))


@command.command()
@click.argument("url")
def join(url: str) -> None:
    """Let this machine ask the team's service at URL beside your own vault. The token is read from stdin, or asked for.

    It is kept in a file that only you can read, beside your settings.
    """
    from memtool.team.member import Service, checked_url, token_path

    text = click.prompt("Token", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline()
    environ = environment()
    names = Service(checked_url(url), text.strip()).vaults()
    path, config = token_path(environ), settings_module.user_config_path(environ)
    try:
        make_folder(path.parent)
        path.unlink(missing_ok=True)  # with whatever permissions it had
        write_over(path, text.strip().encode(), durable=True)
        has_section = _add_url(config, url)
    except OSError as error:
        raise NotWritable(f"cannot write in '{path.parent}': {error.strerror}") from None
    click.echo(output.printable(f"You are in: {', '.join(names) or 'no vault yet'}."))
    if has_section:
        output.say(f"{config} has a section [team] already: set `url = {json.dumps(url)}` there.")


def _add_url(config: Path, url: str) -> bool:
    """Add the service's address to the user's settings, unless they have a section for it; return whether they have."""
    text, expected = read_text(config) if config.exists() else ("", None)
    if re.search(r"^\s*\[\s*team\s*\]", text, re.MULTILINE):
        return settings_module.load(None, {"MEMTOOL_CONFIG": str(config)}).team.url != url
    replace(config, f"{text.rstrip()}\n\n[team]\nurl = {json.dumps(url)}\n".lstrip(), expected=expected)
    return False


@contextmanager
def _database() -> Iterator[psycopg.Connection[Any]]:
    """Give a connection to the team's database, whose tables are made if need be."""
    from memtool.team.postgres.connection import connect, migrate, refusals

    environ = environment()
    address = settings_module.database_address(settings_module.load(None, environ), environ)
    if not address:
        raise BadSetting("no database is named that a team shares", hint=_NO_DATABASE)
    migrate(address)
    with refusals(), connect(address) as db:
        yield db


def _show(made: Token, text: str, *, as_json: bool) -> None:
    if as_json:
        output.emit_json({**_fields(made, _now()), "token": text})
        return
    click.echo(text)
    output.say(
        f"The token {made.id} of {made.holder}. It is shown this once; the member keeps it with `memtool team join`."
    )


def _fields(each: Token, now: datetime) -> dict[str, Any]:
    times = {
        name: value.isoformat() if isinstance(value, datetime) else value for name, value in each._asdict().items()
    }
    return {**times, "state": each.state(now)}


def _now() -> datetime:
    return datetime.now(UTC)


def serve_team(environ: Mapping[str, str], *, host: str, port: int | None, as_json: bool) -> None:
    """Serve the vaults that the user's own settings name until somebody stops it.

    Raises:
        ProviderMissing: a library is not installed.
        BadSetting: the settings name no vaults or no database, or *host* is no address.
        MemtoolError: the port is taken, or the database refuses.
    """
    if find_spec("psycopg_pool") is None:
        raise ProviderMissing("psycopg is not installed", hint=how_to_add("postgres"))
    from memtool.team.app import make_team_app
    from memtool.team.gate import TeamGate
    from memtool.team.postgres.connection import migrate
    from memtool.team.service import TeamService
    from memtool.web.life import Life
    from memtool.web.server import listening, run, share_memory, stopped_by_signals

    known = settings_module.load(None, environ)
    address = settings_module.database_address(known, environ)
    if not address or not known.team.vaults:
        missing = "vault is named that a team shares" if address else "database is named"
        raise BadSetting(f"no {missing}", hint="Set `[team] vaults` and `[index] dsn`: docs/team.md.")
    migrate(address)
    service = TeamService(known, environ, Path.home(), address, lambda: datetime.now().astimezone())
    share_memory()
    _bound_files(service.max_bytes)
    with listening(host, port) as listener:
        life = Life(grace=2.5)  # seconds for requests when it ends: then their connections are cut
        at, port, *_ = listener.getsockname()
        url = f"http://[{at}]:{port}" if ":" in at else f"http://{at}:{port}"
        with stopped_by_signals(life):
            if as_json:
                click.echo(output.as_json({"state": "starting", "url": url, "vaults": list(service.clones)}))
            else:
                click.echo(f"Serving {', '.join(service.clones)} at {url}")
            run(TeamGate(make_team_app(service, life), service, life), life, listener)


def _bound_files(max_bytes: int) -> None:
    """Let neither this process nor the git that it runs write a larger file, such as a remote's pack without an end."""
    if sys.platform != "win32":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        wanted = max_bytes if most == resource.RLIM_INFINITY else min(max_bytes, most)
        resource.setrlimit(resource.RLIMIT_FSIZE, (wanted, most))
