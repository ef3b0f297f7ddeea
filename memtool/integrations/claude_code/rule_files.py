"""Bringing our rule files into the user's folder of rules, up to date, and out of it again."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from memtool import settings
from memtool.errors import BadSetting, BrokenVaultFile, NoteChanged, NotWritable
from memtool.integrations.claude_code import hooks, places
from memtool.integrations.claude_code.install import Change
from memtool.integrations.claude_code.rules import PATTERN, is_marked, is_ours, rule_texts
from memtool.recall.routing.routes import read_routing
from memtool.vault import files
from memtool.vault.layout import Vault

_LARGEST = 65_536  # bytes; what we write is smaller


class RuleChanges(NamedTuple):
    """Changes to rule files, and a sentence for each file that could not be changed."""

    changes: tuple[Change, ...] = ()
    notices: tuple[str, ...] = ()


def install_rules(environ: Mapping[str, str], vault: Vault, *, dry_run: bool = False) -> RuleChanges:
    """Let the rules in the user's folder be those of *vault*. The second time it changes nothing.

    Raises:
        BadSetting: the home folder is unknown, or a setting is none.
        NotWritable, NoteChanged
    """
    language = settings.load(vault.settings_path, environ).general.language
    texts = rule_texts(vault.root, read_routing(vault), language)
    return _bring_about(rules_folder(environ), texts, dry_run=dry_run)


def uninstall_rules(environ: Mapping[str, str], *, dry_run: bool = False) -> RuleChanges:
    """Take all rules of ours out of the user's folder, whichever vault they are for.

    Raises:
        BadSetting, NotWritable, NoteChanged
    """
    return _bring_about(rules_folder(environ), {}, dry_run=dry_run)


def are_for(environ: Mapping[str, str], vault: Vault) -> bool:
    """Whether the hooks in the user's settings write to *vault*, so that the rules are to be for it."""
    with contextlib.suppress(ValueError, BadSetting):  # then there are no hooks that run
        content = places.read(places.user_settings_path(environ))
        named = {handler.program.vault for handler in hooks.find_handlers(content.text if content else "")}
        return any(_vault_of(name, environ).resolve() == vault.root for name in named)
    return False


def written_rules(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of the rule files that memtool wrote, also of those that were edited since, by their names.

    Raises:
        BadSetting, NotWritable
    """
    texts = {path.name: read_ours(path) or "" for path in sorted(rules_folder(environ).glob(PATTERN))}
    return {name: text for name, text in texts.items() if is_marked(text)}


def rules_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the rules that the client reads in every project."""
    return places.user_settings_path(environ).parent / "rules"


def _vault_of(name: str, environ: Mapping[str, str]) -> Path:
    """Return the vault of hooks that name *name*, or none."""
    if name:
        return Path(name)
    # MEMTOOL_VAULT may be there for one session only. The rules are for all.
    lasting = {key: value for key, value in environ.items() if key != "MEMTOOL_VAULT"}
    return settings.find_vault_path(None, lasting, Path(os.sep))[0]


def _bring_about(folder: Path, wanted: Mapping[str, str], *, dry_run: bool) -> RuleChanges:
    changes: list[Change] = []
    notices: list[str] = []
    for name in sorted({*wanted, *(path.name for path in folder.glob(PATTERN))}):
        path = folder / name
        before = read_ours(path)
        if before is None or is_ours(before):
            changes.append(Change(path, before, wanted.get(name), None))
        elif is_marked(before):
            notices.append(f"'{path}' stays as you have edited it")
        elif name in wanted:
            notices.append(f"'{path}' is a file of your own, so memtool's rule was not written")
    changes = [change for change in changes if change.is_change]
    if not dry_run:
        for change in changes:
            apply_change(change)
        if any(change.after is None for change in changes):
            _remove_if_empty(folder)
    return RuleChanges(tuple(changes), tuple(notices))


def read_ours(path: Path) -> str | None:
    """Return the text at *path*, None where there is nothing, empty for whatever memtool does not write."""
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST:
            return ""
        return files.read_text(path)[0]
    except FileNotFoundError:
        return None
    except BrokenVaultFile:
        return ""
    except OSError as error:
        raise NotWritable(f"cannot read '{path}': {error.strerror}") from None


def apply_change(change: Change) -> None:
    """Write or remove the file of *change*, if it is still what it was.

    Raises:
        NotWritable, NoteChanged
    """
    expected = None if change.before is None else files.content_hash(change.before.encode("utf-8"))
    if change.after is not None:
        files.replace(change.path, change.after, expected=expected)
        return
    if files.hash_of(change.path) != expected:
        raise NoteChanged(f"'{change.path.name}' was changed by someone else")
    try:
        change.path.unlink()
    except OSError as error:
        raise NotWritable(f"cannot remove '{change.path}': {error.strerror}") from None


def _remove_if_empty(folder: Path) -> None:
    """Remove the folder of rules, and the client's own, once they hold nothing."""
    with contextlib.suppress(OSError):
        folder.rmdir()
        if folder.parent.name == ".claude":
            folder.parent.rmdir()
