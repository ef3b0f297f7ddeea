from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from unprivileged import unprivileged

from memtool.vault import scan as scan_module
from memtool.vault.note import BrokenNote
from memtool.vault.scan import RACY_NS, Changes, KnownStamp, Scan, Stamp, changes, is_note_name, scan

NOTHING = Scan({}, [], [])
OUT = "a symlink that leaves the vault is not followed"


def write(root: Path, *refs: str) -> None:
    for ref in refs:
        (root / ref).parent.mkdir(parents=True, exist_ok=True)
        (root / ref).write_text(ref, encoding="utf-8")


def test_notes_and_facts_are_found_with_their_stamps(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.markdown", "区/解密.md", "areas/facts.json", "README.MD", "x y/ü.Md")
    found = scan(tmp_path)
    assert sorted(found.stamps) == ["README.MD", "a.md", "areas/facts.json", "b.markdown", "x y/ü.Md", "区/解密.md"]
    stat = (tmp_path / "a.md").stat()
    assert found.stamps["a.md"] == Stamp(4, stat.st_mtime_ns)
    assert (found.unreadable, found.problems) == ([], [])


def test_everything_else_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "md", "a.md.bak", ".hidden.md", ".obsidian/a.md", ".git/a.md", "node_modules/a.md")
    write(tmp_path, "x/__pycache__/a.md", "x/.memtool/facts.json", "my-facts.json", "facts.JSON", "a.json")
    (tmp_path / "folder.md").mkdir()
    assert scan(tmp_path) == NOTHING


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_a_pipe_is_no_note(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")
    assert scan(tmp_path) == NOTHING


def test_symlinks_are_not_followed_and_those_that_leave_the_vault_are_named(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    write(root, "in/a.md")
    write(tmp_path, "out/b.md", "out.md", "out.txt")
    for name, target in {
        "to-file.md": "in/a.md", "to-folder": "in", "up": ".", "self": "self", "a-loop.md": "a-loop.md",
        "dangling": "nowhere", "gone.md": "in/gone.md", "plain": "../out.txt",
        "leaves.md": "../out.md", "leaves": "../out", "facts.json": "/etc/passwd", "dangles.md": "../nowhere.md",
    }.items():  # fmt: skip
        (root / name).symlink_to(target)
    found = scan(root)
    assert (list(found.stamps), found.unreadable) == (["in/a.md"], [])
    assert sorted(found.problems) == [
        BrokenNote(ref, OUT) for ref in ("dangles.md", "facts.json", "leaves", "leaves.md")
    ]


def test_a_loop_of_symlinks_does_not_hide_its_neighbours(tmp_path: Path) -> None:
    write(tmp_path, *(f"{name}.md" for name in "abcdefgh"))
    for name in ("1", "m", "z"):
        (tmp_path / name).symlink_to(name)
    assert len(scan(tmp_path).stamps) == 8


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
def test_names_that_cannot_be_spoken_are_named_and_left_out(tmp_path: Path) -> None:
    names = [b"new\nline.md", b"bell\x07.md", b"latin\xe9.md", "😀".encode() + b"\xff.md", b"\xff/inside.md"]
    for name in names:
        path = os.path.join(os.fsencode(tmp_path), name)  # noqa: PTH118  (pathlib takes no bytes)
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        open(path, "wb").close()
    write(tmp_path, "soft\u00adhyphen 😀 \u200b.md", "nbsp\u00a0.md")
    found = scan(tmp_path)
    assert sorted(found.stamps) == ["nbsp\u00a0.md", "soft\u00adhyphen 😀 \u200b.md"]
    assert [problem.ref for problem in sorted(found.problems)] == [
        r"\U0001f600\udcff.md", r"\udcff/inside.md", r"bell\x07.md", r"latin\udce9.md", r"new\nline.md",
    ]  # fmt: skip
    for ref in found.stamps:
        assert ref.encode("utf-8")


def test_a_folder_that_cannot_be_read_is_unknown_not_empty(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "closed/b.md", "closed/deep/c.md", "closed-too.md")
    (tmp_path / "closed").chmod(0o000)
    with unprivileged():
        found = scan(tmp_path)
    (tmp_path / "closed").chmod(0o700)
    assert sorted(found.stamps) == ["a.md", "closed-too.md"]
    assert found.unreadable == ["closed/"]
    assert found.problems == [BrokenNote("closed/", "the folder cannot be read: Permission denied")]
    known = dict.fromkeys(["a.md", "closed/b.md", "closed/deep/c.md", "closed-too.md", "gone.md"], KnownStamp(0, 0, 0))
    assert changes(known, found).gone == ("gone.md",)


def test_a_vault_that_cannot_be_read_forgets_nothing(tmp_path: Path) -> None:
    tmp_path.chmod(0o000)
    with unprivileged():
        found = scan(tmp_path)
    tmp_path.chmod(0o700)
    assert found.problems[0].ref == "."
    assert changes({"a.md": KnownStamp(0, 0, 0)}, found) == Changes((), ())


def test_what_goes_away_during_the_walk_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a/b.md", "c.md")
    entries = scan_module._entries

    def removing(path: str) -> Iterator[os.DirEntry[str]]:
        for entry in entries(path):
            if entry.name == "c.md":
                (tmp_path / "c.md").unlink()
            yield entry
            if entry.name == "a":
                (tmp_path / "a" / "b.md").unlink()
                (tmp_path / "a").rmdir()

    monkeypatch.setattr(scan_module, "_entries", removing)
    assert scan(tmp_path) == NOTHING


@pytest.mark.slow
def test_a_deep_and_wide_vault_is_walked_to_its_end(tmp_path: Path) -> None:
    deep = "/".join(["d"] * 300)
    write(tmp_path, f"{deep}/a.md", *(f"{number}.md" for number in range(500)))
    assert len(scan(tmp_path).stamps) == 501


@pytest.mark.parametrize(
    ("name", "is_note"),
    [("a.md", True), ("a.MARKDOWN", True), (".md", True), ("facts.json", True), ("a.mdx", False), ("md", False)],
)
def test_a_name_says_whether_memtool_reads_it(name: str, is_note: bool) -> None:
    assert is_note_name(name) is is_note


refs = st.sampled_from(["a.md", "b/c.md", "b/d/e.md", "bb/f.md", "g.md"])
small = st.integers(0, 2)
stamps = st.builds(Stamp, small, small)
known_stamps = st.builds(KnownStamp, small, small, st.sampled_from([0, 1, RACY_NS - 1, RACY_NS + 1, RACY_NS + 2]))


@pytest.mark.slow
@given(
    st.dictionaries(refs, known_stamps), st.dictionaries(refs, stamps), st.lists(st.sampled_from(["", "b/", "b/d/"]))
)
def test_changes_name_what_is_new_or_doubtful_and_what_is_surely_gone(
    known: dict[str, KnownStamp], found: dict[str, Stamp], unreadable: list[str]
) -> None:
    result = changes(known, Scan({**found}, unreadable, []))
    for ref, stamp in found.items():
        same = ref in known and known[ref][:2] == stamp
        settled = same and known[ref].read_at_ns - stamp.mtime_ns >= RACY_NS
        assert (ref in result.suspects) == (not settled)
    for ref in known:
        unknown = any(ref.startswith(folder) for folder in unreadable)
        assert (ref in result.gone) == (ref not in found and not unknown)
    assert set(result.suspects) <= found.keys()
    assert set(result.gone) <= known.keys() - found.keys()
    assert list(result.suspects) == sorted(result.suspects)
    assert bool(result) == bool(result.suspects or result.gone)


def test_a_file_read_soon_after_it_was_written_is_read_again() -> None:
    found = Scan({"a.md": Stamp(3, 1_000)}, [], [])
    assert changes({"a.md": KnownStamp(3, 1_000, 1_000 + RACY_NS - 1)}, found).suspects == ("a.md",)
    assert not changes({"a.md": KnownStamp(3, 1_000, 1_000 + RACY_NS)}, found)


def test_a_file_from_the_future_is_never_trusted() -> None:
    found = Scan({"a.md": Stamp(3, 10**19)}, [], [])
    assert changes({"a.md": KnownStamp(3, 10**19, 10**18)}, found).suspects == ("a.md",)
