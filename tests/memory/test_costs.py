"""What a `remember` costs, in things that can be counted: processes, walks over the vault, heavy imports."""

from __future__ import annotations

import subprocess

import pytest
from desk import SHOP, Desk

import memtool.index.writer
from memtool.history.one_commit import alone, commit, keep_edits
from memtool.index.engine import Place, catch_up, place_of, use_index
from memtool.memory.remember import remember
from memtool.vault.memory import NewMemory
from memtool.vault.scan import Scan


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """The git processes, walks and reads for the index from now on."""
    found: dict[str, list[str]] = {"git": [], "walks": [], "reads": []}
    run, scan, read = subprocess.run, Place.scan, memtool.index.writer.read_file

    def walk(place: Place) -> Scan:
        found["walks"].append(str(place.vault.root))
        return scan(place)

    def run_git(command: list[str], **options: object) -> object:
        found["git"].append(" ".join(command))
        return run(command, **options)  # type: ignore[call-overload]

    def read_file(path: object, *rest: object) -> object:
        found["reads"].append(str(path))
        return read(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Place, "scan", walk)
    monkeypatch.setattr(memtool.index.writer, "read_file", read_file)
    monkeypatch.setattr(subprocess, "run", run_git)
    return found


@pytest.mark.slow
def test_a_memory_costs_one_walk_few_processes_and_one_file_read_for_the_index(
    desk: Desk, counted: dict[str, list[str]]
) -> None:
    desk.remember("支付回调必须先验签。")
    desk.find("anything")
    for found in counted.values():
        found.clear()
    work = desk.work
    done = remember(work, NewMemory("The API listens on port 8080.", project="shop"))
    assert len(counted["walks"]) == 1  # the look for what says the same
    counted["reads"].clear()
    catch_up(work, [done.memory.path])
    assert len(counted["walks"]) == 1
    assert counted["reads"] == [str(desk.vault.root / SHOP)]
    assert len(counted["git"]) <= 5, counted["git"]
    counted["git"].clear()
    remember(work, NewMemory("Prices are rounded half up.", kind="decision", project="shop"))
    assert len(counted["git"]) <= 5, counted["git"]


@pytest.mark.slow
def test_nothing_to_keep_costs_two_processes_and_the_commit_behind_it_no_further_look(
    desk: Desk, counted: dict[str, list[str]]
) -> None:
    desk.remember("支付回调必须先验签。")
    counted["git"].clear()
    vault = desk.work.vault
    with alone(vault):
        keep_edits(vault, [SHOP, "never.md"])
        assert len(counted["git"]) == 2, counted["git"]
        keep_edits(vault, [SHOP])
        assert len(counted["git"]) == 3, counted["git"]
        commit(vault, [SHOP], "update", "nothing")
    assert sum("--get-regexp" in words for words in counted["git"]) == 1
    counted["git"].clear()
    commit(vault, [SHOP], "update", "nothing")  # without the lock, all is looked up anew
    assert sum("--get-regexp" in words for words in counted["git"]) == 1


@pytest.mark.slow
def test_the_index_holds_what_was_written_without_a_walk_and_misses_no_other_change(desk: Desk) -> None:
    desk.remember("支付回调必须先验签。")
    desk.find("anything")
    (desk.vault.root / "notes.md").write_text("# 笔记\nWritten by hand meanwhile.\n")
    done = desk.remember("The API listens on port 8080.")
    catch_up(desk.work, [done.memory.path])
    place = place_of(desk.work)
    held = use_index(
        place._replace(is_followed=True), lambda index: index.db.execute("SELECT text FROM chunk").fetchall()
    )
    assert any("8080" in str(row) for row in held)
    assert desk.find("8080") == [SHOP]
    assert desk.find("meanwhile") == ["notes.md"]


def test_an_index_that_is_not_there_is_left_to_the_next_search(desk: Desk) -> None:
    (desk.vault.root / "notes.md").write_text("# 笔记\n")
    catch_up(desk.work, ["notes.md"])
    assert not place_of(desk.work).generations.exists()
    assert desk.find("笔记") == ["notes.md"]
