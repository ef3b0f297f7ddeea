"""The gate in front of the service: each request is checked before the application sees it.

Host        must be one of our own names: a stranger's page could point its own name here (DNS rebinding)
Origin      must be our own, if there is one: a browser sends the origin of the page
token       in `Authorization: Bearer`, or the cookie that the page got for a one-time link
state       a service that starts or stops answers only `/health`
body        is bounded in size and time
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING

from memtool.errors import MemtoolError
from memtool.web.life import READY, Life
from memtool.web.problems import MEDIA_TYPE, Refusal, as_bytes, problem_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 1 << 20  # bytes
PATIENCE = 10.0  # seconds for a body
HEALTH, ENTRANCE = "/health", "/open/"

_SAFE = ("GET", "HEAD", "OPTIONS")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


_CLOSE = (b"connection", b"close")


class Access:
    """The token of a service, its host names, and the cookie that the page gets instead of the token."""

    def __init__(
        self, token: str, hosts: Iterable[str], port: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        names = [f"[{host}]" if ":" in host else host.casefold() for host in hosts]
        self.hosts = frozenset(f"{name}:{port}" for name in names) | (frozenset(names) if port == 80 else frozenset())
        self.cookie_name = f"memtool-{port}"  # a cookie is sent to all ports of a host
        self._token = token.encode()
        self._pass = hmac.new(self._token, b"memtool page", hashlib.sha256).hexdigest()
        self._links: dict[str, float] = {}
        self._clock = clock

    def make_link(self) -> str:
        """Return the path of a one-time link, which gives the page's cookie to the browser that opens it."""
        code = secrets.token_urlsafe(24)
        self._links = {**dict(list(self._links.items())[-19:]), code: self._clock() + 60.0}  # good for a minute
        return f"{ENTRANCE}{code}"

    def use_link(self, code: str) -> str:
        """Return the header that sets the page's cookie.

        Raises:
            Refusal: the link was used, or is too old.
        """
        if self._links.pop(code, 0.0) < self._clock():
            raise Refusal(403, "this link was used before, or is too old", "Make a new one: `memtool serve --open`.")
        return f"{self.cookie_name}={self._pass}; Path=/; HttpOnly; SameSite=Strict"

    def check(self, method: str, path: str, headers: Mapping[str, str]) -> None:
        """Refuse a request that comes from elsewhere or without the token.

        Raises:
            Refusal: see above.
        """
        if headers.get("host", "").casefold() not in self.hosts:
            raise Refusal(421, "the Host of the request is not a name of this service", "Use http://127.0.0.1.")
        origin = headers.get("origin")
        if origin is not None and origin.casefold().removeprefix("http://") not in self.hosts:
            raise Refusal(403, "pages of other origins are refused")
        if path == HEALTH or path.startswith(ENTRANCE) or self._has_token(headers):
            return
        if not self._has_cookie(headers):
            hint = "Send `Authorization: Bearer TOKEN`; in a browser, use `memtool serve --open`."
            raise Refusal(401, "the request has no token, or a wrong one", hint)
        if method not in _SAFE and origin is None:
            raise Refusal(403, "a request that changes something with the cookie needs an Origin")

    def knows(self, headers: Mapping[str, str]) -> bool:
        """Return whether the request brings the token or the cookie."""
        return self._has_token(headers) or self._has_cookie(headers)

    def _has_token(self, headers: Mapping[str, str]) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return scheme.casefold() == "bearer" and hmac.compare_digest(token.strip().encode(), self._token)

    def _has_cookie(self, headers: Mapping[str, str]) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self.cookie_name)
        except CookieError:
            return False
        return cookie is not None and hmac.compare_digest(cookie.value.encode(), self._pass.encode())


class Gate:
    """The ASGI application *app* behind the gate. *larger* names paths whose bodies may have more bytes."""

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        life: Life,
        *,
        larger: Mapping[str, int] | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self._app = app
        self._access = access
        self._life = life
        self._larger = larger or {}
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = headers_of(scope)
        is_page = "text/html" in headers.get("accept", "")
        answer = GuardedAnswer(send, is_page=is_page, is_known=self._access.knows(headers))
        limit = self._larger.get(scope["path"], LARGEST_BODY)
        try:
            self._access.check(scope["method"], scope["path"], headers)
            if scope["path"] == HEALTH:  # which does not keep an idle service alive
                await self._app(scope, receive, answer.send)
                return
            check_ready(self._life, headers, limit)
            with self._life.answering():
                again, _ = await whole_body(receive, limit, self._patience)
                await self._app(scope, again, answer.send)
        except Refusal as refusal:
            await answer.refuse(refusal)


def headers_of(scope: Scope) -> dict[str, str]:
    """Return the headers of a request by their names in small letters; of several with one name, the first."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])}


def check_ready(life: Life, headers: Mapping[str, str], limit: int) -> None:
    """Refuse a request that comes while the service starts or stops, or that announces more than *limit* bytes.

    Raises:
        Refusal: see above.
    """
    if life.state != READY:
        raise Refusal(503, f"the service is {life.state}", "Try again in a moment.")
    if int(headers.get("content-length", 0)) > limit:
        raise _too_large(limit)


async def whole_body(receive: Receive, limit: int, patience: float) -> tuple[Receive, bytes]:
    """Return the whole body of a request, and what gives it once more and then waits for the end of the connection.

    Raises:
        Refusal: it is too large, or does not come in time.
    """
    body, is_whole = b"", False
    try:
        async with asyncio.timeout(patience):
            while not is_whole:
                message = await receive()
                body += message.get("body", b"")
                is_whole = not message.get("more_body", False)
                if len(body) > limit:
                    raise _too_large(limit)
    except TimeoutError:
        raise Refusal(408, f"the body of the request did not arrive within {patience:g} seconds") from None
    parts = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive_again() -> Message:
        return next(parts, None) or await receive()

    return receive_again, body


class GuardedAnswer:
    """The answer to a request, with the headers of all answers. Only a client that *is_known* keeps its connection."""

    def __init__(self, send: Send, *, is_page: bool, is_known: bool = False) -> None:
        self.is_known = is_known
        self._send = send
        self._is_page = is_page
        self._has_begun = self._is_refused = False

    async def send(self, message: Message) -> None:
        """Send a part of the answer, unless the request was refused meanwhile."""
        if self._is_refused:
            return
        if message["type"] == "http.response.start":
            self._has_begun = True
            own = {name for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(pair for pair in _HEADERS if pair[0] not in own)]
            message["headers"] += [] if self.is_known else [_CLOSE]
        await self._send(message)

    async def refuse(self, refusal: MemtoolError) -> None:
        """Send the sentence of *refusal* as the answer, unless another one has begun."""
        if self._has_begun:
            return
        kind, body = MEDIA_TYPE, as_bytes(problem_of(refusal))
        if self._is_page:
            kind, body = "text/plain; charset=utf-8", f"{refusal}.\n{refusal.hint}\n".encode()
        headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
        status = refusal.http_status
        headers += {401: [(b"www-authenticate", b"Bearer")], 503: [(b"retry-after", b"1")]}.get(status, [])
        headers += [_CLOSE] if status in (408, 413) and self.is_known else []
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        self._is_refused = True
        await self._send({"type": "http.response.body", "body": body})


def _too_large(limit: int) -> Refusal:
    return Refusal(413, f"the body of the request has more than {limit:,} bytes")
