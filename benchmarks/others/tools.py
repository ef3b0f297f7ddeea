"""How each tool takes in a folder of notes and is asked, through its own documented way: one adapter a tool."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode
from urllib.request import Request, urlopen

Ask = Callable[[str], Iterable[str]]  # from a question to the paths of the notes found, best first
Session = tuple[Callable[[object], None], Callable[[], Any]]  # what sends a line of JSON, and what receives one
MODEL = "all-MiniLM-L6-v2"
_MOST = 30  # hits, so that ten notes are among them where a note has several
_PASSED_ON = ("UV_", "SSL_", "LANG")
_STOP = frozenset(
    "a an and are as at be by can could did do does for from had has have how i if in is it its many me my not of on or"
    " s so t than that the their there this to was were what when where which who why will with would you your".split()
)
_MEMSEARCH = """
import asyncio, json, sys
from memsearch import MemSearch
home, endpoint, vault = sys.argv[1:]
loop = asyncio.new_event_loop()
tool = MemSearch([vault], embedding_provider="openai", embedding_model="all-MiniLM-L6-v2",
                 embedding_base_url=endpoint, embedding_api_key="local", milvus_uri=home + "/milvus.db")
loop.run_until_complete(tool.index())
print("null", flush=True)
for line in sys.stdin:
    found = loop.run_until_complete(tool.search(json.loads(line), top_k=30))
    print(json.dumps([hit["source"] for hit in found]), flush=True)
