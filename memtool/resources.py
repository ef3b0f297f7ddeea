"""The folders that travel with memtool, in a wheel below the package, in a checkout beside it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from memtool.errors import MemtoolError

_AGAIN = "Install memtool again."


def shipped(name: str) -> Path:
    """Return the folder *name* as it was shipped, such as `vault_template`.

    Raises:
        MemtoolError: the installation is damaged.
    """
    package = Path(__file__).resolve().parent
    in_wheel, in_checkout = package / "_shipped" / name, package.parent / name
    if in_wheel.is_dir():
        return in_wheel
    if in_checkout.is_dir() and (package.parent / "pyproject.toml").is_file():
        return in_checkout
    raise MemtoolError(f"this installation of memtool lacks its folder '{name}'", hint=_AGAIN)


@cache
def agent_text(name: str, language: str = "") -> str:
    """Return the text *name* of the folder `rules`, in *language*, or in English if it is not there in that.

    Without a language it is a text for models, which is the same for all.

    Raises:
        MemtoolError: the installation is damaged.
    """
    folder = shipped("rules")
    if language and not (language.isalpha() and (folder / language / f"{name}.md").is_file()):
        language = "en"
    try:
        return (folder / language / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")
    except OSError:
        raise MemtoolError(f"this installation of memtool lacks its text '{name}'", hint=_AGAIN) from None
