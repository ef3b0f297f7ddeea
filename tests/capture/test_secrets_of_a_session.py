"""A secret of a session is nowhere in the vault, its history, the hooks' answers or the request of a model."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from client_transcripts import answer, edit, prompt, write_transcript
from desk import Desk
from scripted_models import ModelServer, serve_models

from memtool.capture.captured import read_record
from memtool.capture.source import read_source
from memtool.index.engine import place_of, use_index
from memtool.recall.given import GivenLine, Giving, keep_giving
from memtool.recall.ledger import Ledger, ledger_folder, write_ledger
from memtool.recall.start.session_start import session_context
from memtool.settings.sections import ModelSettings

PASSWORD = "k?7wTpZQmuriGX2!"
CODED = quote(PASSWORD, safe="")
EXAMPLE = [
    prompt(f"{PASSWORD} escape this for the URL"),
    answer(f"Percent-encoded it is `{CODED}`; in base64 `{base64.b64encode(PASSWORD.encode()).decode()}`."),
    prompt("请把登录页也改成用它"),
    *edit("/src/shop/login.ts"),
    answer(f"The login page sends `{CODED}` now, 登录页已改。 Tests pass."),
]


def forms(secret: str) -> list[bytes]:
    coded = (secret, quote(secret, safe=""), json.dumps(secret)[1:-1], base64.b64encode(secret.encode()).decode())
    return [form.casefold().encode() for form in coded]


def leaks(folder: Path, secret: str = PASSWORD) -> list[str]:
    """Return the files below *folder*, and commits of the repository there, in which *secret* stands."""
    content = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    content |= {path: gzip.decompress(data) for path, data in content.items() if path.suffix == ".gz"}
    found = [str(path) for path, data in content.items() if any(form in data.lower() for form in forms(secret))]
    for command in (["log", "-p", "--all", "--reflog"], ["cat-file", "--batch-all-objects", "--batch"]):
        said = subprocess.run(["git", "-C", str(folder), *command], stdout=subprocess.PIPE, check=True).stdout
        found += [f"git {command[0]}"] if any(form in said.lower() for form in forms(secret)) else []
    return found


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve_models() as server:
        yield server


@pytest.mark.slow
def test_the_example_is_nowhere(desk: Desk, server: ModelServer) -> None:
    model = ModelSettings(providers=("openai", "extractive"), openai_base_url=f"{server.url}/v1", openai_model="small")
    desk.settings = desk.settings._replace(llm=model)
    desk.put(write_transcript(desk.home / "3f2a9c.jsonl", EXAMPLE), said=f"It is {CODED}.")
    desk.drain()
    desk.find("login password 登录")
    start = session_context(desk.work, project="shop", session_id="next", source="startup").text
    assert leaks(desk.vault.root) == []
    assert "[redacted: password]" in desk.read("sessions/3f2a9c.md")
    assert [form for form in forms(PASSWORD) if form in start.lower().encode()] == []
    asked = [json.dumps(one.question, ensure_ascii=False) for one in server.requests]
    assert asked
    assert [form for form in forms(PASSWORD) for request in asked if form.decode() in request.casefold()] == []


@pytest.mark.slow
def test_what_is_found_later_goes_from_all_that_was_written_before(desk: Desk) -> None:
    secret = "Rm4-tulpe-uhr"
    first = [
        prompt(f"Let the deploy use {secret} for staging, 先测试。"),
        *edit("/src/shop/deploy.ts"),
        answer(f"`deploy.ts` uses {secret} for staging now."),
    ]
    path = write_transcript(desk.home / "3f2a9c.jsonl", first)
    desk.put(path, "Stop")
    desk.drain()
    assert secret in desk.read("sessions/3f2a9c.md")
    assert leaks(desk.vault.root / "transcripts", secret)[:1] == [
        str(desk.vault.root / "transcripts/2026/3f2a9c.jsonl.gz")
    ]
    work = desk.work
    desk.find("deploy staging")
    ledgers = ledger_folder(work)
    write_ledger(ledgers, "other", Ledger(start=f"- deploy with {secret}"))
    line = GivenLine("k3f9", "sessions/3f2a9c.md", 3, text=f"deploy with {secret}")
    keep_giving(ledgers, "other", Giving(desk.now.isoformat(), "start", "shop", lines=(line,)))
    more = [prompt(f"the password for staging is {secret}, 别写进文档"), answer("Noted.")]
    desk.put(write_transcript(path, more), "SessionEnd")
    desk.drain()
    assert leaks(desk.vault.root, secret) == []
    assert "[redacted: password] for staging" in desk.read("sessions/3f2a9c.md")
    assert desk.find("deploy staging")[0] == "sessions/3f2a9c.md"
    assert desk.told == []


@pytest.mark.slow
def test_a_session_that_goes_on_still_knows_its_secrets(desk: Desk) -> None:
    first = [prompt("Our db password: Rm4-tulpe-uhr, 记住"), *edit("/src/shop/a.ts"), answer("Written down.")]
    path = write_transcript(desk.home / "3f2a9c.jsonl", first)
    desk.put(path, "Stop")
    desk.drain()
    assert read_record(desk.vault, "3f2a9c").secrets
    more = [prompt("Put Rm4-tulpe-uhr into the vault of ansible"), answer("Rm4-tulpe-uhr is in the vault.")]
    desk.put(write_transcript(path, more))
    desk.drain()
    assert leaks(desk.vault.root, "Rm4-tulpe-uhr") == []
    source = read_source(desk.vault, "3f2a9c")
    assert source
    assert [turn.typed for turn in source.turns][1] == "Put [redacted: password] into the vault of ansible"


@pytest.mark.slow
def test_a_session_without_secrets_is_read_on_from_its_end(desk: Desk) -> None:
    desk.put(write_transcript(desk.home / "3f2a9c.jsonl", [prompt("Rename it, 改名"), *edit("/a.ts"), answer("Done.")]))
    desk.drain()
    assert read_record(desk.vault, "3f2a9c").secrets == 0
    assert use_index(place_of(desk.work), lambda index: index is not None)
