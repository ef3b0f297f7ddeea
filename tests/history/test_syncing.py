from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from two_machines import TwoMachines, git

from memtool.capture.daily_lines import change_daily, daily_ref
from memtool.errors import HistoryFailed, RemoteFailed
from memtool.history import driver
from memtool.history.changes import read_changes
from memtool.history.commits import commit
from memtool.history.driver import driver_command, driver_problem, install_driver
from memtool.history.syncing import find_remote, sync, unsolved
from memtool.history.template import make_vault
from memtool.history.uncommitted import note_uncommitted
from memtool.vault.daily import DailyEntry, add_entries, listed_entries, render_daily
from memtool.vault.facts import Fact, add, archive, supersede, update_facts
from memtool.vault.marks import FIRST

if TYPE_CHECKING:
    from memtool.vault.layout import Vault

DAY = date(2026, 11, 22)
DAILY = "daily/2026-11-22.md"
FACTS = "areas/projects/商店/facts.json"


@pytest.fixture
def machines(tmp_path: Path) -> TwoMachines:
    return TwoMachines(tmp_path)


def a_fact(number: str) -> Fact:
    return Fact(id=f"f-{number}", fact=f"事实 {number}", evidence="x", timestamp="2026-11-22", category="code")


@pytest.mark.slow
def test_what_both_captured_on_one_day_is_on_both(machines: TwoMachines) -> None:
    for vault, minute in ((machines.one, "09:00"), (machines.two, "08:00")):
        machines.write(vault, DAILY, render_daily(DAY, [DailyEntry(minute, "商店", (f"{minute}.ts",))]))
        update_facts(vault, FACTS, lambda facts, minute=minute: add(facts, a_fact(minute)))  # type: ignore[misc]
        commit(vault.root, [FACTS], "remember: x")
    machines.meet()
    assert [entry.minute for entry in listed_entries((machines.one.root / DAILY).read_text())] == ["08:00", "09:00"]
    assert [fact["id"] for fact in json.loads((machines.two.root / FACTS).read_text())["facts"]] == [
        "f-08:00",
        "f-09:00",
    ]
    newest = read_changes(machines.one)[0]
    assert (newest.deed, newest.subject) == ("sync", "sync: 2 changes of another machine")


@pytest.mark.slow
def test_what_memtool_wrote_is_sent_and_what_the_user_wrote_stays(machines: TwoMachines) -> None:
    machines.write(machines.one, DAILY, render_daily(DAY), "")
    note_uncommitted(machines.one, [DAILY])
    machines.write(machines.one, "我的 笔记.md", "mine\n", "")
    done = machines.sync(machines.one)
    assert (done.sent, done.waiting) == (1, ("我的 笔记.md",))
    assert machines.sync(machines.two).received == 1
    assert (machines.two.root / DAILY).exists()
    assert not (machines.two.root / "我的 笔记.md").exists()
    assert machines.sync(machines.one, edits=True).waiting == ()
    assert read_changes(machines.one)[0].deed == ""
    machines.sync(machines.two)
    assert (machines.two.root / "我的 笔记.md").read_text() == "mine\n"


@pytest.mark.slow
def test_an_edit_that_is_not_committed_is_never_merged_over(machines: TwoMachines) -> None:
    machines.write(machines.one, "MEMORY.md", "one\n")
    machines.sync(machines.one)
    machines.write(machines.two, "MEMORY.md", "我正在写\n", "")
    with pytest.raises(HistoryFailed, match=r"changed and not committed: 'MEMORY\.md'") as caught:
        machines.sync(machines.two)
    assert "--edits" in caught.value.hint
    assert (machines.two.root / "MEMORY.md").read_text() == "我正在写\n"
    assert machines.sync(machines.two, edits=True).unsolved == ("MEMORY.md",)


