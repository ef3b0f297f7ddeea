"""The folders that travel with memtool: in a wheel below the package, in a checkout beside it."""

from __future__ import annotations

from pathlib import Path

from memtool.errors import MemtoolError


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
    raise MemtoolError(f"this installation of memtool lacks its folder '{name}'", hint="Install memtool again.")
