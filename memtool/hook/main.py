"""`memtool-hook`: reads one event on stdin, acts on it, and always ends with 0.

Errors go to a log, which `memtool doctor` reads. It prints only answers. If memtool is both a plugin and in the
settings, only the hook of the settings acts.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from memtool import settings
from memtool.errors import BadSetting
from memtool.named_tuple import NamedTuple

if TYPE_CHECKING:
    from memtool.capture.client_event import ClientEvent
    from memtool.vault.layout import Vault

# event -> the functions that act on it; their modules are imported when it comes.
_CAPTURE, _RECALL, _TOOLS = "memtool.capture.client_event", "memtool.hook.recalling", "memtool.hook.tool_calls"
ACTIONS: dict[str, tuple[str, ...]] = {
    "PreToolUse": (f"{_TOOLS}:hints_for_edit",),
    "PostToolUseFailure": (f"{_TOOLS}:earlier_tries",),
    "PostToolUse": (f"{_CAPTURE}:note_edit", f"{_TOOLS}:mark_own_note"),
    "Stop": (f"{_CAPTURE}:queue_session",),
    "PreCompact": (f"{_CAPTURE}:queue_session", f"{_RECALL}:text_for_summary"),
    "PostCompact": (f"{_CAPTURE}:queue_session",),
    "SessionEnd": (f"{_CAPTURE}:queue_session", f"{_RECALL}:close_ledger"),
    "SessionStart": (
        f"{_RECALL}:context_of_session",
        f"{_RECALL}:start_service",
        f"{_CAPTURE}:sweep",
        f"{_RECALL}:missed_week",
    ),
    "UserPromptSubmit": (f"{_RECALL}:memories_for_prompt",),
}
_KEEP = "memtool.capture.heard:keep"
_NOT_IN_PRIVATE = (f"{_CAPTURE}:note_edit", f"{_CAPTURE}:queue_session", _KEEP)
_HINTING = ("PreToolUse", "PostToolUseFailure")
_AS_JSON = ("SessionStart", "UserPromptSubmit", *_HINTING)  # a text reaches the model only as JSON


class Options(NamedTuple):
    """The options with which an installation starts a hook: the vault that it names, and the client.

    *vault* is empty if it names none, *client* is empty for Claude Code.
    """

    vault: str = ""
    this_project: bool = False
    plugin: bool = False
    client: str = ""


class Reply(NamedTuple):
    """The answer to the client: *text* for the model, *notice* for the user."""

    text: str = ""
    notice: str = ""


Action: TypeAlias = Callable[["ClientEvent"], Reply | None]


def main() -> int:
    """Run one hook of a client. Always 0: exit code 2 would erase the user's prompt."""
    os.umask(0o077)  # as in the command line
    try:
        answer = run(sys.argv[1:], settings.environment(), sys.stdin.buffer)
        sys.stdout.buffer.write(answer.encode("utf-8", "replace"))
        sys.stdout.flush()
    finally:
        os._exit(0)  # tidying up the interpreter would take as long as the work


def run(arguments: Sequence[str], environ: Mapping[str, str], stream: BinaryIO) -> str:
    """Act on the event in *stream* and return the answer. Nothing is raised, not even for the user's Ctrl-C."""
    if environ.get(settings.INTERNAL):
        return ""  # one of our own model calls must not be captured
    options = parse_options(arguments)
    name = ""
    event: Mapping[str, Any] = {}
    try:
        event = _read(stream)
        if options.client:
            from memtool.hook.translation import translated

            event = translated(event, options.client)
            if not event["hook_event_name"]:
                return ""
        name = str(event.get("hook_event_name", ""))
        if options.plugin:
            paths = _settings_paths(str(event.get("cwd", "")), environ)
            if any(_runs_memtool(path, name) for path in paths):
                return ""
        return act(name, event, options, environ)
    except BaseException as error:  # noqa: BLE001
        from memtool.hook.problems import advice, report

        report(name, error, options.vault, environ)
        return advice(event, error, options.client)


def _read(stream: BinaryIO) -> Mapping[str, Any]:
    import json

    largest = 67_108_864  # bytes; an event holds the whole of a file that was written
    content = stream.read(largest + 1)
    if len(content) > largest:
        raise ValueError("the event is too large")
    if not content.strip():
        raise ValueError("there is no event on stdin")
    event = json.loads(content)
    if not isinstance(event, dict):
        raise TypeError("the event is no JSON object")
    return event


