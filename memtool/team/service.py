"""Authentication, choice of the vault, and metrics of a team's service, without its HTTP."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memtool import settings as settings_module
from memtool.errors import Busy, DatabaseUnavailable, MemtoolError, NoteNotFound, UsageError
from memtool.index.engine import place_of, use_index
from memtool.memory.memories import get_memory
from memtool.recall.framing import is_line_id
from memtool.settings import Settings
from memtool.team import limits
from memtool.team.clones import Clone, clones_of
from memtool.team.keeper import Keeper, TeamModel
from memtool.team.postgres import connection
from memtool.team.postgres.connection import connection_options, make_ready, refusals
from memtool.team.tokens import WRITE, AuditEntry, Token, recognised, record
from memtool.vault.layout import FACTS_FILE, Vault
from memtool.vault.project_area import area_name
from memtool.workspace import Workspace

if TYPE_CHECKING:
    import psycopg

_GATE = "memtool_gate"  # the role of migration 0010


class Asking(NamedTuple):
    """A request that was let in: whose it is, and the vault that it names; empty for none."""

    token: Token
    vault: str


class Counts:
    """What the service counts for `/metrics`."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()  # by call and status
        self.within: Counter[int] = Counter()  # by milliseconds
        self.seconds = 0.0
        self.refused: Counter[str] = Counter()  # by reason, before a call was known

    def add(self, entry: AuditEntry) -> None:
        """Count a request."""
        is_known = entry.status not in (404, 405)  # requests for what is not there would fill this
        self.requests[entry.deed if is_known else "other", entry.status] += 1
        self.seconds += entry.ms / 1000
        self.within.update(bucket for bucket in limits.BUCKETS if entry.ms <= bucket)


