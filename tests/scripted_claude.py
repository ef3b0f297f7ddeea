"""A program that stands for the `claude` command: it writes down how it was started, then does as it is told.

program = make_claude(tmp_path, result(text="hello"))
started(tmp_path)["argv"]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_PROGRAM = """\
import json, os, pathlib, subprocess, sys, time
box = pathlib.Path({box!r})
script = json.loads((box / "script.json").read_text())
folder = pathlib.Path.cwd()
report = {{
    "argv": sys.argv[1:], "stdin": sys.stdin.buffer.read().decode(), "environ": dict(os.environ), "cwd": str(folder),
    "files": sorted(path.name for path in folder.iterdir()), "pid": os.getpid(),
    "session": os.getsid(0) if hasattr(os, "getsid") else 0,
    "settings": (folder.parent / "settings.json").read_text(), "system": (folder.parent / "system.md").read_text(),
}}
if script["child"]:
    forever = "import time\\nwhile True: time.sleep(1)"
    report["child"] = subprocess.Popen([sys.executable, "-c", forever]).pid
(box / "started.tmp").write_text(json.dumps(report))
(box / "started.tmp").replace(box / "started.json")
sys.stderr.write(script["stderr"])
sys.stdout.write(script["stdout"])
while script["endless"]:
    sys.stdout.write("x" * 65536)
sys.stdout.flush()
while script["hangs"]:
    time.sleep(1)
sys.exit(script["code"])
"""


def make_claude(
    box: Path,
    stdout: str = "",
    *,
    stderr: str = "",
    code: int = 0,
    hangs: bool = False,
    endless: bool = False,
    child: bool = False,
) -> Path:
    """Return the program. It prints *stdout* and *stderr* and exits with *code*, unless it *hangs*.

    With *child* it starts a process of its own that never ends.
    """
    box.mkdir(exist_ok=True)
    script = {"stdout": stdout, "stderr": stderr, "code": code, "hangs": hangs, "endless": endless, "child": child}
    (box / "script.json").write_text(json.dumps(script))
    source = box / "claude.py"
    source.write_text(_PROGRAM.format(box=str(box)), encoding="utf-8")
    if sys.platform == "win32":
        program = box / "claude.cmd"
        program.write_text(f'@"{sys.executable}" -I "{source}" %*\n')
    else:
        program = box / "claude"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{source}" "$@"\n')
        program.chmod(0o755)
    return program


def started(box: Path) -> dict[str, Any]:
    """Return how the program was started last."""
    report: dict[str, Any] = json.loads((box / "started.json").read_text())
    return report


def result(text: object = "hello", **fields: object) -> str:
    """Return what the client prints, as version 2.1.330 does."""
    usage = {"input_tokens": 90, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 12}
    return json.dumps({
        "type": "result", "subtype": "success", "is_error": False, "api_error_status": None, "num_turns": 1,
        "result": text, "stop_reason": "end_turn", "session_id": "s", "total_cost_usd": 0.0004, "usage": usage,
        "modelUsage": {"claude-haiku-5-5": {"inputTokens": 90, "outputTokens": 12, "costUSD": 0.0004}}, **fields,
    })  # fmt: skip
