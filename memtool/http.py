"""One JSON request to a provider: bounded in time and size, repeated when that helps, and never sent elsewhere.

Errors name the host and the status. The key is in none of them, not even where the provider repeats it.
"""

from __future__ import annotations

import json
import math
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from memtool.errors import LONGEST_WAIT, BadSetting, ProviderFailed, Unavailable

T = TypeVar("T")

_MAX_BYTES = 128 * 1024 * 1024  # a hundred times the vectors of a batch of 64
_BLOCK = 65_536


class Endpoint(NamedTuple):
    """An address that takes JSON, its key (may be empty), and its name in messages."""

    url: str
    key: str
    host: str

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine. A proxy of the environment is for the world outside."""
        return self.host.split(":", maxsplit=1)[0] in ("localhost", "127.0.0.1") or self.host.startswith("::1")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    # The text of notes, and the key, go to the host that the user named and to no other.
    def redirect_request(self, *_: object) -> None:
        return None


def endpoint(base_url: str, path: str, key: str) -> Endpoint:
    """Return the endpoint *path* under *base_url*.

    Raises:
        BadSetting: the address is not plain http or https, or the key cannot be sent.
    """
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host = ""
    plain = base_url.isascii() and base_url.isprintable() and " " not in base_url
    if not host or not plain or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        raise BadSetting("the base URL of the endpoint should look like `https://host/v1`")
    if parts.username is not None or parts.password is not None:
        raise BadSetting("the base URL of the endpoint holds a user or a password; a key belongs in its variable")
    key = key.strip()
    if not (key.isascii() and key.isprintable()):
        raise BadSetting("the key for the endpoint holds a character that no key has")
    shown = f"{host}:{port}" if port else host
    return Endpoint(f"{base_url.rstrip('/')}/{path}", key, shown)


def post_json(
    to: Endpoint,
    question: Mapping[str, object],
    *,
    timeout: float,
    pauses: Sequence[float] = (),
    pause: Callable[[float], None] = time.sleep,
    max_bytes: int = _MAX_BYTES,
) -> Any:  # noqa: ANN401  (JSON, which the caller checks)
    """Return the answer to *question*. What fails and may pass is tried again after each of *pauses* (seconds).

    Raises:
        Unavailable: there is no answer now.
        ProviderFailed: the answer is an error, or not JSON.
    """
    for seconds in (*pauses, None):
        try:
            return _ask(to, question, timeout, max_bytes)
        except Unavailable as failure:
            if seconds is None or failure.wait > LONGEST_WAIT:
                raise
            pause(max(seconds, failure.wait))
    raise AssertionError  # the loop returns or raises


def refusal(to: Endpoint, status: int, reason: str, retry_after: str = "") -> ProviderFailed:
    """Return the error for an answer with *status*, for which the provider gives *reason*."""
    if status in (401, 403):
        return ProviderFailed(f"{to.host} refuses the key ({status})", hint="Check the key and its variable.")
    if 300 <= status < 400:
        return ProviderFailed(
            f"{to.host} redirects to another address ({status}), which memtool does not follow",
            hint="Set the base URL to the final address, if you trust it.",
        )
    sentence = f"{to.host} answered {status}: {_shown(reason, to)}"
    if status in (408, 429) or status >= 500:
        return Unavailable(sentence, _seconds(retry_after))
    return ProviderFailed(sentence, hint="Check the base URL and the name of the model.")


def unreachable(to: Endpoint, error: BaseException) -> Unavailable:
    """Return the error for a connection that broke, or never came to be."""
    reason = getattr(error, "reason", error)
    return Unavailable(f"{to.host} cannot be reached: {_shown(str(reason) or type(error).__name__, to)}")


def within(seconds: float, call: Callable[[], T]) -> T:
    """Return the result of *call*, or raise its error, after at most so many *seconds* by the clock on the wall.

    Looking up a name has no limit of its own, nor has a server that sends a byte now and then.

    Raises:
        TimeoutError: it took longer. It is then left to itself, in a thread that does not keep the process alive.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001  (raised again where it is waited for)
            future.set_exception(error)

    # A pool's threads would be waited for when the process ends.
    threading.Thread(target=run, name="memtool-within", daemon=True).start()
    return future.result(timeout=seconds)


def _ask(to: Endpoint, question: Mapping[str, object], timeout: float, max_bytes: int) -> Any:  # noqa: ANN401
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "memtool"}
    if to.key:
        headers["Authorization"] = f"Bearer {to.key}"
    request = urllib.request.Request(to.url, json.dumps(question).encode(), headers)  # noqa: S310  (see `endpoint`)
    deadline = time.monotonic() + timeout
    try:
        handlers = [urllib.request.ProxyHandler({})] if to.is_local else []
        with urllib.request.build_opener(_NoRedirect, *handlers).open(request, timeout=timeout) as response:
            body = _read(response, deadline, max_bytes)
    except urllib.error.HTTPError as error:
        with error:
            raise refusal(to, error.code, _reason_in(error), error.headers.get("Retry-After", "")) from None
    except (OSError, HTTPException, ValueError) as error:  # the last: a host name that is too long, an odd proxy
        raise unreachable(to, error) from None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise ProviderFailed(f"{to.host} answered with something that is not JSON") from None


def _read(response: HTTPResponse, deadline: float, max_bytes: int) -> bytes:
    # The timeout of a socket starts anew with every byte; this one does not.
    body = bytearray()
    while block := response.read1(_BLOCK):
        body += block
        if len(body) > max_bytes:
            raise OSError("the answer is longer than memtool reads")
        if time.monotonic() > deadline:
            raise TimeoutError("timed out")
    if response.length:
        raise IncompleteRead(b"", response.length)
    return bytes(body)


def _reason_in(error: urllib.error.HTTPError) -> str:
    try:
        text = error.read(_BLOCK).decode("utf-8", "replace")
        words = json.loads(text)["error"]
        text = str(words["message"] if isinstance(words, dict) else words)
    except (OSError, HTTPException, ValueError, LookupError, TypeError, RecursionError):
        text = ""
    return text or str(error.reason)


def _shown(text: str, to: Endpoint) -> str:
    if to.key:
        text = text.replace(to.key, "…")
    return "".join(character if character.isprintable() else " " for character in text)[:200].strip()


def _seconds(retry_after: str) -> float:
    # A date is possible too, and rare; then our own pause decides.
    try:
        seconds = float(retry_after)
    except ValueError:
        return 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0
