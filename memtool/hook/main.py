"""`memtool-hook`: reads one event on stdin, acts on it, and ends with 0 whatever happens.

What it cannot do it writes to a log, which `memtool doctor` reads. It prints nothing unless it has something to say.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from memtool import settings
from memtool.hook.options import parse_options

_LARGEST = 67_108_864  # bytes of one event; it holds the whole of a file that was written


def main() -> int:
    """Run one Claude Code hook. Always 0: exit code 2 would erase the user's prompt."""
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
    try:
        event = _read(stream)
        name = str(event.get("hook_event_name", ""))
        if options.plugin:
            from memtool.hook.twice import is_in_settings

            if is_in_settings(name, str(event.get("cwd", "")), environ):
                return ""
        from memtool.hook.events import act

        return act(name, event, options, environ)
    except BaseException as error:  # noqa: BLE001
        from memtool.hook.problems import report

        report(name, error, options, environ)
        return ""


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
