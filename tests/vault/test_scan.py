from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from unprivileged import unprivileged

from memtool.vault import limits, scan as scan_module
from memtool.vault.files import KnownStamp, Stamp
from memtool.vault.layout import Vault, is_outside
from memtool.vault.note import BrokenNote
from memtool.vault.project_area import names_by_folder, project_of_memory
from memtool.vault.scan import (
    Changes,
    Outside,
    Scan,
    changes,
    folder_named,
    ignores,
    is_note_name,
    scan,
)

RACY = 2_000_000_000  # nanoseconds
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
known_stamps = st.builds(KnownStamp, small, small, st.sampled_from([0, 1, RACY - 1, RACY + 1, RACY + 2]))


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
        settled = same and known[ref].read_at_ns - stamp.mtime_ns >= RACY
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
    assert changes({"a.md": KnownStamp(3, 1_000, 1_000 + RACY - 1)}, found).suspects == ("a.md",)
    assert not changes({"a.md": KnownStamp(3, 1_000, 1_000 + RACY)}, found)


def test_a_file_from_the_future_is_never_trusted() -> None:
    found = Scan({"a.md": Stamp(3, 10**19)}, [], [])
    assert changes({"a.md": KnownStamp(3, 10**19, 10**18)}, found).suspects == ("a.md",)


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    folder = tmp_path / "projects"
    for name, text in (("MEMORY.md", "- [Tea](tea.md)"), ("tea.md", "茶"), ("notes.txt", "no"), ("odd\nname.md", "no")):
        path = folder / "-src-shop" / "memory" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "-src-shop" / "session.jsonl").write_text("{}")
    (folder / "-src-mail").mkdir()
    return folder


def test_memory_files_are_found_by_their_absolute_paths(projects: Path) -> None:
    found = Scan({"a.md": (1, 2)}, [], [])
    Outside(projects).add_to(found, projects.parent / "vault")
    memory = (projects / "-src-shop" / "memory").as_posix()
    assert found.stamps.keys() == {"a.md", f"{memory}/MEMORY.md", f"{memory}/tea.md"}
    assert is_outside(f"{memory}/tea.md")
    assert not is_outside("a.md")


def test_a_client_that_is_not_there_has_no_memory(tmp_path: Path) -> None:
    found = Scan({}, [], [])
    Outside(tmp_path / "gone").add_to(found, tmp_path / "vault")
    assert found == Scan({}, [], [])


def test_only_memory_files_can_be_named(projects: Path) -> None:
    tea = projects / "-src-shop" / "memory" / "tea.md"
    assert Outside(projects).path_of(str(tea)) == tea
    for other in ("-src-shop/session.jsonl", "-src-shop/memory/notes.txt", "-src-shop/memory/gone.md",
                  "-src-shop/memory/../memory/tea.md", "../secret.md"):  # fmt: skip
        assert Outside(projects).path_of(str(projects / other)) is None
    assert Outside(projects).path_of("a.md") is None


def test_the_project_is_known_by_the_folder_in_which_it_was_seen(tmp_path: Path) -> None:
    (tmp_path / ".memtool").mkdir()
    entries = {"/src/商店": ["laden", "/src/商店", 0, True], "/x": ["", "/x", 0, True], "/odd": 3}
    (tmp_path / ".memtool" / "projects.json").write_text(json.dumps(entries))
    names = names_by_folder(Vault(tmp_path))
    assert names == {"-src---": "laden"}
    assert project_of_memory("/c/projects/-src---/memory/tea.md", names) == "laden"
    assert project_of_memory("/c/projects/-other/memory/tea.md", names) == ""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_nobody_waits_for_the_names_of_projects(tmp_path: Path) -> None:
    (tmp_path / ".memtool").mkdir()
    os.mkfifo(tmp_path / ".memtool" / "projects.json")
    assert names_by_folder(Vault(tmp_path)) == {}


# Folders of the user


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    """A folder of Markdown with much beside that."""
    folder = tmp_path / "wiki"
    for ref in ("a.md", "深/b.markdown", ".git/c.md", "node_modules/d.md", "facts.json", "e.txt", "odd\nname.md"):
        (folder / ref).parent.mkdir(parents=True, exist_ok=True)
        (folder / ref).write_text("茶", encoding="utf-8")
    return folder


def add(*folders: Path, vault: Path = Path("/vault")) -> Scan:
    found = Scan({}, [], [])
    Outside(None, folders).add_to(found, vault)
    return found


def test_the_markdown_of_a_folder_is_found(wiki: Path) -> None:
    found = add(wiki)
    assert found.stamps.keys() == {f"{wiki}/a.md", f"{wiki}/深/b.markdown"}
    assert add(wiki, wiki / "深").stamps == found.stamps


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_links_and_pipes_in_a_folder_are_not_read(wiki: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (wiki / "out.md").symlink_to(tmp_path / "secret.md")
    (wiki / "up").symlink_to(tmp_path)
    (wiki / "loop.md").symlink_to("loop.md")
    os.mkfifo(wiki / "pipe.md")
    assert add(wiki).stamps.keys() == {f"{wiki}/a.md", f"{wiki}/深/b.markdown"}
    here = Outside(None, (wiki,))
    for ref in ("out.md", "up/secret.md", "loop.md", "pipe.md", "../secret.md", ".git/c.md", "e.txt", "gone.md"):
        assert here.path_of(f"{wiki}/{ref}") is None
    assert here.path_of(f"{wiki}/a.md") == wiki / "a.md"
    assert here.path_of("a.md") is None


def test_a_folder_that_is_gone_is_no_deletion_and_one_that_is_named_no_more_is(wiki: Path) -> None:
    known = {ref: (*stamp, 0) for ref, stamp in add(wiki).stamps.items()}
    wiki.rename(wiki.with_name("moved"))
    found = add(wiki)
    assert [problem.reason for problem in found.problems] == ["there is no such folder now"]
    assert changes(known, found).gone == ()  # type: ignore[arg-type]
    assert changes(known, add()).gone == tuple(sorted(known))  # type: ignore[arg-type]


def test_the_vault_is_not_read_twice(wiki: Path) -> None:
    assert add(wiki, vault=wiki / "深").stamps.keys() == {f"{wiki}/a.md"}
    for vault in (wiki, wiki.parent):
        assert add(wiki, vault=vault).stamps == {}
        assert "lies in the vault" in add(wiki, vault=vault).problems[0].reason


def test_of_a_huge_folder_not_all_is_read(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "OUTSIDE_FILES", 1)
    found = add(wiki)
    assert list(found.stamps) == [f"{wiki}/a.md"]
    assert "it holds 2 notes; 1 of them are read" in [problem.reason for problem in found.problems]


def test_a_folder_may_be_named_by_home_and_through_a_symlink(wiki: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(wiki)
    for name in ("~/wiki", "wiki", "~/link", str(wiki), "~/wiki/../link/"):
        assert folder_named(name, tmp_path) == wiki
    assert folder_named("~", tmp_path) == tmp_path


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
