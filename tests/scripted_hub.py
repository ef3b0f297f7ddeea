"""A server on the loopback that hands out one model repository the way the Hugging Face hub does."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

_COMMIT = "0123456789abcdef0123456789abcdef01234567"


@contextlib.contextmanager
def serve_hub(folder: Path, *, refuse: frozenset[str] = frozenset()) -> Iterator[tuple[str, list[str]]]:
    """Serve the files of *folder* under every repository name, but not those named in *refuse*.

    Gives the server's address and the list of paths that it was asked for.
    """
    asked: list[str] = []
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            asked.append(path)
            file = path.partition(f"/resolve/{_COMMIT}/")[2]
            if "/tree/" in path:
                self._send(json.dumps([_item(name, path) for name, path in files.items()]).encode())
            elif path.startswith("/api/models/"):
                siblings = [{"rfilename": name} for name in files]
                self._send(json.dumps({"id": "a/b", "sha": _COMMIT, "siblings": siblings}).encode())
            elif file in files and file not in refuse:
                self._send(files[file].read_bytes())
            else:
                self.send_error(404)

        def _send(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
            self.send_header("X-Repo-Commit", _COMMIT)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}", asked
        finally:
            http.shutdown()
            thread.join()


def _item(name: str, path: Path) -> dict[str, object]:
    oid = hashlib.sha256(path.read_bytes()).hexdigest()
    return {"type": "file", "path": name, "size": path.stat().st_size, "oid": oid}
