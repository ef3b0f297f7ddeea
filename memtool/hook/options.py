"""What the installation tells a hook, and which vault it works on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from memtool import settings


class Options(NamedTuple):
    """The *vault* that was named, if one was; whether memtool was installed for one project only; or is a plugin."""

    vault: str = ""
    this_project: bool = False
    plugin: bool = False


def parse_options(arguments: Sequence[str]) -> Options:
    """Return the options. Arguments that mean nothing here may come from a newer installation."""
    vault = next((value for name, value in pairwise(arguments) if name == "--vault"), "")
    return Options(vault, "--this-project" in arguments, "--plugin" in arguments)


def vault_path(options: Options, environ: Mapping[str, str]) -> Path:
    """Return where the vault is: as for every command, but for the folders above the working folder.

    That is where the agent works: a repository from a stranger must not draw the user's notes to itself by a
    `memtool.toml` (docs/decisions/0009-which-vault-a-hook-uses.md).

    Raises:
        BadSetting: the user's settings cannot be read.
    """
    path, _ = settings.find_vault_path(options.vault or None, environ, Path(os.sep))
    return path
