from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import pytest
from hypothesis import given, strategies as st
from unprivileged import unprivileged

from memtool.errors import BrokenVaultFile, NoteChanged, NotWritable
from memtool.vault.files import (
    change,
    content_hash,
    find_leftovers,
    hash_of,
    read_content,
    read_head,
    read_text,
    remove_leftovers,
    replace,
)
from memtool.vault.scan import scan

if TYPE_CHECKING:
    from pathlib import Path

    from memtool.vault.layout import Vault


OLD, NEW = "old 旧\n", "new 新\n" * 1000

# Dies without a word at the n-th call of what makes a write safe, before or after the call itself.
DIES = """
import os, sys
from pathlib import Path
from memtool.vault.files import hash_of, replace

path, deadly, when = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
calls = 0

def dying(function):
    def call(*args, **options):
        global calls
        calls += 1
        if calls == deadly and when == "before":
            os._exit(9)
        result = function(*args, **options)
        if calls == deadly:
            os._exit(9)
        return result
    return call

for name in ("open", "fsync", "chmod", "replace"):
    setattr(os, name, dying(getattr(os, name)))
replace(path, sys.argv[4] * 1000, expected=hash_of(path))
"""


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_for_its_owner_only_and_so_are_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "笔记.md"
    assert replace(path, NEW, expected=None) == content_hash(NEW.encode())
    assert path.read_bytes() == NEW.encode()
    assert (mode_of(path), mode_of(path.parent), mode_of(path.parent.parent)) == (0o600, 0o700, 0o700)


def test_the_mode_of_a_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(OLD)
    path.chmod(0o644)
    replace(path, NEW, expected=hash_of(path))
    assert mode_of(path) == 0o644


