"""What the gate lets in of invented sessions: every line that a colleague would write, and nothing that nobody said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from capture.inventions import INVENTED
from capture.talk import TALKS, talk

from memtool.capture.gate import LineGate
from memtool.capture.model_note import parse_note
from memtool.capture.turns import Turn, turns_of
from memtool.vault.sessions import Line

REPLIES = Path(__file__).parent / "replies"  # what a colleague would answer to the request
COLLEAGUE: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text("utf-8")) for path in REPLIES.glob("*.json")
}
NAMES = sorted(path.stem for path in TALKS.glob("*.txt"))


def turns(folder: Path, name: str) -> list[Turn]:
    return turns_of(talk(folder, name).steps)


def lines(folder: Path, name: str) -> tuple[Line, ...]:
    return parse_note(json.dumps(COLLEAGUE[name]), turns(folder, name)).lines


@pytest.mark.parametrize("name", COLLEAGUE)
def test_what_a_colleague_would_write_is_let_in(tmp_path: Path, name: str) -> None:
    answer = COLLEAGUE[name]
    written = [item for each in answer.values() if isinstance(each, list) for item in each if isinstance(item, dict)]
    kept = lines(tmp_path, name)
    assert [item for item in written if not any(_is_in(item, line.text) for line in kept)] == []
    draft = parse_note(json.dumps(answer), turns(tmp_path, name))
    assert (draft.title, draft.summary) == (answer["title"], answer["summary"])
    assert list(draft.files) == answer["files"]


def _is_in(item: dict[str, object], text: str) -> bool:
    parts = [str(part) for key, part in item.items() if key != "turn"]
    return all(part.removeprefix("Refuted: ").rstrip("。.") in text for part in parts)


@pytest.mark.parametrize("name", COLLEAGUE)
def test_what_the_user_chose_is_theirs(tmp_path: Path, name: str) -> None:
    decisions = [line for line in lines(tmp_path, name) if line.role == "decision"]
    assert len(decisions) == len(COLLEAGUE[name]["decisions"])
    assert [line.text for line in decisions if line.author != "user"] == []


def test_hardly_anything_that_nobody_said_is_let_in(tmp_path: Path) -> None:
    offered = let_in = 0
    for name in NAMES:
        session = turns(tmp_path, name)
        gate = LineGate(session)
        found = [gate.fault(text, number) for number in range(1, len(session) + 1) for text in INVENTED]
        offered, let_in = offered + len(found), let_in + found.count("")
    assert offered > 1_000
    assert let_in <= 0.01 * offered
