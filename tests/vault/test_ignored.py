from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from memtool.vault.ignored import ignores
from memtool.vault.scan import scan


@pytest.mark.parametrize(
    ("pattern", "left_out", "kept"),
    [
        ("Templates/", ["Templates/a.md", "work/Templates/b/c.md"], ["Templates.md", "MyTemplates/a.md"]),
        ("/Templates/", ["Templates/a.md"], ["work/Templates/a.md"]),
        ("模板/", ["模板/每日.md"], ["模板.md"]),
        ("*.excalidraw.md", ["a.excalidraw.md", "x/图.excalidraw.md"], ["excalidraw.md", "a.md"]),
        ("work/drafts/*.md", ["work/drafts/a.md"], ["work/drafts/x/a.md", "x/work/drafts/a.md"]),
        ("work/**/old", ["work/old/a.md", "work/a/b/old/c.md"], ["work/older/a.md", "old/a.md"]),
        ("work/**", ["work/a.md", "work/a/b.md"], ["works/a.md"]),
        ("**/draft-*", ["draft-1.md", "a/b/draft-解密/c.md"], ["a/redraft-1.md"]),
        ("a?c*e*.md", ["abcde1.md", "x/a密cee.md"], ["ac-e.md", "abc.md"]),
        ("notes [1].md", ["notes [1].md", "x/notes [1].md"], ["notes 1.md"]),
        ("README.md", ["README.md", "x/README.md"], ["readme.md", "README.md.md"]),
    ],
)
def test_patterns_are_those_of_a_gitignore(pattern: str, left_out: list[str], kept: list[str]) -> None:
    ignored = ignores((" " + pattern, "", "/"))
    assert ignored is not None
    assert [ref for ref in (*left_out, *kept) if ignored(ref)] == left_out


def test_a_name_is_left_out_in_whatever_form_a_disk_has_it() -> None:
    for form in ("NFC", "NFD"):
        ignored = ignores((unicodedata.normalize(form, "Entwürfe/"),))
        assert ignored is not None
        assert all(ignored(unicodedata.normalize(other, "Entwürfe/a.md")) for other in ("NFC", "NFD"))


def test_without_patterns_nothing_is_looked_at() -> None:
    assert ignores(()) is ignores(("", " ", "/")) is None


def test_no_pattern_of_a_strangers_vault_takes_long() -> None:
    ignored = ignores(("*a" * 40 + "b",))
    assert ignored is not None
    assert not ignored("a" * 250 + ".md")  # by trying all ways it would take years


def test_a_walk_enters_no_folder_that_is_left_out(tmp_path: Path) -> None:
    for ref in ("a.md", "Templates/t.md", "x/Templates/deep/er.md", "x/b.md", "x/b.excalidraw.md"):
        (tmp_path / ref).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / ref).write_text("解密")
    (tmp_path / "Templates/link.md").symlink_to("/etc/hostname")
    found = scan(tmp_path, ignores(("Templates/", "*.excalidraw.md")))
    assert sorted(found.stamps) == ["a.md", "x/b.md"]
    assert (found.unreadable, found.problems) == ([], [])
    assert len(scan(tmp_path).stamps) == 5
