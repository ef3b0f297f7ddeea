"""Settings, and where each of them came from. Only this module reads the environment and settings files.

Strongest first: the command line, `MEMTOOL_*` variables, the user's `config.toml`, the vault's `memtool.toml`,
the defaults. A vault may come from a stranger, so addresses, commands, paths and the names of keys are never
taken from its file. Each setting is declared in `memtool.settings.sections`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memtool.errors import BadSetting, UsageError
from memtool.named_tuple import NamedTuple
from memtool.settings import sections
from memtool.settings.sections import ABOUT, DEFAULTS, SECTIONS, VARIABLES
from memtool.settings.text_providers import VENDORS
from memtool.text.languages import has_labels, label_languages
from memtool.text.lines import some_of

CONFIG_FILE = "config.toml"
DEFAULT_VAULT = "~/memory"
INTERNAL = "MEMTOOL_INTERNAL"  # set while a model works for memtool: its session is none of the user's

OF_THE_VAULT = {"format", "daily_folder"}  # what `memtool.vault.layout` reads of a vault's file; no settings elsewhere
# Variables that hold a secret: the address of the database, whose password may be in it; the token that requests to
# `memtool serve` must send; a member's token for a team's service; what git hosts sign their messages to it with.
POSTGRES, TOKEN = "MEMTOOL_POSTGRES", "MEMTOOL_TOKEN"
TEAM_TOKEN, WEBHOOK_SECRET = "MEMTOOL_TEAM_TOKEN", "MEMTOOL_TEAM_WEBHOOK_SECRET"
_OTHER_VARIABLES = (
    "MEMTOOL_VAULT", "MEMTOOL_CONFIG", "MEMTOOL_CACHE", TOKEN, TEAM_TOKEN, WEBHOOK_SECRET, POSTGRES, INTERNAL,
)  # fmt: skip


def choices_of(key: str) -> tuple[str, ...]:
    """Return the choices that a setting has; empty if it may be anything."""
    return label_languages() if key == "language" else ABOUT[key].choices


class Keys(NamedTuple):
    """The secrets of providers, which no repr shows. *vendors* has those of their usual variables, by provider."""

    embeddings: str = ""
    anthropic: str = ""
    openai: str = ""
    vendors: Mapping[str, str] = MappingProxyType({})

    def __repr__(self) -> str:
        return "Keys(…)"


class Settings(NamedTuple):
    """All settings of one run. *origins* maps a key such as `search.limit` to where its value came from."""

    general: sections.VaultSettings = sections.VaultSettings()
    search: sections.SearchSettings = sections.SearchSettings()
    index: sections.IndexSettings = sections.IndexSettings()  # type: ignore[assignment]  # hides tuple.index
    knowledge: sections.KnowledgeSettings = sections.KnowledgeSettings()
    embeddings: sections.EmbeddingSettings = sections.EmbeddingSettings()
    capture: sections.CaptureSettings = sections.CaptureSettings()
    transcripts: sections.TranscriptSettings = sections.TranscriptSettings()
    sessions: sections.SessionSettings = sections.SessionSettings()
    redact: sections.RedactSettings = sections.RedactSettings()
    llm: sections.ModelSettings = sections.ModelSettings()
    recall: sections.RecallSettings = sections.RecallSettings()
    consolidate: sections.ConsolidateSettings = sections.ConsolidateSettings()
    team: sections.TeamSettings = sections.TeamSettings()
    keys: Keys = Keys()
    origins: Mapping[str, str] = MappingProxyType({})
    notices: tuple[str, ...] = ()

    @property
    def has_chosen_embedder(self) -> bool:
        """Whether the user has chosen who computes vectors, so that its failure is an error."""
        keys = [key for key, about in ABOUT.items() if key.startswith("embeddings.") and about.user_only]
        chosen = any(self.origins.get(key, "default") != "default" for key in keys)
        return chosen and self.embeddings.provider != "none"


def find_vault_path(named: str | None, environ: Mapping[str, str], cwd: Path) -> tuple[Path, str]:
    """Return the path of the vault, and the option, variable or file that names it.

    `--vault`, else `MEMTOOL_VAULT`, else the nearest folder upwards with a `memtool.toml`, else the user's settings,
    else `~/memory`. Nothing is checked here: see `memtool.vault.layout.open_vault`.

    Raises:
        UsageError: *named* is empty.
        BadSetting: the user's settings cannot be read, or the user's home folder is unknown.
    """
    if named == "":
        raise UsageError("--vault is empty", hint="Name a folder, such as `--vault ~/memory`.")
    if named:
        return _expanded(named), "--vault"
    if environ.get("MEMTOOL_VAULT"):
        return _expanded(environ["MEMTOOL_VAULT"]), "MEMTOOL_VAULT"
    for folder in (cwd, *cwd.parents):
        if (folder / "memtool.toml").is_file():
            return folder, f"{folder / 'memtool.toml'}"
    config_path = user_config_path(environ)
    configured = _read_toml(config_path).get("vault")
    if isinstance(configured, str) and configured:
        return _expanded(configured), str(config_path)
    return _expanded(DEFAULT_VAULT), "default"


def load(
    vault_file: Path | None, environ: Mapping[str, str], overrides: Mapping[str, object] | None = None
) -> Settings:
    """Return the settings in force, with the origin of every value.

    *overrides* are values from the command line by key, such as `{"search.limit": 3}`; None means not given.

    Raises:
        BadSetting: a value has the wrong type or is not one of the choices.
    """
    config_path = user_config_path(environ)
    notices: list[str] = []
    layers: list[tuple[str, dict[str, object]]] = [
        ("command line", {key: value for key, value in (overrides or {}).items() if value is not None}),
        ("environment", {key: environ[name] for key, name in VARIABLES.items() if environ.get(name)}),
        (str(config_path), _values_in(config_path)),
    ]
    if vault_file is not None:
        values = _values_in(vault_file)
        refused = sorted(key for key in values if key in ABOUT and ABOUT[key].user_only)
        notices += [
            f"'{key}' in the vault's memtool.toml is ignored: set it in your own config.toml" for key in refused
        ]
        taken = {key: value for key, value in values.items() if key not in OF_THE_VAULT | {*refused}}
        layers.append((str(vault_file), taken))
    chosen: dict[str, dict[str, object]] = {section: {} for section in SECTIONS}
    origins = dict.fromkeys(ABOUT, "default")
    for key in ABOUT:
        origin, value = next(((origin, values[key]) for origin, values in layers if key in values), ("default", None))
        if origin != "default":
            section, _, name = key.rpartition(".")
            origins[key] = source = VARIABLES[key] if origin == "environment" else origin
            chosen[section][name] = checked_value(key, value, f"'{key}' ({source})")
    found = {name or "general": kind(**chosen[name]) for name, kind in SECTIONS.items()}
    for origin, values in layers:
        if unknown := [f"'{key}'" for key in values if key not in ABOUT]:
            notices.append(f"unknown settings in {origin}: {some_of(unknown, 5)}")
    settings = Settings(**found)
    keys = Keys(
        environ.get(settings.embeddings.api_key_env, ""),
        environ.get(settings.llm.anthropic_api_key_env, ""),
        environ.get(settings.llm.openai_api_key_env, ""),
        {
            vendor: key
            for vendor, each in VENDORS.items()
            if (key := next(filter(None, map(environ.get, each.variables)), ""))
        },
    )
    return settings._replace(keys=keys, origins=origins, notices=tuple(notices))


def shown_value(settings: Settings, key: str) -> str | int | bool | tuple[str, ...]:
    """Return the value of the setting *key* as anybody may see it: an address without its password."""
    section, _, name = key.rpartition(".")
    value: str | int | bool | tuple[str, ...] = getattr(getattr(settings, section or "general"), name)
    return shown(key, value)


def shown(key: str, value: str | int | bool | tuple[str, ...]) -> str | int | bool | tuple[str, ...]:
    """Return *value*, which the setting *key* has or had, as anybody may see it."""
    if isinstance(value, tuple):
        return tuple(str(shown(key, item)) for item in value)
    if not isinstance(value, str):
        return value
    if key.endswith("_env") and not value.isidentifier():
        return "…"  # a key, where the name of its variable should be
    import re  # which a hook does without

    return re.sub(r"(?<=:)[^:/@]+(?=@)|(?<=https://)[^:/@]+(?=@)|(?<=password=)('[^']*'|\S+)", "…", value)


def user_config_path(environ: Mapping[str, str]) -> Path:
    """Return the user's `config.toml`, in the platform's configuration folder unless `MEMTOOL_CONFIG` names it."""
    if environ.get("MEMTOOL_CONFIG"):
        return _expanded(environ["MEMTOOL_CONFIG"])
    return _platform_folder(environ, "config") / CONFIG_FILE


def user_cache_path(environ: Mapping[str, str]) -> Path:
    """Return the folder for models and for the indexes of read-only vaults. Never a temporary folder."""
    if environ.get("MEMTOOL_CACHE"):
        return _expanded(environ["MEMTOOL_CACHE"])
    return _platform_folder(environ, "cache")


def claude_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder in which Claude Code keeps its settings, transcripts and memory.

    Raises:
        BadSetting: the home folder is unknown.
    """
    return _expanded(environ.get("CLAUDE_CONFIG_DIR") or "~/.claude")


