from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memtool.errors import NoteNotFound, OutsideVault
from memtool.history.changes import blame
from memtool.history.commits import commit
from memtool.history.template import make_vault

if TYPE_CHECKING:
    from pathlib import Path

    from terminal import Memtool

    from memtool.vault.layout import Vault


def write(vault: Vault, ref: str, text: str, message: str) -> None:
    path = vault.root / ref
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if message:
        commit(vault.root, [ref], message)


@pytest.mark.slow
def test_each_line_names_its_change_and_its_session(vault: Vault) -> None:
    daily = "daily/2026-11-22.md"
    head = "# 一天\n\n- 09:00 **商店**: `a.ts`\n"
    write(vault, daily, head, "capture: 商店: 登录\n\n- 商店: 登录 (sessions/one.md)")
    write(vault, daily, head + "- 09:01: [x](../sessions/two.md)\n", "capture: 2 sessions")
    write(vault, daily, head + "- 09:01: [x](../sessions/two.md)\n我写的\n", "")
    found = blame(vault, daily)
    assert [(one.first, one.last, one.change and one.change.subject, one.session) for one in found] == [
        (1, 3, "capture: 商店: 登录", "one"),
        (4, 4, "capture: 2 sessions", "two"),
        (5, 5, None, ""),
    ]
    assert blame(vault, daily, 4, 4) == found[1:2]
    write(vault, "areas/x.md", "---\nsources: [sessions/三.md]\n---\n\ntext\n", "remember: x")
    assert {one.session for one in blame(vault, "areas/x.md")} == {"三"}
    todos = "- [ ] a (from session 五)\n- [ ] 乙（来自会话 六）\n- [ ] c\n"
    write(vault, "areas/projects/商店/todos.md", todos, "remember: x")
    assert [one.session for one in blame(vault, "areas/projects/商店/todos.md")] == ["五", "六", ""]
    write(vault, "archive/sessions/四.md", "text\n", "capture: x")
    assert blame(vault, "archive/sessions/四.md")[0].session == "四"


def test_what_is_not_there_is_not_blamed(vault: Vault) -> None:
    for ref, first in (("无.md", 0), ("MEMORY.md", 99), ("--help", 0)):
        with pytest.raises(NoteNotFound):
            blame(vault, ref, first, first)
    with pytest.raises(OutsideVault):
        blame(vault, "../x.md")


@pytest.mark.slow
def test_a_fact_names_the_session_the_turn_and_the_change(
    memtool: Memtool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = make_vault(tmp_path / "记忆").vault
    monkeypatch.chdir(vault.root)
    done = memtool("remember", "令牌有效期为 24 小时", "--global", "--source", "3f2a9c#4", "--json").answer
    ran = memtool("blame", done["id"])
    lines = ran.out.split("\n")
    assert lines[0] == "areas/global/facts.json"
    assert f"{done['start_line']}-{done['end_line']}" in lines[1]
    assert "remember: " in lines[1]
    assert lines[2].strip() == "from 3f2a9c, turn 4"
    assert "令牌有效期为 24 小时" in ran.out
    answer = memtool("blame", done["id"], "--json").answer
    (line,) = answer["lines"]
    assert (answer["format"], line["session"], line["turn"], line["deed"]) == (1, "3f2a9c", 4, "remember")
    assert line["commit"].startswith(done["commit"])
    assert "Make a vault" in memtool("blame", "MEMORY").out
    assert "Make a vault" in memtool("blame", "memtool.toml:1-2").out
    assert memtool("blame", "nothing-like-it").code == 20
