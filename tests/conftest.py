"""Fixtures for every test, and a guard: no test touches the real home folder or the network."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from closed_home import close
from desk import NOW, Desk
from postgres_server import Unavailable, name_of, new_database, server_address
from trees import Tree, tree_of

from memtool.history.template import make_vault
from memtool.team.postgres.connection import migrate
from memtool.text import languages
from memtool.vault.layout import open_vault

if TYPE_CHECKING:
    from memtool.vault.layout import Vault

# The machine's speed is no property of the code, and a run says what the one before it said: `PROPERTY_EXAMPLES=1000`
# looks for what no run has tried.
_EXAMPLES = int(os.environ.get("PROPERTY_EXAMPLES", "0"))
hypothesis.settings.register_profile(
    "memtool", deadline=None, max_examples=_EXAMPLES or 40, derandomize=not _EXAMPLES, database=None
)
hypothesis.settings.register_profile("fast", hypothesis.settings.get_profile("memtool"), max_examples=20)  # check.py
hypothesis.settings.load_profile("memtool")

_NUMBERS = itertools.count()
_LISTED = languages._values
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def _list_that_exists(kind: str) -> list[str | list[str]]:
    """A word list that no language has matches nothing, which would make a test pass for no reason."""
    values = _LISTED(kind)
    assert values, f"no language has the list '{kind}'"
    return values


languages._values = _list_that_exists


def pytest_collection_finish() -> None:
    """Keep all that was imported and collected from being looked through again and again for what is not needed."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def clock() -> Callable[[], datetime]:
    """A clock that stands still at 2026-02-10 14:30 +08:00."""
    return lambda: NOW


@pytest.fixture(scope="session")
def new_vault(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The files of a new vault from the template: git takes a tenth of a second to make one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_TEMPLATE_DIR", "")
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        root = make_vault(tmp_path_factory.mktemp("template") / "vault").vault.root
    for name in ("hooks", "info"):
        (root / ".git" / name).mkdir(exist_ok=True)
    return tree_of(root)


@pytest.fixture
def desk(vault: Vault) -> Desk:
    """Somebody who works on a new vault from the template."""
    return Desk(vault)


@pytest.fixture
def vault(tmp_path: Path, new_vault: Tree) -> Vault:
    """A new vault from the template."""
    return open_vault(new_vault.write(tmp_path / "vault"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server with pgvector, one for each worker of the run."""
    with contextlib.ExitStack() as running:
        try:
            yield running.enter_context(server_address())
        except Unavailable as reason:
            pytest.skip(str(reason))


@pytest.fixture(scope="session")
def postgres_template(postgres: str) -> Iterator[str]:
    """The name of a database with memtool's tables and nothing in them."""
    with new_database(postgres) as dsn:
        migrate(dsn)
        yield name_of(dsn)


@pytest.fixture
def database(postgres: str, postgres_template: str) -> Iterator[str]:
    """The address of a database with memtool's tables, of this test alone."""
    with new_database(postgres, postgres_template) as dsn:
        yield dsn


@pytest.fixture(scope="session")
def shared_database(postgres: str, postgres_template: str) -> Iterator[str]:
    """The address of a database with memtool's tables, for tests that bring a vault of their own."""
    with new_database(postgres, postgres_template) as dsn:
        yield dsn


class Guard:
    """Refuses and remembers what a test must not do. Code under test may swallow the error; the memory stays."""

    def __init__(self) -> None:
        self.is_on = False
        self.violations: list[str] = []
        self._home = os.path.realpath(Path("~").expanduser())
        temporary = os.path.realpath(tempfile.gettempdir())
        self._temporary = () if _is_below(self._home, temporary) else (temporary + os.sep,)
        own = (Path(__file__).parents[1], tempfile.gettempdir(), sys.prefix, sys.base_prefix)
        allowed = (os.path.realpath(path) for path in own)
        # A home folder may lie in the folder for temporary files.
        self._allowed = tuple(path for path in allowed if path == self._home or not _is_below(self._home, path))

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        """Check one audit event of the interpreter; a child process is out of its reach, the environment is not."""
        if not self.is_on:
            return
        if event in ("socket.connect", "socket.sendto") and not _is_loopback(args[1]):
            self._refuse(f"connects to {args[1]}")
        elif event == "socket.getaddrinfo" and not _is_loopback(args):
            self._refuse(f"looks up {args[0]}")
        elif event in ("os.mkdir", "os.remove", "os.rmdir", "sqlite3.connect") or (
            event == "open" and args[2] & _WRITING
        ):
            self._check_path(args[0])
        elif event == "os.rename":
            self._check_path(args[1])

    def _check_path(self, path: object) -> None:
        # Looking where each path leads would take a tenth of all the time; no test makes a link to the real home.
        if isinstance(path, str) and path.startswith(self._temporary) and ".." not in path:
            return
        if isinstance(path, str | bytes | os.PathLike):
            real = os.path.realpath(os.fsdecode(path))
            if _is_below(real, self._home) and not any(_is_below(real, folder) for folder in self._allowed):
                self._refuse(f"writes {real}")

    def _refuse(self, deed: str) -> None:
        self.violations.append(deed)
        raise PermissionError(f"the guard in tests/conftest.py: the test {deed}")


def _is_loopback(address: object) -> bool:
    if not isinstance(address, tuple):
        return True  # a socket in the file system
    host = address[0].decode() if isinstance(address[0], bytes) else str(address[0])
    return host in ("localhost", "::1", "None") or host.startswith("127.")


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


_GUARD = Guard()
sys.addaudithook(_GUARD.audit)


@pytest.fixture(autouse=True)
def guard(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Guard]:
    """Point the user's folders into a temporary one, forget the user's settings, and fail on any violation."""
    # `mktemp` looks through all folders that there are, which makes thousands of tests slow.
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(_NUMBERS))
    home.mkdir(parents=True)
    close(monkeypatch, home)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # no test cuts the power, and the disk would take most of the time
    _GUARD.is_on = True
    yield _GUARD
    _GUARD.is_on = False
    violations, _GUARD.violations = _GUARD.violations, []
    assert not violations
