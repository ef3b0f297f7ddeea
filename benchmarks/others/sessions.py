"""Keep sessions open with a memory tool beside them, and count its processes, memory and processor time.

`python -m benchmarks.others.sessions --tool memtool --tool claude-mem=PACKAGE --minutes 10` (Linux). Each session
begins, then once a minute has a prompt, three edits, a question to the tool's MCP server, and an answer; at last it
ends. The transcripts are those of `sample_sessions/`. memtool's service runs, as claude-mem's worker does. No model is
reached by either, so claude-mem's observer waits with its work.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.others.__main__ import OURS, end, processes
from benchmarks.others.tools import Place, mcp
from memtool.resources import shipped

_EVERY = 0.2  # seconds between two looks at the processes
_EDITS = 3
_PROMPT = "How long do access tokens live now, and why?"


class Tool(NamedTuple):
    """How a tool is started, the command of a hook by its event, its MCP server, and the question it is asked."""

    start: Sequence[Sequence[str]]
    hook: Callable[[str], Sequence[str]]
    server: Sequence[str]
    question: tuple[str, dict[str, Any]]
    environ: dict[str, str]


def memtool(place: Place) -> Tool:
    """Return memtool with its service, on a new vault."""
    command, vault = str(place.bins / "memtool"), str(place.home / "memory")
    return Tool(
        start=[[command, "init", vault], [command, "--vault", vault, "serve", "--open", "--json"]],
        hook=lambda _: [str(place.bins / "memtool-hook")],
        server=[command, "--vault", vault, "mcp"],
        question=("context_search", {"project_path": str(place.home / "shop"), "query": _PROMPT}),
        environ={"MEMTOOL_VAULT": vault, "MEMTOOL_EMBEDDINGS_PROVIDER": "none"},
    )


def claude_mem(place: Place) -> Tool:
    """Return claude-mem with its worker."""
    worker = ["bun", str(place.bins / "plugin/scripts/worker-service.cjs")]
    runner = str(place.bins / "plugin/scripts/bun-runner.js")
    deeds = {
        "SessionStart": "context", "UserPromptSubmit": "session-init", "PostToolUse": "observation",
        "Stop": "summarize", "SessionEnd": "session-end",
    }  # fmt: skip
    return Tool(
        start=[[*worker, "start"]],
        hook=lambda event: ["node", runner, *worker[1:], "hook", "claude-code", deeds[event]],
        server=["node", str(place.bins / "plugin/scripts/mcp-server.cjs")],
        question=("search", {"query": _PROMPT}),
        environ={"DO_NOT_TRACK": "1"},
    )


TOOLS = {"memtool": memtool, "claude-mem": claude_mem}


def main() -> int:
    """Print a line of JSON for each tool."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.others.sessions", description=__doc__)
    parser.add_argument("--tool", action="append", metavar="NAME[=FOLDER]", help=", ".join(TOOLS), required=True)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--pause", type=float, default=60.0, help="seconds between two prompts")
    options = parser.parse_args()
    for name, _, bins in (each.partition("=") for each in options.tool):
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder) / "home"
            (home / "shop").mkdir(parents=True)
            place = Place(Path(), home, Path(bins or OURS), Path(), "")
            row = measured(TOOLS[name](place), place, options.sessions, options.minutes, options.pause)
            end(home)
            time.sleep(1)
        print(json.dumps({"tool": name, "sessions": options.sessions, "minutes": options.minutes} | row), flush=True)
    return 0


def measured(tool: Tool, place: Place, sessions: int, minutes: int, pause: float) -> dict[str, Any]:
    """Return the processes, memory in MB and processor time in seconds of *tool* while *sessions* are open."""
    for command in tool.start:
        subprocess.run(command, env=place.environ(**tool.environ), stdout=subprocess.DEVNULL, check=True)
    failures: list[str] = []
    before = sum(os.times()[2:4])
    with looked_at(place.home) as looks:
        threads = [
            threading.Thread(target=session, args=(tool, place, number, minutes, pause, failures), daemon=True)
            for number in range(sessions)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        time.sleep(5)  # for what goes on in the background
    left = processes(place.home)
    counts, sizes = [look[0] for look in looks.taken], [look[1] for look in looks.taken]
    children = sum(os.times()[2:4]) - before
    return {
        "processes": round(statistics.median(counts)), "most_processes": max(counts),
        "mb": round(statistics.median(sizes)), "most_mb": round(max(sizes)),
        "cpu_s": round(children + sum(looks.others.values()), 1),
        "left": len(left), "left_mb": round(sum(each[1] for each in left)), "failures": len(failures),
    }  # fmt: skip


def session(tool: Tool, place: Place, number: int, minutes: int, pause: float, failures: list[str]) -> None:
    """Go through one session of *minutes* prompts."""
    name = f"{number:08d}-0000-4000-8000-000000000000"
    samples = sorted(shipped("sample_sessions").rglob("*.jsonl"))
    transcript = place.home / ".claude" / "projects" / "-shop" / f"{name}.jsonl"
    transcript.parent.mkdir(parents=True, exist_ok=True)
    transcript.write_bytes(samples[number % len(samples)].read_bytes())
    common = {"session_id": name, "transcript_path": str(transcript), "cwd": str(place.home / "shop")}

    def fire(event: str, **fields: Any) -> None:  # noqa: ANN401 - JSON
        given = json.dumps({"hook_event_name": event, **common, **fields})
        command, environ = tool.hook(event), place.environ(**tool.environ)
        pipe = subprocess.PIPE
        done = subprocess.run(command, input=given, env=environ, text=True, stdout=pipe, stderr=pipe, check=False)
        if done.returncode:
            failures.append(f"{event}: {done.stderr[-300:]}")

    time.sleep(number * pause / 10)
    fire("SessionStart", source="startup")
    with mcp(place, tool.server, **tool.environ) as call:
        for turn in range(minutes):
            began = time.monotonic()
            fire("UserPromptSubmit", prompt=f"{_PROMPT} ({turn})")
            for at in range(_EDITS):
                file = {"file_path": str(place.home / "shop" / f"file{at}.py"), "old_string": "a", "new_string": "b"}
                answer = {"filePath": file["file_path"]}
                fire("PostToolUse", tool_name="Edit", tool_input=file, tool_response=answer, tool_use_id=f"{turn}-{at}")
            call(tool.question[0], **tool.question[1])
            fire("Stop", stop_hook_active=False, last_assistant_message="Access tokens live 15 minutes.")
            time.sleep(max(0.0, pause - (time.monotonic() - began)))
    fire("SessionEnd", reason="other")


class Looks:
    """What was seen: number and MB of the processes at each look, and the time of those that are not our children."""

    def __init__(self) -> None:
        self.taken: list[tuple[int, float]] = []
        self.others: dict[int, float] = {}


@contextmanager
def looked_at(home: Path) -> Iterator[Looks]:
    """Look at the processes whose home folder is *home* until the block ends."""
    looks, ended = Looks(), threading.Event()
    first = {number: seconds for number, _, seconds in processes(home)}

    def look() -> None:
        while not ended.wait(_EVERY):
            seen = processes(home)
            looks.taken.append((len(seen), sum(size for _, size, _ in seen)))
            for number, _, seconds in seen:
                if not _is_child(number):
                    looks.others[number] = seconds - first.get(number, 0.0)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield looks
    finally:
        ended.set()
        thread.join()


def _is_child(number: int) -> bool:
    try:
        return int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1]) == os.getpid()
    except OSError:
        return True


if __name__ == "__main__":
    sys.exit(main())
