"""The project of a folder: by its git remote, else its root commit, else its path.

An identity is one line of text, as `identities` in a project's `summary.md` lists them: `github.com/acme/shop` for a
remote, `commit:` with the root commit, `path:` with the absolute path of the project's root.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from memtool.errors import HistoryFailed
from memtool.git import ask

LONGEST_URL = 2048  # characters
SLOW_HISTORY = 2.0  # seconds; finding the root commit of a huge repository is not worth more
QUICK_HISTORY = 0.1  # seconds; the same where somebody waits
PATIENCE = 10.0  # seconds for what git knows at once
QUICK_PATIENCE = 0.5  # seconds; the same where somebody waits

_HOST = r"(?:[^/\s]*@)?(\[[^\]/\s]*\]|[^:/@\s]{2,})"  # without the user; one letter would be a Windows drive
_URL = re.compile(rf"(?!file:)[a-z][a-z0-9+.-]*://{_HOST}(?::\d*)?/([^?#\n]+).*", re.IGNORECASE)
_SCP = re.compile(rf"{_HOST}:(?!//|:)(.+)")
_PREFERRED = ("origin", "upstream")
_WORKTREES = re.compile(r"(.*?)[-_.]?worktrees", re.IGNORECASE)  # what a folder of worktrees is called


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

    Of a folder that is gone, the repository tells that it lay in. Where git is not *quick* enough, or cannot be asked,
    the project is *path* itself, with a notice.
    """
    folder = _absolute(path.parent if path.is_file() else path)
    if not folder.exists():
        return _project_of_gone(folder, quick=quick)
    try:
        answer = ask(folder, "rev-parse", "--show-toplevel", "--git-dir", "--git-common-dir", timeout=_patience(quick))
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


def _project_of_gone(folder: Path, *, quick: bool) -> Project:
    checkout = _checkout_of(folder)
    if checkout:
        return find_project(checkout, quick=quick) if checkout.exists() else _plain_folder(checkout)
    around = find_project(next(parent for parent in folder.parents if parent.exists()), quick=quick)
    return around if around.is_repository else _plain_folder(folder, around.notice)


def _checkout_of(folder: Path) -> Path | None:
    """Return the checkout of the worktree *folder*, which is gone; None if its path does not tell."""
    for place in (folder, *folder.parents):
        match = _WORKTREES.fullmatch(place.parent.name)
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


def find_project_identities(path: Path) -> tuple[str, ...]:
    """Return every identity of the project that *path* lies in, strongest first."""
    return tuple(identities_of(find_project(path)))


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
    match = _URL.fullmatch(url.strip()) or _SCP.fullmatch(url.strip()) if len(url) <= LONGEST_URL else None
    if match is None:
        return ""
    steps = [step for step in match[2].split("/") if step]
    path = "/".join(steps).removesuffix(".git").rstrip("/")
    return f"{match[1].lower()}/{path}" if path else ""


def short_id(root: Path) -> str:
    """Return twelve hexadecimal digits made of the project root's absolute path."""
    return hashlib.sha256(os.fsencode(_absolute(root))).hexdigest()[:12]


def _remote(root: Path, *, quick: bool) -> str:
    # Not `git remote get-url`: it applies the user's own rewriting, which differs from machine to machine.
    answer = ask(root, "config", "--local", "-z", "--get-regexp", r"^remote\..*\.url$", timeout=_patience(quick))
    urls: dict[str, str] = {}
    for entry in answer.out.split("\0"):
        key, _, url = entry.partition("\n")
        urls.setdefault(key.removeprefix("remote.").removesuffix(".url"), normalise_remote(url))
    names = [*(name for name in _PREFERRED if name in urls), *urls]
    return next((urls[name] for name in names if urls[name]), "")


def _patience(quick: bool) -> float:
    return QUICK_PATIENCE if quick else PATIENCE


def _root_commit(root: Path, *, quick: bool) -> str:
    """Return the oldest commit without parents; a shallow clone does not know it."""
    timeout = QUICK_HISTORY if quick else SLOW_HISTORY
    try:
        if ask(root, "rev-parse", "--is-shallow-repository", timeout=timeout).out.strip() != "false":
            return ""
        return (ask(root, "rev-list", "--max-parents=0", "HEAD", timeout=timeout).out.split() or [""])[-1]
    except HistoryFailed:
        if quick:
            raise
        return ""


def _comparable(identity: str) -> str:
    # Hosts such as GitHub take `Acme/Shop` and `acme/shop` for the same; users also list whole URLs.
    if identity.startswith(("path:", "commit:")):
        return identity
    return (normalise_remote(identity) or identity).casefold()


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100  (git follows symlinks, and else both paths are identities)
