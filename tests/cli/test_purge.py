"""`memtool purge` asks, says what was changed, and what it cannot reach."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from desk import Desk
from terminal import MEMTOOL

if TYPE_CHECKING:
    from terminal import Memtool

TEXT = "Giraffe 芝麻 9!x"


@pytest.mark.slow
def test_without_a_terminal_it_needs_yes_and_says_what_it_did(memtool: Memtool, desk: Desk) -> None:
    desk.remember(f"The door opens with {TEXT}, 开门.")
    vault = ("--vault", str(desk.vault.root))
    refused = memtool("purge", TEXT, *vault)
    assert refused.code == 2
    assert "there is no terminal to ask" in refused.err
    assert TEXT in desk.read("areas/projects/shop/facts.json")
    done = memtool("purge", TEXT, "--yes", *vault)
    assert done.code == 0
    assert done.out.startswith("1 file changed: areas/projects/shop/facts.json\n")
    assert "git's history still holds it; `memtool purge --history` removes it there, too." in done.err
    assert TEXT.encode() in desk.git("log", "-p", "--all").encode()
    again = memtool("purge", TEXT, "--yes", "--history", *vault)
    assert again.code == 0
    assert again.out.startswith("No file of the vault holds it.\n")
    assert "Other clones of this vault still hold it" in again.err
    assert TEXT not in desk.git("log", "-p", "--all")


@pytest.mark.slow
def test_json_and_a_text_from_the_standard_input(memtool: Memtool, desk: Desk) -> None:
    desk.remember(f"The door opens with {TEXT}, 开门.")
    vault = ("--vault", str(desk.vault.root))
    answer = memtool("purge", "-", "--yes", "--history", "--json", *vault, stdin=f"{TEXT}\n".encode()).answer
    assert (answer["files"], answer["commit"]) == (["areas/projects/shop/facts.json"], "")
    assert answer["history"]["commits"] == 2
    assert memtool("purge", "a", "--yes", *vault).code == 2


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of Unix")
def test_at_a_terminal_it_asks(desk: Desk) -> None:
    fact = desk.remember(f"The door opens with {TEXT}, 开门.").memory.id
    ours, theirs = os.openpty()
    os.write(ours, b"n\n")
    command = [*MEMTOOL, "purge", fact, "--vault", str(desk.vault.root)]
    ran = subprocess.run(command, stdin=theirs, capture_output=True, text=True, check=False)
    os.close(ours)
    os.close(theirs)
    assert f"Remove {fact} (The door opens with" in ran.stderr
    assert (ran.returncode, len(desk.facts())) == (130, 1)
