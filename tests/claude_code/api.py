"""A stand-in for the Messages API on the loopback, which says what a script holds."""

from __future__ import annotations

import json
import sys
import threading
import uuid
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeAlias
from urllib.parse import urlsplit

from claude_code.script import Json, Lane, Script, Turn, lane_of

Turns: TypeAlias = Sequence[Turn | str]

_PATIENCE = 60  # seconds


class ScriptedApi(ThreadingHTTPServer):
    """`with ScriptedApi() as api: api.answers(main=["…"])`. It remembers what it was asked, by lane."""

    daemon_threads = True

    def __init__(self, handler: type[BaseHTTPRequestHandler] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), handler or Messages)
        self.script = Script({})
        self.closing = threading.Event()
        self._asked: list[tuple[Lane, Json]] = []
        self._news = threading.Condition()

    @property
    def url(self) -> str:
        """The address that the client is given."""
        return f"http://127.0.0.1:{self.server_port}"

    def answers(self, main: Turns = (), *, subagent: Turns = (), compact: Turns = (), plain: Turns = ()) -> None:
        """Say from now on what these lanes hold."""
        self.script = Script({"main": main, "subagent": subagent, "compact": compact, "plain": plain})

    def asked(self, lane: Lane) -> list[Json]:
        """Return the bodies of the requests of *lane*, in order."""
        with self._news:
            return [body for its_lane, body in self._asked if its_lane == lane]

    def wait_for(self, lane: Lane, count: int = 1) -> None:
        """Wait until *lane* was asked *count* times."""
        with self._news:
            told = self._news.wait_for(lambda: [its for its, _ in self._asked].count(lane) >= count, _PATIENCE)
        assert told, f"the lane '{lane}' was asked {len(self.asked(lane))} times, not {count}"

    def remember(self, lane: Lane, body: Json) -> None:
        """Add one request to those that were made."""
        with self._news:
            self._asked.append((lane, body))
            self._news.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over a client that hangs up, for it was killed; tell of anything else."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def __enter__(self) -> Self:
        """Start to serve."""
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and let go of whoever waits for a held answer."""
        self.closing.set()
        self.shutdown()
        self.server_close()


class Messages(BaseHTTPRequestHandler):
    """The Messages API of Anthropic."""

    protocol_version = "HTTP/1.1"
    server: ScriptedApi

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.send_json({})

    def do_GET(self) -> None:
        self.send_json({})

    def asked(self) -> Json:
        """Return the body of the request."""
        return dict(json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0))))

    def do_POST(self) -> None:
        body = self.asked()
        if urlsplit(self.path).path != "/v1/messages":
            self.send_error(404)
            return
        lane = lane_of(body, dict(self.headers))
        turn = self.server.script.next_turn(lane)
        self.server.remember(lane, body)
        while not turn.ready():
            if self.server.closing.wait(0.02):
                self.close_connection = True
                return
        if body.get("stream"):
            self.send_events(_events(_message(turn, body)))
        else:
            self.send_json(_message(turn, body))

    def send_json(self, value: Json) -> None:
        """Answer with *value*."""
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def send_events(self, events: Iterator[Json]) -> None:
        """Stream *events*, with their types as their names."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            self._send_chunk(f"{name}data: {json.dumps(event)}\n\n".encode())
        self._send_chunk(b"")

    def _send_chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


def _message(turn: Turn, body: Json) -> Json:
    said = [{"type": "text", "text": turn.text}] if turn.text else []
    wanted = [
        {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:24]}", "name": use.tool, "input": use.given}
        for use in turn.uses
    ]
    return {
        "id": f"msg_{uuid.uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", ""),
        "content": [*said, *wanted],
        "stop_reason": "tool_use" if wanted else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": len(json.dumps(body["messages"])) // 4, "output_tokens": 1 + len(turn.text) // 4},
    }


def _events(message: Json) -> Iterator[Json]:
    """Give the streamed form of a message. Every text comes in two parts, as a true stream's does."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        key, kind = ("text", "text_delta") if block["type"] == "text" else ("partial_json", "input_json_delta")
        whole = block["text"] if key == "text" else json.dumps(block["input"])
        empty = {**block, "text": ""} if key == "text" else {**block, "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for part in (whole[: len(whole) // 2], whole[len(whole) // 2 :]):
            yield {"type": "content_block_delta", "index": index, "delta": {"type": kind, key: part}}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": message["usage"]}
    yield {"type": "message_stop"}