@pytest.mark.slow
def test_a_conflict_in_prose_keeps_both_texts_and_is_named_until_it_is_solved(machines: TwoMachines) -> None:
    for vault, text in ((machines.one, "甲\n"), (machines.two, "乙\n")):
        machines.write(vault, "MEMORY.md", f"# 记忆\n\n{text}")
        machines.write(vault, "memtool.toml", f"# {text}")
    machines.sync(machines.one)
    done = machines.sync(machines.two)
    assert done.unsolved == ("MEMORY.md",)
    machines.meet()
    both = (machines.one.root / "MEMORY.md").read_text()
    assert both.startswith(f"# 记忆\n\n{FIRST}\n")
    assert {"甲", "乙"} <= set(both.split("\n"))
    settings = [path.read_text(encoding="utf-8") for path in machines.one.root.glob("memtool*.toml")]
    assert sorted(settings) == ["# 乙\n", "# 甲\n"]
    assert unsolved(machines.one) == ("MEMORY.md",)
    machines.write(machines.one, "MEMORY.md", "# 记忆\n\n甲乙\n")
    assert machines.sync(machines.one).unsolved == ()


@pytest.mark.slow
def test_what_one_removed_and_the_other_changed_is_kept(machines: TwoMachines) -> None:
    machines.write(machines.one, "a.md", "一\n")
    machines.meet()
    (machines.one.root / "a.md").unlink()
    commit(machines.one.root, ["a.md"], "forget: a")
    machines.write(machines.two, "a.md", "二\n")
    machines.meet()
    assert (machines.one.root / "a.md").read_text() == "二\n"


@pytest.mark.slow
def test_a_note_that_one_archived_and_the_other_captured_again_is_one_note(machines: TwoMachines) -> None:
    text = "".join(f"第 {number} 行 line\n" for number in range(20))
    machines.write(machines.one, "sessions/x.md", text)
    machines.meet()
    (machines.one.root / "archive/sessions").mkdir(parents=True, exist_ok=True)
    (machines.one.root / "sessions/x.md").rename(machines.one.root / "archive/sessions/x.md")
    commit(machines.one.root, ["sessions/x.md", "archive/sessions/x.md"], "consolidate: 2026-W47")
    machines.write(machines.two, "sessions/x.md", text + "再一行\n")
    machines.meet()
    assert (machines.one.root / "archive/sessions/x.md").read_text() == text + "再一行\n"
    assert not (machines.one.root / "sessions/x.md").exists()


@pytest.mark.slow
def test_a_push_that_was_too_late_is_tried_again(machines: TwoMachines) -> None:
    machines.write(machines.one, "a.md", "1\n")
    tries: list[int] = []

    def other_machine(attempt: int) -> None:
        tries.append(attempt)

    def quicker() -> None:  # between our merge and our push
        if len(tries) < 2:
            machines.write(machines.two, f"b{len(tries)}.md", "1\n")
            machines.sync(machines.two)

    machines.write(machines.two, "first.md", "1\n")
    machines.sync(machines.two)
    done = sync(machines.one, wait=other_machine, after_merge=quicker)
    assert tries == [1, 2]
    assert done.received == 3
    machines.meet()


@pytest.mark.slow
def test_two_vaults_that_began_by_themselves_are_joined_when_asked(machines: TwoMachines, tmp_path: Path) -> None:
    other = make_vault(tmp_path / "other").vault
    git(other.root, "commit", "-q", "--amend", "-m", "made in the same second, it would be the same commit")
    git(other.root, "remote", "add", "origin", str(machines.remote))
    machines.write(other, "areas/global/knowledge/茶.md", "茶\n")
    with pytest.raises(RemoteFailed, match="began by itself") as caught:
        machines.sync(other)
    assert "--join" in caught.value.hint
    assert machines.sync(other, join=True).unsolved == ()
    machines.sync(machines.one)
    assert machines.texts(other) == machines.texts(machines.one)


@pytest.mark.slow
def test_the_remote_may_be_empty_and_lose_its_branch(machines: TwoMachines) -> None:
    git(machines.remote, "update-ref", "-d", "refs/heads/main")
    assert machines.sync(machines.one).sent > 0
    assert machines.sync(machines.one).sent == 0


def test_a_vault_without_a_remote_is_told_how_to_get_one(vault: Vault) -> None:
    with pytest.raises(RemoteFailed, match="no remote to synchronise with") as caught:
        sync(vault, wait=lambda _: None)
    assert "git remote add origin" in caught.value.hint
    assert driver_problem(vault) == ""


