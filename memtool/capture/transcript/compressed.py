"""Transcripts that a client has compressed: Codex does that to rollouts which nobody has touched for a week."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, cast

from memtool.errors import TranscriptUnreadable

_LARGEST = 536_870_912  # bytes of what comes out
_BLOCK = 1_048_576


def decompressed(path: Path, file: BinaryIO) -> BinaryIO:
    """Return what the zstd file *path*, open as *file*, holds: a file without a name, gone when it is closed.

    Raises:
        TranscriptUnreadable: it is broken or too large, or nothing here decompresses it.
    """
    out = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115  (who reads it closes it)
    try:
        _unpack(path, file, out)
    except BaseException:
        out.close()
        raise
    out.seek(0)
    return out


def _unpack(path: Path, file: BinaryIO, out: BinaryIO) -> None:
    try:
        zstd = import_module("compression.zstd")  # of Python 3.14
    except ImportError:
        _by_program(path, file, out)
        return
    try:
        with zstd.open(file) as source:
            _copy(path, source, out)
    except (zstd.ZstdError, EOFError):
        raise TranscriptUnreadable(path, "it is no whole zstd file") from None


def _by_program(path: Path, file: BinaryIO, out: BinaryIO) -> None:
    program = shutil.which("zstd")
    if program is None:
        hint = "Install the program `zstd`, or run memtool with Python 3.14."
        raise TranscriptUnreadable(path, "it is compressed, and nothing here decompresses zstd", hint=hint)
    command = [program, "--decompress", "--stdout", "--quiet"]
    with subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        assert running.stdout is not None  # noqa: S101  (for the types)
        try:
            _copy(path, cast("BinaryIO", running.stdout), out)
        except TranscriptUnreadable:
            running.kill()
            raise
    if running.returncode:
        raise TranscriptUnreadable(path, "it is no whole zstd file")


def _copy(path: Path, source: BinaryIO, out: BinaryIO) -> None:
    size = 0
    while block := source.read(_BLOCK):
        size += len(block)
        if size > _LARGEST:
            raise TranscriptUnreadable(path, "it is too large once it is decompressed")
        out.write(block)