def client_session(environ: Mapping[str, str]) -> str:
    """Return the id of the session of the client in which a command runs; empty if it runs in none."""
    given = environ.get("CLAUDE_CODE_SESSION_ID", "")
    return given if len(given) <= 100 and given.replace("-", "").isalnum() else ""


def secret_in(environ: Mapping[str, str], variable: str) -> str:
    """Return the secret that *variable* of the environment holds; empty if it is not set."""
    return environ.get(variable, "").strip()


def database_address(settings: Settings, environ: Mapping[str, str]) -> str:
    """Return the address of the database that a team shares; empty if there is none."""
    return secret_in(environ, POSTGRES) or settings.index.dsn


def client_author(environ: Mapping[str, str]) -> str:
    """Return who runs a command: the `agent` within a session of the client, else the `user`."""
    return "agent" if environ.get("CLAUDECODE") else "user"


def _platform_folder(environ: Mapping[str, str], kind: str) -> Path:
    if sys.platform not in {"win32", "darwin"}:  # every search comes by here, and importing platformdirs takes 9 ms
        return _expanded(environ.get(f"XDG_{kind.upper()}_HOME") or f"~/.{kind}") / "memtool"
    import platformdirs

    folder = platformdirs.user_config_path if kind == "config" else platformdirs.user_cache_path
    return folder("memtool", appauthor=False)


