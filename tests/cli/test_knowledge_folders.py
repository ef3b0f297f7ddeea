"""Folders of Markdown outside the vault: searched and shown, never changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hook.agent import Agent

if TYPE_CHECKING:
    from terminal import Memtool

PAGE = """---
type: decision
project: shop
author: user
---

# Quagga release 发布

Whoever releases the quagga asks the harbour office for a permit first. 发布之前先申请许可。
"""


@pytest.fixture
def wiki(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page in a folder that the user's settings name."""
    folder = agent.home / "wiki"
    folder.mkdir()
    (folder / "release.md").write_text(PAGE, encoding="utf-8")
    (folder / "session.md").write_text("---\ntype: session\n---\n\n1. **Decisions**: the quagga is blue (user)\n")
    config = Path(agent.environ["MEMTOOL_CONFIG"])
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[knowledge]\nfolders = ["~/wiki"]\n')
    monkeypatch.chdir(agent.vault.root)
    return folder


def hits(memtool: Memtool, *words: str) -> list[dict[str, str]]:
    answer: list[dict[str, str]] = memtool("search", *words, "--json").answer["hits"]
    return answer


def test_a_page_is_found_with_its_path_and_is_nobodys_decision(memtool: Memtool, wiki: Path) -> None:
    before = (wiki / "release.md").read_bytes(), (wiki / "release.md").stat().st_mtime_ns
    hit = hits(memtool, "发布许可")[0]
    assert hit["path"] == f"{wiki}/release.md"
    assert (hit["kind"], hit["project"], hit["category"], hit["author"]) == ("knowledge", "", "research", "imported")
    assert {each["kind"] for each in hits(memtool, "quagga")} == {"knowledge"}
    assert memtool("show", f"{wiki}/release.md").out == PAGE
    assert memtool("show", f"{wiki}/release.md:8-8").out == "\n"
    assert memtool("show", "release").out == PAGE
    assert ((wiki / "release.md").read_bytes(), (wiki / "release.md").stat().st_mtime_ns) == before
    assert sorted(path.name for path in wiki.iterdir()) == ["release.md", "session.md"]


def test_what_changes_or_goes_there_does_so_here(memtool: Memtool, wiki: Path) -> None:
    assert hits(memtool, "quagga")
    (wiki / "release.md").write_text("# Zebra\n")
    (wiki / "session.md").unlink()
    assert hits(memtool, "quagga") == []
    assert hits(memtool, "zebra")


def test_a_vault_cannot_name_folders(memtool: Memtool, wiki: Path, agent: Agent) -> None:
    Path(agent.environ["MEMTOOL_CONFIG"]).write_text("")
    agent.write("memtool.toml", f'[knowledge]\nfolders = ["{wiki}"]\n')
    ran = memtool("search", "quagga", "--json")
    assert ran.answer["hits"] == []
    assert "'knowledge.folders' in the vault's memtool.toml is ignored" in ran.answer["notices"][0]


def test_a_prompt_is_given_the_page_as_a_reference_of_no_project(memtool: Memtool, wiki: Path, agent: Agent) -> None:
    assert memtool("index").code == 0
    answer = agent.ask("Before I release the quagga, whom do I ask for a permit at the harbour office?")
    assert "asks the harbour office for a permit first" in answer
    assert f"{wiki}/release.md:" in answer
    assert "user" not in answer.split("permit first")[1].split(")")[0]
