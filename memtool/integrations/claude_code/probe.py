"""A trial of an installed hook: it is given an edit, as the client would give it, and a vault of its own."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from memtool import settings
from memtool.capture.log import read_log
from memtool.integrations.claude_code.hooks import Program
from memtool.vault.layout import SETTINGS_FILE

_FILE = "memtool-doctor.md"
_TIMEOUT = 30  # seconds
_IGNORE = settings.variable_of("capture.ignore")


def fault_of(program: Program) -> str:
    """Run *program* on an edit; return its fault, or an empty string if it has written the edit down."""
    try:
        with tempfile.TemporaryDirectory(prefix="memtool-probe-", ignore_cleanup_errors=True) as folder:
            return _try(program, Path(folder), settings.environment())
    except subprocess.TimeoutExpired:
        return "it does not answer"
    except (OSError, ValueError) as error:
        return f"it cannot be run: {error}"


def _try(program: Program, folder: Path, environ: Mapping[str, str]) -> str:
    vault, project = folder / "vault", folder / "project"
    vault.mkdir()
    project.mkdir()
    (vault / SETTINGS_FILE).touch()
    event = {
        "hook_event_name": "PostToolUse",
        "session_id": "memtool-doctor",
        "cwd": str(project),
        "tool_name": "Write",
        "tool_input": {"file_path": str(project / _FILE)},
    }
    environ = {name: value for name, value in environ.items() if name != settings.INTERNAL} | {_IGNORE: "/"}
    ran = subprocess.run(
        [program.command, *_on_vault(program.args, vault)],
        input=json.dumps(event).encode("utf-8"),
        capture_output=True,
        timeout=_TIMEOUT,
        check=False,
        env=environ,
    )
    if any(_FILE in note.read_text(encoding="utf-8") for note in vault.glob("daily/*.md")):
        return ""
    told = [entry.message for entry in read_log([vault / ".memtool"], datetime.fromtimestamp(0, UTC))]
    told += ran.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    return f"it does not write down what it is given: {told[-1] if told else f'exit code {ran.returncode}'}"


def _on_vault(args: tuple[str, ...], vault: Path) -> list[str]:
    """Return *args* with *vault* for the vault that they name."""
    if "--vault" not in args:
        return [*args, "--vault", str(vault)]
    named = args.index("--vault") + 1
    return [*args[:named], str(vault), *args[named + 1 :]]
