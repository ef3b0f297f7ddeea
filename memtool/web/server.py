"""The server: one process on a port of this machine, from the first request that it can answer to the last."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import ipaddress
import math
import secrets
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from memtool.errors import BadSetting, MemtoolError, NotWritable
from memtool.service.listener import only_process
from memtool.service.process import parts_beside
from memtool.service_client import Address, ServicePlace, end_service, service_place
from memtool.settings import TOKEN, secret_in
from memtool.vault.files import make_folder, write_over
from memtool.vault.state import read_state
from memtool.web.agent_server import MakeAgentApp
from memtool.web.gate import Access, Gate
from memtool.web.life import STOPPED, Life
from memtool.workspace import OpenWorkspace, Workspace

USUAL_PORT = 47_474
LOOPBACK = ("127.0.0.1", "localhost", "::1")
SHORTEST_TOKEN = 16  # characters: a shorter one can be guessed


def serve(
    open_workspace: OpenWorkspace,
    *,
    host: str,
    port: int | None,
    idle: float,
    started: Callable[[Address], None],
    make_agent_app: MakeAgentApp | None = None,
) -> None:
    """Serve the vault until it is stopped, or for *idle* seconds without a request (0: for ever).

    Without a *port* it takes the usual one, or another if that is taken. *started* is called when others can reach the
    service. Without *make_agent_app*, it offers no tools to agents that speak MCP over HTTP.

    Raises:
        AlreadyServing: another process serves this vault.
        BadSetting: *host* is beyond this machine, and there is no token for that.
        MemtoolError: the port is taken, or there is no place for the service's files.
    """
    share_memory()
    work = open_workspace(None)
    place = service_place(work.cache, work.vault.root)
    _check_host(host, work)
    end_service(place)  # a process that holds only the model
    with only_process(place), listening(host, port) as listener:
        from memtool.web.app import make_app  # takes most of the start: others know of us when we can answer
        from memtool.web.state_api import IMPORT, LARGEST_IMPORT

        life = Life(idle=idle)
        at = listener.getsockname()
        address = Address(started_at=work.now().isoformat(timespec="seconds"), host=at[0], port=at[1])
        access = Access(find_token(work, place), {*LOOPBACK, host}, address.port)
        app = make_app(open_workspace, access, life, make_agent_app)
        gate = Gate(app, access, life, larger={IMPORT: LARGEST_IMPORT})
        asks = {"link": lambda: {"path": access.make_link()}, "state": lambda: {"state": life.state}}
        with stopped_by_signals(life), parts_beside(open_workspace, place, address, asks, life.stop) as known:
            started(known)
            run(gate, life, listener)


def find_token(work: Workspace, place: ServicePlace) -> str:
    """Return the token that requests must bring: `MEMTOOL_TOKEN`, else the one in the vault's token file, made once.

    Raises:
        BadSetting: `MEMTOOL_TOKEN` is too short, or no request can carry it.
        NotWritable: the token file cannot be made.
    """
    given = secret_in(work.environ, TOKEN)
    if given and len(given) < SHORTEST_TOKEN:
        raise BadSetting(
            f"MEMTOOL_TOKEN has {len(given)} characters", hint=f"Use at least {SHORTEST_TOKEN} random characters."
        )
    if not (given.isascii() and given.isprintable()):
        raise BadSetting("MEMTOOL_TOKEN cannot be sent in a header", hint="Use ASCII letters and digits.")
    if given:
        return given
    with contextlib.suppress(OSError):
        stored = read_state(place.path("token"), largest=4_096).decode("ascii", "replace").strip()
        if len(stored) >= SHORTEST_TOKEN:
            return stored
    token = secrets.token_urlsafe(32)
    try:
        make_folder(place.folder)
        place.path("token").unlink(missing_ok=True)  # with whatever permissions it had
        write_over(place.path("token"), token.encode(), durable=False)
    except OSError as error:
        raise NotWritable(f"cannot write '{place.path('token')}': {error.strerror}") from None
    return token


def share_memory() -> None:
    """Let all threads use one memory pool: separate ones cost a tenth of the service's memory."""
    _tell_allocator("mallopt", -8, 1)  # M_ARENA_MAX


