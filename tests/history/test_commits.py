from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from memtool.errors import HistoryFailed
from memtool.git import ask, texts_in
from memtool.history.commits import commit
from memtool.history.repository import (
    Repository,
    find_repository,
    get_own_repository,
    has_commits,
    look_at,
    make_repository,
    status,
)
from memtool.vault.project_area import find_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def git(folder: Path, *args: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *args], check=True, capture_output=True, text=True).stdout


def in_last_commit(folder: Path) -> set[str]:
    return set(git(folder, "show", "-z", "--format=", "--name-only", "--no-renames").split("\0")) - {""}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "with space 笔记"
    folder.mkdir()
    make_repository(folder)
    (folder / "a.md").write_text("a")
    commit(folder, ["a.md"], "first")
    return folder


def test_a_new_repository_has_no_commits_and_is_for_its_owner(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert not has_commits(tmp_path)
    assert (tmp_path / ".git").stat().st_mode & 0o777 == 0o700
    assert git(tmp_path, "symbolic-ref", "HEAD") == "refs/heads/main\n"


def test_only_what_is_named_is_committed(repository: Path) -> None:
    for name in ("a.md", "中文 名.md", "*.md", "staged.md", "other.md"):
        (repository / name).write_text("new")
    git(repository, "add", "staged.md")
    made = commit(repository, ["中文 名.md", "*.md", "a.md", "a.md"], "second\n\n# not a comment")
    assert made == git(repository, "rev-parse", "HEAD").strip()
    assert in_last_commit(repository) == {"中文 名.md", "*.md", "a.md"}
    assert git(repository, "diff", "--cached", "--name-only") == "staged.md\n"
    assert git(repository, "log", "-1", "--format=%B").strip() == "second\n\n# not a comment\n\nMemtool: init"


def test_a_removed_file_is_committed_and_an_unknown_one_stands_in_nobodys_way(repository: Path) -> None:
    (repository / "a.md").rename(repository / "b.md")
    assert commit(repository, ["a.md", "b.md", "never.md"], "move")
    assert in_last_commit(repository) == {"a.md", "b.md"}
    assert status(repository).uncommitted == 0


def test_what_git_ignores_is_left_out(repository: Path) -> None:
    (repository / ".gitignore").write_text("daily/\n")
    (repository / "daily").mkdir()
    (repository / "daily" / "x.md").write_text("x")
    (repository / "y.md").write_text("y")
    assert commit(repository, ["daily/x.md", "y.md"], "add")
    assert in_last_commit(repository) == {"y.md"}
    assert not commit(repository, ["daily/x.md"], "add")


def test_no_hook_runs_and_nothing_is_signed(repository: Path) -> None:
    hooks = repository / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "commit-msg", "prepare-commit-msg", "post-commit"):
        (hooks / name).write_text("#!/bin/sh\ntouch hook-ran\nexit 1\n")
        (hooks / name).chmod(0o755)
    git(repository, "config", "commit.gpgSign", "true")
    git(repository, "config", "gpg.program", "false")
    git(repository, "config", "core.fsmonitor", "touch hook-ran; false")
    (repository / "a.md").write_text("changed")
    assert status(repository).uncommitted == 1
    assert commit(repository, ["a.md"], "quiet")
    assert not (repository / "hook-ran").exists()


def test_a_user_without_a_name_commits_as_memtool_and_one_with_a_name_as_himself(repository: Path) -> None:
    assert git(repository, "log", "-1", "--format=%an <%ae>") == "memtool <memtool@localhost>\n"
    git(repository, "config", "user.name", "安娜")
    git(repository, "config", "user.email", "anna@example.org")
    (repository / "a.md").write_text("hers")
    commit(repository, ["a.md"], "hers")
    assert git(repository, "log", "-1", "--format=%an <%ae>") == "安娜 <anna@example.org>\n"


