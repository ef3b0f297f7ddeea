from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from unprivileged import unprivileged

from memtool.errors import BrokenVaultFile, NoteNotFound, OutsideVault, UsageError
from memtool.text.tokens import fold
from memtool.vault.layout import Vault
from memtool.vault.memory import Location, Memory
from memtool.vault.reading import OVERVIEW, SUMMARY, WHOLE, Ref, parse_ref, read_note, resolve

NOTE = "---\ntype: decision\ntags: [x]\nproject: tea\n---\n# 标题\n\nFirst. Second.\n\n## More\n\nlast\n"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = (tmp_path / "v").resolve()
    for ref in ("notes/a.md", "areas/projects/shop/decisions/b.md", "archive/sessions/c.md"):
        (root / ref).parent.mkdir(parents=True)
        (root / ref).write_text(NOTE, encoding="utf-8")
    (tmp_path / "secret.md").write_text("secret")
    return Vault(root)


def read(vault: Vault, ref: str, level: int = WHOLE, max_bytes: int = 10_000) -> Memory:
    return read_note(vault, parse_ref(ref), level=level, max_bytes=max_bytes).memory


def test_a_note_is_read_at_three_levels(vault: Vault) -> None:
    assert read(vault, "notes/a.md", SUMMARY).text == "First."
    assert read(vault, "notes/a.md", OVERVIEW).text == "# 标题\n\nFirst. Second."
    whole = read(vault, "notes/a.md")
    assert whole == Memory(
        "notes/a.md", NOTE, "decision", Location("notes/a.md", 1, 12), "标题", project="tea", tags=("x",)
    )


@pytest.mark.parametrize(
    ("ref", "first", "last", "text"),
    [
        ("notes/a.md:1", 1, 1, "---"),
        ("notes/a.md:6-8", 6, 8, "# 标题\n\nFirst. Second."),
        ("notes/a.md#L12", 12, 12, "last"),
        ("notes/a.md#L10-L999999999", 10, 12, "## More\n\nlast"),
        ("notes/a.md#L10-11", 10, 11, "## More\n"),
    ],
)
def test_lines_are_counted_from_one_and_include_both_ends(
    vault: Vault, ref: str, first: int, last: int, text: str
) -> None:
    reading = read(vault, ref, SUMMARY)
    assert (reading.place[1:], reading.text) == ((first, last), text)


@pytest.mark.parametrize("lines", ["13", "999999999", "8-6", "5-0"])
def test_lines_that_are_not_there_are_not_found(vault: Vault, lines: str) -> None:
    with pytest.raises(NoteNotFound, match=rf"no note matches 'notes/a\.md:{lines}"):
        read(vault, f"notes/a.md:{lines}")


@pytest.mark.parametrize(
    "text", ["a.md:0", "a.md:0-5", "a.md:x", "a.md:", ":5", "a.md:1234567890", "a.md:-3", "a\n.md:3"]
)
def test_what_names_no_lines_is_all_name(text: str) -> None:
    assert parse_ref(text) == Ref(text)


@pytest.mark.slow
@given(
    st.text(min_size=1).filter(lambda name: "\n" not in name), st.integers(1, 999_999_999), st.integers(1, 999_999_999)
)
def test_a_reference_is_its_name_and_its_lines(name: str, first: int, last: int) -> None:
    assert parse_ref(f"{name}:{first}-{last}") == Ref(name, first, last)
    assert parse_ref(f"{name}#L{first}") == Ref(name, first, first)


def test_a_path_is_the_same_however_it_is_written(vault: Vault) -> None:
    ref = "areas/projects/shop/decisions/b.md"
    (vault.root / "link.md").symlink_to(ref)
    for way in (
        ref,
        f"./{ref}",
        f"notes/../{ref}",
        "areas//projects/shop/./decisions/b.md",
        f"{vault.root}/{ref}",
        "link.md",
    ):
        assert read(vault, way).path == ref


@pytest.mark.parametrize("ref", ["../secret.md", "/etc/passwd", "out.md", "notes/../../secret.md", "a\0"])
def test_nothing_outside_the_vault_is_read(vault: Vault, ref: str) -> None:
    (vault.root / "out.md").symlink_to("../secret.md")
    with pytest.raises(OutsideVault):
        read(vault, ref)


