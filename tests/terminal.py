"""Running `memtool` as its users do: in a process of its own, with a pipe or with a terminal."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import pytest

MEMTOOL = (sys.executable, "-m", "memtool")


class Ran(NamedTuple):
    """What a run ended with."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> Any:
        """The JSON on stdout."""
        return json.loads(self.out)


Memtool: TypeAlias = Callable[..., Ran]  # (*arguments, stdin=b"")


def with_pipes(*arguments: str | bytes, stdin: bytes = b"", environ: Mapping[str, str] | None = None) -> Ran:
    """Run `memtool` with pipes on all sides."""
    command = [*MEMTOOL, *arguments]
    ran = subprocess.run(command, input=stdin, capture_output=True, env={**os.environ, **(environ or {})}, check=False)
    return Ran(ran.returncode, ran.stdout.decode("utf-8"), ran.stderr.decode("utf-8"))


def on_a_terminal(
    *arguments: str,
    columns: int = 80,
    command: Sequence[str] = MEMTOOL,
    environ: Mapping[str, str] | None = None,
    typed: str = "",
) -> Ran:
    """Run `memtool` with a terminal on all sides, which makes one text of stdout and stderr; *typed* waits there."""
    if sys.platform == "win32":
        pytest.skip("needs a terminal of Unix")
    import fcntl
    import struct
    import termios

    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environ = {"TERM": "xterm-256color", **os.environ, **(environ or {})}
    environ.pop("COLUMNS", None)
    with subprocess.Popen(
        [*command, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environ, start_new_session=True
    ) as process:
        os.close(theirs)
        os.write(ours, typed.encode())
        shown = b"".join(iter(lambda: _read(ours), b""))
        os.close(ours)
        return Ran(process.wait(), shown.decode("utf-8").replace("\r\n", "\n"), "")


def _read(terminal: int) -> bytes:
    select.select([terminal], [], [])
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux says so that the last one has left the terminal
        return b""
