"""How a warm process is found, asked and ended: with answers that the test makes, in a thread of this process."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import memtool
from memtool import service_client
from memtool.errors import Busy
from memtool.service import limits, listener
from memtool.service.listener import Answer, Listener, only_process
from memtool.service_client import (
    PROTOCOL,
    Fields,
    ServiceCall,
    ServicePlace,
    Silent,
    ask_service,
    end_service,
    end_services,
    find_address,
    is_at_work,
    leave_alone,
    service_place,
)


def echo(request: Fields, more: Callable[[], Fields]) -> Fields:
    return {"text": request["text"], "more": more()["更多"]} if request.get("goes_on") else {"text": request["text"]}


@contextlib.contextmanager
def serving(place: ServicePlace, answer: Answer = echo, *, idle: float = 60.0) -> Iterator[threading.Thread]:
    def run() -> None:
        with only_process(place), Listener(place, answer) as found:
            found.serve(idle=idle)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while find_address(place) is None and thread.is_alive():
        time.sleep(0.005)
    try:
        yield thread
    finally:
        end_service(place)
        thread.join(5)
        assert not thread.is_alive()


@pytest.fixture(params=["unix", "loopback"])
def place(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ServicePlace:
    """Where a process is found, on a system with sockets in the file system and on one without."""
    monkeypatch.setattr(limits, "LOOK_PAUSE", 0.02)
    if request.param == "loopback":
        monkeypatch.setattr(listener, "_HAS_UNIX", False)
    else:
        monkeypatch.setattr(limits, "LONGEST_PATH", 107)
    (tmp_path / "v").mkdir()
    return service_place(tmp_path, tmp_path / "v")


def raw(place: ServicePlace, *lines: bytes) -> bytes:
    """Return what a peer is answered that sends *lines*, whatever they are."""
    address = find_address(place)
    assert address
    family, target = (
        (socket.AF_INET, ("127.0.0.1", address.socket_port)) if address.socket_port else (socket.AF_UNIX, address.path)
    )
    with socket.socket(family) as peer:
        peer.settimeout(2)
        peer.connect(target)
        with contextlib.suppress(OSError):
            peer.sendall(b"".join(lines))
            return peer.recv(65_536)
    return b""


@pytest.mark.slow
def test_one_that_is_still_loading_its_model_is_ended_too(place: ServicePlace) -> None:
    def run() -> None:
        with only_process(place):
            time.sleep(0.3)
            with Listener(place, echo) as found:
                found.serve(idle=60.0)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while not is_at_work(place):
        time.sleep(0.005)
    assert end_services(place.folder.parent) == 1
    thread.join(5)
    assert not thread.is_alive()


@pytest.mark.slow
def test_a_question_is_answered(place: ServicePlace) -> None:
    with serving(place):
        assert ask_service(place, {"text": "解密失败 \ud800"}, patience=1) == {"text": "解密失败 \ud800"}


@pytest.mark.slow
def test_a_question_goes_on_when_its_second_half_is_known(place: ServicePlace) -> None:
    with serving(place):
        address = find_address(place)
        assert address
        with ServiceCall(address, patience=1) as call:
            call.say({"protocol": PROTOCOL, "text": "a", "goes_on": True})
            call.say({"更多": [1, 2]})
            assert call.hear() == {"text": "a", "more": [1, 2]}


def test_only_its_owner_can_come_near_it(place: ServicePlace) -> None:
    with serving(place):
        assert stat.S_IMODE(place.folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in place.folder.iterdir()} == {0o600}


def test_there_is_never_a_second_one(place: ServicePlace) -> None:
    with serving(place), pytest.raises(Busy), only_process(place):
        pass
    assert not is_at_work(place)
    with only_process(place):
        assert is_at_work(place)


@pytest.mark.slow
def test_it_ends_when_nobody_asks(place: ServicePlace) -> None:
    with serving(place, idle=0.3) as thread:
        deadline = time.monotonic() + 10
        while thread.is_alive():
            ask_service(place, {"ask": "status"}, patience=1)  # to look after it is no question
            assert time.monotonic() < deadline
    assert {path.suffix for path in place.folder.iterdir()} - {".silent"} == {".lock"}


def test_it_ends_when_its_address_is_taken_away(place: ServicePlace) -> None:
    with serving(place) as thread:
        place.path("json").unlink()
        thread.join(5)
        assert not thread.is_alive()


@pytest.mark.slow
def test_all_processs_of_a_user_are_ended(tmp_path: Path, place: ServicePlace) -> None:
    other = service_place(tmp_path, tmp_path / "w")
    with serving(place), serving(other):
        assert end_services(tmp_path) == 2
        assert not is_at_work(place)
        assert not is_at_work(other)
    assert end_services(tmp_path) == 0


@pytest.mark.slow
def test_what_a_peer_sends_harms_nobody(place: ServicePlace) -> None:
    with serving(place):
        hello = b'{"nonce": "x"}\n' if find_address(place).socket_port else b""  # type: ignore[union-attr]
        for line in (
            b"", b"\n", b"null\n", b"[]\n", b"{\n", b"\xff\xfe\n", b"[" * 60_000 + b"\n", b"x" * 1_000_000,
            b'{"protocol": 2}\n', b'{"protocol": 1, "text": "a"}\n',
            b'{"protocol": 2, "text": "a", "goes_on": 1}\n[]\n',
            b'{"protocol": {}, "ask": []}\n', b'{"protocol": 2, "ask": []}\n',
        ):  # fmt: skip
            assert b"text" not in raw(place, hello, line)
        assert ask_service(place, {"text": "还在"}, patience=1) == {"text": "还在"}


@pytest.mark.slow
def test_a_peer_that_says_nothing_is_not_listened_to_for_long(
    place: ServicePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PEER_PATIENCE", 0.05)
    with serving(place):
        address = find_address(place)
        assert address
        silent = service_client._connected(address, 1)
        try:
            assert ask_service(place, {"text": "a"}, patience=2) == {"text": "a"}
        finally:
            silent.close()


def test_without_a_process_nobody_waits(place: ServicePlace) -> None:
    started = time.monotonic()
    assert ask_service(place, {"text": "a"}, patience=5) is None
    assert time.monotonic() - started < 1


@contextlib.contextmanager
def impostor(place: ServicePlace, answer: bytes) -> Iterator[list[bytes]]:
    """Listen where a process did, say *answer* to all who come, and give what they said."""
    heard: list[bytes] = []
    place.folder.mkdir()
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    fields = {"vault": str(place.root), "pid": 1, "version": memtool.__version__, "path": "", "secret": "s"}
    place.path("json").write_text(json.dumps({**fields, "socket_port": port}))
    os.utime(place.path("json"), (0, 0))

    def run() -> None:
        with contextlib.suppress(OSError):
            while True:
                peer, _ = server.accept()
                with peer, contextlib.suppress(OSError):
                    peer.settimeout(0.2)
                    peer.sendall(answer)
                    heard.append(peer.recv(65_536) + peer.recv(65_536))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield heard
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(5)


@pytest.mark.parametrize("answer", [b"", b"\n", b"nonsense\n", b"[]\n", b'{"proof": "x"}\n', b"x" * 100_000])
def test_who_took_over_a_port_learns_nothing_and_is_asked_once(tmp_path: Path, answer: bytes) -> None:
    place = service_place(tmp_path, tmp_path / "v")
    with impostor(place, answer) as heard:
        for _ in range(3):
            assert ask_service(place, {"text": "secret of mine"}, patience=0.05) is None
    assert len(heard) <= 1
    assert not any(b"secret of mine" in each for each in heard)


@pytest.mark.slow
def test_one_that_was_late_is_asked_again_once_it_is_seen_to_live(
    place: ServicePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(place):
        leave_alone(place)
        later = time.time() + 5
        os.utime(place.path("silent"), (later, later))
        assert ask_service(place, {"text": "a"}, patience=1) is None
        monkeypatch.setattr(limits, "SULK", 0.0)
        while place.path("silent").exists():
            time.sleep(0.01)
        assert ask_service(place, {"text": "a"}, patience=1) == {"text": "a"}


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{}", "{", '{"vault": 1, "pid": 1, "version": "x"}', "[" * 60_000, "\x00" * 100]
)
def test_an_address_that_is_none_is_passed_over(tmp_path: Path, text: str) -> None:
    place = service_place(tmp_path, tmp_path / "v")
    place.folder.mkdir()
    place.path("json").write_text(text)
    assert find_address(place) is None
    assert end_services(tmp_path) == 0


def test_the_process_of_another_vault_or_memtool_is_not_asked(
    place: ServicePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(place):
        assert find_address(place)
        other = ServicePlace(place.folder, place.root / "other")
        other.path("json").write_bytes(place.path("json").read_bytes())
        assert find_address(other) is None
        with monkeypatch.context() as newer:
            newer.setattr(service_client, "__version__", "99")
            assert find_address(place) is None


@pytest.mark.slow
def test_a_call_waits_no_longer_than_it_was_told(place: ServicePlace) -> None:
    def slow(_: Fields, __: Callable[[], Fields]) -> Fields:
        time.sleep(0.4)
        return {}

    with serving(place, slow):
        address = find_address(place)
        assert address
        started = time.monotonic()
        with ServiceCall(address, patience=0.05) as call:
            call.say({"protocol": PROTOCOL})
            with pytest.raises(Silent):
                call.hear()
        assert time.monotonic() - started < 0.3