@pytest.mark.parametrize("ref", ["nothing.md", "notes", "", "notes/a.md/b.md", "dangling.md"])
def test_what_is_no_file_is_not_found(vault: Vault, ref: str) -> None:
    (vault.root / "dangling.md").symlink_to("nowhere.md")
    with pytest.raises(NoteNotFound):
        read(vault, ref)


def test_a_file_that_cannot_be_read_is_named(vault: Vault) -> None:
    (vault.root / "notes" / "a.md").chmod(0o000)
    with unprivileged(), pytest.raises(BrokenVaultFile, match=r"cannot read 'notes/a\.md': Permission denied"):
        read(vault, "notes/a.md")
    with pytest.raises((BrokenVaultFile, OutsideVault)):
        read(vault, "x" * 300)


def test_a_huge_file_is_refused_before_it_is_read(vault: Vault) -> None:
    with (vault.root / "huge.md").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(BrokenVaultFile, match=r"'huge\.md' is too large to show"):
        read(vault, "huge.md")


def test_a_broken_note_is_read_with_its_problem(vault: Vault) -> None:
    (vault.root / "gbk.md").write_bytes("# 解密\n\n失败".encode("gbk"))
    reading = read_note(vault, Ref("gbk.md"), level=WHOLE, max_bytes=10_000)
    assert (reading.memory.title, reading.memory.text) == ("解密", "# 解密\n\n失败")
    assert reading.problem == "not UTF-8 (byte 2), read as GB18030"
    (vault.root / "yaml.md").write_text("---\ntitle: [\n---\nbody\n")
    assert read(vault, "yaml.md").text.startswith("---\ntitle: [")
    assert read_note(vault, Ref("yaml.md"), level=WHOLE, max_bytes=10_000).problem == ""


def test_an_archived_note_keeps_its_kind(vault: Vault) -> None:
    (vault.root / "archive/sessions/c.md").write_text("text")
    assert read(vault, "archive/sessions/c.md").kind == "session"


def test_an_empty_note_has_one_line(vault: Vault) -> None:
    (vault.root / "empty.md").write_text("")
    assert [read(vault, "empty.md", level).text for level in (SUMMARY, OVERVIEW, WHOLE)] == ["", "", ""]
    assert read(vault, "empty.md").place.end_line == 1
    assert read(vault, "empty.md:1").text == ""


REFS = [
    "MEMORY.md",
    "areas/projects/shop/summary.md",
    "areas/projects/tea/summary.md",
    "notes/解密.md",
    "a/x.md",
    "x.md",
]


@pytest.mark.parametrize(
    ("name", "ref"),
    [
        ("MEMORY.md", "MEMORY.md"), ("memory", "MEMORY.md"), ("shop/summary.md", REFS[1]), ("./MEMORY.md", "MEMORY.md"),
        ("解密", "notes/解密.md"), ("/notes/解密.md/", "notes/解密.md"), ("a/x.md", "a/x.md"),
    ],
)  # fmt: skip
def test_a_name_means_a_path_its_end_or_a_file_without_the_suffix(name: str, ref: str) -> None:
    assert resolve(name, REFS) == ref


@pytest.mark.parametrize("name", ["", "/", "./", "emory.md", "sho", "x.markdown", "*", "MEMORY.m"])
def test_a_name_that_means_nothing_is_not_found(name: str) -> None:
    with pytest.raises(NoteNotFound):
        resolve(name, REFS)


def test_a_name_that_means_several_notes_lists_them() -> None:
    with pytest.raises(
        UsageError, match=r"'summary' may mean 2 notes: areas/projects/shop/summary.md, areas/projects/tea"
    ):
        resolve("summary", REFS)
    with pytest.raises(UsageError, match=r"may mean 9 notes: 0/n.md, 1/n.md, 2/n.md, 3/n.md, 4/n.md$") as caught:
        resolve("n", [f"{number}/n.md" for number in range(9)])
    assert caught.value.hint == "Name more of the path."


def test_a_whole_path_wins_over_one_that_ends_like_it() -> None:
    assert resolve("x.md", REFS) == "x.md"


def test_the_beginning_of_a_sessions_id_is_enough() -> None:
    refs = ["sessions/7aa4bfa8-4970.md", "sessions/7ab00000.md", "daily/7aa4bfa8.md"]
    assert resolve("7aa4bfa8…", refs[:2]) == resolve("7aa4", refs) == refs[0]
    with pytest.raises(NoteNotFound):
        resolve("7aa", refs)


