"""The real Claude Code client in a closed box: a home folder, a git project and an environment of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from claude_code.processes import processes_of
from claude_code.script import Json
from terminal import MEMTOOL, Ran

_PATIENCE = 60  # seconds: far more than anything here takes, so that a hanging program is a failure and not a wait
_PROBE = Path(__file__).with_name("probe.py")


class Session(NamedTuple):
    """A run of the client with `-p`, which has ended."""

    code: int
    events: list[Json]
    err: str

    @property
    def id(self) -> str:
        """The session's id: the last one named, for the first event of a resumed session can carry another."""
        return str(next(event["session_id"] for event in reversed(self.events) if event.get("session_id")))

    @property
    def answer(self) -> str:
        """What the client printed as its result."""
        return "".join(str(event["result"]) for event in self.events if event["type"] == "result")

    @property
    def hooks(self) -> list[Json]:
        """What became of each hook, up to `Stop`: the client does not tell of those of `SessionEnd`."""
        return [event for event in self.events if event.get("subtype") == "hook_response"]


class Box:
    """A user with a home folder, a project under git, and the client. Nothing of the caller's environment gets in."""

    def __init__(self, root: Path, client: Path) -> None:
        self.root, self.client = root, client
        self.home, self.project = root / "home", root / "project"
        self.path = "/usr/local/bin:/usr/bin:/bin"
        self._probed = root / "tmp" / "hooks.jsonl"
        for folder in (self.home, self.project, root / "tmp"):
            folder.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=self.project, env=self.environ(), check=True)

    def environ(self, url: str = "http://127.0.0.1:9") -> dict[str, str]:
        """Return the environment of everything that runs in the box; the Messages API is at *url*."""
        return {
            "PATH": self.path,
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "MEMTOOL_SESSIONS_NAMES": "id",
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "dummy-key",
            "CLAUDE_CODE_TMPDIR": str(self.root / "tmp"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
        }

    def start(self, url: str, prompt: str, *flags: str) -> subprocess.Popen[str]:
        """Start the client with a prompt, to be killed or to be waited for by `finish`."""
        told = ("--output-format", "stream-json", "--verbose", "--include-hook-events")
        command = [str(self.client), "-p", prompt, *told, *flags]
        return subprocess.Popen(
            command, cwd=self.project, env=self.environ(url), text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, url: str, prompt: str, *flags: str) -> Session:
        """Run the client with a prompt to its end."""
        return finish(self.start(url, prompt, *flags))

    def memtool(self, *arguments: str) -> Ran:
        """Run `memtool` as the box's user."""
        ran = subprocess.run(
            [*MEMTOOL, *arguments], cwd=self.project, env=self.environ(), capture_output=True, text=True, check=False,
            timeout=_PATIENCE,
        )  # fmt: skip
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    def probe(self, *events: str, everywhere: bool = False) -> None:
        """Let a hook write down *events*; see `seen` and `hook`."""
        for event in events:
            self.hook(event, sys.executable, str(_PROBE), str(self._probed), everywhere=everywhere)

    def hook(self, event: str, *command: str, everywhere: bool = False) -> None:
        """Let the project's settings, or the user's own, run *command* at *event*, without a shell."""
        path = (self.home if everywhere else self.project) / ".claude" / "settings.json"
        path.parent.mkdir(exist_ok=True)
        settings = json.loads(path.read_text()) if path.exists() else {}
        handler = {"type": "command", "command": command[0], "args": command[1:]}
        settings.setdefault("hooks", {}).setdefault(event, []).append({"hooks": [handler]})
        path.write_text(json.dumps(settings))

    def seen(self, event: str) -> list[Json]:
        """Return what the probe was given for *event*."""
        lines = self._probed.read_text().splitlines() if self._probed.exists() else []
        return [given for line in lines if (given := json.loads(line))["hook_event_name"] == event]

    def wait_for(self, event: str, **fields: str) -> Json:
        """Wait until the probe was given *event* with these *fields*, and return all of it."""
        found: list[Json] = []

        def is_seen() -> bool:
            found[:] = [given for given in self.seen(event) if fields.items() <= given.items()]
            return bool(found)

        wait_until(is_seen, lambda: f"no {event} with {fields} but {self.seen(event)}")
        return found[0]

    def transcripts(self) -> list[Path]:
        """Return every transcript that the client has written."""
        return sorted((self.home / ".claude" / "projects").rglob("*.jsonl"))

    def wait_until_idle(self) -> None:
        """Wait until no process of the box is left, and fail when one does not end."""
        wait_until(lambda: not processes_of(self.root), lambda: f"still running: {processes_of(self.root)}")


def finish(client: subprocess.Popen[str]) -> Session:
    """Wait for a client to end."""
    with client:
        try:
            out, err = client.communicate(timeout=_PATIENCE)
        except BaseException:
            client.kill()
            raise
    return Session(client.returncode, [json.loads(line) for line in out.splitlines() if line.startswith("{")], err)


def wait_until(is_so: Callable[[], bool], what: Callable[[], str]) -> None:
    """Wait until *is_so*, and fail with *what* when it takes too long."""
    give_up_at = time.monotonic() + _PATIENCE
    while not is_so():
        assert time.monotonic() < give_up_at, what()
        time.sleep(0.02)
