from __future__ import annotations

import datetime as dt
import os
from typing import TYPE_CHECKING

import pytest
from two_machines import git

from memtool.errors import HistoryFailed, UsageError
from memtool.history.commits import commit
from memtool.history.past import moment_of, past_vault

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memtool.vault.layout import Vault

ZONE = dt.timezone(dt.timedelta(hours=8))


def at(text: str) -> dt.datetime:
    return moment_of(text, text[:10], ZONE)


@pytest.fixture
def write(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function that writes and commits files on a day. The vault itself was made before all of them."""

    def commit_on(day: str, **texts: str | None) -> None:
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{day}T12:00:00+08:00")
        for name, text in texts.items():
            path = vault.root / f"{name}.md"
            path.unlink() if text is None else path.write_text(text, encoding="utf-8")
        commit(vault.root, [f"{name}.md" for name in texts], "capture: x")

    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-01-01T12:00:00+08:00")
    git(vault.root, "commit", "-q", "--amend", "--no-edit", "--date", "2026-01-01T12:00:00+08:00")
    return commit_on


@pytest.mark.slow
def test_the_vault_is_as_it_stood_at_the_end_of_the_day(
    vault: Vault, tmp_path: Path, write: Callable[..., None]
) -> None:
    write("2026-02-10", 茶="绿茶\n", gone="here\n")
    write("2026-03-01", 茶="红茶\n", gone=None)
    (vault.root / "茶.md").write_text("乌龙\n", encoding="utf-8")
    for text, tea in (
        ("2026-02-10", "绿茶\n"),
        ("2026-02-28", "绿茶\n"),
        ("2026-03-01", "红茶\n"),
        ("2026-02-10T13:00", "绿茶\n"),
    ):
        past = past_vault(vault, at(text), tmp_path / "cache").vault
        assert (past.root / "茶.md").read_text(encoding="utf-8") == tea
        assert (past.root / "gone.md").exists() == (tea == "绿茶\n")
    assert not (past_vault(vault, at("2026-02-10T11:00"), tmp_path / "cache").vault.root / "茶.md").exists()
    assert (vault.root / "茶.md").read_text(encoding="utf-8") == "乌龙\n"
    assert git(vault.root, "status", "--porcelain", "-z") == " M 茶.md\0"


@pytest.mark.slow
def test_a_commit_is_copied_once_and_few_copies_are_kept(
    vault: Vault, tmp_path: Path, write: Callable[..., None]
) -> None:
    for day in range(1, 8):
        write(f"2026-02-0{day}", a=f"{day}\n")
    copies = [past_vault(vault, at(f"2026-02-0{day}"), tmp_path / "cache").vault.root for day in range(1, 8)]
    assert sum(copy.exists() for copy in copies) == 4
    (copies[-1] / "mark").touch()
    past_vault(vault, at("2026-02-07"), tmp_path / "cache")
    assert (copies[-1] / "mark").exists()


def test_a_file_that_is_the_same_has_the_same_stamp_and_another_one_has_not(
    vault: Vault, tmp_path: Path, write: Callable[..., None]
) -> None:
    write("2026-02-10", same="一\n", other="一\n")
    write("2026-02-11", other="二\n")
    for name in ("same", "other"):
        os.utime(vault.root / f"{name}.md", ns=(10**18, 10**18))
    past = past_vault(vault, at("2026-02-10"), tmp_path / "cache").vault
    assert (past.root / "same.md").stat().st_mtime_ns == 10**18
    assert (past.root / "other.md").stat().st_mtime_ns != 10**18


def test_what_an_editor_writes_in_place_does_not_change_the_past(
    vault: Vault, tmp_path: Path, write: Callable[..., None]
) -> None:
    write("2026-02-10", 茶="绿茶\n", note="as it was\n", other="x\n")
    note, tea = vault.root / "note.md", vault.root / "茶.md"
    for path in (note, tea):
        os.utime(path, (1_000, 1_000))
    past = past_vault(vault, at("2026-02-10"), tmp_path / "cache").vault
    assert (past.root / "note.md").samefile(note)
    note.write_text("written in place\n", encoding="utf-8")
    tea.write_text("红茶\n", encoding="utf-8")
    tea.unlink()  # what was written into has but one name then
    again = past_vault(vault, at("2026-02-10"), tmp_path / "cache").vault
    assert (again.root / "note.md").read_text(encoding="utf-8") == "as it was\n"
    assert (again.root / "茶.md").read_text(encoding="utf-8") == "绿茶\n"
    assert note.read_text(encoding="utf-8") == "written in place\n"
    own = (again.root / "note.md").stat()
    assert (past_vault(vault, at("2026-02-10"), tmp_path / "cache").vault.root / "note.md").stat() == own


def test_a_link_of_the_past_leads_nowhere(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (vault.root / "link.md").symlink_to(tmp_path / "secret.md")
    commit(vault.root, ["link.md"], "capture: x")
    past = past_vault(vault, dt.datetime.now(ZONE) + dt.timedelta(days=1), tmp_path / "cache").vault
    assert not (past.root / "link.md").is_symlink()
    assert "secret\n" not in (past.root / "link.md").read_text()


def test_before_the_beginning_there_is_nothing(vault: Vault, tmp_path: Path, write: Callable[..., None]) -> None:
    write("2026-02-10", a="1\n")
    with pytest.raises(HistoryFailed, match="begins on 2026-01-01"):
        past_vault(vault, at("2025-12-31"), tmp_path / "cache")
    with pytest.raises(UsageError, match="no day and no time"):
        moment_of("whenever", "whenever", ZONE)


@pytest.mark.slow
def test_search_and_context_answer_as_of_then(
    vault: Vault, write: Callable[..., None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from memtool.cli.main import run

    monkeypatch.setenv("MEMTOOL_EMBEDDINGS_PROVIDER", "none")
    write("2026-02-10", MEMORY="# 记忆\n\n- 端口是 8080，令牌有效期为 24 小时\n")
    write("2026-03-01", MEMORY="# 记忆\n\n- 端口是 9090，令牌有效期为 15 分钟\n")
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    there = ["--vault", str(vault.root)]

    def said(*arguments: str) -> str:
        assert run([*arguments, *there]) == 0
        return capsys.readouterr().out

    for words, port in (([], "9090"), (["--at", "2026-02-20"], "8080"), (["--at", "2026-03-01T12:30+08:00"], "9090")):
        assert port in said("search", "令牌有效期", *words)
        assert port in said("context", "--format", "markdown", *words)
    assert run(["search", "x", "--at", "2025-01-01", *there]) == 27
    assert "begins on 2026-01-01" in capsys.readouterr().err


@pytest.mark.usefixtures("notes")
def test_a_vault_without_git_has_no_past(notes: Path) -> None:
    from memtool.vault.layout import open_vault

    with pytest.raises(HistoryFailed, match="no git repository"):
        past_vault(open_vault(notes), at("2026-02-10"), notes / "cache")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/memtool.toml").touch()
    return tmp_path / "notes"
