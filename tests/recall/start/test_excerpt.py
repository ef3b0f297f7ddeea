from __future__ import annotations

import os
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from memtool.recall import limits
from memtool.recall.start.excerpt import Folder, names_in, one_line_fields, read_bytes, read_excerpt
from memtool.text.frontmatter import parse_fields, quoted
from memtool.vault.layout import Vault


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    (tmp_path / "vault").mkdir()
    return Vault((tmp_path / "vault").resolve())


def test_the_beginning_of_a_note_has_fields_a_body_and_a_date(vault: Vault) -> None:
    path = vault.root / "n.md"
    path.write_bytes("\ufeff---\r\ntitle: 解密\r\n---\r\n# 解密\r\ntext".encode())
    os.utime(path, (1_770_000_000, 1_770_000_000))
    note = read_excerpt(vault, "n.md", UTC)
    assert note is not None
    assert (note.date, note.fields, note.body, note.body_line) == ("2026-02-02", {"title": "解密"}, "# 解密\ntext", 4)


def test_a_huge_note_is_read_in_part_and_cut_between_characters(vault: Vault) -> None:
    (vault.root / "n.md").write_text("a" + "解" * limits.LARGEST_NOTE, encoding="utf-8")
    note = read_excerpt(vault, "n.md")
    assert note is not None
    assert set(note.body) == {"a", "解"}
    assert len(note.body.encode()) <= limits.LARGEST_NOTE


def test_a_note_in_another_encoding_is_read_as_the_index_reads_it(vault: Vault) -> None:
    (vault.root / "n.md").write_bytes("解密失败".encode("gb18030"))
    note = read_excerpt(vault, "n.md")
    assert note is not None
    assert note.body == "解密失败"


def test_nothing_outside_the_vault_and_nothing_but_a_file_is_read(vault: Vault) -> None:
    (vault.root.parent / "secret.md").write_text("secret")
    (vault.root / "link.md").symlink_to("../secret.md")
    (vault.root / "inside.md").symlink_to("n.md")
    (vault.root / "n.md").write_text("n")
    (vault.root / "folder.md").mkdir()
    os.mkfifo(vault.root / "pipe.md")
    for ref in ("link.md", "../secret.md", "/etc/passwd", "folder.md", "pipe.md", "missing.md", "\0", "x" * 300):
        assert read_bytes(vault, ref, 10) is None
        assert Folder(vault, ".").read(ref, 10) is None
    found = read_bytes(vault, "inside.md", 10)
    assert found is not None
    assert found[0] == Folder(vault, ".").read("inside.md", 10) == b"n"


def test_a_folder_that_leads_out_of_the_vault_has_no_files(vault: Vault) -> None:
    (vault.root.parent / "secret.md").write_text("secret")
    (vault.root / "out").symlink_to(vault.root.parent)
    for ref in ("out", "..", "missing"):
        assert Folder(vault, ref).read("secret.md", 10) is None


def test_a_folder_is_looked_up_once_for_all_its_files(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    (vault.root / "sessions").mkdir()
    names = [f"解密-{number}.md" for number in range(9)]
    for name in names:
        (vault.root / "sessions" / name).write_text(name, encoding="utf-8")
    looked_up: list[str] = []
    find_path = Vault.path

    def path(self: Vault, ref: str) -> Path:
        looked_up.append(ref)
        return find_path(self, ref)

    monkeypatch.setattr(Vault, "path", path)
    folder = Folder(vault, "sessions")
    assert [folder.read(name, 99) for name in names] == [name.encode() for name in names]
    assert looked_up == ["sessions"]


def test_names_come_last_first_and_not_from_outside(vault: Vault) -> None:
    folder = vault.root / "daily"
    folder.mkdir()
    for name in ("2026-01-02.md", "2026-01-10.md", "2026-01-01.md", ".hidden.md", "x.txt"):
        (folder / name).touch()
    (vault.root / "out").symlink_to(vault.root.parent)
    assert names_in(vault, "daily", 2) == ["2026-01-10.md", "2026-01-02.md"]
    assert names_in(vault, "out", 9) == names_in(vault, "missing", 9) == []


@pytest.mark.parametrize(
    "matter",
    [
        "summary: plain: colons:inside #4573 and `code`",
        "summary: 'it is'\ntags: [a, b]\nidentities:\n  - x",
        'summary: "a \\"quote\\""',
        "summary: it's 50% “quoted” (a, b)",
        "summary: >\n  folded\n  text",
        "summary: goes\n  on\nstatus: active",
        "summary: text  # a comment",
        "summary: {a: b}",
        "summary: *alias",
        "summary: a\nsummary: b",
        "summary:\n# comment\nstatus: superseded",
        "summary: |-\n  one\n  two",
        "summary: 2026-01-01",
        "nonsense",
        "",
    ],
)
def test_fields_are_read_as_yaml_reads_them(matter: str) -> None:
    found = parse_fields(matter)
    expected = (
        {name: " ".join(value.split()) for name, value in found.items() if isinstance(value, str)}
        if isinstance(found, dict)
        else {}
    )
    assert {name: value for name, value in one_line_fields(matter).items() if value} == {
        name: value for name, value in expected.items() if value
    }


@pytest.mark.slow
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60))
def test_what_memtool_writes_into_front_matter_is_read_back(value: str) -> None:
    assert one_line_fields(f"summary: {quoted(value)}").get("summary", "") == " ".join(value.split())
