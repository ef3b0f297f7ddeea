"""The MCP server: its start and its memory beside a bare server on the same SDK, and a search beside one in process."""

from __future__ import annotations

import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from benchmarks.processes import CLONE, megabytes_of
from benchmarks.questions import questions
from benchmarks.rows import Row

if TYPE_CHECKING:
    from benchmarks.groups import Stage

_START = 1.15
_MORE_MEMORY = 15.0  # MB
_SEARCH = 2.0
_QUESTIONS = 20
_BARE = """
from mcp.server import MCPServer
server = MCPServer("bare")
@server.tool()
def nothing() -> str:
    "Do nothing."
    return ""
server.run()
"""


def mcp(stage: Stage) -> Iterator[Row]:
    """Start to the first answer, what is held then, and searches of a server that is warm."""
    stage.prepare()
    command = [str(Path(sys.executable).with_name("memtool")), "--vault", str(stage.vault), "mcp"]
    ours: list[tuple[float, float]] = []
    floor: list[tuple[float, float]] = []
    for _ in range(stage.quick):
        for known, each in ((ours, command), (floor, [sys.executable, "-c", _BARE])):
            with _Server(each, stage.environ) as server:
                known.append((server.started, server.megabytes()))
    starts, held = zip(*ours, strict=True)
    bare_starts, bare_held = zip(*floor, strict=True)
    yield Row("start of `memtool mcp`, to its first answer", stage.size, "ms", starts, bare_starts, most_ratio=_START)
    least = min(bare_held) + _MORE_MEMORY
    yield Row("memory of `memtool mcp` then", stage.size, "MB", held, bare_held, most=least)
    asked = [question.text for question in questions(stage.size, _QUESTIONS)]
    answer, _ = stage.sample("fresh_query", asked=asked)
    in_process = [seconds * 1000 for seconds in answer["seconds"]]
    with _Server(command, stage.environ) as server:
        server.search(stage.scratch, asked[0])
        took = [server.search(stage.scratch, text) for text in asked]
    budget = stage.budget(_SEARCH)
    yield Row(
        "`context_search` of a warm server", stage.size, "ms", _middle(took), _middle(in_process), most_ratio=budget
    )


def _middle(times: Sequence[float]) -> list[float]:
    """Return the median alone: questions differ more from each other than the two ways of asking them do."""
    return [statistics.median(times)]


class _Server:
    """An MCP server in a process of its own, asked line by line, so that no client's time counts."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        began = time.perf_counter()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ, cwd=CLONE
        )
        self._numbers = itertools.count(1)
        about = {"name": "benchmark", "version": "1"}
        self._ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=about)
        self.started = (time.perf_counter() - began) * 1000
        self._say({"method": "notifications/initialized"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()

    def megabytes(self) -> float:
        """Return the memory that it holds; 0 where the system does not tell."""
        return megabytes_of(self._process.pid)

    def search(self, folder: Path, text: str) -> float:
        """Return the milliseconds that a search takes."""
        began = time.perf_counter()
        arguments = {"project_path": str(folder / "nowhere"), "query": text, "all_projects": True}
        answer = self._ask("tools/call", name="context_search", arguments=arguments)
        took = (time.perf_counter() - began) * 1000
        # What a question asks for may lie in the archive, which is not searched.
        if answer["result"].get("isError") or not any(said in str(answer) for said in ("Quoted from", "Nothing found")):
            raise RuntimeError(f"the server did not search: {answer}")
        return took

    def _ask(self, method: str, **params: object) -> dict[str, Any]:
        number = next(self._numbers)
        self._say({"id": number, "method": method, "params": params})
        assert self._process.stdout
        while True:
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
            if answer.get("id") == number:
                return answer

    def _say(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()
