from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memtool.vault.client_memory import (
    add_client_memory,
    client_memory_path,
    is_client_memory,
    names_by_folder,
    project_of_client_memory,
)
from memtool.vault.layout import Vault
from memtool.vault.scan import Scan


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    folder = tmp_path / "projects"
    for name, text in (("MEMORY.md", "- [Tea](tea.md)"), ("tea.md", "茶"), ("notes.txt", "no"), ("odd\nname.md", "no")):
        path = folder / "-src-shop" / "memory" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "-src-shop" / "session.jsonl").write_text("{}")
    (folder / "-src-mail").mkdir()
    return folder


def test_memory_files_are_found_by_their_absolute_paths(projects: Path) -> None:
    found = Scan({"a.md": (1, 2)}, [], [])
    add_client_memory(found, projects)
    memory = (projects / "-src-shop" / "memory").as_posix()
    assert found.stamps.keys() == {"a.md", f"{memory}/MEMORY.md", f"{memory}/tea.md"}
    assert is_client_memory(f"{memory}/tea.md")
    assert not is_client_memory("a.md")


def test_a_client_that_is_not_there_has_no_memory(tmp_path: Path) -> None:
    found = Scan({}, [], [])
    add_client_memory(found, tmp_path / "gone")
    assert found == Scan({}, [], [])


def test_only_memory_files_can_be_named(projects: Path) -> None:
    tea = projects / "-src-shop" / "memory" / "tea.md"
    assert client_memory_path(str(tea), projects) == tea
    for other in ("-src-shop/session.jsonl", "-src-shop/memory/notes.txt", "-src-shop/memory/gone.md",
                  "-src-shop/memory/../memory/tea.md", "../secret.md"):  # fmt: skip
        assert client_memory_path(str(projects / other), projects) is None
    assert client_memory_path("a.md", projects) is None


def test_the_project_is_known_by_the_folder_in_which_it_was_seen(tmp_path: Path) -> None:
    (tmp_path / ".memtool").mkdir()
    entries = {"/src/商店": ["laden", "/src/商店", 0, True], "/x": ["", "/x", 0, True], "/odd": 3}
    (tmp_path / ".memtool" / "projects.json").write_text(json.dumps(entries))
    names = names_by_folder(Vault(tmp_path))
    assert names == {"-src---": "laden"}
    assert project_of_client_memory("/c/projects/-src---/memory/tea.md", names) == "laden"
    assert project_of_client_memory("/c/projects/-other/memory/tea.md", names) == ""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_nobody_waits_for_the_names_of_projects(tmp_path: Path) -> None:
    (tmp_path / ".memtool").mkdir()
    os.mkfifo(tmp_path / ".memtool" / "projects.json")
    assert names_by_folder(Vault(tmp_path)) == {}
