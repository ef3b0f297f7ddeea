"""Asking a running service, as `memtool serve --status`, `--stop` and `--open` do."""

from __future__ import annotations

import json
from http.client import HTTPConnection, HTTPException
from typing import Any

from memtool.errors import MemtoolError
from memtool.web.runtime import Runtime

_LARGEST = 1 << 20  # bytes of an answer


class NoAnswer(MemtoolError):
    """The service does not answer, or not as it should."""

    hint = "If it is frozen, end its process; its files are cleared away by the next start."


def ask(runtime: Runtime, token: str, method: str, path: str, *, patience: float = 5.0) -> dict[str, Any]:
    """Return the answer of the service.

    Raises:
        NoAnswer: there is none in time, or it is an error.
    """
    connection = HTTPConnection(runtime.reachable, runtime.port, timeout=patience)
    try:
        connection.request(method, path, headers={"Authorization": f"Bearer {token}", "Content-Length": "0"})
        response = connection.getresponse()
        fields = json.loads(response.read(_LARGEST))
    except (OSError, HTTPException, ValueError, RecursionError) as error:
        raise NoAnswer(f"the service at {runtime.url} does not answer: {error}") from None
    finally:
        connection.close()
    if response.status >= 400 or not isinstance(fields, dict):
        said = fields.get("detail") if isinstance(fields, dict) else ""
        raise NoAnswer(f"the service at {runtime.url} answered {response.status}: {said}")
    return fields
