"""Processes, started and measured from outside.

The system counts the memory of the one that starts a process as that process's own, so this one must stay small.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

CLONE = Path(__file__).resolve().parents[1]
_KILOBYTE = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes


class Finished(NamedTuple):
    """A process that is over: how long it took, the most memory it had (0: the system does not tell), its output."""

    seconds: float
    peak_bytes: int
    output: str


class Failed(Exception):
    """A process ended with an error."""


def run(command: Sequence[str], environ: Mapping[str, str], given: bytes = b"") -> Finished:
    """Run *command* to its end; *given* is what it reads on its stdin.

    Raises:
        Failed: it did not end with 0.
    """
    started = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ, cwd=CLONE) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(given)  # less than a pipe holds
        process.stdin.close()
        output = process.stdout.read().decode()
        peak = _wait(process)
    seconds = time.perf_counter() - started
    if process.returncode:
        raise Failed(f"{' '.join(command)} ended with {process.returncode}")
    return Finished(seconds, peak, output)


def sample(name: str, environ: Mapping[str, str], **given: object) -> tuple[dict[str, Any], int]:
    """Return what the function *name* of `benchmarks.samples` answers in a process of its own, and its peak memory."""
    finished = run([sys.executable, "-m", "benchmarks.samples", name, json.dumps(given, default=str)], environ)
    answer: dict[str, Any] = json.loads(finished.output)
    return answer, finished.peak_bytes


def megabytes_of(pid: int) -> float:
    """Return the memory that a process holds; 0 where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1e3


def ask_service(connection: HTTPConnection, token: str, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401
    """Return what a service answers over *connection*.

    Raises:
        RuntimeError: it refused.
        OSError: there is no answer.
    """
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request(method, path, json.dumps(body).encode() if body else None, headers)
    response = connection.getresponse()
    fields = json.loads(response.read())
    if response.status != 200:
        raise RuntimeError(f"the service answered {response.status}: {fields}")
    return fields


def own_environment(home: Path) -> dict[str, str]:
    """Return an environment without the user's settings, with *home* as the home folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMTOOL_", "XDG_", "PYTHON"))}
    return kept | {"HOME": str(home), "USERPROFILE": str(home), "APPDATA": str(home), "LOCALAPPDATA": str(home)}


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Wait for *process* and return its peak memory in bytes."""
    if sys.platform == "win32":
        process.wait()
        return 0
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss * _KILOBYTE