def _settings_paths(folder: str, environ: Mapping[str, str]) -> Iterator[Path]:
    from memtool.install import client_files

    with contextlib.suppress(BadSetting):
        yield client_files.user_settings_path(environ)
    project = Path(environ.get("CLAUDE_PROJECT_DIR") or folder)
    if project.is_absolute():
        yield client_files.shared_settings_path(project)
        yield client_files.project_settings_path(project)
        # Since 2.1.211 the client also reads this file at the root of the repository (seen in 2.1.330).
        root = next((place for place in project.parents if (place / ".git").exists()), None)
        if root and not (project / ".git").exists():
            yield client_files.project_settings_path(root)
    yield client_files.managed_settings_path()


def _runs_memtool(path: Path, event: str) -> bool:
    """Return whether the file has such a hook. The client ignores a file that is not strict JSON, and so does this."""
    from memtool.install import client_files

    try:
        content = client_files.read(path)
        if content is None or "memtool" not in content.text:
            return False
        from memtool.install import json_text
        from memtool.install.hooks import find_handlers

        handlers = find_handlers(content.text)
    except (BadSetting, ValueError):
        return False
    return json_text.is_plain(content.text) and any(handler.event == event for handler in handlers)


def parse_options(arguments: Sequence[str]) -> Options:
    """Return the options. Unknown arguments may come from a newer installation."""
    named = {name: value for name, value in reversed(list(pairwise(arguments))) if name in ("--vault", "--client")}
    client = named.get("--client", "")
    return Options(
        named.get("--vault", ""),
        "--this-project" in arguments,
        "--plugin" in arguments,
        "" if client == "claude-code" else client,
    )


def act(name: str, fields: Mapping[str, Any], options: Options, environ: Mapping[str, str]) -> str:
    """Run the actions of the event *name*, and return the answer to the client: mostly none.

    An action that fails is logged, and the others run all the same.

    Raises:
        Exception: the vault or its settings cannot be opened; the caller logs it.
    """
    if name not in ACTIONS:
        from memtool.hook.problems import report

        report(name, "memtool does not know this event", options.vault, environ)
        return ""
    event, actions = _event_of(name, fields, options, environ)
    text, notices = "", list[str]()
    for action in actions:
        module, _, function = action.partition(":")
        try:
            run_action: Action = getattr(import_module(module), function)
            reply = run_action(event) or Reply()
        except Exception as error:  # noqa: BLE001
            from memtool.hook.problems import report

            report(name, error, options.vault, environ)
        else:
            text = text or reply.text
            notices += filter(None, [reply.notice])
    return _rendered(name, text, "\n".join(notices), event.client) if text or notices else ""


def _event_of(
    name: str, fields: Mapping[str, Any], options: Options, environ: Mapping[str, str]
) -> tuple[ClientEvent, tuple[str, ...]]:
    """Return the event with its workspace, and the actions to run."""
    from memtool.capture.client_event import ClientEvent, is_private
    from memtool.vault.layout import open_vault
    from memtool.workspace import Workspace

    # The vault is found as by every command, but for the folders above the working folder: a stranger's repository must
    # not draw the user's notes to itself by a `memtool.toml` (docs/decisions/0017-projects-and-vaults.md).
    vault = open_vault(settings.find_vault_path(options.vault or None, environ, Path(os.sep))[0])
    vault.check_made()
    home, folder = Path.home(), fields.get("cwd")
    folder = Path(folder) if isinstance(folder, str) and os.path.isabs(folder) else home  # noqa: PTH117
    work = Workspace(vault, settings.load(vault.settings_path, environ), environ, home, folder)
    actions = ACTIONS[name]
    if options.client:
        fields, actions = _with_own_transcript(fields, actions, vault, options.client)
    event = ClientEvent(name, fields, work, options.client, options.this_project)
    # A hint captures nothing, and the agent waits for it.
    if name not in _HINTING and is_private(event):
        actions = tuple(action for action in actions if action not in _NOT_IN_PRIVATE)
    return event, actions


def _with_own_transcript(
    fields: Mapping[str, Any], actions: tuple[str, ...], vault: Vault, client: str
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Name our own transcript in the event of a client that keeps none, and add to that transcript first."""
    from memtool.clients import CLIENTS

    if CLIENTS[client].transcripts:
        return fields, actions
    from memtool.capture.heard import heard_path

    path = heard_path(vault, str(fields.get("session_id", "")))
    return {**fields, "transcript_path": str(path)}, (_KEEP, *actions)


def _rendered(name: str, text: str, notice: str, client: str) -> str:
    """Return an answer as the client passes it to its model; before a compaction, to its summariser."""
    if client:
        from memtool.hook.translation import answered

        return answered(client, name, text, notice)
    return json_answer(name, text, notice) if name in _AS_JSON else text


def json_answer(name: str, text: str, notice: str) -> str:
    """Return an answer at the event *name* as Claude Code reads it."""
    import json

    context = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}} if text else {}
    return json.dumps({**({"systemMessage": notice} if notice else {}), **context})
