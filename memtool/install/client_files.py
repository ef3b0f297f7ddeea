"""The files of a client: settings in JSON, instructions in Markdown, read as text before anything is changed."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any, NamedTuple

from memtool.errors import BadSetting, BrokenVaultFile
from memtool.install import json_text
from memtool.vault import files

_LARGEST = 33_554_432  # bytes; a client's file of state may hold years of prompts
_MEND = "Mend it with an editor. memtool has changed nothing."


class Content(NamedTuple):
    """The text of a file, and the hash to hand to `memtool.vault.files.replace`."""

    text: str
    hash: str


def read(path: Path) -> Content | None:
    """Return the content of the file at *path*; None where there is no file.

    Raises:
        BadSetting: it cannot be read, or is not a text file.
    """
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise BadSetting(f"'{path}' is not a file", hint="Move it away.")
        if about.st_size > _LARGEST:
            raise BadSetting(f"'{path}' is too large for a settings file ({about.st_size:,} bytes)", hint=_MEND)
        return Content(*files.read_text(path))
    except FileNotFoundError:
        return None
    except BrokenVaultFile as error:
        raise BadSetting(f"'{path}' cannot be read as text: {error}", hint=_MEND) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadSetting(f"cannot read '{path}': {reason}", hint="Check its permissions.") from None


def not_settings(path: Path, error: ValueError) -> BadSetting:
    """Return the error for a file whose text is not what settings should be."""
    if isinstance(error, json.JSONDecodeError):
        return BadSetting(f"'{path}' is not JSON: {error.msg} (line {error.lineno}, column {error.colno})", hint=_MEND)
    return BadSetting(f"'{path}' is broken: {error}", hint=_MEND)


def values(path: Path) -> dict[str, Any]:
    """Return the settings in the JSON file at *path*; nothing where it cannot be read."""
    try:
        content = read(path)
        found = json_text.parse(content.text).value if content else {}
    except (BadSetting, json.JSONDecodeError):
        return {}
    return found if isinstance(found, dict) else {}
