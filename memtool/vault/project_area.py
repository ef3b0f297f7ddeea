"""The area that a folder's work is filed under: `areas/projects/<name>/`, found by the project's identities."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from memtool.errors import BrokenVaultFile, HistoryFailed, MemtoolError, NoteChanged
from memtool.named_tuple import NamedTuple
from memtool.vault.files import read_head, read_text, replace
from memtool.vault.layout import Vault, project_of
from memtool.vault.state import read_state, write_state

if TYPE_CHECKING:
    from memtool.vault.projects import Project

FRESH = 86_400.0  # seconds for which a folder's area is remembered
UNSURE = 60.0  # seconds for which it is while git has not said all, or nobody has registered it

_FORBIDDEN = r'[\x00-\x20<>:"/\\|?*`\[\]#^\x7f-\x9f\ud800-\udfff]+'  # on some disk, or in a link
_PLAIN = rb"(?:path:/|commit:|[a-z0-9])[^\s,:\"'#&*!?|>%@`{}\[\]\\]+"
_AS_WRITTEN = rb"---\n(?:(?!---)[^\n]*\n)*?identities: \[(%s(?:, %s)*)\]\n" % (_PLAIN, _PLAIN)  # by `register`
_LONGEST_NAME = 60  # characters
_MANY = 2_000  # folders that are remembered
_LARGEST = 1_048_576  # bytes of what is remembered; a file that is larger was not written by memtool
_HEAD = 262_144  # bytes of a summary, in which its front matter ends
_PATIENCE = 0.1  # seconds; what is not remembered is found again


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

    A hook waits for it, so what git does not find at once is left to `find_registered_area`.

    Args:
        vault: lists the identities of its projects.
        folder: where somebody works; it may be gone.
        home: the user's home folder, which is no project unless it is a repository.
        now: in seconds since 1970.
    """
    if within := _area_within(vault, folder):
        return within
    remembered = _remembered(vault, folder, now)
    # What is remembered for a day was there; its owner may have renamed it.
    if remembered and (now - remembered.found_at >= FRESH - UNSURE or _is_there(vault, remembered.area)):
        return remembered.area
    area, is_sure = _find(vault, folder, home, quick=True)
    is_lasting = is_sure and _is_there(vault, area)
    _remember(vault, folder, _KnownFolder(area, now if is_lasting else now - FRESH + UNSURE))
    return area


def find_registered_area(vault: Vault, folder: Path, home: Path, now: float) -> ProjectArea:
    """Return the area of *folder*, as `find_area` does, after its summary lists all identities of *folder*."""
    if within := _area_within(vault, folder):
        with suppress(NoteChanged), vault.lock():
            replace(vault.path(within.ref), _new_summary(within), expected=None)
        return within
    remembered = _remembered(vault, folder, now)
    if remembered and remembered.registered and _is_there(vault, remembered.area):
        return remembered.area
    area, _ = _find(vault, folder, home, quick=False)
    if area.name:
        register(vault, area, folder)
    _remember(vault, folder, _KnownFolder(area, now, registered=True))
    return area


def _area_within(vault: Vault, folder: Path) -> ProjectArea | None:
    """Return the area in whose own folder of the vault somebody works; it is its project's, whatever git says."""
    name = project_of(f"{folder.relative_to(vault.root).as_posix()}/x") if folder.is_relative_to(vault.root) else ""
    return ProjectArea(name, folder) if name else None


def register(vault: Vault, area: ProjectArea, folder: Path) -> bool:
    """Write down all identities of *folder* in the summary of its *area*; return whether that changed anything.

    A summary that is missing is made; of one that exists, only the line `identities` is changed.
    """
    from memtool.text.frontmatter import set_list
    from memtool.vault.projects import find_project_identities, match_project

    identities = find_project_identities(folder)
    path = vault.path(area.ref)
    with vault.lock():
        text, expected = read_text(path) if path.exists() else (_new_summary(area), None)
        listed = _identities(area.ref, text.encode()) or ()
        new = [one for one in identities if match_project([one], {area.name: listed}) is None]
        if new:
            try:
                changed = set_list(text, "identities", [*listed, *new])
            except BrokenVaultFile:
                return False  # its owner mends it first
            replace(path, changed, expected=expected)
    return bool(new)


def _new_summary(area: ProjectArea) -> str:
    return f"---\ntype: project\n---\n\n# {area.name}\n"


def known_projects(vault: Vault) -> dict[str, tuple[str, ...]]:
    """Return the identities that each project's summary lists, by the project's name."""
    known: dict[str, tuple[str, ...]] = {}
    for path in sorted((vault.root / "areas" / "projects").glob("*/summary.md")):
        with suppress(MemtoolError, OSError):
            ref = path.relative_to(vault.root).as_posix()
            head = read_head(vault.path(ref), _HEAD)
            known[path.parent.name] = (_identities(ref, head) or ()) if b"identities" in head else ()
    return known


