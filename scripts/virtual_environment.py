"""A virtual environment inside the clone, with memtool installed from the clone's own files."""

import hashlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

STAMP_FILE = "memtool-setup.txt"  # says where, by which Python and from which pyproject.toml it was made


class SetupFailed(Exception):
    """The environment cannot be made; the message says why and what to do."""


def make_ready(path: Path, clone: Path, *extras: str) -> None:
    """Make the environment at *path*, with memtool from *clone* and at least its first of *extras*.

    Nothing is done where it was made with any of *extras*: the first one is the least.

    Raises:
        SetupFailed: with the last lines of what pip said, where it was pip that failed.
    """
    wanted = extras[0] if extras else ""
    stamp_path = path / STAMP_FILE
    found = stamp_path.read_text(encoding="utf-8") if stamp_path.is_file() else _place(path)
    if found in [stamp(path, clone, extra) for extra in (wanted, *extras)]:
        return
    # The scripts of an environment name its place, so one that was moved with its clone is made anew.
    if not found.startswith(_place(path)) or not _runs([str(python_of(path)), "--version"]):
        _create(path)
    _install(_pip_of(python_of(path)), clone, f".[{wanted}]" if wanted else ".", path.name)
    stamp_path.write_text(stamp(path, clone, wanted), encoding="utf-8")


def stamp(path: Path, clone: Path, extra: str = "") -> str:
    """Return what the stamp of the environment at *path* says when it is ready."""
    return f"{_place(path)}{extra} {hashlib.sha256((clone / 'pyproject.toml').read_bytes()).hexdigest()}\n"


def _place(path: Path) -> str:
    return f"{path}\n{sys.version}\n"


def python_of(path: Path) -> Path:
    """Return the Python of the environment at *path*."""
    return script_of(path, "python")


def script_of(path: Path, name: str) -> Path:
    """Return the command *name* of the environment at *path*."""
    return path / "Scripts" / f"{name}.exe" if os.name == "nt" else path / "bin" / name


def _create(path: Path) -> None:
    if path.exists() and not (path / "pyvenv.cfg").is_file():
        raise SetupFailed(f"'{path}' is in the way: it is not a virtual environment. Move it and try again.")
    print(f"Making a virtual environment in {path.name}", flush=True)
    command = [sys.executable, "-m", "venv", "--clear", str(path)]
    # Debian keeps ensurepip in a package of its own; the system's pip, if there is one, can stand in.
    if not _runs(command) and not _runs([*command, "--without-pip"]):
        raise SetupFailed(f"'{sys.executable} -m venv' fails. {_missing_venv()}")


def _pip_of(python: Path) -> list[str]:
    for before, after in ((str(python), []), (sys.executable, ["--python", str(python)])):
        pip = [before, "-m", "pip", *after]
        if _runs([*pip, "--version"]):
            return pip
    raise SetupFailed(f"this Python has neither pip nor ensurepip. {_missing_venv()}")


def _missing_venv() -> str:
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return f"On Debian and Ubuntu: sudo apt install python{version}-venv   Then try again."


def _install(pip: list[str], clone: Path, requirement: str, name: str) -> None:
    print(f"Installing memtool and what it needs into {name}:", end="", flush=True)
    started_at = time.monotonic()
    options = ["--no-input", "--disable-pip-version-check", "--progress-bar", "off"]
    command = [*pip, "install", *options, "--editable", requirement]
    said = []
    with subprocess.Popen(
        command, cwd=clone, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace"
    ) as process:
        for line in process.stdout or ():
            said.append(line.rstrip())
            if line.startswith("Collecting "):
                print("", re.split(r"[^\w.-]", line.split()[1])[0], end="", flush=True)
    if process.returncode:
        tail = "\n  ".join(said[-12:])
        raise SetupFailed(f"memtool could not be installed. pip said:\n  {tail}\nIs there a network? Then try again.")
    print(f" ({time.monotonic() - started_at:.0f} s)", flush=True)


def _runs(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
