"""The client's own memory files, `~/.claude/projects/<folder>/memory/*.md`: read where they lie, never changed.

Their refs are absolute paths, so that they can be told from those of the vault, and opened.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePath

from memtool.vault.layout import NOTE_SUFFIXES, Vault
from memtool.vault.project_area import remembered_folders
from memtool.vault.scan import Scan

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9]")


def add_client_memory(found: Scan, projects: Path) -> None:
    """Add the stamps of the memory files below *projects* to *found*. What cannot be read is left out."""
    for folder in _folders(projects):
        memory = os.path.join(folder, "memory")  # noqa: PTH118  (speed: before each search)
        try:
            with os.scandir(memory) as entries:
                for entry in entries:
                    if entry.name.endswith(NOTE_SUFFIXES) and entry.name.isprintable() and entry.is_file():
                        stat = entry.stat()
                        found.stamps[PurePath(entry.path).as_posix()] = (stat.st_size, stat.st_mtime_ns)
        except (FileNotFoundError, NotADirectoryError):  # most projects have none
            continue
        except OSError:
            found.unreadable.append(PurePath(memory).as_posix() + "/")


def is_client_memory(ref: str) -> bool:
    """Return whether *ref* is that of a file outside the vault."""
    return os.path.isabs(ref)  # noqa: PTH117  (speed)


def client_memory_path(ref: str, projects: Path) -> Path | None:
    """Return the memory file that *ref* names, if it is one below *projects*, wherever its symlinks lead."""
    if not is_client_memory(ref):
        return None
    path = PurePath(ref)
    inside = path.is_relative_to(projects) and ".." not in path.parts
    parts = path.relative_to(projects).parts if inside else ()
    is_memory = len(parts) == 3 and parts[1] == "memory" and parts[2].endswith(NOTE_SUFFIXES)
    return Path(ref) if is_memory and Path(ref).is_file() else None


def project_of_client_memory(ref: str, names: Mapping[str, str]) -> str:
    """Return the name of the project that the memory file *ref* belongs to, given the *names* by folder."""
    return names.get(PurePath(ref).parts[-3], "") if len(PurePath(ref).parts) > 3 else ""


def names_by_folder(vault: Vault) -> dict[str, str]:
    """Return the names of the projects whose places on this machine are known, by the client's name of the folder."""
    known = [entry for entry in remembered_folders(vault).values() if isinstance(entry, list) and len(entry) > 1]
    return {_NOT_IN_A_NAME.sub("-", str(root)): str(name) for name, root, *_ in known if name}


def _folders(projects: Path) -> list[str]:
    try:
        with os.scandir(projects) as entries:
            return [entry.path for entry in entries if entry.is_dir()]
    except OSError:
        return []
