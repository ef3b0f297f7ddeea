from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memtool.settings.sections import ABOUT

if TYPE_CHECKING:
    from terminal import Memtool

pytestmark = pytest.mark.usefixtures("notes")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own settings file, which does not exist yet."""
    path = tmp_path / "设置" / "config.toml"
    monkeypatch.setenv("MEMTOOL_CONFIG", str(path))
    monkeypatch.setenv("MEMTOOL_CACHE", str(tmp_path / "cache"))
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    return path


def undo(memtool: Memtool, said: str) -> None:
    """Run the command that *said* names."""
    import shlex

    command = shlex.split(said.partition("To undo: ")[2].partition("\n")[0])
    assert command[0] == "memtool"
    assert memtool(*command[1:]).code == 0


def test_a_setting_is_set_shown_with_its_source_and_unset(memtool: Memtool, config: Path) -> None:
    assert memtool("config", "get", "llm.writer").out == 'llm.writer = ""  # the default\n'
    said = memtool("config", "set", "llm.writer", "claude").out
    assert said == f'llm.writer = "claude" in {config}\nTo undo: memtool config unset llm.writer\n'
    assert config.read_text() == '[llm]\nwriter = "claude"\n'
    assert memtool("config", "get", "llm.writer").out == f'llm.writer = "claude"  # {config}\n'
    assert stat.S_IMODE(config.stat().st_mode) == 0o600 or sys.platform == "win32"
    assert "as before" in memtool("config", "set", "llm.writer", "claude").out
    said = memtool("config", "unset", "llm.writer").out
    assert said.endswith("To undo: memtool config set llm.writer claude\n")
    assert "as before" in memtool("config", "unset", "llm.writer").out


def test_a_writer_that_cannot_be_asked_is_told(memtool: Memtool, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "cannot be called yet: there is no command 'codex'" in memtool("config", "set", "llm.writer", "codex").err
    assert memtool("config", "set", "llm.writer", "none").err == ""
    assert memtool("config", "set", "llm.writer", "").err == ""
    assert config.read_text() == '[llm]\nwriter = ""\n'


def test_the_command_that_undoes_brings_the_value_back(memtool: Memtool, config: Path) -> None:
    config.parent.mkdir()
    config.write_text(
        "# 我的\n[redact]\npatterns = ['密钥\\d{2,3}', \"it's a 'word'\"] # two\n"
        "[recall]\nshow = true\n[search]\nlimit = 9\n"
    )
    before = config.read_text()
    for name, values in {"redact.patterns": ["x"], "recall.show": ["no"], "search.limit": ["3"]}.items():
        said = memtool("config", "set", name, *values).out
        assert config.read_text() != before
        undo(memtool, said)
    import tomllib

    assert tomllib.loads(config.read_text()) == tomllib.loads(before)
    assert config.read_text().startswith("# 我的\n[redact]\n")
    assert "# two" in config.read_text()


def test_a_list_has_several_values_and_names_may_have_commas(memtool: Memtool, config: Path) -> None:
    memtool("config", "set", "llm.providers", "claude, gemini", "extractive")
    memtool("config", "set", "capture.exclude", "~/a,b", "github.com/acme/*")
    assert 'providers = ["claude", "gemini", "extractive"]' in config.read_text()
    assert 'exclude = ["~/a,b", "github.com/acme/*"]' in config.read_text()
    memtool("config", "set", "capture.exclude", "")
    assert "exclude = []" in config.read_text()


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["set", "serch.limit", "3"], 2, "there is no setting 'serch.limit'\nDid you mean search.limit"),
        (["get", "writer"], 2, "there is no setting 'writer'\nDid you mean llm.writer?"),
        (["unset", "记忆"], 2, "there is no setting '记忆'\n`memtool config get` lists all settings."),
        (["set", "search.limit", "many"], 30, "'search.limit' should be a whole number from 1 on, not 'many'"),
        (["set", "search.limit", "1", "2"], 30, "'search.limit' has one value, not 2"),
        (["set", "recall.show", "maybe"], 30, "'recall.show' should be true or false"),
        (["set", "llm.writer", "cloude"], 30, "Did you mean 'claude'?"),
        (["set", "llm.providers", "claude,通义"], 30, "should be one of claude, "),
        (["set", "redact.patterns", "a(b"], 30, "is no regular expression"),
        (["set", "llm.openai_api_key_env", "sk-123"], 30, "should be the name of a variable, not a key"),
        (["set", "--vault", "llm.writer", "claude"], 2, "is never taken from a vault's file"),
        (["set", "index.dsn", "postgresql://db/x", "--vault"], 2, "is never taken from a vault's file"),
        (["edit"], 2, "needs a terminal"),
    ],
)
def test_wrong_use_is_a_sentence_and_writes_nothing(
    memtool: Memtool, config: Path, notes: Path, words: list[str], code: int, says: str
) -> None:
    ran = memtool("config", *words)
    assert (ran.code, ran.out) == (code, "")
    assert says in ran.err
    assert not config.exists()
    assert (notes / "memtool.toml").read_text() == ""


def test_every_setting_of_ones_own_is_in_the_list_and_in_json(memtool: Memtool, config: Path) -> None:
    lines = memtool("config", "get").out.splitlines()
    assert [line.partition(" = ")[0] for line in lines] == list(ABOUT)
    answer = memtool("config", "get", "--json").answer["settings"]
    assert [row["name"] for row in answer] == list(ABOUT)
    one = memtool("config", "get", "capture.every_minutes", "--json").answer
    assert (one["value"], one["origin"]) == (60, "the default")
    answer = memtool("config", "set", "search.limit", "3", "--json").answer
    assert answer["undo"] == "memtool config unset search.limit"
    assert (answer["value"], answer["file"], answer["changed"]) == (3, str(config), True)


def test_the_vaults_own_file_is_changed_on_request(
    memtool: Memtool, config: Path, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = memtool("config", "set", "language", "zh", "--vault").out
    assert said == f'language = "zh" in {notes / "memtool.toml"}\nTo undo: memtool config unset language --vault\n'
    assert not config.exists()
    other = tmp_path / "另一个"
    other.mkdir()
    (other / "memtool.toml").write_text("# 别人的\n")
    memtool("config", "set", "--vault", str(other), "search.limit", "3")
    assert (other / "memtool.toml").read_text() == "# 别人的\n\n[search]\nlimit = 3\n"
    memtool("config", "set", "search.limit", "8")
    assert memtool("config", "get", "search.limit", "--vault", str(other)).out.startswith("search.limit = 3  # ")
    assert memtool("--vault", str(other), "config", "get", "search.limit").out.startswith("search.limit = 8  # ")
    (notes / "language").mkdir()  # a folder called like a setting is no vault
    assert memtool("config", "unset", "--vault", "language").code == 0
    assert (notes / "memtool.toml").read_text() == ""
    monkeypatch.setenv("MEMTOOL_LANGUAGE", "en")
    assert "MEMTOOL_LANGUAGE overrides it" in memtool("config", "set", "language", "zh", "--vault").err


def test_no_secret_is_printed(memtool: Memtool, config: Path) -> None:
    key = "sk-ant-api03-" + "Zk3xQ9vB7nLw2RtY8uHc" * 4
    config.parent.mkdir()
    config.write_text(
        '[index]\ndsn = "postgresql://me:s3cretword@db/x"\n'
        f'[llm]\nanthropic_api_key_env = "{key}"\nopenai_model = "{key}"\n'
        '[team]\nvaults = ["shop = https://tok3nword@git.example/shop.git"]\n'
    )
    said = memtool("config", "get").out + memtool("config", "get", "--json").out
    for name in ("index.dsn", "llm.openai_model", "team.vaults"):
        ran = memtool("config", "set", name, "x")
        said += ran.out
        assert "To undo: memtool config edit" in ran.out
    said += memtool("config", "unset", "llm.anthropic_api_key_env").out
    assert [secret for secret in ("s3cretword", "tok3nword", key[14:]) if secret in said] == []
    assert "x" in config.read_text()


def test_a_symlink_and_a_broken_file_stay_what_they_are(memtool: Memtool, config: Path, tmp_path: Path) -> None:
    config.parent.mkdir()
    real = tmp_path / "dotfiles.toml"
    real.write_text("[search]\nlimit = 1\n")
    config.symlink_to(real)
    memtool("config", "set", "search.limit", "2")
    assert config.is_symlink()
    assert real.read_text() == "[search]\nlimit = 2\n"
    real.write_text("[search\nlimit = 2\n")
    ran = memtool("config", "set", "search.limit", "3")
    assert ran.code == 30
    assert "memtool config edit" in ran.err
    assert real.read_text() == "[search\nlimit = 2\n"


def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *texts: str) -> Path:
    """Let the editor be a program that writes *texts*, one at each call; return where it counts its calls."""
    (tmp_path / "texts.json").write_text(json.dumps(texts))
    program = tmp_path / "editor.py"
    program.write_text(
        "import json, pathlib, sys\n"
        f"folder = pathlib.Path({str(tmp_path)!r})\n"
        "texts = json.loads((folder / 'texts.json').read_text())\n"
        "calls = folder / 'calls'\n"
        "count = len(calls.read_text()) if calls.exists() else 0\n"
        "calls.write_text('x' * (count + 1))\n"
        "pathlib.Path(sys.argv[1]).write_text(texts[min(count, len(texts) - 1)], encoding='utf-8')\n"
    )
    monkeypatch.setenv("EDITOR", f'"{sys.executable}" "{program}"')
    return tmp_path / "calls"


@pytest.mark.slow
def test_an_editor_changes_the_file_and_the_text_before_is_kept(
    memtool: Memtool, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.parent.mkdir()
    config.write_text("# 之前\n")
    editor(tmp_path, monkeypatch, "# 之后\n[search]\nlimit = 4\n", "[serch]\n")
    said = memtool("config", "edit").out
    assert config.read_text() == "# 之后\n[search]\nlimit = 4\n"
    os.system(said.partition("To undo: ")[2])  # what the user would do
    assert config.read_text() == "# 之前\n"
    assert "unknown settings" in memtool("config", "edit").err


@pytest.mark.slow
def test_what_cannot_be_used_is_not_taken_over(
    memtool: Memtool, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, why in (
        ("[search\n", "is not TOML"),
        ("[search]\nlimit = '三'\n", "whole number"),
        ("[redact]\npatterns = ['(']\n", "regular"),
    ):
        editor(tmp_path, monkeypatch, text)
        ran = memtool("config", "edit")
        assert ran.code == 30
        assert why in ran.err
        draft = Path(ran.err.strip().rpartition("Your draft is ")[2].rstrip("."))
        assert draft.read_text() == text
        assert not config.exists()
