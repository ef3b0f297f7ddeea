from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from desk import Desk
from hypothesis import given, strategies as st
from unprivileged import unprivileged

from memtool.errors import NotWritable
from memtool.recall.ledger import (
    REST,
    Ledger,
    clear_ledger,
    ledger_folder,
    read_ledger,
    sweep_ledgers,
    write_ledger,
)
from memtool.vault.layout import Vault

WEEK = 7 * 86_400


@pytest.fixture
def folder(desk: Desk) -> Path:
    """The folder of the vault's ledgers."""
    return ledger_folder(desk.work)


def file_of(folder: Path, name: str = "3f2a9c") -> Path:
    return folder / f"{name}.json"


def test_a_ledger_is_read_as_it_was_written(folder: Path) -> None:
    ledger = Ledger(3, {"areas/a.md#事实-1": 2}, {"areas/a.md": 3}, 2, "解密 ‹x›", {"MEMORY.md": "0a"})
    write_ledger(folder, "3f2a9c", ledger)
    assert read_ledger(folder, "3f2a9c") == ledger
    assert [path.name for path in file_of(folder).parent.iterdir()] == ["3f2a9c.json"]


@pytest.mark.parametrize("session_id", ["../../MEMORY", "a/b", "CON", "会话", "\udc80", "x" * 300, "\0"])
def test_any_session_id_is_the_name_of_a_file_in_the_folder(folder: Path, session_id: str) -> None:
    write_ledger(folder, session_id, Ledger(4))
    assert read_ledger(folder, session_id).turn == 4
    assert len(list(folder.glob("*.json"))) == 1


def test_a_memory_rests_for_five_turns_after_it_was_given() -> None:
    ledger = Ledger().next_turn().with_given(["a"])
    rests = []
    for _ in range(REST + 1):
        ledger = ledger.next_turn()
        rests.append(ledger.rests("a"))
    assert rests == [True] * REST + [False]
    assert not ledger.rests("b")


@pytest.mark.slow
@given(st.lists(st.text(max_size=5), max_size=400))
def test_a_ledger_stays_small(keys: list[str]) -> None:
    ledger = Ledger(1).with_given(keys).with_hits(keys)
    assert len(ledger.given) <= 200
    assert set(ledger.given) <= set(keys)


STRANGE = [
    b"", b"{", b"[]", b"7", b"[" * 100_000, b'{"turn": "1"}', b'{"turn": true}', b'{"given": {"a": "b"}}',
    b'{"known": {"a": 1}}', b'{"more": 1}', b"\xff", b" " * 2_000_000,
]  # fmt: skip


@pytest.mark.parametrize("content", STRANGE, ids=range(len(STRANGE)))
def test_a_file_that_memtool_did_not_write_is_an_empty_ledger(folder: Path, content: bytes) -> None:
    write_ledger(folder, "3f2a9c", Ledger(1))
    file_of(folder).write_bytes(content)
    assert read_ledger(folder, "3f2a9c") == Ledger()
    write_ledger(folder, "3f2a9c", Ledger(2))
    assert read_ledger(folder, "3f2a9c").turn == 2


@pytest.mark.parametrize("link", [".memtool", ".memtool/ledgers"])
def test_a_vault_does_not_choose_where_ledgers_are_read_written_and_swept(
    vault: Vault, tmp_path: Path, link: str
) -> None:
    target = tmp_path / "outside"
    outside = target / "ledgers" if link == ".memtool" else target
    outside.mkdir(parents=True)
    (outside / "3f2a9c.json").write_text('{"turn": 7}')
    os.utime(outside / "3f2a9c.json", (0, 0))
    if link == ".memtool":
        shutil.rmtree(vault.state_path, ignore_errors=True)
    path = vault.root / link
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(target)
    folder = vault.state_path / "ledgers"
    assert read_ledger(folder, "3f2a9c") == Ledger()
    with pytest.raises(NotWritable):
        write_ledger(folder, "3f2a9c", Ledger(1))
    sweep_ledgers(folder, 0.0)
    clear_ledger(folder, "3f2a9c")
    assert [file.read_text() for file in outside.iterdir()] == ['{"turn": 7}']
    assert ledger_folder(Desk(vault).work) != folder


def test_a_ledger_that_is_a_symlink_is_not_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"turn": 7}')
    file_of(folder).symlink_to(tmp_path / "other.json")
    assert read_ledger(folder, "3f2a9c") == Ledger()


def test_where_the_vault_cannot_be_written_ledgers_lie_in_the_cache(vault: Vault, folder: Path, tmp_path: Path) -> None:
    vault.state_path.chmod(0o500)
    folder.chmod(0o500)
    try:
        with unprivileged():
            with pytest.raises(NotWritable, match="cannot write in"):
                write_ledger(folder, "3f2a9c", Ledger(2))
            other = ledger_folder(Desk(vault).work)
            write_ledger(other, "3f2a9c", Ledger(3))
            assert read_ledger(other, "3f2a9c") == Ledger(3)
            desk = Desk(vault)
            desk.environ["MEMTOOL_CACHE"] = str(vault.state_path / "cache")
            assert ledger_folder(desk.work) == folder  # neither can be written
    finally:
        vault.state_path.chmod(0o700)
        folder.chmod(0o700)
    assert other.is_relative_to(tmp_path / "cache")
    assert not file_of(folder).exists()


NOW = 1_800_000_000.0


def aged(folder: Path, **ages: float) -> None:
    for name, age in ages.items():
        write_ledger(folder, name, Ledger(1))
        os.utime(file_of(folder, name), (NOW - age, NOW - age))


def test_beyond_the_newest_fifty_old_ledgers_are_swept_and_those_of_a_clock_that_jumped(folder: Path) -> None:
    aged(
        folder, future=-WEEK - 60, new=WEEK - 60, old=WEEK + 60, **{f"n{number}": float(number) for number in range(48)}
    )
    sweep_ledgers(folder, NOW)
    assert {path.stem for path in folder.iterdir()} >= {"future", "new"}
    assert not file_of(folder, "old").exists()
    aged(folder, **{f"later{number}": -WEEK - 120.0 for number in range(50)})
    sweep_ledgers(folder, NOW)
    assert not file_of(folder, "future").exists()
    assert file_of(folder, "new").exists()


def test_a_clock_that_jumps_makes_no_session_forget(folder: Path) -> None:
    aged(folder, **{f"n{number}": 0.0 for number in range(50)})
    sweep_ledgers(folder, NOW + 52 * WEEK)
    assert len(list(folder.iterdir())) == 50


def test_sweeping_removes_only_ledgers(folder: Path) -> None:
    aged(folder, **{f"n{number}": 0.0 for number in range(50)}, mine=WEEK + 60)
    file_of(folder, "mine").rename(folder / "README.txt")
    (folder / "folder.json").mkdir()
    os.utime(folder / "folder.json", (0, 0))
    sweep_ledgers(folder, NOW)
    assert (folder / "README.txt").exists()
    assert (folder / "folder.json").exists()


def test_a_ledger_that_cannot_be_removed_does_not_end_the_sweep(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    aged(folder, oldest=WEEK + 90, old=WEEK + 60, **{f"n{number}": float(number) for number in range(50)})
    unlink = Path.unlink

    def refuse(path: Path, *, missing_ok: bool = False) -> None:
        if path.stem == "oldest":
            raise PermissionError
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    sweep_ledgers(folder, NOW)
    assert (file_of(folder, "oldest").exists(), file_of(folder, "old").exists()) == (True, False)
