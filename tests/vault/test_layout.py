from __future__ import annotations

import itertools
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from unprivileged import unprivileged

from memtool.errors import (
    BrokenVaultFile,
    MemtoolError,
    NotAVault,
    NotWritable,
    OutsideVault,
    VaultNotFound,
    VaultTooNew,
)
from memtool.vault.layout import Vault, is_archived, kind_of, open_vault, project_of, state_folder
from memtool.vault.memory import KINDS
from memtool.vault.state import append_state, make_state_folder, read_state, write_state


@pytest.mark.parametrize(
    ("ref", "kind", "project"),
    [
        ("MEMORY.md", "memory", ""),
        ("CLAUDE.md", "note", ""),
        ("README.md", "note", ""),
        ("areas/projects/shop/summary.md", "project", "shop"),
        ("areas/projects/店铺/rules.md", "rules", "店铺"),
        ("areas/projects/shop/facts.json", "fact", "shop"),
        ("areas/projects/shop/todos.md", "todo", "shop"),
        ("areas/projects/shop/notes.md", "note", "shop"),
        ("areas/projects/shop/schema/t_order.md", "schema", "shop"),
        ("areas/projects/shop/decisions/2026-02-10-jwt.md", "decision", "shop"),
        ("areas/projects/shop/decisions/2026/jwt.md", "decision", "shop"),
        ("areas/projects/shop/changes/2026-02-10-jwt.md", "change", "shop"),
        ("areas/projects/shop/knowledge/2026-02-10-jwt.md", "knowledge", "shop"),
        ("areas/projects/shop/other/jwt.md", "note", "shop"),
        ("areas/projects/loose.md", "note", ""),
        ("areas/patterns/retry/summary.md", "pattern", ""),
        ("areas/patterns/retry/facts.json", "fact", ""),
        ("areas/tools/postgres/summary.md", "tool", ""),
        ("areas/global/facts.json", "fact", ""),
        ("areas/global/knowledge/2026-01-09-bisect.md", "knowledge", ""),
        ("areas/other/x/summary.md", "note", ""),
        ("daily/2026-02-10.md", "daily", ""),
        ("sessions/3f2a9c.md", "session", ""),
        ("archive/daily/2025-02-10.md", "daily", ""),
        ("archive/sessions/3f2a9c.md", "session", ""),
        ("rules/memory-loader.md", "note", ""),
        ("facts.json", "fact", ""),
        ("daily.md", "note", ""),
        ("notes/MEMORY.md", "note", ""),
    ],
)
def test_the_place_of_a_note_says_what_it_is(ref: str, kind: str, project: str) -> None:
    assert (kind_of(ref), project_of(ref)) == (kind, project)
    assert kind_of(ref, "unheard of") == kind
    assert is_archived(ref) == ref.startswith("archive/")


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_note_says_of_itself_wins_over_its_place(kind: str) -> None:
    assert kind_of("daily/2026-02-10.md", kind) == kind


