"""The side of the warm helper that answers (`memtool.embeddings.helper` says how it is found and asked)."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from memtool import __version__
from memtool.embeddings.helper import PROTOCOL, Address, Fields, HelperPlace, fields_of, line_of, proof_of, read_line
from memtool.processes import lock

_PATIENCE = 0.3  # seconds for which one peer is listened to
_PAUSE = 2.0  # seconds between two looks at the world
_SULK = 10.0  # seconds for which it is not asked after it was late
_LONGEST_PATH = 100  # bytes of a socket's path; systems allow 104 or 108
_HAS_UNIX = hasattr(socket, "AF_UNIX") and sys.platform != "win32"

Answer: TypeAlias = Callable[[Fields, Callable[[], Fields]], Fields]  # given a request, and what reads its second line


@contextlib.contextmanager
def only_helper(place: HelperPlace) -> Iterator[None]:
    """Be the only helper of a vault for the length of a `with` block.

    Raises:
        Busy: another one is at work.
        OSError: there is no place for it.
    """
    place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name == "posix":
        place.folder.chmod(0o700)
    with lock(place.path("lock"), timeout=0):
        yield


def serve(place: HelperPlace, answer: Answer, look: Callable[[], bool], *, idle: float) -> None:
    """Answer whoever asks, until nobody has for *idle* seconds, *look* says that it is over, or somebody ends it.

    *look* is called every other second. Without an answer there is none: what goes wrong in *answer* ends the call.

    Raises:
        OSError: there is no place for a socket.
    """
    with contextlib.closing(_HelperServer(place, answer)) as server:
        looked_at = asked_at = time.monotonic()
        while not server.is_over and time.monotonic() - asked_at < idle:
            if server.answer_one(_PAUSE):
                asked_at = time.monotonic()
            if time.monotonic() - looked_at >= _PAUSE:
                looked_at = time.monotonic()
                server.forgive()
                if not server.is_known() or not look():
                    return


class _HelperServer:
    def __init__(self, place: HelperPlace, answer: Answer) -> None:
        self.is_over = False
        self._place = place
        self._answer = answer
        self._started_at = self._asked_at = time.time()
        path = place.path("sock")
        self._path = path if _HAS_UNIX and len(os.fsencode(path)) <= _LONGEST_PATH else None
        self._secret = "" if self._path else os.urandom(24).hex()
        self._listener = self._listening()
        port = 0 if self._path else self._listener.getsockname()[1]
        address = Address(str(place.root), os.getpid(), __version__, str(self._path or ""), port, self._secret)
        self._known = json.dumps(address._asdict()).encode()
        self._make_known()

    def close(self) -> None:
        self._listener.close()
        for kind in ("sock", "silent", "json") if self.is_known() else ("sock",):
            with contextlib.suppress(OSError):
                self._place.path(kind).unlink(missing_ok=True)

    def is_known(self) -> bool:
        """Return whether others still find us: who removes the address ends the helper."""
        try:
            return self._place.path("json").read_bytes() == self._known
        except OSError:
            return False

    def forgive(self) -> None:
        """Be asked again by those who once had no answer in time: who comes by here is not frozen."""
        silent = self._place.path("silent")
        with contextlib.suppress(OSError):
            if abs(time.time() - silent.stat().st_mtime) > _SULK:
                silent.unlink()

    def answer_one(self, patience: float) -> bool:
        """Answer the next who asks, if somebody does within *patience* seconds; return whether it was for the vault."""
        self._listener.settimeout(patience)
        try:
            peer, _ = self._listener.accept()
        except OSError:  # nobody has come, or whoever came is gone
            return False
        try:
            return self._answered(peer)
        except Exception:  # noqa: BLE001  (whatever a peer has sent, or goes wrong for it, the next one is answered)
            return False
        finally:
            peer.close()

    def _answered(self, peer: socket.socket) -> bool:
        deadline = time.monotonic() + _PATIENCE
        held = b""

        def more() -> Fields:
            nonlocal held
            line, held = read_line(peer, held, deadline)
            return fields_of(line)

        if self._secret:
            nonce = os.urandom(16).hex()
            peer.settimeout(_PATIENCE)
            peer.sendall(line_of({"nonce": nonce, "proof": proof_of(self._secret, str(more().get("nonce")), "helper")}))
            if more().get("proof") != proof_of(self._secret, nonce, "caller"):
                return False
        request = more()
        if request.get("protocol") != PROTOCOL:
            return False
        asked = request.get("ask")
        if asked == "end":
            self.is_over = True
        own = {"end": {}, "status": self._status()}.get(str(asked))
        answer = self._answer(request, more) if own is None else own
        peer.settimeout(_PATIENCE)
        peer.sendall(line_of(answer))
        if own is None:
            self._asked_at = time.time()
        return own is None

    def _status(self) -> Fields:
        return {"pid": os.getpid(), "idle": time.time() - self._asked_at, "since": self._started_at, "memory": memory()}

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

    def _make_known(self) -> None:
        path = self._place.path("json")
        temporary = path.with_suffix(".new")
        temporary.unlink(missing_ok=True)
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(self._known)
        os.replace(temporary, path)
        self._place.path("silent").unlink(missing_ok=True)


def memory() -> int:
    """Return how many bytes of memory this process has; 0 where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError, AttributeError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
