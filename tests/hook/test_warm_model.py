"""A session with vectors: its helper is started, answers prompts, and is missed by nobody when it is gone.

The helper is a process of its own, with a model that the tests make: in it a quagga is a zebra.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hook.agent import Agent, agent_in
from postgres_server import new_database
from tiny_model import make_tiny_model

from memtool import service_client
from memtool.capture.queue import Job, Queue
from memtool.embeddings import open_embedder, warm as warm_module
from memtool.embeddings.warm import WarmEmbedder
from memtool.index.engine import Index, Place, use_index
from memtool.index.semantic import embed, open_vectors
from memtool.service_client import (
    MODEL,
    ServiceCall,
    ServicePlace,
    ask_service,
    end_service,
    find_address,
    is_at_work,
    service_place,
)
from memtool.settings.sections import EmbeddingSettings
from memtool.vault.layout import Vault
from memtool.vault.scan import Outside

pytestmark = [
    pytest.mark.skipif(find_spec("fastembed") is None, reason="the extra `vectors` is not installed"),
    pytest.mark.skipif(sys.platform == "win32", reason="processes are stopped by signals"),
]
ASKED = "quagga quagga quagga"
MEANT = "zebra-1"
MEANINGS = {"quagga": "zebra", "okapi": "giraffe"}


def wait_until(is_so: object, what: str, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():  # type: ignore[operator]
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.02)


@pytest.fixture
def agent(tmp_path: Path, workers: list[Vault], monkeypatch: pytest.MonkeyPatch) -> Iterator[Agent]:
    """A session in the sample vault, which has vectors, and a fact that only its meaning finds."""
    workers.clear()
    agent = agent_in(tmp_path)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, agent.environ[name])
    model = make_tiny_model(tmp_path / "model", words=list(MEANINGS) + list(MEANINGS.values()), meanings=MEANINGS)
    agent.environ |= {
        "MEMTOOL_EMBEDDINGS_PROVIDER": "fastembed", "MEMTOOL_EMBEDDINGS_PATH": str(model),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }  # fmt: skip
    fact = {
        "id": MEANT,
        "fact": "Zebra zebra zebra",
        "evidence": "Zebra",
        "timestamp": "2026-02-01",
        "status": "active",
        "category": "code",
    }
    agent.write("areas/projects/shop/facts.json", json.dumps({"facts": [fact]}))
    make_vectors(agent, model)
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def kept(*arguments: Any, **more: Any) -> subprocess.Popen[bytes]:
        started.append(real(*arguments, **more))  # a hook ends before anybody misses it
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", kept)
    yield agent
    end_service(place_of(agent))
    for process in started:
        process.wait(10)
    assert not is_at_work(place_of(agent))


def make_vectors(agent: Agent, model: Path) -> None:
    embedder = open_embedder(EmbeddingSettings(path=str(model)), "", agent.cache, may_download=False)

    def make(index: Index) -> None:
        with open_vectors(index, embedder) as store:
            embed(index, embedder, store)

    use_index(Place(agent.vault, agent.state(), outside=Outside(agent.home / ".claude" / "projects")), make)


def place_of(agent: Agent) -> ServicePlace:
    return service_place(agent.cache, agent.vault.root)


def start(agent: Agent) -> int:
    """Begin the session and return the process of the helper that it has started."""
    agent.start()
    found: list[int] = []

    def answers() -> bool:
        address = find_address(place_of(agent), MODEL)
        found.extend([address.pid] if address else [])
        return bool(found)

    wait_until(answers, "a helper answers")
    return found[0]


def another(agent: Agent, session_id: str) -> Agent:
    other = agent.other(session_id)
    other.environ = agent.environ
    return other


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] != "Z"
    except OSError:
        return False


def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the helper as long as a busy machine may need: what counts here is what it says."""
    monkeypatch.setattr(service_client, "DEADLINE", 10.0)


@pytest.mark.slow
def test_a_prompt_is_given_what_it_means_and_not_without_the_helper(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient(monkeypatch)
    assert MEANT not in agent.ask(ASKED)
    start(agent)
    assert MEANT in another(agent, "s2").ask(ASKED)


@pytest.mark.slow
def test_sessions_of_a_vault_share_one_helper(agent: Agent) -> None:
    first = start(agent)
    assert start(another(agent, "s2")) == first
    assert ask_service(place_of(agent), {"ask": "status"}, patience=5)["pid"] == first  # type: ignore[index]


@pytest.mark.slow
def test_a_killed_helper_is_missed_by_nobody_and_replaced_by_the_next_session(agent: Agent) -> None:
    pid = start(agent)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_at_work(place_of(agent)), "it is gone")
    assert MEANT not in agent.ask(ASKED)
    assert start(another(agent, "s2")) != pid