@pytest.mark.slow
@given(st.text(), st.lists(st.text(min_size=1)))
def test_whatever_is_named_it_is_one_of_the_notes_or_an_error(name: str, refs: list[str]) -> None:
    with contextlib.suppress(NoteNotFound, UsageError):
        assert resolve(name, refs) in refs


def test_a_pipe_is_not_waited_for(vault: Vault) -> None:
    if os.name == "nt":
        pytest.skip("Windows has no such files")
    os.mkfifo(vault.root / "pipe.md")
    with pytest.raises(NoteNotFound):
        read(vault, "pipe.md")


@pytest.mark.parametrize(
    ("name", "ref"),
    [
        ("Café", "notes/CAFE\u0301.md"), ("cafe", "notes/CAFE\u0301.md"), ("notes/café.md", "notes/CAFE\u0301.md"),
        ("解密　失败", "notes/解密 失败.md"), ("sessions/ef299174…", "sessions/ef299174-4970-4a1b.md"),
        ("sessions/ef29", "sessions/ef299174-4970-4a1b.md"), ("sessions/0a1b2c3d...", "archive/sessions/0a1b2c3d-1.md"),
        ("archive/sessions/0a1b…", "archive/sessions/0a1b2c3d-1.md"), ("…/解密 失败.md", "notes/解密 失败.md"),
        ("the title", "notes/t.md"),
        ("[[The Title#Part|other]]", "notes/t.md"),
    ],
)  # fmt: skip
def test_case_accents_and_forms_of_unicode_make_no_difference(name: str, ref: str) -> None:
    refs = [
        "notes/CAFE\u0301.md", "notes/解密 失败.md", "notes/t.md", "sessions/ef299174-4970-4a1b.md",
        "archive/sessions/0a1b2c3d-1.md",
    ]  # fmt: skip
    assert resolve(name, refs, titled=lambda title: ["notes/t.md"] if fold(title) == "the title" else []) == ref


@pytest.mark.parametrize("name", ["areas/projects", "areas/projects/shop", "notes", "notes/解", "archive/", "…", "..."])
def test_the_beginning_of_a_path_is_no_note(name: str) -> None:
    with pytest.raises(NoteNotFound):
        resolve(name, ["areas/projects/shop/decisions/a.md", "notes/解密.md"])


def test_of_two_files_whose_names_differ_by_an_accent_each_is_found_by_its_own() -> None:
    refs = ["a/café.md", "a/cafe.md"]
    assert [resolve(ref, refs) for ref in refs] == refs
    with pytest.raises(UsageError, match="may mean 2 notes"):
        resolve("CAFE", refs)


LINKED = """---
title: Deploy
# Steps: no heading
---
# Deploy

## Étapes

Build it.

### Roll out

- canary first ^canary
  for an hour
- then the rest

```
## Steps
```

## 回滚步骤

回到上一个版本，
再通知值班。 ^回滚

| a | b |
|---|---|
| 1 | 2 |

^table
"""


@pytest.mark.parametrize(
    ("part", "first", "last"),
    [
        ("Étapes", "## Étapes", "```"), ("etapes", "## Étapes", "```"), ("ROLL OUT", "### Roll out", "```"),
        ("回滚步骤", "## 回滚步骤", "^table"), ("Étapes#Roll out", "### Roll out", "```"),
        ("^canary", "- canary first ^canary", "  for an hour"), ("^回滚", "回到上一个版本，", "再通知值班。 ^回滚"),
        ("^table", "| a | b |", "^table"),
    ],
)  # fmt: skip
def test_a_link_to_a_heading_or_a_block_gives_its_lines(vault: Vault, part: str, first: str, last: str) -> None:
    (vault.root / "deploy.md").write_text(LINKED, encoding="utf-8")
    ref = parse_ref(f"[[deploy#{part}|alias]]")
    lines = (
        read_note(vault, ref._replace(name="deploy.md"), level=WHOLE, max_bytes=10_000).memory.text.strip().split("\n")
    )
    assert (lines[0], lines[-1]) == (first, last)


def test_a_part_that_a_note_lacks_is_not_found(vault: Vault) -> None:
    (vault.root / "deploy.md").write_text(LINKED, encoding="utf-8")
    for part in ("Steps", "^none", "^can"):
        with pytest.raises(NoteNotFound, match=re.escape(f"'deploy.md#{part}'")):
            read_note(vault, Ref("deploy.md", part=part), level=WHOLE, max_bytes=10_000)
