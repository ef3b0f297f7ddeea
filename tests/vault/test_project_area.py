from __future__ import annotations

import subprocess
import unicodedata
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, strategies as st

from memtool.errors import HistoryFailed
from memtool.git import GitAnswer, ask
from memtool.text.frontmatter import set_list
from memtool.vault.layout import Vault
from memtool.vault.limits import FRESH, UNSURE
from memtool.vault.project_area import (
    ProjectArea,
    area_name,
    find_area,
    find_registered_area,
    known_projects,
    register,
    remembered_folders,
    shown_path,
)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "memtool.toml").touch()
    return Vault(tmp_path / "vault")


def make_repository(folder: Path, remote: str = "") -> Path:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    if remote:
        subprocess.run(["git", "-C", str(folder), "remote", "add", "origin", remote], check=True)
    return folder


def test_a_new_project_is_named_after_its_remote(vault: Vault, tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "clone-3", "git@github.com:acme/shop.git")
    (folder / "src").mkdir()
    area = find_area(vault, folder / "src", tmp_path, 0.0)
    assert area == ("shop", folder)


def test_a_folder_without_git_is_named_after_itself_and_home_is_no_project(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "home" / "商店").mkdir(parents=True)
    home = tmp_path / "home"
    assert find_area(vault, home / "商店", home, 0.0).name == "商店"
    assert find_area(vault, home, home, 0.0).name == ""
    assert find_area(vault, Path("/"), home, 0.0).name == ""
    assert find_area(vault, tmp_path / "gone", home, 0.0).name == "gone"


def test_a_project_keeps_its_area_when_it_is_cloned_elsewhere(vault: Vault, tmp_path: Path) -> None:
    first = make_repository(tmp_path / "one", "https://github.com/acme/shop.git")
    area = find_registered_area(vault, first, tmp_path, 0.0)
    summary = vault.root / area.ref
    summary.rename(summary.parent.with_name("summary.md"))
    summary.parent.rename(vault.root / "areas" / "projects" / "laden")
    (vault.root / "areas" / "projects" / "summary.md").rename(
        vault.root / "areas" / "projects" / "laden" / "summary.md"
    )
    second = make_repository(tmp_path / "two", "ssh://git@github.com/ACME/shop")
    assert find_registered_area(vault, second, tmp_path, 0.0).name == "laden"
    listed = known_projects(vault)["laden"]
    assert {"github.com/acme/shop", f"path:{first}", f"path:{second}"} <= set(listed)


def test_a_namesake_gets_a_name_of_its_own(vault: Vault, tmp_path: Path) -> None:
    for owner in ("one", "two"):
        (tmp_path / owner / "app").mkdir(parents=True)
    first = find_registered_area(vault, tmp_path / "one" / "app", tmp_path, 0.0)
    second = find_registered_area(vault, tmp_path / "two" / "app", tmp_path, 0.0)
    assert first.name == "app"
    assert second.name.startswith("app-")
    assert len(second.name) == len("app-") + 4


@pytest.mark.parametrize("kept", ["NFC", "NFD"])
def test_a_name_is_one_however_its_accents_are_written(
    vault: Vault, tmp_path: Path, kept: Literal["NFC", "NFD"]
) -> None:
    composed = "café-がく"
    assert area_name(unicodedata.normalize("NFD", composed)) == composed
    by_hand = vault.root / "areas" / "projects" / unicodedata.normalize(kept, composed)
    by_hand.mkdir(parents=True)
    (by_hand / "summary.md").write_text("# 我的\n", encoding="utf-8")
    folder = tmp_path / unicodedata.normalize("NFD", composed)
    folder.mkdir()
    assert find_registered_area(vault, folder, tmp_path, 0.0).name == by_hand.name


def test_an_area_that_was_made_by_hand_is_taken_and_only_its_identities_change(vault: Vault, tmp_path: Path) -> None:
    summary = vault.root / "areas" / "projects" / "shop" / "summary.md"
    summary.parent.mkdir(parents=True)
    summary.write_text("---\ntype: project\nrank: 01234  # mine\n---\n\n# The shop\n", encoding="utf-8")
    (tmp_path / "shop").mkdir()
    assert find_registered_area(vault, tmp_path / "shop", tmp_path, 0.0).name == "shop"
    assert summary.read_text(encoding="utf-8") == (
        f'---\ntype: project\nrank: 01234  # mine\nidentities: ["path:{tmp_path / "shop"}"]\n---\n\n# The shop\n'
    )


