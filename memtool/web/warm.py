"""The warm helper of prompts, within the service: same protocol, same socket, and one process instead of two."""

from __future__ import annotations

import contextlib
import math
import threading

from memtool.embeddings.helper import end_helper, helper_place
from memtool.embeddings.helper_start import is_of_use
from memtool.errors import MemtoolError
from memtool.recall.prompts.warm_helper import run_helper
from memtool.web.calls import OpenWorkspace

_LOOK = 30.0  # seconds between two looks whether a helper is of use
_END = 4.0  # seconds for it to end: it looks up every other second


class ServiceHelper:
    """The helper of the service's vault. It takes over from a process of its own, and starts where it is of use.

    When the service ends, the start of a session brings a process of its own again.
    """

    def __init__(self, open_workspace: OpenWorkspace, *, look: float = _LOOK) -> None:
        self._open_workspace = open_workspace
        self._look = look
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="memtool-helper")

    def start(self) -> None:
        """Begin, in a thread of its own."""
        self._thread.start()

    def end(self) -> None:
        """End, and wait until it is over."""
        self._ending.set()
        self._thread.join(_END)

    def _run(self) -> None:
        while True:
            with contextlib.suppress(MemtoolError, OSError):  # words decide, as without a helper
                self._help()
            if self._ending.wait(self._look):
                return

    def _help(self) -> None:
        work = self._open_workspace(None)
        if is_of_use(work):
            end_helper(helper_place(work.cache, work.vault.root))
            run_helper(work, idle=math.inf, goes_on=lambda: not self._ending.is_set())
