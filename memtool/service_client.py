"""How the process of a vault is found, asked and ended (`memtool.service` is the process itself).

One process serves a vault, with parts that are switched on: `model` holds the embedding model and the vectors for
prompts and searches, `watch` knows whether the vault changed since it was indexed, `http` serves pages and programs.
Nothing needs it. Its files lie in the user's cache, which no vault can write to, in a folder for its owner alone:

    services/<vault>.json     its address and its parts; removed when it ends
    services/<vault>.sock     where it listens, if the system has such sockets; else at a port, with a secret
    services/<vault>.lock     held as long as it lives, so that there is never a second one
    services/<vault>.silent   it did not answer in time: it is left alone for some minutes

A request is one line of JSON, and so is its answer; a request may go on with a second line. All are bounded, and so is
the time for which a peer is listened to. Hooks import this module: what takes long to import stays inside functions.
"""

from __future__ import annotations

import _socket  # below `socket`, which takes ten times as long to import
import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias
from zlib import crc32

from memtool import __version__
from memtool.errors import Busy, MemtoolError
from memtool.processes import lock

PROTOCOL = 2
FOLDER = "services"  # in the user's cache
MODEL, WATCH, HTTP = "model", "watch", "http"  # the parts
DEADLINE = 0.05  # seconds for which a prompt waits
SILENCE = 300.0  # seconds for which one that did not answer is left alone
LARGEST = 65_536  # bytes of a line
_END = 5.0  # seconds in which a process without HTTP ends, or at least has loaded its model

Fields: TypeAlias = Mapping[str, Any]


class Silent(Exception):
    """The process did not answer in time, or not with an answer."""


class NoAnswer(MemtoolError):
    """The service does not answer, or did not do what it was asked."""

    hint = "If it is frozen, end its process; its files are cleared away by the next start."


class ServicePlace(NamedTuple):
    """The place of the files of the process of the vault at *root*; *folder* lies in the user's cache."""

    folder: Path
    root: Path

    def path(self, kind: str) -> Path:
        """Return one of its files: `json`, `sock`, `lock`, `silent` or `token`."""
        return self.folder / f"{crc32(os.fsencode(self.root)):08x}.{kind}"


