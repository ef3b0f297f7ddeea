from __future__ import annotations

import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from desk import Desk
from tiny_model import make_tiny_model
from web.service import PATIENCE, Service

from memtool.service_client import MODEL, find_address, is_at_work

if TYPE_CHECKING:
    from memtool.vault.layout import Vault

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("fastembed") is None, reason="the extra `vectors` is not installed"),
    pytest.mark.skipif(sys.platform == "win32", reason="only tried on Linux"),
]


def pid_with_model(service: Service) -> int:
    address = find_address(service.place, MODEL)
    return address.pid if address else 0


def wait_until(is_so: object, what: str) -> None:
    deadline = time.monotonic() + 3 * PATIENCE
    while not is_so():  # type: ignore[operator]
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def test_a_service_takes_the_place_of_a_process_with_the_model_alone(vault: Vault, desk: Desk, tmp_path: Path) -> None:
    desk.remember("Car car automobile 汽车.")
    model = {
        "MEMTOOL_EMBEDDINGS_PROVIDER": "fastembed",
        "MEMTOOL_EMBEDDINGS_PATH": str(make_tiny_model(tmp_path / "m")),
    }
    first = Service(vault, **model)
    job = first.ask("POST", "/rebuild").fields
    wait_until(lambda: first.get(f"/jobs/{job['id']}")["state"] != "running", "the vectors are made")
    assert first.get(f"/jobs/{job['id']}")["result"]["vectors"] > 0
    assert first.end() == 0
    command = [sys.executable, "-m", "memtool", "--vault", str(vault.root), "serve", "--no-http"]
    own = subprocess.Popen(command, env=first.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: pid_with_model(first), "a process holds the model")
    service = Service(vault, **model)
    wait_until(lambda: pid_with_model(service) == service.process.pid, "the service holds it")
    assert own.wait(PATIENCE) == 0
    found = service.post("/search", {"query": "automobile", "mode": "vector"})
    assert found["mode"] == "vector"
    assert service.end() == 0
    assert not is_at_work(service.place)
