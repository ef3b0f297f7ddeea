"""The side of a vault's process that is found and answers (`memtool.service_client` is the side that asks)."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self, TypeAlias

from memtool import __version__
from memtool.errors import Busy, NotWritable
from memtool.processes import lock
from memtool.service import limits
from memtool.service_client import (
    PROTOCOL,
    Address,
    Fields,
    ServicePlace,
    fields_of,
    find_service,
    line_of,
    proof_of,
    read_line,
)

_HAS_UNIX = hasattr(socket, "AF_UNIX") and sys.platform != "win32"

Answer: TypeAlias = Callable[[Fields, Callable[[], Fields]], Fields]  # given a request, and what reads its second line


class AlreadyServing(Busy):
    """Another process serves the vault."""

    hint = "`memtool serve --open` shows its page, `memtool serve --stop` ends it."

    def __init__(self, address: Address | None) -> None:
        where = "and is starting"
        if address:
            where = f"at {address.url} (process {address.pid}, since {address.started_at})"
        super().__init__(f"a service for this vault is there already, {where}")


@contextlib.contextmanager
def only_process(place: ServicePlace) -> Iterator[None]:
    """Be the only process of a vault for the length of a `with` block. What a killed one left is removed.

    Raises:
        AlreadyServing: another one is at work.
        NotWritable: there is no place for its files.
    """
    with contextlib.ExitStack() as held:
        try:
            place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.name == "posix":
                place.folder.chmod(0o700)
            held.enter_context(lock(place.path("lock"), timeout=0.5))  # `is_at_work` holds it for a moment
            place.path("json").unlink(missing_ok=True)
        except Busy:
            raise AlreadyServing(find_service(place)) from None
        except OSError as error:
            raise NotWritable(f"cannot write in '{place.folder}': {error.strerror}") from None
        yield


class Listener:
    """The socket of a vault's process, and the file that makes it known; for the length of a `with` block.

    *address* says where its HTTP is, if it has any. *end* is called when somebody wants the process to end, or removed
    the file, so that nothing finds it any more; without it, `serve` ends.

    Raises:
        NotWritable: there is no place for them.
    """

    def __init__(
        self,
        place: ServicePlace,
        answer: Answer,
        address: Address = Address(),  # noqa: B008  (it cannot change)
        end: Callable[[], None] | None = None,
    ) -> None:
        self._place = place
        self._answer = answer
        self._end = end or self.end
        self._known = b""
        self._lock = threading.Lock()  # of what others know
        self._is_over = False
        self._asked_at = time.monotonic()
        path = place.path("sock")
        self._path = path if _HAS_UNIX and len(os.fsencode(path)) <= limits.LONGEST_PATH else None
        try:
            self._socket = self._listening()
            self.address = address._replace(
                vault=str(place.root),
                pid=os.getpid(),
                version=__version__,
                path=str(self._path or ""),
                socket_port=0 if self._path else self._socket.getsockname()[1],
                secret="" if self._path else os.urandom(24).hex(),
            )
            self.make_known()
        except OSError as error:
            raise NotWritable(f"cannot listen in '{place.folder}': {error.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        self._socket.close()
        for kind in ("sock", "silent", "json") if self._is_known() else ("sock",):
            with contextlib.suppress(OSError):
                self._place.path(kind).unlink(missing_ok=True)

    def end(self) -> None:
        """Let `serve` end."""
        self._is_over = True

    def make_known(self, *parts: str) -> None:
        """Let others find the process with these *parts*.

        Raises:
            OSError: the file cannot be written.
        """
        path = self._place.path("json")
        temporary = path.with_suffix(".new")
        with self._lock:
            self.address = self.address._replace(parts=" ".join(parts))
            self._known = json.dumps(self.address._asdict()).encode()
            temporary.unlink(missing_ok=True)
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(self._known)
            os.replace(temporary, path)
        self._place.path("silent").unlink(missing_ok=True)

    def serve(self, *, idle: float) -> None:
        """Answer requests until the end, or until none came for *idle* seconds."""
        looked_at = self._asked_at
        while not self._is_over and time.monotonic() - self._asked_at < idle:
            self._answer_one()
            if time.monotonic() - looked_at >= limits.LOOK_PAUSE:
                looked_at, silent = time.monotonic(), self._place.path("silent")
                with contextlib.suppress(OSError):  # this process is not frozen: let the others ask it again
                    if abs(time.time() - silent.stat().st_mtime) > limits.SULK:
                        silent.unlink()
                if not self._is_known():
                    self._end()

    def _is_known(self) -> bool:
        try:
            with self._lock:
                return self._place.path("json").read_bytes() == self._known
        except OSError:
            return False

    def _answer_one(self) -> None:
        """Answer the next peer, if one comes soon."""
        self._socket.settimeout(limits.LOOK_PAUSE)
        try:
            peer, _ = self._socket.accept()
        except OSError:  # none has come, or it is gone already
            return
        # Whatever a peer has sent, or goes wrong for it, the next one is answered.
        with contextlib.suppress(Exception), contextlib.closing(peer):
            self._converse(peer)

    def _converse(self, peer: socket.socket) -> None:
        deadline = time.monotonic() + limits.PEER_PATIENCE
        held = b""

        def more() -> Fields:
            nonlocal held
            line, held = read_line(peer, held, deadline)
            return fields_of(line)

        if secret := self.address.secret:
            nonce = os.urandom(16).hex()
            peer.settimeout(limits.PEER_PATIENCE)
            peer.sendall(line_of({"nonce": nonce, "proof": proof_of(secret, str(more().get("nonce")), "service")}))
            if more().get("proof") != proof_of(secret, nonce, "caller"):
                return
        request = more()
        if request.get("protocol") != PROTOCOL:
            return
        asked = request.get("ask")
        if asked == "end":
            self._end()
        is_own = asked in ("end", "status")
        idle = time.monotonic() - self._asked_at
        status = {"pid": os.getpid(), "parts": self.address.parts, "idle": idle, "memory": memory()}
        answer = status if is_own else self._answer(request, more)
        peer.settimeout(limits.PEER_PATIENCE)
        peer.sendall(line_of(answer))
        if not is_own:
            self._asked_at = time.monotonic()

    def _listening(self) -> socket.socket:
        if self._path is None:
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            listener.bind(("127.0.0.1", 0))
        else:
            self._path.unlink(missing_ok=True)  # one that was killed has left it
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(str(self._path))
            self._path.chmod(0o600)
        listener.listen(8)
        return listener


def memory() -> int:
    """Return how many bytes of memory this process has; 0 where the system does not say."""
    with contextlib.suppress(OSError, ValueError, IndexError, AttributeError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
