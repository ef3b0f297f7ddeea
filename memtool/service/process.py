"""The process of a vault: one lock, one socket, and the parts that are switched on.

`hold_model` is a process with the model alone; the start of a session starts it, and it ends after a time without
requests.
`parts_beside` are the parts of a process that also serves HTTP (`memtool.web.server`).
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Iterator, Mapping

from memtool.errors import MemtoolError
from memtool.service import limits
from memtool.service.freshness import Watcher
from memtool.service.listener import Listener, only_process
from memtool.service.model import WarmModel
from memtool.service.starting import model_is_of_use
from memtool.service_client import HTTP, MODEL, WATCH, Address, Fields, ServicePlace, service_place
from memtool.workspace import OpenWorkspace, Workspace


class _ModelPart:
    """The model and the vectors, for as long as they are of use. *switched* is called when that changes."""

    def __init__(self, open_workspace: OpenWorkspace, switched: Callable[[], None]) -> None:
        self.model: WarmModel | None = None
        self.error: MemtoolError | OSError | None = None
        self.ending = threading.Event()
        self._open_workspace = open_workspace
        self._switched = switched

    def hold(self) -> None:
        """Load the model, and follow the index until that is no longer wanted."""
        try:
            with contextlib.closing(WarmModel(self._open_workspace(None))) as model:
                if model.is_empty():
                    return
                self.model = model
                self._switched()
                while not self.ending.wait(limits.LOOK_PAUSE) and model.look():
                    pass
                self.model = None
                self._switched()
        except (MemtoolError, OSError) as error:  # words decide
            self.model, self.error = None, error

    def hold_when_of_use(self) -> None:
        """Hold the model whenever it is of use, until the end."""
        while not self.ending.is_set():
            with contextlib.suppress(MemtoolError, OSError):
                if model_is_of_use(self._open_workspace(None)):
                    self.hold()
            self.ending.wait(limits.PAUSE)

    def answer(self, request: Fields, more: Callable[[], Fields]) -> Fields:
        """Return the answer of the model, if it is there."""
        if self.model is None:
            raise ValueError(f"unknown request {request.get('ask')!r}")
        return self.model.answer(request, more)


def hold_model(work: Workspace, *, idle: float) -> None:
    """Be the process of a vault that holds its model, until it is not wanted or not asked for *idle* seconds.

    Raises:
        AlreadyServing: another process is at work.
        MemtoolError: there is no model, or no place for the process's files.
    """
    place = service_place(work.cache, work.vault.root)

    def run() -> None:
        try:
            part.hold()
        finally:
            listener.end()

    part = _ModelPart(lambda _folder: work, lambda: listener.make_known(*([MODEL] if part.model else [])))
    with only_process(place), Listener(place, part.answer) as listener:
        thread = threading.Thread(target=run, daemon=True, name="memtool-model")
        thread.start()
        listener.serve(idle=idle)
        part.ending.set()
        thread.join(limits.MODEL_END)
    if part.error:
        raise part.error


@contextlib.contextmanager
def parts_beside(
    open_workspace: OpenWorkspace,
    place: ServicePlace,
    address: Address,
    asks: Mapping[str, Callable[[], Fields]],
    end: Callable[[], None],
) -> Iterator[Address]:
    """Answer at the socket of a process that serves HTTP, for the length of a `with` block, and give its address.

    The process holds the lock of *place*, and HTTP is at *address*; it answers the requests *asks* itself. *end* is
    called when the process is to end.

    Raises:
        NotWritable: there is no place for the process's files.
    """
    watcher = Watcher(open_workspace)

    def answer(request: Fields, more: Callable[[], Fields]) -> Fields:
        asked = str(request.get("ask"))
        if asked in asks:
            return asks[asked]()
        return watcher.answer(request) if asked == "unchanged" else part.answer(request, more)

    def switched() -> None:
        with contextlib.suppress(OSError):
            listener.make_known(HTTP, WATCH, *([MODEL] if part.model else []))

    part = _ModelPart(open_workspace, switched)
    with Listener(place, answer, address, end) as listener:
        switched()
        threads = [
            threading.Thread(target=run, daemon=True, name="memtool-service")
            for run in (lambda: listener.serve(idle=math.inf), part.hold_when_of_use, watcher.look_when_asked)
        ]
        for thread in threads:
            thread.start()
        try:
            yield listener.address
        finally:
            watcher.end()  # without waiting: a search that asks meanwhile walks
            part.ending.set()
            threads[1].join(limits.MODEL_END)
