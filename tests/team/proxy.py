"""A way to a database that can be cut: a TCP proxy of the loopback in front of the socket of a server."""

from __future__ import annotations

import contextlib
import socket
import threading
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo


class Way:
    """Leads from a port of the loopback to the database at *dsn*, whose server listens at a socket in a folder."""

    def __init__(self, dsn: str) -> None:
        self._target = str(Path(str(conninfo_to_dict(dsn)["host"])) / ".s.PGSQL.5432")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.dsn = make_conninfo(dsn, host="127.0.0.1", port=str(self._listener.getsockname()[1]))
        self._ends: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._is_open = True
        self._swallows = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Cut all connections, and let no other come about."""
        with self._lock:
            self._is_open = False
            for end in self._ends:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def swallow(self) -> None:
        """Let nothing through from now on, without a word to either side."""
        self._swallows.set()

    def mend(self) -> None:
        """Let connections come about again; those that nothing came through are cut."""
        if self._swallows.is_set():
            self.cut()
            self._swallows.clear()
        self._is_open = True

    def end(self) -> None:
        self.cut()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            try:
                far.connect(self._target)
            except OSError:
                near.close()
                far.close()
                continue
            with self._lock:
                is_open = self._is_open
                self._ends |= {near, far} if is_open else set()
            if not is_open:
                near.close()
                far.close()
                continue
            for pair in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while part := source.recv(65_536):
                if not self._swallows.is_set():
                    target.sendall(part)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        with self._lock:
            known = source in self._ends
            self._ends.discard(source)
        if known:
            source.close()
