"""The service: its start, a search over HTTP beside one in process, and fifty clients at once. All on the loopback."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from benchmarks.processes import CLONE, ask_service, megabytes_of, run
from benchmarks.questions import questions
from benchmarks.rows import Row, percentile

if TYPE_CHECKING:
    from benchmarks.groups import Stage

_TOKEN = "a token for benchmarks only"
_START, _SEARCH, _MEMORY = 2.0, 2.0, 90.0  # budgets: multiples of the floors, and MB
_QUESTIONS = 20
_TRIES = 3
_CLIENTS, _SECONDS = 50, 30.0
_REST = 4.0  # seconds in which a service gives back what it needed
_PATIENCE = 60.0


def served(stage: Stage) -> Iterator[Row]:
    """Start to ready, searches of a warm service, what fifty clients at once are answered, and the memory then."""
    stage.search("warm")
    starts, floor = [], []
    for _ in range(stage.repeat):
        with _Service(stage) as service:
            starts.append(service.started)
        floor.append(run([sys.executable, "-c", "import fastapi, uvicorn"], stage.environ).seconds * 1000)
    yield Row("start of `memtool serve`, to ready", stage.size, "ms", starts, floor, most_ratio=_START)
    asked = [question.text for question in questions(stage.size, _QUESTIONS)]
    answer, _ = stage.sample("fresh_query", asked=asked * _TRIES, walk=False)
    with _Service(stage) as service:
        service.search(asked)
        took = service.search(asked * _TRIES)
        ours, in_process = _best(took, len(asked)), _best([1000 * each for each in answer["seconds"]], len(asked))
        for percent in (50, 95):
            what = f"`POST /search` of a warm service, p{percent}"
            sides = ([percentile(ours, percent)], [percentile(in_process, percent)])
            yield Row(what, stage.size, "ms", *sides, most_ratio=stage.budget(_SEARCH) if percent == 95 else None)
        waited, errors = _crowd(service, asked)
        what = f"searches of {_CLIENTS} clients at once for {_SECONDS:g} s"
        yield Row(
            f"{what}, without an answer", stage.size, "errors", [errors], most=0, details={"answers": len(waited)}
        )
        yield Row(f"{what}, p95", stage.size, "ms", [percentile(waited, 95)])
        yield Row("memory of the service with them", stage.size, "MB", [service.megabytes()])
        time.sleep(_REST)
        yield Row("memory of the service afterwards", stage.size, "MB", [service.megabytes()], most=_MEMORY)


def _crowd(service: _Service, asked: Sequence[str]) -> tuple[list[float], int]:
    """Return the milliseconds of all answers to many clients at once, and how many questions had none."""
    until = time.monotonic() + _SECONDS

    def ask(number: int) -> tuple[list[float], int]:
        took, errors = list[float](), 0
        while time.monotonic() < until:
            try:
                took += service.search([asked[(number + len(took)) % len(asked)]])
            except (OSError, RuntimeError):
                errors += 1
        return took, errors

    with ThreadPoolExecutor(_CLIENTS) as clients:
        told = list(clients.map(ask, range(_CLIENTS)))
    return [each for took, _ in told for each in took], sum(errors for _, errors in told)


def _best(tries: Sequence[float], questions: int) -> list[float]:
    """Return the best of the tries of each question."""
    return [min(tries[at::questions]) for at in range(questions)]


class _Service:
    """A service of the stage's vault, in a process of its own."""

    def __init__(self, stage: Stage) -> None:
        began = time.perf_counter()
        command = [str(Path(sys.executable).with_name("memtool")), "--vault", str(stage.vault), "serve", "--port", "0"]
        self._process = subprocess.Popen(
            [*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=CLONE,
            env={**stage.environ, "MEMTOOL_TOKEN": _TOKEN},
        )  # fmt: skip
        assert self._process.stdout
        told = b"".join(iter(self._process.stdout.readline, b"}\n")) + b"}"
        self._port = int(json.loads(told)["port"])
        while self._ask("GET", "/health")["state"] != "ready":
            time.sleep(0.005)
        self.started = (time.perf_counter() - began) * 1000

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate()

    def megabytes(self) -> float:
        """Return the memory that it holds; 0 where the system does not tell."""
        return megabytes_of(self._process.pid)

    def search(self, asked: Sequence[str]) -> list[float]:
        """Return the milliseconds of each of some searches, over one connection.

        Raises:
            RuntimeError, OSError: there is no answer.
        """
        connection, took = HTTPConnection("127.0.0.1", self._port, timeout=_PATIENCE), []
        for text in asked:
            began = time.perf_counter()
            self._ask("POST", "/search", {"query": text, "limit": 6, "mode": "bm25"}, connection)
            took.append((time.perf_counter() - began) * 1000)
        connection.close()
        return took

    def _ask(self, method: str, path: str, body: Any = None, connection: HTTPConnection | None = None) -> Any:  # noqa: ANN401
        asked = connection or HTTPConnection("127.0.0.1", self._port, timeout=_PATIENCE)
        return ask_service(asked, _TOKEN, method, path, body)
