"""A real service of a team: `memtool serve --engine postgres` on the loopback, its remotes, and whoever asks it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from team.remotes import make_remote
from two_machines import git

from memtool.team.postgres.connection import connect
from memtool.team.tokens import Token, add_token

PATIENCE = 60.0  # seconds
SECRET = "a secret that git hosts sign with"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def fields(self) -> Any:
        return json.loads(self.body)


class TeamServer:
    """A service of the vaults *names*, whose remotes lie in *folder*, with the database at *dsn*."""

    program = ("-m", "memtool")

    def __init__(self, folder: Path, dsn: str, names: tuple[str, ...], **environ: str) -> None:
        self.folder, self.dsn, self.names = folder, dsn, names
        for name in names:
            if not (folder / f"{name}.git").exists():
                make_remote(folder, name)
        config = folder / "config.toml"
        listed = ", ".join(json.dumps(f"{name} = {folder / name}.git") for name in names)
        team = f'[team]\nvaults = [{listed}]\nfolder = "{folder / "clones"}"\nmax_mb = 200\n'
        config.write_text(f'{team}[embeddings]\nprovider = "none"\n')
        self.environ = {
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "MEMTOOL_CONFIG": str(config),
            "MEMTOOL_CACHE": str(folder / "cache"),
            "MEMTOOL_POSTGRES": dsn,
            "MEMTOOL_TEAM_WEBHOOK_SECRET": SECRET,
            **environ,
        }
        try:
            self.start()
        except BaseException:
            self.end()
            raise

    def start(self) -> None:
        """Start it, and wait until all its vaults are there."""
        command = [sys.executable, *self.program, "serve", "--engine", "postgres", "--port", "0", "--json"]
        self.log = (self.folder / "log").open("ab")
        self.process = subprocess.Popen(
            command, cwd=self.folder, env=self.environ, stdout=subprocess.PIPE, stderr=self.log, text=True
        )
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, (self.folder / "log").read_text()
        self.address = urlsplit(json.loads(line)["url"])
        self.operator = self.token(holder="operator", vaults=("*",), scopes=("read", "write", "metrics"))
        self.until(lambda: all(each["synced_at"] for each in self.vaults()))

    def end(self) -> int:
        """End it, and return its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(PATIENCE)
        if self.process.stdout:
            self.process.stdout.close()
        self.log.close()
        return code

    def token(self, **fields: Any) -> str:
        """Return a new token, for all there is if *fields* do not say otherwise."""
        wanted = Token("", "安娜", "anna@example.org", ("read", "write"), (self.names[0],))._replace(**fields)
        with connect(self.dsn) as db:
            return add_token(db, wanted, os.urandom(32), datetime.now(UTC))[1]

    def ask(self, method: str, path: str, body: Any = None, *, token: str | None = None, **headers: str) -> Answer:
        """Ask; header names are given with underscores. An empty *token* leaves it out."""
        content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if content:
            sent.setdefault("Content-Type", "application/json")
        if key := self.operator if token is None else token:
            sent["Authorization"] = f"Bearer {key}"
        connection = HTTPConnection(self.address.hostname or "", self.address.port, timeout=PATIENCE)
        try:
            connection.request(method, path, content or None, sent)
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def vaults(self) -> list[dict[str, Any]]:
        answer = self.ask("GET", "/vaults")
        return list(answer.fields["vaults"]) if answer.status == 200 else [{"synced_at": 0}]

    def until(self, is_so: Any) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < deadline, (self.folder / "log").read_text()[-600:]
            time.sleep(0.05)

    def save(self, text: str) -> Answer:
        """Save *text* in the project `login` of the only vault."""
        return self.ask("POST", "/save", {"content": text, "project": "login"})

    def found(self, query: str) -> list[str]:
        """Return the ids of the memories that are found; none while nobody is answered."""
        answer = self.ask("POST", "/search", {"query": query})
        return [each["id"] for each in answer.fields["memories"]] if answer.status == 200 else []

    def pushed(self) -> str:
        """Return what the remote of the first vault holds, commit by commit."""
        return git(self.folder / f"{self.names[0]}.git", "log", "-p", "--format=%an", "main", "--", "areas")
