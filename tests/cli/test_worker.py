"""What a worker does about triggers that have changed."""

from __future__ import annotations

import subprocess
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memtool import worker
from memtool.capture.log import ERROR, read_log, read_problems
from memtool.errors import NoteChanged
from memtool.vault.layout import Vault

if TYPE_CHECKING:
    from terminal import Memtool

OWN_ROWS = "\n| Trigger | Read |\n| --- | --- |\n| 退款   |MEMORY.md|\r\n<!-- mine -->\n"


@pytest.fixture
def home(memtool: Memtool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The vault of a user who has installed memtool and has a project with triggers, and the client's folder."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    memtool("init", "memory")
    vault = tmp_path / "memory"
    monkeypatch.setenv("MEMTOOL_VAULT", str(vault))
    memtool("install", "claude-code")
    with_triggers(vault, "checkout, 支付")
    return vault


def with_triggers(vault: Path, words: str) -> None:
    summary = vault / "areas" / "projects" / "shop" / "summary.md"
    summary.parent.mkdir(parents=True, exist_ok=True)
    summary.write_text(f"---\ntriggers: [{words}]\npaths: ['*.sql']\n---\n", encoding="utf-8")


def table(vault: Path) -> str:
    return (vault / "rules" / "memory-loader.md").read_bytes().decode("utf-8")


def git(vault: Path, *args: str) -> list[str]:
    ran = subprocess.run(["git", "-C", str(vault), *args], capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


def drain(memtool: Memtool, vault: Path) -> str:
    """Run the worker as a hook does, and return what it complains of."""
    ran = memtool("--vault", str(vault), "capture", "--drain")
    assert (ran.code, ran.out) == (0, "0 sessions captured.\n")
    return ran.err


@pytest.mark.slow
def test_a_trigger_that_came_changed_or_went_is_followed(memtool: Memtool, home: Path, tmp_path: Path) -> None:
    loader, rule = home / "rules" / "memory-loader.md", tmp_path / "config" / "rules" / "memtool.md"
    loader.write_bytes((table(home) + OWN_ROWS).encode("utf-8"))
    for words, shown in (("checkout, 支付", "| checkout, 支付, `*.sql` |"), ("结账", "| 结账, `*.sql` |")):
        with_triggers(home, words)
        assert drain(memtool, home) == ""
        assert shown in table(home)
        assert OWN_ROWS in table(home)
        assert f"`{words.split(', ')[0]}`" in rule.read_text(encoding="utf-8")
        assert git(home, "log", "-1", "--format=%s", "--name-only") == [
            "route: update rules/memory-loader.md", "", "rules/memory-loader.md",
        ]  # fmt: skip
    (home / "areas" / "projects" / "shop" / "summary.md").unlink()
    drain(memtool, home)
    assert "结账" not in table(home)
    assert OWN_ROWS in table(home)
    assert not rule.with_name("memtool-shop.md").exists()


@pytest.mark.slow
def test_a_table_that_the_owner_has_removed_stays_away(memtool: Memtool, home: Path) -> None:
    (home / "rules" / "memory-loader.md").unlink()
    assert drain(memtool, home) == ""
    assert list((home / "rules").glob("*.md")) == []
    memtool("route", "--update")
    assert "支付" in table(home)


@pytest.mark.slow
def test_rules_come_only_where_the_hooks_write_to_this_vault(memtool: Memtool, home: Path, tmp_path: Path) -> None:
    memtool("uninstall", "claude-code")
    memtool("init", "other")
    memtool("--vault", "other", "install", "claude-code")
    drain(memtool, home)
    assert "支付" in table(home)
    assert not (tmp_path / "config" / "rules").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("home")
def test_the_triggers_of_a_strangers_vault_stay_in_it(memtool: Memtool, tmp_path: Path) -> None:
    memtool("uninstall", "claude-code")
    stranger = tmp_path / "陌生人"
    stranger.mkdir()
    (stranger / "memtool.toml").write_text("")
    with_triggers(stranger, "checkout")
    assert "no rules were written" in memtool("--vault", str(stranger), "install", "claude-code").err
    drain(memtool, stranger)
    assert not (tmp_path / "config" / "rules").exists()
    assert "the vault may belong to someone else" in memtool("--vault", str(stranger), "doctor").out
    memtool("init", str(stranger))
    drain(memtool, stranger)
    assert "checkout" in (tmp_path / "config" / "rules" / "memtool.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_problem_is_told_once_and_fails_nothing(memtool: Memtool, home: Path) -> None:
    (home / "rules" / "memory-loader.md").write_bytes(b"\xff")
    assert drain(memtool, home) == "triggers could not be followed: 'memory-loader.md' is not UTF-8 (byte 0)\n"
    assert drain(memtool, home) == ""
    (problem,) = read_problems(Vault(home), [home / ".memtool"], datetime.now().astimezone()).standing
    assert (problem.level, problem.subject) == (ERROR, "routes")


@pytest.mark.slow
def test_a_bug_is_told_and_a_file_that_changes_just_now_is_not(
    memtool: Memtool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(error: Exception) -> None:
        def update(_: object) -> bool:
            raise error

        monkeypatch.setattr(worker, "update_table", update)

    fails(NoteChanged("someone else wrote it"))
    assert drain(memtool, home) == ""
    fails(KeyError("x"))
    assert "a bug in memtool, please report it: KeyError" in drain(memtool, home)


@pytest.mark.slow
def test_a_table_that_git_refuses_now_is_committed_with_the_next_notes(memtool: Memtool, home: Path) -> None:
    before = git(home, "log", "--format=%s")
    (home / ".git" / "index.lock").touch()
    assert drain(memtool, home) == ""
    assert "支付" in table(home)
    assert git(home, "log", "--format=%s") == before
    assert (home / ".memtool" / "uncommitted").read_text() == "rules/memory-loader.md\n"
    assert read_log([home / ".memtool"], datetime.now().astimezone().replace(year=2000)) == []
