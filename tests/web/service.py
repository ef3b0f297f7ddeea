"""A real `memtool serve` on the loopback, and whoever asks it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

from memtool.service_client import Address, ServicePlace, find_service, service_place
from memtool.settings import load
from memtool.vault.layout import Vault
from memtool.workspace import Workspace

PATIENCE = 60.0  # seconds, of a busy machine


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def fields(self) -> Any:
        return json.loads(self.body)


class Service:
    """A service of *vault* in a process of its own."""

    def __init__(self, vault: Vault, *options: str, **environ: str) -> None:
        self.vault = vault
        self.environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **environ}
        self.work = Workspace(vault, load(None, self.environ), self.environ, vault.root.parent, vault.root)
        command = [sys.executable, "-m", "memtool", "--vault", str(vault.root), "serve", "--port", "0", *options]
        self.process = subprocess.Popen(
            command, cwd=vault.root, env=self.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.said: list[str] = []
        self.runtime = self._started()

    @property
    def place(self) -> ServicePlace:
        return service_place(self.work.cache, self.vault.root)

    @property
    def token(self) -> str:
        return self.environ.get("MEMTOOL_TOKEN") or self.place.path("token").read_text()

    def ask(self, method: str, path: str, body: Any = None, *, token: str | None = None, **headers: str) -> Answer:
        """Ask; header names are given with underscores. An empty *token* leaves it out."""
        content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if content:
            sent.setdefault("Content-Type", "application/json")
        if key := self.token if token is None else token:
            sent["Authorization"] = f"Bearer {key}"
        connection = HTTPConnection(self.runtime.reachable, self.runtime.port, timeout=PATIENCE)
        try:
            connection.request(method, path, content or None, sent)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Any:
        answer = self.ask("GET", path, **headers)
        assert answer.status == 200, answer
        return answer.fields

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        answer = self.ask("POST", path, body, **headers)
        assert answer.status == 200, answer
        return answer.fields

    def end(self) -> int:
        """End it, whatever state it is in, and return its exit code."""
        if self.said:
            return self.process.returncode
        if self.process.poll() is None:
            self.process.terminate()
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self.said = [stream.read().decode() for stream in (self.process.stdout, self.process.stderr) if stream]
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        return code

    def _started(self) -> Address:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            if runtime := find_service(self.place):
                return runtime
            time.sleep(0.02)
        self.end()
        raise AssertionError(f"the service did not start: {self.said}")
