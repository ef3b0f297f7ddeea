from __future__ import annotations

from pathlib import Path

import pytest

from memtool.install import own_texts
from memtool.install.claude_code.skill_files import skill_shares, skill_texts
from memtool.install.plans import Plan, carry_out, plan


def install_skills(environ: dict[str, str], *, dry_run: bool = False) -> Plan:
    return brought(environ, dry_run=dry_run, is_wanted=True)


def uninstall_skills(environ: dict[str, str]) -> Plan:
    return brought(environ, dry_run=False, is_wanted=False)


def brought(environ: dict[str, str], *, dry_run: bool, is_wanted: bool) -> Plan:
    planned = plan(skill_shares(environ), {"skills": is_wanted})
    if not dry_run:
        carry_out(planned, {})
    return planned


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}


def test_skills_come_and_go_and_the_second_time_nothing_changes(environ: dict[str, str], tmp_path: Path) -> None:
    assert len(install_skills(environ, dry_run=True).changes) == 3
    assert not (tmp_path / ".claude").exists()
    assert len(install_skills(environ).changes) == 3
    folder = tmp_path / ".claude" / "skills"
    assert sorted(path.name for path in folder.iterdir()) == ["memtool-forget", "memtool-recall", "memtool-remember"]
    for name in skill_texts("claude-code"):
        text = (folder / name / "SKILL.md").read_text(encoding="utf-8")
        assert text.startswith(f"---\nname: {name}\n")
        assert "记" in text or "忘" in text or "之前" in text
    assert install_skills(environ).changes == ()
    assert len(uninstall_skills(environ).changes) == 3
    assert not (tmp_path / ".claude").exists()


def test_an_older_skill_of_ours_is_brought_up_to_date(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    from memtool.install.claude_code import skill_files

    install_skills(environ)
    name, text = "memtool-recall", "---\nname: memtool-recall\n---\n\n新\n"
    marked = own_texts.marked(text, "skill", "claude-code", at=len(text))
    monkeypatch.setattr(skill_files, "skill_texts", lambda _: {name: marked})
    assert {change.path.parent.name for change in install_skills(environ).changes} == {
        "memtool-forget", "memtool-recall", "memtool-remember",
    }  # fmt: skip


def test_a_skill_that_the_user_wrote_or_edited_stays(environ: dict[str, str], tmp_path: Path) -> None:
    install_skills(environ)
    edited = tmp_path / ".claude" / "skills" / "memtool-recall" / "SKILL.md"
    edited.write_text(edited.read_text(encoding="utf-8").replace("1. ", "1) ", 1), encoding="utf-8")
    own = tmp_path / ".claude" / "skills" / "memtool-own" / "SKILL.md"
    own.parent.mkdir()
    own.write_text("我的\n", encoding="utf-8")
    assert install_skills(environ).notices == (f"'{edited}' stays as you have edited it",)
    assert len(uninstall_skills(environ).changes) == 2
    assert edited.is_file()
    assert own.is_file()
