"""The server on its pipes: what it imports, what it writes, what it survives and when it ends."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from desk import Desk
from mcp_server.agent import Wire

pytestmark = pytest.mark.slow

# Of memtool, before the first answer: what the command line itself needs, and the tools' descriptions.
IMPORTED = {
    "memtool", "memtool.beside", "memtool.cli", "memtool.errors", "memtool.mcp", "memtool.named_tuple",
    "memtool.processes", "memtool.resources", "memtool.settings", "memtool.text", "memtool.vault", "memtool.workspace",
}  # fmt: skip


@pytest.fixture
def vault_option(desk: Desk) -> tuple[str, str]:
    return "--vault", str(desk.vault.root)


def test_before_the_first_answer_nothing_is_imported_but_the_sdk(tmp_path: Path, vault_option: tuple[str, str]) -> None:
    with Wire(*vault_option, cwd=tmp_path, python=("-X", "importtime")) as wire:
        wire.ask("tools/list")
        _, _, err = wire.end()
    names = {line.rpartition("|")[2].strip() for line in err.decode().splitlines() if line.startswith("import time:")}
    ours = {".".join(name.split(".")[:2]) for name in names if name.partition(".")[0] == "memtool"}
    assert "memtool.mcp.tools" in names
    assert ours <= {*IMPORTED, "memtool.recall"}
    assert {name for name in names if name.startswith("memtool.recall.")} <= {
        "memtool.recall.framing", "memtool.recall.limits",
    }  # fmt: skip
    assert not names & {"sqlite3", "numpy", "fastembed", "frontmatter", "yaml", "jsonschema", "Stemmer"}


def test_whatever_comes_the_protocol_alone_is_on_stdout_and_the_next_call_is_answered(
    tmp_path: Path, vault_option: tuple[str, str], shop: str
) -> None:
    with Wire(*vault_option, cwd=tmp_path) as wire:
        for line in (b"not json", b"\xff\xfe\x00", b'{"jsonrpc": "2.0", "id": 7}', b"[" * 5_000, b'"\\ud800"', b""):
            wire.send(line)
        assert "error" in wire.ask("no/such/method")
        assert wire.call("no_tool").is_error
        deep: object = "x"
        for _ in range(50):
            deep = [deep]
        assert wire.call("context_save", project_path=shop, entries=deep).is_error
        assert wire.call("context_save", project_path=shop, entries="[{]").is_error
        assert wire.call("context_search", project_path=shop, query="x" * 10_000_000).is_error
        assert not wire.call("context_search", project_path=shop, query="half \ud83d character 半").is_error
        for _ in range(200):  # more than the SDK reads
            deep = [deep]
        refused = wire.ask("tools/call", name="context_search", arguments={"query": deep})
        assert refused["error"]["message"].startswith("nothing was done: Invalid JSON: recursion limit exceeded")
        assert not wire.call("context_search", project_path=shop, query="解密失败").is_error
        code, out, _ = wire.end()
    assert code == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())


NO_REQUESTS = (
    (b"not json", -32700, "not JSON"),
    ('{"题'.encode(), -32700, "not JSON"),
    (b"\xff\xfe\x00", -32700, "not JSON"),
    (b"[" * 5_000, -32700, "not JSON"),
    (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600, ""),
    (b"3", -32600, ""),
)


def test_a_line_that_is_no_request_is_answered_and_so_is_the_next_one(
    tmp_path: Path, vault_option: tuple[str, str]
) -> None:
    with Wire(*vault_option, cwd=tmp_path) as wire:
        for line, code, said in NO_REQUESTS:
            wire.send(b"\n" + line)
            answer = wire.hear()
            assert (answer["id"], answer["error"]["code"]) == (None, code), line
            assert said in answer["error"]["message"]
            wire.send(b'{"jsonrpc": "2.0", "id": "seven"}')
            answer = wire.hear()
            assert (answer["id"], answer["error"]["code"]) == ("seven", -32600)
            wire.send(b'{"jsonrpc": "2.0", "id": 7, "error": "an answer to nothing"}')  # an answer is not answered
            assert wire.ask("ping")["result"] == {}


def test_a_vault_that_vanishes_and_comes_back_is_served_again(
    desk: Desk, shop: str, vault_option: tuple[str, str]
) -> None:
    desk.remember("The API listens on port 8080.")
    away = desk.home / "away"
    with Wire(*vault_option, cwd=desk.home) as wire:
        assert "8080" in wire.call("context_search", project_path=shop, query="port")
        shutil.move(desk.vault.root, away)
        assert wire.call("context_load", project_path=shop).fields["available"] is False
        missing = wire.call("context_save", project_path=shop, entries=[{"type": "todo", "content": "x y z"}])
        assert "there is no vault at" in missing
        assert missing.is_error
        assert not desk.vault.root.exists()
        shutil.move(away, desk.vault.root)
        assert "8080" in wire.call("context_search", project_path=shop, query="port")


def test_it_ends_with_stdin_even_at_work_and_what_it_was_told_is_written(
    desk: Desk, shop: str, vault_option: tuple[str, str]
) -> None:
    wire = Wire(*vault_option, cwd=desk.home)
    with wire:
        arguments = {"project_path": shop, "entries": [{"type": "knowledge", "content": "Run `make seed` first."}]}
        request = {"name": "context_save", "arguments": arguments}
        wire.send(json.dumps({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": request}).encode())
    assert wire.process.returncode == 0
    (note,) = desk.vault.root.glob("areas/projects/shop/knowledge/*-run-make-seed-first.md")
    assert note.read_text().endswith("Run `make seed` first.\n")


def test_two_servers_and_three_hooks_on_one_vault_lose_nothing(
    desk: Desk, shop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTOOL_VAULT", str(desk.vault.root))
    rounds = int(os.environ.get("HAMMER_ROUNDS", "6"))  # times eleven operations; a hundred were run by hand
    assert hammered(desk, shop, rounds) == []


def hammered(desk: Desk, shop: str, rounds: int) -> list[str]:
    """Let two servers and three hooks work at once, and return what went wrong."""
    wrong: list[str] = []

    def serve(name: str) -> None:
        with Wire("--profile", "all", cwd=Path(shop)) as wire:
            for number in range(rounds):
                said = f"{name}{number} 号端口是 {8000 + number}。"
                entries = [
                    {"type": "knowledge", "content": f"Knowledge {said}"},
                    {"type": "todo", "content": f"do {said}"},
                ]
                answers = [
                    wire.call("context_save", project_path=shop, entries=entries),
                    wire.call("memory_store", text=f"Fact {said}", category="configuration"),
                    wire.call("context_search", project_path=shop, query=said),
                ]
                wrong.extend(f"{name}{number}: {each.text}" for each in answers if each.is_error or "not saved" in each)

    def hook(name: str) -> None:
        for number in range(rounds):
            event = {
                "hook_event_name": "PostToolUse", "session_id": name, "cwd": shop, "transcript_path": "",
                "tool_name": "Write", "tool_input": {"file_path": f"{shop}/{name}{number}.py"},
            }  # fmt: skip
            ran = subprocess.run(
                [sys.executable, "-m", "memtool.hook"],
                input=json.dumps(event).encode(),
                capture_output=True,
                check=False,
            )
            wrong.extend([f"{name}{number}: {ran.stderr.decode()}"] * bool(ran.returncode or ran.stderr))

    with ThreadPoolExecutor(5) as pool:
        for done in [pool.submit(work, name) for work, names in ((serve, "ab"), (hook, "xyz")) for name in names]:
            done.result()
    subprocess.run([sys.executable, "-m", "memtool", "capture", "--drain"], check=True)  # edits that hooks left to it
    return wrong + _missing(desk, rounds)


def _missing(desk: Desk, rounds: int) -> list[str]:
    """Return what was written by nobody, or is left behind."""
    facts = {fact.fact for fact in desk.facts()}
    todos = desk.read("areas/projects/shop/todos.md")
    notes = "".join(path.read_text() for path in desk.vault.root.glob("areas/projects/shop/knowledge/*.md"))
    daily = "".join(path.read_text() for path in desk.vault.root.glob("daily/*.md"))
    missing = []
    for number in range(rounds):
        for name in "ab":
            said = f"{name}{number} 号端口是 {8000 + number}。"
            missing += [f"fact {said}"] * (f"Fact {said}" not in facts)
            missing += [f"todo {said}"] * (f"do {said}" not in todos)
            missing += [f"note {said}"] * (f"Knowledge {said}" not in notes)
        missing += [f"edit {name}{number}" for name in "xyz" if f"`{name}{number}.py`" not in daily]
    missing += [f"{path} is left" for path in desk.vault.root.rglob("*.tmp")]
    missing += re.findall(r"^\?\? (?!daily).*|^UU .*", desk.git("status", "--porcelain"), re.MULTILINE)
    return missing
