from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memtool.vault import outside
from memtool.vault.layout import Vault
from memtool.vault.outside import Outside, folder_named, is_outside, names_by_folder, project_of_memory
from memtool.vault.scan import Scan, changes


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
    Outside(projects).add_to(found, projects.parent / "vault")
    memory = (projects / "-src-shop" / "memory").as_posix()
    assert found.stamps.keys() == {"a.md", f"{memory}/MEMORY.md", f"{memory}/tea.md"}
    assert is_outside(f"{memory}/tea.md")
    assert not is_outside("a.md")


def test_a_client_that_is_not_there_has_no_memory(tmp_path: Path) -> None:
    found = Scan({}, [], [])
    Outside(tmp_path / "gone").add_to(found, tmp_path / "vault")
    assert found == Scan({}, [], [])


def test_only_memory_files_can_be_named(projects: Path) -> None:
    tea = projects / "-src-shop" / "memory" / "tea.md"
    assert Outside(projects).path_of(str(tea)) == tea
    for other in ("-src-shop/session.jsonl", "-src-shop/memory/notes.txt", "-src-shop/memory/gone.md",
                  "-src-shop/memory/../memory/tea.md", "../secret.md"):  # fmt: skip
        assert Outside(projects).path_of(str(projects / other)) is None
    assert Outside(projects).path_of("a.md") is None


def test_the_project_is_known_by_the_folder_in_which_it_was_seen(tmp_path: Path) -> None:
    (tmp_path / ".memtool").mkdir()
    entries = {"/src/商店": ["laden", "/src/商店", 0, True], "/x": ["", "/x", 0, True], "/odd": 3}
    (tmp_path / ".memtool" / "projects.json").write_text(json.dumps(entries))
    names = names_by_folder(Vault(tmp_path))
    assert names == {"-src---": "laden"}
    assert project_of_memory("/c/projects/-src---/memory/tea.md", names) == "laden"
    assert project_of_memory("/c/projects/-other/memory/tea.md", names) == ""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_nobody_waits_for_the_names_of_projects(tmp_path: Path) -> None:
    (tmp_path / ".memtool").mkdir()
    os.mkfifo(tmp_path / ".memtool" / "projects.json")
    assert names_by_folder(Vault(tmp_path)) == {}


# Folders of the user


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    """A folder of Markdown with much beside that."""
    folder = tmp_path / "wiki"
    for ref in ("a.md", "深/b.markdown", ".git/c.md", "node_modules/d.md", "facts.json", "e.txt", "odd\nname.md"):
        (folder / ref).parent.mkdir(parents=True, exist_ok=True)
        (folder / ref).write_text("茶", encoding="utf-8")
    return folder


def add(*folders: Path, vault: Path = Path("/vault")) -> Scan:
    found = Scan({}, [], [])
    Outside(None, folders).add_to(found, vault)
    return found


def test_the_markdown_of_a_folder_is_found(wiki: Path) -> None:
    found = add(wiki)
    assert found.stamps.keys() == {f"{wiki}/a.md", f"{wiki}/深/b.markdown"}
    assert add(wiki, wiki / "深").stamps == found.stamps


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_links_and_pipes_in_a_folder_are_not_read(wiki: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (wiki / "out.md").symlink_to(tmp_path / "secret.md")
    (wiki / "up").symlink_to(tmp_path)
    (wiki / "loop.md").symlink_to("loop.md")
    os.mkfifo(wiki / "pipe.md")
    assert add(wiki).stamps.keys() == {f"{wiki}/a.md", f"{wiki}/深/b.markdown"}
    here = Outside(None, (wiki,))
    for ref in ("out.md", "up/secret.md", "loop.md", "pipe.md", "../secret.md", ".git/c.md", "e.txt", "gone.md"):
        assert here.path_of(f"{wiki}/{ref}") is None
    assert here.path_of(f"{wiki}/a.md") == wiki / "a.md"
    assert here.path_of("a.md") is None


def test_a_folder_that_is_gone_is_no_deletion_and_one_that_is_named_no_more_is(wiki: Path) -> None:
    known = {ref: (*stamp, 0) for ref, stamp in add(wiki).stamps.items()}
    wiki.rename(wiki.with_name("moved"))
    found = add(wiki)
    assert [problem.reason for problem in found.problems] == ["there is no such folder now"]
    assert changes(known, found).gone == ()  # type: ignore[arg-type]
    assert changes(known, add()).gone == tuple(sorted(known))  # type: ignore[arg-type]


def test_the_vault_is_not_read_twice(wiki: Path) -> None:
    assert add(wiki, vault=wiki / "深").stamps.keys() == {f"{wiki}/a.md"}
    for vault in (wiki, wiki.parent):
        assert add(wiki, vault=vault).stamps == {}
        assert "lies in the vault" in add(wiki, vault=vault).problems[0].reason


def test_of_a_huge_folder_not_all_is_read(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "MOST_FILES", 1)
    found = add(wiki)
    assert list(found.stamps) == [f"{wiki}/a.md"]
    assert "it holds 2 notes; 1 of them are read" in [problem.reason for problem in found.problems]


def test_a_folder_may_be_named_by_home_and_through_a_symlink(wiki: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(wiki)
    for name in ("~/wiki", "wiki", "~/link", str(wiki), "~/wiki/../link/"):
        assert folder_named(name, tmp_path) == wiki
    assert folder_named("~", tmp_path) == tmp_path