def _tell_allocator(call: str, *values: int) -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library has no such thing
            getattr(ctypes.CDLL(None), call)(*values)


@contextlib.contextmanager
def stopped_by_signals(life: Life) -> Iterator[None]:
    """Let signals end the service as a request does."""
    names = ("SIGINT", "SIGTERM", "SIGBREAK")  # the last is Windows' own
    signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {each: signal.signal(each, lambda *_: life.stop()) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


class _Server(uvicorn.Server):
    """uvicorn's server, which ends when the service's life is over."""

    def __init__(self, config: uvicorn.Config, life: Life) -> None:
        super().__init__(config)
        self._life = life
        self._tidied = 0  # requests that were answered when memory was last given back

    def capture_signals(self) -> contextlib.AbstractContextManager[None]:  # type: ignore[override]
        return contextlib.nullcontext()

    async def on_tick(self, counter: int) -> bool:  # ten times a second
        answered = self._life.answered
        if counter % 20 == 0 and self._tidied != answered:
            self._tidied = answered
            gc.collect()
            _tell_allocator("malloc_trim", 0)  # after many requests at once, unused memory is a tenth of the service's
        return self._life.is_over() or await super().on_tick(counter)


class _Connection(H11Protocol):
    """A connection that is cut when a head is late. Where there are too many, the one that waits longest gives way."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > 400:
            waiting = (each for each in self.connections if isinstance(each, _Connection) and each is not self)
            longest = min(waiting, key=lambda each: each._waits_until)  # noqa: SLF001  (of this class)
            (longest if longest._waiting else self).transport.abort()  # noqa: SLF001

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:  # a whole head has come
            self._forget()
        elif self._waiting is None:  # the next head begins
            self._wait()

    @property
    def _waits_until(self) -> float:
        return self._waiting.when() if self._waiting else math.inf

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(10.0, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _forget(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def run(app: Any, life: Life, listener: socket.socket) -> None:  # noqa: ANN401  (uvicorn's type of an application)
    """Answer requests to *app* at *listener* until its *life* is over."""
    config = uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        h11_max_incomplete_event_size=32_768,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=1,
    )
    gc.collect()
    gc.freeze()  # what is there now stays: to look through it for garbage would take a tenth of a second each time
    _Server(config, life).run([listener])
    life.state = STOPPED


@contextlib.contextmanager
def listening(host: str, port: int | None) -> Iterator[socket.socket]:
    """Give a socket that listens.

    Raises:
        MemtoolError: the port is taken, or *host* is no address of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small answers at once (TCP_NODELAY) only where the socket names its protocol; else each waits 40 ms.
    with contextlib.closing(socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)) as listener:
        if sys.platform == "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            _bind(listener, host, port)
        except OSError as error:
            hint = "Leave --port out to take a free one."
            raise MemtoolError(f"cannot listen at {host}, port {port}: {error.strerror}", hint=hint) from None
        listener.listen(128)
        yield listener


def _bind(listener: socket.socket, host: str, port: int | None) -> None:
    try:
        listener.bind((host, USUAL_PORT if port is None else port))
    except OSError:
        if port is not None:
            raise
        listener.bind((host, 0))


def _check_host(host: str, work: Workspace) -> None:
    """Refuse an address beyond this machine, if there is no token for that.

    Raises:
        BadSetting: see above; or it is no address.
    """
    if host in LOOPBACK:
        return
    try:
        is_local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        raise BadSetting(f"'{host}' is not an address", hint="Use one such as 127.0.0.1.") from None
    if not is_local and not secret_in(work.environ, TOKEN):
        raise BadSetting(
            f"other machines can reach '{host}', so they could read and change the memory",
            hint="First set MEMTOOL_TOKEN to a secret of your own. The connection is not encrypted.",
        )
