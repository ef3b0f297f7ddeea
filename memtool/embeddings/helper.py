"""The warm helper: a process that holds a model and the vectors of one vault, and how others talk to it.

A hook has no time to load a model. So one process for each vault holds it, and ends when nobody has asked for a while.
It lives in the user's cache, which no vault can write to, in a folder that only its owner can enter:

    helpers/<vault>.json     where it listens; written when it is ready, gone when it ends
    helpers/<vault>.sock     there, if the system has such sockets; else at a port of the loopback, with a secret
    helpers/<vault>.lock     held as long as it lives, so that there is never a second one
    helpers/<vault>.silent   it was asked and did not answer in time: it is left alone for some minutes

A request is one line of JSON, an answer another; a request may go on with a second line. All are bounded, and so is
the time for which a peer is listened to.
"""

from __future__ import annotations

import _socket  # below `socket`, which takes ten times as long to import: hooks come by here
import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias
from zlib import crc32

from memtool import __version__
from memtool.errors import Busy, ProviderMissing
from memtool.processes import lock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtool.embeddings import Embedder

PROTOCOL = 1
DEADLINE = 0.05  # seconds for which a prompt waits

_QUESTION_PATIENCE = 0.25  # seconds: as long as it takes to load a small model
_LARGEST = 65_536  # bytes of a line
SILENCE = 300.0  # seconds for which one that did not answer is left alone
_CLOCK = 0.05  # seconds by which a file system may be behind the clock
_END = 5.0  # seconds in which one that is told to end does, or at least has loaded its model

Fields: TypeAlias = Mapping[str, Any]

# Models that this process holds itself, by name: a service of many vaults needs no helper for each of them.
held_here: dict[str, Embedder] = {}


class Silent(Exception):
    """The helper did not answer in time, or what came was no answer."""


class HelperPlace(NamedTuple):
    """The place where the helper of the vault at *root* is found; *folder* lies in the user's cache."""

    folder: Path
    root: Path

    def path(self, kind: str) -> Path:
        """Return one of its files: `json`, `sock`, `lock` or `silent`."""
        return self.folder / f"{crc32(os.fsencode(self.root)):08x}.{kind}"


class Address(NamedTuple):
    """The address of a helper: the socket at *path*, or a *port*, where it knows the *secret*."""

    vault: str
    pid: int
    version: str
    path: str = ""
    port: int = 0
    secret: str = ""


def helper_place(cache: Path, root: Path) -> HelperPlace:
    """Return the place where the helper of the vault at *root* is found."""
    return HelperPlace(cache / "helpers", root)


def find_address(place: HelperPlace) -> Address | None:
    """Return the address of a helper of this memtool; None if there is none, or it was silent a moment ago."""
    try:
        path = place.path("json")
        address = _address(path)
        if address.vault != str(place.root) or address.version != __version__:
            return None
        with contextlib.suppress(FileNotFoundError):
            silent_at = place.path("silent").stat().st_mtime
            if silent_at > path.stat().st_mtime and abs(time.time() - silent_at) < SILENCE:
                return None
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return address


