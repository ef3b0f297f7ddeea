from __future__ import annotations

import socket

import pytest

from memtool.web.server import listening


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_small_answers_are_sent_at_once(host: str) -> None:
    """asyncio does not wait for receipts (Nagle) where a socket names its protocol; else each answer takes 40 ms."""
    with listening(host, None) as listener:
        assert listener.proto == socket.IPPROTO_TCP
