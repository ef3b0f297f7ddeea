"""Answers of limited size for the HTTP client of the Anthropic SDK, which reads all that comes."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2

from memtool.llm import MAX_ANSWER


def client(*, use_proxies: bool, timeout: float) -> httpx2.Client:
    """Return a client that follows no redirect and reads at most MAX_ANSWER bytes of an answer."""
    return httpx2.Client(
        trust_env=use_proxies,
        follow_redirects=False,
        timeout=timeout,
        headers={"Accept-Encoding": "identity"},  # what is small when packed may be huge
        event_hooks={"response": [_bound]},
    )


class _Bounded(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        total = 0
        for block in self._stream:
            total += len(block)
            if total > MAX_ANSWER:
                raise httpx2.ReadError("the answer is longer than memtool reads")
            yield block

    def close(self) -> None:
        self._stream.close()


def _bound(response: httpx2.Response) -> None:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError("the answer is compressed, which was not asked for")
    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = _Bounded(response.stream)