def test_an_environment_for_another_repository_is_forgotten(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert find_repository(repository) == repository
    (repository / "b.md").write_text("b")
    assert commit(repository, ["b.md"], "b")


def test_an_unfinished_merge_is_a_sentence_and_stays(repository: Path) -> None:
    git(repository, "update-ref", "MERGE_HEAD", "HEAD")
    (repository / "b.md").write_text("b")
    assert status(repository).problem == "a merge was left unfinished, so memtool cannot commit"
    with pytest.raises(HistoryFailed, match="a merge was left unfinished"):
        commit(repository, ["b.md"], "b")


def test_a_lock_of_another_git_is_a_sentence(repository: Path) -> None:
    (repository / ".git" / "index.lock").touch()
    (repository / "b.md").write_text("b")
    with pytest.raises(HistoryFailed, match=r"index\.lock"):
        commit(repository, ["b.md"], "b")


def test_a_folder_of_another_user_says_how_to_trust_it(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    (repository / "b.md").write_text("b")
    with pytest.raises(HistoryFailed, match="does not trust") as caught:
        commit(repository, ["b.md"], "b")
    assert f"--add safe.directory '{repository}'" in caught.value.hint
    assert "safe.directory" in status(repository).problem


def test_a_machine_without_git_gets_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HistoryFailed, match="git is not installed"):
        find_repository(tmp_path)
    assert status(tmp_path).problem.startswith("git is not installed. Install git")


def test_a_git_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(HistoryFailed, match="did not answer within"):
        ask(tmp_path, "status", timeout=0.05)


def test_the_status_counts_what_is_not_committed(repository: Path, tmp_path: Path) -> None:
    (repository / "new\nname.md").write_text("x")
    (repository / "a.md").write_text("changed")
    state = status(repository)
    assert (state.repository, state.is_own, state.has_commits, state.uncommitted) == (repository, True, True, 2)
    (repository / "sub").mkdir()
    assert not status(repository / "sub").is_own
    assert status(tmp_path).repository is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", "日志/.gitignore", ".git/info/exclude"])
def test_nobody_waits_for_a_pipe(repository: Path, name: str) -> None:
    (repository / name).parent.mkdir(exist_ok=True)
    (repository / name).unlink(missing_ok=True)
    os.mkfifo(repository / name)
    (repository / "日志").mkdir(exist_ok=True)
    (repository / "日志" / "a.md").write_text("new")
    with pytest.raises(HistoryFailed, match="is a pipe"):
        commit(repository, ["日志/a.md"], "never")
    assert f"'{name}' is a pipe, for which git would wait. Move it away." in status(repository).problem


@pytest.mark.skipif(os.name == "nt", reason="the program is a shell script")
def test_a_git_that_prints_what_is_no_path_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\nprintf 'a\\0b\\n\\n'\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(HistoryFailed, match="no path"):
        find_repository(tmp_path)
    assert "no path" in status(tmp_path).problem
    assert find_project(tmp_path).root == tmp_path


MANY = [f"笔记/{number:03}.md" for number in range(150)]


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words of each git that is run from now on."""
    started: list[str] = []
    run = subprocess.run

    def counted(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
        started.append(" ".join(command))
        return run(command, **options)

    monkeypatch.setattr(subprocess, "run", counted)
    return started


def write_many(repository: Path, names: list[str]) -> None:
    for name in names:
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text(f"text of {name}")


def test_a_commit_of_many_files_names_none_to_git_that_compares_each_name_with_each_file(
    repository: Path, processes: list[str]
) -> None:
    write_many(repository, MANY)
    assert commit(repository, [*MANY, *MANY], "many")
    assert in_last_commit(repository) == set(MANY)
    assert not [words for words in processes if " add " in words or "--only" in words or "pathspec" in words]
    assert [words for words in processes if " commit " in words and "gc.auto=0" in words]  # tidied by a later one
    assert status(repository).uncommitted == 0


def test_a_commit_of_many_files_leaves_out_the_same_files_as_one_of_few(repository: Path) -> None:
    write_many(repository, [*MANY, "private/日记.md", ":(top)a.md", "*.md", "staged.md"])
    (repository / ".gitignore").write_text("private/\n/a.md\n")  # what git has is not ignored
    (repository / "a.md").write_text("changed")
    git(repository, "add", "staged.md")
    names = [*MANY, "private/日记.md", ":(top)a.md", "*.md", "a.md", "never.md"]
    assert commit(repository, names, "many")
    assert in_last_commit(repository) == {*MANY, ":(top)a.md", "*.md", "a.md"}
    assert git(repository, "diff", "--cached", "--name-only") == "staged.md\n"


def test_what_git_cannot_take_is_left_out_of_a_commit_of_many_files(repository: Path) -> None:
    write_many(repository, MANY)
    (repository / "sub").mkdir()
    make_repository(repository / "sub")  # without a commit, so that git refuses to take it
    (repository / "a.md").unlink()
    assert commit(repository, [*MANY, "sub", "a.md"], "many")
    assert in_last_commit(repository) == {*MANY, "a.md"}


@pytest.mark.parametrize("names", [["a.md"], ["新.md"], ["b.md", "新.md", "笔记/c.md"], ["a.md", "b.md"]])
def test_a_commit_takes_three_processes(repository: Path, processes: list[str], names: list[str]) -> None:
    """One reads the settings, one stages, one commits; a file that is gone needs no other."""
    write_many(repository, names)
    if names[0] != "a.md" or len(names) > 1:
        (repository / "a.md").unlink()
    assert commit(repository, [*names, "a.md"], "新")
    assert len(processes) == 3, processes
    assert in_last_commit(repository) == {*names, "a.md"}


def looked_at(repository: Path, *names: str) -> Repository:
    return look_at(get_own_repository(repository), names)


NAME = "areas/global/事实 one.json"
MESSAGE = 'remember: 支付回调必须先验签。\n\nbecause of "kid"'


@pytest.fixture
def known(repository: Path) -> Path:
    """A repository with one known file, and another one that its owner has staged."""
    (repository / "areas" / "global").mkdir(parents=True)
    (repository / NAME).write_text("one\n")
    commit(repository, [NAME], "init: a vault")
    (repository / "a.md").write_text("staged\n")
    git(repository, "add", "a.md")
    return repository


def commit_known(folder: Path, processes: list[str], content: bytes = "两\n".encode(), author: str = "") -> str:
    """Write the known file as a use case does, and commit it; return how git was asked."""
    looked = looked_at(folder, NAME)
    (folder / NAME).write_bytes(content)
    processes.clear()
    commit(looked, [NAME], MESSAGE, author=author)
    return "\n".join(processes)


def test_a_file_that_was_looked_at_is_committed_without_a_look_at_others(known: Path, processes: list[str]) -> None:
    """The commit is the one that git would make."""
    head = git(known, "rev-parse", "HEAD").strip()
    asked = commit_known(known, processes, author="Zoë <zoe@example.org>")
    assert ("fast-import" in asked, asked.count("\n")) == (True, 1)
    shown = ("show", "--no-patch", "--format=%P|%T|%an <%ae>|%cn <%ce>|%B")
    ours = git(known, *shown, "HEAD")
    assert git(known, "status", "--porcelain") == "M  a.md\n"
    git(known, "fsck", "--strict")
    git(known, "reset", "--quiet", "--soft", head)
    assert commit(known, [NAME], MESSAGE, author="Zoë <zoe@example.org>")
    assert git(known, *shown, "HEAD") == ours
    assert ours.startswith(f"{head}|")


def _executable(folder: Path) -> None:
    (folder / NAME).chmod(0o755)
    git(folder, "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "x", "--only", NAME)


def _filtered(folder: Path) -> None:
    (folder / ".gitattributes").write_text("*.json working-tree-encoding=UTF-16LE\n")


def _other_author(folder: Path) -> None:
    git(folder, "config", "author.name", "Somebody")


def _line_ends(folder: Path) -> None:
    git(folder, "config", "core.autocrlf", "input")


def _unknown(folder: Path) -> None:
    (folder / ".gitignore").write_text("*.json\n")
    git(folder, "rm", "--quiet", "--cached", NAME)
    git(folder, "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "forget it")


@pytest.mark.slow
@pytest.mark.parametrize("how", [_executable, _filtered, _other_author, _line_ends, _unknown])
def test_what_is_unusual_is_left_to_git(known: Path, processes: list[str], how: Callable[[Path], None]) -> None:
    how(known)
    asked = commit_known(known, processes, "两\r\n".encode("utf-16-le" if how is _filtered else "utf-8"))
    assert " commit " in asked
    assert (NAME in git(known, "-c", "core.quotePath=false", "ls-files")) is (how is not _unknown)


@pytest.mark.slow
def test_a_known_file_without_a_change_makes_no_commit(known: Path, processes: list[str]) -> None:
    before = git(known, "rev-parse", "HEAD")
    commit_known(known, processes, b"one\n")
    assert git(known, "rev-parse", "HEAD") == before


@pytest.mark.slow
def test_who_commits_by_variables_is_left_to_git(
    known: Path, processes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "GIT_COMMITTER_NAME", "Somebody")
    assert " commit " in commit_known(known, processes)
    assert git(known, "log", "-1", "--format=%cn") == "Somebody\n"


@pytest.mark.parametrize("how", ["changed", "staged", "gone", "new"])
def test_a_file_that_its_owner_has_edited_is_not_clean(repository: Path, how: str) -> None:
    path = repository / ("笔记.md" if how == "new" else "a.md")
    path.write_text("mine")
    if how == "staged":
        git(repository, "add", "a.md")
        path.write_text("a")  # as it was committed
    if how == "gone":
        path.unlink()
    assert looked_at(repository, path.name).clean is None
    assert looked_at(repository, "other.md").clean == {}
    assert looked_at(repository).clean == {}


def test_an_ignored_file_that_was_looked_at_is_left_out(repository: Path) -> None:
    (repository / ".gitignore").write_text("私/\n")
    (repository / "私").mkdir()
    (repository / "私" / "x.md").write_text("x")
    looked = looked_at(repository, "私/x.md")
    assert not commit(looked, ["私/x.md"], "never")
    assert git(repository, "log", "--format=%s") == "first\n"


def test_what_came_between_the_look_and_the_commit_is_heeded(repository: Path) -> None:
    looked = looked_at(repository, "a.md")
    (repository / "a.md").write_text("new")
    lock = repository / ".git" / "index.lock"
    lock.touch()
    with pytest.raises(HistoryFailed, match=r"index\.lock"):
        commit(looked, ["a.md"], "never")
    lock.unlink()
    git(repository, "update-ref", "MERGE_HEAD", "HEAD")
    with pytest.raises(HistoryFailed, match="merge was left unfinished"):
        commit(looked, ["a.md"], "never")
    git(repository, "update-ref", "-d", "MERGE_HEAD")
    (repository / "a.md").unlink()
    assert commit(looked, ["a.md"], "gone")
    assert status(repository).uncommitted == 0


def test_a_look_runs_no_program_of_the_repository(repository: Path) -> None:
    (repository / ".gitattributes").write_text("* filter=evil\n")
    git(repository, "config", "filter.evil.clean", "touch ran; cat")
    (repository / "a.md").write_text("b")
    with pytest.raises(HistoryFailed, match="name a program"):
        looked_at(repository, "a.md")
    assert not (repository / "ran").exists()


def test_a_folder_in_place_of_a_file_is_not_committed_with_all_that_it_holds(repository: Path) -> None:
    (repository / "sub.md").mkdir()
    (repository / "sub.md" / "x.md").write_text("mine")
    assert not commit(repository, ["sub.md"], "never")
    assert git(repository, "log", "--format=%s") == "first\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_in_place_of_a_reference_is_not_read(repository: Path) -> None:
    opened = get_own_repository(repository)
    for name in ("refs/heads/main", "HEAD"):
        (repository / ".git" / name).unlink()
        os.mkfifo(repository / ".git" / name)
        assert opened.branch == ("refs/heads/main" if name != "HEAD" else "")


@pytest.mark.parametrize(("setting", "value"), [("core.worktree", "/"), ("core.bare", "true")])
def test_a_repository_that_is_not_where_its_folder_is_gets_no_commit(
    repository: Path, setting: str, value: str
) -> None:
    git(repository, "config", setting, value)
    with pytest.raises(HistoryFailed):
        get_own_repository(repository)


def test_a_detached_head_is_a_sentence(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "--detach")
    (repository / "a.md").write_text("new")
    with pytest.raises(HistoryFailed, match="no branch is checked out"):
        commit(repository, ["a.md"], "never")


def test_a_working_tree_beside_the_repository_has_a_state_of_its_own(repository: Path, tmp_path: Path) -> None:
    beside = tmp_path / "另一个"
    git(repository, "worktree", "add", "--quiet", str(beside))
    git(repository, "update-ref", "MERGE_HEAD", "HEAD")
    (beside / "sub").mkdir()
    (beside / "a.md").write_text("new")
    assert find_repository(beside / "sub") == beside
    assert find_repository(repository / ".git") is None
    assert commit(beside, ["a.md"], "beside")


def test_the_texts_of_many_files_take_one_process(repository: Path, processes: list[str]) -> None:
    write_many(repository, ["日记 一.md", "empty.md", "a missing"])
    (repository / "empty.md").write_text("")
    (repository / "日记 一.md").write_text("第一行\nline two\n\nx missing\n")
    commit(repository, ["日记 一.md", "empty.md"], "texts")
    processes.clear()
    names = ["日记 一.md", "never.md", "empty.md", "a missing", "a.md", "two\nlines.md"]
    texts = {"日记 一.md": "第一行\nline two\n\nx missing\n", "empty.md": "", "a.md": "a"}
    assert texts_in(repository, "HEAD", names) == texts
    assert len(processes) == 1
    assert texts_in(repository, "HEAD", []) == {}
