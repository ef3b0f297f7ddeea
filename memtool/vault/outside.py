"""The files outside the vault that are read, too, where they lie, and never changed.

    ~/.claude/projects/<folder>/memory/*.md     the client's own memory, of the project that lies in that folder
    [knowledge] folders                         other Markdown of the user, which belongs to no project

Their refs are absolute paths, so that they can be told from those of the vault, and opened.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import NamedTuple

from memtool.vault.layout import NOTE_SUFFIXES, Vault
from memtool.vault.project_area import remembered_folders
from memtool.vault.scan import Scan, broken, scan

MOST_FILES = 100_000  # of one folder; whoever names `/` would wait for it before each search

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9]")


class Outside(NamedTuple):
    """The places outside the vault.

    Args:
        client_projects: where the client keeps its own memory files; None leaves them out.
        folders: the user's folders of Markdown, without symlinks in their paths.
    """

    client_projects: Path | None = None
    folders: tuple[Path, ...] = ()

    def add_to(self, found: Scan, vault: Path) -> None:
        """Add the stamps of the files in these places to *found*, and what the user should know of them."""
        if self.client_projects:
            _add_client_memory(found, self.client_projects)
        for folder in self.folders:
            _add_folder(found, folder, vault)

    def path_of(self, ref: str) -> Path | None:
        """Return the file that *ref* names, if it is one of these places."""
        if not is_outside(ref):
            return None
        path = PurePath(ref)
        if ".." in path.parts or not path.name.endswith(NOTE_SUFFIXES):
            return None
        is_ours = self._is_memory(path) or (self.is_knowledge(ref) and os.path.realpath(ref) == os.path.normpath(ref))
        return Path(ref) if is_ours and Path(ref).is_file() else None

    def is_knowledge(self, ref: str) -> bool:
        """Return whether *ref* lies in one of the user's folders, and not in a hidden one of these."""
        path = PurePath(ref)
        below = [path.relative_to(folder) for folder in self.folders if path.is_relative_to(folder)]
        return any(not any(part.startswith(".") for part in one.parts) for one in below)

    def _is_memory(self, path: PurePath) -> bool:
        if self.client_projects is None or not path.is_relative_to(self.client_projects):
            return False
        parts = path.relative_to(self.client_projects).parts
        return len(parts) == 3 and parts[1] == "memory"


def is_outside(ref: str) -> bool:
    """Return whether *ref* is that of a file outside the vault."""
    return os.path.isabs(ref)  # noqa: PTH117  (speed)


def folder_named(name: str, home: Path) -> Path:
    """Return the folder that a setting names, without symlinks; `~` and relative paths begin at *home*."""
    return Path(os.path.realpath(home / name.removeprefix("~").lstrip("/") if name.startswith("~") else home / name))


def project_of_memory(ref: str, names: Mapping[str, str]) -> str:
    """Return the name of the project that the client's memory file *ref* belongs to, given the *names* by folder."""
    return names.get(PurePath(ref).parts[-3], "") if len(PurePath(ref).parts) > 3 else ""


def names_by_folder(vault: Vault) -> dict[str, str]:
    """Return the names of the projects whose places on this machine are known, by the client's name of the folder."""
    known = [entry for entry in remembered_folders(vault).values() if isinstance(entry, list) and len(entry) > 1]
    return {_NOT_IN_A_NAME.sub("-", str(root)): str(name) for name, root, *_ in known if name}


def _add_folder(found: Scan, folder: Path, vault: Path) -> None:
    """Add the notes in *folder*. What cannot be read stays in the index: it may be a disk that comes back."""
    if folder.is_relative_to(vault):
        found.problems.append(broken(str(folder), "the folder lies in the vault, where it is read anyway"))
        return
    there = scan(folder)
    base = f"{folder.as_posix().rstrip('/')}/"
    own = f"{vault.relative_to(folder).as_posix()}/" if vault.is_relative_to(folder) else None
    notes = {
        base + ref: stamp
        for ref, stamp in there.stamps.items()
        if ref.endswith(NOTE_SUFFIXES) and not (own and ref.startswith(own))
    }
    if len(notes) > MOST_FILES:
        found.problems.append(broken(base, f"it holds {len(notes):,} notes; {MOST_FILES:,} of them are read"))
        notes = {ref: notes[ref] for ref in sorted(notes)[:MOST_FILES]}
    found.stamps.update(notes)
    found.unreadable.extend(base + ref for ref in there.unreadable)
    found.problems.extend(
        broken(base + problem.ref, problem.reason.replace("the vault", "its folder")) for problem in there.problems
    )
    if "" in there.unreadable:
        found.problems.append(broken(base, "there is no such folder now"))


def _add_client_memory(found: Scan, projects: Path) -> None:
    """Add the stamps of the memory files below *projects*. What cannot be read is left out."""
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


def _folders(projects: Path) -> list[str]:
    try:
        with os.scandir(projects) as entries:
            return [entry.path for entry in entries if entry.is_dir()]
    except OSError:
        return []