@pytest.mark.parametrize(
    "listed",
    [
        'identities: ["github.com/acme/商店"]',
        "identities: [github.com/other/x, github.com/acme/商店",
        "identities:\n  - github.com/acme/商店",
        "identities:\n- 'github.com/acme/商店'",
    ],
)
def test_an_area_whose_front_matter_is_broken_keeps_its_name(vault: Vault, tmp_path: Path, listed: str) -> None:
    summary = vault.root / "areas" / "projects" / "shop" / "summary.md"
    summary.parent.mkdir(parents=True)
    text = f"---\ntype: project\n{listed}\ntitle: a: b: *\n---\n\n# The shop\n"
    summary.write_text(text, encoding="utf-8")
    folder = make_repository(tmp_path / "checkout", "https://github.com/acme/商店.git")
    assert find_area(vault, folder, tmp_path, 0.0).name == "shop"
    assert find_registered_area(vault, folder, tmp_path, 0.0).name == "shop"


@pytest.mark.parametrize("matter", ["identities: [github.com/acme/shop", "title: *", "identities: {"])
def test_an_area_whose_list_cannot_be_read_is_not_taken_by_a_namesake(
    vault: Vault, tmp_path: Path, matter: str
) -> None:
    summary = vault.root / "areas" / "projects" / "商店" / "summary.md"
    summary.parent.mkdir(parents=True)
    summary.write_text(f"---\n{matter}\n---\n\n# 商店\n", encoding="utf-8")
    (tmp_path / "商店").mkdir()
    name = find_registered_area(vault, tmp_path / "商店", tmp_path, 0.0).name
    assert name.startswith("商店-")
    assert summary.read_text(encoding="utf-8") == f"---\n{matter}\n---\n\n# 商店\n"