class WarmEmbedder:
    """*embedder*, in whose place the helper at *place* makes the vectors of questions, if it is there.

    With *only_warm*, nobody else makes them.
    """

    def __init__(self, embedder: Embedder, place: HelperPlace, *, only_warm: bool = False) -> None:
        self.name = embedder.name
        self.dimension = embedder.dimension
        self.scripts = embedder.scripts
        self._embedder = embedder
        self._place = place
        self._only_warm = only_warm

    def embed_notes(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of length 1 per text, in the order of the texts."""
        return held_here.get(self.name, self._embedder).embed_notes(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question.

        Raises:
            ProviderMissing: the helper does not answer, and nobody else may.
        """
        if held := held_here.get(self.name):
            return held.embed_query(text)
        answer = ask_helper(self._place, {"ask": "vector", "text": text}, patience=_QUESTION_PATIENCE)
        vector = _vector(answer, self.dimension) if answer and answer.get("model") == self.name else None
        if vector is None and self._only_warm:
            raise ProviderMissing("the model is being loaded")
        return self._embedder.embed_query(text) if vector is None else vector


def _address(path: Path) -> Address:
    with path.open("rb") as file:
        address = Address(**json.loads(file.read(_LARGEST)))
    if any(type(value) is not kind for value, kind in zip(address, (str, int, str, str, int, str), strict=True)):
        raise TypeError("it is no address")
    return address


class HelperCall:
    """A question to a helper. It waits *patience* seconds in all, and what it waited in between for others is free.

    Raises:
        Silent: from each method, if there is no answer.
    """

    def __init__(self, address: Address, *, patience: float = DEADLINE) -> None:
        self._left = patience
        self._held = b""
        with self._waiting():
            self._socket = _connected(address, self._left)
        if address.port:
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
        """Let both sides prove that they know the secret: who took over a port learns nothing."""
        nonce = os.urandom(16).hex()
        self.say({"nonce": nonce})
        answer = self.hear()
        if answer.get("proof") != proof_of(secret, nonce, "helper"):
            raise Silent("it does not know the secret")
        self.say({"proof": proof_of(secret, str(answer.get("nonce")), "caller")})


def ask_helper(place: HelperPlace, request: Fields, *, patience: float = DEADLINE) -> Fields | None:
    """Return the answer to *request*; None if there is no helper, or no answer in time."""
    address = find_address(place)
    if address is None:
        return None
    try:
        with HelperCall(address, patience=patience) as call:
            call.say({"protocol": PROTOCOL, **request})
            return call.hear()
    except Silent:
        leave_alone(place)
        return None


def leave_alone(place: HelperPlace) -> None:
    """Remember that the helper did not answer, so that it is waited for once and not with each prompt."""
    with contextlib.suppress(OSError):
        place.path("silent").touch(mode=0o600)


def fell_silent(place: HelperPlace, since: float) -> bool:
    """Return whether the helper was found to be silent after *since*, a time of `time.time`."""
    try:
        return place.path("silent").stat().st_mtime >= since - _CLOCK
    except OSError:
        return False


def is_at_work(place: HelperPlace) -> bool:
    """Return whether a helper lives, ready or not."""
    return _is_held(place.path("lock"))


def _is_held(path: Path) -> bool:
    try:
        with lock(path, timeout=0):
            return False
    except Busy:
        return True
    except OSError:
        return False


def end_helper(place: HelperPlace) -> bool:
    """Let the helper of a vault end, one that is still loading its model too; return whether there was one."""
    import signal

    if not is_at_work(place):
        return False
    pid, deadline = 0, time.monotonic() + _END
    while is_at_work(place) and time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
            pid = _address(place.path("json")).pid
        ask_helper(place, {"ask": "end"}, patience=1.0)
        time.sleep(0.05)
    if pid > 1 and is_at_work(place):  # it is frozen; as long as it holds its lock, the number is its own
        with contextlib.suppress(OSError, OverflowError):
            os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    for kind in ("json", "sock", "silent"):
        with contextlib.suppress(OSError):
            place.path(kind).unlink(missing_ok=True)
    return True


def end_helpers(cache: Path) -> int:
    """Let the helpers of all vaults end; return how many there were."""
    return sum(_end_behind(path) for path in (cache / "helpers").glob("*.lock"))


def _end_behind(path: Path) -> bool:
    """Let the helper end that holds the lock at *path*, once it says for which vault it is."""
    deadline = time.monotonic() + _END
    while _is_held(path) and time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
            return end_helper(HelperPlace(path.parent, Path(_address(path.with_suffix(".json")).vault)))
        time.sleep(0.05)
    return False


def _connected(address: Address, patience: float) -> _socket.socket:
    connection = _socket.socket(_socket.AF_INET if address.port else _socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(patience)
        connection.connect(("127.0.0.1", address.port) if address.port else address.path)
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
        ValueError, RecursionError: it is no JSON object.
    """
    fields = json.loads(line)
    if not isinstance(fields, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004  (for whoever reads a line, that is one error)
    return fields


def read_line(peer: _socket.socket, held: bytes, deadline: float) -> tuple[bytes, bytes]:
    """Return the next line of *peer*, of which *held* was read before, and what was read behind it.

    Raises:
        OSError: it is too long, or not there before the *deadline*.
    """
    while b"\n" not in held:
        left = deadline - time.monotonic()
        if left <= 0 or len(held) > _LARGEST:
            raise OSError("no answer in time" if left <= 0 else "the line is too long")
        peer.settimeout(left)
        part = peer.recv(_LARGEST)
        if not part:
            raise OSError("the other side has hung up")
        held += part
    line, _, rest = held.partition(b"\n")
    return line, rest


def proof_of(secret: str, nonce: str, who: str) -> str:
    """Return the answer to *nonce* that only somebody who knows *secret* can give."""
    import hashlib

    return hashlib.blake2b(f"{who} {nonce}".encode(), key=secret.encode(), digest_size=16).hexdigest()


def _vector(answer: Fields, dimension: int) -> NDArray[np.float32] | None:
    """Return the vector in *answer*; None if it holds none."""
    import base64

    import numpy as np

    try:
        vector = np.frombuffer(base64.b64decode(answer.get("vector", ""), validate=True), "<f4")
    except (ValueError, TypeError):
        return None
    is_sound = vector.shape == (dimension,) and np.isfinite(vector).all() and abs(float(vector @ vector) - 1) < 0.01
    return vector if is_sound else None
