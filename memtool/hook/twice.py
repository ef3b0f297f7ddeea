"""So that an event is acted on once where memtool is both a plugin and in the settings: the settings come first."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from memtool.errors import BadSetting


def is_in_settings(event: str, folder: str, environ: Mapping[str, str]) -> bool:
    """Whether the settings of a session in *folder* run memtool at *event*, so that the plugin need not."""
    return any(_runs_memtool(path, event) for path in _settings_paths(folder, environ))


def _settings_paths(folder: str, environ: Mapping[str, str]) -> Iterator[Path]:
    from memtool.integrations.claude_code import places

    with contextlib.suppress(BadSetting):
        yield places.user_settings_path(environ)
    project = Path(environ.get("CLAUDE_PROJECT_DIR") or folder)
    if project.is_absolute():
        yield places.shared_settings_path(project)
        yield places.project_settings_path(project)
        # Since 2.1.211 the client also reads this file at the root of the repository (seen in 2.1.330).
        root = next((place for place in project.parents if (place / ".git").exists()), None)
        if root and not (project / ".git").exists():
            yield places.project_settings_path(root)
    yield places.managed_settings_path()


def _runs_memtool(path: Path, event: str) -> bool:
    """Whether the file has such a hook. The client ignores a file that is not strict JSON, and so does this."""
    from memtool.integrations.claude_code import places

    try:
        content = places.read(path)
        if content is None or "memtool" not in content.text:
            return False
        from memtool.integrations import json_text
        from memtool.integrations.claude_code.hooks import find_handlers

        handlers = find_handlers(content.text)
    except (BadSetting, ValueError):
        return False
    return json_text.is_plain(content.text) and any(handler.event == event for handler in handlers)
