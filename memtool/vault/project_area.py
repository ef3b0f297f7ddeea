"""The project of a folder, and the area `areas/projects/<name>/` that its work is filed under.

A project is known by its identities, which its area's `summary.md` lists: one line of text each, `github.com/acme/shop`
for its git remote, else `commit:` with its root commit, else `path:` with the absolute path of its root.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from memtool.errors import BrokenVaultFile, HistoryFailed, MemtoolError, NoteChanged
from memtool.named_tuple import NamedTuple
from memtool.vault import limits
from memtool.vault.files import read_head, read_text, replace
from memtool.vault.layout import Vault, project_of
from memtool.vault.state import read_state, write_state

if TYPE_CHECKING:
    from memtool.git import GitAnswer


_FORBIDDEN = r'[\x00-\x20<>:"/\\|?*`\[\]#^\x7f-\x9f\ud800-\udfff]+'  # on some disk, or in a link
_PLAIN = rb"(?:path:/|commit:|[a-z0-9])[^\s,:\"'#&*!?|>%@`{}\[\]\\]+"
_AS_WRITTEN = rb"---\n(?:(?!---)[^\n]*\n)*?identities: \[(%s(?:, %s)*)\]\n" % (_PLAIN, _PLAIN)  # by `register`

_HOST = r"(?:[^/\s]*@)?(\[[^\]/\s]*\]|[^:/@\s]{2,})"  # without the user; one letter would be a Windows drive
_URL = rf"(?i:(?!file:)[a-z][a-z0-9+.-]*://{_HOST}(?::\d*)?/([^?#\n]+).*)"
_SCP = rf"{_HOST}:(?!//|:)(.+)"
_MEMORY = "projects.json"  # in `.memtool`
_PREFERRED = ("origin", "upstream")
_WORKTREES = r"(?i:(.*?)[-_.]?worktrees)"  # what a folder of worktrees is called


class Project(NamedTuple):
    """A project on this machine.

    Args:
        root: its main folder, with no symlink in its path.
        is_repository: whether git says so.
        notice: why git could not be asked, if so.
        named: its main folder as it was named, where a symlink led there.
    """

    root: Path
    is_repository: bool
    notice: str = ""
    named: Path | None = None


def find_project(path: Path, *, quick: bool = False) -> Project:
    """Return the project that *path* lies in: the same one for all its subfolders, worktrees and symlinks to them.

    The project of a deleted folder is the repository that it was in. Where git is not *quick* enough, or cannot be run,
    the project is *path* itself, with a notice.
    """
    # Not resolved: git follows symlinks, and without git both paths are identities.
    folder = Path(os.path.abspath(path.parent if path.is_file() else path))  # noqa: PTH100
    if not folder.exists():
        if checkout := _checkout_of(folder):
            return find_project(checkout, quick=quick) if checkout.exists() else _plain_folder(checkout)
        around = find_project(next(parent for parent in folder.parents if parent.exists()), quick=quick)
        return around if around.is_repository else _plain_folder(folder, around.notice)
    try:
        answer = _ask(folder, "rev-parse", "--show-toplevel", "--git-dir", "--git-common-dir", quick=quick)
    except HistoryFailed as error:
        return _plain_folder(folder, str(error))
    lines = answer.out.splitlines()
    if answer.code != 0 or len(lines) != 3 or "\0" in answer.out:
        return _plain_folder(folder)
    top, own, common = ((folder / line).resolve() for line in lines)
    if own == common:
        return Project(top, is_repository=True)
    return Project(common.parent if common.name == ".git" else common, is_repository=True)


def _plain_folder(folder: Path, notice: str = "") -> Project:
    root = Path(os.path.realpath(folder))
    return Project(root, is_repository=False, notice=notice, named=folder if folder != root else None)


def _checkout_of(folder: Path) -> Path | None:
    """Return the checkout of the worktree *folder*, which no longer exists; None if its path does not name it."""
    for place in (folder, *folder.parents):
        match = re.fullmatch(_WORKTREES, place.parent.name)
        if match is None:
            continue
        base = place.parent.parent
        if match[1]:  # shop-worktrees/2
            return base / match[1]
        if base.name == ".claude":
            return base.parent
        if place != folder and base.is_dir() and not (base / ".git").exists():  # ~/.worktrees/shop/2
            return place
        return base
    return folder.parent if folder.name.isdigit() else None  # workspaces/shop/2: a number names no project


def identities_of(project: Project, *, quick: bool = False) -> Iterator[str]:
    """Give the identities of *project*, strongest first, each found out only when it is asked for.

    *quick* gives the path before the root commit, which takes long to find in a large repository.

    Raises:
        HistoryFailed: git refuses, or is not *quick* enough.
    """
    places = [f"path:{folder}" for folder in (project.named, project.root) if folder]
    if project.is_repository and (remote := _remote(project.root, quick=quick)):
        yield remote
    if quick:
        yield from reversed(places)
        places.clear()
    if project.is_repository and (root_commit := _root_commit(project.root, quick=quick)):
        yield f"commit:{root_commit}"
    yield from reversed(places)


def match_project(identities: Iterable[str], projects: Mapping[str, Iterable[str]]) -> str | None:
    """Return the name of the project that lists one of *identities*; the strongest of them, the first, decides."""
    owners: dict[str, str] = {}
    for name, listed in projects.items():
        for identity in listed:
            owners.setdefault(_comparable(identity), name)
    return next((owners[key] for key in map(_comparable, identities) if key in owners), None)


def normalise_remote(url: str) -> str:
    """Return a remote's identity, such as `github.com/acme/shop`: no protocol, user, password, port or `.git`.

    A path on this machine says nothing elsewhere, so it gives an empty string.
    """
    match = re.fullmatch(_URL, url.strip()) or re.fullmatch(_SCP, url.strip()) if len(url) <= 2048 else None
    if match is None:
        return ""
    steps = [step for step in match[2].split("/") if step]
    path = "/".join(steps).removesuffix(".git").rstrip("/")
    return f"{match[1].lower()}/{path}" if path else ""


def short_id(root: Path) -> str:
    """Return twelve hexadecimal digits made of the project root's absolute path."""
    import hashlib  # a hook does without

    return hashlib.sha256(os.path.abspath(os.fsencode(root))).hexdigest()[:12]  # noqa: PTH100


