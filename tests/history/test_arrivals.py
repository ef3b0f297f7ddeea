"""What a remote brings, looked at before it is taken."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from two_machines import TwoMachines, git

from memtool.errors import RemoteFailed
from memtool.history.commits import commit
from memtool.history.mending import locked
from memtool.vault.facts import Fact, add, parse_facts, update_facts

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="makes links and odd names")]
FACTS = "areas/projects/商店/facts.json"
SECRET = "只在这里 private"


@pytest.fixture
def machines(tmp_path: Path) -> TwoMachines:
    return TwoMachines(tmp_path)


def plant(machines: TwoMachines, path: str, content: str, mode: str = "100644") -> str:
    """Commit an entry that git's own commands refuse to make, and push it; return the commit."""
    root = machines.one.root

    def stored(data: bytes, kind: str) -> str:
        command = ["git", "-C", str(root), "hash-object", "-w", "--literally", "-t", kind, "--stdin"]
        return subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode().strip()

    child = content if mode == "160000" else stored(content.encode(), "blob")
    for step in reversed(path.split("/")):
        tree = stored(f"{mode} {step}\0".encode() + bytes.fromhex(child), "tree")
        child, mode = tree, "40000"
    rows = git(root, "ls-tree", "-z", "HEAD").split("\0")[:-1]
    top = path.split("/", maxsplit=1)[0]
    entry = subprocess.run(["git", "-C", str(root), "cat-file", "tree", child], capture_output=True, check=True).stdout
    entries = [entry, *(_entry(row) for row in rows if row.partition("\t")[2] != top)]
    whole = stored(b"".join(sorted(entries, key=lambda one: bytes(one).split(b" ", 1)[1])), "tree")
    made = git(root, "commit-tree", whole, "-p", "HEAD", "-m", "remember: 有毒").strip()
    git(root, "push", "-q", "origin", f"{made}:refs/heads/main")
    return made


def _entry(row: str) -> bytes:
    about, _, name = row.partition("\t")
    mode, _, blob = about.split()
    return f"{mode.lstrip('0')} {name}\0".encode() + bytes.fromhex(blob)


@pytest.mark.parametrize(
    ("path", "mode"),
    [
        ("笔记/link.md", "120000"), (".memtool", "120000"), (".memtool/queue/job.json", "100644"),
        (".MemTool/locks/x", "100644"), (".memtool./x", "100644"), ("MEMTOO~1/x", "100644"),
        (".mem\u200ctool/x", "100644"), (".memtool::$INDEX_ALLOCATION", "100644"), ("笔记/.GIT/config", "100644"),
        ("git~1/config", "100644"), (".gitmodules", "100644"), (".Gitattributes", "100644"),
        ("笔记/.gitignore ", "100644"), ("a\\.git\\config", "100644"), ("sub", "160000"),
    ],
)  # fmt: skip
def test_what_is_no_file_of_a_vault_is_refused_by_name_and_change(machines: TwoMachines, path: str, mode: str) -> None:
    made = plant(
        machines, path, "/etc" if mode != "160000" else git(machines.one.root, "rev-parse", "HEAD").strip(), mode
    )
    job = machines.two.state_path / "queue" / "job.json"
    job.parent.mkdir(parents=True)
    job.write_text("mine")
    before = machines.texts(machines.two)
    with pytest.raises(RemoteFailed, match="the remote brings") as refused:
        machines.sync(machines.two)
    assert f"'{path}'" in str(refused.value)
    assert made[:7] in str(refused.value)
    assert machines.texts(machines.two) == before
    assert job.read_text() == "mine"
    assert not machines.two.state_path.is_symlink()


@pytest.mark.parametrize("path", [".gitattributes", "笔记/.gitignore", ".github/workflows/check.yml", "笔记/.gitkeep"])
def test_files_of_git_that_a_vault_may_have_arrive(machines: TwoMachines, path: str) -> None:
    machines.write(machines.one, path, "# 我的\n")
    machines.meet()
    assert (machines.two.root / path).read_text() == "# 我的\n"


def test_what_only_this_machine_ignores_is_put_aside_and_named(machines: TwoMachines) -> None:
    root = machines.two.root
    (root / ".git/info/exclude").write_text("日记.md\nprivate/\nfolder\nsame.md\n")
    (root / "private").mkdir()
    kept = {"日记.md": SECRET, "private/a b.md": SECRET, "folder": SECRET, "same.md": "# same\n"}
    for name, text in kept.items():
        (root / name).write_text(text)
    for name in ("日记.md", "private/a b.md", "folder/x.md", "same.md"):
        machines.write(machines.one, name, f"# {Path(name).stem}\n")
    machines.sync(machines.one)
    done = machines.sync(machines.two)
    assert set(done.aside) == {"日记.md", "private/a b.md", "folder"}
    assert [(root / beside).read_text() for beside in done.aside.values()] == [SECRET] * 3
    assert (root / "folder/x.md").read_text() == "# x\n"
    assert (root / "日记.md").read_text() == "# 日记\n"
    assert done.waiting == ()
    assert SECRET not in git(root, "log", "-p", "--all")
    assert machines.sync(machines.two, edits=True).aside == {}
    assert git(root, "status", "--porcelain") == ""


def test_what_was_put_aside_goes_back_if_nothing_is_merged(machines: TwoMachines) -> None:
    root = machines.two.root
    (root / ".git/info/exclude").write_text("日记.md\n")
    (root / "日记.md").write_text(SECRET)
    machines.write(machines.two, "MEMORY.md", "# mine, 没提交\n", "")
    for name in ("日记.md", "MEMORY.md"):
        machines.write(machines.one, name, "# theirs\n")
    machines.sync(machines.one)
    with pytest.raises(Exception, match="not committed"):
        machines.sync(machines.two)
    assert (root / "日记.md").read_text() == SECRET
    assert not list(root.glob("*.local-*"))


@pytest.mark.parametrize("lines", ["facts.json merge=union\n", "* -merge\n", "*.json binary\n*.md binary\n"])
def test_attributes_within_the_vault_do_not_decide_how_facts_are_merged(machines: TwoMachines, lines: str) -> None:
    machines.write(machines.one, "areas/.gitattributes", lines)
    machines.write(machines.one, "areas/projects/商店/.gitattributes", lines)
    machines.meet()
    for vault in (machines.one, machines.two):
        name = vault.root.name
        new = Fact(id=f"f-{name}", fact=f"事实 {name}", evidence="x", timestamp="2026-11-22", category="code")
        update_facts(vault, FACTS, lambda facts, new=new: add(facts, new))  # type: ignore[misc]
        commit(vault.root, [FACTS], f"remember: {name}")
    machines.meet()
    assert {fact.id for fact in parse_facts((machines.one.root / FACTS).read_text()).facts} == {"f-one", "f-two"}


def test_two_syncs_at_once_wait_for_each_other(machines: TwoMachines) -> None:
    machines.write(machines.one, "a.md", "一\n")
    machines.sync(machines.one)
    began: list[float] = []
    with locked(machines.two, "sync"):
        other = threading.Thread(
            target=lambda: machines.sync(machines.two, after_merge=lambda: began.append(time.monotonic()))
        )
        other.start()
        time.sleep(0.3)
        assert not (machines.two.root / "a.md").exists()
        released = time.monotonic()
    other.join()
    assert began[0] > released
    assert os.path.lexists(machines.two.root / "a.md")
