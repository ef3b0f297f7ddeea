"""A settings file of the user or the vault: one value changed, or a text from an editor, checked before it is written.

One value is changed by tomlkit, which keeps every other byte; the result is read again with tomllib.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from memtool import settings
from memtool.errors import BadSetting
from memtool.install import client_files
from memtool.redaction import make_redactor
from memtool.settings import Settings
from memtool.settings.sections import ABOUT, DEFAULTS, RedactSettings
from memtool.text.lines import newline_of
from memtool.vault import files

Value = str | int | bool | Sequence[str]
_EDIT = "Change it by hand: `memtool config edit`."
_MARK = "\ufeff"  # which some editors write first
NOTHING: Mapping[str, str] = {"MEMTOOL_CONFIG": os.devnull}  # an environment without settings


def change_setting(path: Path, key: str, value: Value | None) -> Value | None:
    """Set *key* in the file at *path*, None removes it; return the value before, None if there was none.

    Raises:
        BadSetting: the file cannot be read, or its form allows no change.
        NotWritable, NoteChanged: it cannot be written. In all these cases it stays as it was.
    """
    before: list[Value | None] = [None]

    def changed(text: str | None) -> str:
        body = (text or "").removeprefix(_MARK)
        before[0] = value_in(body, key)
        try:
            after = without_value(body, key) if value is None else with_value(body, key, value)
        except BadSetting as error:
            raise BadSetting(f"{path}: {error}", hint=error.hint) from None
        return (_MARK if (text or "").startswith(_MARK) else "") + after

    client_files.read(path)  # which says why a file cannot be read
    if value is not None or path.exists():
        files.change(path, changed)
    return before[0]


def with_value(text: str, key: str, value: Value) -> str:
    """Return the TOML *text* in which the setting *key*, such as `search.limit`, has *value*; other bytes stay.

    Raises:
        BadSetting: *text* is not TOML, or its form allows no change.
    """
    import tomlkit
    from tomlkit.items import Array

    def put(table: Any, name: str) -> None:  # noqa: ANN401  (a table of tomlkit)
        there = table.get(name)
        if isinstance(there, Array) and there.as_string().count("#") > sum(str(item).count("#") for item in there):
            raise BadSetting(f"the value of '{key}' goes over several lines, with comments in it", hint=_EDIT)
        table[name] = tomlkit.parse(f"{name} = {as_toml(value)}\n")[name]

    return _changed(text, key, put, value if isinstance(value, str | int) else list(value))


def without_value(text: str, key: str) -> str:
    """Return the TOML *text* in which the setting *key* is not set; a table stays, even an empty one.

    Raises:
        BadSetting: *text* is not TOML, or its form allows no change.
    """
    return _changed(text, key, lambda table, name: table.pop(name, None), None)


def _changed(text: str, key: str, change: Callable[[Any, str], object], value: object) -> str:
    """Return *text* after a *change* of the table that holds *key*, which then has *value*; None is no value."""
    import tomllib

    import tomlkit

    section, _, name = key.rpartition(".")
    newline = newline_of(text)
    body = text.replace("\r\n", "\n")
    body += "\n" if body and not body.endswith("\n") else ""
    try:
        expected = tomllib.loads(text)
        document = tomlkit.parse(body)
    except (ValueError, RecursionError) as error:
        raise BadSetting(f"the file is not TOML: {error}", hint="Mend it: `memtool config edit`.") from None
    if section and value is not None:
        expected.setdefault(section, {})
        if section not in document:
            document.add(section, tomlkit.table())
    table, wanted = (document.get(section), expected.get(section)) if section else (document, expected)
    if table is None:
        return text
    if not isinstance(wanted, dict):
        raise BadSetting(f"'{section}' should be a table, [{section}]", hint=_EDIT)
    wanted.pop(name, None)
    wanted |= {} if value is None else {name: value}
    with suppress(ValueError, LookupError, TypeError, AttributeError):  # of tomlkit, for tables in odd places
        change(table, name)
        after = tomlkit.dumps(document)
        if tomllib.loads(after) == expected:
            return after.replace("\n", newline)
    raise BadSetting(f"'{key}' cannot be changed in the form that this file has", hint=_EDIT)


def as_toml(value: Value) -> str:
    """Return *value* as a settings file writes it, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if not isinstance(value, str):
        return f"[{', '.join(as_toml(item) for item in value)}]"
    if "\\" in value and value.isprintable() and "'" not in value:
        return f"'{value}'"  # a pattern, or a path of Windows, as it was typed
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def value_in(text: str, key: str) -> Value | None:
    """Return the value that the TOML *text* gives the setting *key*; None without a value, or without TOML."""
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
