"""The health of a team's memory: for the operator its database, tokens and remotes; for a member the service."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from memtool import settings as settings_module
from memtool.doctor.check import BROKEN, NOTE, OK, Check, broken
from memtool.errors import MemtoolError
from memtool.settings import Settings
from memtool.text.lines import counted

if TYPE_CHECKING:
    import psycopg

    from memtool.team.clones import Clone


def team_checks(environ: Mapping[str, str]) -> list[Check]:
    """Return the findings about the team's memory that the user's own settings name, as its operator or as a member."""
    try:
        known = settings_module.load(None, environ)
    except MemtoolError as error:
        return [broken("settings", error)]
    checks = list(_of_member(known, environ)) if known.team.url else []
    if known.team.vaults or settings_module.database_address(known, environ):
        checks += [*_of_database(known, environ), *_of_remotes(known, environ)]
    hint = "As a member: `memtool team join URL`. As the operator: set `[team] vaults` and `[index] dsn`."
    return checks or [Check("team", NOTE, "your settings name no team", hint)]


def _of_member(known: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    from memtool.team.member import Service, checked_url, find_token

    try:
        service = Service(checked_url(known.team.url), find_token(environ))
        yield Check("team's service", OK, f"{service.url} answers, for {', '.join(service.vaults()) or 'no vault'}")
    except MemtoolError as error:
        yield broken("team's service", error)


def _of_database(known: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    from memtool.team.postgres.connection import check_schema, connect, refusals

    address = settings_module.database_address(known, environ)
    if not address:
        yield Check("database", BROKEN, "no database is named", "Set `[index] dsn`, or MEMTOOL_POSTGRES.")
        return
    try:
        with refusals(), connect(address) as db:
            if db.execute("SELECT to_regclass('memtool.migration')").fetchone() == (None,):
                yield Check("database", NOTE, "answers, without tables yet", "The service makes them when it starts.")
                return
            check_schema(db)
            yield _of_roles(db)
            yield _of_tokens(db)
    except MemtoolError as error:
        yield broken("database", error)


def _of_roles(db: psycopg.Connection[Any]) -> Check:
    """Return whether the service may take the roles in which it reads, writes and lets people in."""
    roles = ("memtool_reader", "memtool_writer", "memtool_guest", "memtool_gate")
    rows = [(role, db.execute("SELECT pg_has_role(%s, 'MEMBER')", (role,)).fetchone()) for role in roles]
    if lacking := [role for role, row in rows if not row or not row[0]]:
        fix = f"GRANT {', '.join(lacking)} TO {db.info.user};"
        return Check("database", BROKEN, f"'{db.info.user}' is no member of {', '.join(lacking)}", fix)
    version = db.info.server_version
    return Check("database", OK, f"PostgreSQL {version // 10_000}.{version % 10_000} answers, with memtool's tables")


def _of_tokens(db: psycopg.Connection[Any]) -> Check:
    from memtool.team.tokens import list_tokens

    now = datetime.now(UTC)
    active = [each for each in list_tokens(db) if each.state(now) == "active"]
    ending = [each for each in active if each.expires_at and each.expires_at - now < timedelta(days=14)]
    if not active:
        return Check("tokens", NOTE, "there is no token yet", "Make one: `memtool team token add`.")
    if ending:
        names = ", ".join(f"{each.id} ({each.holder})" for each in ending[:5])
        return Check(
            "tokens", NOTE, f"expires within two weeks: {names}", "`memtool team token rotate ID` makes another."
        )
    return Check("tokens", OK, f"{counted(len(active), 'token')} in force")


def _of_remotes(known: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    from memtool.team.clones import clones_of

    try:
        clones = clones_of(known, environ)
    except MemtoolError as error:
        yield broken("team's vaults", error)
        return
    yield from (_of_remote(clone) for clone in clones.values())
    if clones and not settings_module.secret_in(environ, settings_module.WEBHOOK_SECRET):
        fix = "Set MEMTOOL_TEAM_WEBHOOK_SECRET, and the same secret at the git host."
        yield Check("webhook", NOTE, f"remotes are asked every {known.team.pull_seconds} seconds only", fix)


def _of_remote(clone: Clone) -> Check:
    from memtool.history.syncing import fetch, find_remote
    from memtool.team.clones import waiting

    subject = f"remote {clone.name}"
    if not clone.folder.exists():
        return Check(subject, NOTE, "is not cloned yet", "The service does so when it starts.")
    try:
        vault = clone.vault()
        fetch(vault, find_remote(vault))
        late = waiting(clone)
    except MemtoolError as error:
        return broken(subject, error)
    if late > 100:
        return Check(subject, BROKEN, f"{counted(late, 'commit')} wait for it", "The service's log says why.")
    return Check(subject, OK, f"answers; {counted(late, 'commit')} wait for it")
