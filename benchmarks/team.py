"""The service of a team: what each kind of request takes, for one asker and for eight. All on the loopback.

    python -m benchmarks.team ADDRESS [NOTES]

ADDRESS is that of an empty database. The vault is the synthetic one of `benchmarks.vaults`, in a git remote on disk.
The askers send one request after the other, without a pause.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from benchmarks.processes import CLONE, ask_service, megabytes_of, own_environment
from benchmarks.questions import questions
from benchmarks.rows import percentile
from benchmarks.vaults import write_vault
from memtool.team.postgres.connection import connect
from memtool.team.tokens import Token, add_token

_NAME = "shop"
_ASKERS = 8
_REQUESTS = 200  # of each kind, by all askers together
_SAVES = 40
_PATIENCE = 60.0  # seconds
Request = Callable[[int], tuple[str, str, Any]]  # a number gives method, path and body


def main(arguments: list[str]) -> int:
    """Measure each kind of request, and print a line for each."""
    address, notes = arguments[0], int(arguments[1]) if len(arguments) > 1 else 1_000
    with tempfile.TemporaryDirectory(prefix="memtool-team-") as scratch:
        folder = Path(scratch)
        _make_remote(folder, notes)
        started = time.perf_counter()
        with _Service(folder, address) as service:
            print(f"clone and first index of {notes:,} notes: {time.perf_counter() - started:.1f} s", flush=True)
            for what, request, count in _kinds(notes):
                for askers in (1, _ASKERS):
                    print(_told(service, what, request, count, askers), flush=True)
            print(f"memory of the service: {service.megabytes():.0f} MB")
    return 0


def _kinds(notes: int) -> list[tuple[str, Request, int]]:
    asked = [each.text for each in questions(notes, _REQUESTS // 5)]
    numbers = itertools.count()
    path = f"/vaults/{_NAME}"

    def save(_number: int) -> tuple[str, str, Any]:
        return "POST", f"{path}/save", {"content": f"Shard {next(numbers)} of the ledger is moved on Monday."}

    return [
        ("token, audit and an empty answer", lambda _: ("GET", "/vaults", None), _REQUESTS),
        ("search", lambda at: ("POST", f"{path}/search", {"query": asked[at % len(asked)], "limit": 6}), _REQUESTS),
        ("recall", lambda at: ("POST", f"{path}/recall", {"query": asked[at % len(asked)]}), _REQUESTS),
        ("save", save, _SAVES),
    ]


def _told(service: _Service, what: str, request: Request, count: int, askers: int) -> str:
    """Return a line about *count* requests, sent by so many *askers* at once; a few before only warm it."""

    def ask(numbers: range) -> list[float]:
        return [service.ask(*request(number)) for number in numbers]

    with ThreadPoolExecutor(askers) as pool:
        list(pool.map(ask, [range(5)] * askers))
        worked, started = service.seconds(), time.perf_counter()
        parts = [range(at, count, askers) for at in range(askers)]
        took = [each for some in pool.map(ask, parts) for each in some]
        speed = count / (time.perf_counter() - started)
        work = 1e3 * (service.seconds() - worked) / count
    p50, p95 = (percentile(took, each) for each in (50, 95))
    who = f"{askers} asker{'s' if askers > 1 else ''}"
    return f"{what}, {who}: p50 {p50:.0f} ms, p95 {p95:.0f} ms, {speed:.0f} a second, {work:.1f} ms of the service"


def _make_remote(folder: Path, notes: int) -> None:
    vault, remote = write_vault(folder / "vault", notes), folder / f"{_NAME}.git"
    who = ("-c", "user.name=Benchmark", "-c", "user.email=benchmark@example.org")
    for command in (
        ["init", "-q", "--bare", "-b", "main", str(remote)],
        ["-C", str(vault), "init", "-q", "-b", "main"],
        ["-C", str(vault), "add", "."],
        ["-C", str(vault), *who, "commit", "-q", "-m", "notes"],
        ["-C", str(vault), "push", "-q", str(remote), "main"],
    ):
        subprocess.run(["git", *command], check=True)


class _Service:
    """A service of one vault, in a process of its own."""

    def __init__(self, folder: Path, database: str) -> None:
        config = folder / "config.toml"
        remote = json.dumps(f"{_NAME} = {folder / _NAME}.git")
        config.write_text(f"[team]\nvaults = [{remote}]\nfolder = {json.dumps(str(folder / 'clones'))}\nmax_mb = 500\n")
        environ = own_environment(folder) | {"MEMTOOL_CONFIG": str(config), "MEMTOOL_POSTGRES": database}
        command = [str(Path(sys.executable).with_name("memtool")), "serve", "--engine", "postgres", "--port", "0"]
        self._process = subprocess.Popen(
            [*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=CLONE, env=environ
        )
        assert self._process.stdout
        self._port = urlsplit(json.loads(self._process.stdout.readline())["url"]).port
        token = Token("", "Benchmark", "benchmark@example.org", ("read", "write"), (_NAME,))
        with connect(database) as db:
            self._token = add_token(db, token, os.urandom(32), datetime.now(UTC))[1]

    def __enter__(self) -> Self:
        while not self._is_ready():
            time.sleep(0.1)
        return self

    def _is_ready(self) -> bool:
        try:
            return all(each["synced_at"] for each in self._answer("GET", "/vaults")["vaults"])
        except RuntimeError:
            return False

    def ask(self, method: str, path: str, body: object) -> float:
        """Return the milliseconds of a request over a connection of its own.

        Raises:
            RuntimeError: it was refused.
        """
        began = time.perf_counter()
        self._answer(method, path, body)
        return (time.perf_counter() - began) * 1000

    def _answer(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401
        with contextlib.closing(HTTPConnection("127.0.0.1", self._port, timeout=_PATIENCE)) as connection:
            return ask_service(connection, self._token, method, path, body)

    def seconds(self) -> float:
        """Return the processor time that it has used; 0 where the system does not tell."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """Return the memory that it holds."""
        return megabytes_of(self._process.pid)

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