ADDRESSES = {
    "git@example.org:a/b.git": True, "example.org:b.git": True, "ssh://git@example.org/b.git": True,
    "https://example.org/b.git": True, "file:///srv/b.git": True, "/srv/记忆.git": True, "../b.git": True,
    "http://example.org/b.git": False, "git://example.org/b.git": False, "ext::sh -c touch% x": False,
    "transport::x": False, "--upload-pack=touch x": False, "-oProxyCommand=touch x:y": False, "": False,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("address", ADDRESSES)
def test_only_ssh_https_and_paths_are_spoken(vault: Vault, address: str) -> None:
    git(vault.root, "remote", "add", "origin", "/x")
    git(vault.root, "config", "remote.origin.url", address)
    if ADDRESSES[address]:
        assert find_remote(vault).address == address
    else:
        with pytest.raises(RemoteFailed):
            find_remote(vault)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (
            "ssh: Could not resolve hostname nowhere: x\nfatal: Could not read from remote repository.",
            "it cannot be reached",
        ),
        (
            "git@example.org: Permission denied (publickey).\nfatal: Could not read from remote repo",
            "it refuses who you are",
        ),
        (
            "fatal: could not read Username for 'https://example.org': terminal prompts disabled",
            "it refuses who you are",
        ),
        ("fatal: 'x' does not appear to be a git repository", "there is no repository"),
        ("fatal: transport 'ext' not allowed", "its protocol is not used"),
        ("remote: disk full\nfatal: the end at https://anna:secret@example.org/x", "refused: disk full"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
def test_what_git_says_becomes_one_sentence(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, meant: str
) -> None:
    git(vault.root, "remote", "add", "origin", "https://anna:secret@example.org/记忆.git")
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/said").write_text(said)
    script = f'#!/bin/sh\ncase "$*" in *" fetch "*) cat "{tmp_path}/bin/said" >&2; exit 128;; esac\nexec {real} "$@"\n'
    (tmp_path / "bin/git").write_text(script)
    (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(RemoteFailed) as caught:
        sync(vault, wait=lambda _: None)
    assert meant in str(caught.value)
    assert "https://example.org/记忆.git" in str(caught.value)
    assert "secret" not in f"{caught.value} {caught.value.hint}"


FOREIGN = {
    "core.sshCommand": "touch x", "core.gitProxy": "touch x", "core.askPass": "touch x",
    "credential.helper": "!touch x", "credential.https://example.org.helper": "!touch x",
    "remote.origin.uploadPack": "touch x", "remote.origin.receivePack": "touch x", "remote.origin.vcs": "ext",
    "merge.other.driver": "touch x", "filter.x.smudge": "touch x", "protocol.ext.allow": "always",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", FOREIGN)
def test_a_clone_whose_settings_name_a_program_is_not_synchronised(machines: TwoMachines, name: str) -> None:
    machines.write(machines.one, "a.md", "1\n")
    machines.sync(machines.one)
    machines.write(machines.two, "a.md", "2\n")
    git(machines.two.root, "config", name, FOREIGN[name])
    with pytest.raises(HistoryFailed, match="name a program for git to run"):
        machines.sync(machines.two)


@pytest.mark.slow
def test_a_forged_command_of_our_driver_is_replaced_before_it_could_run(machines: TwoMachines) -> None:
    git(machines.two.root, "config", "merge.memtool.driver", f"touch {machines.remote}/sprung")
    assert "does not know" in driver_problem(machines.two)
    for vault in (machines.one, machines.two):
        machines.write(vault, DAILY, render_daily(DAY, [DailyEntry("09:00", str(vault.root.name), ("a",))]))
    machines.meet()
    assert not (machines.remote / "sprung").exists()
    assert driver_problem(machines.two) == ""


def test_attributes_of_the_clone_stay_and_get_the_driver_named(vault: Vault) -> None:
    path = vault.root / ".git/info/attributes"
    path.parent.mkdir(exist_ok=True)
    path.write_text("*.png binary\n*.md merge=union\n")
    git(vault.root, "remote", "add", "origin", "/x")
    assert "does not know" in driver_problem(vault)
    install_driver(vault)
    assert path.read_text().startswith("*.png binary\n*.md merge=union\n\n#")
    before = path.read_text()
    install_driver(vault)
    assert path.read_text() == before
    assert driver_problem(vault) == ""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the driver is run by a shell")
def test_a_pull_of_the_user_merges_with_the_driver_and_without_memtool_line_by_line(
    machines: TwoMachines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def diverge(minute: str) -> None:
        for vault, name in ((machines.one, "一.ts"), (machines.two, "二.ts")):
            before = (vault.root / DAILY).read_text() if (vault.root / DAILY).exists() else render_daily(DAY)
            machines.write(vault, DAILY, add_entries(before, [DailyEntry(minute, "商店", (name,))]))
        git(machines.one.root, "push", "-q", "origin", "main")

    diverge("09:00")
    git(machines.two.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    assert "- 09:00 **商店**: `一.ts`, `二.ts`\n" in (machines.two.root / DAILY).read_text()
    git(machines.two.root, "push", "-q", "origin", "main")
    git(machines.one.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    monkeypatch.setattr(driver, "_MODULE", "memtool_that_is_gone")
    install_driver(machines.two)
    diverge("09:01")
    with pytest.raises(subprocess.CalledProcessError):
        git(machines.two.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    assert "<<<<<<< " in (machines.two.root / DAILY).read_text()


def test_the_command_of_the_driver_survives_odd_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/opt/my 100% python/它's")
    assert driver_command().startswith(
        "'/opt/my 100%% python/它'\"'\"'s' -E -P -m memtool.cli.merge_driver %O %A %B %P;"
    )


@pytest.mark.slow
def test_a_hundred_changes_on_each_side_in_any_order_are_all_there_once(tmp_path: Path) -> None:
    """Two machines capture and change facts at random, and synchronise at random."""
    chance = random.Random(1)
    machines = TwoMachines(tmp_path)
    wanted: set[tuple[str, str, str]] = set()
    made: set[str] = set()
    for number in range(200):
        vault = (machines.one, machines.two)[number % 2]
        if chance.random() < 0.5:
            entry = DailyEntry(f"{chance.randrange(24):02}:{chance.randrange(3):02}", "商店", (f"文件{number}.ts",))
            change_daily(vault, DAY, lambda text, entry=entry: add_entries(text, [entry]), language="zh")  # type: ignore[misc]
            note_uncommitted(vault, [daily_ref(vault, DAY)])
            wanted.add((entry.minute, entry.project, entry.files[0]))
        else:
            made.add(_change_a_fact(vault, str(number), chance))
            note_uncommitted(vault, [FACTS])
        if chance.random() < 0.12:
            machines.sync(vault)
    machines.meet()
    entries = listed_entries((machines.one.root / DAILY).read_text(encoding="utf-8"))
    found = [(entry.minute, entry.project, name) for entry in entries for name in entry.files]
    assert sorted(found) == sorted(wanted)
    assert [entry.minute for entry in entries] == sorted(entry.minute for entry in entries)
    facts = json.loads((machines.one.root / FACTS).read_text(encoding="utf-8"))["facts"]
    assert sorted(fact["id"] for fact in facts) == sorted(made)
    by_id = {fact["id"]: fact for fact in facts}
    assert all(by_id[fact["id"]]["status"] == "superseded" for fact in facts if fact.get("supersededBy"))
    assert all(fact["supersededBy"] in by_id for fact in facts if fact["status"] == "superseded")


def _change_a_fact(vault: Vault, number: str, chance: random.Random) -> str:
    """Add a fact, in half of the cases in place of another one or with another one archived; return its id."""
    new = a_fact(number)

    def change(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
        active = [fact for fact in facts if fact.status == "active"]
        deed = chance.random()
        if active and deed < 0.3:
            return supersede(facts, chance.choice(active).id, new)
        facts = archive(facts, chance.choice(active).id) if active and deed < 0.5 else facts
        return add(facts, new)

    update_facts(vault, FACTS, change)
    return new.id


@pytest.mark.slow
def test_of_a_file_that_cannot_be_merged_the_other_version_stands_beside_it(machines: TwoMachines) -> None:
    for vault, text in ((machines.one, "{}\n"), (machines.two, '{"甲": 1}\n')):
        machines.write(vault, "rules/prefix-map.json", f"\n{text}")
    machines.meet()
    found = sorted(path.read_text(encoding="utf-8") for path in machines.one.root.glob("rules/prefix-map*.json"))
    assert found == ['\n{"甲": 1}\n', "\n{}\n"]