def _ask(folder: Path, *args: str, quick: bool, timeout: float = 0.0) -> GitAnswer:
    from memtool.git import ask  # mostly the area is remembered, and git not asked

    return ask(folder, *args, timeout=timeout or (limits.QUICK_GIT if quick else limits.GIT))


def _remote(root: Path, *, quick: bool) -> str:
    # Not `git remote get-url`: it applies the user's own rewriting, which differs from machine to machine.
    answer = _ask(root, "config", "--local", "-z", "--get-regexp", r"^remote\..*\.url$", quick=quick)
    urls: dict[str, str] = {}
    for entry in answer.out.split("\0"):
        key, _, url = entry.partition("\n")
        urls.setdefault(key.removeprefix("remote.").removesuffix(".url"), normalise_remote(url))
    names = [*(name for name in _PREFERRED if name in urls), *urls]
    return next((urls[name] for name in names if urls[name]), "")


def _root_commit(root: Path, *, quick: bool) -> str:
    """Return the oldest commit without parents; a shallow clone does not know it."""
    timeout = 0.1 if quick else 2.0  # seconds; that of a huge repository is not worth more
    try:
        if _ask(root, "rev-parse", "--is-shallow-repository", quick=quick, timeout=timeout).out.strip() != "false":
            return ""
        return (_ask(root, "rev-list", "--max-parents=0", "HEAD", quick=quick, timeout=timeout).out.split() or [""])[-1]
    except HistoryFailed:
        if quick:
            raise
        return ""


def _comparable(identity: str) -> str:
    # Hosts such as GitHub take `Acme/Shop` and `acme/shop` for the same; users also list whole URLs.
    if identity.startswith(("path:", "commit:")):
        return identity
    return (normalise_remote(identity) or identity).casefold()


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
        folder: the working folder, which may be deleted.
        home: the user's home folder, which is no project unless it is a repository.
        now: in seconds since 1970.
    """
    if within := _area_within(vault, folder):
        return within
    if remembered := _remembered(vault, folder, now):
        area, found_at, _ = remembered
        # What is remembered for a day was there; its owner may have renamed it.
        if now - found_at >= limits.FRESH - limits.UNSURE or _is_there(vault, area):
            return area
    project = find_project(folder, quick=True)
    area, is_sure = _find(vault, folder, home, project, identities_of(project, quick=True))
    is_lasting = is_sure and not project.notice and _is_there(vault, area)
    _remember(vault, folder, area, now if is_lasting else now - limits.FRESH + limits.UNSURE)
    return area


def find_registered_area(vault: Vault, folder: Path, home: Path, now: float) -> ProjectArea:
    """Return the area of *folder*, as `find_area` does, after its summary lists all identities of *folder*."""
    if within := _area_within(vault, folder):
        with suppress(NoteChanged), vault.lock():
            replace(vault.path(within.ref), _new_summary(within), expected=None)
        return within
    if remembered := _remembered(vault, folder, now):
        area, _, registered = remembered
        if registered and _is_there(vault, area):
            return area
    project = find_project(folder)
    identities = tuple(identities_of(project))
    area, _ = _find(vault, folder, home, project, identities)
    if area.name:
        register(vault, area, identities)
    _remember(vault, folder, area, now, registered=True)
    return area


def _area_within(vault: Vault, folder: Path) -> ProjectArea | None:
    """Return the area whose folder in the vault *folder* is, or lies below; git is not asked."""
    name = project_of(f"{folder.relative_to(vault.root).as_posix()}/x") if folder.is_relative_to(vault.root) else ""
    return ProjectArea(name, folder) if name else None


def register(vault: Vault, area: ProjectArea, identities: Iterable[str]) -> bool:
    """Add *identities* of a project to the summary of its *area*; return whether that changed anything.

    A summary that is missing is made; of one that exists, only the line `identities` is changed.
    """
    from memtool.text.frontmatter import set_list

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
            head = read_head(vault.path(ref), limits.SUMMARY)
            known[path.parent.name] = (_identities(ref, head) or ()) if b"identities" in head else ()
    return known


def remembered_folders(vault: Vault) -> dict[str, Any]:
    """Return the remembered folders with their entries: mostly a list of the area's name, its root, and more."""
    try:
        entries = json.loads(read_state(vault.state_path / _MEMORY, largest=1_048_576))
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
    return (text if is_plain else re.sub(_FORBIDDEN, "-", text)).strip("-. ")[:60].strip("-. ")