class Address(NamedTuple):
    """The address of a process: the socket at *path*, or a *socket_port*, where it knows the *secret*.

    *parts* are its parts that work now, in one line. *host* and *port* are those of HTTP; *started_at* is ISO 8601.
    """

    vault: str = ""
    pid: int = 0
    version: str = ""
    started_at: str = ""
    parts: str = ""
    path: str = ""
    socket_port: int = 0
    secret: str = ""
    host: str = ""
    port: int = 0

    @property
    def reachable(self) -> str:
        """The host to ask on this machine by HTTP."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104  (not to listen there)

    @property
    def url(self) -> str:
        """The address of its page."""
        host = f"[{self.reachable}]" if ":" in self.reachable else self.reachable
        return f"http://{host}:{self.port}"


def service_place(cache: Path, root: Path) -> ServicePlace:
    """Return the place of the process of the vault at *root*."""
    return ServicePlace(cache / FOLDER, root)


def read_address(path: Path) -> Address | None:
    """Return the address in the file at *path*, whether its process lives or not; None if it is not an address."""
    with contextlib.suppress(OSError, ValueError, TypeError, RecursionError), path.open("rb") as file:
        address = Address(**json.loads(file.read(LARGEST)))
        if all(type(value) is type(empty) for value, empty in zip(address, Address(), strict=True)):
            return address
    return None


def find_address(place: ServicePlace, part: str = "") -> Address | None:
    """Return the address of a process of this memtool whose *part* is on; None too if it was silent a moment ago."""
    path = place.path("json")
    address = read_address(path)
    if not address or address.vault != str(place.root) or address.version != __version__:
        return None
    with contextlib.suppress(FileNotFoundError):
        silent_at = place.path("silent").stat().st_mtime
        if silent_at > path.stat().st_mtime and abs(time.time() - silent_at) < SILENCE:
            return None
    return address if not part or part in address.parts.split() else None


def find_service(place: ServicePlace) -> Address | None:
    """Return the address of the process that serves the vault by HTTP, of whatever version; None if there is none."""
    address = read_address(place.path("json")) if is_at_work(place) else None
    return address if address and address.vault == str(place.root) and address.port else None


class ServiceCall:
    """A question to a process. It waits *patience* seconds in all; the time between its calls does not count.

    Raises:
        Silent: from each method, if there is no answer.
    """

    def __init__(self, address: Address, *, patience: float = DEADLINE) -> None:
        self._left = patience
        self._held = b""
        with self._waiting():
            self._socket = _connected(address, self._left)
        if address.socket_port:
            try:
                self._make_sure(address.secret)
            except BaseException:
                self._socket.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def say(self, fields: Fields) -> None:
        """Send a line."""
        with self._waiting():
            self._socket.sendall(line_of(fields))

    def hear(self) -> Fields:
        """Return the line that comes."""
        deadline = time.monotonic() + self._left
        with self._waiting():
            line, self._held = read_line(self._socket, self._held, deadline)
            return fields_of(line)

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        except (OSError, ValueError, RecursionError) as error:
            raise Silent(str(error)) from None
        finally:
            self._left = max(0.001, self._left - (time.monotonic() - started))

    def _make_sure(self, secret: str) -> None:
        """Let both sides prove that they know the secret: a program that took over the port learns nothing."""
        nonce = os.urandom(16).hex()
        self.say({"nonce": nonce})
        answer = self.hear()
        if answer.get("proof") != proof_of(secret, nonce, "service"):
            raise Silent("it does not know the secret")
        self.say({"proof": proof_of(secret, str(answer.get("nonce")), "caller")})


def ask_service(place: ServicePlace, request: Fields, *, part: str = "", patience: float = DEADLINE) -> Fields | None:
    """Return the answer to *request* of a process whose *part* is on; None if there is none, or not in time."""
    address = find_address(place, part)
    if address is None:
        return None
    try:
        return _answer(address, request, patience)
    except Silent:
        leave_alone(place)
        return None


def ask_again(place: ServicePlace, request: Fields, *, patience: float) -> Fields | None:
    """Return the answer to *request*, also of a process that was silent before or is of another version."""
    address = read_address(place.path("json"))
    with contextlib.suppress(Silent):
        return _answer(address, request, patience) if address else None
    return None


def _answer(address: Address, request: Fields, patience: float) -> Fields:
    with ServiceCall(address, patience=patience) as call:
        call.say({"protocol": PROTOCOL, **request})
        return call.hear()


def leave_alone(place: ServicePlace) -> None:
    """Remember that the process did not answer, so that it is waited for once and not with each prompt."""
    with contextlib.suppress(OSError):
        place.path("silent").touch(mode=0o600)


def fell_silent(place: ServicePlace, since: float) -> bool:
    """Return whether the process did not answer after *since*, a time of `time.time`."""
    try:
        return place.path("silent").stat().st_mtime >= since - 0.05  # a file system may be behind the clock
    except OSError:
        return False


def is_at_work(place: ServicePlace) -> bool:
    """Return whether a process lives, ready or not."""
    return _is_held(place.path("lock"))


def _is_held(path: Path) -> bool:
    try:
        with lock(path, timeout=0):
            return False
    except Busy:
        return True
    except OSError:
        return False


def end_service(place: ServicePlace) -> bool:
    """Let a process without HTTP end, by force if it is frozen; return whether there was one."""
    import signal

    if not is_at_work(place):
        return False
    address, deadline = None, time.monotonic() + _END
    while is_at_work(place) and time.monotonic() < deadline:
        address = read_address(place.path("json")) or address
        if address and address.port:
            return False
        ask_again(place, {"ask": "end"}, patience=1.0)
        time.sleep(0.05)
    if address and address.pid > 1 and is_at_work(place):  # as long as it holds its lock, the number is its own
        with contextlib.suppress(OSError, OverflowError):
            os.kill(address.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    for kind in ("json", "sock", "silent"):
        with contextlib.suppress(OSError):
            place.path(kind).unlink(missing_ok=True)
    return True


def end_services(cache: Path) -> int:
    """Let the processes without HTTP of all vaults end; return how many there were."""
    ended = 0
    for path in (cache / FOLDER).glob("*.lock"):
        deadline = time.monotonic() + _END
        while _is_held(path) and time.monotonic() < deadline:
            if address := read_address(path.with_suffix(".json")):  # a process that starts writes it a moment later
                ended += end_service(ServicePlace(path.parent, Path(address.vault)))
                break
            time.sleep(0.05)
    return ended


def _connected(address: Address, patience: float) -> _socket.socket:
    by_port = address.socket_port
    connection = _socket.socket(_socket.AF_INET if by_port else _socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(patience)
        connection.connect(("127.0.0.1", by_port) if by_port else address.path)
    except BaseException:
        connection.close()
        raise
    return connection


def line_of(fields: Fields) -> bytes:
    """Return *fields* as they are sent."""
    return json.dumps(fields).encode() + b"\n"


def fields_of(line: bytes) -> Fields:
    """Return the fields of a *line*, which is JSON.

    Raises:
        ValueError, RecursionError: it is not a JSON object.
    """
    fields = json.loads(line)
    if not isinstance(fields, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004  (for the reader of a line, that is one error)
    return fields


def read_line(peer: _socket.socket, held: bytes, deadline: float) -> tuple[bytes, bytes]:
    """Return the next line of *peer*, of which *held* was read before, and what was read behind it.

    Raises:
        OSError: it is too long, or not there before the *deadline*.
    """
    while b"\n" not in held:
        left = deadline - time.monotonic()
        if left <= 0 or len(held) > LARGEST:
            raise OSError("no answer in time" if left <= 0 else "the line is too long")
        peer.settimeout(left)
        part = peer.recv(LARGEST)
        if not part:
            raise OSError("the other side has hung up")
        held += part
    line, _, rest = held.partition(b"\n")
    return line, rest


def proof_of(secret: str, nonce: str, who: str) -> str:
    """Return the answer to *nonce* that only a peer that knows *secret* can give."""
    import hashlib

    return hashlib.blake2b(f"{who} {nonce}".encode(), key=secret.encode(), digest_size=16).hexdigest()
