from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from terminal import Memtool


@pytest.mark.slow
def test_it_says_what_it_made_and_the_second_time_that_nothing_was_left(memtool: Memtool, tmp_path: Path) -> None:
    out = memtool("init", str(tmp_path / "记忆")).out
    assert out.startswith(f"The vault is ready: {tmp_path / '记忆'}\nAdded: ")
    assert "MEMORY.md" in out
    assert memtool("init", str(tmp_path / "记忆")) == (
        0, f"Nothing to do: the vault at {tmp_path / '记忆'} is complete.\n", "",
    )  # fmt: skip


def test_it_says_whether_it_made_a_repository(memtool: Memtool, tmp_path: Path) -> None:
    made = "It is a new git repository"
    assert f"\n{made}" in memtool("init", str(tmp_path / "新")).out
    (tmp_path / "新" / "MEMORY.md").unlink()
    out = memtool("init", str(tmp_path / "新")).out
    assert (made in out, "The vault is ready" in out) == (False, True)
    (tmp_path / "within").mkdir()
    subprocess.run(["git", "init", "-q", str(tmp_path / "within")], check=True)
    assert made not in memtool("init", str(tmp_path / "within/v")).out
    assert memtool("init", "--json", str(tmp_path / "third")).answer["repository_made"] is True
    assert memtool("init", "--json", str(tmp_path / "third")).answer["repository_made"] is False


def test_a_vault_that_is_not_the_usual_one_says_how_to_use_it_everywhere(
    memtool: Memtool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = memtool("init", str(tmp_path / "我的 笔记")).out
    assert f"Next: `memtool config set vault '{tmp_path / '我的 笔记'}'`, so that every command" in out
    monkeypatch.setenv("MEMTOOL_VAULT", str(tmp_path / "named"))
    assert "config set vault" not in memtool("init").out


def test_notices_are_talk_and_go_to_stderr(memtool: Memtool, tmp_path: Path) -> None:
    (tmp_path / "today.md").write_text("today")
    code, out, err = memtool("init", str(tmp_path))
    assert (code, err) == (0, "the first commit also holds the notes that were here (1), but no attachments\n")
    assert "first commit" not in out


def test_json_carries_its_format(memtool: Memtool, tmp_path: Path) -> None:
    ran = memtool("init", "--json", str(tmp_path / "v"))
    made = ran.answer
    assert (made["format"], made["vault"], made["committed"]) == (1, str(tmp_path / "v"), True)
    assert (made["kept"], made["notices"], ran.err) == ([], [], "")
    assert "memtool.toml" in made["created"]


@pytest.mark.slow
def test_the_path_wins_then_the_option_then_the_global_option(memtool: Memtool, tmp_path: Path) -> None:
    one, two, three = (str(tmp_path / name) for name in ("one", "two", "three"))
    assert one in memtool("--vault", three, "init", one, "--vault", two).out
    assert two in memtool("--vault", three, "init", "--vault", two).out
    assert three in memtool("--vault", three, "init").out


def test_an_empty_path_is_not_the_default_one(memtool: Memtool) -> None:
    assert memtool("init", "")[:2] == (2, "")
    assert memtool("init", "").err.startswith("memtool: PATH is empty\n")


def test_a_folder_that_cannot_be_a_vault_is_one_sentence(memtool: Memtool, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert memtool("init", str(tmp_path / "file")).code == 22
    assert memtool("init", str(tmp_path / "file" / "below")).code == 22
    assert memtool("init", "~nobody-has-this-name").code == 30
    assert memtool("init", "a\0b").code == 22


def test_the_whole_home_folder_is_no_vault(memtool: Memtool) -> None:
    code, out, err = memtool("init", "~")
    assert (code, out) == (2, "")
    assert "holds your whole home folder" in err
