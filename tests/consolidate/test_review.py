from __future__ import annotations

import pytest
from desk import NOW, Desk
from session_notes import lines, write_note

from memtool.consolidate.review import Choice, read_choices, review_ref, stored_proposals
from memtool.consolidate.run import apply_review, consolidate
from memtool.consolidate.week import Week, week_of
from memtool.errors import NoteNotFound, UsageError
from memtool.vault.facts import Fact, parse_facts

REF = "areas/projects/shop/facts.json"
WEEK = week_of(NOW.date())
RULES = ("always write table-driven tests", "提交之前始终运行 `pnpm test`", "never touch schema.ts by hand")


@pytest.fixture
def reviewed(desk: Desk) -> Desk:
    for at, rule in enumerate(RULES):
        write_note(desk.vault, f"s{at}", *lines(rules=(rule,)))
    consolidate(desk.work, WEEK, review_first=True)
    return desk


def facts(desk: Desk) -> dict[str, Fact]:
    path = desk.vault.root / REF
    return {fact.fact: fact for fact in parse_facts(path.read_text(encoding="utf-8")).facts} if path.exists() else {}


def test_a_review_lists_the_proposals_and_writes_no_fact(reviewed: Desk) -> None:
    text = reviewed.read(review_ref(WEEK))
    assert sorted(choice.text for choice in read_choices(text).values()) == sorted(RULES)
    assert "search: no" in text
    assert '"always write table-driven tests" (s0.md:' in text
    assert facts(reviewed) == {}


@pytest.mark.slow
def test_what_was_decided_is_carried_out(reviewed: Desk) -> None:
    path = reviewed.vault.root / review_ref(WEEK)
    text = path.read_text(encoding="utf-8")
    for line in text.splitlines():
        if RULES[1] in line and line.startswith("- keep"):
            text = text.replace(line, line.replace("- keep", "- drop"))
        if RULES[2] in line and line.startswith("- keep"):
            text = text.replace(line, line.replace("- keep", "- [change]").replace("by hand", "without a migration"))
    path.write_text(text, encoding="utf-8")
    outcome = apply_review(reviewed.work, WEEK)
    found = facts(reviewed)
    assert {text: fact.status for text, fact in found.items()} == {
        RULES[0]: "active", RULES[1]: "archived", "never touch schema.ts without a migration": "active",
    }  # fmt: skip
    assert found["never touch schema.ts without a migration"].author == "user"
    assert outcome.kept.commit
    assert not path.exists()
    again = consolidate(reviewed.work, WEEK)
    assert {judged.fate for judged in again.judged if judged.proposal.text == RULES[1]} == {"rejected"}


def test_what_was_accepted_is_in_the_summary_at_once(reviewed: Desk) -> None:
    ref = "areas/projects/shop/summary.md"
    (reviewed.vault.root / ref).parent.mkdir(parents=True, exist_ok=True)
    (reviewed.vault.root / ref).write_text("# shop\n\n卖鞋。\n", encoding="utf-8")
    proposed = {one.proposal.id: Choice("keep", one.proposal.text) for one in stored_proposals(reviewed.vault, WEEK)}
    outcome = apply_review(reviewed.work, WEEK, proposed)
    assert all(f"- {rule} (2026-02-10)" in reviewed.read(ref) for rule in RULES)
    assert ref in outcome.written
    assert consolidate(reviewed.work, WEEK).changes == []


@pytest.mark.slow
def test_what_is_left_open_waits(reviewed: Desk) -> None:
    one = stored_proposals(reviewed.vault, WEEK)[0]
    apply_review(reviewed.work, WEEK, {one.proposal.id: Choice("keep", one.proposal.text)})
    assert list(facts(reviewed)) == [one.proposal.text]
    assert len(stored_proposals(reviewed.vault, WEEK)) == 2


def test_a_proposal_waits_in_one_week_also_after_its_note_was_archived(reviewed: Desk) -> None:
    text, archive = reviewed.read(review_ref(WEEK)), reviewed.vault.root / "archive/sessions"
    archive.mkdir(parents=True, exist_ok=True)
    (reviewed.vault.root / "sessions/s0.md").rename(archive / "s0.md")
    again = consolidate(reviewed.work, WEEK, review_first=True)
    assert again.waiting == stored_proposals(reviewed.vault, WEEK)
    assert (len(again.waiting), reviewed.read(review_ref(WEEK))) == (3, text)
    assert consolidate(reviewed.work, Week(2026, 8), review_first=True).waiting == []


def test_without_a_review_or_with_a_lost_one_nothing_is_written(reviewed: Desk) -> None:
    for path in reviewed.vault.state_path.glob("proposals-*"):
        path.write_text("{")
    with pytest.raises(UsageError):
        apply_review(reviewed.work, WEEK)
    (reviewed.vault.root / review_ref(WEEK)).unlink()
    with pytest.raises(NoteNotFound):
        apply_review(reviewed.work, WEEK)
    assert facts(reviewed) == {}
