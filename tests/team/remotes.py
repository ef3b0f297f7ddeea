"""Remotes of a team, made by hand: what tests of clones start from."""

from __future__ import annotations

import subprocess
from pathlib import Path

from two_machines import git

from memtool.history.template import make_vault
from memtool.team.clones import Clone


def make_remote(folder: Path, name: str = "shop") -> Path:
    """Return a bare repository that holds a new vault."""
    remote = make_empty_remote(folder, name)
    made = make_vault(folder / f"{name}-made").vault
    git(made.root, "push", "-q", str(remote), "HEAD:refs/heads/main")
    return remote


def make_empty_remote(folder: Path, name: str) -> Path:
    remote = folder / f"{name}.git"
    git(folder, "init", "-q", "--bare", "-b", "main", str(remote))
    return remote


def clone_of(folder: Path, remote: Path, *, service: str = "clones", max_bytes: int = 100 << 20) -> Clone:
    return Clone(remote.stem, str(remote), folder / service / remote.stem, max_bytes)


def push_tree(remote: Path, entries: list[tuple[str, str, bytes]]) -> None:
    """Put a commit of these (mode, name, content) into the bare *remote*, whatever git itself would add."""
    rows = []
    for mode, name, content in entries:
        blob = _out(remote, "hash-object", "-w", "--stdin", "--literally", stdin=content)
        rows.append(f"{mode} blob {blob}\t{name}" if mode != "160000" else f"{mode} commit {'1' * 40}\t{name}")
    tree = _out(remote, "mktree", "--missing", stdin="\n".join(rows).encode())
    commit = _out(remote, "-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", tree, "-m", "x")
    git(remote, "update-ref", "refs/heads/main", commit)


def _out(folder: Path, *args: str, stdin: bytes = b"") -> str:
    command = ["git", "-C", str(folder), *args]
    return subprocess.run(command, input=stdin, capture_output=True, check=True).stdout.decode().strip()
