"""One run of the command line: its vault, its settings and its folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from memtool import settings
from memtool.settings import Settings
from memtool.vault.layout import Vault, open_vault
from memtool.workspace import Workspace

if TYPE_CHECKING:
    from memtool.index.engine import Place, Progress

F = TypeVar("F", bound=Callable[..., Any])


class Session:
    """One run of the command line. *overrides* are settings given as options."""

    def __init__(self, *, vault_option: str | None = None) -> None:
        self.vault_option = vault_option
        self.environ: Mapping[str, str] = settings.environment()
        self.overrides: dict[str, object] = {}
        # An agent works in anybody's repository (docs/decisions/0017-projects-and-vaults.md).
        self.looks_upwards = True

    def vault_path(self, named: str | None = None) -> tuple[Path, str]:
        """Return the path of the vault, unless it is *named* here, and who said so."""
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
        """Return the workspace of *folder*, or of this one, found anew: a server outlives its vault's settings.

        Raises:
            MemtoolError: the vault is gone, or its settings cannot be used.
        """
        vault = open_vault(self.vault_path()[0])
        known = settings.load(vault.settings_path, self.environ, self.overrides)
        return Workspace(vault, known, self.environ, Path.home(), folder or working_folder())

    def go_back(self, named: str | None) -> None:
        """Work on the vault as it stood when the day *named* ended, or at that time; None stays in the present."""
        if named is None:
            return
        from memtool.history.past import moment_of, past_vault
        from memtool.index.filters import parse_day

        now = self.work.now()
        day = "" if ":" in named else parse_day(named, now.date(), end=True)
        past = past_vault(self.vault, moment_of(named, day, now.tzinfo), self.work.cache)
        moment = min(past.moment, now)
        self.overrides |= {"index.client_memory": "no", "knowledge.folders": ()}  # which have no history
        self.overrides["index.engine"] = "sqlite"  # the past is nobody else's
        known = settings.load(past.vault.settings_path, self.environ, self.overrides)
        self.work = self.work._replace(vault=past.vault, settings=known, clock=lambda: moment)
        self.vault, self.settings = past.vault, known

    def place(self, *, progress: Progress | None = None, patience: float = 1.0) -> Place:
        """Return the place of the vault's index."""
        from memtool.index.engine import no_progress, place_of

        return place_of(self.work, progress=progress or no_progress, patience=patience)


def working_folder() -> Path:
    """Return the folder in which the command runs; the topmost one if that has been removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:  # it has been removed; there is nothing to look upwards from
        return Path(os.sep)


def with_vault(command: F) -> F:
    """Let a command accept `--vault` behind its name as well, and hand it the `Session`."""
    option = click.option(
        "--vault", metavar="PATH", expose_value=False, callback=_remember, help="The vault to work on."
    )
    return cast("F", option(click.pass_obj(command)))


def _remember(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    session = ctx.find_object(Session)
    if session is not None and value is not None:
        session.vault_option = value
