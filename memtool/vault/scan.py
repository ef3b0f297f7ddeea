"""One walk over the vault: its notes, and which of them changed since they were read.

Some files outside the vault are read, too, where they lie, and never changed. Their refs are absolute paths, so that
they differ from those of the vault, and can be opened:

    ~/.claude/projects/<folder>/memory/*.md     the client's own memory, of the project that lies in that folder
    [knowledge] folders                         other Markdown of the user, which belongs to no project
"""

from __future__ import annotations

import marshal
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from memtool.vault import limits
from memtool.vault.files import KnownStamp, is_suspect
from memtool.vault.layout import FACTS_FILE, NOTE_SUFFIXES, is_outside

if TYPE_CHECKING:
    from memtool.vault.note import BrokenNote

Ignores = Callable[[str], bool]  # whether a path of the vault is left out; that of a folder ends in `/`

SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})

_WILD = re.compile(r"(?:\*\*/)+|\*\*+|\*")


class Scan(NamedTuple):
    """The result of a walk. *unreadable* are files, and folders with a slash at the end: unknown is not deleted."""

    stamps: dict[str, tuple[int, int]]
    unreadable: list[str]
    problems: list[BrokenNote]

    def as_bytes(self) -> bytes:
        """Return bytes that are equal for two walks if they found the same files in the same order."""
        return marshal.dumps((self.stamps, self.unreadable), 2)  # the last version without references; the fastest


class Changes(NamedTuple):
    """The difference between the disk and the index: files to read again, and files that no longer exist."""

    suspects: tuple[str, ...]
    gone: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.suspects or self.gone)


def scan(root: Path, ignored: Ignores | None = None, within: Iterable[str] | None = None) -> Scan:
    """Walk the vault at *root* once and return the stamps of its notes, by path relative to it.

    What is *ignored* is left out. Of its folders only those *within* are entered, such as `areas/global/`; None: all.

    Folders whose names begin with a dot are not entered. Symlinks are not followed: one that stays inside the vault
    leads to a file that is found in its own place, one that leads out is a problem.
    """
    found = Scan({}, [], [])
    top = os.fspath(root)
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        if ignored and folder and ignored(folder):
            continue
        path = os.path.join(top, folder)  # noqa: PTH118  (speed)
        try:
            _visit(_entries(path), path, folder, found, waiting, top)
        except FileNotFoundError:
            if not folder:  # the vault itself: a volume that went away, and no deletion of everything
                found.unreadable.append(folder)
        except OSError as error:
            found.unreadable.append(folder)
            found.problems.append(broken(folder or ".", f"the folder cannot be read: {error.strerror}"))
        if not folder and within is not None:
            waiting = list(within)
    if ignored is None:
        return found
    return Scan(
        {ref: stamp for ref, stamp in found.stamps.items() if not ignored(ref)},
        [ref for ref in found.unreadable if not ignored(ref)],
        [problem for problem in found.problems if not ignored(problem.ref)],
    )


def broken(ref: str, reason: str) -> BrokenNote:
    """Return the problem of the file or folder at *ref*."""
    from memtool.vault.note import BrokenNote  # a walk that meets with nothing odd does without

    return BrokenNote(ref, reason)


def changes(known: Mapping[str, KnownStamp], found: Scan) -> Changes:
    """Return the files that an index with the stamps *known* must read again, and those it must forget."""
    stamps = found.stamps
    suspects = [ref for ref, stamp in stamps.items() if is_suspect(known.get(ref), stamp)]
    unreadable = tuple(found.unreadable)
    gone = [ref for ref in known if ref not in stamps and not ref.startswith(unreadable)]
    return Changes(tuple(sorted(suspects)), tuple(sorted(gone)))


if sys.platform == "win32":

    def _entries(path: str) -> Iterator[os.DirEntry[str]]:
        with os.scandir(path) as entries:
            yield from entries

else:

    def _entries(path: str) -> Iterator[os.DirEntry[str]]:
        # Below an open folder, the system finds a file by its name alone: a sixth less time for the walk.
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with os.scandir(handle) as entries:
                yield from entries
        finally:
            os.close(handle)


def _visit(
    entries: Iterator[os.DirEntry[str]], path: str, folder: str, found: Scan, waiting: list[str], top: str
) -> None:
    stamps = found.stamps
    for entry in entries:  # before each search, for each note: hence no function calls but for what is rare
        name = entry.name
        if name[0] == ".":
            continue
        if (name.endswith(NOTE_SUFFIXES) or is_note_name(name)) and entry.is_file(follow_symlinks=False):
            ref = folder + name
            if not ref.isprintable() and any(char < " " or "\ud800" <= char <= "\udfff" for char in ref):
                found.problems.append(broken(ascii(ref)[1:-1], "the path holds a line break or is not UTF-8"))
                continue
            try:
                stat = entry.stat(follow_symlinks=False)
            except OSError as error:
                if not isinstance(error, FileNotFoundError):  # which has been removed since the folder was listed
                    found.unreadable.append(ref)  # the folder may be listed and not entered
                    found.problems.append(broken(ref, f"cannot be read: {error.strerror}"))
                continue
            stamps[ref] = (stat.st_size, stat.st_mtime_ns)  # plain, not a Stamp
        elif entry.is_symlink():
            _visit_symlink(os.path.join(path, name), folder + name, found, top)  # noqa: PTH118
        elif name not in SKIPPED_FOLDERS and entry.is_dir(follow_symlinks=False):
            waiting.append(f"{folder}{name}/")


