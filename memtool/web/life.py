"""The life of a service: starting, ready, stopping, stopped; its open requests, and the time of the last one."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator

STARTING, READY, STOPPING, STOPPED = "starting", "ready", "stopping", "stopped"
GRACE = 10.0  # seconds in which requests under way may finish


class Life:
    """The state of one service. It stops on request, or after *idle* seconds without a request (0: never).

    Requests under way then have *grace* seconds to finish.
    """

    def __init__(self, *, idle: float = 0.0, grace: float = GRACE, clock: Callable[[], float] = time.monotonic) -> None:
        self.state = STARTING
        self.ending = asyncio.Event()  # for streams, which would go on for ever
        self.answered = 0  # requests so far
        self._idle = idle
        self._grace = grace
        self._clock = clock
        self._under_way = 0
        self._asked_at = clock()
        self._stopped_at = 0.0

    def stop(self) -> None:
        """Refuse new requests, and end when the open ones are answered."""
        if self.state != STOPPING:
            self.state = STOPPING
            self._stopped_at = self._clock()

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        """Count a request as open for the length of a `with` block."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self.answered += 1
            self._asked_at = self._clock()

    def is_over(self) -> bool:
        """Return whether the service should end now. The server asks several times a second."""
        now = self._clock()
        if self._idle and not self._under_way and now - self._asked_at > self._idle:
            self.stop()
        if self.state != STOPPING:
            return False
        self.ending.set()
        return not self._under_way or now - self._stopped_at > self._grace
