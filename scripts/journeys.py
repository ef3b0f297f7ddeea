"""Count what six journeys through the package touch: its functions and files, and the costs of each journey.

python scripts/journeys.py            a table
python scripts/journeys.py prompt     the functions of one journey, too, file by file

The costs are git processes, walks over the vault, and parses of notes, facts and sessions.

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
from collections import Counter
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
    "consolidate": ["consolidate", "--week", "2026-W07", "--accept"],
}
COSTS = {
    "git": {("git.py", "ask")},
    "walks": {("vault/scan.py", "scan")},
    "parses": {
        ("vault/note.py", "parse_note"),
        ("vault/facts.py", "parse_facts"),
        ("vault/sessions.py", "parse_session"),
    },
}  # the functions whose calls are counted

sys.path.insert(0, str(CLONE))


def main(arguments: list[str]) -> int:
    """Print what each journey touches; of one that is named, the functions, too."""
    print(f"{'journey':<12}{'functions':>10}{'files':>8}{''.join(f'{cost:>8}' for cost in COSTS)}")
    for name in arguments or JOURNEYS:
        called, costs = traced(name)
        counts = (len(called), *costs.values())
        print(f"{name:<12}{sum(map(len, called.values())):>10}{''.join(f'{count:>8}' for count in counts)}")
        for file, functions in called.items() if arguments else ():
            print(f"  {file}: {', '.join(functions)}")
    return 0


def traced(name: str) -> tuple[dict[str, list[str]], dict[str, int]]:
    """Return the functions that a journey calls, by file, and its costs."""
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
        called, costs = json.loads(ran.stdout)
        return called, costs


def _trace(name: str) -> None:
    """Go one journey in this process, and print the functions that it calls, by file, and its costs as JSON."""
    from memtool.capture import queue  # noqa: PLC0415  (not for the process that starts this one)

    queue.start_worker = lambda *_: True
    os._exit = sys.exit  # type: ignore[assignment]
    if name == "session":
        _go(QUEUED)
    seen: Counter[CodeType] = Counter()

    def look(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            seen[frame.f_code] += 1

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
    times: Counter[tuple[str, str]] = Counter()
    for code, count in seen.items():
        times[code.co_filename.removeprefix(PACKAGE), code.co_name] += count
    print(json.dumps([called, {cost: sum(times[function] for function in of) for cost, of in COSTS.items()}]))


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
