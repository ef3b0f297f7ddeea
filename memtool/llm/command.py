"""The commands of coding agents, asked once for a text: what they have in common.

Nothing of the call reaches the user's own work: its session is kept nowhere, its folder is empty, hooks, plugins and
tools are off, and the process ends with all that it started.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any, ClassVar, NamedTuple, Self

from memtool.errors import ProviderFailed, ProviderMissing, Unavailable
from memtool.llm import MAX_ANSWER, Answer, OutOfTime, Request, Wasted
from memtool.settings import INTERNAL, Keys, environment
from memtool.settings.sections import ModelSettings
from memtool.text.json_places import object_in
from memtool.text.lines import one_line, tokens_in

_SESSION = frozenset(
    "CLAUDECODE CLAUDE_CODE_SESSION_ID CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SSE_PORT CLAUDE_PROJECT_DIR CLAUDE_PID"
    " CLAUDE_EFFORT CLAUDE_ENV_FILE AI_AGENT".split()
)
_SESSION_PREFIXES = ("CLAUDE_PLUGIN_", "CLAUDE_CODE_CHILD_")
_AT = "\uff20"  # in place of `@`, which means a file to most clients
SYSTEM = "system.md"  # the file of the system prompt


class Start(NamedTuple):
    """How a command is started: its arguments, variables beside those of the user, and the folder to work in.

    Without a *folder* it is an empty one.
    """

    arguments: Sequence[str]
    variables: Mapping[str, str] = {}
    folder: Path | None = None


class CommandReply(NamedTuple):
    """What a command printed. *text* is its answer, or why there is none; then *is_good* is false."""

    text: str = ""
    is_good: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    model: str = ""
    retry_may_help: bool = False


class ClientCommand(ABC):
    """A client's own model, asked through *program*."""

    name: ClassVar[str]  # of the provider
    command: ClassVar[str]  # what it is called where no setting names another program
    hint: ClassVar[str] = ""

    def __init__(
        self, program: str, model: str, environ: Mapping[str, str], *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._program = program
        self._model = model
        self._environ = environ
        self._monotonic = monotonic

    @classmethod
    def open(cls, _: str, settings: ModelSettings, __: Keys) -> Self:
        """Return the command that *settings* name; see `memtool.llm.open_provider`."""
        return cls(find_program(cls.command, cls.hint), cls.model_of(settings), environment())

    @classmethod
    def model_of(cls, settings: ModelSettings) -> str:
        """Return the model to ask for; empty leaves the choice to the command."""
        return str(getattr(settings, f"{cls.name.replace('-', '_')}_model"))

    @property
    def model_options(self) -> tuple[str, ...]:
        """The options that name the model; none where the command is to choose."""
        return ("--model", self._model) if self._model else ()

    @abstractmethod
    def start(self, folder: Path, request: Request) -> Start:
        """Return how to start it. *folder* holds the system prompt in `SYSTEM`, and what else it writes there."""

    @abstractmethod
    def reply(self, said: str) -> CommandReply:
        """Return the answer in *said*, its standard output."""

    def clean_up(self) -> None:  # noqa: B027 (most leave nothing)
        """Remove what the call has left in the user's folders."""

    def complete(self, request: Request, timeout: float) -> Answer:
        """Return the answer; see `memtool.llm.Provider`."""
        try:
            return self._complete(request, timeout)
        except (OSError, ValueError) as error:  # no room for temporary files, a file that is no program
            why = one_line(str(error))[:200]
            raise ProviderFailed(f"the `{self.command}` command cannot be started: {why}") from None
        finally:
            self.clean_up()

    def _complete(self, request: Request, timeout: float) -> Answer:
        with (
            TemporaryDirectory(prefix="memtool-", ignore_cleanup_errors=True) as folder,
            TemporaryFile() as asked, TemporaryFile() as said, TemporaryFile() as complained,
        ):  # fmt: skip
            asked.write(request.prompt.replace("@", _AT).encode("utf-8", "replace"))
            asked.seek(0)
            work = Path(folder, "work")
            work.mkdir()
            Path(folder, SYSTEM).write_text(request.system, encoding="utf-8", errors="replace")
            start = self.start(Path(folder), request)
            process = subprocess.Popen(
                [self._program, *start.arguments],
                cwd=start.folder or work,
                env={**_outside(self._environ), INTERNAL: "1", **start.variables},
                stdin=asked, stdout=said, stderr=complained, **_OWN_GROUP,
            )  # fmt: skip
            try:
                code = self._wait(process, said, timeout)
            except subprocess.TimeoutExpired:
                raise OutOfTime(f"the `{self.command}` command", request, timeout) from None
            finally:
                _end(process)
            return self._answer(code, _read(said), _read(complained), request)

    def _wait(self, process: subprocess.Popen[bytes], said: IO[bytes], timeout: float) -> int:
        deadline = self._monotonic() + timeout
        while True:
            try:
                return process.wait(0.1)  # seconds between two looks at its output
            except subprocess.TimeoutExpired:
                if os.fstat(said.fileno()).st_size > MAX_ANSWER:
                    sentence = f"the `{self.command}` command says more than any answer needs"
                    raise ProviderFailed(sentence) from None
                if self._monotonic() >= deadline:
                    raise

    def _answer(self, code: int, said: str, complained: str, request: Request) -> Answer:
        reply = self.reply(said)
        taken, made = reply.input_tokens, reply.output_tokens
        if code or not reply.is_good or not reply.text.strip():
            why = one_line(reply.text or complained)[:200] or f"it ended with {code} and no answer"
            sentence = f"the `{self.command}` command failed: {why}"
            if not made and reply.retry_may_help:
                raise Unavailable(sentence)
            raise Wasted(sentence, taken, made, reply.cost_usd, hint=self.hint)
        text = reply.text.replace(_AT, "@")
        return Answer(text, self.name, reply.model, taken or request.tokens, made or tokens_in(text), reply.cost_usd)


def find_program(command: str, hint: str) -> str:
    """Return the path of the program *command*.

    Raises:
        ProviderMissing: there is none, or only one in the folder we happen to be in.
    """
    program = shutil.which(os.path.expanduser(command))  # noqa: PTH111  (a Path would lose a leading `./`)
    if program is None:
        raise ProviderMissing(f"there is no command '{command}'", hint=hint)
    if not Path(program).is_absolute():  # Windows, and a PATH with `.`
        raise ProviderMissing(f"the command '{program}' lies in the working folder, which memtool does not trust")
    return program


def json_lines(said: str) -> Iterator[dict[str, Any]]:
    """Give the JSON objects that are a line of *said*."""
    return filter(None, map(object_in, said.splitlines()))


def as_cost(cost: object) -> float | None:
    """Return *cost* in USD; None if it is no amount."""
    return float(cost) if isinstance(cost, int | float) and 0 <= cost < 10**6 else None


def _outside(environ: Mapping[str, str]) -> dict[str, str]:
    """Return *environ* without what tells of the session around us; what the login needs stays."""
    return {
        name: value
        for name, value in environ.items()
        if name not in _SESSION and not name.startswith(_SESSION_PREFIXES)
    }


if sys.platform == "win32":
    _OWN_GROUP: dict[str, Any] = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}

    def _end(process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None:
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
            process.kill()
            process.wait()

else:
    _OWN_GROUP: dict[str, Any] = {"start_new_session": True}

    def _end(process: subprocess.Popen[bytes]) -> None:
        """End the process and all that it started. Nothing is left to do if it ended by itself."""
        if process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):  # the latter is macOS's word for a dead group
            os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1.0)  # seconds: it may be writing a renewed login
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MAX_ANSWER).decode("utf-8", "replace")
