from __future__ import annotations

import json
import subprocess
from datetime import date
from typing import TYPE_CHECKING

import pytest

from memtool.errors import HistoryFailed, UsageError
from memtool.history.changes import find_change, read_changes
from memtool.history.commits import commit
from memtool.history.undoing import Undone, undo
from memtool.vault.daily import DailyEntry, add_entries, render_daily
from memtool.vault.facts import Fact, add, archive, change as change_fact, supersede, update_facts

if TYPE_CHECKING:
    from pathlib import Path

    from memtool.vault.layout import Vault

DAY = date(2026, 11, 22)
DAILY = "daily/2026-11-22.md"
FACTS = "areas/projects/商店/facts.json"


def git(vault: Vault, *args: str) -> str:
    name = ("-c", "user.name=安娜", "-c", "user.email=anna@example.org")
    done = subprocess.run(["git", "-C", str(vault.root), *name, *args], capture_output=True, text=True, check=True)
    return done.stdout


def write(vault: Vault, ref: str, text: str | None, message: str = "capture: 商店: 登录") -> None:
    path = vault.root / ref
    if text is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if message:
        assert commit(vault.root, [ref], message)


def read(vault: Vault, ref: str) -> str:
    return (vault.root / ref).read_text(encoding="utf-8")


def take_back(vault: Vault, named: str = "") -> Undone:
    return undo(vault, find_change(vault, named))


