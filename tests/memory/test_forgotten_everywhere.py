"""What is forgotten is gone wherever it was said, and no later run brings it back."""

from __future__ import annotations

from pathlib import Path

import pytest
from client_transcripts import answer, edit, prompt, write_transcript
from desk import Desk

from memtool.consolidate.review import stored_proposals
from memtool.consolidate.run import consolidate
from memtool.consolidate.week import week_of
from memtool.history.changes import find_change
from memtool.history.undoing import undo
from memtool.recall.given import PROMPT, GivenLine, Giving, keep_giving
from memtool.recall.ledger import ledger_folder
from memtool.recall.start.session_start import session_context

RULE = "From now on never touch the ledger of Kowalski by hand."
REGEL = "以后一律不要手工修改 Kowalski 的账本 ledger.py。"


def hold(desk: Desk, *said: str) -> Path:
    """Hold a session of the prompts *said*, each of which edits a file, and let a worker capture it."""
    records = [
        record
        for at, asked in enumerate(said)
        for record in (
            prompt(asked),
            *edit(f"/src/shop/{at}.py", f"{at}"),
            answer(f"The file {at}.py holds the total now."),
        )
    ]
    path = write_transcript(desk.home / "talks" / "one.jsonl", records, cwd="/src/shop", start=desk.now)
    desk.put(path)
    desk.drain()
    return path


def accept(desk: Desk) -> None:
    consolidate(desk.work, week_of(desk.now.date()))


def everything(desk: Desk) -> str:
    """Return all notes and lists of the vault, and what the next session starts with; facts have tests of their own."""
    files = (path for path in sorted(desk.vault.root.rglob("*.md")) if ".git" not in path.parts)
    return "\n".join([*(path.read_text("utf-8") for path in files), session_context(desk.work, "shop").text])


def forget_line(desk: Desk, text: str, *, purge: bool = False) -> None:
    (note,) = (desk.vault.root / "sessions").glob("*.md")
    line = GivenLine("k3f9", f"sessions/{note.name}", 1, text=text)
    keep_giving(ledger_folder(desk.work), "s9", Giving("2026-02-10T14:30", PROMPT, "shop", lines=(line,)))
    assert desk.forget("k3f9", purge=purge).changed


@pytest.mark.slow
@pytest.mark.parametrize("rule", [RULE, REGEL], ids=["en", "zh"])
@pytest.mark.parametrize("purge", [False, True], ids=["forget", "purge"])
def test_a_line_of_a_session_is_gone_from_all_that_was_made_of_it(desk: Desk, rule: str, *, purge: bool) -> None:
    path = hold(desk, f"Add the total to the invoice. {rule}", "Round the total to cents in order.py, please.")
    accept(desk)
    before = everything(desk)
    places = [line for line in before.splitlines() if "Kowalski" in line]
    assert len(places) >= 5, places  # a title, a row, a rule, a line of the day, the report, the start
    assert [fact.status for fact in desk.facts()] == ["active"]
    forget_line(desk, rule, purge=purge)
    assert "Kowalski" not in everything(desk)
    assert ".py holds the total now" in everything(desk), "the title is of what was done beside it"
    assert "Add the total to the invoice." in everything(desk), "what was asked keeps its other sentence"
    assert [fact.status for fact in desk.facts()] == ([] if purge else ["archived"])
    assert desk.find("Kowalski") == []
    assert desk.git("status", "--porcelain") == ""
    write_transcript(
        path,
        [
            prompt("Now the docs of order.py"),
            *edit("/src/shop/9.py", "9"),
            answer("The docs of order.py explain the rounding to cents now."),
        ],
    )
    desk.put(path)
    desk.drain()
    accept(desk)
    again = everything(desk)
    assert "explain the rounding" in again
    assert "Kowalski" not in again
    assert "# The file 1.py holds the total now." not in again, "its title goes on"
    assert [fact.status for fact in desk.facts()] == ([] if purge else ["archived"])
    assert desk.told == []


@pytest.mark.slow
def test_a_fact_is_forgotten_with_the_line_it_stands_on(desk: Desk) -> None:
    hold(desk, f"Add the total to the invoice. {RULE}", "Round the total to cents in order.py, please.")
    accept(desk)
    (fact,) = desk.facts()
    done = desk.forget(fact.id)
    assert "Kowalski" not in everything(desk)
    accept(desk)
    assert [fact.status for fact in desk.facts()] == ["archived"]
    undo(desk.vault, find_change(desk.vault, done.kept.commit))
    assert [fact.status for fact in desk.facts()] == ["active"]
    assert everything(desk).count("Kowalski") >= 5


@pytest.mark.slow
def test_a_title_is_forgotten_with_its_note_its_lines_and_its_facts(desk: Desk) -> None:
    path = hold(desk, f"Add the total to the invoice. {RULE}", "Round the total to cents in order.py, please.")
    accept(desk)
    (note,) = (desk.vault.root / "sessions").glob("*.md")
    desk.forget(f"sessions/{note.name}")
    (desk.vault.root / f"sessions/{note.name}").rename(desk.home / "put aside")
    assert "Kowalski" not in everything(desk)
    assert [fact.status for fact in desk.facts()] == ["archived"]
    (desk.home / "put aside").rename(desk.vault.root / f"sessions/{note.name}")
    write_transcript(
        path,
        [
            prompt("Now the docs of order.py"),
            *edit("/src/shop/9.py", "9"),
            answer("The docs of order.py explain the rounding to cents now."),
        ],
    )
    desk.put(path)
    desk.drain()
    accept(desk)
    daily = "".join(file.read_text("utf-8") for file in (desk.vault.root / "daily").glob("*.md"))
    assert "Kowalski" not in daily + session_context(desk.work, "shop").text
    assert [fact.status for fact in desk.facts()] == ["archived"]


@pytest.mark.slow
def test_what_waits_for_a_review_is_forgotten_too(desk: Desk) -> None:
    hold(desk, f"Add the total to the invoice. {RULE}", "Round the total to cents in order.py, please.")
    week = week_of(desk.now.date())
    consolidate(desk.work, week, review_first=True)
    assert [one.proposal.text for one in stored_proposals(desk.vault, week)] == [RULE]
    forget_line(desk, RULE)
    assert stored_proposals(desk.vault, week) == []
    assert "Kowalski" not in everything(desk)
