from __future__ import annotations

from pathlib import Path

import pytest

from memtool.errors import BadSetting
from memtool.llm import is_set_up, models_of, writer_of
from memtool.settings import load
from memtool.settings.sections import ModelSettings


@pytest.mark.parametrize(
    ("writer", "providers", "asked"),
    [
        ("", ("extractive",), ()),
        ("", ("gemini", "claude", "extractive"), ("gemini", "claude")),  # who had named providers keeps them
        ("", ("gemini", "extractive", "claude"), ("gemini",)),
        ("", ("extractive", "claude"), ()),
        ("", (), ()),
        ("none", ("gemini", "extractive"), ()),
        ("claude", ("extractive",), ("claude",)),
        ("claude", ("extractive", "gemini"), ("claude",)),
        ("claude", ("gemini", "claude", "ollama"), ("claude", "gemini", "ollama")),
    ],
)
def test_the_writer_is_asked_first_and_the_providers_take_over(
    writer: str, providers: tuple[str, ...], asked: tuple[str, ...]
) -> None:
    settings = ModelSettings(writer=writer, providers=providers)
    assert models_of(settings) == asked
    assert writer_of(settings) == (asked[0] if asked else "")
    assert is_set_up(settings) is bool(asked)


def test_a_vault_does_not_choose_the_writer(tmp_path: Path) -> None:
    vault_file, environ = tmp_path / "memtool.toml", {"MEMTOOL_CONFIG": str(tmp_path / "config.toml")}
    vault_file.write_text('[llm]\nwriter = "claude"  # 陌生人\n', encoding="utf-8")
    settings = load(vault_file, environ)
    assert writer_of(settings.llm) == ""
    assert settings.notices == ("'llm.writer' in the vault's memtool.toml is ignored: set it in your own config.toml",)
    (tmp_path / "config.toml").write_text('[llm]\nwriter = "none"\n', encoding="utf-8")
    assert load(vault_file, environ).llm.writer == "none"
    assert writer_of(load(vault_file, environ | {"MEMTOOL_LLM_WRITER": "ollama"}).llm) == "ollama"


def test_a_writer_may_be_left_open_and_must_be_known(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[llm]\nwriter = ""\nproviders = ["openai"]\n', encoding="utf-8")
    assert writer_of(load(None, {"MEMTOOL_CONFIG": str(config)}).llm) == "openai"
    config.write_text('[llm]\nwriter = "通义"\n', encoding="utf-8")
    with pytest.raises(BadSetting, match="should be one of none, claude, "):
        load(None, {"MEMTOOL_CONFIG": str(config)})
