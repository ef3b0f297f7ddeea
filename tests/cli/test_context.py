from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hook.agent import agent_in

if TYPE_CHECKING:
    from terminal import Memtool


def test_a_person_sees_what_an_agent_is_given(memtool: Memtool, sample: Path) -> None:
    ran = memtool("context", "--project", "shop")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith('<memtool-context event="session-start">\n')
    assert ran.out.endswith("\n</memtool-context>\n")
    assert f"## Rules of shop ({'areas/projects/shop/rules.md'}, " in ran.out
    assert str(sample) in ran.out


@pytest.mark.slow
def test_it_prints_what_the_hook_gives(memtool: Memtool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = agent_in(tmp_path)
    for name in ("HOME", "USERPROFILE", "MEMTOOL_VAULT"):
        monkeypatch.setenv(name, agent.environ[name])
    monkeypatch.chdir(agent.project)
    assert memtool("context").out == agent.start() + "\n"
    agent.environ["MEMTOOL_RECALL_SESSION_TOKENS"] = "600"
    assert memtool("context", "--budget", "600").out == agent.start() + "\n"


def test_the_command_that_shows_more_works_as_it_is_written(memtool: Memtool, sample: Path) -> None:
    small = memtool("context", "--project", "shop", "--budget", "500").out
    command = re.findall(r"more: `memtool (.*)`", small)[0]
    assert len(memtool(*command.split()).out) > len(small)
    assert memtool("context", "--all", "--budget", "5").code == 2
    assert sample.is_dir()


def test_json_says_what_it_is_made_of(memtool: Memtool, sample: Path) -> None:
    answer = memtool("context", "--project", "tideline", "--json").answer
    assert answer == memtool("context", "--project", "tideline", "--format", "json").answer
    assert (answer["format"], answer["project"], answer["budget"]) == (1, "tideline", 2_200)
    assert 0 < answer["tokens"] <= 2_200
    assert {"MEMORY.md", "areas/projects/tideline/rules.md"} <= set(answer["refs"])
    assert answer["text"] + "\n" == memtool("context", "--project", "tideline").out
    assert sample.is_dir()


def test_the_project_is_that_of_the_working_folder(
    memtool: Memtool, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop").mkdir()
    summary = sample / "areas/projects/shop/summary.md"
    text = summary.read_text("utf-8")
    summary.write_text(text.replace("identities:", f"identities:\n  - path:{tmp_path / 'shop'}"), "utf-8")
    monkeypatch.chdir(tmp_path / "shop")
    assert memtool("context", "--json", "--vault", str(sample)).answer["project"] == "shop"


def test_the_budget_of_the_command_line_is_the_strongest(
    memtool: Memtool, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTOOL_RECALL_SESSION_TOKENS", "1000")
    assert memtool("context", "--project", "shop", "--json").answer["budget"] == 1_000
    answer = memtool("context", "--project", "shop", "--budget", "300", "--json").answer
    assert 0 < answer["tokens"] <= answer["budget"] == 300
    assert memtool("context", "--project", "shop", "--budget", "0") == (
        0, "", "The budget is 0, so an agent gets nothing.\n",
    )  # fmt: skip
    assert sample.is_dir()


def test_colours_change_nothing_but_the_colours(
    memtool: Memtool, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    coloured = memtool("context", "--project", "shop", "--format", "ansi").out
    plain = memtool("context", "--project", "shop", "--format", "markdown").out
    assert "\x1b[" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert memtool("context", "--project", "shop", "--format", "ansi").out == plain
    assert sample.is_dir()


def test_an_empty_vault_has_nothing_to_give(memtool: Memtool, notes: Path) -> None:
    assert memtool("context") == (0, "", "There is nothing to show yet.\n")
    assert memtool("context", "--json").answer["text"] == ""
    assert notes.is_dir()


def test_an_unknown_project_is_a_usage_error(memtool: Memtool, sample: Path) -> None:
    for name in ("shap", "../projects/shop", "", "..", "a\nb"):
        code, out, err = memtool("context", "--project", name)
        assert (code, out) == (2, "")
        assert err.endswith("\nIt knows shop, tideline.\n")
        assert err.count("\n") == 2
    shutil.rmtree(sample / "areas")
    assert memtool("context", "--project", "shop").err.endswith("\nIt knows none yet.\n")


def test_two_formats_at_once_are_a_usage_error(memtool: Memtool, sample: Path) -> None:
    assert memtool("context", "--json", "--format", "ansi").code == 2
    assert memtool("context", "--budget", "-1").code == 2
    assert sample.is_dir()