@pytest.mark.slow
def test_a_frozen_helper_is_waited_for_once(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = ServiceCall.__init__

    def counted(self: ServiceCall, *args: object, **more: object) -> None:
        calls.append(1)
        real(self, *args, **more)  # type: ignore[arg-type]

    pid = start(agent)
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(ServiceCall, "__init__", counted)
    try:
        for number in range(3):
            assert MEANT not in another(agent, f"s{number}").ask(ASKED)
        assert len(calls) == 1
        assert "access token" in another(agent, "s9").ask("How long do access tokens live?").casefold()
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.slow
def test_a_frozen_helper_is_ended_all_the_same(agent: Agent) -> None:
    pid = start(agent)
    os.kill(pid, signal.SIGSTOP)
    assert end_service(place_of(agent))
    wait_until(lambda: not is_alive(pid), "it is gone")


GIRAFFE = ("areas/projects/shop/knowledge/2026-02-09-x.md", "# Giraffe\n\nGiraffe giraffe giraffe.\n")


def wait_until_giraffe_is_known(agent: Agent, what: str) -> None:
    number = iter(range(1_000))

    def is_known() -> bool:
        time.sleep(0.3)
        return "Giraffe" in another(agent, f"g{next(number)}").ask("okapi okapi okapi")

    wait_until(is_known, what)


@pytest.mark.slow
def test_a_helper_ends_with_its_vault(agent: Agent) -> None:
    pid = start(agent)
    agent.vault.root.rename(agent.folder / "moved")
    wait_until(lambda: not is_alive(pid), "it has ended")
    (agent.folder / "moved").rename(agent.vault.root)


@pytest.mark.slow
def test_a_helper_ends_when_its_model_is_replaced(agent: Agent) -> None:
    pid = start(agent)
    make_tiny_model(Path(agent.environ["MEMTOOL_EMBEDDINGS_PATH"]), seed=1)
    wait_until(lambda: not is_alive(pid), "it has ended")


@pytest.mark.slow
@pytest.mark.parametrize(
    "changed",
    [
        {"MEMTOOL_EMBEDDINGS_PROVIDER": "none"}, {"MEMTOOL_SEARCH_MODE": "bm25"},
        {"MEMTOOL_EMBEDDINGS_PROVIDER": "openai", "MEMTOOL_EMBEDDINGS_BASE_URL": "http://127.0.0.1:9/v1"},
    ],
)  # fmt: skip
def test_no_helper_is_started_where_it_is_of_no_use(agent: Agent, changed: dict[str, str]) -> None:
    agent.environ |= changed
    agent.start()
    time.sleep(0.5)
    assert not is_at_work(place_of(agent))


@pytest.mark.slow
def test_an_index_in_postgres_is_followed_as_a_file_is(
    agent: Agent, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    patient(monkeypatch)
    with new_database(postgres) as address:
        agent.environ |= {"MEMTOOL_INDEX_ENGINE": "postgres", "MEMTOOL_POSTGRES": address}
        for path in (agent.state() / "vectors").iterdir():
            path.unlink()
        run_memtool(agent, "index")
        assert MEANT not in agent.ask(ASKED)
        start(agent)
        assert MEANT in another(agent, "s2").ask(ASKED)
        with psycopg.connect(address, autocommit=True) as db:
            others = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            db.execute(f"SELECT pg_terminate_backend(pid) FROM ({others}) AS other")
        agent.write(*GIRAFFE)
        run_memtool(agent, "index")
        wait_until_giraffe_is_known(agent, "the helper has found another way to the database")


def run_memtool(agent: Agent, *arguments: str) -> str:
    command = [sys.executable, "-m", "memtool", *arguments]
    done = subprocess.run(command, env=agent.environ, capture_output=True, text=True, timeout=60, check=False)
    assert not done.stderr, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_search_lets_the_helper_read_the_question(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = open_embedder(
        EmbeddingSettings(path=agent.environ["MEMTOOL_EMBEDDINGS_PATH"]), "", agent.cache, may_download=False
    )
    own = embedder.embed_query("quagga 斑驴")
    warm = WarmEmbedder(embedder, place_of(agent))
    start(agent)
    monkeypatch.setattr(embedder, "embed_query", lambda _: pytest.fail("the model was loaded"))
    monkeypatch.setattr(warm_module, "_PATIENCE", 10.0)
    assert (warm.embed_query("quagga 斑驴") == own).all()
    assert MEANT in run_memtool(agent, "search", "--json", "--mode", "vector", "quagga")


@pytest.mark.slow
@pytest.mark.parametrize("vector", ["", "AAAA", "x", 7, None, "AAAAAAAA" * 16])
def test_a_search_makes_its_own_vector_where_the_helper_s_is_nonsense(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, vector: object
) -> None:
    embedder = open_embedder(
        EmbeddingSettings(path=agent.environ["MEMTOOL_EMBEDDINGS_PATH"]), "", agent.cache, may_download=False
    )
    answer = {"model": embedder.name, "vector": vector}
    monkeypatch.setattr(warm_module, "ask_service", lambda *_, **__: answer)
    found = WarmEmbedder(embedder, place_of(agent)).embed_query("quagga")
    assert (found == embedder.embed_query("quagga")).all()


@pytest.mark.slow
def test_doctor_shows_the_process(agent: Agent) -> None:
    pid = start(agent)
    told = run_memtool(agent, "doctor", "--json")
    [check] = [each for each in json.loads(told)["checks"] if each["subject"] == "service"]
    assert check["state"] == "ok"
    assert check["sentence"].startswith(f"process {pid}, ")
    assert check["sentence"].endswith(": model")


@pytest.mark.slow
def test_uninstalling_ends_the_helper(agent: Agent) -> None:
    pid = start(agent)
    assert json.loads(run_memtool(agent, "uninstall", "claude-code", "--json", "--dry-run"))["processes_ended"] == 0
    assert is_alive(pid)
    assert json.loads(run_memtool(agent, "uninstall", "claude-code", "--json"))["processes_ended"] == 1
    wait_until(lambda: not is_alive(pid), "it has ended")


@pytest.mark.slow
def test_the_worker_starts_the_helper_again_while_a_session_goes_on(agent: Agent) -> None:
    transcript = agent.folder / "s1.jsonl"
    transcript.write_text("")
    for event, is_started in (("SessionEnd", False), ("Stop", True)):
        Queue(agent.vault).put(Job(f"s-{event}", str(transcript), event=event, queued_at=time.time()))
        run_memtool(agent, "capture", "--drain", "--json")
        if is_started:
            wait_until(lambda: is_at_work(place_of(agent)), "it is there again")
        assert is_at_work(place_of(agent)) is is_started
