"""How this memtool was installed (pipx, uv, a clone, plain pip), and the one command that changes that."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

DISTRIBUTION = "memtool-vault"  # `memtool` on the package index is another program
_EXTRAS = {
    "vectors": ("fastembed>=0.9,<0.10", "numpy>=1.26,<3"),
    "llm": ("anthropic>=2,<3",),
    "postgres": ("numpy>=1.26,<3", "psycopg[binary,pool]>=3.2,<4"),
    "schedule": ("schedule>=1.2,<2",),
    "serve": (
        "fastapi>=0.165,<0.166", "jinja2>=3.1,<4", "nh3>=0.3,<0.4", "uvicorn>=0.54,<0.55", "watchfiles>=1.1,<2",
    ),
}  # fmt: skip


def how_to_add(extra: str) -> str:
    """Return the sentence with the one command that adds the *extra*, such as `vectors`, to what runs."""
    return f"`{_adding(extra)}` adds it."


def how_to_remove() -> str:
    """Return the one command that removes the installation that runs."""
    commands = {"pipx": "pipx uninstall", "uv": "uv tool uninstall"}
    return f"{commands.get(_installer()) or _pip('uninstall')} {DISTRIBUTION}"


def _adding(extra: str) -> str:
    installer, packages = _installer(), _EXTRAS[extra]
    if installer == "pipx":
        missing = [package for package in packages if not _is_there(package)]
        return f"pipx inject {DISTRIBUTION} {' '.join(map(_quoted, missing or packages))}"
    if installer == "uv":  # which installs anew, so the extras that are there are named, too
        there = {name for name in _EXTRAS if all(map(_is_there, _EXTRAS[name]))}
        extras = ",".join(sorted(there | {extra}))
        return f"uv tool install {_quoted(f'{_source()}[{extras}]')}"
    editable = "-e " if _checkout() else ""
    return f"{_pip('install')} {editable}{_quoted(f'{_source()}[{extra}]')}"


def _installer() -> str:
    """Return `pipx` or `uv`, which leave a mark in the environments that they make; empty for any other."""
    marks = {"pipx": "pipx_metadata.json", "uv": "uv-receipt.toml"}
    return next((name for name, mark in marks.items() if Path(sys.prefix, mark).is_file()), "")


def _pip(verb: str) -> str:
    python = _quoted(sys.executable)
    return f"{python} -m pip {verb}" if find_spec("pip") else f"uv pip {verb} --python {python}"


def _source() -> str:
    """Return the folder or file of this machine that memtool was installed from, else the name of the package."""
    if checkout := _checkout():
        return str(checkout)
    record = f"{DISTRIBUTION.replace('-', '_')}-*.dist-info/direct_url.json"
    for path in Path(__file__).resolve().parent.parent.glob(record):
        with contextlib.suppress(OSError, ValueError, LookupError):
            scheme, _, address = json.loads(path.read_bytes())["url"].partition("://")
            source = Path(unquote(address if os.sep == "/" else address.lstrip("/")))
            if scheme == "file" and source.exists():
                return str(source)
    return DISTRIBUTION


def _checkout() -> Path | None:
    beside = Path(__file__).resolve().parent.parent
    return beside if (beside / "pyproject.toml").is_file() else None


def _is_there(package: str) -> bool:
    return find_spec(re.split(r"[\[<>=]", package)[0]) is not None


def _quoted(word: str) -> str:
    return f'"{word}"' if re.search(r"[^\w/.:\\@%+-]", word) else word
