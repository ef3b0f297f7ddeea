from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

import pytest

from memtool.web.gate import LARGEST_BODY, Access, Gate
from memtool.web.life import READY, STARTING, STOPPING, Life

TOKEN = "a token that nobody guesses"
OWN = {"host": "127.0.0.1:8080"}
KNOWN = {**OWN, "authorization": f"Bearer {TOKEN}"}


async def told(_scope: Any, receive: Any, send: Any) -> None:
    """An application that answers with the length of the body it was given."""
    message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(len(message["body"])).encode()})


def ask(
    headers: dict[str, str],
    *,
    method: str = "GET",
    path: str = "/memories",
    body: Iterable[bytes] = (b"",),
    state: str = READY,
    access: Access | None = None,
    ends: bool = True,
) -> tuple[int, Any]:
    """Return the status and the body of the answer to one request."""

    async def run() -> list[dict[str, Any]]:
        sent: list[dict[str, Any]] = []
        parts = list(body)

        async def receive() -> dict[str, Any]:
            if not parts:
                await asyncio.sleep(60)
            part = parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(parts) or not ends}

        async def send(message: Any) -> None:
            sent.append(message)

        life = Life()
        life.state = state
        gate = Gate(told, access or Access(TOKEN, ["127.0.0.1", "localhost", "::1"], 8080), life, patience=0.1)
        raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        await gate({"type": "http", "method": method, "path": path, "headers": raw}, receive, send)
        return sent

    start, end = asyncio.run(run())
    names = {name for name, _ in start["headers"]}
    assert {b"content-security-policy", b"x-content-type-options", b"cache-control"} <= names
    return start["status"], end["body"]


def test_the_token_opens_the_gate() -> None:
    assert ask(KNOWN) == (200, b"0")
    assert ask(KNOWN, method="DELETE") == (200, b"0")


@pytest.mark.parametrize(
    "headers",
    [
        OWN,
        {**OWN, "authorization": "Bearer wrong"},
        {**OWN, "authorization": f"Basic {TOKEN}"},
        {**OWN, "authorization": "Bearer 解密"},
        {**OWN, "cookie": "memtool-8080=wrong"},
        {**OWN, "cookie": 'memtool-8080="\x00"; ;;='},
    ],
)
def test_without_the_token_it_stays_shut(headers: dict[str, str]) -> None:
    raw = {name: value.encode().decode("latin-1") for name, value in headers.items()}
    status, body = ask(raw)
    assert status == 401
    assert json.loads(body)["detail"].endswith(".")


@pytest.mark.parametrize("host", ["evil.example:8080", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil.example:8080", ""])
def test_a_foreign_host_is_refused(host: str) -> None:
    assert ask({**KNOWN, "host": host})[0] == 421
    assert ask({**KNOWN, "host": host}, path="/health")[0] == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8080", "http://127.0.0.1:9", ""])
def test_another_origin_is_refused(origin: str) -> None:
    assert ask({**KNOWN, "origin": origin})[0] == 403


def test_our_own_origin_passes() -> None:
    assert ask({**KNOWN, "origin": "http://127.0.0.1:8080"}, method="POST")[0] == 200


def test_health_wants_no_token() -> None:
    assert ask(OWN, path="/health") == (200, b"0")


@pytest.mark.parametrize("state", [STARTING, STOPPING])
def test_who_starts_or_stops_tells_its_health_and_nothing_else(state: str) -> None:
    assert ask(OWN, path="/health", state=state)[0] == 200
    assert ask(KNOWN, state=state)[0] == 503


def test_a_body_comes_whole_or_not_at_all() -> None:
    assert ask(KNOWN, method="POST", body=[b"ab", b"c"]) == (200, b"3")
    assert ask(KNOWN, method="POST", body=[b"x" * LARGEST_BODY]) == (200, str(LARGEST_BODY).encode())
    assert ask(KNOWN, method="POST", body=[b"x" * LARGEST_BODY, b"x"])[0] == 413
    assert ask({**KNOWN, "content-length": "104857600"}, method="POST")[0] == 413
    assert ask(KNOWN, method="POST", body=[b"ab"], ends=False)[0] == 408


def test_a_link_is_good_once_and_for_a_minute() -> None:
    now = [0.0]
    access = Access(TOKEN, ["127.0.0.1"], 8080, clock=lambda: now[0])
    code = access.make_link().rpartition("/")[2]
    old = access.make_link().rpartition("/")[2]
    cookie = access.use_link(code).split(";")[0]
    assert ask({**OWN, "cookie": f"other=1; {cookie}"}, access=access)[0] == 200
    assert ask({**OWN, "cookie": cookie}, access=Access("another token", ["127.0.0.1"], 8080))[0] == 401
    now[0] = 61.0
    for used in (code, old, "", "made up"):
        with pytest.raises(Exception, match="used before"):
            access.use_link(used)


def test_a_browser_reads_a_refusal_as_text() -> None:
    status, body = ask({**OWN, "accept": "text/html"})
    assert (status, b"memtool serve --open" in body, body[:1] == b"{") == (401, True, False)
