"""A commit of one known file is what git's own would be, or none."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memtool.history import commits as history
from memtool.history.quick_commit import commit_known

NAME = "areas/global/事实 one.json"
MESSAGE = 'remember: 支付回调必须先验签。\n\nbecause of "kid"'


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one known file, and another one that its owner has staged."""
    folder = (tmp_path / "vault").resolve()
    folder.mkdir()
    history.make_repository(folder)
    (folder / "areas" / "global").mkdir(parents=True)
    (folder / NAME).write_text("one\n")
    (folder / "mine.md").write_text("mine\n")
    history.commit(folder, [NAME, "mine.md"], "init: a vault")
    (folder / "mine.md").write_text("staged\n")
    git(folder, "add", "mine.md")
    return folder


def git(folder: Path, *words: str) -> str:
    known = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    return subprocess.run(["git", "-C", str(folder), *known, *words], capture_output=True, text=True, check=True).stdout


def made(folder: Path, content: bytes = "两\n".encode(), author: str = "") -> str:
    """Write the known file as a use case does, and commit it."""
    opened = history.open_repository(folder)
    assert opened is not None
    looked = history.look_at(opened, [NAME])
    (folder / NAME).write_bytes(content)
    return commit_known(looked, NAME, MESSAGE, author=author)


@pytest.mark.slow
def test_the_commit_is_the_one_that_git_makes(repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD").strip()
    commit = made(repository, author="Zoë <zoe@example.org>")
    shown = ("show", "--no-patch", "--format=%P|%T|%an <%ae>|%cn <%ce>|%B")
    ours = git(repository, *shown, "HEAD")
    assert git(repository, "rev-parse", "HEAD").strip() == commit
    assert git(repository, "status", "--porcelain") == "M  mine.md\n"
    git(repository, "reset", "--quiet", "--soft", head)
    assert history.commit(repository, [NAME], MESSAGE, author="Zoë <zoe@example.org>") == (NAME,)
    assert git(repository, *shown, "HEAD") == ours
    assert ours.startswith(f"{head}|")
    git(repository, "fsck", "--strict")


def _executable(folder: Path) -> None:
    (folder / NAME).chmod(0o755)
    git(folder, "commit", "--quiet", "-m", "x", "--only", NAME)


def _filtered(folder: Path) -> None:
    (folder / ".gitattributes").write_text("*.json working-tree-encoding=UTF-16LE\n")


def _other_author(folder: Path) -> None:
    git(folder, "config", "author.name", "Somebody")


def _line_ends(folder: Path) -> None:
    git(folder, "config", "core.autocrlf", "input")


@pytest.mark.slow
@pytest.mark.parametrize("how", [_executable, _filtered, _other_author, _line_ends])
def test_what_is_unusual_is_left_to_git(repository: Path, how: Callable[[Path], None]) -> None:
    how(repository)
    before = git(repository, "rev-parse", "HEAD")
    assert made(repository, "两\r\n".encode("utf-16-le" if how is _filtered else "utf-8")) == ""
    assert git(repository, "rev-parse", "HEAD") == before


@pytest.mark.slow
def test_a_file_without_a_change_makes_no_commit(repository: Path) -> None:
    before = git(repository, "rev-parse", "HEAD")
    assert made(repository, b"one\n") == ""
    assert git(repository, "rev-parse", "HEAD") == before


@pytest.mark.slow
def test_a_file_that_git_does_not_know_is_left_to_git(repository: Path) -> None:
    (repository / ".gitignore").write_text("*.json\n")
    git(repository, "rm", "--quiet", "--cached", NAME)
    git(repository, "commit", "--quiet", "-m", "forget it")
    before = git(repository, "rev-parse", "HEAD")
    assert made(repository) == ""
    assert git(repository, "rev-parse", "HEAD") == before
    assert NAME not in git(repository, "-c", "core.quotePath=false", "ls-files")


@pytest.mark.slow
def test_who_commits_by_variables_is_left_to_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "GIT_COMMITTER_NAME", "Somebody")
    assert made(repository) == ""
