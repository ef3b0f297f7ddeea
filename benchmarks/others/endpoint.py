"""An OpenAI-compatible endpoint on the loopback for a local model, so that every tool embeds with the same one."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from memtool.embeddings import Embedder, open_embedder
from memtool.settings.sections import EmbeddingSettings


def serve(model: Path) -> ThreadingHTTPServer:
    """Return a server of `/v1/embeddings` with the model in the folder *model*, not running yet."""
    settings = EmbeddingSettings(provider="fastembed", path=str(model.resolve()))
    embedder = open_embedder(settings, "", model, may_download=False)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = answer(embedder, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None:
            """Say nothing."""

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def answer(embedder: Embedder, asked: dict[str, Any]) -> bytes:
    """Return what the API answers to *asked*: a vector for each text."""
    rows = embedder.embed_notes(asked["input"] if isinstance(asked["input"], list) else [asked["input"]])
    data = [{"object": "embedding", "index": at, "embedding": row.tolist()} for at, row in enumerate(rows)]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return json.dumps({"object": "list", "data": data, "model": asked.get("model"), "usage": usage}).encode()
