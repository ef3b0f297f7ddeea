"""Text from the `claude` command in headless mode, so that a user needs no key beside the login of Claude Code.

Nothing of the user's reaches the call, and nothing of the call reaches the user: no hooks, plugins, MCP servers,
CLAUDE.md, memory, tools or session files. A switch that an old client does not know makes the call fail, as it should.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any

from memtool.errors import ProviderFailed, ProviderMissing
from memtool.http import Unavailable
from memtool.llm import MAX_ANSWER, Answer, OutOfTime, Request, Wasted, tokens_used
from memtool.settings import INTERNAL, Keys, environment
from memtool.settings.sections import ModelSettings
from memtool.text.lines import one_line, tokens_in

ARGUMENTS = (
    "-p",
    "--safe-mode",  # no hooks, plugins, MCP servers, CLAUDE.md; the login works. `--bare` would want an API key
    "--strict-mcp-config",
    "--no-session-persistence",
    "--disable-slash-commands",
    "--tools", "",
    "--max-turns", "1",
    "--output-format", "json",
    "--settings", "../settings.json",
    "--system-prompt-file", "../system.txt",
)  # fmt: skip
SETTINGS = {"disableAllHooks": True, "outputStyle": "default", "effortLevel": "low"}
VARIABLES = {
    INTERNAL: "1",
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",  # or `@~/.ssh/config` in the transcript would send that file
    "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_THINKING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",  # `memtool.llm.chain` does that
    "DISABLE_AUTOUPDATER": "1",
}
_SESSION = frozenset(
    "CLAUDECODE CLAUDE_CODE_SESSION_ID CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SSE_PORT CLAUDE_PROJECT_DIR CLAUDE_PID"
    " CLAUDE_EFFORT CLAUDE_ENV_FILE AI_AGENT".split()
)
_SESSION_PREFIXES = ("CLAUDE_PLUGIN_", "CLAUDE_CODE_CHILD_")
_AT = "\uff20"  # stands for `@`, which means a file to the client
_GRACE = 1.0  # seconds to end by itself: it may be writing a renewed login
_LOOK = 0.1  # seconds between two looks at its output


class ClaudeCommand:
    """The client's own model, asked through *program*."""

    def __init__(
        self, program: str, model: str, environ: Mapping[str, str], *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._command = [program, *ARGUMENTS, *(["--model", model] if model else [])]
        self._environ = environ
        self._monotonic = monotonic

    @classmethod
    def open(cls, settings: ModelSettings, _: Keys) -> ClaudeCommand:
        """Return the command that *settings* name; see `memtool.llm.open_provider`."""
        command = os.path.expanduser(settings.claude_command)  # noqa: PTH111  (a Path would lose a leading `./`)
        program = shutil.which(command)
        if program is None:
            hint = "Install Claude Code, or name it with llm.claude_command."
            raise ProviderMissing(f"there is no command '{settings.claude_command}'", hint=hint)
        if not Path(program).is_absolute():  # Windows, and a PATH with `.`: found in the folder we happen to be in
            raise ProviderMissing(f"the command '{program}' lies in the working folder, which memtool does not trust")
        return cls(program, settings.claude_model, environment())

    def complete(self, request: Request, timeout: float) -> Answer:
        """Return the answer; see `memtool.llm.Provider`."""
        try:
            return self._complete(request, timeout)
        except (OSError, ValueError) as error:  # no room for temporary files, a file that is no program
            raise ProviderFailed(f"the `claude` command cannot be started: {one_line(str(error))[:200]}") from None

    def _complete(self, request: Request, timeout: float) -> Answer:
        with (
            TemporaryDirectory(prefix="memtool-", ignore_cleanup_errors=True) as folder,
            TemporaryFile() as asked, TemporaryFile() as said, TemporaryFile() as complained,
        ):  # fmt: skip
            asked.write(request.prompt.replace("@", _AT).encode("utf-8", "replace"))
            asked.seek(0)
            limits = {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(request.max_tokens), "CLAUDE_CODE_TMPDIR": folder}
            variables = VARIABLES | limits
            process = subprocess.Popen(
                self._command,
                cwd=_lay_out(Path(folder), request, variables),
                env=_outside(self._environ) | variables,
                stdin=asked, stdout=said, stderr=complained, **_OWN_GROUP,
            )  # fmt: skip
            try:
                code = self._wait(process, said, timeout)
            except subprocess.TimeoutExpired:
                raise OutOfTime("the `claude` command", request, timeout) from None
            finally:
                _end(process)
            return _answer(code, _read(said), _read(complained), request)

    def _wait(self, process: subprocess.Popen[bytes], said: IO[bytes], timeout: float) -> int:
        deadline = self._monotonic() + timeout
        while True:
            try:
                return process.wait(_LOOK)
            except subprocess.TimeoutExpired:
                if os.fstat(said.fileno()).st_size > MAX_ANSWER:
                    raise ProviderFailed("the `claude` command says more than any answer needs") from None
                if self._monotonic() >= deadline:
                    raise


def _lay_out(folder: Path, request: Request, variables: Mapping[str, str]) -> Path:
    """Write the two files that the arguments name; return the empty folder to work in."""
    # Variables stand here as well: those of the user's own settings would win over the process's.
    (folder / "settings.json").write_text(json.dumps({**SETTINGS, "env": variables}), encoding="utf-8")
    (folder / "system.txt").write_text(request.system, encoding="utf-8", errors="replace")
    work = folder / "work"
    work.mkdir()
    return work


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
                process.wait(_GRACE)
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MAX_ANSWER).decode("utf-8", "replace")


def _answer(code: int, said: str, complained: str, request: Request) -> Answer:
    result = _result(said)
    usage, text = result.get("usage"), result.get("result")
    taken = tokens_used(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    made = tokens_used(usage, "output_tokens")
    cost = _cost(result)
    if code or result.get("is_error") is not False or not isinstance(text, str) or not text.strip():
        why = one_line(text if isinstance(text, str) else complained)[:200] or f"it ended with {code} and no answer"
        sentence = f"the `claude` command failed: {why}"
        if not made and _may_pass(result.get("api_error_status"), why):
            raise Unavailable(sentence)
        hint = "Try `claude -p hello` in a terminal; `claude update` brings the options that memtool needs."
        raise Wasted(sentence, taken, made, cost, hint=hint)
    text = text.replace(_AT, "@")
    models = result.get("modelUsage")
    model = next(iter(models), "") if isinstance(models, dict) else ""
    return Answer(text, "claude", model, taken or request.tokens, made or tokens_in(text), cost)


def _may_pass(status: object, why: str) -> bool:
    """Return whether the service was busy; or, where it gave no *status*, could not be reached."""
    if isinstance(status, int):
        return status in (408, 429) or status >= 500
    return why.startswith("API Error: ")


def _result(said: str) -> dict[str, Any]:
    """Return the client's result: the last line that is one."""
    for line in reversed(said.splitlines()):
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(line)
            if isinstance(value, dict) and value.get("type") == "result":
                return value
    return {}


def _cost(result: Mapping[str, Any]) -> float | None:
    cost = result.get("total_cost_usd")
    return float(cost) if isinstance(cost, int | float) and 0 <= cost < 10**6 else None