def is_note_name(name: str) -> bool:
    """Return whether a file called *name* is one that memtool reads."""
    return name.endswith(NOTE_SUFFIXES) or name == FACTS_FILE or name.lower().endswith(NOTE_SUFFIXES)


def _visit_symlink(path: str, ref: str, found: Scan, top: str) -> None:
    target = os.path.realpath(path)
    looks_read = is_note_name(ref.rsplit("/", 1)[-1]) or os.path.isdir(target)  # noqa: PTH112  (Path.is_dir may raise)
    if looks_read and not Path(target).is_relative_to(top):
        found.problems.append(broken(ref, "a symlink that leaves the vault is not followed"))


class Outside(NamedTuple):
    """The places outside the vault.

    Args:
        claude_projects: where the client keeps its own memory files; None leaves them out.
        folders: the user's folders of Markdown, without symlinks in their paths.
    """

    claude_projects: Path | None = None
    folders: tuple[Path, ...] = ()

    def add_to(self, found: Scan, vault: Path) -> None:
        """Add the stamps of the files in these places to *found*, and problems that the user should know."""
        if self.claude_projects:
            _add_client_memory(found, self.claude_projects)
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
        if self.claude_projects is None or not path.is_relative_to(self.claude_projects):
            return False
        parts = path.relative_to(self.claude_projects).parts
        return len(parts) == 3 and parts[1] == "memory"


def folder_named(name: str, home: Path) -> Path:
    """Return the folder that a setting names, without symlinks; `~` and relative paths begin at *home*."""
    return Path(os.path.realpath(home / name.removeprefix("~").lstrip("/") if name.startswith("~") else home / name))


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
    if len(notes) > limits.OUTSIDE_FILES:
        found.problems.append(broken(base, f"it holds {len(notes):,} notes; {limits.OUTSIDE_FILES:,} of them are read"))
        notes = {ref: notes[ref] for ref in sorted(notes)[: limits.OUTSIDE_FILES]}
    found.stamps.update(notes)
    found.unreadable.extend(base + ref for ref in there.unreadable)
    found.problems.extend(
        broken(base + problem.ref, problem.reason.replace("the vault", "its folder")) for problem in there.problems
    )
    if "" in there.unreadable:
        found.problems.append(broken(base, "there is no such folder now"))


def _add_client_memory(found: Scan, projects: Path) -> None:
    """Add the stamps of the memory files below *projects*. What cannot be read is left out."""
    try:
        with os.scandir(projects) as entries:
            folders = [entry.path for entry in entries if entry.is_dir()]
    except OSError:
        return
    for folder in folders:
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


@cache
def ignores(patterns: tuple[str, ...]) -> Ignores | None:
    """Return whether a path of the vault is left out by *patterns*, as a function; a folder ends with `/`.

    `Templates/` means folders of that name, `*.excalidraw.md` files, wherever they are; with a slash before its end a
    pattern begins at the vault: `/Templates/`, `work/drafts/*.md`, `work/**/old`. None: there are no patterns.
    """
    stated = [_normal(pattern.strip()) for pattern in patterns if pattern.strip("/ ")]
    if not stated:
        return None
    found = re.compile("|".join(map(_as_regex, stated))).match
    return lambda ref: found(_normal(ref)) is not None


def _as_regex(pattern: str) -> str:
    path = pattern.strip("/")
    first, *plain = [re.escape(part).replace("\\?", "[^/]") for part in _WILD.split(path)]
    wild = _WILD.findall(path)
    rest = (_matching(*pair, is_last=at == len(wild)) for at, pair in enumerate(zip(wild, plain, strict=True), 1))
    anywhere = "" if "/" in pattern.rstrip("/") else "(?:.*/)?"
    return f"{anywhere}{first}{''.join(rest)}{'/' if pattern.endswith('/') else '(?:/|$)'}"


def _matching(wild: str, plain: str, *, is_last: bool) -> str:
    """Return the regular expression of *wild* and the *plain* text behind it."""
    if wild.endswith("/"):
        return f"(?:.*/)?{plain}"
    if wild != "*":
        return f".*{plain}"
    # The first place of the text is as good as any later one: without a way back, no pattern takes long.
    return f"[^/]*{plain}" if is_last or not plain else f"(?>[^/]*?{plain})"


def _normal(text: str) -> str:
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFC", text)
