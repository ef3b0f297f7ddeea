"""Sessions at the command line, kept as files: `sessions/*.txt`.

    $ memtool show nothing            a command, run in a fresh copy of sample_vault/
    ! memtool: no note matches …      a line on stderr; lines on stdout stand as they are
    [20]                              the exit code, where it is not 0

What differs from run to run is replaced: `<vault>`, `<time>`, `<index>` and the like. To write the files
anew after a wanted change: `MEMTOOL_REWRITE_SESSIONS=1 pytest tests/cli/test_sessions.py`, then read the difference.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memtool import __version__

if TYPE_CHECKING:
    from terminal import Memtool, Ran

SESSIONS = sorted((Path(__file__).parent / "sessions").glob("*.txt"))
REWRITE = bool(os.environ.get("MEMTOOL_REWRITE_SESSIONS"))  # read before the guard forgets it
CHANGING = (
    (r'"took_ms": [\d.]+', '"took_ms": <time>'),
    (r"[0-9a-f]{16}/index/[0-9a-f]{8}\.sqlite", "<machine>/index/<index>.sqlite"),
    (r"\(\d+\.\d MB\)", "(<size>)"),
    (r'"bytes": \d+', '"bytes": <size>'),
    (r'"fingerprint": "[^"]+"', '"fingerprint": "<fingerprint>"'),  # it holds a version of Python's
    (r"\d+ chunks", "<n> chunks"),
    (r'"chunks": [1-9]\d*', '"chunks": <n>'),
    (r"versions: .*", "versions: <versions>"),
    (r"\d+ ms for a hook", "<time> for a hook"),
    (r"/\S+/homes/\d+/", "<home>/"),
    (r"To remove memtool, `.*`", "To remove memtool, `<command>`"),
    (re.escape(__version__), "<version>"),
    (rf"fact-{date.today():%Y%m%d}-[0-9a-f]{{10}}", "<fact>"),  # noqa: DTZ011  (the command takes the local day, too)
    (f"{date.today()}", "<today>"),  # noqa: DTZ011
)


def replayed(memtool: Memtool, text: str, vault: Path) -> Iterator[str]:
    """Give the session in *text* as it goes now: its comments and commands, with what they answer today."""
    for line in text.split("\n"):
        if line.startswith("#"):
            yield line
        elif line.startswith("$ "):
            program, *arguments = shlex.split(line.removeprefix("$ "))
            assert program == "memtool"
            yield from ["", line, *shown(memtool(*arguments), vault)]


def shown(ran: Ran, vault: Path) -> Iterator[str]:
    text = ran.out + "".join(f"! {line}\n" for line in ran.err.splitlines())
    for pattern, name in ((re.escape(str(vault)), "<vault>"), *CHANGING):
        text = re.sub(pattern, name, text)
    yield from (line.rstrip() for line in text.rstrip("\n").split("\n") if text)
    if ran.code:
        yield f"[{ran.code}]"


@pytest.mark.slow
@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_a_session_goes_as_it_is_written(memtool: Memtool, sample: Path, path: Path) -> None:
    written = path.read_text(encoding="utf-8")
    now = "\n".join(replayed(memtool, written, sample)).strip() + "\n"
    if REWRITE:
        path.write_text(now, encoding="utf-8")
    assert now == written or REWRITE


def test_there_are_sessions_and_none_is_rewritten_by_accident() -> None:
    assert len(SESSIONS) >= 4
    assert not REWRITE
