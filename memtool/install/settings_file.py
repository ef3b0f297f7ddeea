"""A settings file changed for its owner: one value, or a text from an editor, checked before it is written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from memtool import settings
from memtool.errors import BadSetting
from memtool.install import client_files
from memtool.redaction import make_redactor
from memtool.settings import Settings, toml_lines
from memtool.settings.sections import ABOUT, DEFAULTS, RedactSettings
from memtool.settings.toml_lines import Value
from memtool.vault import files

_MARK = "\ufeff"  # which some editors write first
NOTHING: Mapping[str, str] = {"MEMTOOL_CONFIG": os.devnull}  # the environment of somebody who set nothing


def change_setting(path: Path, key: str, value: Value | None) -> Value | None:
    """Set *key* in the file at *path*, None takes it out; return the value before, None where there was none.

    Raises:
        BadSetting: the file cannot be read, or cannot be changed by a line.
        NotWritable, NoteChanged: it cannot be written. In all these cases it stays as it was.
    """
    before: list[Value | None] = [None]

    def changed(text: str | None) -> str:
        mark = _MARK if (text or "").startswith(_MARK) else ""
        body = (text or "").removeprefix(_MARK)
        before[0] = value_in(body, key)
        try:
            after = toml_lines.without_value(body, key) if value is None else toml_lines.with_value(body, key, value)
        except BadSetting as error:
            raise BadSetting(f"{path}: {error}", hint=error.hint) from None
        return mark + after

    client_files.read(path)  # which says why a file cannot be read
    if value is not None or path.exists():
        files.change(path, changed)
    return before[0]


def value_in(text: str, key: str) -> Value | None:
    """Return the value that the TOML *text* gives the setting *key*; None where there is none, or no TOML."""
    import tomllib

    section, _, name = key.rpartition(".")
    with suppress(ValueError, RecursionError):
        table: Any = tomllib.loads(text)
        table = table.get(section) if section else table
        value = table.get(name) if isinstance(table, dict) else None
        return value if isinstance(value, str | int | list) else None
    return None


def check_value(key: str, words: tuple[str, ...]) -> Value:
    """Return the value that *words* give the setting *key*.

    Words are the items of a list; where only certain names are allowed, commas may be between them.

    Raises:
        BadSetting: the setting cannot have it.
    """
    if not isinstance(DEFAULTS[key], tuple):
        if len(words) != 1:
            raise BadSetting(f"'{key}' has one value, not {len(words)}", hint="Put a value with spaces in quotes.")
        return _checked(key, words[0])
    if settings.choices_of(key):
        words = tuple(name for word in words for name in word.replace(" ", "").split(","))
    return _checked(key, [word for word in words if word])


def _checked(key: str, given: str | list[str]) -> Value:
    try:
        value = settings.checked_value(key, given, f"'{key}'")
    except BadSetting as error:
        near = get_close_matches(str(given), settings.choices_of(key), 1)
        raise BadSetting(str(error), hint=f"Did you mean '{near[0]}'?" if near else ABOUT[key].help) from None
    section, _, name = key.rpartition(".")
    if section == "redact" and isinstance(value, tuple):
        make_redactor(RedactSettings(**{name: value}))  # a pattern that is none would end all capture
    if name.endswith("_env") and not (isinstance(value, str) and value.isidentifier()):
        hint = "Export the key in your shell's profile, and name the variable here."
        raise BadSetting(f"'{key}' should be the name of a variable, not a key", hint=hint)
    return value


def check_text(text: str, path: Path, *, of_vault: bool) -> Settings:
    """Return the settings that *text*, written to *path*, gives by itself.

    Raises:
        BadSetting: it is no TOML, or a value cannot be used.
    """
    with tempfile.TemporaryDirectory(prefix="memtool-") as folder:
        draft = Path(folder) / path.name
        draft.write_text(text, encoding="utf-8")
        try:
            found = settings.load(draft, NOTHING) if of_vault else settings.load(None, {"MEMTOOL_CONFIG": str(draft)})
        except BadSetting as error:
            raise BadSetting(str(error).replace(str(draft), path.name), hint=error.hint) from None
    make_redactor(found.redact)
    return found
