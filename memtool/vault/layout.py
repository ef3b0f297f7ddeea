"""The layout of a vault: its files and folders, and the kind and project of a path (docs/vault-format.md)."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from memtool.errors import (
    BadSetting,
    BrokenVaultFile,
    Busy,
    NotAVault,
    NoteNotFound,
    NotWritable,
    OnlyReading,
    OutsideVault,
    VaultNotFound,
    VaultTooNew,
)
from memtool.named_tuple import NamedTuple
from memtool.processes import lock
from memtool.vault.files import read_text
from memtool.vault.memory import KINDS, KNOWLEDGE
from memtool.vault.state import STATE_FOLDER, make_state_folder, writing_in

FORMAT = 1  # the version of the public vault format that this code reads and writes
SETTINGS_FILE = "memtool.toml"
NOTE_SUFFIXES = (".md", ".markdown")
FACTS_FILE = "facts.json"

ARCHIVE = "archive/"
DAILY = "daily"
_TAKEN = ("areas", "sessions", "archive", "rules")  # folders of other notes

_OF_FILES = ("vault", "history", "daily", "init", "consolidate")  # locks of who writes more than derived state
_AREA_SUMMARIES = {kind.area: name for name, kind in KINDS.items() if kind.area}
_AREA_FILES = {kind.file: name for name, kind in KINDS.items() if kind.file and not kind.area and name != "memory"}
_AREA_FOLDERS = {kind.folder: name for name, kind in KINDS.items() if kind.folder}
_FORMAT_LINE = r"""[ \t]*["']?format["']?[ \t]*=[ \t]*([0-9]+)"""
_DAILY_LINE = r"""[ \t]*["']?daily_folder["']?[ \t]*=[ \t]*(?:["']([^"'\\]*)["'])?"""
# The names of devices, which Windows gives to no file, and letters that some disks do not tell apart, are not plain.
_PLAIN_ID = r"(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))[a-z0-9_][a-z0-9._-]{0,79}"
_UNNAMED = "unnamed"


class Vault(NamedTuple):
    """A folder of Markdown files.

    Args:
        root: absolute and resolved.
        daily: the name of its folder of daily notes.
        author: by whom changes are committed, `Name <address>`; empty for the user of this machine.
        is_followed: whether a process updates its index with each change, so that a search need not look.
        may_write: whether the caller may change it: a reader of a team's vault may not.
    """

    root: Path
    daily: str = DAILY
    author: str = ""
    is_followed: bool = False
    may_write: bool = True

    @property
    def state_path(self) -> Path:
        """The folder of everything derived, and of what only this machine knows (`memtool.vault.state`)."""
        return self.root / STATE_FOLDER

    @property
    def settings_path(self) -> Path:
        """The settings that travel with the vault."""
        return self.root / SETTINGS_FILE

    def check_made(self) -> None:
        """Refuse a folder that was never made a vault: nothing is written there.

        Raises:
            NotAVault: it has no `memtool.toml`.
        """
        if self.root.is_dir() and not self.settings_path.is_file():
            hint = f"Make it one with `memtool init '{self.root}'`, which changes no note, or name yours with --vault."
            raise NotAVault(f"'{self.root}' is no vault: it has no {SETTINGS_FILE}", hint=hint)

    def path(self, ref: str) -> Path:
        """Return the path of *ref*, which is relative to the vault.

        Raises:
            OutsideVault: *ref*, or a symlink on the way, leads out of the vault.
        """
        path = self.root / ref
        try:  # by strings: a hook comes by here for hundreds of files
            real, root = os.path.realpath(path), os.fspath(self.root)
            inside = real == root or real.startswith(root.rstrip(os.sep) + os.sep)
            inside = inside and not os.path.islink(real)  # noqa: PTH114  (a loop of symlinks)
        except (OSError, ValueError):  # too long, a NUL
            inside = False
        if not inside:
            raise OutsideVault(f"'{ref}' lies outside the vault")
        return path

    def read(self, ref: str) -> tuple[str, str]:
        """Return the text of the file *ref*, and the hash to hand to `files.replace`.

        Raises:
            NoteNotFound: there is none.
            BrokenVaultFile: it is not UTF-8, or cannot be read.
            OutsideVault
        """
        try:
            return read_text(self.path(ref))
        except FileNotFoundError:
            raise NoteNotFound(ref) from None
        except OSError as error:
            raise BrokenVaultFile(f"'{ref}' cannot be read: {error.strerror}") from None

    @contextlib.contextmanager
    def lock(self, name: str = "vault", *, timeout: float = 10.0) -> Iterator[int]:
        """Hold the vault's lock *name* against all other processes, and give its handle.

        The locks `history` and `sync` have a journal, too: `memtool.history.mending.locked`.

        Raises:
            NotAVault: it was never made one.
            OnlyReading: the caller may not write it, and the lock is that of its files or their history.
            NotWritable: the vault's state folder cannot be written.
            Busy: another process held the lock for *timeout* seconds.
        """
        self.check_made()
        if not self.may_write and name in _OF_FILES:
            raise OnlyReading("your token may read this vault, and not write it")
        with contextlib.ExitStack() as held:
            with writing_in(self.state_path):
                make_state_folder(self.state_path / "locks")
                path = self.state_path / "locks" / f"{name}.lock"
                handle = held.enter_context(lock(path, timeout=timeout))
            yield handle


def is_outside(ref: str) -> bool:
    """Return whether *ref* is that of a file outside the vault."""
    return os.path.isabs(ref)  # noqa: PTH117  (speed)


def session_ref(session_id: str) -> str:
    """Return the path of the note of a session."""
    return f"sessions/{session_name(session_id)}.md"


def session_name(session_id: str) -> str:
    """Return the name of the files of a session: its id, or a hash where that is no safe name for a file.

    Ids that differ in any way have different names, on disks that take `A` and `a` for the same, too.
    """
    if re.fullmatch(_PLAIN_ID, session_id):
        return session_id
    import hashlib

    digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"id-{digest[:20]}"


def open_vault(root: Path) -> Vault:
    """Return the vault at *root*. Any folder can be read; `memtool init` makes it one that is written (`check_made`).

    Raises:
        VaultNotFound, NotAVault, VaultTooNew
        BadSetting: its `daily_folder` is none.
        OutsideVault, BrokenVaultFile: its settings are not a small file of its own.
    """
    try:
        resolved = root.expanduser().resolve(strict=True)
    except FileNotFoundError:
        raise VaultNotFound(f"there is no vault at '{root}'") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise NotAVault(f"'{root}' cannot be opened as a vault: {error}") from None
    if not resolved.is_dir():
        raise NotAVault(f"'{root}' is a file, not a vault")
    vault = Vault(resolved)
    lines = _own_lines(vault)
    # Two lines are wanted before anything else may be trusted; a TOML parser comes later, in `memtool.settings`.
    stated = _first(_FORMAT_LINE, lines, "format")
    version = int(stated[1][:9]) if stated else FORMAT
    if version > FORMAT:
        raise VaultTooNew(f"the vault at '{root}' has format {version}; this memtool knows format {FORMAT}")
    return vault._replace(daily=_daily_folder(lines, vault.settings_path))


def kind_of(ref: str, declared: str = "", *, daily: str = DAILY) -> str:
    """Return the kind of the note at *ref*: its front matter's `type`, else that of its place.

    *daily* is the vault's folder of daily notes. Those that lie where they would without the setting are daily, too.
    """
    if declared in KINDS:
        return declared
    parts = ref.removeprefix(ARCHIVE).split("/")
    if parts[-1] == FACTS_FILE:
        return "fact"
    if os.path.isabs(ref):  # noqa: PTH117  (see memtool.vault.scan)
        return "memory" if parts[-2] == "memory" else KNOWLEDGE
    if len(parts) > 1 and parts[0] in ("sessions", DAILY, daily):
        return "session" if parts[0] == "sessions" else "daily"
    if len(parts) > 3 and parts[0] == "areas":
        below = parts[3:] if parts[1] != "global" else parts[2:]
        kinds, name = (_AREA_FOLDERS if len(below) > 1 else _AREA_FILES), below[0]
        if below == ["summary.md"]:
            kinds, name = _AREA_SUMMARIES, parts[1]
        return kinds.get(name, "note")
    return "memory" if parts == ["MEMORY.md"] else "note"


def project_of(ref: str) -> str:
    """Return the name of the project that the path *ref* lies under, or an empty string."""
    parts = ref.split("/")
    return parts[2] if parts[:2] == ["areas", "projects"] and len(parts) > 3 else ""


def area_folder(project: str) -> str:
    """Return the folder of *project*, or that of memories of no project."""
    return f"areas/projects/{project}" if project else "areas/global"


def facts_ref(project: str) -> str:
    """Return the path of the facts of *project*, or of those of none."""
    return f"{area_folder(project)}/{FACTS_FILE}"


def projects_of(vault: Vault) -> list[str]:
    """Return the names of the projects that *vault* has a folder for."""
    return sorted(path.name for path in vault.path("areas/projects").glob("*/"))


def is_facts_file(ref: str) -> bool:
    """Return whether *ref* is the path of a file of facts."""
    return ref.rsplit("/", 1)[-1] == FACTS_FILE


def is_archived(ref: str) -> bool:
    """Return whether the note at *ref* lies in the archive."""
    return ref.startswith(ARCHIVE)


def _own_lines(vault: Vault) -> list[str]:
    """Return the lines of the vault's settings above the first table: those below are not the vault's own."""
    settings = vault.path(SETTINGS_FILE)
    try:
        with os.scandir(vault.root):
            is_odd = settings.exists() and (not settings.is_file() or settings.stat().st_size > 65_536)
    except OSError as error:
        sentence = f"the folder '{vault.root}' cannot be read: {error.strerror}"
        raise NotAVault(sentence, hint="Check its permissions.") from None
    if is_odd:
        raise BrokenVaultFile(f"'{settings}' is no settings file", hint="Move it away.")
    try:
        lines = settings.read_text(encoding="utf-8-sig", errors="replace").split("\n")
    except OSError:
        return []
    return list(itertools.takewhile(lambda line: not line.lstrip().startswith("["), lines))


def _first(pattern: str, lines: Iterable[str], name: str) -> re.Match[str] | None:
    """Return the match of the first line that sets *name*; most files have none, and compiling takes a hook time."""
    return next(filter(None, (re.match(pattern, line) for line in lines if name in line)), None)


def _daily_folder(lines: Iterable[str], settings_path: Path) -> str:
    match = _first(_DAILY_LINE, lines, "daily_folder")
    name = match[1] or "" if match else DAILY
    is_plain = name == DAILY or (name.isprintable() and not re.search(r'^[.\s]|[\\/:*?"<>|]|[.\s]$', name))
    if not name or len(name) > 60 or not is_plain or name.casefold() in _TAKEN:
        hint = (
            f"Name a folder at the top of the vault that holds no other notes of memtool's (not {', '.join(_TAKEN)})."
        )
        raise BadSetting(f"daily_folder in '{settings_path}' is no folder for daily notes", hint=hint)
    return name


def state_folder(vault: Vault, cache: Callable[[], Path]) -> Path:
    """Return the folder for state derived of *vault*: in its `.memtool`; if that may not be written, in *cache*.

    In `.memtool` it bears a name that only this user on this machine knows. A vault that comes from a stranger may
    bring an index along, which would say what it likes; it is never opened. And a vault that is synchronised between
    machines holds an index for each.

    Raises:
        NotWritable: neither place can be written.
    """
    with contextlib.suppress(OSError, NotAVault):
        vault.check_made()
        folder = vault.state_path / _own_name(cache())
        make_state_folder(folder)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    folder = outer_folder(vault.root, cache())
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise NotWritable(f"neither '{vault.state_path}' nor '{folder}' can be written: {error.strerror}") from None
    return folder


def find_state_folder(vault: Vault, cache: Path) -> Path | None:
    """Return the folder that `state_folder` has made before, or None; nothing is made here."""
    folder = vault.state_path / (_drawn_name(cache) or _UNNAMED)
    if not folder.is_dir():
        folder = outer_folder(vault.root, cache)
    return folder if folder.is_dir() else None


def outer_folder(root: Path, cache: Path) -> Path:
    """Return the folder in *cache* for the state of the vault at *root*, where it cannot be kept in the vault."""
    import hashlib

    return cache / "vaults" / hashlib.sha256(os.fsencode(root)).hexdigest()[:16]


def _drawn_name(cache: Path) -> str:
    with contextlib.suppress(OSError, ValueError):
        name = (cache / "machine").read_text(encoding="utf-8").strip()
        if len(name) == 16 and name.isalnum():
            return name
    return ""


def _own_name(cache: Path) -> str:
    """Return the secret name, which is drawn once and kept in the user's *cache*."""
    if name := _drawn_name(cache):
        return name
    path = cache / "machine"
    try:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Two processes that begin at once draw one name: an index in a folder of its own would be another one.
        with lock(path.with_suffix(".lock"), timeout=1.0):
            if name := _drawn_name(cache):
                return name
            name = os.urandom(16 // 2).hex()
            temporary = path.with_name(f".machine.{name}")
            temporary.write_text(name, encoding="ascii")
            os.replace(temporary, path)
            return name
    except (OSError, Busy):
        return _UNNAMED  # no place for a secret: rather an index that a stranger could forge than none
