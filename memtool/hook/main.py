"""`memtool-hook`: reads one event on stdin, acts on it, and ends with 0 whatever happens.

What it cannot do it writes to a log, which `memtool doctor` reads. It prints nothing unless it has something to say.
Where memtool is both a plugin and in the settings, an event is acted on once: the settings come first.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from memtool import settings
from memtool.errors import BadSetting
from memtool.hook.occasion import parse_options

_LARGEST = 67_108_864  # bytes of one event; it holds the whole of a file that was written


def main() -> int:
    """Run one hook of a client. Always 0: exit code 2 would erase the user's prompt."""
    os.umask(0o077)  # as in the command line
    try:
        answer = run(sys.argv[1:], settings.environment(), sys.stdin.buffer)
        sys.stdout.buffer.write(answer.encode("utf-8", "replace"))
        sys.stdout.flush()
    finally:
        os._exit(0)  # nothing is left to do; tidying up the interpreter would take as long as the work


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
        if options.plugin and _is_in_settings(name, str(event.get("cwd", "")), environ):
            return ""
        from memtool.hook.events import act

        return act(name, event, options, environ)
    except BaseException as error:  # noqa: BLE001
        from memtool.hook.problems import advice, report

        report(name, error, options, environ)
        return advice(event, error, options)


def _read(stream: BinaryIO) -> Mapping[str, Any]:
    import json

    content = stream.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError("the event is too large")
    if not content.strip():
        raise ValueError("there is no event on stdin")
    event = json.loads(content)
    if not isinstance(event, dict):
        raise TypeError("the event is no JSON object")
    return event


def _is_in_settings(event: str, folder: str, environ: Mapping[str, str]) -> bool:
    """Return whether the settings of a session in *folder* run memtool at *event*, so that the plugin need not."""
    return any(_runs_memtool(path, event) for path in _settings_paths(folder, environ))


def _settings_paths(folder: str, environ: Mapping[str, str]) -> Iterator[Path]:
    from memtool.install.claude_code import places

    with contextlib.suppress(BadSetting):
        yield places.user_settings_path(environ)
    project = Path(environ.get("CLAUDE_PROJECT_DIR") or folder)
    if project.is_absolute():
        yield places.shared_settings_path(project)
        yield places.project_settings_path(project)
        # Since 2.1.211 the client also reads this file at the root of the repository (seen in 2.1.330).
        root = next((place for place in project.parents if (place / ".git").exists()), None)
        if root and not (project / ".git").exists():
            yield places.project_settings_path(root)
    yield places.managed_settings_path()


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
