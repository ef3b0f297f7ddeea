"""The Claude Code client that tests/claude_code runs. `python3 scripts/claude_client.py` installs it: 365 MB, by npm.

The tests take the program that MEMTOOL_TEST_CLIENT names, else the one that this puts into the clone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

VERSION = "2.1.330"  # pinned: what the client does changes from version to version
FOLDER = Path(__file__).resolve().parents[1] / ".claude-client"  # git ignores it


def find_client() -> Path | None:
    """Return the client's program, or None where there is none."""
    named = os.environ.get("MEMTOOL_TEST_CLIENT")
    if named:
        return Path(named).absolute()
    client = FOLDER / VERSION / "node_modules" / ".bin" / "claude"
    return client if client.exists() else None


def install() -> str:
    """Install the client unless there is one, and return a sentence that says what came of it."""
    if find_client():
        return f"The Claude Code client for the tests is {find_client()}."
    npm = shutil.which("npm")
    reason = _install(npm) if npm else "there is no npm"
    if reason:
        return f"Claude Code {VERSION} cannot be installed, so its tests will be skipped: {reason}"
    return f"Claude Code {VERSION} is installed in {FOLDER.name}."


def _install(npm: str) -> str:
    """Return why it failed, or nothing."""
    shutil.rmtree(FOLDER, ignore_errors=True)  # another version, or half of one
    unfinished = FOLDER / "unfinished"
    unfinished.mkdir(parents=True)
    options = ["--prefix", str(unfinished), "--no-audit", "--no-fund", "--loglevel", "error", "--fetch-retries", "0"]
    # Without a number npm takes the latest version that declares the Node it finds. The client runs without Node.
    command = [npm, "install", *options, f"@anthropic-ai/claude-code@{VERSION}"]
    ran = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if ran.returncode:
        return next(iter(ran.stderr.splitlines()), "npm does not say why")
    unfinished.rename(FOLDER / VERSION)
    return ""


if __name__ == "__main__":
    print(install())