@pytest.mark.slow
@given(st.lists(st.sampled_from(["areas", "projects", "global", "archive", "", ".", "x", "facts.json"])).map("/".join))
def test_every_path_has_a_kind(ref: str) -> None:
    assert kind_of(ref) in KINDS
    assert "/" not in project_of(ref)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault beside which lies a secret."""
    root = (tmp_path / "v").resolve()
    root.mkdir()
    (root / "a.md").write_text("a")
    (root / "memtool.toml").touch()
    (tmp_path / "secret.md").write_text("secret")
    return root


@pytest.mark.parametrize(
    "ref",
    [
        "..",
        "../secret.md",
        "x/../../secret.md",
        "/etc/passwd",
        "out/secret.md",
        "out.md",
        "a\0.md",
        "\ud800",
    ],
)
def test_no_path_leads_out_of_the_vault(root: Path, ref: str) -> None:
    (root / "out").symlink_to("..")
    (root / "out.md").symlink_to("../secret.md")
    with pytest.raises(OutsideVault, match="lies outside the vault"):
        Vault(root).path(ref)


def test_a_loop_of_symlinks_leads_nowhere(root: Path) -> None:
    (root / "loop").symlink_to("loop")
    with pytest.raises((OutsideVault, OSError)):  # since Python 3.13 only who reads finds out
        Vault(root).path("loop/a.md").read_bytes()


def test_an_absolute_path_into_the_vault_is_one_of_its_own(root: Path) -> None:
    assert Vault(root).path(f"{root}/a.md") == root / "a.md"
    with pytest.raises(OutsideVault):
        Vault(root).path(f"{root}2/a.md")


@given(st.text())
def test_any_reference_stays_inside_or_is_refused(ref: str) -> None:
    root = Path(__file__).parent.resolve()
    try:
        path = Vault(root).path(ref)
    except OutsideVault:
        return
    assert path.resolve().is_relative_to(root)


@pytest.mark.slow
def test_a_very_long_path_is_refused_or_harmless(root: Path) -> None:
    for ref in ("x" * 10_000, "x/" * 100_000):
        try:
            path = Vault(root).path(ref)
        except OutsideVault:
            continue
        assert not os.path.exists(path)  # noqa: PTH110  (Path.exists raises)


def test_a_symlink_to_a_vault_is_followed_to_it(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    assert open_vault(link) == Vault(root)


@pytest.mark.parametrize(
    ("name", "error", "sentence"),
    [
        ("nothing", VaultNotFound, "there is no vault at"),
        ("dangling", VaultNotFound, "there is no vault at"),
        ("secret.md", NotAVault, "is a file, not a vault"),
        ("secret.md/below", NotAVault, "cannot be opened as a vault"),
        ("loop", NotAVault, "cannot be opened as a vault"),
        ("a\0b", NotAVault, "cannot be opened as a vault"),
        ("x" * 300, NotAVault, "cannot be opened as a vault"),
        ("~nobody-has-this-name/v", NotAVault, "cannot be opened as a vault"),
    ],
)
def test_what_is_no_vault_is_said_in_one_sentence(
    root: Path, name: str, error: type[MemtoolError], sentence: str
) -> None:
    (root.parent / "dangling").symlink_to("nowhere")
    (root.parent / "loop").symlink_to("loop")
    with pytest.raises(error, match=sentence):
        open_vault(Path(name) if name.startswith("~") else root.parent / name)


@pytest.mark.parametrize("mode", [0o000, 0o300, 0o600])
def test_a_folder_that_cannot_be_read_is_not_an_empty_vault(root: Path, mode: int) -> None:
    root.chmod(mode)
    with unprivileged(), pytest.raises(NotAVault, match="cannot be read"):
        open_vault(root)
    root.chmod(0o700)


@pytest.mark.parametrize(
    "text",
    [
        "format = 2",
        "\ufeffformat=99\n",
        '# a comment\n\n  "format"  =  7  # another\r\n[search]\n',
        "format = " + "9" * 5000,
        "x = '\udcff'\nformat = 3",
    ],
)
def test_a_newer_format_is_refused_before_anything_else_is_read(root: Path, text: str) -> None:
    (root / "memtool.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(VaultTooNew, match="this memtool knows format 1"):
        open_vault(root)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "format = 1",
        "format = 0",
        "[export]\nformat = 2",
        "# format = 2",
        "my_format = 2",
        "format = 'x'",
        "\0\0",
        "][",
    ],
)
def test_every_other_settings_file_is_no_hindrance(root: Path, text: str) -> None:
    (root / "memtool.toml").write_text(text)
    assert open_vault(root) == Vault(root)


def test_a_settings_file_is_a_small_file_of_the_vault(root: Path) -> None:
    settings = root / "memtool.toml"
    settings.unlink()
    settings.symlink_to("/dev/zero")
    with pytest.raises(OutsideVault, match=r"'memtool\.toml' lies outside the vault"):
        open_vault(root)
    settings.unlink()
    settings.write_bytes(b" " * 65_537)
    with pytest.raises(BrokenVaultFile, match="is no settings file"):
        open_vault(root)
    settings.unlink()
    settings.mkdir()
    with pytest.raises(BrokenVaultFile, match="is no settings file"):
        open_vault(root)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_a_pipe_in_place_of_the_settings_does_not_hang(root: Path) -> None:
    (root / "memtool.toml").unlink()
    os.mkfifo(root / "memtool.toml")
    with pytest.raises(BrokenVaultFile, match="is no settings file"):
        open_vault(root)


def test_those_who_begin_at_once_find_one_folder_for_derived_state(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns, draw = itertools.count(), os.urandom

    def draw_late(size: int) -> bytes:
        time.sleep(0.02 * next(turns))
        return draw(size)

    monkeypatch.setattr(os, "urandom", draw_late)
    with ThreadPoolExecutor(3) as pool:
        found = pool.map(lambda cache: state_folder(Vault(root), lambda: cache), [tmp_path / "缓存"] * 3)
        assert len(set(found)) == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_a_pipe_in_place_of_the_index_does_not_hang(root: Path) -> None:
    (root / ".memtool" / "index").mkdir(parents=True)
    os.mkfifo(root / ".memtool" / "index" / "current")
    with pytest.raises(OSError, match="symlink"):
        make_state_folder(root / ".memtool")


def test_what_is_derived_is_ignored_by_git(root: Path) -> None:
    make_state_folder(root / ".memtool" / "locks")
    assert (root / ".memtool" / ".gitignore").read_text() == "*\n"
    (root / ".memtool" / ".gitignore").write_text("mine")
    make_state_folder(root / ".memtool")
    assert (root / ".memtool" / ".gitignore").read_text() == "mine"


@pytest.mark.parametrize("link", [".memtool", ".memtool/index", ".memtool/.gitignore", ".memtool/index/current.tmp"])
def test_a_vault_does_not_choose_where_memtool_writes(root: Path, link: str) -> None:
    """A vault from a stranger may bring a `.memtool` of its own."""
    (root / link).parent.mkdir(exist_ok=True, parents=True)
    (root / link).symlink_to(root.parent / "secret.md")
    with pytest.raises(OSError, match="symlink"):
        make_state_folder(root / ".memtool")
    assert (root.parent / "secret.md").read_text() == "secret"


@pytest.mark.parametrize("link", [".memtool", ".memtool/locks", ".memtool/.gitignore", ".memtool/locks/vault.lock"])
def test_a_vault_does_not_choose_where_memtool_locks(root: Path, link: str) -> None:
    (root / link).parent.mkdir(exist_ok=True, parents=True)
    (root / link).symlink_to(root.parent / "secret.md")
    with pytest.raises(NotWritable, match="symlink"), Vault(root).lock():
        raise AssertionError("there is no lock")
    assert (root.parent / "secret.md").read_text() == "secret"


@pytest.fixture
def state(root: Path) -> Path:
    make_state_folder(root / ".memtool" / "ledgers")
    return root / ".memtool" / "ledgers"


def test_a_line_that_was_cut_off_swallows_none_that_is_added(state: Path) -> None:
    write_state(state / "lines", "半".encode())
    append_state(state / "lines", b"one\n")
    append_state(state / "lines", b"two\n")
    assert (state / "lines").read_bytes() == "半\none\ntwo\n".encode()


def test_a_line_for_which_the_disk_has_no_room_is_not_added(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, lines = os.write, state / "lines"
    append_state(lines, "一\n".encode())
    monkeypatch.setattr(os, "write", lambda handle, line: write(handle, line[:2]))
    with pytest.raises(OSError, match="space"):
        append_state(lines, b"two\n")
    assert lines.read_bytes() == "一\n".encode()


def test_what_is_derived_is_written_whole_added_to_and_read(state: Path) -> None:
    write_state(state / "a.json", "解密\n".encode())
    append_state(state / "a.json", b"more\n")
    assert read_state(state / "a.json", largest=100).decode() == "解密\nmore\n"
    append_state(state / "new.log", b"line\n")
    assert {path.stat().st_mode & 0o777 for path in state.iterdir()} == {0o600}
    with pytest.raises(OSError, match="too large"):
        read_state(state / "a.json", largest=11)
    with pytest.raises(FileNotFoundError):
        read_state(state / "gone.json", largest=100)


@pytest.mark.parametrize("link", [".memtool", ".memtool/ledgers", ".memtool/ledgers/a.json"])
def test_what_is_derived_lies_nowhere_else(state: Path, root: Path, link: str) -> None:
    write_state(state / "a.json", b"1")
    (root / link).rename(root.parent / "outside")
    (root / link).symlink_to(root.parent / "outside")
    with pytest.raises(OSError, match="symlink"):
        read_state(state / "a.json", largest=100)
    with pytest.raises(OSError, match="symlink"):
        append_state(state / "a.json", b"2")
    with suppress(OSError):
        write_state(state / "a.json", b"3")
    outside = root.parent / "outside"
    found = [path.read_bytes() for path in (outside, *outside.rglob("*.json")) if path.is_file()]
    assert found == [b"1"]


def test_a_symlink_does_not_choose_who_may_read_what_is_written_in_its_place(state: Path, root: Path) -> None:
    target = root.parent / "secret.md"
    target.chmod(0o666)
    (state / "a.json").symlink_to(target)
    write_state(state / "a.json", "密".encode())
    assert ((state / "a.json").lstat().st_mode & 0o777, target.read_text()) == (0o600, "secret")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_nobody_waits_for_a_derived_file_that_is_a_pipe(state: Path) -> None:
    os.mkfifo(state / "a.json")
    with pytest.raises(OSError, match="it is no file"):
        read_state(state / "a.json", largest=100)
    with pytest.raises(OSError, match="it is no file"):
        append_state(state / "a.json", b"2")
    write_state(state / "a.json", b"3")
    assert read_state(state / "a.json", largest=100) == b"3"
