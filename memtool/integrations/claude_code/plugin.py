"""The plugin in Claude Code, as the client's own files tell of it (seen in 2.1.330)."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from memtool.integrations.claude_code import places
from memtool.integrations.claude_code.hooks import Program

_NAME = "memtool"
_HOOK = "memtool-hook"


class Plugin(NamedTuple):
    """A plugin of ours that the settings file at *path* enables; *version* is empty where it is not installed."""

    id: str
    path: Path
    version: str


def find_plugin(paths: Iterable[Path], environ: Mapping[str, str]) -> Plugin | None:
    """Return the plugin that the settings files *paths* enable together, the weightiest last; None without one."""
    enabled: dict[str, Path | None] = {}
    for path in paths:
        for name, is_on in _object(places.values(path).get("enabledPlugins")).items():
            if name.partition("@")[0] == _NAME:
                enabled[name] = path if is_on is True else None
    return next((Plugin(name, path, _version(name, environ)) for name, path in enabled.items() if path), None)


def plugin_program(environ: Mapping[str, str]) -> Program | None:
    """Return the program that `hooks/claude-code/hooks/launch.sh` would run; None where it would find none."""
    found = shutil.which(_HOOK, path=environ.get("PATH"))
    if not found:
        with contextlib.suppress(RuntimeError):  # nobody knows the home folder
            found = shutil.which(str(Path.home() / ".local" / "bin" / _HOOK))
    return Program(found) if found else None


def _version(name: str, environ: Mapping[str, str]) -> str:
    record = places.user_settings_path(environ).parent / "plugins" / "installed_plugins.json"
    installed = _object(places.values(record).get("plugins")).get(name)
    copies = [_object(copy).get("version") for copy in installed] if isinstance(installed, list) else []
    return next((version for version in copies if isinstance(version, str)), "")


def _object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}
