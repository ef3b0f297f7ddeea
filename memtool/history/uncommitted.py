"""Paths that were written and not committed yet, in `.memtool/uncommitted`: so no kill loses a commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from memtool.history import limits
from memtool.vault.layout import Vault
from memtool.vault.state import append_state, make_state_folder, take_lines, waiting_lines

_NAME = "uncommitted"


def note_uncommitted(vault: Vault, refs: Iterable[str]) -> None:
    """Remember that *refs* are about to be written. If that fails they are committed with the next change to them."""
    with suppress(OSError):
        # It makes `.memtool`, too, which would itself be searched for symlinks with all that lies in it.
        make_state_folder(vault.state_path / "locks")
        append_state(vault.state_path / _NAME, "".join(f"{ref}\n" for ref in refs).encode("utf-8", "surrogateescape"))


def noted(vault: Vault) -> list[str]:
    """Return the paths that were noted and not taken yet."""
    return _refs(waiting_lines(vault.state_path / _NAME, largest=limits.UNCOMMITTED))


def take_noted(vault: Vault) -> Iterator[list[str]]:
    """Give the noted paths in one or two parts; asking for the next part removes the last one from the list.

    Raises:
        OSError: they cannot be taken.
    """
    yield from map(_refs, take_lines(vault.state_path / _NAME, largest=limits.UNCOMMITTED))


def _refs(lines: Iterable[bytes]) -> list[str]:
    refs = dict.fromkeys(line.decode("utf-8", "surrogateescape") for line in lines)
    return [ref for ref in refs if not Path(ref).is_absolute() and ".." not in Path(ref).parts]