class TeamService:
    """The service of the vaults that *settings* name, with the database at *dsn*."""

    def __init__(
        self, settings: Settings, environ: Mapping[str, str], home: Path, dsn: str, clock: Callable[[], datetime]
    ) -> None:
        from psycopg_pool import ConnectionPool

        self.clones = clones_of(settings, environ)
        self.counts = Counts()
        self.clock = clock
        self.max_bytes = max((clone.max_bytes for clone in self.clones.values()), default=1 << 30)
        self.secret = settings_module.secret_in(environ, settings_module.WEBHOOK_SECRET)
        # What the operator keeps on that machine is no part of a team's vault; a list of one line end is empty.
        nobodys = {
            "CLAUDE_CONFIG_DIR": os.devnull,
            "MEMTOOL_KNOWLEDGE_FOLDERS": "\n",
            "MEMTOOL_INDEX_CLIENT_MEMORY": "no",
        }
        if not settings.has_chosen_embedder:  # nor what else is installed there
            nobodys["MEMTOOL_EMBEDDINGS_PROVIDER"] = "none"
        engine = {"MEMTOOL_INDEX_ENGINE": "postgres", settings_module.POSTGRES: dsn}
        self._environ, self._home = {**environ, **nobodys, **engine}, home
        self.model = TeamModel(settings, environ, say=lambda problem: log(problem=problem))
        self._asking: ContextVar[Asking | None] = ContextVar("asking", default=None)
        self.keeper = Keeper(self.clones.values(), pause=settings.team.pull_seconds, changed=self._index)
        self.dsn = dsn
        options: dict[str, Any] = {
            "kwargs": connection_options(),
            "min_size": 1,
            "max_size": limits.MOST_AT_ONCE,
            "max_waiting": limits.MOST_AT_ONCE * 4,
            "timeout": limits.POOL_SECONDS,
            "open": False,
        }
        self.pool: ConnectionPool[psycopg.Connection[Any]] = ConnectionPool(dsn, configure=_as_gate, **options)
        self._pool_of_index: ConnectionPool[psycopg.Connection[Any]] = ConnectionPool(
            dsn, configure=make_ready, reset=make_ready, **options
        )

    def start(self) -> None:
        """Begin to follow the remotes, to connect to the database, and to load the model."""
        self.pool.open()
        self._pool_of_index.open()
        connection.pools[self.dsn] = self._pool_of_index
        self.model.start(self._index_all)
        self.keeper.start()

    def end(self) -> None:
        """End, whatever the database does. What was written and is not pushed yet lies in the clones."""
        connection.cut(connection.in_use)
        self._pool_of_index.close(1.0)  # seconds
        self.pool.close(1.0)
        self.keeper.end()  # which finds the pools closed
        connection.pools.pop(self.dsn, None)

    @contextlib.contextmanager
    def database(self) -> Iterator[psycopg.Connection[Any]]:
        """Give a connection that may read tokens and add to the audit.

        Raises:
            DatabaseUnavailable: there is none within the time that a request waits.
        """
        import psycopg_pool

        try:
            with self.pool.connection() as db, connection.used(db), refusals():
                yield db
        except (psycopg_pool.PoolTimeout, psycopg_pool.TooManyRequests, psycopg_pool.PoolClosed):
            hint = "Try again in a moment."
            raise DatabaseUnavailable("the database is away, or all its connections are in use", hint=hint) from None

    def recognise(self, text: str) -> Token:
        """Return the token that *text* is; it raises as `tokens.recognised` and `database` do."""
        with self.database() as db:
            return recognised(db, text, self.clock())

    def vaults_of(self, token: Token) -> tuple[str, ...]:
        """Return the names of the vaults that are served and that *token* is for."""
        return token.reach(self.clones)

    @contextlib.contextmanager
    def asked_by(self, asking: Asking) -> Iterator[None]:
        """Let all that runs for one request know whose it is, for the length of a `with` block."""
        allowed = connection.Reach(frozenset(self.vaults_of(asking.token)), asking.token.projects)
        kept, reach = self._asking.set(asking), connection.reach.set(allowed)
        try:
            yield
        finally:
            connection.reach.reset(reach)
            self._asking.reset(kept)

    @property
    def asking(self) -> Asking:
        """The request that is answered now.

        Raises:
            UsageError: none is.
        """
        asking = self._asking.get()
        if asking is None:
            raise UsageError("no request is being answered")
        return asking

    @property
    def asked_vaults(self) -> tuple[str, ...]:
        """The vault that the request at hand names, or all that its token is for."""
        return (self.asking.vault,) if self.asking.vault else self.vaults_of(self.asking.token)

    def open_workspace(self, folder: Path | None = None) -> Workspace:
        """Return the workspace of the vault that the request names; a *folder* of the asker's is known by its name.

        Raises:
            UsageError: the request names none, and the token is for several.
            MemtoolError: the vault is none that the token is for, or cannot be opened.
        """
        return self.workspace(self.asking.vault, folder)

    def workspace(self, name: str, folder: Path | None = None) -> Workspace:
        """Return the workspace of the vault *name*, for the request that is answered now. It raises the same."""
        token = self.asking.token
        if name not in self.vaults_of(token):
            names = ", ".join(self.vaults_of(token)) or "none that is served"
            raise UsageError("the request names no vault of its token's", hint=f"Ask /vaults/NAME/…, of: {names}.")
        vault = self.clones[name].vault(token.author)._replace(is_followed=True, may_write=WRITE in token.scopes)
        project = area_name(folder.name) if folder else ""
        within = vault.root / "areas" / "projects" / project if project else Path(vault.root.anchor)  # no project's
        return self._workspace(name, vault, within)

    def common_workspace(self, names: Sequence[str], folder: Path | None = None) -> Workspace:
        """Return the workspace in which all of *names* are asked, with the operator's settings. It raises the same."""
        work = self.workspace(names[0] if names else "", folder)
        return work._replace(settings=settings_module.load(None, work.environ))

    def check_memory(self, memory_id: str) -> None:
        """Raise `NoteNotFound` for a memory of a project that the token is not for, as if there were none.

        The files hold all projects, so the database is asked whether it shows that memory to this token.
        """
        work = self.open_workspace()
        try:
            memory = get_memory(work, memory_id).memory
        except UsageError:  # several have that id, and the error would name where they are
            raise NoteNotFound(memory_id) from None
        fact_id = memory.fact_id
        is_whole_facts_file = not fact_id and memory.path.endswith(FACTS_FILE)  # which may be of many projects
        is_full_id = memory_id in (fact_id, memory.path) and not is_line_id(memory_id)  # it means one memory everywhere
        if is_whole_facts_file or not is_full_id or not self.asking.token.covers(memory.project):
            raise NoteNotFound(memory_id)
        if (memory.path, fact_id) not in shown_memories(work, [memory.path]):
            raise NoteNotFound(memory_id)

    def count(self, entry: AuditEntry) -> None:
        """Count what was asked; what was written is pushed soon."""
        self.counts.add(entry)
        if entry.wrote and entry.status < 300 and entry.vault:
            self.keeper.soon(entry.vault, written=1)

    def keep(self, entry: AuditEntry) -> None:
        """Keep what was asked in the audit.

        Raises:
            DatabaseUnavailable: it cannot be kept there.
        """
        with self.database() as db:
            record(db, entry)

    def _index_all(self) -> None:
        for name in self.clones:
            self.keeper.soon(name)

    def _index(self, clone: Clone) -> None:
        """Bring the index of *clone* up to date.

        Raises:
            MemtoolError: it is not, and the keeper tries again.
        """
        vault = clone.vault()
        place = place_of(self._workspace(clone.name, vault, vault.root), patience=60.0)
        if use_index(place, lambda index: index.behind):
            raise Busy("another process is indexing the vault")
        if self.model.embedder:
            try:
                use_index(place, self.model.make_vectors)
            except MemtoolError as error:  # words find everything meanwhile
                log(vault=clone.name, problem=f"no vectors: {error}")

    def _workspace(self, name: str, vault: Vault, folder: Path) -> Workspace:
        environ = {**self._environ, "MEMTOOL_INDEX_NAME": name}
        known = settings_module.load(vault.settings_path, environ)
        return Workspace(vault, known, environ, self._home, folder, self.clock)


