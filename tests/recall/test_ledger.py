from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from unprivileged import unprivileged

from memtool.errors import NotWritable
from memtool.recall.ledger import REST, Ledger, clear_ledger, read_ledger, sweep_ledgers, write_ledger
from memtool.vault.layout import Vault

WEEK = 7 * 86_400


def file_of(vault: Vault, name: str = "3f2a9c") -> Path:
    return vault.state_path / "ledgers" / f"{name}.json"


def test_a_ledger_is_read_as_it_was_written(vault: Vault) -> None:
    ledger = Ledger(3, {"areas/a.md#事实-1": 2}, {"areas/a.md": 3}, 2, "解密 ‹x›", {"MEMORY.md": "0a"})
    write_ledger(vault, "3f2a9c", ledger)
    assert read_ledger(vault, "3f2a9c") == ledger
    assert [path.name for path in file_of(vault).parent.iterdir()] == ["3f2a9c.json"]


def test_two_sessions_have_two_ledgers(vault: Vault) -> None:
    write_ledger(vault, "one", Ledger(1))
    write_ledger(vault, "two", Ledger(2))
    assert (read_ledger(vault, "one").turn, read_ledger(vault, "two").turn) == (1, 2)


@pytest.mark.parametrize("session_id", ["../../MEMORY", "a/b", "CON", "会话", "\udc80", "x" * 300, "\0"])
def test_any_session_id_is_the_name_of_a_file_in_the_folder(vault: Vault, session_id: str) -> None:
    write_ledger(vault, session_id, Ledger(4))
    assert read_ledger(vault, session_id).turn == 4
    assert len(list((vault.state_path / "ledgers").glob("*.json"))) == 1


def test_a_memory_rests_for_five_turns_after_it_was_given() -> None:
    ledger = Ledger().next_turn().with_given(["a"])
    rests = []
    for _ in range(REST + 1):
        ledger = ledger.next_turn()
        rests.append(ledger.rests("a"))
    assert rests == [True] * REST + [False]
    assert not ledger.rests("b")


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
def test_a_file_that_memtool_did_not_write_is_an_empty_ledger(vault: Vault, content: bytes) -> None:
    write_ledger(vault, "3f2a9c", Ledger(1))
    file_of(vault).write_bytes(content)
    assert read_ledger(vault, "3f2a9c") == Ledger()
    write_ledger(vault, "3f2a9c", Ledger(2))
    assert read_ledger(vault, "3f2a9c").turn == 2


def test_a_vault_does_not_choose_where_ledgers_are_written(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    vault.state_path.mkdir(exist_ok=True)
    (vault.state_path / "ledgers").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotWritable):
        write_ledger(vault, "3f2a9c", Ledger(1))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_that_cannot_be_written_is_told(vault: Vault) -> None:
    write_ledger(vault, "3f2a9c", Ledger(1))
    folder = file_of(vault).parent
    folder.chmod(0o500)
    try:
        with unprivileged(), pytest.raises(NotWritable, match="cannot write in"):
            write_ledger(vault, "3f2a9c", Ledger(2))
    finally:
        folder.chmod(0o700)
    assert read_ledger(vault, "3f2a9c").turn == 1


def test_clearing_forgets_everything_but_what_a_resume_needs(vault: Vault) -> None:
    ledger = Ledger(5, {"a": 5}, {"a": 5}, 4, "block", {"MEMORY.md": "0a"})
    write_ledger(vault, "3f2a9c", ledger)
    clear_ledger(vault, "3f2a9c", is_over=True)
    assert read_ledger(vault, "3f2a9c") == Ledger(start="block", known={"MEMORY.md": "0a"})
    clear_ledger(vault, "3f2a9c")
    clear_ledger(vault, "3f2a9c")
    assert not file_of(vault).exists()


def test_old_ledgers_are_swept_and_those_of_a_clock_that_jumped(vault: Vault) -> None:
    now = 1_800_000_000.0
    for name, age in {"new": WEEK - 60, "old": WEEK + 60, "future": -WEEK - 60}.items():
        write_ledger(vault, name, Ledger(1))
        os.utime(file_of(vault, name), (now - age, now - age))
    sweep_ledgers(vault, now)
    assert [path.stem for path in file_of(vault).parent.iterdir()] == ["new"]


def test_sweeping_where_there_is_nothing_is_no_problem(vault: Vault) -> None:
    sweep_ledgers(vault, 0.0)


def test_a_ledger_is_plain_json(vault: Vault) -> None:
    write_ledger(vault, "3f2a9c", Ledger(1, {"解密.md": 1}))
    assert json.loads(file_of(vault).read_bytes())["given"] == {"解密.md": 1}
