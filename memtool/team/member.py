"""A member's side: the team's service is asked in a thread beside the own vault, and never for longer than allowed.

A service that does not answer is not asked by prompts again for a minute, and the outage is said once.
"""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

from memtool import settings as settings_module
from memtool.beside import SharedStart
from memtool.errors import BadSetting, MemtoolError, ProviderFailed
from memtool.recall.budget import MOST_TOKENS, BlockLine, BlockPart, fit, render
from memtool.recall.framing import defused, framed
from memtool.recall.given import GivenLine
from memtool.team import limits
from memtool.text.languages import labels
from memtool.text.lines import cut, tokens_in
from memtool.vault.memory import Found, Location, Memory
from memtool.vault.state import make_state_folder
from memtool.workspace import Workspace

if TYPE_CHECKING:
    from memtool.recall.answers.question import Question
    from memtool.recall.prompts.prompt import Given
    from memtool.recall.start.session_start import ContextBlock

TOKEN_FILE = "team-token"  # noqa: S105  (its name)

_AWAY = "team-away"
_TEXTS = ("vault", "id", "text", "title", "category", "date", "project", "author", "place")  # of a memory
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

T = TypeVar("T")


class TeamAway(ProviderFailed):
    """The team's service does not answer, or refuses."""

    hint = "Your own vault is searched all the same."


class Service(NamedTuple):
    """The team's service, and the member's token for it."""

    url: str
    token: str

    def __repr__(self) -> str:
        return f"Service({self.url!r}, …)"

    def ask(
        self, method: str, path: str, body: Mapping[str, object] | None, *, timeout: float = limits.PATIENCE
    ) -> dict[str, object]:
        """Return the answer to one request.

        Raises:
            TeamAway: there is none within *timeout* seconds, or it is an error.
        """
        from memtool.http import within

        parts = urlsplit(self.url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=timeout)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode("utf-8", "replace")

        def exchange() -> tuple[HTTPResponse, bytes]:
            # Closed here: to close it elsewhere would wait for the one who reads.
            with closing(connection):
                connection.request(method, f"{parts.path.rstrip('/')}{path}", content, headers)
                with connection.getresponse() as response:
                    return response, response.read(limits.LARGEST_ANSWER + 1)

        try:
            response, said = within(timeout, exchange)  # a socket's own timeout starts anew with each byte
            fields = json.loads(said) if len(said) <= limits.LARGEST_ANSWER else None
        except (OSError, HTTPException, ValueError, RecursionError) as error:
            reason = str(error) or "it takes too long"
            raise TeamAway(f"the team's service at {parts.netloc} does not answer: {reason}") from None
        if response.status != 200 or not isinstance(fields, dict):
            reason = str(fields.get("detail", "")) if isinstance(fields, dict) else "no JSON"
            said_why = f": {cut(reason, 200)}" if reason else ""
            raise TeamAway(f"the team's service at {parts.netloc} answers {response.status}{said_why}")
        return fields

    def vaults(self) -> list[str]:
        """Return the names of the vaults that the token is for. It raises as `ask`."""
        return [str(each.get("name")) for each in _dicts(self.ask("GET", "/vaults", None).get("vaults"))]


def find_service(work: Workspace) -> Service | None:
    """Return the team's service, if the user's settings name one.

    Raises:
        BadSetting: its address is none, or there is no token, or others can read its file.
    """
    url = work.settings.team.url
    return Service(checked_url(url), find_token(work.environ)) if url else None


def checked_url(url: str) -> str:
    """Return *url* if a token may be sent there.

    Raises:
        BadSetting: it is no address, or the way there is not encrypted.
    """
    try:
        parts = urlsplit(url)
        is_whole = bool(parts.hostname) and not (parts.username or parts.password or parts.query or parts.fragment)
        _ = parts.port
    except ValueError:
        is_whole = False
    if not is_whole or parts.scheme not in ("http", "https"):
        raise BadSetting("`[team] url` is no address", hint="It looks like https://memory.example.org.")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise BadSetting("`[team] url` is not encrypted, and a token would be sent there", hint="Use https.")
    return url


def find_token(environ: Mapping[str, str]) -> str:
    """Return the member's token: `MEMTOOL_TEAM_TOKEN`, else the one in a file beside the user's settings.

    Raises:
        BadSetting: there is none, or others can read its file.
    """
    if given := settings_module.secret_in(environ, settings_module.TEAM_TOKEN):
        return given
    path = token_path(environ)
    try:
        with path.open("rb") as file:
            if os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise BadSetting(f"others can read '{path}'", hint=f"Run `chmod 600 '{path}'`.")
            return file.read(limits.LARGEST_ANSWER).decode("ascii", "replace").strip()
    except OSError:
        hint = "`memtool team join URL` keeps it."
        raise BadSetting("there is no token for the team's service", hint=hint) from None