def is_clean(vault: Vault) -> bool:
    return git(vault, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_change_is_taken_back_and_brought_back(vault: Vault) -> None:
    write(vault, "笔记/新 一.md", "一\n")
    write(vault, "MEMORY.md", "新的记忆\n")
    done = take_back(vault, "2")
    assert done.refs == ("笔记/新 一.md",)
    assert not (vault.root / "笔记/新 一.md").exists()
    assert read(vault, "MEMORY.md") == "新的记忆\n"
    assert is_clean(vault)
    newest = read_changes(vault)[0]
    assert (newest.subject, newest.deed) == ("undo: capture: 商店: 登录", "undo")
    assert newest.reason.startswith("You took back what was done on ")
    undo(vault, newest)
    assert read(vault, "笔记/新 一.md") == "一\n"
    assert read_changes(vault)[0].subject == "redo: capture: 商店: 登录"
    assert is_clean(vault)


@pytest.mark.slow
def test_without_a_name_it_steps_back_one_change_after_the_other(vault: Vault) -> None:
    for text in ("一\n", "二\n", "三\n"):
        write(vault, "a.md", text, f"remember: {text}")
    assert [take_back(vault).change.subject for _ in range(3)] == ["remember: 三", "remember: 二", "remember: 一"]
    assert not (vault.root / "a.md").exists()
    with pytest.raises(UsageError, match="no change that could be taken back"):
        take_back(vault)


@pytest.mark.slow
def test_what_was_taken_back_already_is_not_taken_back_again(vault: Vault) -> None:
    write(vault, "a.md", "一\n")
    done = take_back(vault)
    with pytest.raises(UsageError, match="taken back already") as caught:
        take_back(vault, "2")
    assert done.commit[:10] in caught.value.hint


@pytest.mark.slow
def test_what_the_user_wrote_and_did_not_commit_stays_and_is_not_committed(vault: Vault) -> None:
    write(vault, "a.md", "一\n二\n三\n四\n", "")
    git(vault, "add", "a.md")
    git(vault, "commit", "-q", "-m", "mine")
    write(vault, "a.md", "一\n二 changed\n三\n四\n")
    write(vault, "a.md", "一\n二 changed\n三\n四\n我自己的\n", "")
    write(vault, "b.md", "untracked", "")
    write(vault, "MEMORY.md", "staged\n", "")
    git(vault, "add", "MEMORY.md")
    take_back(vault)
    assert read(vault, "a.md") == "一\n二\n三\n四\n我自己的\n"
    assert git(vault, "show", "HEAD:a.md") == "一\n二\n三\n四\n"
    assert git(vault, "status", "--porcelain") == "M  MEMORY.md\n M a.md\n?? b.md\n"
    assert git(vault, "show", "--format=", "--name-only") == "a.md\n"


@pytest.mark.slow
def test_an_edit_in_the_same_place_is_a_sentence_that_names_the_file_and_changes_nothing(vault: Vault) -> None:
    write(vault, "a.md", "一\n", "")
    write(vault, "路.md", "1\n", "")
    commit(vault.root, ["a.md", "路.md"], "capture: x")
    write(vault, "a.md", "一 二\n", "")
    before = git(vault, "rev-parse", "HEAD")
    with pytest.raises(HistoryFailed, match=r"because 'a\.md' changed since"):
        take_back(vault)
    assert git(vault, "rev-parse", "HEAD") == before
    assert read(vault, "路.md") == "1\n"
    write(vault, "a.md", "一 二\n", "remember: 二")
    with pytest.raises(HistoryFailed, match=r"because 'a\.md' changed since"):
        take_back(vault, "2")


def test_what_the_user_staged_of_the_same_file_is_a_sentence(vault: Vault) -> None:
    write(vault, "a.md", "一\n")
    write(vault, "a.md", "一\n二\n", "")
    git(vault, "add", "a.md")
    with pytest.raises(HistoryFailed, match=r"staged changes of 'a\.md'"):
        take_back(vault)


@pytest.mark.slow
def test_a_line_is_taken_back_although_more_was_written_next_to_it(vault: Vault) -> None:
    text = render_daily(DAY, [DailyEntry("09:00", "商店", ("a.ts",))])
    for minute, name in (("09:01", "二.ts"), ("09:02", "c.ts")):
        write(vault, DAILY, text)
        text = add_entries(text, [DailyEntry(minute, "商店", (name,))])
    write(vault, DAILY, text)
    take_back(vault, "2")
    assert "二.ts" not in read(vault, DAILY)
    assert "- 09:00 **商店**: `a.ts`\n- 09:02 **商店**: `c.ts`\n" in read(vault, DAILY)


@pytest.mark.slow
def test_a_daily_note_that_it_began_keeps_what_others_wrote_into_it(vault: Vault) -> None:
    first = render_daily(DAY, [DailyEntry("09:00", "商店", ("a.ts",))])
    write(vault, DAILY, first)
    write(vault, DAILY, add_entries(first, [DailyEntry("08:00", "", ("b.ts",))]))
    take_back(vault, "2")
    assert read(vault, DAILY) == render_daily(DAY, [DailyEntry("08:00", "", ("b.ts",))])


@pytest.mark.slow
def test_a_fact_is_taken_back_and_one_that_was_archived_is_active_again(vault: Vault) -> None:
    for number in (1, 2, 3):
        new = Fact(id=f"f{number}", fact=f"事实 {number}", evidence="x", timestamp="2026-11-22", category="code")
        update_facts(vault, FACTS, lambda facts, new=new: add(facts, new))  # type: ignore[misc]
        commit(vault.root, [FACTS], f"remember: {number}")
    update_facts(vault, FACTS, lambda facts: archive(facts, "f2"))
    commit(vault.root, [FACTS], "forget: 2")
    before = read(vault, FACTS)
    take_back(vault, "4")
    take_back(vault, "2")
    assert [(one["id"], one["status"]) for one in json.loads(read(vault, FACTS))["facts"]] == [
        ("f2", "active"), ("f3", "active"),
    ]  # fmt: skip
    take_back(vault, "1")
    take_back(vault, "3")
    assert read(vault, FACTS) == before


@pytest.mark.slow
def test_of_two_chained_supersedes_the_first_is_not_taken_back_alone(vault: Vault) -> None:
    def fact(number: int) -> Fact:
        return Fact(id=f"f{number}", fact=f"端口 {number}", evidence="x", timestamp="2026-11-22", category="code")

    update_facts(vault, FACTS, lambda facts: add(facts, fact(1)))
    commit(vault.root, [FACTS], "remember: 1")
    for number in (2, 3):
        update_facts(vault, FACTS, lambda facts, number=number: supersede(facts, f"f{number - 1}", fact(number)))  # type: ignore[misc]
        commit(vault.root, [FACTS], f"remember: {number}")
    before = read(vault, FACTS)
    with pytest.raises(HistoryFailed, match=rf"'{FACTS}' changed since") as refused:
        take_back(vault, "2")
    assert "take that back first" in str(refused.value.hint)
    assert read(vault, FACTS) == before
    take_back(vault, "1")
    take_back(vault, "3")
    assert [(one["id"], one["status"]) for one in json.loads(read(vault, FACTS))["facts"]] == [("f1", "active")]


@pytest.mark.slow
def test_a_fact_that_was_changed_since_is_not_taken_away(vault: Vault) -> None:
    new = Fact(id="f1", fact="事实", evidence="x", timestamp="2026-11-22", category="code")
    update_facts(vault, FACTS, lambda facts: add(facts, new))
    commit(vault.root, [FACTS], "remember: 1")
    update_facts(vault, FACTS, lambda facts: change_fact(facts, "f1", tags=("新",)))
    commit(vault.root, [FACTS], "remember: 2")
    with pytest.raises(HistoryFailed, match="changed since"):
        take_back(vault, "2")
    assert "新" in read(vault, FACTS)


@pytest.mark.slow
def test_facts_of_a_weekly_run_are_archived_and_so_not_found_again(vault: Vault) -> None:
    def fact(number: int) -> Fact:
        return Fact(id=f"f{number}", fact=f"事实 {number}", evidence="x", timestamp="2026-11-22", category="code")

    def statuses() -> dict[str, str]:
        return {one["id"]: one["status"] for one in json.loads(read(vault, FACTS))["facts"]}

    update_facts(vault, FACTS, lambda facts: add(facts, fact(1)))
    commit(vault.root, [FACTS], "remember: 1")
    update_facts(vault, FACTS, lambda facts: supersede(facts, "f1", fact(2)))
    commit(vault.root, [FACTS], "consolidate: 2026-W47: 1 fact")
    update_facts(vault, FACTS, lambda facts: add(facts, fact(3)))
    commit(vault.root, [FACTS], "remember: 3")
    done = take_back(vault, "2")
    assert statuses() == {"f1": "active", "f2": "archived", "f3": "active"}
    take_back(vault, done.commit)
    assert statuses() == {"f1": "superseded", "f2": "active", "f3": "active"}
    assert json.loads(read(vault, FACTS))["facts"][1]["supersedes"] == "f1"


@pytest.mark.slow
def test_a_removed_and_a_moved_file_come_back(vault: Vault) -> None:
    write(vault, "sessions/x.md", "会话\n")
    (vault.root / "archive/sessions").mkdir(parents=True, exist_ok=True)
    (vault.root / "sessions/x.md").rename(vault.root / "archive/sessions/x.md")
    commit(vault.root, ["sessions/x.md", "archive/sessions/x.md"], "consolidate: 2026-W47")
    take_back(vault)
    assert read(vault, "sessions/x.md") == "会话\n"
    assert not (vault.root / "archive/sessions/x.md").exists()
    assert is_clean(vault)


@pytest.mark.slow
def test_the_beginning_and_a_merge_are_not_taken_back(vault: Vault) -> None:
    with pytest.raises(UsageError, match="beginning of a vault"):
        take_back(vault, "1")
    git(vault, "checkout", "-q", "-b", "side")
    write(vault, "a.md", "1\n")
    git(vault, "checkout", "-q", "main")
    write(vault, "b.md", "1\n")
    git(vault, "merge", "-q", "--no-edit", "side")
    with pytest.raises(UsageError, match="a merge of two histories"):
        take_back(vault, "1")


UNDER_WAY = {
    "merge": "MERGE_HEAD", "cherry-pick": "CHERRY_PICK_HEAD", "revert": "REVERT_HEAD", "bisect": "BISECT_LOG",
    "rebase": "rebase-merge",
}  # fmt: skip


@pytest.mark.parametrize("deed", UNDER_WAY)
def test_a_repository_with_something_under_way_is_left_alone(vault: Vault, deed: str) -> None:
    write(vault, "a.md", "一\n")
    head = git(vault, "rev-parse", "HEAD")
    (vault.root / ".git" / UNDER_WAY[deed]).write_text(head)
    with pytest.raises(HistoryFailed, match=f"a {deed} was left unfinished"):
        take_back(vault)
    write(vault, "a.md", "二\n", "")
    with pytest.raises(HistoryFailed, match=f"a {deed} was left unfinished"):
        commit(vault.root, ["a.md"], "capture: y")
    assert git(vault, "rev-parse", "HEAD") == head


def test_a_link_is_not_followed(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (vault.root / "a.md").symlink_to(tmp_path / "secret")
    commit(vault.root, ["a.md"], "capture: x")
    with pytest.raises(HistoryFailed, match="no file but a link"):
        take_back(vault)
    assert (tmp_path / "secret").read_text() == "secret"
