"""Which processes belong to a folder, so that a test can say that none is left."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path


def processes_of(folder: Path) -> dict[int, str]:
    """Return the processes whose environment, arguments or working folder name *folder*: each id and its command."""
    mark = os.fsencode(folder)
    others = (process for process in Path("/proc").glob("[0-9]*") if process.name != str(os.getpid()))
    found = {int(process.name): _command_of(process, mark) for process in others}
    return {number: command for number, command in found.items() if command}


def kill_processes_of(folder: Path) -> None:
    """Leave no process behind, whatever a test came to."""
    for number in processes_of(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


def _command_of(process: Path, mark: bytes) -> str:
    try:
        command = (process / "cmdline").read_bytes()
        told = b"\0".join([command, (process / "environ").read_bytes(), os.fsencode((process / "cwd").readlink())])
    except OSError:  # it has ended in the meantime, or it is another user's
        return ""
    if mark not in told:
        return ""
    return command.replace(b"\0", b" ").decode(errors="replace").strip() or "(it has only just begun)"
