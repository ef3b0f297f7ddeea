from __future__ import annotations

from pathlib import Path

import pytest

from memtool.recall.start.session_start import reads_by_itself, said_to_client
from memtool.text.similarity import words


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "MEMORY.md").write_text("# Memory\n")
    (tmp_path / ".claude" / "rules").mkdir(parents=True)
    return tmp_path


def is_read(home: Path) -> bool:
    return reads_by_itself(home / "memory" / "MEMORY.md", home / ".claude", home)


@pytest.mark.parametrize(
    "line", ["@~/memory/MEMORY.md", "See @../memory/MEMORY.md for more.", "记忆 @{home}/memory/MEMORY.md"]
)
def test_an_import_in_the_users_instructions_leads_to_the_memory(home: Path, line: str) -> None:
    if "{home}" in line and " " in str(home):
        pytest.skip("a path with a space cannot be imported")
    assert not is_read(home)
    (home / ".claude" / "CLAUDE.md").write_text(f"# Mine\n\n{line.replace('{home}', str(home))}\n", encoding="utf-8")
    assert is_read(home)


def test_an_import_in_a_rule_counts_unless_the_rule_has_conditions(home: Path) -> None:
    rule = home / ".claude" / "rules" / "memory.md"
    rule.write_text("---\nname: x\npaths: src/**\n---\n@~/memory/MEMORY.md\n")
    assert not is_read(home)
    rule.write_text("---\nname: x\n---\n@~/memory/MEMORY.md\n")
    assert is_read(home)


@pytest.mark.parametrize(
    "text",
    [
        "`@~/memory/MEMORY.md`",
        "```\n@~/memory/MEMORY.md\n```",
        "@~/memory/OTHER.md",
        "mail me@~/memory/MEMORY.md",
        "~/memory/MEMORY.md",
        "@" + "x" * 5_000,
        "@\0",
    ],
)
def test_what_is_no_import_of_it_does_not_count(home: Path, text: str) -> None:
    (home / ".claude" / "CLAUDE.md").write_text(text)
    assert not is_read(home)


def test_a_memory_that_is_a_circle_of_symlinks_is_not_read(home: Path) -> None:
    memory = home / "memory" / "MEMORY.md"
    memory.unlink()
    memory.symlink_to("MEMORY.md")
    (home / ".claude" / "CLAUDE.md").write_text("@~/memory/MEMORY.md")
    assert isinstance(is_read(home), bool)


RULE = "- 永远不要直接推送到 main 分支, open a pull request"


@pytest.mark.parametrize(
    "ref",
    [
        ".claude/CLAUDE.md", ".claude/rules/git.md", "src/CLAUDE.md", "src/shop/.claude/CLAUDE.md",
        "src/shop/AGENTS.md",
        "src/shop/.claude/rules/git.md", ".claude/projects/{slug}/memory/MEMORY.md", "src/shop/docs/git.md",
    ],
)  # fmt: skip
def test_what_the_client_reads_in_a_folder_is_known(home: Path, ref: str) -> None:
    folder = home / "src" / "shop"
    slug = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in str(folder))
    path = home / ref.replace("{slug}", slug)
    path.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "CLAUDE.md").write_text("# Shop\n\nSee @docs/git.md for more.\n")
    assert words(RULE) not in said_to_client(folder, home / ".claude", home)
    path.write_text(f"# Git\n\n{RULE}\n", encoding="utf-8")
    assert words(RULE) in said_to_client(folder, home / ".claude", home)
