"""What a run that was killed has left, and who holds the lock next."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from two_machines import TwoMachines, git

from memtool.git import ask, tell
from memtool.history import commits as history, syncing, undoing
from memtool.history.changes import find_change, read_changes
from memtool.history.mending import locked
from memtool.history.undoing import undo
from memtool.vault import files
from memtool.vault.layout import Vault

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="kills a process of its own")]


def killed(deed: Callable[[], object]) -> None:
    """Do *deed* in a process of its own, which it ends."""
    child = os.fork()
    if not child:
        try:
            deed()
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def die(*_: object, **__: object) -> None:
    os._exit(9)


def dying_at(step: str) -> Callable[..., str]:
    """Return what asks git, and dies before it changes the vault by *step*."""

    def call(folder: Path, *args: str, **options: Any) -> str:
        return tell(folder, *args, **options) if step not in args or options.get("variables") else die()  # type: ignore[func-returns-value, return-value]

    return call


def complete(vault: Vault) -> None:
    with locked(vault):
        pass


def test_locks_of_git_and_its_files_go_with_who_left_them(vault: Vault) -> None:
    left = [".git/index.lock", ".git/refs/heads/main.lock", ".merge_file_a1B2c3"]

    def deed() -> None:
        with locked(vault):
            for name in left:
                (vault.root / name).touch()
            die()

    killed(deed)
    complete(vault)
    assert not [name for name in left if (vault.root / name).exists()]


@pytest.mark.parametrize("is_old", [True, False])
def test_a_lock_of_the_users_own_git_stays(vault: Vault, is_old: bool) -> None:
    lock = vault.root / ".git" / "index.lock"
    lock.touch()
    if is_old:  # than the run that was killed
        os.utime(lock, (1, 1))
        killed(lambda: die() if locked(vault).__enter__() is None else None)
    complete(vault)
    assert lock.exists()


def test_what_was_written_and_not_committed_is_memtools_own(vault: Vault) -> None:
    def deed() -> None:
        with locked(vault):
            files.replace(vault.root / "笔记.md", "# 一\n", expected=None)
            die()

    killed(deed)
    (vault.root / "mine.md").write_text("x")
    complete(vault)
    assert git(vault.root, "status", "--porcelain") == "?? mine.md\n"
    change = read_changes(vault)[0]
    assert change.deed == "mend"
    assert not change.is_in_force  # `memtool undo` goes on with what the user did
    assert git(vault.root, "show", "--format=", "--name-only", "-z") == "笔记.md\0"


def test_a_journal_that_ended_with_an_error_is_no_kill(vault: Vault) -> None:
    with pytest.raises(ValueError, match="x"), locked(vault):
        raise ValueError("x")
    lock = vault.root / ".git" / "index.lock"
    lock.touch()
    complete(vault)
    assert lock.exists()


def test_the_next_holder_waits_for_a_git_that_goes_on(vault: Vault, tmp_path: Path) -> None:
    done = tmp_path / "done"
    git(vault.root, "config", "alias.slow", f"!sleep 0.5; touch '{done}'")

    def deed() -> None:
        with locked(vault):
            handle = next(iter(vault.state_path.glob("locks/history.lock")))
            assert handle.exists()
            from memtool.processes import handles

            subprocess.Popen(["git", "-C", str(vault.root), "slow"], pass_fds=handles(), start_new_session=True)
            die()

    killed(deed)
    complete(vault)
    assert done.exists()


@pytest.mark.parametrize(
    "line",
    [
        *(
            f'{{"undoes": "x", "message": "x", "steps": [["{ref}", null, "eA==", "eA==", "100644", true]]}}'
            for ref in (".git/config", ".git/x", "../x.md", "/x.md", "a/../../x.md")
        ),
        '{"undoes": "x", "message": "undo: x", "steps": [7]}',
        '{"merge": "HEAD", "head": 3}',
        "../../etc/passwd",
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ],
)
def test_a_journal_that_a_strangers_vault_brings_writes_nothing_else(vault: Vault, line: str) -> None:
    complete(vault)

    def state() -> tuple[str, str]:
        return (vault.root / ".git" / "config").read_text(encoding="utf-8"), git(vault.root, "rev-parse", "HEAD")

    before = state()
    (vault.state_path / "locks" / "history.lock").write_text(f"\n{line}\n", encoding="utf-8")
    complete(vault)
    assert (
        (vault.root / ".git" / "config").read_text(encoding="utf-8"),
        git(vault.root, "rev-parse", "HEAD"),
    ) == before
    assert not (vault.root.parent / "x.md").exists()


@pytest.mark.parametrize("step", ["write_step", "commit_steps", "update-ref", "update-index"])
def test_an_undo_is_completed_with_its_own_commit(vault: Vault, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    for name in ("a.md", "二.md"):
        (vault.root / name).write_text("一\n", encoding="utf-8")
    history.commit(vault.root, ["a.md", "二.md"], "remember: 一")
    (vault.root / "a.md").write_text("一\n二\n", encoding="utf-8")
    (vault.root / "二.md").unlink()
    history.commit(vault.root, ["a.md", "二.md"], "forget: 二")
    (vault.root / "a.md").write_text("mine\n一\n二\n", encoding="utf-8")
    with monkeypatch.context() as patch:
        if hasattr(undoing, step):
            patch.setattr(undoing, step, die)
        else:
            patch.setattr(history, "tell", dying_at(step))
        killed(lambda: undo(vault, find_change(vault)))
    complete(vault)
    assert (vault.root / "a.md").read_text(encoding="utf-8") == "mine\n一\n"
    assert (vault.root / "二.md").read_text(encoding="utf-8") == "一\n"
    assert git(vault.root, "status", "--porcelain") == " M a.md\n"
    assert read_changes(vault)[1].undone_by == read_changes(vault)[0].commit
    assert find_change(vault).subject == "remember: 一"


def test_files_of_a_merge_that_was_cut_off_are_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machines = TwoMachines(tmp_path)
    for name, text in (("new.md", "新\n"), ("MEMORY.md", "# 记忆\n")):
        machines.write(machines.one, name, text)
    machines.sync(machines.one)
    real = ask

    def torn(folder: Path, *args: str, **options: object) -> object:
        if "merge" in args:  # git has written files and neither its index nor that it merges
            for name in ("new.md", "MEMORY.md"):
                (folder / name).write_text((machines.one.root / name).read_text(encoding="utf-8"), encoding="utf-8")
            (folder / ".git" / "index.lock").touch()
            die()
        return real(folder, *args, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(syncing, "ask", torn)
        killed(lambda: machines.sync(machines.two))
    (machines.two.root / "later.md").write_text("我的\n", encoding="utf-8")
    done = machines.sync(machines.two)
    assert done.waiting == ("later.md",)
    assert (machines.two.root / "new.md").read_text(encoding="utf-8") == "新\n"