def token_path(environ: Mapping[str, str]) -> Path:
    """Return the file of the member's token."""
    return settings_module.user_config_path(environ).with_name(TOKEN_FILE)


class TeamQuestion(Generic[T]):
    """A question that is asked of the team's service from now on, while the own vault is read."""

    def __init__(self, work: Workspace, ask: Callable[[Service], list[T]], wait: float) -> None:
        self._ends = time.monotonic() + wait
        self._work = work
        self._found: list[T] = []
        self._problem: MemtoolError | None = None
        self._thread = threading.Thread(target=self._ask, args=(ask,), daemon=True, name="memtool-team")
        self._thread.start()

    def _ask(self, ask: Callable[[Service], list[T]]) -> None:
        try:
            if service := find_service(self._work):
                self._found = ask(service)
        except MemtoolError as problem:
            self._problem = problem

    def answer(self) -> tuple[list[T], str]:
        """Return what the team has, and what the user should know: that the service is away, once an outage."""
        self._thread.join(max(0.0, self._ends - time.monotonic()))
        problem = self._problem
        if self._thread.is_alive():
            problem = TeamAway("the team's service does not answer in time")
        if problem is None:
            with suppress(OSError):
                (self._work.index_folder / _AWAY).unlink(missing_ok=True)
            return self._found, ""
        is_news = True
        with suppress(OSError):
            away = self._work.index_folder / _AWAY
            is_news = not away.exists()
            make_state_folder(away.parent)
            away.touch(mode=0o600)
            os.utime(away)
        return [], f"{problem}. {problem.hint}" if is_news else ""


def _rests(work: Workspace) -> bool:
    """Return whether the service was away less than a minute ago, so that a prompt does not wait for it."""
    with suppress(OSError):
        return abs(time.time() - (work.index_folder / _AWAY).stat().st_mtime) < 60.0
    return False


def ask_for_memories(
    work: Workspace, query: str, *, project: str, limit: int, floor: float = 0.0, wait: float = limits.PATIENCE
) -> TeamQuestion[Found]:
    """Begin to ask what the team remembers of *query*, and is at least as relevant as *floor*."""
    asked = {"query": query[:2_000], "project": project, "limit": limit, "floor": floor}

    def ask(service: Service) -> list[Found]:
        return list(_memories(service.ask("POST", "/recall", asked, timeout=wait).get("memories")))

    return TeamQuestion(work, ask, wait)


def ask_for_prompt(work: Workspace, question: Question) -> TeamQuestion[Found] | None:
    """Begin to ask what the team remembers of a prompt, without its secrets.

    None if it is about nothing, or the service was away just now.
    """
    if not question.terms() or question.is_act or _rests(work):
        return None
    wait, text = work.settings.team.wait_ms / 1000, work.redact(question.text)
    return ask_for_memories(work, text, project=work.project(), limit=3, floor=0.5, wait=wait)


def with_memories(work: Workspace, given: Given, asked: TeamQuestion[Found]) -> tuple[Given, str]:
    """Return *given* with what the team remembers and the session was not given lately, and a notice for the user."""
    memories, notice = asked.answer()
    start = given.ledger.start
    fresh = [one for one in memories if not given.ledger.rests(_key(one)) and not is_known(start, one.memory.text)]
    added = given._replace(
        text="\n\n".join(filter(None, [given.text, _block(work, fresh)])),
        ledger=given.ledger.with_given(map(_key, fresh)),
        said=(*given.said, *(one.shown for one in fresh)),
        team=tuple(GivenLine("", one.why["address"], text=one.shown, relevance=one.score) for one in fresh),
    )
    return added, notice


def shared_start(
    work: Workspace,
    project: str,
    own: Callable[[Workspace], ContextBlock],
    *,
    known: str = "",
    whole: bool = False,
    waits: bool = False,
) -> SharedStart:
    """Return what *own* gives of *project*, and the standing rules, decisions, facts and open items of the team.

    Both together keep to what a client takes: if they do not, the own context gives way to the team's.

    `memtool.beside.Team` says what is asked for; without a project, nothing is.
    """
    wanted = work.settings.recall.session_tokens
    wait = limits.PATIENCE if waits else work.settings.team.wait_ms / 1000
    if not project or not (wanted or whole) or (not waits and _rests(work)):
        block = own(work)
        return SharedStart(block, block.text)
    path = f"/context?project={quote(project, safe='')}"
    question = TeamQuestion(
        work, lambda service: list(_parts(service.ask("GET", path, None, timeout=wait).get("blocks"))), wait
    )
    block = own(work)
    parts, notice = question.answer()
    parts = [part for part in parts if part.kind in work.settings.recall.kinds]
    most = 1_000_000 if whole else min(wanted, limits.START_TOKENS)
    text, lines = _standing_block(work, parts, f"{known}\n{block.text}", most)
    if text and not whole and block.tokens + tokens_in(text) > MOST_TOKENS:
        recall = work.settings.recall._replace(session_tokens=MOST_TOKENS - limits.START_TOKENS)
        block = own(work._replace(settings=work.settings._replace(recall=recall)))
        text, lines = _standing_block(work, parts, f"{known}\n{block.text}", most)
    return SharedStart(block, "\n\n".join(filter(None, [block.text, text])), lines, notice)


