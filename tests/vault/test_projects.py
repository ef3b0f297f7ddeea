from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from memtool.vault.project_area import (
    find_project,
    identities_of,
    match_project,
    normalise_remote,
    short_id,
)


def git(folder: Path, *args: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org", *args]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def identities(folder: Path) -> tuple[str, ...]:
    return tuple(identities_of(find_project(folder)))


def strongest_identity(folder: Path) -> str:
    return identities(folder)[0]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "商店 shop"
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "root")
    git(folder, "commit", "-q", "--allow-empty", "-m", "second")
    return folder


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:acme/shop.git",
        "github.com:acme/shop",
        "ssh://git@github.com/acme/shop.git",
        "ssh://git@GitHub.com:22/acme/shop.git/",
        "git+ssh://git@github.com/acme/shop",
        "git://github.com/acme/shop.git",
        "https://github.com/acme/shop",
        "https://github.com:8443//acme/shop.git",
        "https://user:t0ken@github.com/acme/shop.git",
        "https://oauth2:a@b:c@github.com/acme/shop",
        "HTTPS://github.com/acme/shop?token=secret#x",
        " https://github.com/acme/shop/ ",
    ],
)
def test_every_way_to_write_a_remote_is_one_identity(url: str) -> None:
    assert normalise_remote(url) == "github.com/acme/shop"


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("https://gitlab.example.org/组/子组/商店.git", "gitlab.example.org/组/子组/商店"),
        ("git@[::1]:acme/shop.git", "[::1]/acme/shop"),
        ("ssh://git@[2001:DB8::1]:2222/acme/shop", "[2001:db8::1]/acme/shop"),
        ("host:~anna/shop.git", "host/~anna/shop"),
        ("https://example.org/Acme/Shop", "example.org/Acme/Shop"),
    ],
)
def test_hosts_lose_their_case_and_paths_keep_theirs(url: str, identity: str) -> None:
    assert normalise_remote(url) == identity


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/srv/git/shop.git",
        "../shop",
        "file:///srv/shop.git",
        "file://host/shop.git",
        r"C:\src\shop",
        "C:/src/shop",
        "./a:b",
        "ext::sh -c evil",
        "https://",
        "https://github.com",
        "https://github.com/",
        "a\nb:c",
        "x@" * 5000 + "h:p",
    ],
)
def test_what_means_nothing_on_another_machine_is_no_identity(url: str) -> None:
    assert normalise_remote(url) == ""


@pytest.mark.slow
@given(st.text(max_size=40) | st.from_regex(r"(https|ssh)://\w+:\w+@[a-z.]+/\w+", fullmatch=True))
def test_no_text_breaks_it_and_no_password_passes(url: str) -> None:
    identity = normalise_remote(url)
    assert "@" not in identity.split("/")[0]
    assert "\n" not in identity


def test_a_project_is_its_remote_else_its_root_commit_else_its_path(project: Path, tmp_path: Path) -> None:
    root = git(project, "rev-list", "--max-parents=0", "HEAD")
    assert strongest_identity(tmp_path) == f"path:{tmp_path}"
    assert strongest_identity(project) == f"commit:{root}"
    git(project, "remote", "add", "backup", "/srv/backup.git")
    assert strongest_identity(project) == f"commit:{root}"
    git(project, "remote", "add", "upstream", "https://github.com/acme/shop")
    git(project, "remote", "add", "origin", "git@github.com:anna/shop.git")
    assert identities(project) == ("github.com/anna/shop", f"commit:{root}", f"path:{project}")


def test_subfolders_files_and_worktrees_are_the_same_project(project: Path, tmp_path: Path) -> None:
    git(project, "worktree", "add", "-q", str(tmp_path / "elsewhere"))
    (project / "src" / "a.py").touch()
    places = (project, project / "src", project / "src" / "a.py", tmp_path / "elsewhere")
    assert {find_project(place).root for place in places} == {project}
    assert len({identities(place) for place in places}) == 1


def test_worktrees_of_a_bare_repository_are_the_same_project(project: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(project), "bare.git")
    for name in ("one", "two"):
        git(tmp_path / "bare.git", "worktree", "add", "-q", "-b", name, str(tmp_path / name))
    assert find_project(tmp_path / "one") == find_project(tmp_path / "two")


def test_a_clone_on_another_machine_is_the_same_project(project: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(project), "clone")
    assert strongest_identity(tmp_path / "clone") == strongest_identity(project)


def test_a_shallow_clone_does_not_invent_a_root_commit(project: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", project.as_uri(), "shallow")
    assert identities(tmp_path / "shallow") == (f"path:{tmp_path / 'shallow'}",)


def test_an_empty_repository_and_a_missing_folder_are_known_by_their_path(tmp_path: Path) -> None:
    assert strongest_identity(tmp_path / "missing" / "商店") == f"path:{tmp_path / 'missing' / '商店'}"
    git(tmp_path, "init", "-q")
    assert strongest_identity(tmp_path) == f"path:{tmp_path}"
    assert strongest_identity(tmp_path / "missing" / "商店") == f"path:{tmp_path}"


def test_without_git_the_path_is_left_and_the_notice_says_so(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert strongest_identity(project) == f"path:{project}"
    assert find_project(project).notice == "git is not installed"


def test_the_strongest_identity_decides() -> None:
    projects = {
        "fork": ["git@github.com:anna/shop.git", "commit:c0ffee"],
        "shop": ["https://GitHub.com/Acme/Shop", "commit:c0ffee", "path:/src/shop"],
    }
    assert match_project(["github.com/acme/shop", "commit:c0ffee"], projects) == "shop"
    assert match_project(["github.com/acme/renamed", "commit:c0ffee"], projects) == "fork"
    assert match_project(["path:/src/shop"], projects) == "shop"
    assert match_project(["path:/src/other", "commit:beef"], projects) is None
    assert match_project([], projects) is None


def test_the_short_id_is_of_the_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = hashlib.sha256(str(tmp_path / "商店").encode()).hexdigest()[:12]
    monkeypatch.chdir(tmp_path)
    assert short_id(tmp_path / "商店") == expected
    assert short_id(tmp_path / "x" / ".." / "商店") == expected
    assert short_id(Path("商店")) == expected


@pytest.mark.parametrize(
    "gone",
    [
        "商店 shop-worktrees/2",
        "商店 shop.worktrees/3/src",
        "商店 shop/.worktrees/2",
        "商店 shop/worktrees/3",
        "商店 shop/.claude/worktrees/2/src",
        "商店 shop/2",
    ],
)
def test_a_worktree_that_is_gone_belongs_to_its_project(project: Path, tmp_path: Path, gone: str) -> None:
    assert find_project(tmp_path / gone).root == project


@pytest.mark.parametrize("gone", [".cursor/worktrees/店 shop/2", ".worktrees/店 shop/3/src", "workspaces/店 shop/2"])
def test_a_worktree_that_is_gone_bears_the_name_of_its_project(tmp_path: Path, gone: str) -> None:
    (tmp_path / ".cursor").mkdir()
    assert find_project(tmp_path / gone).root.name == "店 shop"
