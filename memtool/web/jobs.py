"""Long work in the background, one piece at a time: a request is answered at once, and asks how far it has come."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

from memtool.errors import Busy, MemtoolError, NoteNotFound
from memtool.web.problem_details import problem_of

Tell: TypeAlias = Callable[[int, int], None]  # done, in all

RUNNING, DONE, FAILED = "running", "done", "failed"
_KEPT = 50  # jobs


class Jobs:
    """The jobs of a service, the latest of them also when they are over."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, dict[str, Any]] = {}

    def start(self, name: str, work: Callable[[Tell], dict[str, Any]]) -> dict[str, Any]:
        """Begin *work* and return the state of its job.

        Raises:
            Busy: another one goes on.
        """
        with self._lock:
            if going := next((job for job in self._jobs.values() if job["state"] == RUNNING), None):
                raise Busy(f"the job '{going['name']}' goes on", hint=f"See /jobs/{going['id']}.")
            job = {"id": secrets.token_hex(6), "name": name, "state": RUNNING, "done": 0, "total": 0}
            self._jobs = {**dict(list(self._jobs.items())[-_KEPT + 1 :]), str(job["id"]): job}
        threading.Thread(target=_run, args=(job, work), daemon=True, name=f"memtool-{name}").start()
        return dict(job)

    def get(self, job_id: str) -> dict[str, Any]:
        """Return the state of a job.

        Raises:
            NoteNotFound: there is none.
        """
        if job_id not in self._jobs:
            raise NoteNotFound(job_id)
        return dict(self._jobs[job_id])


def _run(job: dict[str, Any], work: Callable[[Tell], dict[str, Any]]) -> None:
    try:
        result = work(lambda done, total: job.update(done=done, total=total))
        job.update(state=DONE, result=result)
    except MemtoolError as error:
        job.update(state=FAILED, problem=problem_of(error))
    except OSError as error:
        job.update(state=FAILED, problem=problem_of(MemtoolError(f"the system refused: {error.strerror or error}")))
