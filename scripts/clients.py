"""The clients that the tests run for real. `python3 scripts/clients.py [NAME]...` installs them by npm.

Without names: Claude Code (365 MB), Codex (404 MB), Gemini CLI (100 MB), and axe-core (3 MB), which examines the page;
OpenCode (354 MB) has to be named. The tests take the program that a variable such as MEMTOOL_TEST_CLIENT names, else
the one that this puts into the clone. Where Debian's packages can be installed, npm and Chromium come first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Package(NamedTuple):
    """A client as npm has it. Its *version* is pinned: what a client does changes from version to version.

    Args:
        title: its name for people.
        package, version: by which npm knows it.
        program: its program or script, below `node_modules`.
        variable: of the environment; it may name another program.
        folder: in the clone; git ignores it.
    """

    title: str
    package: str
    version: str
    program: str
    variable: str
    folder: str


PACKAGES = {
    "claude-code": Package(
        "Claude Code", "@anthropic-ai/claude-code", "2.1.330", ".bin/claude", "MEMTOOL_TEST_CLIENT", ".claude-client"
    ),
    "codex": Package("Codex", "@openai/codex", "0.169.0", ".bin/codex", "MEMTOOL_TEST_CODEX", ".clients/codex"),
    "gemini": Package(
        "Gemini CLI", "@google/gemini-cli", "0.61.0", ".bin/gemini", "MEMTOOL_TEST_GEMINI", ".clients/gemini"
    ),
    "axe": Package("axe-core", "axe-core", "4.14.1", "axe-core/axe.min.js", "MEMTOOL_TEST_AXE", ".clients/axe"),
    "opencode": Package(
        "OpenCode", "opencode-ai", "1.18.33", ".bin/opencode", "MEMTOOL_TEST_OPENCODE", ".clients/opencode"
    ),
}
USUAL = ("claude-code", "codex", "gemini", "axe")
PROGRAMS = {"chromium": ("chromium", "fonts-noto-cjk"), "npm": ("npm",)}  # and the packages of Debian that bring them


def find_client(name: str = "claude-code") -> Path | None:
    """Return the program of the client *name*, or None where there is none."""
    package = PACKAGES[name]
    named = os.environ.get(package.variable)
    if named:
        return Path(named).absolute()
    program = ROOT / package.folder / package.version / "node_modules" / package.program
    return program if program.exists() else None


def install_programs() -> str:
    """Install the browser and npm where they are missing; return a sentence for people, or nothing if none is.

    It takes root to install packages of Debian. In CI `sudo` may be used; elsewhere its owner decides.
    """
    missing = [package for program, packages in PROGRAMS.items() if not shutil.which(program) for package in packages]
    if not missing:
        return ""
    names = " ".join(missing)
    options = ["--yes", "--quiet", "--no-install-recommends"]
    if not shutil.which("apt-get") or not (_is_root() or os.environ.get("CI")):
        return f"For all tests this machine lacks Debian's {names}: `apt-get install {options[-1]} {names}`."
    command = [*([] if _is_root() else ["sudo", "--non-interactive"]), "apt-get"]
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", *options, *missing]):
        ran = subprocess.run([*command, *words], env=environ, capture_output=True, text=True, check=False)
        if ran.returncode:
            reason = next(iter(ran.stderr.splitlines()[-1:]), "apt-get does not say why")
            return f"Debian's {names} cannot be installed, so some tests will be skipped: {reason}"
    return f"Debian's {names}: installed."


def _is_root() -> bool:
    return os.name == "posix" and os.geteuid() == 0


def install(name: str = "claude-code") -> str:
    """Install the client *name* unless there is one, and return a sentence that says what came of it."""
    package = PACKAGES[name]
    if find_client(name):
        return f"The {package.title} client for the tests is {find_client(name)}."
    npm = shutil.which("npm")
    reason = _install(npm, package) if npm else "there is no npm"
    if reason:
        return f"{package.title} {package.version} cannot be installed, so its tests will be skipped: {reason}"
    return f"{package.title} {package.version} is installed in {package.folder}."


def _install(npm: str, package: Package) -> str:
    """Return why it failed, or nothing."""
    folder = ROOT / package.folder
    shutil.rmtree(folder, ignore_errors=True)  # another version, or half of one
    unfinished = folder / "unfinished"
    unfinished.mkdir(parents=True)
    options = ["--prefix", str(unfinished), "--no-audit", "--no-fund", "--loglevel", "error", "--fetch-retries", "0"]
    # Without a number npm takes the latest version that declares the Node it finds.
    command = [npm, "install", *options, f"{package.package}@{package.version}"]
    ran = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if ran.returncode:
        return next(iter(ran.stderr.splitlines()), "npm does not say why")
    unfinished.rename(folder / package.version)
    return ""


if __name__ == "__main__":
    if said := install_programs():
        print(said)
    with ThreadPoolExecutor() as pool:  # npm waits for the network
        for said in pool.map(install, sys.argv[1:] or USUAL):
            print(said)
