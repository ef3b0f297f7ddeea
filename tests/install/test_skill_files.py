from __future__ import annotations

from pathlib import Path

import pytest

from memtool.install.own_texts import OwnFile, marked, skill_files
from memtool.install.plans import Plan, carry_out, plan

NAMES = ["memtool-forget", "memtool-recall", "memtool-remember"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".claude" / "skills"


def bring(folder: Path, *, is_wanted: bool = True) -> Plan:
    planned = plan(skill_files(folder, "claude-code"), {"skills": is_wanted})
    carry_out(planned, {})
    return planned


def test_skills_come_and_go_and_the_second_time_nothing_changes(folder: Path, tmp_path: Path) -> None:
    assert len(bring(folder).changes) == 3
    assert sorted(path.name for path in folder.iterdir()) == NAMES
    for name in NAMES:
        text = (folder / name / "SKILL.md").read_text(encoding="utf-8")
        assert text.startswith(f"---\nname: {name}\n")
        assert "记" in text or "忘" in text or "之前" in text
    assert bring(folder).changes == ()
    assert len(bring(folder, is_wanted=False).changes) == 3
    assert list(tmp_path.iterdir()) == []


def test_older_skills_of_ours_are_brought_up_to_date_or_go(folder: Path) -> None:
    text = "---\nname: x\n---\n\n旧\n"
    old = marked(text, "skill", "claude-code", at=len(text))
    files = [OwnFile("skills", folder / name / "SKILL.md", old) for name in ("memtool-recall", "memtool-gone")]
    carry_out(plan(files, {"skills": True}), {})
    bring(folder)
    assert sorted(path.name for path in folder.iterdir() if (path / "SKILL.md").exists()) == NAMES
    assert "旧" not in (folder / "memtool-recall" / "SKILL.md").read_text(encoding="utf-8")


def test_a_skill_that_the_user_wrote_or_edited_stays(folder: Path) -> None:
    bring(folder)
    edited, own = folder / "memtool-recall" / "SKILL.md", folder / "memtool-own" / "SKILL.md"
    edited.write_text(edited.read_text(encoding="utf-8").replace("1. ", "1) ", 1), encoding="utf-8")
    own.parent.mkdir()
    own.write_text("我的\n", encoding="utf-8")
    assert bring(folder).notices == (f"'{edited}' keeps your edits",)
    assert len(bring(folder, is_wanted=False).changes) == 2
    assert edited.is_file()
    assert own.is_file()
