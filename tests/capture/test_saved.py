"""What was saved while a session went on is not written a second time into its note."""

from __future__ import annotations

from pathlib import Path

import pytest
from client_transcripts import answer, edit, prompt, write_transcript
from desk import Desk

from memtool.capture.saved import saved_in, without_saved
from memtool.vault.authors import DECISION, OPEN, RULE
from memtool.vault.facts import Fact
from memtool.vault.sessions import Draft, Line, parse_session

SESSION = "3f2a9c71-0001"
ULIDS = "Use ULIDs for the order ids, because they sort by time."
IN_CHINESE = "订单号一律用 ULID，因为它能按时间排序。"


def test_facts_and_notes_of_the_session_are_what_was_saved(desk: Desk) -> None:
    desk.remember(ULIDS, source=f"{SESSION}#4", category="decision")
    desk.remember(IN_CHINESE, project="", source=SESSION, category="preference")
    desk.remember("Deploys happen on Tuesdays.", source="another")
    text = "# Queue\n\nWe take Redis streams. 用 Redis，不用 RabbitMQ。\n\n- They keep what was not acknowledged."
    desk.remember(text, kind="decision", source=SESSION)
    desk.remember("# Cache\n\nThe cache lives an hour.", kind="knowledge", source="another")
    saved = saved_in(desk.vault, SESSION, "shop")
    for each in (ULIDS, IN_CHINESE, "We take Redis streams.", "用 Redis，不用 RabbitMQ。"):
        assert each in saved
    assert [text for text in saved if "Tuesdays" in text or "hour" in text] == []
    assert saved_in(desk.vault, "nobody", "shop") == []


def test_a_fact_made_of_the_sessions_own_lines_takes_nothing_from_the_note(desk: Desk) -> None:
    desk.remember(ULIDS, source=SESSION)
    path = desk.vault.root / "areas/projects/shop/facts.json"
    assert saved_in(desk.vault, SESSION, "shop") == [ULIDS]
    spans = '"spans": [{"source": "sessions/x.md#3", "hash": "1"}], "source"'
    path.write_text(path.read_text(encoding="utf-8").replace('"source"', spans, 1), encoding="utf-8")
    assert saved_in(desk.vault, SESSION, "shop") == []


@pytest.mark.parametrize(
    ("text", "role", "stays"),
    [
        (ULIDS, DECISION, False),
        ("use ULIDs for the order ids because they sort by time", "", False),
        ("Use UUIDs for the order ids, because they sort by time.", DECISION, True),
        ("Don't use ULIDs for the order ids, because they sort by time.", RULE, True),
        (IN_CHINESE, RULE, False),
        (ULIDS, OPEN, True),
    ],
)
def test_a_line_that_says_the_same_goes_and_no_other(text: str, role: str, stays: bool) -> None:
    lines = (Line(text, role), Line("All 12 tests pass."))
    drawn = without_saved(Draft("Orders", lines=lines), [Fact(ULIDS).fact, IN_CHINESE])
    assert drawn.lines == (lines if stays else lines[1:])
    assert without_saved(Draft(lines=lines), []).lines == lines


@pytest.mark.slow
def test_the_note_of_a_session_leaves_out_what_it_saved(desk: Desk, tmp_path: Path) -> None:
    talk = [
        prompt("Add the order model."),
        *edit("/src/shop/order.ts"),
        answer("The order model is in src/order.ts; its ids are ULIDs. All 12 tests of the orders pass."),
        prompt("Let tokens live longer, 因为客服要求。"),
        *edit("/src/shop/token.ts", "two"),
        answer("Access tokens live 24 hours now, because support asked for it."),
        prompt("And the cache?"),
        *edit("/src/shop/cache.ts", "three"),
        answer("The cache lives one hour now, 因为价格会变。"),
    ]
    path = write_transcript(tmp_path / f"{SESSION}.jsonl", talk)
    desk.put(path)
    desk.drain()
    (place,) = (desk.vault.root / "sessions").glob("*.md")
    before = parse_session(place.read_text(encoding="utf-8"))
    line = next(each for each in before.draft.lines if "24 hours" in each.text)
    desk.remember(line.text, project=before.project, source=SESSION, category="decision")
    place.unlink()
    desk.put(path, "capture")
    desk.drain()
    after = parse_session(place.read_text(encoding="utf-8"))
    assert [each.text for each in after.draft.lines] == [
        each.text for each in before.draft.lines if each.text not in (line.text, line.asked)
    ]  # a prompt goes with the last of what came of it
    assert line.asked == "Let tokens live longer, 因为客服要求。"
    assert after.draft.lines
