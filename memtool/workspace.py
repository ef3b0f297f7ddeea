"""The workspace: a vault, the settings in force for it, and the user's machine around it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from memtool import settings as settings_module
from memtool.named_tuple import NamedTuple
from memtool.settings import Settings
from memtool.vault.layout import Vault, project_of, state_folder
from memtool.vault.project_area import ProjectArea, find_area, find_registered_area, shown_path

if TYPE_CHECKING:
    from memtool.redaction import Redactor
    from memtool.vault.scan import Outside


class _Fields(NamedTuple):
    vault: Vault
    settings: Settings
    environ: Mapping[str, str]
    home: Path
    folder: Path
    clock: Callable[[], datetime] = lambda: datetime.now().astimezone()
    random: Callable[[int], str] = lambda size: os.urandom(size).hex()


class Workspace(_Fields):
    """All that a use case takes besides its own input. What costs something is found when it is first asked for.

    Args:
        vault: is read and written.
        settings: those in force for it.
        environ: the variables of the environment.
        home: the user's home folder.
        folder: where the user, or the agent, works.
        clock: gives the local time, with its zone.
        random: gives so many bytes in hexadecimal.
    """

    @property
    def language(self) -> str:
        """The language of generated prose."""
        return self.settings.general.language

    @property
    def max_bytes(self) -> int:
        """The size of the largest note that is read."""
        return self.settings.index.max_note_kb * 1024

    @property
    def shown_vault(self) -> str:
        """The vault's folder as a person or an agent should see it: below the home folder with `~`."""
        return shown_path(str(self.vault.root), None, self.home)

    @property
    def session_id(self) -> str:
        """The id of the session of the client in which a command runs; empty if it runs in none."""
        return settings_module.client_session(self.environ)

    @property
    def claude_folder(self) -> Path:
        """The folder of Claude Code's own files."""
        return settings_module.claude_folder(self.environ)

    @cached_property
    def outside(self) -> Outside:
        """The files outside the vault that are searched, too: the client's own memory, the user's other folders."""
        from memtool.vault.scan import Outside, folder_named  # an edit is written down without

        projects = self.claude_folder / "projects" if self.settings.index.client_memory == "yes" else None
        return Outside(projects, tuple(folder_named(name, self.home) for name in self.settings.knowledge.folders))

    @property
    def cache(self) -> Path:
        """The user's cache folder."""
        return settings_module.user_cache_path(self.environ)

    @cached_property
    def index_folder(self) -> Path:
        """The folder of the index, the vectors and the counts of uses.

        Raises:
            NotWritable: there is no place for them.
        """
        return state_folder(self.vault, lambda: self.cache)

    @cached_property
    def redact(self) -> Redactor:
        """The redactor, which removes secrets from a text and counts them."""
        from memtool.redaction import make_redactor
        from memtool.vault.masking import read_purged

        return make_redactor(self.settings.redact, read_purged(self.vault))

    def of_client(self, folder: Path) -> Workspace:
        """Return this workspace with another *folder* of the client's own files."""
        return self._replace(environ={**self.environ, "CLAUDE_CONFIG_DIR": str(folder)})

    def now(self) -> datetime:
        """Return the local time, with its zone."""
        return self.clock()

    def area(self, folder: Path | None = None) -> ProjectArea:
        """Return the area of the project that *folder* belongs to; without one, that of the folder at hand."""
        return find_area(self.vault, folder or self.folder, self.home, self.now().timestamp())

    def registered_area(self, folder: Path | None = None) -> ProjectArea:
        """Return the same area after its summary lists all by which *folder* is known again."""
        return find_registered_area(self.vault, folder or self.folder, self.home, self.now().timestamp())

    def project(self, folder: Path | None = None) -> str:
        """Return the name of the project that *folder*, or the folder at hand, belongs to; empty for none.

        In the vault, that is the project whose area it is.
        """
        folder = folder or self.folder
        if folder.is_relative_to(self.vault.root):
            return project_of(f"{folder.relative_to(self.vault.root).as_posix()}/x")
        return self.area(folder).name


OpenWorkspace: TypeAlias = Callable[[Path | None], Workspace]  # for a project's folder, or the folder at hand