def is_known(known: str, said: str) -> bool:
    """Return whether the text that a session was given, *known*, says what a memory says: *said*."""
    plain, wanted = " ".join(known.replace("\n> ", " ").split()), defused(said)
    return f" {wanted} " in f" {plain} " if len(wanted) <= 200 else wanted[:200] in plain


def _standing_block(
    work: Workspace, parts: Sequence[BlockPart], known: str, most: int
) -> tuple[str, tuple[BlockLine, ...]]:
    """Return the block of what is not *known* of *parts*, in at most *most* tokens, and its lines."""
    fresh = list(_fresh(parts, known, labels("start", work.language)["shortened"]))
    vaults = " and ".join(dict.fromkeys(part.path.partition(":")[0] for part in fresh))

    def block(body: str) -> str:
        return framed(body, event="team", vault=vaults, language=work.language, text="team-frame")

    chosen = fit(fresh, most - tokens_in(block("…")))
    text = block("\n\n".join(render(part._replace(left_out=0)) for part in chosen))
    return text, tuple(line for part in chosen for line in part.lines)


def _fresh(parts: Sequence[BlockPart], known: str, shortened: str) -> Iterator[BlockPart]:
    """Give *parts* without the lines that are *known*, or that a part before says as well."""
    for part in parts:
        lines = []
        for line in part.lines:
            if not is_known(known, line.said):
                lines.append(line)
                known = f"{known} {line.said}"
        if any(not line.text.startswith("> #") for line in lines):
            yield part._replace(levels=(tuple(lines),), share=1 / len(parts), when_cut=shortened)


def _parts(blocks: object) -> Iterator[BlockPart]:
    """Give the parts of an answer, their texts defused; what is not as it should be is left out."""
    for block in _dicts(blocks):
        vault = defused(str(block.get("vault")))
        for part in _dicts(block.get("parts")):
            title, path, kind = (defused(str(part.get(name))) for name in ("title", "path", "kind"))
            lines = []
            for line in _dicts(part.get("lines")):
                texts = [line.get(name) for name in ("text", "said", "place", "where")]
                if all(isinstance(text, str) for text in texts):
                    lines.append(_line(vault, *map(str, texts)))
            if lines:
                yield BlockPart(title, f"{vault}:{path}", "", 0, (tuple(lines),), kind=kind)


def _line(vault: str, text: str, said: str, place: str, where: str) -> BlockLine:
    shown = cut(defused(text), limits.LONGEST_LINE)
    mark = "> #" if text.startswith("> #") else ">" if text.startswith(">") else "-"
    return BlockLine(f"{mark} {shown}", f"{vault}:{defused(place)}", defused(where), said=defused(said) or shown)


def _dicts(fields: object) -> list[dict[str, object]]:
    return [each for each in fields if isinstance(each, dict)] if isinstance(fields, list) else []


def _block(work: Workspace, memories: Sequence[Found]) -> str:
    """Return *memories* as the block that an agent is given; empty for none."""
    names = " and ".join(dict.fromkeys(one.why["vault"] for one in memories))
    lines = [f"- {one.shown} ({one.why['source']})" for one in memories]
    return framed("\n".join(lines), event="team", vault=names, language=work.language, text="team-frame")


def _memories(fields: object) -> Iterator[Found]:
    """Give the memories of an answer, with their vault, address and source; what is not as it should be is left out."""
    for each in _dicts(fields):
        texts, relevance = [each.get(name) for name in _TEXTS], each.get("relevance")
        if not all(isinstance(text, str) for text in texts) or not isinstance(relevance, int | float):
            continue
        vault, memory_id, text, title, category, date, project, author, place = map(str, texts)
        memory = Memory(
            memory_id, text, "", Location(place), title, author=author, project=project, category=category, date=date
        )
        said = text if not title or title in text else f"{title}: {text}"
        about = ", ".join(filter(None, (category, author, f"project {project}" if project else "", date)))
        address = defused(f"{vault}:{memory.path}")
        why = {"vault": vault, "address": address, "source": f"{defused(about)}, team {address}"}
        yield Found(memory, float(relevance), why, shown=cut(defused(said), limits.LONGEST_LINE))


def _key(found: Found) -> str:
    """Return what *found* is known by in the ledger of a session."""
    return f"team:{found.why['vault']}:{found.memory.id or found.memory.path}"