def remembered_folders(vault: Vault) -> dict[str, Any]:
    """Return the remembered folders with their entries: mostly a list of the area's name, its root, and more."""
    try:
        entries = json.loads(read_state(_memory_path(vault), largest=_LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return entries if isinstance(entries, dict) else {}


def project_of_memory(ref: str, names: Mapping[str, str]) -> str:
    """Return the name of the project that the client's memory file *ref* belongs to, given the *names* by folder."""
    return names.get(PurePath(ref).parts[-3], "") if len(PurePath(ref).parts) > 3 else ""


def names_by_folder(vault: Vault) -> dict[str, str]:
    """Return the names of the projects whose places on this machine are known, by the client's name of the folder."""
    known = [entry for entry in remembered_folders(vault).values() if isinstance(entry, list) and len(entry) > 1]
    return {re.sub(r"[^A-Za-z0-9]", "-", str(root)): str(name) for name, root, *_ in known if name}


def area_name(text: str) -> str:
    """Return *text* as the name of a folder that every disk accepts; it may be empty."""
    text = _composed(text)
    is_plain = text.replace("-", "_").isidentifier()  # compiling the pattern would take a hook longer than all of this
    return (text if is_plain else re.sub(_FORBIDDEN, "-", text)).strip("-. ")[:_LONGEST_NAME].strip("-. ")


def is_same_name(one: str, other: str) -> bool:
    """Return whether two names of areas differ in nothing but case and how their accents are written."""
    return _composed(one).casefold() == _composed(other).casefold()


def _composed(text: str) -> str:
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFC", text)  # macOS writes an accent as a character of its own


class _KnownFolder(NamedTuple):
    area: ProjectArea
    found_at: float
    registered: bool = False


def _find(vault: Vault, folder: Path, home: Path, *, quick: bool) -> tuple[ProjectArea, bool]:
    """Return the area, and whether that is sure: it is not while git has not been *quick* enough."""
    from memtool.vault.projects import find_project, match_project

    project = find_project(folder, quick=quick)
    is_sure = not (quick and project.notice)
    if project.root in (home, *home.parents) and not project.is_repository:
        return ProjectArea("", project.root), is_sure
    known, name, strongest = known_projects(vault), None, ""
    try:
        for identity in _identities_of(project, folder, quick=quick):
            name = match_project([identity], known)
            strongest = strongest or ("" if identity.startswith("path:") else identity)
            if name:
                break
    except HistoryFailed:
        if not quick:
            raise
        is_sure = False
    return ProjectArea(name or _new_name(vault, project.root, strongest, known), project.root), is_sure


def _identities_of(project: Project, folder: Path, *, quick: bool) -> Iterator[str]:
    """Give the identities of *project*; of a *folder* that is gone, its own path first, and at last those above it."""
    from memtool.vault.projects import identities_of

    is_gone = not folder.exists()
    if is_gone:
        yield f"path:{folder}"
    yield from identities_of(project, quick=quick)
    if is_gone:
        yield from (f"path:{above}" for above in folder.parents)


def _is_there(vault: Vault, area: ProjectArea) -> bool:
    return not area.name or (vault.root / area.ref).is_file()


def _new_name(vault: Vault, root: Path, strongest: str, known: Mapping[str, tuple[str, ...]]) -> str:
    from memtool.vault.projects import short_id

    of_remote = "" if strongest.startswith("commit:") else strongest.rsplit("/", 1)[-1]
    name = area_name(of_remote) or area_name(root.name) or "project"
    taken = next((other for other in known if is_same_name(other, name)), None)
    if taken is None:
        return name
    # An area that lists no identity was made by hand: it is taken for this project. Another one is a namesake, and so
    # is one whose list cannot be read.
    ref = ProjectArea(taken, root).ref
    is_free = _identities(ref, read_head(vault.path(ref), _HEAD)) == ()
    return taken if is_free else f"{name}-{short_id(root)[:4]}"


def _identities(ref: str, content: bytes) -> tuple[str, ...] | None:
    """Return the identities that a summary lists; None if its text cannot be read. Zeros after a power cut are none."""
    # As a rule yaml is not needed: for 200 summaries it would take a hook twice its time.
    if content.count(b"identities") == 1 and (as_written := re.match(_AS_WRITTEN, content)):
        return tuple(as_written[1].decode("utf-8", "replace").split(", "))
    from memtool.text.frontmatter import parse_fields, split_front_matter
    from memtool.vault.note import Note, parse_note

    note = parse_note(ref, content)
    if isinstance(note, Note) and not isinstance(parse_fields(split_front_matter(note.text)[0] or ""), str):
        return note.words("identities")
    return (_broken_identities(note.text) or None) if note.text else ()


def _broken_identities(text: str) -> tuple[str, ...]:
    """Return the identities in front matter that is no YAML, so that its area keeps its name until it is mended."""
    listed = re.search(r"^identities:((?:.*\n)(?:[ \t]*-(?!--).*\n|[ \t]+\S.*\n)*)", text[:_HEAD], re.MULTILINE)
    items = re.split(r"[\[\],\n]", listed[1]) if listed else []
    return tuple(name for item in items if (name := item.strip().removeprefix("- ").strip(" \t\r\"'{}")))


def _memory_path(vault: Vault) -> Path:
    return vault.state_path / "projects.json"


def _remembered(vault: Vault, folder: Path, now: float) -> _KnownFolder | None:
    match remembered_folders(vault).get(str(folder)):
        case [str(name), str(root), int() | float() as found_at, bool(registered)] if 0 <= now - found_at < FRESH:
            return _KnownFolder(ProjectArea(area_name(name), Path(root)), found_at, registered)
    return None


def _remember(vault: Vault, folder: Path, entry: _KnownFolder) -> None:
    with suppress(OSError, MemtoolError), vault.lock("projects", timeout=_PATIENCE):
        entries = remembered_folders(vault)
        entries.pop(str(folder), None)  # so that it comes last, as the newest
        entries[str(folder)] = [entry.area.name, os.fspath(entry.area.root), entry.found_at, entry.registered]
        write_state(_memory_path(vault), json.dumps(dict(list(entries.items())[-_MANY:])).encode())


def shown_path(path: str, root: Path | None, home: Path) -> str:
    """Return *path* as a person would write it: relative to *root*, else with `~`, else as it is."""
    for folder, prefix in ((root, ""), (home, "~/")):
        with suppress(ValueError):
            if folder is not None:
                return prefix + Path(path).relative_to(folder).as_posix()
    return path
