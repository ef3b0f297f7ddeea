"""`memtool log`, `undo` and `diff`, on a vault with a history."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from client_transcripts import edit, prompt, write_transcript
from hook.agent import Agent

from memtool.capture import queue
from memtool.history.template import make_vault

if TYPE_CHECKING:
    from pathlib import Path

    from terminal import Memtool

    from memtool.vault.layout import Vault


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    """A vault with a history, and the folder in which the commands are run."""
    vault = make_vault(tmp_path / "记忆").vault
    monkeypatch.chdir(vault.root)
    return vault


def commit_by_hand(vault: Vault, name: str, text: str, message: str) -> None:
    (vault.root / name).write_text(text, encoding="utf-8")
    name_options = ("-c", "user.name=安娜", "-c", "user.email=a@b")
    for command in (("add", name), (*name_options, "commit", "-q", "-m", message)):
        subprocess.run(["git", "-C", str(vault.root), *command], check=True, capture_output=True)


@pytest.mark.slow
def test_a_deed_is_shown_undone_and_shown_as_undone(memtool: Memtool, here: Vault) -> None:
    memtool("remember", "令牌有效期为 24 小时", "--global", "--category", "configuration")
    commit_by_hand(here, "MEMORY.md", "# 我的\n", "tidy my page")
    shown = memtool("log").out
    lines = shown.split("\n")
    assert re.fullmatch(r"1  \d{4}-\d\d-\d\d \d\d:\d\d  tidy my page \(by 安娜\)", lines[0])
    assert "令牌有效期为 24 小时" in shown
    assert "areas/global/facts.json" in shown
    assert "令牌" in memtool("diff", "2").out
    undone = memtool("undo")
    assert "Reverted: remember: " in undone.out
    assert "1 file changed: areas/global/facts.json" in undone.out
    assert "令牌" not in (here.root / "areas/global/facts.json").read_text(encoding="utf-8")
    answer = memtool("log", "--json").answer
    assert answer["format"] == 1
    assert [change["deed"] for change in answer["changes"]] == ["undo", "", "remember", "init"]
    assert answer["changes"][2]["undone_by"] == answer["changes"][0]["commit"]
    assert f"reverted by {answer['changes'][0]['commit'][:10]}" in memtool("log").out
    back = undone.err.partition("Undo: memtool ")[2].split()
    assert memtool("undo", back[-1]).code == 0
    assert "令牌" in (here.root / "areas/global/facts.json").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_users_own_change_is_named_and_taken_back_by_its_id_only(memtool: Memtool, here: Vault) -> None:
    commit_by_hand(here, "MEMORY.md", "# 我的\n", "整理")
    refused = memtool("undo", "1")
    assert refused.code == 2
    assert "change 1 is not memtool's: '整理' by 安娜" in refused.err
    commit = memtool("log", "--json").answer["changes"][0]["commit"]
    assert f"`memtool undo {commit[:10]}`" in refused.err
    assert memtool("undo", commit[:10]).code == 0
    assert memtool("undo").code == 2


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_the_log_has_pages_and_filters(memtool: Memtool) -> None:
    for number in range(3):
        memtool("remember", f"第 {number} 件事是 {number} 号门", "--project", "商店", "--force")
    memtool("remember", "tea is green", "--global")
    assert memtool("log", "-n", "2").err == "page 1 of 3; `--page 2` shows the next\n"
    second = memtool("log", "-n", "2", "--page", "2", "--json").answer
    assert (second["page"], second["pages"], second["total"]) == (2, 3, 5)
    assert [change["number"] for change in second["changes"]] == [3, 4]
    assert [change["number"] for change in memtool("log", "--project", "商店", "--json").answer["changes"]] == [2, 3, 4]
    assert [one["number"] for one in memtool("log", "areas/global", "--json").answer["changes"]] == [1, 5]
    assert memtool("log", "nothing.md").err == "No change is known.\n"


@pytest.mark.slow
def test_what_waits_and_what_differs_since_a_day_is_shown(memtool: Memtool, here: Vault) -> None:
    assert memtool("diff", "--uncommitted").err == "Nothing differs.\n"
    (here.root / "MEMORY.md").write_text("# 新\n", encoding="utf-8")
    shown = memtool("diff", "--uncommitted").out
    assert shown.startswith("not committed yet\n\nchanged: MEMORY.md\n")
    assert "+# 新\n" in shown
    assert "added: CLAUDE.md" in memtool("diff", "--since", "yesterday").out
    assert memtool("diff", "1", "--uncommitted").code == 2
    files = memtool("diff", "--json").answer["files"]
    assert {"path": "rules/prefix-map.json", "deed": "added", "lines": ["+{}"]} in files


@pytest.mark.usefixtures("notes")
def test_a_vault_without_git_says_what_is_missing(memtool: Memtool) -> None:
    for command in ("log", "undo", "diff"):
        ran = memtool(command)
        assert ran.code == 27
        assert "the vault has no history of its own: it is no git repository" in ran.err
        assert "memtool init" in ran.err


def test_a_file_that_steers_a_terminal_is_shown_without_it(memtool: Memtool, here: Vault) -> None:
    commit_by_hand(here, "a.md", "\x1b[2Jgone\n", "\x1b[31mred")
    assert "\x1b" not in memtool("log").out + memtool("diff").out


@pytest.mark.slow
def test_a_session_whose_capture_was_taken_back_is_not_captured_again(
    agent: Agent, memtool: Memtool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "start_worker", lambda *_: False)
    make_vault(agent.vault.root)
    transcript = agent.folder / "s1.jsonl"
    told = [prompt("飞艇停在哪里？ Where does the zeppelin dock?"), *edit(str(agent.project / "dock.md"))]

    def end_session() -> None:
        write_transcript(transcript, told)
        agent.fire("SessionEnd", transcript_path=str(transcript))
        memtool("capture", "--drain")

    before = set((agent.vault.root / "sessions").glob("*.md"))
    end_session()
    notes = sorted(set((agent.vault.root / "sessions").glob("*.md")) - before)
    assert len(notes) == 1
    newest = next(one for one in memtool("log", "--json").answer["changes"] if one["deed"] == "capture")
    assert f"(sessions/{notes[0].name})" in newest["reason"]
    assert memtool("undo", "--json").answer["undoes"] == newest["commit"]
    assert not notes[0].exists()
    told += edit(str(agent.project / "again.md"))
    end_session()
    assert not notes[0].exists()
    undo = next(one for one in memtool("log", "--json").answer["changes"] if one["deed"] == "undo")
    memtool("undo", undo["commit"])
    assert notes[0].exists()
    told += edit(str(agent.project / "third.md"))
    end_session()
    assert "third.md" in notes[0].read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_the_user_wrote_into_the_same_file_is_a_commit_of_its_own(memtool: Memtool, here: Vault) -> None:
    memtool("remember", "write the tests", "--kind", "todo", "--project", "商店")
    todos = here.root / "areas/projects/商店/todos.md"
    todos.write_text(todos.read_text(encoding="utf-8") + "- [ ] 我自己写的\n", encoding="utf-8")
    memtool("remember", "写文档", "--kind", "todo", "--project", "商店")
    changes = memtool("log", "--json").answer["changes"]
    assert [(one["deed"], one["subject"].partition(":")[0]) for one in changes[:2]] == [
        ("remember", "remember"), ("", "keep"),
    ]  # fmt: skip
    assert "我自己写的" not in memtool("diff", "1").out.replace(" - [ ] 我自己写的", "")
    memtool("undo")
    assert "我自己写的" in todos.read_text(encoding="utf-8")
    assert "写文档" not in todos.read_text(encoding="utf-8")
