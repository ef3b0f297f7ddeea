"""The files of a service in the user's cache, and asking the service that they tell of.

    services/<vault>.json     where it listens; gone when it ends
    services/<vault>.token    what a request must bring, for its owner's eyes only
    services/<vault>.lock     held as long as it lives

The system takes the lock back when its holder dies. So a runtime file beside a lock that nobody holds is stale.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from memtool.errors import BadSetting, Busy, MemtoolError, NotWritable
from memtool.processes import lock
from memtool.settings import service_token
from memtool.vault.files import make_folder, write_over
from memtool.vault.state import read_record, read_state
from memtool.workspace import Workspace

SHORTEST_TOKEN = 16  # characters: what is shorter can be guessed

_LARGEST = 4_096  # bytes of a runtime file or a token
_PATIENCE = 0.5  # seconds: whoever only looks whether the lock is held, holds it for a moment


class ServicePlace(NamedTuple):
    """The place of the files of the service of the vault at *root*."""

    folder: Path
    root: Path

    def path(self, kind: str) -> Path:
        """Return one of its files: `json`, `token` or `lock`."""
        return self.folder / f"{crc32(os.fsencode(self.root)):08x}.{kind}"


class Runtime(NamedTuple):
    """A service at work. *started_at* is ISO 8601 with its zone."""

    vault: str = ""
    pid: int = 0
    host: str = ""
    port: int = 0
    started_at: str = ""
    version: str = ""

    @property
    def reachable(self) -> str:
        """The host to ask on this machine."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104  (whoever listens there)

    @property
    def url(self) -> str:
        """The address of its page."""
        host = f"[{self.reachable}]" if ":" in self.reachable else self.reachable
        return f"http://{host}:{self.port}"


class AlreadyServing(Busy):
    """Another process serves the vault."""

    hint = "`memtool serve --open` shows its page, `memtool serve --stop` ends it."

    def __init__(self, runtime: Runtime | None) -> None:
        where = (
            f"at {runtime.url} (process {runtime.pid}, since {runtime.started_at})" if runtime else "and is starting"
        )
        super().__init__(f"a service for this vault is there already, {where}")


def service_place(work: Workspace) -> ServicePlace:
    """Return the place of the service of the vault at hand."""
    return ServicePlace(work.cache / "services", work.vault.root)


@contextlib.contextmanager
def only_service(place: ServicePlace) -> Iterator[None]:
    """Be the only service of a vault for the length of a `with` block. What a killed one has left is removed.

    Raises:
        AlreadyServing: another one is at work.
        NotWritable: there is no place for its files.
    """
    with contextlib.ExitStack() as held:
        try:
            make_folder(place.folder)
            held.enter_context(lock(place.path("lock"), timeout=_PATIENCE))
            place.path("json").unlink(missing_ok=True)
        except Busy:
            raise AlreadyServing(_read(place)) from None
        except OSError as error:
            raise NotWritable(f"cannot write in '{place.folder}': {error.strerror}") from None
        yield


@contextlib.contextmanager
def made_known(place: ServicePlace, runtime: Runtime) -> Iterator[None]:
    """Let others find the service for the length of a `with` block.

    Raises:
        NotWritable: the runtime file cannot be written.
    """
    path, content = place.path("json"), json.dumps(runtime._asdict()).encode()
    try:
        write_over(path, content, durable=False)
    except OSError as error:
        raise NotWritable(f"cannot write '{path}': {error.strerror}") from None
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if path.read_bytes() == content:
                path.unlink()


def find_service(place: ServicePlace) -> Runtime | None:
    """Return the service that is at work; None if there is none, or what is there is stale."""
    return _read(place) if is_at_work(place) else None


def is_at_work(place: ServicePlace) -> bool:
    """Return whether a service lives, reachable or not."""
    try:
        with lock(place.path("lock"), timeout=0):
            return False
    except Busy:
        return True
    except OSError:
        return False


def find_token(work: Workspace, place: ServicePlace) -> str:
    """Return the token that requests must bring: `MEMTOOL_TOKEN`, else the one in the vault's token file, made once.

    Raises:
        BadSetting: `MEMTOOL_TOKEN` is too short, or no request can carry it.
        NotWritable: the token file cannot be made.
    """
    given = service_token(work.environ)
    if given and len(given) < SHORTEST_TOKEN:
        raise BadSetting(
            f"MEMTOOL_TOKEN has {len(given)} characters", hint=f"Take {SHORTEST_TOKEN} or more, which nobody guesses."
        )
    if not (given.isascii() and given.isprintable()):
        raise BadSetting("MEMTOOL_TOKEN holds what no request can carry", hint="Take ASCII letters and digits.")
    return given or _stored(place) or _drawn(place)


def _stored(place: ServicePlace) -> str:
    with contextlib.suppress(OSError):
        token = read_state(place.path("token"), largest=_LARGEST).decode("ascii", "replace").strip()
        return token if len(token) >= SHORTEST_TOKEN else ""
    return ""


def _drawn(place: ServicePlace) -> str:
    token = secrets.token_urlsafe(32)
    try:
        make_folder(place.folder)
        place.path("token").unlink(missing_ok=True)  # with whatever permissions it had
        write_over(place.path("token"), token.encode(), durable=False)
    except OSError as error:
        raise NotWritable(f"cannot write '{place.path('token')}': {error.strerror}") from None
    return token


def _read(place: ServicePlace) -> Runtime | None:
    runtime = read_record(place.path("json"), Runtime(), largest=_LARGEST)
    return runtime if runtime and runtime.vault == str(place.root) else None


_LARGEST_ANSWER = 1 << 20  # bytes


class NoAnswer(MemtoolError):
    """The service does not answer, or not as it should."""

    hint = "If it is frozen, end its process; its files are cleared away by the next start."


def ask(runtime: Runtime, token: str, method: str, path: str, *, patience: float = 5.0) -> dict[str, Any]:
    """Return the answer of the service.

    Raises:
        NoAnswer: there is none in time, or it is an error.
    """
    connection = HTTPConnection(runtime.reachable, runtime.port, timeout=patience)
    try:
        connection.request(method, path, headers={"Authorization": f"Bearer {token}", "Content-Length": "0"})
        response = connection.getresponse()
        fields = json.loads(response.read(_LARGEST_ANSWER))
    except (OSError, HTTPException, ValueError, RecursionError) as error:
        raise NoAnswer(f"the service at {runtime.url} does not answer: {error}") from None
    finally:
        connection.close()
    if response.status >= 400 or not isinstance(fields, dict):
        said = fields.get("detail") if isinstance(fields, dict) else ""
        if response.status == 401:
            sentence = f"the service at {runtime.url} was started with another token"
            raise NoAnswer(sentence, hint=f"Set its MEMTOOL_TOKEN, or end process {runtime.pid}.")
        raise NoAnswer(f"the service at {runtime.url} answered {response.status}: {said}")
    return fields
