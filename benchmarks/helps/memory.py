"""What a user's agent is given by memtool, and what the same user finds without it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.others.tools import words
from benchmarks.recall.sessions import context_of

HITS = 5  # of a search
READ = 2_000  # characters that a user reads of what a search of the transcripts prints
LINE = 300  # characters of a line around its first match
_AT_ONCE = 20  # transcripts a command
WAYS = ("start and prompts", "`memtool search`", "`context_search`")


class Memory:
    """memtool on a vault below *folder*, for a user who has nothing else; empty until sessions are captured."""

    def __init__(self, folder: Path) -> None:
        self.home, self.vault = folder / "home", folder / "vault"
        self.home.mkdir(parents=True)
        self.program = Path(sys.executable).with_name("memtool")
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL", "TMPDIR")}
        self.environ = kept | {
            "HOME": str(self.home),
            "MEMTOOL_VAULT": str(self.vault),
            "MEMTOOL_EMBEDDINGS_PROVIDER": "none",
        }
        self.run("init", str(self.vault))

    def run(self, *command: str, cwd: Path | None = None) -> str:
        """Return what the command `memtool` prints. Its exit code says nothing: a search may find nothing."""
        done = subprocess.run(
            [self.program, *command],
            env=self.environ,
            cwd=cwd or self.home,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    def capture(self, transcripts: Iterable[Path]) -> None:
        """Write the notes of *transcripts* and index them."""
        paths = list(map(str, transcripts))
        for start in range(0, len(paths), _AT_ONCE):
            self.run("capture", *paths[start : start + _AT_ONCE])
        self.run("index")

    def start(self, cwd: str, session: str = "") -> str:
        """Return what a new session in *cwd* begins with."""
        return self._hook("SessionStart", cwd, session or str(uuid.uuid4()), source="startup")

    def prompt(self, cwd: str, text: str, session: str = "") -> str:
        """Return what the agent is given with a prompt."""
        return self._hook("UserPromptSubmit", cwd, session or str(uuid.uuid4()), prompt=text)

    def sessions(self) -> dict[str, tuple[str, str]]:
        """Return the session and the project of each session's note, by the name of its file."""
        texts = {path.stem: path.read_text(encoding="utf-8") for path in (self.vault / "sessions").rglob("*.md")}
        return {name: (_field("session", text), _field("project", text)) for name, text in texts.items()}

    def answers(self, cwd: str, question: str, project: str) -> tuple[str, str, str]:
        """Return what comes back in each of `WAYS`."""
        session = str(uuid.uuid4())
        both = self.start(cwd, session) + "\n" + self.prompt(cwd, question, session)
        return both, self.search(question, project), self._context_search(cwd, question)

    def search(self, question: str, project: str) -> str:
        """Return what `memtool search` prints; nothing where it says that it found nothing."""
        narrowed = ("--project", project) if project else ()
        return _if_any(self.run("search", "-n", str(HITS), *narrowed, question))

    def _hook(self, name: str, cwd: str, session: str, **more: str) -> str:
        transcript = str(self.home / ".claude" / "projects" / f"{session}.jsonl")
        event = {"hook_event_name": name, "session_id": session, "cwd": cwd, "transcript_path": transcript} | more
        hook = self.program.with_name("memtool-hook")
        given = json.dumps(event)
        done = subprocess.run([hook], input=given, env=self.environ, capture_output=True, text=True, check=True)
        return context_of(done.stdout)

    def _context_search(self, cwd: str, question: str) -> str:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "helps", "version": "1"}}
        call = {"name": "context_search", "arguments": {"query": question, "limit": HITS, "project_path": cwd}}
        messages: list[dict[str, Any]] = [
            {"id": 1, "method": "initialize", "params": hello},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": call},
        ]
        sent = "".join(json.dumps({"jsonrpc": "2.0"} | message) + "\n" for message in messages)
        with subprocess.Popen(
            [self.program, "mcp"],
            env=self.environ,
            cwd=self.home,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as server:
            assert server.stdin
            assert server.stdout
            server.stdin.write(sent)
            server.stdin.flush()
            answers = (json.loads(line) for line in server.stdout)
            content = next(answer["result"]["content"] for answer in answers if answer.get("id") == 2)
            server.stdin.close()
            server.terminate()
        return _if_any("\n".join(part.get("text", "") for part in content))


class Transcripts:
    """Transcripts, searched by words as with `rg`, which is what a user without memory can do."""

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self._lines: dict[Path, list[tuple[str, str]]] = {}
        for path in paths:
            self.add(path)

    def add(self, path: Path) -> None:
        """Search the transcript at *path*, too."""
        records = path.read_text(encoding="utf-8").splitlines()
        texts = dict.fromkeys(
            line for record in records for text in _texts(json.loads(record)) for line in text.splitlines()
        )
        self._lines[path] = [(line.lower(), line) for line in texts if line.strip()]

    def read(self, question: str) -> str:
        """Return the lines with most of the telling words of *question*, as much as a user would read of them."""
        wanted = words(question)
        found: list[tuple[int, int, str]] = []
        for lines in self._lines.values():
            for lowered, line in lines:
                held = [word for word in wanted if word in lowered]
                if held:
                    found.append((-len(held), len(found), _around(line, lowered.index(held[0]))))
        return "\n".join(line for *_, line in sorted(found))[:READ]

    def best(self, question: str, count: int) -> list[str]:
        """Return the names of the *count* transcripts that hold most of the telling words of *question*."""
        wanted = words(question)
        held = {
            path: sum(any(word in lowered for lowered, _ in lines) for word in wanted)
            for path, lines in self._lines.items()
        }
        return [path.stem for path in sorted(held, key=lambda path: (-held[path], path)) if held[path]][:count]


def _if_any(text: str) -> str:
    return "" if re.match(r"\s*(No|Nothing)\b", text) else text


def _field(name: str, text: str) -> str:
    found = re.search(rf"^{name}:[ \t]*[\"']?([^\"'\n]+)", text, re.MULTILINE)
    return found[1].strip() if found else ""


def _around(line: str, at: int) -> str:
    start = max(0, min(at - LINE // 2, len(line) - LINE))
    return line[start : start + LINE]


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