def test_of_two_who_register_at_once_both_are_listed(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_identities(vault, "shop", "github.com/acme/shop")
    area = ProjectArea("shop", tmp_path)
    real, others = Vault.lock, [tmp_path / "two"]

    def late(self: Vault, name: str = "vault", *, timeout: float = 10.0) -> AbstractContextManager[int]:
        while others:  # another process is quicker
            register(vault, area, [f"path:{others.pop()}"])
        return real(self, name, timeout=timeout)

    monkeypatch.setattr(Vault, "lock", late)
    assert register(vault, area, [f"path:{tmp_path / 'one'}"])
    listed = ("github.com/acme/shop", f"path:{tmp_path / 'two'}", f"path:{tmp_path / 'one'}")
    assert known_projects(vault) == {"shop": listed}
    assert not register(vault, area, [f"path:{tmp_path / 'one'}"])


def test_an_area_is_remembered_for_a_day(vault: Vault, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    list_identities(vault, "shop", f"path:{folder}")
    assert find_area(vault, folder, tmp_path, 1000.0).name == "shop"
    make_repository(folder, "https://github.com/acme/store.git")
    list_identities(vault, "store", "github.com/acme/store")
    assert find_area(vault, folder, tmp_path, 1000.0 + FRESH - 1).name == "shop"
    assert find_area(vault, folder, tmp_path, 1000.0 + FRESH).name == "store"


def test_one_that_is_not_registered_is_remembered_for_a_minute(vault: Vault, tmp_path: Path) -> None:
    folder = tmp_path / "商店"
    folder.mkdir()
    assert find_area(vault, folder, tmp_path, 1000.0).name == "商店"
    list_identities(vault, "laden", f"path:{folder}")
    assert find_area(vault, folder, tmp_path, 1000.0 + UNSURE - 1).name == "商店"
    assert find_area(vault, folder, tmp_path, 1000.0 + UNSURE).name == "laden"


def test_an_area_that_its_owner_has_renamed_is_known_by_its_new_name_at_once(vault: Vault, tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "shop", "https://github.com/acme/shop.git")
    assert find_registered_area(vault, folder, tmp_path, 1000.0).name == "shop"
    (vault.root / "areas" / "projects" / "shop").rename(vault.root / "areas" / "projects" / "商店")
    assert find_area(vault, folder, tmp_path, 1001.0).name == "商店"


@pytest.mark.parametrize("is_repository", [True, False])
def test_a_symlink_leads_to_the_same_project(vault: Vault, tmp_path: Path, is_repository: bool) -> None:
    folder = make_repository(tmp_path / "商店") if is_repository else tmp_path / "商店"
    folder.mkdir(exist_ok=True)
    (tmp_path / "link").symlink_to(folder)
    assert find_registered_area(vault, folder, tmp_path, 0.0).name == "商店"
    assert find_area(vault, tmp_path / "link", tmp_path, 0.0) == ("商店", folder)


def test_what_was_registered_by_a_symlink_is_known_by_it_and_by_its_target(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "src")
    list_identities(vault, "laden", f"path:{tmp_path / 'link'}")
    assert find_registered_area(vault, tmp_path / "link", tmp_path, 0.0).name == "laden"
    assert find_area(vault, tmp_path / "src", tmp_path, 0.0).name == "laden"


def test_a_folder_that_is_gone_is_of_the_project_that_it_lay_in(vault: Vault, tmp_path: Path) -> None:
    kept = make_repository(tmp_path / "kept", "https://github.com/acme/shop.git")
    list_identities(vault, "shop", "github.com/acme/shop")
    list_identities(vault, "论文", f"path:{tmp_path / 'thesis'}")
    assert find_area(vault, kept / "src" / "api", tmp_path, 0.0).name == "shop"
    assert find_area(vault, tmp_path / "thesis", tmp_path, 0.0).name == "论文"
    assert find_area(vault, tmp_path / "thesis" / "one", tmp_path, 0.0).name == "论文"
    assert find_area(vault, tmp_path / "other" / "one", tmp_path, 0.0).name == "one"


@pytest.mark.parametrize("content", ["", "[]", "{", '{"/x": 3}', '{"/x": ["../..", "/", 0, true]}'])
def test_a_memory_that_somebody_else_wrote_does_no_harm(vault: Vault, tmp_path: Path, content: str) -> None:
    (vault.root / ".memtool").mkdir()
    (vault.root / ".memtool" / "projects.json").write_text(content.replace("/x", str(tmp_path / "shop")))
    assert find_area(vault, tmp_path / "shop", tmp_path, 1.0).name in ("shop", "")


# Large repositories


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What git was asked for."""
    asked: list[str] = []

    def watched(folder: Path, *args: str, timeout: float = 10.0) -> GitAnswer:
        asked.append(args[0])
        return ask(folder, *args, timeout=timeout)

    monkeypatch.setattr("memtool.git.ask", watched)
    return asked


def list_identities(vault: Vault, name: str, *identities: str) -> None:
    summary = vault.root / "areas" / "projects" / name / "summary.md"
    summary.parent.mkdir(parents=True)
    summary.write_text(set_list("", "identities", identities), encoding="utf-8")


@pytest.mark.parametrize("find", [find_area, find_registered_area])
def test_where_the_remote_is_known_nobody_looks_for_the_root_commit(
    vault: Vault, tmp_path: Path, asked: list[str], find: Callable[..., ProjectArea]
) -> None:
    folder = make_repository(tmp_path / "clone", "git@github.com:acme/shop.git")
    list_identities(vault, "商店", "github.com/acme/shop", f"path:{folder}", "commit:0")
    assert find(vault, folder, tmp_path, 0.0).name == "商店"
    assert asked.count("rev-list") == (0 if find is find_area else 1)  # to register, all are wanted


def test_a_hook_knows_a_folder_by_its_path_before_it_looks_for_the_root_commit(
    vault: Vault, tmp_path: Path, asked: list[str]
) -> None:
    folder = make_repository(tmp_path / "clone", "git@github.com:acme/renamed.git")
    list_identities(vault, "商店", f"path:{folder}")
    assert find_area(vault, folder, tmp_path, 0.0).name == "商店"
    assert "rev-list" not in asked


def make_moved_repository(vault: Vault, folder: Path) -> Path:
    make_repository(folder)
    commit = ("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "root")
    subprocess.run(["git", "-C", str(folder), *commit], check=True)
    root = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    list_identities(vault, "商店", f"commit:{root.stdout.strip()}")
    return folder


def test_a_repository_without_a_remote_is_known_by_its_root_commit(vault: Vault, tmp_path: Path) -> None:
    assert find_area(vault, make_moved_repository(vault, tmp_path / "moved"), tmp_path, 0.0).name == "商店"


def test_a_hook_does_not_wait_for_the_root_commit_and_what_it_guessed_is_soon_forgotten(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_moved_repository(vault, tmp_path / "moved")
    waits: list[float] = []

    def slow(place: Path, *args: str, timeout: float = 10.0) -> GitAnswer:
        if args[0] == "rev-list":
            waits.append(timeout)
        if args[0] == "rev-list" and timeout < 1.0:
            raise HistoryFailed("git did not answer")
        return ask(place, *args, timeout=timeout)

    monkeypatch.setattr("memtool.git.ask", slow)
    names = [find_area(vault, folder, tmp_path, at).name for at in (0.0, UNSURE - 1, UNSURE)]
    assert (names, waits) == (["moved"] * 3, [0.1, 0.1])
    assert find_registered_area(vault, folder, tmp_path, UNSURE).name == "商店"
    assert find_area(vault, folder, tmp_path, UNSURE + FRESH - 1).name == "商店"


@pytest.mark.parametrize(("command", "name"), [("rev-parse", "商"), ("config", "shop")])
def test_a_hook_does_not_wait_for_git_and_takes_the_path_for_a_while(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, name: str
) -> None:
    folder = make_repository(tmp_path / "shop", "https://github.com/acme/laden.git") / "商"
    folder.mkdir()
    waits: list[float] = []

    def slow(place: Path, *args: str, timeout: float = 10.0) -> GitAnswer:
        waits.append(timeout)
        if args[0] == command and timeout < 10:
            raise HistoryFailed("git did not answer")
        return ask(place, *args, timeout=timeout)

    monkeypatch.setattr("memtool.git.ask", slow)
    assert find_area(vault, folder, tmp_path, 0.0).name == name
    assert sum(waits) <= 1.0
    monkeypatch.setattr("memtool.git.ask", ask)
    assert find_area(vault, folder, tmp_path, UNSURE).name == "laden"


def test_of_a_large_summary_the_front_matter_is_read(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    list_identities(vault, "laden", f"path:{tmp_path / 'shop'}")
    with (vault.root / "areas" / "projects" / "laden" / "summary.md").open("a", encoding="utf-8") as file:
        file.write("商" * 300_000)
    assert find_area(vault, tmp_path / "shop", tmp_path, 0.0).name == "laden"


def test_what_is_remembered_of_folders_is_not_read_beyond_a_megabyte(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    find_area(vault, tmp_path / "shop", tmp_path, 0.0)
    path = vault.state_path / "projects.json"
    assert remembered_folders(vault).keys() == {str(tmp_path / "shop")}
    path.write_text(path.read_text() + " " * 1_048_576)
    assert remembered_folders(vault) == {}


@given(st.text())
def test_a_name_is_one_that_every_disk_accepts(text: str) -> None:
    name = area_name(text)
    assert area_name(name) == name
    assert not set(name) & set('<>:"/\\|?*\0\n`[]#')
    assert len(name) <= 60
    assert not name.startswith(".")


def test_a_path_is_shown_as_a_person_would_write_it() -> None:
    home = Path("/home/ana")
    assert shown_path("/home/ana/src/shop/a/b.ts", Path("/home/ana/src/shop"), home) == "a/b.ts"
    assert shown_path("/home/ana/notes.md", Path("/home/ana/src/shop"), home) == "~/notes.md"
    assert shown_path("/etc/hosts", Path("/home/ana/src/shop"), home) == "/etc/hosts"
    assert shown_path("/home/ana/数据.md", None, home) == "~/数据.md"


@pytest.mark.parametrize(
    "identities",
    [
        ["github.com/acme/shop"],
        ["git.例子.cn/商店/后端", "commit:0a1b", "path:/家/项目"],
        ["path:/a, b/c", "path:/it's"],
        ["path:C:\\work\\shop"],
        ["path:/a #b", "12:30:45", "null", "yes"],
    ],
)
@pytest.mark.parametrize(
    "more", ["", "title: 'a: [b'\n", "summary: |\n  identities: [path:/other]\n", "tags: [a, b]\r\n"]
)
def test_identities_are_read_without_yaml_as_with_it(vault: Vault, identities: list[str], more: str) -> None:
    text = set_list(f"---\ntype: project\n{more}---\n\n# Shop\n", "identities", identities)
    (vault.root / "areas/projects/shop").mkdir(parents=True)
    (vault.root / "areas/projects/shop/summary.md").write_bytes(text.encode())
    assert known_projects(vault) == {"shop": tuple(identities)}