"""


class Place(NamedTuple):
    """Where a tool works: the notes, a home folder of its own, the folder of its commands, a model and its address."""

    vault: Path
    home: Path
    bins: Path
    model: Path
    endpoint: str
    fill: bool = True  # the notes are still to be taken in

    def environ(self, **more: str) -> dict[str, str]:
        """Return an environment without the settings of the user who starts this."""
        kept = {name: value for name, value in os.environ.items() if name.startswith(_PASSED_ON)}
        return kept | {"PATH": f"{self.bins}{os.pathsep}{os.environ['PATH']}", "HOME": str(self.home)} | more

    def run(self, command: str, *arguments: str, **environ: str) -> str:
        """Return what a command of the tool prints."""
        started = [str(self.bins / command), *arguments]
        return subprocess.check_output(started, env=self.environ(**environ), stderr=subprocess.DEVNULL, text=True)

    def notes(self) -> list[tuple[str, str]]:
        """Return the path and the text of each note."""
        paths = sorted(self.vault.rglob("*.md"))
        return [(str(path.relative_to(self.vault)), path.read_text(encoding="utf-8")) for path in paths]


@contextmanager
def grep(place: Place) -> Iterator[Ask]:
    """What any agent can do: grep for each word, and open the notes with most of the words."""
    command = ["grep", "-rilF", "--include=*.md", "-e"]

    def files(word: str) -> list[str]:
        done = subprocess.run([*command, word, str(place.vault)], stdout=subprocess.PIPE, text=True, check=False)
        return done.stdout.splitlines()

    yield lambda question: by_matches(files(word) for word in words(question))


@contextmanager
def memtool(place: Place, **environ: str) -> Iterator[Ask]:
    environ = environ or {"MEMTOOL_EMBEDDINGS_PROVIDER": "none"}
    vault = ("--vault", str(place.vault))
    if place.fill:
        place.run("memtool", *vault, "index", **environ)

    def ask(question: str) -> list[str]:
        found = place.run("memtool", *vault, "search", question, "--json", "--limit", str(_MOST), **environ)
        return [hit["path"] for hit in json.loads(found)["hits"]]

    yield ask


def memtool_vectors(place: Place) -> AbstractContextManager[Ask]:
    return memtool(place, MEMTOOL_EMBEDDINGS_PROVIDER="fastembed", MEMTOOL_EMBEDDINGS_PATH=str(place.model))


@contextmanager
def memsearch(place: Place) -> Iterator[Ask]:
    """Its Python interface, which is warm; its command takes seconds to start."""
    command = [str(place.bins / "python"), "-c", _MEMSEARCH, str(place.home), place.endpoint, str(place.vault)]
    with session(place, command) as (send, receive):
        receive()
        yield lambda question: [send(question), receive()][1]


@contextmanager
def basic_memory(place: Place) -> Iterator[Ask]:
    settings = {
        "PROVIDER": "openai",
        "MODEL": MODEL,
        "API_BASE": place.endpoint,
        "API_KEY": "local",
        "DIMENSIONS": "384",
    }
    environ = {f"BASIC_MEMORY_SEMANTIC_EMBEDDING_{name}": value for name, value in settings.items()}
    if place.fill:
        place.run("basic-memory", "project", "add", "notes", str(place.vault), "--default", **environ)
    with mcp(place, [str(place.bins / "basic-memory"), "mcp"], **environ) as call:
        asked = {"project": "notes", "page_size": _MOST, "output_format": "json"}
        yield lambda question: [
            hit["file_path"] for hit in json.loads(call("search_notes", query=question, **asked))["results"]
        ]


@contextmanager
def mcp_memory_service(place: Place) -> Iterator[Ask]:
    """A note is a memory, its path a tag, by which the answer names it."""
    environ = {"MCP_EXTERNAL_EMBEDDING_URL": f"{place.endpoint}/embeddings", "MCP_EXTERNAL_EMBEDDING_MODEL": MODEL}
    with mcp(place, [str(place.bins / "memory"), "server"], **environ) as call:
        for path, text in place.notes() if place.fill else ():
            call("memory_store", content=text, metadata={"tags": path})
        yield lambda question: re.findall(r"\[(\S+\.md)", call("memory_search", query=question, limit=_MOST))


@contextmanager
def claude_mem(place: Place) -> Iterator[Ask]:
    """Notes are saved and asked through the worker, without its observer model; the worker outlives the session."""
    url = f"http://127.0.0.1:{37700 + os.getuid() % 100}"

    def api(path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        data = json.dumps(body).encode() if body else None
        with urlopen(Request(url + path, data, {"Content-Type": "application/json"}), timeout=120) as answer:
            return json.load(answer)

    def ask(question: str) -> list[str]:
        query = urlencode({"query": question, "limit": _MOST, "format": "json"})
        return [hit["title"] for hit in api(f"/api/search?{query}").get("observations", [])]

    if place.fill:  # Chroma's model lies in the cache of the user who starts this
        (place.home / ".cache").mkdir()
        (place.home / ".cache" / "chroma").symlink_to(Path.home() / ".cache" / "chroma")
    worker = str(place.bins / "plugin/scripts/worker-service.cjs")
    subprocess.run(["bun", worker, "start"], env=place.environ(DO_NOT_TRACK="1"), stdout=subprocess.DEVNULL, check=True)
    for path, text in place.notes() if place.fill else ():
        api("/api/memory/save", {"text": text, "title": path, "project": "notes"})
    (last, text), end = place.notes()[-1], time.monotonic() + 600
    while place.fill and last not in ask(text[:300]) and time.monotonic() < end:  # found by meaning: all are in
        time.sleep(5)
    yield ask


@contextmanager
def qmd(place: Place) -> Iterator[Ask]:
    """Its keyword search, without the models that it would download. It needs Node 22, or Bun as `node`."""
    if place.fill:
        place.run("qmd", "collection", "add", str(place.vault), "--name", "notes")

    def ask(question: str) -> list[str]:
        found = place.run("qmd", "search", question, "--json", "-n", str(_MOST))
        return [hit["file"].removeprefix("qmd://notes/") for hit in json.loads(found)]

    yield ask


TOOLS: dict[str, Callable[[Place], AbstractContextManager[Ask]]] = {
    "grep": grep, "memtool": memtool, "memtool-vectors": memtool_vectors, "memsearch": memsearch,
    "basic-memory": basic_memory, "mcp-memory-service": mcp_memory_service, "claude-mem": claude_mem, "qmd": qmd,
}  # fmt: skip


@contextmanager
def session(place: Place, command: Sequence[str], **environ: str) -> Iterator[Session]:
    """Run what a client keeps for a session; give what sends it a line of JSON and what receives one."""
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    environment = place.environ(**environ)
    with subprocess.Popen(command, env=environment, text=True, stdin=pipe, stdout=pipe, stderr=nothing) as process:
        lines, answers = process.stdin, process.stdout
        assert lines
        assert answers

        def receive() -> Any:  # noqa: ANN401 - JSON
            for line in answers:
                with suppress(ValueError):
                    return json.loads(line)
            raise OSError(f"{command[0]} ended")

        yield lambda sent: print(json.dumps(sent), file=lines, flush=True), receive
        lines.close()


@contextmanager
def mcp(place: Place, command: Sequence[str], **environ: str) -> Iterator[Callable[..., str]]:
    """Run an MCP server over stdio; give what calls a tool of it and returns the text of its answer."""
    with session(place, command, **environ) as (send, receive):

        def request(method: str, params: object) -> Any:  # noqa: ANN401 - JSON
            send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            while "result" not in (got := receive()):  # notifications
                if "error" in got:
                    raise OSError(str(got["error"]))
            return got["result"]

        client = {"name": "benchmark", "version": "1"}
        request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield lambda name, **given: request("tools/call", {"name": name, "arguments": given})["content"][0]["text"]


def words(question: str) -> list[str]:
    """Return what an agent would grep for: the telling words, and pairs of characters where words have no spaces."""
    runs = re.findall("[\u3040-\u30ff\u3400-\u9fff]+", question)
    pairs = [run[at : at + 2] for run in runs for at in range(len(run) - 1)]
    latin = re.findall(r"[a-z0-9_.#+-]*[a-z0-9_]", question.lower())
    return list(dict.fromkeys([word for word in latin if word not in _STOP] + pairs))


def by_matches(found: Iterable[Sequence[str]]) -> list[str]:
    """Return the files that *found* names, those that most of its lists have first, else by name."""
    counts = Counter(path for paths in found for path in paths)
    return sorted(counts, key=lambda path: (-counts[path], path))
