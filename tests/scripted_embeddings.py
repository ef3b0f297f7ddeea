"""A server on the loopback that speaks OpenAI's `POST /v1/embeddings`, and misbehaves on demand.

    with serve_embeddings() as server:
        server.answers.append(refusal(429, {"Retry-After": "2"}))  # the next answer; then the true ones again
        OpenAIEmbedder(EmbeddingSettings(base_url=server.base_url, model="tiny"), "", cache)

Texts that share words have vectors that are near.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import numpy as np


class Answer(NamedTuple):
    """What the server sends: a status, headers and a body. A status of 0 hangs up without an answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Request(NamedTuple):
    """What the server was asked."""

    path: str
    headers: Mapping[str, str]
    question: Any


class EmbeddingServer:
    """The server's behaviour (*dimension*, *as_base64*, *answers* in store) and its memory (*requests*)."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.dimension = 16
        self.as_base64 = False
        self.answers: deque[Answer] = deque()
        self.requests: list[Request] = []

    def answer(self, request: Request) -> Answer:
        """Return the next answer in store, else the true one."""
        self.requests.append(request)
        if self.answers:
            return self.answers.popleft()
        if request.path != "/v1/embeddings":
            return refusal(404)
        if not isinstance(request.question, dict) or not {"model", "input"} <= request.question.keys():
            return refusal(400)
        return embeddings([vector_of(text, self.dimension) for text in request.question["input"]], self.as_base64)


def embeddings(vectors: list[list[float]], as_base64: bool = False) -> Answer:
    """Return a true answer. The items come in reverse: the protocol promises an index, not an order."""
    items = [
        {"object": "embedding", "index": index, "embedding": _encoded(vector) if as_base64 else vector}
        for index, vector in enumerate(vectors)
    ]
    return answer({"object": "list", "data": items[::-1], "model": "tiny", "usage": {"total_tokens": 1}})


def answer(values: object) -> Answer:
    """Return *values* as JSON."""
    return Answer(200, {"Content-Type": "application/json"}, json.dumps(values).encode())


def refusal(status: int, headers: Mapping[str, str] | None = None, message: str = "no") -> Answer:
    """Return an error in the form of the protocol."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": None}}
    return Answer(status, headers or {}, json.dumps(body).encode())


def vector_of(text: str, dimension: int) -> list[float]:
    """Return the sum of one direction per word of *text*; its length is not 1, as not every server sees to that."""
    vector = np.zeros(dimension)
    for word in text.lower().split() or [""]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        vector += np.random.default_rng(seed).standard_normal(dimension)
    return [float(number) for number in vector]


def _encoded(vector: list[float]) -> str:
    return base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode()


@contextlib.contextmanager
def serve_embeddings() -> Iterator[EmbeddingServer]:
    """Run the server for the length of a `with` block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, headers, content = server.answer(Request(self.path, dict(self.headers), json.loads(body)))
            if not status:
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        server = EmbeddingServer(f"http://127.0.0.1:{http.server_port}/v1")
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()
