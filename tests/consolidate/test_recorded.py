"""What a model answered to the weeks of thirty sessions, through the gate; see `recorded/README.md`."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from capture.inventions import INVENTED

from memtool.capture.model_note import draft_from_answer
from memtool.consolidate.model import NamedLine, named_lines, read_answer
from memtool.consolidate.proposals import Proposal, SessionView
from memtool.vault.sessions import SessionNote, parse_session, render_session
from scripts.record_replies import REPLIES, read_sessions

TRANSCRIPTS = Path(__file__).parents[3] / "shared" / "transcripts"
RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.json"))
NEVER_SAID = (*INVENTED, "仓库里的机器人电量低时会停下", "法务部门禁止保存儿童的生日")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not TRANSCRIPTS.is_dir(), reason="the transcripts of ../shared are not on this machine"),
]


@cache
def weeks() -> dict[str, list[NamedLine]]:
    """Return the lines of each project's weeks, as a model is shown them."""
    found = defaultdict(list)
    for name, turns in read_sessions(TRANSCRIPTS).items():
        records = list(map(json.loads, (TRANSCRIPTS / f"sessions/{name}.jsonl").read_text("utf-8").splitlines()))
        at = max(datetime.fromisoformat(one["timestamp"]) for one in records if isinstance(one.get("timestamp"), str))
        folder = next(one["cwd"] for one in records if one.get("cwd"))
        project = Path(re.sub(r"/\.worktrees/.*", "", folder)).name
        draft = draft_from_answer((REPLIES / f"{name}.json").read_text("utf-8"), turns)
        note = render_session(SessionNote(name, project, updated=f"{at.astimezone(UTC):%Y-%m-%d %H:%M}", draft=draft))
        year, week, _ = at.astimezone(UTC).isocalendar()
        found[f"{project}-{year}-W{week:02}"].append(SessionView(f"sessions/{name}.md", parse_session(note)))
    return {name: named_lines(sorted(views, key=lambda view: view.date)) for name, views in found.items()}


@cache
def told() -> list[tuple[str, dict[str, Any], list[Proposal]]]:
    """Return each fact that the model proposed, with its week and what the gate made of it."""
    return [
        (path.stem, fact, read_answer(json.dumps({"facts": [fact]}), weeks()[path.stem]))
        for path in RECORDED
        for fact in json.loads(path.read_text("utf-8"))["facts"]
    ]


def test_good_facts_are_kept_with_their_subject_and_the_lines_of_their_notes() -> None:
    kept = [found[0] for _, _, found in told() if found]
    assert len(told()) == 21
    assert len(kept) >= 0.8 * len(told())  # four deny in other words than their lines ("fails", "does not work")
    assert all(one.subject and re.fullmatch(r"[\w-]+\.md:\d+", one.spans[-1].place) for one in kept)


def test_what_no_line_says_is_not_let_in() -> None:
    let_in = offered = 0
    for lines in weeks().values():
        for at, line in enumerate(lines):
            claim = NEVER_SAID[at % len(NEVER_SAID)]
            fact = {"subject": claim, "claim": claim, "category": "decision", "lines": [line.name]}
            offered, let_in = offered + 1, let_in + len(read_answer(json.dumps({"facts": [fact]}), lines))
    assert offered > 150
    assert let_in <= 0.03 * offered


@pytest.mark.parametrize(
    ("before", "after"),
    [(r"^", "It is not so that "), (r"(?<=\w)\.?$", ", within 7 days"), (r"[a-z]+[A-Z]\w+|[A-Z]+_\w+", "otherName")],
)
def test_a_fact_that_was_turned_around_is_not_let_in(before: str, after: str) -> None:
    turned = [(week, fact | {"claim": re.sub(before, after, fact["claim"], count=1)}, fact) for week, fact, _ in told()]
    changed = [(week, fact) for week, fact, was in turned if fact["claim"] != was["claim"]]
    let_in = [fact["claim"] for week, fact in changed if read_answer(json.dumps({"facts": [fact]}), weeks()[week])]
    assert len(changed) >= 7
    assert len(let_in) <= 0.15 * len(changed), let_in  # three of 21 deny a clause that their lines deny, too