def test_a_stale_writer_loses(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(OLD)
    read = hash_of(path)
    path.write_text("from an editor")
    with pytest.raises(NoteChanged, match=r"'a\.md' was changed by someone else"):
        replace(path, NEW, expected=read)
    assert path.read_text() == "from an editor"


def test_a_file_that_stands_is_not_created_again(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("")
    with pytest.raises(NoteChanged):
        replace(path, NEW, expected=None)
    assert path.read_text() == ""


def test_a_file_that_is_gone_is_not_brought_back(tmp_path: Path) -> None:
    with pytest.raises(NoteChanged):
        replace(tmp_path / "a.md", NEW, expected=content_hash(b"what it was"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@given(st.text())
def test_any_text_comes_back_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.md"
    written = replace(path, text, expected=hash_of(path))
    assert read_text(path) == (text, written)


def test_half_a_character_is_refused_and_the_old_text_stands(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(OLD)
    with pytest.raises(BrokenVaultFile, match="no file can hold"):
        replace(path, "\ud800", expected=hash_of(path))
    assert path.read_text() == OLD


def test_text_that_is_not_utf8_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("中文".encode("gbk"))
    with pytest.raises(BrokenVaultFile, match=r"'a\.md' is not UTF-8 \(byte 0\)"):
        read_text(tmp_path / "a.md")


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_text_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = tmp_path / "a.md"
    path.write_text(OLD)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, name, full)
    with pytest.raises(NotWritable, match="No space left on device"):
        replace(path, NEW, expected=content_hash(OLD.encode()))
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("a.md", OLD)]


def test_a_folder_that_refuses_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with unprivileged(), pytest.raises(NotWritable, match="Permission denied"):
        replace(tmp_path / "a.md", NEW, expected=None)
    tmp_path.chmod(0o700)


@pytest.mark.parametrize("ref", ["folder", "note.md/below.md"])
def test_what_cannot_be_a_file_is_refused(tmp_path: Path, ref: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "note.md").write_text(OLD)
    with pytest.raises(NotWritable):
        replace(tmp_path / ref, NEW, expected=None)


def test_a_symlink_stays_one_and_its_target_gets_the_text(tmp_path: Path) -> None:
    (tmp_path / "target.md").write_text(OLD)
    (tmp_path / "link.md").symlink_to("target.md")
    replace(tmp_path / "link.md", NEW, expected=content_hash(OLD.encode()))
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "target.md").read_text() == NEW


def test_a_loop_of_symlinks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").symlink_to("a.md")
    with pytest.raises(NotWritable):
        replace(tmp_path / "a.md", NEW, expected=None)
    assert (tmp_path / "a.md").is_symlink()


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_at_any_point_leaves_the_old_or_the_new_text(tmp_path: Path, when: str) -> None:
    path = tmp_path / "a.md"
    texts, codes = [], []
    for deadly in range(1, 20):
        path.write_text(OLD, encoding="utf-8")
        command = [sys.executable, "-c", DIES, str(path), str(deadly), when, "new 新\n"]
        codes.append(subprocess.run(command, check=False).returncode)
        texts.append(path.read_text(encoding="utf-8"))
        assert list(scan(tmp_path).stamps) == ["a.md"]  # what a killed writer leaves behind is not a note
        if codes[-1] == 0:
            break
    assert set(codes[:-1]) == {9}
    assert codes[-1] == 0
    assert len(codes) > 4
    assert set(texts) == {OLD, NEW}
    assert texts == sorted(texts, key=[OLD, NEW].index)  # it is the old one up to a moment, and then the new one


def test_a_change_is_made_anew_where_an_editor_was_quicker(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("甲", encoding="utf-8")
    seen: list[str | None] = []

    def add(text: str | None) -> str:
        seen.append(text)
        if len(seen) == 1:
            path.write_text("乙", encoding="utf-8")  # an editor, between our reading and our writing
        return f"{text}!"

    assert change(path, add)
    assert (seen, path.read_text(encoding="utf-8")) == (["甲", "乙"], "乙!")


def test_a_change_is_given_up_where_somebody_writes_all_the_time(tmp_path: Path) -> None:
    path = tmp_path / "a.md"

    def add(text: str | None) -> str:
        path.write_text(f"{text}x")
        return "ours"

    with pytest.raises(NoteChanged):
        change(path, add)
    assert "ours" not in path.read_text()


@pytest.mark.parametrize("text", [None, "the same"])
def test_a_change_that_changes_nothing_writes_nothing(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "a.md"
    if text is not None:
        path.write_text(text)
    assert not change(path, lambda now: now)
    assert path.exists() is (text is not None)


@pytest.mark.parametrize(("most", "head"), [(9, "a商店b"), (8, "a商店b"), (7, "a"), (2, "a"), (0, "")])
def test_the_head_of_a_file_ends_with_a_whole_character(tmp_path: Path, most: int, head: str) -> None:
    (tmp_path / "a.md").write_text("a商店b", encoding="utf-8")
    assert read_head(tmp_path / "a.md", most).decode() == head


def test_what_is_too_large_or_no_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("12345")
    assert read_content(tmp_path / "a.md", largest=5) == b"12345"
    with pytest.raises(OSError, match="too large"):
        read_content(tmp_path / "a.md", largest=4)
    for read in (read_content, partial(read_head, most=4)):
        with pytest.raises(OSError, match="it is no file"):
            read(tmp_path)


IN_PLACE, BY_RENAME = "in place", "by rename"


def save(path: Path, text: str, how: str) -> None:
    """Save *text* as an editor does."""
    if how == IN_PLACE:
        path.write_text(text, encoding="utf-8")
    else:
        path.with_name("editor.tmp").write_text(text, encoding="utf-8")
        path.with_name("editor.tmp").replace(path)


@pytest.mark.parametrize("how", [IN_PLACE, BY_RENAME])
@pytest.mark.parametrize("has_links", [True, False])
def test_what_an_editor_saves_while_we_wait_for_the_disk_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, *, has_links: bool
) -> None:
    path = tmp_path / "a.md"
    path.write_text(OLD, encoding="utf-8")
    fsync = os.fsync

    def slow(handle: int) -> None:
        fsync(handle)
        if path.read_text(encoding="utf-8") == OLD:
            save(path, "from an editor 编辑器", how)

    monkeypatch.setattr(os, "fsync", slow)
    if not has_links:
        monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(NoteChanged):
        replace(path, NEW, expected=content_hash(OLD.encode()))
    assert path.read_text(encoding="utf-8") == "from an editor 编辑器"
    assert [each.name for each in tmp_path.iterdir()] == ["a.md"]
    assert change(path, lambda text: f"{text}!")
    assert path.read_text(encoding="utf-8") == "from an editor 编辑器!"


def refuse(*_: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.mark.parametrize("goes_on", [False, True])
def test_what_an_editor_saves_between_our_last_look_and_our_rename_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, goes_on: bool
) -> None:
    path = tmp_path / "a.md"
    path.write_text(OLD, encoding="utf-8")
    rename = os.replace
    editors: list[TextIO] = []

    def late(source: Path, target: Path) -> None:
        if not editors:
            editors.append(path.open("w", encoding="utf-8"))
            editors[0].write("from an editor 编辑器")
            editors[0].flush()
        rename(source, target)

    monkeypatch.setattr(os, "replace", late)
    with pytest.raises(NoteChanged):
        replace(path, NEW, expected=content_hash(OLD.encode()))
    if goes_on:
        editors[0].write(", and more")
    editors[0].close()
    assert path.read_text(encoding="utf-8") == "from an editor 编辑器" + (", and more" if goes_on else "")
    assert [each.name for each in tmp_path.iterdir()] == ["a.md"]


def test_a_file_that_comes_while_we_write_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.md"
    link = os.link

    def late(source: Path, target: Path) -> None:
        path.write_text("from an editor", encoding="utf-8")
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(NoteChanged):
        replace(path, NEW, expected=None)
    assert path.read_text(encoding="utf-8") == "from an editor"
    assert [each.name for each in tmp_path.iterdir()] == ["a.md"]


LEFT = (".memtool-0a1b2c3d.tmp", "daily/.memtool-ffffffff.tmp", ".memtool/captured/.memtool-00000000.tmp",
        ".git/index.lock")  # fmt: skip
HOUR = 3600


def make(root: Path, *names: str) -> float:
    """Make the files *names*; return a time at which they are old."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    return max((root / name).lstat().st_ctime for name in names) + HOUR + 1


def test_what_killed_runs_left_is_found_and_removed(vault: Vault) -> None:
    later = make(vault.root, *LEFT, ".memtool-mine.tmp", "笔记.tmp", ".git/notes.lock")
    assert {path.relative_to(vault.root).as_posix() for path in find_leftovers(vault.root, later)} == set(LEFT)
    assert len(remove_leftovers(vault.root, later)) == len(LEFT)
    assert find_leftovers(vault.root, later) == []
    assert (vault.root / ".memtool-mine.tmp").exists()
    assert (vault.root / "笔记.tmp").exists()


def test_what_may_be_in_use_stays(vault: Vault) -> None:
    later = make(vault.root, "old.md", *LEFT)
    os.link(vault.root / "old.md", vault.root / ".memtool-12345678.tmp")
    os.utime(vault.root / "old.md", (0, 0))  # of a note that is old, and is being changed
    assert find_leftovers(vault.root, later - 2) == []
