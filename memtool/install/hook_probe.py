"""A probe of the hooks' program: it gets an event in a vault of its own, so that the user's files are untouched."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from memtool import settings
from memtool.capture.log import read_log
from memtool.clients import CLAUDE_CODE, CLIENTS
from memtool.install.hooks import Program
from memtool.settings.sections import VARIABLES
from memtool.vault.layout import SETTINGS_FILE

PATIENCE = 30  # seconds for a hook that is tried
_PROBED_FILE = "memtool-doctor.md"
_IGNORE_VARIABLE = VARIABLES["capture.ignore"]


class Probe(NamedTuple):
    """The fault of a program, empty if it wrote the edit down, and the milliseconds that it took."""

    fault: str
    milliseconds: int


def probe(program: Program, client: str = "") -> Probe:
    """Run *program* on an edit, as *client* reports it; empty for Claude Code.

    A failure is tried once more: the machine may be busy.
    """
    found = Probe("", 0)
    for _ in range(2):
        try:
            with tempfile.TemporaryDirectory(prefix="memtool-probe-", ignore_cleanup_errors=True) as folder:
                found = _tried(program, Path(folder), client, settings.environment())
        except subprocess.TimeoutExpired:
            found = Probe("it does not answer", PATIENCE * 1000)
        except (OSError, ValueError) as error:
            found = Probe(f"it cannot be run: {error}", 0)
        if not found.fault:
            break
    return found


def edit_event(client: str, file: Path) -> dict[str, object]:
    """Return the event with which *client* reports an edit of *file*, by the table of `memtool.clients`."""
    known = CLIENTS[client or CLAUDE_CODE]
    names = {ours: its for its, ours in {**known.fields, **known.arguments}.items()}
    path = {names.get("file_path", "file_path"): str(file)}
    event: dict[str, object] = {"session_id": "memtool-doctor", "cwd": str(file.parent)}
    if known.tool_events:
        event |= {"hook_event_name": next(its for its, tool in known.tool_events.items() if tool == "Edit")}
        event |= {"tool_info": path} if client == "windsurf" else path
        return {names.get(name, name): value for name, value in event.items()}
    name = next(its for its, ours in known.events.items() if ours == "PostToolUse")
    writes = next((its for its, ours in known.tools.items() if ours == "Write"), "")
    patch = {"command": f"*** Begin Patch\n*** Add File: {file.name}\n+text\n*** End Patch\n"}
    tool = {"tool_name": writes, "tool_input": path} if writes else {"tool_name": "apply_patch", "tool_input": patch}
    return {"hook_event_name": name, **event, **tool}


def _tried(program: Program, folder: Path, client: str, environ: Mapping[str, str]) -> Probe:
    vault, project = folder / "vault", folder / "project"
    vault.mkdir()
    project.mkdir()
    (vault / SETTINGS_FILE).touch()
    environ = {name: value for name, value in environ.items() if name != settings.INTERNAL} | {_IGNORE_VARIABLE: "/"}
    began = time.perf_counter()
    here = program._replace(args=tuple(on_vault(program.args, vault)))
    ran = subprocess.run(  # a client hands a line to a shell
        here.line if program.is_line else [here.command, *here.args], shell=program.is_line,
        input=json.dumps(edit_event(client, project / _PROBED_FILE)).encode("utf-8"), capture_output=True,
        timeout=PATIENCE, check=False, env=environ, cwd=project,
    )  # fmt: skip
    took = round(1000 * (time.perf_counter() - began))
    if any(_PROBED_FILE in note.read_text(encoding="utf-8") for note in vault.glob("daily/*.md")):
        return Probe("", took)
    messages = [entry.message for entry in read_log([vault / ".memtool"], datetime.fromtimestamp(0, UTC))]
    messages += ran.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    last = messages[-1] if messages else f"exit code {ran.returncode}"
    return Probe(f"it does not write the edit down: {last}", took)


def on_vault(args: Sequence[str], vault: Path) -> list[str]:
    """Return *args* with *vault* for the vault that they name."""
    if "--vault" not in args:
        return [*args, "--vault", str(vault)]
    named = args.index("--vault") + 1
    return [*args[:named], str(vault), *args[named + 1 :]]
