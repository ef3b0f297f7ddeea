"""One run of the command line: its vault, its settings and its folders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtool import settings
from memtool.cli import output
from memtool.settings import Settings
from memtool.vault.layout import Vault, open_vault
from memtool.workspace import Workspace

if TYPE_CHECKING:
    from memtool.history.one_commit import Kept
    from memtool.index.engine import Place, Progress


class Session:
    """One run of the command line. *overrides* are settings given as options."""

    def __init__(self, *, vault_option: str | None = None) -> None:
        self.vault_option = vault_option
        self.as_json = False
        self.environ: Mapping[str, str] = settings.environment()
        self.overrides: dict[str, object] = {}
        # An agent may work in a stranger's repository (docs/decisions/0017-projects-and-vaults.md).
        self.looks_upwards = True

    def emits(self, answer: Mapping[str, Any]) -> bool:
        """Return whether the answer is to be JSON; then *answer* is printed."""
        if self.as_json:
            output.emit_json(answer)
        return self.as_json

    def say_kept(self, kept: Kept) -> None:
        """Print why a change is in no commit, or the command that reverts it."""
        undo = kept.undo(self.vault)
        output.say(kept.notice, f"Undo: {undo}" if undo else "")

    def vault_path(self, named: str | None = None) -> tuple[Path, str]:
        """Return the path of the vault, *named* or found, and the place that names it."""
        option = self.vault_option if named is None else named
        return settings.find_vault_path(option, self.environ, working_folder() if self.looks_upwards else Path(os.sep))

    @cached_property
    def vault(self) -> Vault:
        """The vault to work on."""
        return open_vault(self.vault_path()[0])

    @cached_property
    def settings(self) -> Settings:
        """The settings in force for the vault."""
        return settings.load(self.vault.settings_path, self.environ, self.overrides)

    @cached_property
    def work(self) -> Workspace:
        """The workspace of the command."""
        return Workspace(self.vault, self.settings, self.environ, Path.home(), working_folder())

    def open_workspace(self, folder: Path | None = None) -> Workspace:
        """Return the workspace of *folder*, or of this one, opened again: a server outlives changes of the settings.

        Raises:
            MemtoolError: the vault is gone, or its settings cannot be used.
        """
        vault = open_vault(self.vault_path()[0])
        known = settings.load(vault.settings_path, self.environ, self.overrides)
        return Workspace(vault, known, self.environ, Path.home(), folder or working_folder())

    def go_back(self, named: str | None) -> None:
        """Work on the vault as it was when the day *named* ended, or at that time; None stays in the present."""
        if named is None:
            return
        from memtool.history.past import moment_of, past_vault
        from memtool.index.filters import parse_day

        now = self.work.now()
        day = "" if ":" in named else parse_day(named, now.date(), end=True)
        past = past_vault(self.vault, moment_of(named, day, now.tzinfo), self.work.cache)
        moment = min(past.moment, now)
        self.overrides |= {"index.client_memory": "no", "knowledge.folders": ()}  # which have no history
        self.overrides["index.engine"] = "sqlite"  # a shared index holds the present only
        known = settings.load(past.vault.settings_path, self.environ, self.overrides)
        self.work = self.work._replace(vault=past.vault, settings=known, clock=lambda: moment)
        self.vault, self.settings = past.vault, known

    def place(self, *, progress: Progress | None = None, patience: float = 1.0) -> Place:
        """Return the place of the vault's index."""
        from memtool.index.engine import no_progress, place_of

        return place_of(self.work, progress=progress or no_progress, patience=patience)


def working_folder() -> Path:
    """Return the folder in which the command runs; the root folder if it has been removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:  # it has been removed; there is nothing to look upwards from
        return Path(os.sep)
