"""The area that a folder's work is filed under: `areas/projects/<name>/`, found by the project's identities."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from memtool.errors import MemtoolError
from memtool.vault.files import hash_of, read_text, replace
from memtool.vault.layout import Vault

FRESH = 86_400.0  # seconds for which a folder's area is remembered

_FORBIDDEN = re.compile(r'[\x00-\x20<>:"/\\|?*`\[\]#^\x7f-\x9f\ud800-\udfff]+')  # on some disk, or in a link
_LONGEST_NAME = 60  # characters
_MANY = 2_000  # folders that are remembered


class ProjectArea(NamedTuple):
    """A project's name in the vault, empty for folders that are no project, and its root on this machine."""

    name: str
    root: Path

    @property
    def ref(self) -> str:
        """The path of its summary in the vault."""
        return f"areas/projects/{self.name}/summary.md"


def find_area(vault: Vault, folder: Path, home: Path, now: float) -> ProjectArea:
    """Return the area of the project that *folder* lies in, as it was found not long ago if it was.

    Args:
        vault: lists the identities of its projects.
        folder: where somebody works; it may be gone.
        home: the user's home folder, which is no project unless it is a repository.
        now: in seconds since 1970.
    """
    remembered = _remembered(vault, folder, now)
    if remembered:
        return remembered.area
    area = _find(vault, folder, home)
    _remember(vault, folder, _Entry(area, now))
    return area


def find_registered_area(vault: Vault, folder: Path, home: Path, now: float) -> ProjectArea:
    """Return the same, and see to it that the summary of the area lists all identities of *folder*."""
    remembered = _remembered(vault, folder, now)
    if remembered and remembered.registered and (not remembered.area.name or _has_summary(vault, remembered.area)):
        return remembered.area
    area = _find(vault, folder, home)
    if area.name:
        register(vault, area, folder)
    _remember(vault, folder, _Entry(area, now, registered=True))
    return area


def register(vault: Vault, area: ProjectArea, folder: Path) -> bool:
    """Write down all identities of *folder* in the summary of its *area*; return whether that changed anything.

    A summary that is missing is made; of one that exists, only the line `identities` is changed.
    """
    from memtool.vault.frontmatter import set_list
    from memtool.vault.projects import find_project_identities, match_project

    listed = known_projects(vault).get(area.name, ())
    new = [one for one in find_project_identities(folder) if match_project([one], {area.name: listed}) is None]
    path = vault.path(area.ref)
    if not new:
        return False
    with vault.lock():
        text, expected = read_text(path) if path.exists() else (_new_summary(area.name), None)
        replace(path, set_list(text, "identities", [*listed, *new]), expected=expected)
    return True


def known_projects(vault: Vault) -> dict[str, tuple[str, ...]]:
    """Return the identities that each project's summary lists, by the project's name."""
    from memtool.vault.note import Note, parse_note

    known: dict[str, tuple[str, ...]] = {}
    for path in sorted(filter(Path.is_file, (vault.root / "areas" / "projects").glob("*/summary.md"))):
        with suppress(MemtoolError, OSError):
            ref = path.relative_to(vault.root).as_posix()
            note = parse_note(ref, vault.path(ref).read_bytes())
            known[path.parent.name] = note.words("identities") if isinstance(note, Note) else ()
    return known


def area_name(text: str) -> str:
    """Return *text* as the name of a folder that every disk accepts; it may be empty."""
    return _FORBIDDEN.sub("-", text).strip("-. ")[:_LONGEST_NAME].strip("-. ")


class _Entry(NamedTuple):
    area: ProjectArea
    found_at: float
    registered: bool = False


def _find(vault: Vault, folder: Path, home: Path) -> ProjectArea:
    from memtool.vault.projects import find_project

    project = find_project(folder)
    if project.root in (home, *home.parents) and not project.is_repository:
        return ProjectArea("", project.root)
    return ProjectArea(_name(vault, folder, project.root), project.root)


def _has_summary(vault: Vault, area: ProjectArea) -> bool:
    return (vault.root / area.ref).is_file()


def _name(vault: Vault, folder: Path, root: Path) -> str:
    from memtool.vault.projects import find_project_identities, match_project, short_id

    identities = find_project_identities(folder)
    known = known_projects(vault)
    found = match_project(identities, known)
    if found is not None:
        return found
    strongest = identities[0]
    of_remote = "" if strongest.startswith(("commit:", "path:")) else strongest.rsplit("/", 1)[-1]
    name = area_name(of_remote) or area_name(root.name) or "project"
    # An area that lists no identity was made by hand: it is taken for this project. Another one is a namesake.
    taken = next((other for other in known if other.casefold() == name.casefold()), None)
    if taken is None:
        return name
    return f"{name}-{short_id(root)[:4]}" if known[taken] else taken


def _new_summary(name: str) -> str:
    return f"---\ntype: project\n---\n\n# {name}\n"


def _memory_path(vault: Vault) -> Path:
    return vault.state_path / "projects.json"


def _remembered(vault: Vault, folder: Path, now: float) -> _Entry | None:
    match _all_remembered(vault).get(str(folder)):
        case [str(name), str(root), int() | float() as found_at, bool(registered)] if 0 <= now - found_at < FRESH:
            return _Entry(ProjectArea(area_name(name), Path(root)), found_at, registered)
    return None


def _all_remembered(vault: Vault) -> dict[str, Any]:
    try:
        entries = json.loads(_memory_path(vault).read_bytes()) if _memory_path(vault).is_file() else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _remember(vault: Vault, folder: Path, entry: _Entry) -> None:
    path = _memory_path(vault)
    with suppress(OSError, MemtoolError), vault.lock("projects", timeout=1.0):
        entries = _all_remembered(vault)
        entries.pop(str(folder), None)  # so that it comes last, as the newest
        entries[str(folder)] = [entry.area.name, os.fspath(entry.area.root), entry.found_at, entry.registered]
        replace(path, json.dumps(dict(list(entries.items())[-_MANY:])), expected=hash_of(path), durable=False)


def shown_path(path: str, root: Path | None, home: Path) -> str:
    """Return *path* as a person would write it: relative to *root*, else with `~`, else as it is."""
    for folder, prefix in ((root, ""), (home, "~/")):
        with suppress(ValueError):
            if folder is not None:
                return prefix + Path(path).relative_to(folder).as_posix()
    return path