def shown_memories(work: Workspace, paths: Collection[str]) -> set[tuple[str, str]]:
    """Return the path of each note of *paths* that the database shows to the token at hand, with each fact's id."""
    find = "SELECT DISTINCT n.ref, c.fact_id FROM chunk AS c JOIN note AS n ON n.id = c.note_id WHERE n.ref IN "
    marks = ", ".join("?" * len(paths)) or "NULL"
    return use_index(
        place_of(work), lambda index: {(ref, fact) for ref, fact in index.db.execute(f"{find}({marks})", tuple(paths))}
    )


def _as_gate(db: psycopg.Connection[Any]) -> None:
    timeouts = f"SET statement_timeout = '5s'; SET lock_timeout = '{limits.LOCK_SECONDS}s'"
    db.execute(f"SET ROLE {_GATE}; {timeouts}")


def log(**fields: object) -> None:
    """Write a line of the service's log: one JSON object, in which no text of a memory is."""
    sys.stderr.write(json.dumps(fields, ensure_ascii=False) + "\n")
    sys.stderr.flush()


def metrics_text(service: TeamService) -> str:
    """Return what the service has counted, in the text format of Prometheus."""
    counts, rows = service.counts, list[str]()

    def tell(name: str, kind: str, help_text: str, values: Mapping[str, float]) -> None:
        rows.append(f"# HELP memtool_{name} {help_text}\n# TYPE memtool_{name} {kind}")
        rows.extend(f"memtool_{name}{labels} {value:.15g}" for labels, value in values.items())

    requests = {f'{{call="{call}",status="{status}"}}': n for (call, status), n in sorted(counts.requests.items())}
    tell("requests_total", "counter", "Requests by call and status.", requests)
    refused = {f'{{reason="{reason}"}}': n for reason, n in sorted(counts.refused.items())}
    tell("refused_total", "counter", "Requests that were not let in.", refused)
    total = sum(counts.requests.values())
    seconds: dict[str, float] = {f'_bucket{{le="{each / 1000:g}"}}': counts.within[each] for each in limits.BUCKETS}
    seconds |= {'_bucket{le="+Inf"}': total, "_sum": counts.seconds, "_count": total}
    tell("request_seconds", "histogram", "How long requests take.", seconds)
    kept = {f'{{vault="{name}"}}': each for name, each in service.keeper.kept.items()}
    waiting = {labels: each.waiting for labels, each in kept.items()}
    tell("outbox_commits", "gauge", "Commits that wait for the remote.", waiting)
    synced = {labels: each.synced_at for labels, each in kept.items()}
    tell("synced_timestamp_seconds", "gauge", "When a vault last met its remote.", synced)
    failures = {labels: each.failures for labels, each in kept.items()}
    tell("sync_failures", "gauge", "Failures of the remote in a row.", failures)
    stats = service.pool.get_stats()
    pool = {f'{{state="{name}"}}': stats.get(name, 0) for name in ("pool_size", "pool_available", "requests_waiting")}
    tell("pool_connections", "gauge", "Connections of the gate to the database.", pool)
    tell("pool_errors_total", "counter", "Requests that got no connection.", {"": stats.get("requests_errors", 0)})
    return "\n".join(rows) + "\n"
