"""The health of this installation: versions, settings, variables, and the whole way of a note in a vault of its own."""

from __future__ import annotations

import contextlib
import datetime as dt
import platform
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from memtool import __version__, settings as settings_module
from memtool.doctor.check import BROKEN, NOTE, OK, Check, broken
from memtool.errors import MemtoolError
from memtool.index.engine import Index, Place, use_index
from memtool.index.filters import Filter
from memtool.index.search import search
from memtool.installation import DISTRIBUTION
from memtool.redaction import make_redactor
from memtool.vault.layout import Vault, open_vault, state_folder
from memtool.vault.project_area import shown_path

_PROBE = "# Probe\n\nThe probe of `getUserById` found 解密失败 in v2.1.210.\n"
_PROBE_QUERIES = ("user probe", "解密失败", "v2.1.210")


def probe() -> Check:
    """Write a note in a vault of its own, index it and find it: the whole way, without touching the user's files."""
    try:
        with tempfile.TemporaryDirectory(prefix="memtool-probe-", ignore_cleanup_errors=True) as folder:
            (Path(folder) / "probe.md").write_text(_PROBE, encoding="utf-8")
            vault = open_vault(Path(folder))
            place = Place(vault, state_folder(vault, lambda: Path(folder)))
            lost = use_index(place, _lost_queries)
    except (MemtoolError, OSError, sqlite3.Error) as error:
        return Check("probe", BROKEN, f"a new note cannot be indexed here: {error}", getattr(error, "hint", ""))
    if lost:
        sentence = f"a new note was indexed and not found by {', '.join(lost)}"
        return Check("probe", BROKEN, sentence, "Please report this.")
    return Check("probe", OK, "a new note was written, indexed and found")


def _lost_queries(index: Index) -> list[str]:
    wanted = Filter(dt.date.min)
    return [query for query in _PROBE_QUERIES if not search(index, query, wanted, limit=1).hits]


def installation_checks() -> Iterator[Check]:
    """Look for the other program on PyPI with our command's name: it brings a package `memtool`, too."""
    from importlib.metadata import PackageNotFoundError, distribution

    with contextlib.suppress(PackageNotFoundError):
        other = distribution("memtool")
        if "memtool-hook" not in {entry.name for entry in other.entry_points}:
            sentence = (
                f"another program's package 'memtool' {other.version} is installed beside this one, with the same name"
            )
            fix = f"`pip uninstall memtool`, then install {DISTRIBUTION} again: they overwrite each other's files."
            yield Check("installation", BROKEN, sentence, fix)


def version_checks() -> list[Check]:
    """Return the versions of memtool, Python and SQLite."""
    versions = f"memtool {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    return [Check("versions", OK, f"{versions}, {platform.system()} {platform.machine()}")]


def settings_checks(vault: Vault | None, environ: Mapping[str, str]) -> list[Check]:
    """Return where each setting comes from, and the unknown variables and keys."""
    try:
        settings = settings_module.load(vault.settings_path if vault else None, environ)
        make_redactor(settings.redact)  # without it, nothing is captured
    except MemtoolError as error:
        return [broken("settings", error)]
    changed = [f"{key} from {origin}" for key, origin in settings.origins.items() if origin != "default"]
    path = settings_module.user_config_path(environ)
    is_there = path.is_file()
    where = f"{shown_path(str(path), None, home_folder())}{'' if is_there else ' (not there yet)'}"
    summary = Check("settings", OK, f"{'; '.join(changed) or 'all defaults'}; yours: {where}")
    unknown = [f"{name}{nearest(name)}" for name in settings_module.unknown_variables(environ, settings)]
    notices = [*settings.notices, *(f"the variable {name} is unknown" for name in unknown)]
    return [summary, *(Check("settings", NOTE, notice) for notice in notices)]


def nearest(name: str) -> str:
    """Return the question `did you mean …?` with the nearest variable; empty if none is near."""
    from difflib import get_close_matches

    near = get_close_matches(name, settings_module.known_variables(), 1, 0.8)
    return f" (did you mean {near[0]}?)" if near else ""


def home_folder() -> Path:
    """Return the user's home folder, or `~` if it is unknown."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("~")
