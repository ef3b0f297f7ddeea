"""A limit in wall-clock time for what has none: looking up a name, a server that sends a byte now and then."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """Return what *call* returns, or raise what it raises.

    Raises:
        TimeoutError: it took longer. It is then left to itself, in a thread that does not keep the process alive.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001  (raised again where it is waited for)
            future.set_exception(error)

    # A pool's threads would be waited for when the process ends.
    threading.Thread(target=run, name="memtool-within", daemon=True).start()
    return future.result(timeout=seconds)
