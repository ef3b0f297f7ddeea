from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from terminal import Memtool


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out.json", "out.md", "out.tar"])
def test_what_was_exported_is_imported(name: str, memtool: Memtool, sample: Path, tmp_path: Path) -> None:
    file = tmp_path / name
    exported = memtool("export", str(file))
    assert (exported.code, exported.out) == (0, "")
    assert " with 21 facts." in exported.err
    assert memtool("init", str(tmp_path / "other")).code == 0
    for path in (tmp_path / "other").rglob("*.md"):
        path.unlink()
    done = memtool("--vault", str(tmp_path / "other"), "import", "memtool", str(file))
    assert done.code == 0
    assert done.out.startswith("39 files added, 1 merged, 0 unchanged, ")
    assert "Undo: " in done.err
    again = tmp_path / f"again-{name}"
    memtool("--vault", str(tmp_path / "other"), "export", str(again))
    if not name.endswith(".tar"):  # which holds the settings, too, and these stay the vault's own
        assert again.read_bytes() == file.read_bytes()
    found = memtool("--vault", str(tmp_path / "other"), "search", "Idempotency-Key", "--json")
    assert "sessions/7b01de.md" in {hit["path"] for hit in found.answer["hits"]}
    assert sample.is_dir()


@pytest.mark.slow
@pytest.mark.usefixtures("sample")
def test_a_pipe_carries_one_project(memtool: Memtool, tmp_path: Path) -> None:
    told = memtool("export", "--project", "tideline")
    document = json.loads(told.out)
    assert (document["format"], document["kind"]) == (1, "memtool export")
    assert all("shop" not in note["path"] for note in document["notes"])
    memtool("init", str(tmp_path / "other"))
    other = ("--vault", str(tmp_path / "other"), "import", "memtool", "-", "--json")
    dry = memtool(*other, "--dry-run", stdin=told.out.encode()).answer
    assert dry["dry_run"] is True
    assert not (tmp_path / "other/areas/projects/tideline/summary.md").exists()
    done = memtool(*other, stdin=told.out.encode()).answer
    assert done["added"] == dry["added"]
    assert done["undo"]


@pytest.mark.usefixtures("notes")
def test_what_cannot_be_brought_in_is_one_sentence(memtool: Memtool, tmp_path: Path) -> None:
    (tmp_path / "else.json").write_text('{"facts": []}')
    (tmp_path / "nothing.json").write_text('{"format": 1, "kind": "memtool export"}')
    for name, sentence in [
        ("missing.json", "No such file"), ("else.json", "not an export"), ("nothing.json", "nothing to import"),
        ("", "it is no file"),
    ]:  # fmt: skip
        ran = memtool("import", "memtool", str(tmp_path / name))
        assert ran.code in (2, 24)
        assert sentence in ran.err
    assert "no note matches 'nothing'" in memtool("export", "--project", "nothing").err


@pytest.mark.usefixtures("notes")
def test_what_was_refused_is_named(memtool: Memtool, tmp_path: Path) -> None:
    paths = ["../out.md", "笔记.md"]
    notes = [{"path": path, "text": "x"} for path in paths]
    file = tmp_path / "in.json"
    file.write_text(json.dumps({"format": 1, "kind": "memtool export", "notes": notes}))
    done = memtool("import", "memtool", str(file))
    assert done.out == "1 file added, 0 merged, 0 unchanged, 0 kept as you have them, 1 refused.\n"
    assert "Refused: '../out.md': its path is hidden, leads out of the vault, or is too long" in done.err
    assert not (tmp_path / "out.md").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("sample")
def test_a_folder_of_markdown_comes_in_after_a_preview(memtool: Memtool, tmp_path: Path) -> None:
    notes = tmp_path / "笔记"
    notes.mkdir()
    (notes / "zanzibar.md").write_text("# 缓存\n\nZanzibar tokens are cached for ten seconds.\n", encoding="utf-8")
    asked = ("import", "markdown", "--from", str(notes), "--project", "shop")
    for options in (("--dry-run",), ("--dry-run", "--json")):
        assert memtool(*asked, *options).code == 0
        assert "zanzibar.md" not in memtool("search", "zanzibar", "--json").out
    assert memtool(*asked).code != 0  # nobody answered
    done = memtool(*asked, "--yes")
    assert done.out.startswith(f"1 item of the folder in {notes}.\n1 file added, ")
    assert "areas/projects/shop/knowledge/zanzibar.md" in memtool("search", "zanzibar", "--json").out
    assert "no folder is named" in memtool("import", "markdown").err
    assert "no '" in memtool("import", "claude-mem").err