def is_same_name(one: str, other: str) -> bool:
    """Return whether two names of areas differ in nothing but case and how their accents are written."""
    return _composed(one).casefold() == _composed(other).casefold()


def _composed(text: str) -> str:
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFC", text)  # macOS writes an accent as a character of its own


def _find(
    vault: Vault, folder: Path, home: Path, project: Project, identities: Iterable[str]
) -> tuple[ProjectArea, bool]:
    """Return the area of *project*, in which *folder* lies, and whether git has given all *identities* quickly enough.

    Of a deleted folder, its own path counts most, and those of the folders above it least.
    """
    if project.root in (home, *home.parents) and not project.is_repository:
        return ProjectArea("", project.root), True
    known, name, strongest, is_sure = known_projects(vault), None, "", True
    paths = [] if folder.exists() else [f"path:{place}" for place in (folder, *folder.parents)]
    try:
        for identity in chain(paths[:1], identities, paths[1:]):
            name = match_project([identity], known)
            strongest = strongest or ("" if identity.startswith("path:") else identity)
            if name:
                break
    except HistoryFailed:
        is_sure = False
    return ProjectArea(name or _new_name(vault, project.root, strongest, known), project.root), is_sure


def _is_there(vault: Vault, area: ProjectArea) -> bool:
    return not area.name or (vault.root / area.ref).is_file()


def _new_name(vault: Vault, root: Path, strongest: str, known: Mapping[str, tuple[str, ...]]) -> str:
    of_remote = "" if strongest.startswith("commit:") else strongest.rsplit("/", 1)[-1]
    name = area_name(of_remote) or area_name(root.name) or "project"
    taken = next((other for other in known if is_same_name(other, name)), None)
    if taken is None:
        return name
    # An area that lists no identity was made by hand: it is taken for this project. Another one is a namesake, and so
    # is one whose list cannot be read.
    ref = ProjectArea(taken, root).ref
    is_free = _identities(ref, read_head(vault.path(ref), limits.SUMMARY)) == ()
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
    # Of front matter that is no YAML the items are taken as they look: its area keeps its name until it is mended.
    listed = re.search(r"(?m)^identities:((?:.*\n)(?:[ \t]*-(?!--).*\n|[ \t]+\S.*\n)*)", note.text[: limits.SUMMARY])
    items = re.split(r"[\[\],\n]", listed[1]) if listed else []
    names = (item.strip().removeprefix("- ").strip(" \t\r\"'{}") for item in items)
    return (tuple(filter(None, names)) or None) if note.text else ()


def _remembered(vault: Vault, folder: Path, now: float) -> tuple[ProjectArea, float, bool] | None:
    """Return the area of *folder*, when it was found, and whether it is registered; None if that is too old."""
    match remembered_folders(vault).get(str(folder)):
        case [str(name), str(root), int() | float() as found_at, bool(registered)] if (
            0 <= now - found_at < limits.FRESH
        ):
            return ProjectArea(area_name(name), Path(root)), found_at, registered
    return None


def _remember(vault: Vault, folder: Path, area: ProjectArea, found_at: float, *, registered: bool = False) -> None:
    with suppress(OSError, MemtoolError), vault.lock("projects", timeout=0.1):
        entries = remembered_folders(vault)
        entries.pop(str(folder), None)  # so that it comes last, as the newest
        entries[str(folder)] = [area.name, os.fspath(area.root), found_at, registered]
        write_state(vault.state_path / _MEMORY, json.dumps(dict(list(entries.items())[-2_000:])).encode())


def shown_path(path: str, root: Path | None, home: Path) -> str:
    """Return *path* as a person would write it: relative to *root*, else with `~`, else as it is."""
    for folder, prefix in ((root, ""), (home, "~/")):
        with suppress(ValueError):
            if folder is not None:
                return prefix + Path(path).relative_to(folder).as_posix()
    return path
