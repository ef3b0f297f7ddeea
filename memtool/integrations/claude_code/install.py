"""Installing the hooks into a settings file, and taking them out again.

The original, which is the file as it was before the first hook of ours, is kept beside it. It lets `uninstall` give
back every byte, and is removed by it when it has become a copy of the file.
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from memtool.errors import BadSetting, NoteChanged, NotWritable
from memtool.integrations.claude_code import hooks, places
from memtool.integrations.claude_code.hooks import Program
from memtool.vault import files

_ORIGINAL = ".memtool-backup"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class Change:
    """The text of the settings file at *path* before a change and after it. None stands for no file.

    *original* is the path of the file as it was before the installation, None where there is none.
    """

    path: Path
    before: str | None
    after: str | None
    original: Path | None

    @property
    def is_change(self) -> bool:
        """Whether the two texts differ."""
        return self.before != self.after

    def diff(self) -> str:
        """Return the change as a unified diff."""
        old, new = (_LINE.findall(text or "") for text in (self.before, self.after))
        old_name, new_name = ("/dev/null" if text is None else str(self.path) for text in (self.before, self.after))
        marked = difflib.unified_diff(old, new, old_name, new_name)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in marked)


def install(path: Path, program: Program, *, hints: bool | None = None, dry_run: bool = False) -> Change:
    """Let the settings at *path* run *program* for each of our hooks. The second time it changes nothing.

    Whether those that give *hints* are among them stays as it is if None.

    Raises:
        BadSetting: the file is not what settings should be; it stays as it is.
        NotWritable, NoteChanged
    """
    there = places.read(path)
    before = there.text if there else None
    try:
        after = hooks.with_hooks(before or "", program, hints=hints)
        is_first = not hooks.find_handlers(before or "")
    except ValueError as error:
        raise places.not_settings(path, error) from None
    original = original_path(path)
    if not dry_run and before != after:
        if is_first:
            _keep(original, before)
        _write(path, after, there)
    has_original = before is not None if dry_run and is_first else original.is_file()
    return Change(path, before, after, original if has_original else None)


def uninstall(path: Path, *, dry_run: bool = False) -> Change:
    """Take all our hooks out of the settings at *path*, whoever put them in.

    Raises:
        BadSetting, NotWritable, NoteChanged
    """
    there = places.read(path)
    original = original_path(path)
    kept = _read_original(original)
    before = after = there.text if there else None
    try:
        if before is not None and hooks.find_handlers(before):
            after = hooks.without_hooks(before, kept)
    except ValueError as error:
        raise places.not_settings(path, error) from None
    if before != after == "{}\n" and kept is None and not path.is_symlink():
        after = None  # the file was made by `install`
    if not dry_run and before != after:
        _write(path, after, there)
        if kept == after:
            with contextlib.suppress(OSError):
                original.unlink()
    stays = original.is_file() if not dry_run else kept is not None and kept != after
    return Change(path, before, after, original if stays else None)


def original_path(path: Path) -> Path:
    """Return the path of the copy of the settings at *path* from before the installation."""
    return path.with_name(path.name + _ORIGINAL)


def _keep(path: Path, text: str | None) -> None:
    """Keep the original *text* at *path*; one that is left from an earlier installation gets a number and stays."""
    try:
        if path.exists() and path.read_bytes() != (text or "").encode("utf-8"):
            free = (path.with_name(f"{path.name}.{number}") for number in itertools.count(1))
            path.rename(next(name for name in free if not name.exists()))
    except OSError as error:
        raise NotWritable(f"cannot write '{path}': {error.strerror}") from None
    if text is not None and not path.exists():
        files.replace(path, text, expected=None)


def _read_original(path: Path) -> str | None:
    with contextlib.suppress(BadSetting):
        content = places.read(path)
        return content.text if content else None
    return None


def _write(path: Path, text: str | None, there: places.Content | None) -> None:
    if text is not None:
        files.replace(path, text, expected=there.hash if there else None)
        return
    if there is None or files.hash_of(path) != there.hash:
        raise NoteChanged(f"'{path.name}' was changed by someone else")
    try:
        path.unlink()
    except OSError as error:
        raise NotWritable(f"cannot remove '{path}': {error.strerror}") from None
    if path.parent.name == ".claude":
        with contextlib.suppress(OSError):  # it is not empty
            path.parent.rmdir()
