"""The record of what `memtool install` made beside texts in files, so that `uninstall` takes out that and no more.

One JSON file beside the user's settings, which goes with the last thing in it:

* `folders`: those that were made, each with the files of ours that need it. It goes with the last of them, if empty;
* `vaults`: those that the user confirmed or made during an installation: only their triggers get into other files;
* `without`: the parts that the user left out, by client and project (docs/decisions/0015-installation.md).
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from memtool import settings
from memtool.errors import MemtoolError
from memtool.text.json_places import object_in
from memtool.vault import files
from memtool.vault.layout import Vault


@dataclass
class Installations:
    """The record of installations; `update` changes it."""

    folders: dict[str, list[str]] = field(default_factory=dict)
    vaults: list[str] = field(default_factory=list)
    without: dict[str, list[str]] = field(default_factory=dict)

    def need(self, file: Path, made: Iterable[Path] = ()) -> None:
        """Note that *file* needs the folders around it: those just *made* for it, and others that are ours."""
        file = _real(file)
        for folder in made:
            self.folders.setdefault(os.path.realpath(folder), [])
        for folder in file.parents:
            needed_by = self.folders.get(str(folder))
            if needed_by is not None and str(file) not in needed_by:
                needed_by.append(str(file))

    def give_up(self, file: Path) -> list[Path]:
        """Note that *file* needs no folder any more, and return those that nothing needs now."""
        file = _real(file)
        for needed_by in self.folders.values():
            if str(file) in needed_by:
                needed_by.remove(str(file))
        free = [Path(folder) for folder, needed_by in self.folders.items() if not needed_by]
        for folder in free:
            del self.folders[str(folder)]
        return free


def record_path(environ: Mapping[str, str]) -> Path:
    """Return the path of the record."""
    return settings.user_config_path(environ).with_name("installed.json")


def read_record(environ: Mapping[str, str]) -> Installations:
    """Return the record; an empty one if none can be read."""
    with contextlib.suppress(OSError, MemtoolError):
        return _parsed(files.read_text(record_path(environ))[0])
    return Installations()


def update(environ: Mapping[str, str], change: Callable[[Installations], None]) -> None:
    """Let *change* alter the record, and write it; without anything in it, it goes, and its folders if they are ours.

    Raises:
        MemtoolError: it cannot be written.
    """
    path = record_path(environ)
    made = [folder for folder in path.parents if not folder.exists()]
    after = Installations()

    def changed(text: str | None) -> str | None:
        nonlocal after
        after = _parsed(text or "")
        change(after)
        after.folders = {name: needed_by for name, needed_by in after.folders.items() if Path(name).exists()}
        if _is_empty(after, path):
            return None
        after.need(path, made)
        return json.dumps(asdict(after), ensure_ascii=False, indent=2, sort_keys=True) + "\n"

    files.change(path, changed)
    if _is_empty(after, path):
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
            remove_empty(after.give_up(path))


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove those of *folders* that are empty, the innermost first."""
    for folder in sorted(folders, key=lambda folder: -len(folder.parts)):
        with contextlib.suppress(OSError):
            folder.rmdir()


def parts_without(environ: Mapping[str, str], installation: str) -> Collection[str]:
    """Return the parts that the user left out of *installation*."""
    return read_record(environ).without.get(installation, [])


def do_without(environ: Mapping[str, str], installation: str, parts: Collection[str]) -> None:
    """Remember that the user left exactly *parts* out of *installation*.

    Raises:
        MemtoolError: the record cannot be written.
    """

    def change(record: Installations) -> None:
        record.without.pop(installation, None)
        record.without |= {installation: sorted(parts)} if parts else {}

    if sorted(parts_without(environ, installation)) != sorted(parts):
        update(environ, change)


def _real(file: Path) -> Path:
    """Return the path of *file* without symlinks above it: a project may be reached through one."""
    return Path(os.path.realpath(file.parent), file.name)


def _is_empty(record: Installations, path: Path) -> bool:
    """Return whether the record holds nothing but the folders around its own *path*."""
    needing = {file for needed_by in record.folders.values() for file in needed_by}
    return not (record.vaults or record.without or needing - {str(_real(path))})


def _parsed(text: str) -> Installations:
    """Return the record in *text*, as far as it is one."""
    found = object_in(text)
    lists = {name: {key: list(map(str, value)) for key, value in found[name].items() if isinstance(value, list)}
             for name in ("folders", "without") if isinstance(found.get(name), dict)}  # fmt: skip
    vaults = found.get("vaults")
    return Installations(**lists, vaults=list(map(str, vaults)) if isinstance(vaults, list) else [])


def is_own(environ: Mapping[str, str], vault: Vault) -> bool:
    """Return whether *vault* is the user's own: by `memtool init`, by an answer, or by the user's settings."""
    root = str(vault.root)
    try:
        if root in _listed(environ).splitlines() or root in read_record(environ).vaults:
            return True
        # MEMTOOL_VAULT may be there for one session only, and the working folder may be anybody's.
        lasting = {key: value for key, value in environ.items() if key != "MEMTOOL_VAULT"}
        named, origin = settings.find_vault_path(None, lasting, Path(os.sep))
        own_settings = str(settings.user_config_path(environ))
    except (MemtoolError, OSError):
        return False
    return origin == own_settings and os.path.realpath(named) == root


def call_own(environ: Mapping[str, str], vault: Vault) -> None:
    """Remember that *vault* is the user's own.

    Raises:
        MemtoolError: the folder of the user's settings cannot be written.
    """
    line = f"{vault.root}\n"
    files.change(_path(environ), lambda text: text if line in (text or "").splitlines(True) else (text or "") + line)


def call_own_while_installed(environ: Mapping[str, str], vault: Vault) -> None:
    """Remember that *vault* is the user's own until the last client is taken out.

    Raises:
        MemtoolError: the folder of the user's settings cannot be written.
    """

    def change(record: Installations) -> None:
        record.vaults = sorted({*record.vaults, str(vault.root)})

    update(environ, change)


def _listed(environ: Mapping[str, str]) -> str:
    try:
        return files.read_text(_path(environ))[0]
    except FileNotFoundError:
        return ""


def _path(environ: Mapping[str, str]) -> Path:
    return settings.user_config_path(environ).with_name("own-vaults")
