"""Count what five journeys through the package touch: how many of its functions and files.

python scripts/journeys.py            a table
python scripts/journeys.py prompt     the functions of one journey, too, file by file

Each journey runs in a process of its own on the sample vault, with everything indexed beforehand.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypeAlias

CLONE = Path(__file__).resolve().parents[1]
PACKAGE = str(CLONE / "memtool") + os.sep
TRANSCRIPT = str(CLONE / "sample_sessions" / "sample-1f3c9a52.jsonl")

Step: TypeAlias = list[str] | dict[str, Any]  # a command of memtool, or an event of the client

QUEUED: Step = {"hook_event_name": "SessionEnd"}
JOURNEYS: dict[str, Step] = {
    "search": ["search", "max_connections"],
    "edit": {"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": {"file_path": "{home}/shop/a.py"}},
    "session": ["capture", "--drain"],
    "prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "How many max_connections does the pool have?"},
    "remember": ["remember", "The staging database of the shop listens on port 5433.", "--project", "shop"],
}

sys.path.insert(0, str(CLONE))


def main(arguments: list[str]) -> int:
    """Print what each journey touches; of one that is named, the functions, too."""
    print(f"{'journey':<10}{'functions':>10}{'files':>8}")
    for name in arguments or JOURNEYS:
        called = _traced(name)
        print(f"{name:<10}{sum(map(len, called.values())):>10}{len(called):>8}")
        for file, functions in called.items() if arguments else ():
            print(f"  {file}: {', '.join(functions)}")
    return 0


def _traced(name: str) -> dict[str, list[str]]:
    """Return the functions that a journey calls, by file."""
    with tempfile.TemporaryDirectory(prefix="memtool-journey-") as folder:
        place = Path(folder).resolve()
        vault, home = place / "vault", place / "home"
        shutil.copytree(CLONE / "sample_vault", vault, ignore=shutil.ignore_patterns(".*"))
        (home / "shop").mkdir(parents=True)
        own = {"HOME": home, "PYTHONPATH": CLONE, "CLAUDE_CONFIG_DIR": home / ".claude", "MEMTOOL_VAULT": vault}
        own |= {"MEMTOOL_CACHE": place / "cache", "MEMTOOL_CONFIG": place / "config.toml"}
        environ = {"PATH": os.environ["PATH"], "MEMTOOL_EMBEDDINGS_PROVIDER": "none"}
        environ |= {key: str(value) for key, value in own.items()}
        steps = (["-m", "memtool", "init", str(vault)], ["-m", "memtool", "index"], [__file__, "--trace", name])
        for step in steps:
            ran = subprocess.run([sys.executable, *step], env=environ, cwd=home, check=True, capture_output=True)
        found: dict[str, list[str]] = json.loads(ran.stdout)
        return found


def _trace(name: str) -> None:
    """Go one journey in this process, and print the functions that it calls as JSON, by file."""
    from memtool.capture import queue  # noqa: PLC0415  (not for the process that starts this one)

    queue.start_worker = lambda *_: True
    os._exit = sys.exit  # type: ignore[assignment]
    if name == "session":
        _go(QUEUED)
    seen: set[CodeType] = set()

    def look(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            seen.add(frame.f_code)

    answer, sys.stdout = sys.stdout, io.TextIOWrapper(io.BytesIO())
    threading.setprofile(look)
    sys.setprofile(look)
    with suppress(SystemExit):
        _go(JOURNEYS[name])
    sys.setprofile(None)
    sys.stdout = answer
    called: dict[str, list[str]] = {}
    for code in sorted(seen, key=lambda code: (code.co_filename, code.co_firstlineno)):
        if code.co_flags & CO_OPTIMIZED and not code.co_name.startswith("<"):  # no body of a module or a class
            called.setdefault(code.co_filename.removeprefix(PACKAGE), []).append(code.co_name)
    print(json.dumps(called))


def _go(step: Step) -> None:
    from memtool.cli.main import main as command  # noqa: PLC0415
    from memtool.hook.main import run as hook  # noqa: PLC0415

    if isinstance(step, list):
        sys.argv = ["memtool", *step]
        command()
    else:
        home = os.environ["HOME"]
        event = {"session_id": "s1", "transcript_path": TRANSCRIPT, "cwd": f"{home}/shop", **step}
        hook((), os.environ, io.BytesIO(json.dumps(event).replace("{home}", home).encode()))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--trace"]:
        _trace(sys.argv[2])
    else:
        sys.exit(main(sys.argv[1:]))
