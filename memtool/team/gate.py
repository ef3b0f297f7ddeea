"""The gate in front of a team's service: whose token a request brings, what it may do; each is kept in the audit.

/health            who watches the service
/webhook/NAME      a git host, which signs what it says
/vaults/NAME/…     one vault; without the prefix it is the only one of the token, or all of them
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar

from memtool.errors import DatabaseUnavailable, MemtoolError
from memtool.team import limits
from memtool.team.postgres.connection import cut, in_use_by_request
from memtool.team.service import Asking, TeamService, log
from memtool.team.tokens import METRICS, READ, WRITE, AuditEntry, NoToken, Token
from memtool.text.json_places import object_in
from memtool.web.agent_server import PATHS
from memtool.web.gate import HEALTH, LARGEST_BODY, PATIENCE, GuardedAnswer, check_ready, headers_of, whole_body
from memtool.web.life import Life
from memtool.web.problems import Refusal

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

WEBHOOK, VAULTS = "/webhook/", "/vaults/"
METRICS_PATH = "/metrics"
_READING = ("/search", "/recall")  # calls that change nothing, though they are posted
_WRITING_TOOLS = ("context_save", "context_manage", "memory_store", "memory_forget")
# Calls that keep to the projects of a token.
_WITH_PROJECTS = (
    "GET /vaults", "GET /context", "POST /recall", "POST /search", "GET /memories", "POST /save",
    "GET /api/session/turns",
)  # fmt: skip
_MEMORY = "/memory/"
T = TypeVar("T")


class TeamGate:
    """The ASGI application *app* behind the gate of *service*."""

    def __init__(self, app: ASGIApp, service: TeamService, life: Life, *, patience: float = PATIENCE) -> None:
        self._app = app
        self._service = service
        self._life = life
        self._patience = patience
        # These ask the database about tokens.
        self._threads = ThreadPoolExecutor(limits.MOST_AT_ONCE * 2, "memtool-gate")
        self._asked = 0  # of them, or waiting for one
        self._of_vault = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(limits.MOST_AT_ONCE // 2))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or say why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = headers_of(scope)
        answer = GuardedAnswer(send, is_page=False)
        try:
            if scope["path"] == HEALTH:
                await self._app(scope, receive, answer.send)
                return
            check_ready(self._life, headers, LARGEST_BODY)
            with self._life.answering():
                receive, body = await whole_body(receive, LARGEST_BODY, self._patience)
                if scope["path"].startswith(WEBHOOK):
                    await self._take_message(scope, headers, body, answer)
                else:
                    await _in_time(self._let_in(scope, headers, body, receive, answer))
        except Refusal as refusal:
            self._service.counts.refused[str(refusal.http_status)] += 1
            await answer.refuse(refusal)
        except MemtoolError as error:
            self._service.counts.refused[type(error).__name__] += 1
            await answer.refuse(error)

    async def _let_in(
        self, scope: Scope, headers: dict[str, str], body: bytes, receive: Receive, answer: GuardedAnswer
    ) -> None:
        """Answer a request that brings a token, and keep in the audit that it was asked."""
        at, started = self._service.clock(), time.perf_counter()
        token = await self._token(headers)
        answer.is_known = True
        named, path = "", scope["path"]
        if path.startswith(VAULTS):
            named, slash, rest = path.removeprefix(VAULTS).partition("/")
            path = slash + rest
        reach = self._service.vaults_of(token)
        if named and named not in reach:
            raise Refusal(404, f"your token is for no vault '{named[:100]}'", "GET /vaults lists those it is for.")
        vault = named or (reach[0] if len(reach) == 1 else "")
        deed, wrote = _call_of(scope["method"], path, body)
        status = 500

        async def send(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await answer.send(message)

        try:
            _check(token, path, wrote=wrote)
            with self._service.asked_by(Asking(token, vault)):
                async with self._of_vault[vault]:
                    if token.projects:
                        await self._keep_to_projects(token, scope["method"], path, body)
                    await self._app({**scope, "path": path, "raw_path": path.encode()}, receive, send)
        except MemtoolError as error:
            status = error.http_status
            raise
        finally:
            ms = round((time.perf_counter() - started) * 1000)
            done = AuditEntry(at, token.id, token.holder, deed, vault, status, ms, wrote)
            self._service.count(done)
            audited = False
            with suppress(DatabaseUnavailable):  # the log has it then
                await self._in_thread(self._service.keep, done)
                audited = True
            log(**{**done._asdict(), "at": at.isoformat(timespec="milliseconds")}, audited=audited)

    async def _token(self, headers: dict[str, str]) -> Token:
        scheme, _, text = headers.get("authorization", "").partition(" ")
        brought = text.strip() if scheme.casefold() == "bearer" else ""
        try:
            return await self._in_thread(self._service.recognise, brought)
        except NoToken as error:
            raise Refusal(401, str(error), error.hint) from None

    async def _in_thread(self, call: Callable[..., T], *values: object) -> T:
        """Return what *call*, which asks the database, gives in a thread.

        Raises:
            DatabaseUnavailable: too many wait already.
        """
        if self._asked >= 128:  # each would take a thread
            raise DatabaseUnavailable("too many requests wait for the database", hint="Try again in a moment.")
        self._asked += 1
        try:
            run = copy_context().run  # which knows the request
            return await asyncio.get_running_loop().run_in_executor(self._threads, run, call, *values)
        finally:
            self._asked -= 1

    async def _keep_to_projects(self, token: Token, method: str, path: str, body: bytes) -> None:
        """Refuse what a token of some projects may not ask: what it finds, the database keeps to them."""
        if path.startswith(_MEMORY) and method in ("GET", "PUT", "DELETE"):
            await self._in_thread(self._service.check_memory, path.removeprefix(_MEMORY))
        elif f"{method} {path}" not in _WITH_PROJECTS:
            hint = f"It may ask {', '.join(_WITH_PROJECTS)}, GET, PUT and DELETE {_MEMORY}ID."
            raise Refusal(403, "your token is for some projects only, and this call does not keep to them", hint)
        elif path == "/save" and not token.covers(str(object_in(body).get("project", ""))):
            raise Refusal(403, "your token is for some projects only", f"Name one: {', '.join(token.projects)}.")

    async def _take_message(self, scope: Scope, headers: dict[str, str], body: bytes, answer: GuardedAnswer) -> None:
        """Ask a remote for what is new, because its host says that there is something."""
        name = scope["path"].removeprefix(WEBHOOK)
        if scope["method"] != "POST":
            raise Refusal(405, f"{scope['method']} is not for this address")
        if not is_genuine(self._service.secret, headers, body) or name not in self._service.clones:
            raise Refusal(401, "the message is not signed with the secret of this service, or is for no vault of it")
        self._service.keeper.soon(name)
        await answer.send({"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"0")]})
        await answer.send({"type": "http.response.body", "body": b""})


async def _in_time(answering: Coroutine[Any, Any, None]) -> None:
    """Answer one request within the time that each has. What it waits for in the database is cut then.

    Raises:
        DatabaseUnavailable: there is no answer in time.
    """
    connections: set[Any] = set()
    kept = in_use_by_request.set(connections)
    task = asyncio.create_task(answering)
    in_use_by_request.reset(kept)
    try:
        ended, _ = await asyncio.wait({task}, timeout=limits.REQUEST_SECONDS)
        if not ended:
            cut(connections)
            ended, _ = await asyncio.wait({task}, timeout=0.5)
    finally:
        task.cancel()
    if not ended:
        raise DatabaseUnavailable("there was no answer within eight seconds", hint="Try again in a moment.")
    task.result()


def _call_of(method: str, path: str, body: bytes) -> tuple[str, bool]:
    """Return the call without what it asks for, and whether it is one that changes something."""
    if path in PATHS:
        tool = _tool(body)
        return f"{method} {path} {tool}".strip(), tool in _WRITING_TOOLS
    call = f"{method} /{path.lstrip('/').split('/')[0][:40]}"
    return call, method not in ("GET", "HEAD", "OPTIONS") and path not in _READING


def _tool(body: bytes) -> str:
    """Return the tool that an agent calls, as far as the audit goes: what a reader may not do, the vault refuses."""
    asked = object_in(body)
    name, params = str(asked.get("method", "")), asked.get("params")
    if name == "tools/call":
        name = str(params.get("name", "")) if isinstance(params, dict) else ""
    return name if name.replace("_", "").replace("/", "").isalnum() and len(name) < 40 else ""


def _check(token: Token, path: str, *, wrote: bool) -> None:
    """Refuse what the scopes of *token* do not cover, by a `Refusal`."""
    needed = METRICS if path == METRICS_PATH else WRITE if wrote else READ
    if needed not in token.scopes and not (needed == READ and WRITE in token.scopes):
        raise Refusal(403, f"your token has no scope '{needed}'", "Ask the operator of the service for another token.")


def is_genuine(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether the sender of *body* knows *secret*. Names of *headers* are in small letters.

    GitHub, Gitea and Forgejo sign the body with HMAC-SHA256 (`X-Hub-Signature-256: sha256=…`), GitLab sends the secret
    itself (`X-Gitlab-Token`). What the body says does not matter, so that a message that is sent again does no harm.
    """
    if len(secret) < 16:
        return False
    key = secret.encode()
    if signature := headers.get("x-hub-signature-256"):
        wanted = "sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(signature.encode("latin-1", "replace"), wanted.encode())
    return hmac.compare_digest(headers.get("x-gitlab-token", "").encode("latin-1", "replace"), key)
