"""Making a vault: a new one, or a folder of notes that gets the missing files and keeps every byte it has."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from memtool.errors import HistoryFailed, NoteChanged, NotWritable, OutsideVault, UsageError, VaultNotFound
from memtool.git import tell
from memtool.history import limits
from memtool.history.commits import commit
from memtool.history.driver import install_driver
from memtool.history.repository import find_repository, has_commits, ignores, make_repository
from memtool.resources import shipped
from memtool.vault import files
from memtool.vault.layout import SETTINGS_FILE, Vault, open_vault
from memtool.vault.scan import scan
from memtool.vault.state import write_state

# Made although empty, to show where things go. git does not keep them: the first write there makes them again.
FOLDERS = ("areas/projects/", "areas/patterns/", "areas/tools/", "daily/", "sessions/", "archive/")
_UNFINISHED = "first-commit"  # in the state folder until the first commit is made


@dataclass(frozen=True)
class MadeVault:
    """The result of `make_vault`. *created* and *kept* are paths in the vault; folders end in `/`."""

    vault: Vault
    created: tuple[str, ...]
    kept: tuple[str, ...]
    committed: bool
    notices: tuple[str, ...]
    repository_made: bool = False


def make_vault(
    path: Path, *, home: Path | None = None, announce: Callable[[str], None] = lambda _sentence: None
) -> MadeVault:
    """Make a vault at *path*, or add the missing files to the folder there. After an interruption, run it again.

    *announce* gets a sentence about what takes long: the first commit of many notes.

    Raises:
        NotAVault, VaultTooNew, NotWritable, Busy, NoteChanged
        UsageError: *path* holds the user's whole *home* folder, which is surely a mistake.
    """
    try:
        vault = open_vault(path)
    except VaultNotFound:
        _make_folder(path.expanduser())
        vault = open_vault(path)
    if home is not None and home.resolve().is_relative_to(vault.root):
        hint = "Give the vault a folder of its own, such as ~/memory."
        raise UsageError(f"'{path}' holds your whole home folder", hint=hint)
    root = shipped("vault_template")
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    template = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    is_new, had_history = _make_settings(vault, template), (vault.root / ".git").exists()
    with vault.lock("init"):
        created, kept, notices = _add_missing(vault, template)
        if is_new:
            created, kept = (*created, SETTINGS_FILE), tuple(ref for ref in kept if ref != SETTINGS_FILE)
        committed, more = _keep_history(vault, template, announce)
        if created and ".gitignore" in kept:
            more.append("your .gitignore stays as it is; .memtool/ ignores itself")
    made = not had_history and (vault.root / ".git").exists()
    return MadeVault(vault, created, kept, committed, (*notices, *more), repository_made=made)


def _make_folder(path: Path) -> None:
    try:
        files.make_folder(path)
    except OSError as error:
        raise NotWritable(f"cannot make the folder '{path}': {error.strerror}") from None


def _make_settings(vault: Vault, template: dict[str, str]) -> bool:
    """Write the file that makes a folder a vault, before anything else; return whether it was missing."""
    if os.path.lexists(vault.settings_path):
        return False
    with suppress(NoteChanged):  # another process has just done it
        files.replace(vault.settings_path, template[SETTINGS_FILE], expected=None)
    return True


def template_text(ref: str) -> str | None:
    """Return the text that a new vault has at *ref*; None where it has none."""
    path = shipped("vault_template") / ref
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _add_missing(vault: Vault, template: dict[str, str]) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    created, kept, notices = [], [], list[str]()
    folders = [f"{vault.daily}/" if ref == "daily/" else ref for ref in FOLDERS]
    for ref in (*folders, *template):
        try:
            path = vault.path(ref)
        except OutsideVault as error:
            notices.append(f"{error}, so it was left alone")
            continue
        if os.path.lexists(path):
            kept.append(ref)
            continue
        if ref in template:
            files.replace(path, template[ref], expected=None)
        else:
            _make_folder(path)
        created.append(ref)
    return tuple(created), tuple(kept), notices


def _keep_history(vault: Vault, template: dict[str, str], announce: Callable[[str], None]) -> tuple[bool, list[str]]:
    """Commit the files that `make_vault` added, and in a new repository the notes that were there before."""
    try:
        repository = find_repository(vault.root)
        if repository and ignores(repository, vault.root):
            repository = None  # the outer repository will not keep it, so the vault gets one of its own
        if repository not in (None, vault.root):
            return False, [f"this folder belongs to the git repository '{repository}', so nothing was committed"]
        done = _commit(vault, template, announce, is_new=repository is None)
        install_driver(vault)
    except HistoryFailed as error:
        return False, [f"no history: {error}. {error.hint} Then run `memtool init` again."]
    return done


def _commit(
    vault: Vault, template: dict[str, str], announce: Callable[[str], None], *, is_new: bool
) -> tuple[bool, list[str]]:
    ours = []
    for ref, text in template.items():
        with suppress(OSError):
            path = vault.root / ref
            if not path.is_symlink() and files.read_content(path) == text.encode("utf-8"):
                ours.append(ref)
    unfinished = vault.state_path / _UNFINISHED
    if is_new:
        try:
            write_state(unfinished, b"")
        except OSError as error:
            raise NotWritable(f"cannot write '{unfinished}': {error.strerror}") from None
        make_repository(vault.root)
    if not unfinished.exists() or has_commits(vault.root):
        unfinished.unlink(missing_ok=True)
        return bool(commit(vault.root, ours, "Add what memtool needs")), []
    notes = [ref for ref in _notes(vault.root) if ref not in ours]
    if len(notes) >= limits.MANY_NOTES:
        announce(f"committing the {len(notes):,} notes that are here to the vault's history, which may take minutes")
    committed = commit(vault.root, [*template, *notes], "Make a vault", timeout=None)
    unfinished.unlink()
    saved = len(set(notes) & set(tell(vault.root, "ls-files", "-z").split("\0")))
    notices = [f"the first commit also holds the notes that were here ({saved}), but no attachments"] if saved else []
    if saved < len(notes):
        notices.append(
            f"git ignores or cannot read some notes ({len(notes) - saved}), so changes to them cannot be undone"
        )
    return bool(committed), notices


def _notes(root: Path) -> list[str]:
    """Return the notes and facts below *root*, but for those in repositories of their own."""
    stamps = scan(root).stamps
    folders = {folder for ref in stamps for folder in PurePosixPath(ref).parents} - {PurePosixPath()}
    foreign = tuple(f"{folder}/" for folder in folders if (root / folder / ".git").exists())
    return sorted(ref for ref in stamps if not ref.startswith(foreign))
