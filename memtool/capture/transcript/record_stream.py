"""The records of a transcript one after the other, in little memory whatever the size of the file or of a line."""

from __future__ import annotations

import json
import os
import re
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

from memtool.capture import limits
from memtool.errors import TranscriptUnreadable

Record: TypeAlias = dict[str, Any]

# An unescaped quote is never part of a string, so these beginnings are what they look like.
_SKIPPED = re.compile(
    rb'\{"type":"(?:api-request|file-history-|cost-state"|tools-used")'
    rb'|\{"parentUuid":(?:null|"[^"\\]*"),"isSidechain":(?:true,'
    rb'|false,"attachment":\{"type":"(?!(?:queued_command|hook_additional_context)")[a-z_]+")'
)
_OF_HELPER = re.compile(rb'\{"parentUuid":(?:null|"[^"\\]*"),"isSidechain":true,')
# Also matches a string that the end of the line cuts off; else each quote in it would be tried as a beginning.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_BORDER = re.compile(rb'[^"\\/bfnrtu0-9a-fA-F\x80-\xbf]')  # never in the middle of a character or of an escape
_WHOLE_TAG = re.compile(rb"(?:<|\xef\xbc\x9c)[\s/]{0,17}(?:private|memtool-context|claude-mem-context)", re.IGNORECASE)
_BOM = b"\xef\xbb\xbf"
_ELLIPSIS = memoryview(" … ".encode())


@dataclass
class Tally:
    """Counts of a transcript: lines, bytes, the offset of the last line, and lines that could not be read."""

    lines: int = 0
    size: int = 0
    record_at: int = 0
    broken: int = 0


def open_transcript(path: Path) -> BinaryIO:
    """Return the open file at *path*, decompressed; a pipe or a device is refused without waiting for it.

    Raises:
        TranscriptUnreadable: there is no file, or it cannot be opened.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise TranscriptUnreadable(path, getattr(error, "strerror", "") or "no such path") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise TranscriptUnreadable(path, "not a file")
    if path.suffix != ".zst":
        return open(handle, "rb")
    import tempfile  # not for hooks, as below

    out = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115  (who reads it closes it)
    try:
        with open(handle, "rb") as file:
            _unpack(path, file, out)
    except BaseException:
        out.close()
        raise
    out.seek(0)
    return out


def mark_before(file: BinaryIO, offset: int) -> int:
    """Return the checksum of the bytes of *file* before *offset*, by which a file that only grew is known."""
    size = min(offset, limits.HEAD_BYTES)
    file.seek(offset - size)
    return zlib.crc32(file.read(size))


def read_records(file: BinaryIO, tally: Tally, *, of_helper: bool = False) -> Iterator[Record]:
    """Give the records of *file* that may matter, and count in *tally* what was met.

    Those of helpers matter only in a transcript that is a helper's.
    """
    for line in _lines(file, tally):
        if line.isspace() or (_SKIPPED.match(line) and not (of_helper and _OF_HELPER.match(line))):
            continue
        if (record := _parse(line)) is None:
            tally.broken += 1
        else:
            yield record


def _lines(file: BinaryIO, tally: Tally) -> Iterator[bytes | bytearray]:
    """Give the lines of *file*; of one that is too long, only so much that it cannot be parsed."""
    line: bytes | bytearray
    while line := file.readline(limits.LONG_RECORD_BYTES):
        tally.lines += 1
        tally.record_at = tally.size
        tally.size += len(line)
        if not line.endswith(b"\n"):
            line = bytearray(line)
            while piece := file.readline(limits.LONG_RECORD_BYTES):
                tally.size += len(piece)
                if tally.size - tally.record_at <= limits.RECORD_BYTES:
                    line += piece
                else:
                    line = line[:1]
                if piece.endswith(b"\n"):
                    break
        yield line.removeprefix(_BOM) if tally.lines == 1 else line


def _parse(line: bytes | bytearray) -> Record | None:
    if len(line) > limits.LONG_RECORD_BYTES:
        parts = list(_short_strings(line))
        if sum(map(len, parts)) > limits.PARSED_BYTES:
            return None
        line = b"".join(parts)
    try:
        record = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):  # numbers of thousands of digits are a ValueError
        return None
    return record if isinstance(record, dict) else None


def _short_strings(line: bytes | bytearray) -> Iterator[memoryview]:
    """Give *line* in parts, its long strings cut."""
    view = memoryview(line)
    end = 0
    for match in _STRING.finditer(line):
        start, stop = match.span()
        if stop - start > limits.LONG_STRING_BYTES:
            yield view[end : start + 1]
            yield from _head_and_tail(view, start + 1, stop - 1)
            end = stop - 1
    yield view[end:]


def _head_and_tail(line: memoryview, start: int, stop: int) -> Iterator[memoryview]:
    """Give the ends of the string at `line[start:stop]`; nothing of one in which no place for a cut is found.

    The reader keeps far less of either end than is given here, so a secret that the cut goes through is not kept. Only
    a block that must go whole may be longer than that: its string ends where it begins.
    """
    if block := _WHOLE_TAG.search(line, start, stop):
        stop = block.start()
    after_head, before_tail = start + 40 * 1024, stop - 20 * 1024
    if before_tail <= after_head:
        yield line[start:stop]
        return
    head, tail = (_BORDER.search(line, place, place + 1024) for place in (after_head, before_tail))
    if head and tail:
        yield line[start : head.start()]
        yield _ELLIPSIS
        yield line[tail.start() : stop]


def _unpack(path: Path, file: BinaryIO, out: BinaryIO) -> None:
    """Write what the zstd file *path*, open as *file*, holds to *out*: Codex compresses rollouts after a week.

    Raises:
        TranscriptUnreadable: it is broken or too large, or nothing here decompresses it.
    """
    try:
        zstd = import_module("compression.zstd")  # of Python 3.14
    except ImportError:
        _unpack_by_program(path, file, out)
        return
    try:
        with zstd.open(file) as source:
            _copy(path, source, out)
    except (zstd.ZstdError, EOFError):
        raise TranscriptUnreadable(path, "it is no whole zstd file") from None


def _unpack_by_program(path: Path, file: BinaryIO, out: BinaryIO) -> None:
    import shutil
    import subprocess

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
    while block := source.read(limits.BLOCK_BYTES):
        size += len(block)
        if size > limits.UNPACKED_BYTES:
            raise TranscriptUnreadable(path, "it is too large once it is decompressed")
        out.write(block)