def _expanded(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:
        hint = "Set HOME, or write the path in full."
        raise BadSetting(f"the home folder in '{text}' is unknown", hint=hint) from None


def environment() -> Mapping[str, str]:
    """Return the process's environment: the one place that touches it."""
    return os.environ


def known_variables() -> list[str]:
    """Return the names of all variables of memtool that mean something."""
    return [*VARIABLES.values(), *_OTHER_VARIABLES]


def unknown_variables(environ: Mapping[str, str], settings: Settings) -> list[str]:
    """Return the variables that are named as if they were memtool's and mean nothing, in order."""
    own = (settings.embeddings, settings.llm)
    keys = [getattr(section, name) for section in own for name in section._fields if name.endswith("api_key_env")]
    mine = (name for name in environ if name.startswith("MEMTOOL_") and not name.startswith("MEMTOOL_TEST_"))
    return sorted(set(mine) - {*known_variables(), *keys})


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"cannot read '{path}': {error}") from None
    if (plain := _plain_toml(text)) is not None:
        return plain
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadSetting(f"'{path}' is not TOML: {error}") from None


def _plain_toml(text: str) -> dict[str, Any] | None:
    """Parse *text* without the slow import of tomllib if it only sets `format`, as most vaults' files do; else None."""
    found: dict[str, Any] = {}
    for line in text.split("\n"):
        plain = line.partition("#")[0].strip()
        name, _, number = plain.partition(" = ")
        if plain.startswith("[") and plain[1:-1].isalpha() and plain.endswith("]") and plain[1:-1] not in found:
            found[plain[1:-1]] = {}
        elif name == "format" and number.isascii() and number.isdigit() and number[0] != "0" and not found:
            found[name] = int(number)
        elif plain:
            return None
    return found


def _values_in(path: Path) -> dict[str, object]:
    """Return the values of the settings file *path*, by key; none if it does not exist."""
    found: dict[str, object] = {}
    for name, value in _read_toml(path).items():
        if name not in SECTIONS or not name:
            found[name] = value
        elif isinstance(value, dict):
            found |= {f"{name}.{inner}": inner_value for inner, inner_value in value.items()}
        else:
            raise BadSetting(f"'{name}' in {path} should be a table, [{name}]")
    return found


def checked_value(key: str, value: object, name: str) -> str | int | bool | tuple[str, ...]:
    """Return *value* as the setting *key* holds it; a text may be a number, a yes or no, or a list.

    Raises:
        BadSetting: it has the wrong type or is not one of the choices; the sentence calls the setting *name*.
    """
    about, default = ABOUT[key], DEFAULTS[key]
    if isinstance(default, bool):
        return _yes_or_no(value, name)
    if isinstance(default, int):
        return _whole_number(value, about.least, name)
    if isinstance(default, tuple):
        return _list(value, about.choices, name)
    if isinstance(value, str) and (value == default or (key == "language" and has_labels(value))):
        return value  # the default may be none of the choices; a hook reads the file of one language, not of all
    return _text(value, choices_of(key), name)


def _yes_or_no(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or value.casefold() not in _BOOLEANS:
        raise BadSetting(f"{name} should be true or false, not {value!r}")
    return _BOOLEANS[value.casefold()]


_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def _text(value: object, choices: tuple[str, ...], name: str) -> str:
    if not isinstance(value, str):
        raise BadSetting(f"{name} should be text, not {value!r}")
    if choices and value not in choices:
        raise BadSetting(f"{name} should be one of {', '.join(choices)}, not {value!r}")
    return value


def _list(value: object, choices: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Return a list; a variable's text is cut at its commas, or at its line ends if it has any."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split("\n" if "\n" in value else ",") if part.strip()]
    if not isinstance(value, list | tuple):
        raise BadSetting(f"{name} should be a list, not {value!r}")
    return tuple(_text(item, choices, name) for item in value)


def _whole_number(value: object, least: int, name: str) -> int:
    digits = str(value) if isinstance(value, int | str) else ""
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10 and int(digits) >= least):
        raise BadSetting(f"{name} should be a whole number from {least} on, not {value!r}")
    return int(digits)
