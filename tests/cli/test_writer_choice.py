"""Who writes notes is asked once, by `memtool install`, and nothing is asked of a model without a yes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scripted_claude import make_claude
from terminal import Ran, on_a_terminal

from memtool.cli import writer_choice
from memtool.errors import NotWritable
from memtool.llm import writer_of
from memtool.settings import environment, load

if TYPE_CHECKING:
    from terminal import Memtool

QUESTION = "Who writes the notes of your sessions?"
NOBODY = "Notes are written without a model. To let one write them: memtool config set llm.writer "

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("notes")]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings of a user who has Claude Code, and a key of Google's."""
    path = tmp_path / "设置.toml"
    git = shutil.which("git")
    assert git
    make_claude(tmp_path / "programs")
    (tmp_path / "programs" / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    monkeypatch.setenv("HOME", str(tmp_path / "家"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "家" / ".claude"))
    monkeypatch.setenv("MEMTOOL_CONFIG", str(path))
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    (tmp_path / "家").mkdir()
    return path


def writer() -> str:
    return writer_of(load(None, environment()).llm)


def installed(typed: str, *options: str, agent: str = "claude-code") -> Ran:
    return on_a_terminal("install", agent, *options, typed=typed, columns=200)


def test_the_own_model_of_the_agent_is_the_default_and_it_is_asked_once(config: Path) -> None:
    ran = installed("\n")
    assert ran.code == 0
    assert QUESTION in ran.out
    assert "about 3,940 tokens in and 490 out for a session, at most 300,000 a day." in ran.out
    assert "  claude: the `claude` command with your login, so the vendor of your sessions there\n" in ran.out
    assert "  gemini: Google's API, with your key\n" in ran.out
    assert "Who writes? (claude, gemini, none) [claude]: " in ran.out
    assert f"Notes are written by claude ({config}). To change that: memtool config set llm.writer none\n" in ran.out
    assert (config.read_text(), writer()) == ('[llm]\nwriter = "claude"\n', "claude")
    again = installed("none\n")
    assert QUESTION not in again.out
    assert writer() == "claude"


@pytest.mark.parametrize(
    ("typed", "chosen", "kept"),
    [
        ("gemini\n", "gemini", "gemini"),
        ("none\n", "", "none"),
        ("通义\nnone\n", "", "none"),
        ("\x04", "", ""),
    ],
)
@pytest.mark.usefixtures("config")
def test_another_one_or_none_is_an_answer_and_going_away_is_no_yes(typed: str, chosen: str, kept: str) -> None:
    ran = installed(typed)
    assert (ran.code, writer()) == (0, chosen)
    assert load(None, environment()).llm.writer == kept
    assert (NOBODY + "claude" in ran.out) is not bool(kept)
    assert "Claude Code now works with memtool: hooks, mcp, skills." in ran.out
    assert (QUESTION in installed("\n").out) is not bool(kept)


def test_an_agent_without_a_model_of_its_own_has_none_as_the_default(config: Path) -> None:
    ran = installed("\n", agent="cursor")
    assert "Who writes? (claude, gemini, none) [none]: " in ran.out
    assert config.read_text() == '[llm]\nwriter = "none"\n'


def test_without_a_terminal_no_model_is_asked_and_a_line_says_how_to_change_that(
    memtool: Memtool, config: Path
) -> None:
    ran = memtool("install", "claude-code", stdin=b"claude\n")
    assert ran.out.endswith(f"\n{NOBODY}claude\n")
    assert memtool("install", "codex", "--json").answer["notes"] == f"{NOBODY}codex"
    assert (
        memtool("install", "claude-code").out
        == "Nothing to do: Claude Code already has memtool's hooks, mcp, skills.\n"
    )
    assert not config.exists()
    assert writer() == ""


def test_a_script_names_the_writer_or_takes_the_own_one(memtool: Memtool, config: Path) -> None:
    assert "Would set llm.writer = claude." in memtool("install", "claude-code", "--yes", "--dry-run").out
    assert not config.exists()
    assert "Notes are written by claude" in memtool("install", "claude-code", "--yes").out
    assert "Notes are written without a model" in memtool("install", "claude-code", "--writer", "none").out
    assert config.read_text() == '[llm]\nwriter = "none"\n'
    said = memtool("install", "claude-code", "--writer", "openrouter")
    assert "OPENROUTER_API_KEY" in said.err  # what is missing
    assert writer() == "openrouter"
    config.unlink()
    assert NOBODY in memtool("install", "codex", "--yes").out  # there is no such command here
    assert not config.exists()


def test_who_had_named_providers_before_is_not_asked(config: Path) -> None:
    config.write_text('[llm]\nproviders = ["gemini", "extractive"]  # 我选的\n')
    assert QUESTION not in installed("\n").out
    assert writer() == "gemini"
    config.write_text('[llm]\nproviders = ["extractive"]\n')
    ran = installed("\n")
    assert QUESTION not in ran.out
    assert writer() == ""


def test_settings_that_cannot_be_written_are_a_sentence(
    memtool: Memtool, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise NotWritable(f"cannot write '{config}'")

    monkeypatch.setattr(writer_choice, "change_setting", refuse)
    ran = memtool("install", "claude-code", "--writer", "claude")
    assert (ran.code, f"cannot write '{config}'" in ran.err) == (0, True)
    assert "Notes are written without a model" in ran.out
