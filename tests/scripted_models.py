"""A server on the loopback that speaks Anthropic's and OpenAI's protocols, and misbehaves on demand.

with serve_models() as server:
    server.replies.append(refusal(429, {"Retry-After": "2"}))  # the next answer; then the true ones again
    server.text = '{"title": "tea"}'  # what the model says
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, NamedTuple

Manner = Literal["whole", "silent", "cut", "dripping", "dripping headers", "endless", "gone"]


class Reply(NamedTuple):
    """What the server sends, and how: a *manner* other than `whole` never comes to an end, or to an early one."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    manner: Manner = "whole"


class Asked(NamedTuple):
    """What the server was asked."""

    path: str
    headers: Mapping[str, str]
    question: Any


class ModelServer:
    """The model's answer (*text*), *replies* in store that come before it, and what was asked (*requests*)."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.text = "hello"
        self.replies: deque[Reply] = deque()
        self.requests: list[Asked] = []
        self.closing = threading.Event()

    def reply(self, asked: Asked) -> Reply:
        """Return the next reply in store, else the true one."""
        self.requests.append(asked)
        if self.replies:
            return self.replies.popleft()
        if asked.path == "/v1/messages" and {"model", "max_tokens", "messages"} <= asked.question.keys():
            return answered(message(self.text, asked.question["model"]))
        if asked.path == "/v1/chat/completions" and {"model", "messages"} <= asked.question.keys():
            return answered(completion(self.text, asked.question["model"]))
        return refusal(404)


def answered(values: object) -> Reply:
    """Return *values* as JSON."""
    return Reply(200, {"Content-Type": "application/json"}, json.dumps(values).encode())


def refusal(status: int, headers: Mapping[str, str] | None = None, message: str = "no") -> Reply:
    """Return an error in a form that both protocols know."""
    body = {"type": "error", "error": {"type": "api_error", "message": message}}
    return Reply(status, {"Content-Type": "application/json", **(headers or {})}, json.dumps(body).encode())


def behaving(manner: Manner, status: int = 200) -> Reply:
    """Return a reply that begins well and goes on in *manner*."""
    return Reply(status, {"Content-Type": "application/json"}, b'{"id": "', manner)


def message(text: str, model: str = "m", **fields: object) -> dict[str, object]:
    """Return an answer of the Messages API."""
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 0}
    content = [{"type": "text", "text": text}]
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content,
        "stop_reason": "end_turn", "stop_sequence": None, "usage": usage, **fields,
    }  # fmt: skip


def completion(text: str, model: str = "m", **fields: object) -> dict[str, object]:
    """Return an answer of the chat completions API."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return {"id": "c", "object": "chat.completion", "model": model, "choices": [choice], "usage": usage, **fields}


class _Handler(BaseHTTPRequestHandler):
    model: ModelServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        reply = self.model.reply(Asked(self.path, dict(self.headers), json.loads(body)))
        self.close_connection = True
        with contextlib.suppress(OSError):  # the client hung up
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        if reply.manner == "silent":
            self.model.closing.wait()
        elif reply.manner == "dripping headers":
            self._drip(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 10_000)
        elif reply.manner != "gone":
            self._send_answer(reply)

    def _send_answer(self, reply: Reply) -> None:
        self.send_response(reply.status)
        length = len(reply.body) if reply.manner == "whole" else 1 << 40
        for name, value in {"Content-Length": str(length), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)
        while reply.manner == "endless" and not self.model.closing.is_set():
            self.wfile.write(b"x" * 65_536)
        if reply.manner == "dripping":
            self._drip(b"x" * 10_000)

    def _drip(self, content: bytes) -> None:
        for byte in content:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            if self.model.closing.wait(0.01):
                return

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serve_models() -> Iterator[ModelServer]:
    """Run the server for the length of a `with` block."""

    class Handler(_Handler):
        pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        Handler.model = server = ModelServer(f"http://127.0.0.1:{http.server_port}")
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.closing.set()
            http.shutdown()
            thread.join()
