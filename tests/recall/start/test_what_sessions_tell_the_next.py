"""What was decided in passing is known to the next sessions, and what replaces it comes before it.

`tests/claude_code/test_from_session_to_session.py` holds one of these talks with the real client.
"""

from __future__ import annotations

import pytest
from client_transcripts import answer, edit, prompt, write_transcript
from desk import Desk
from talks_of_change import TALKS, TalkOfChange

from memtool.recall.start.session_start import session_context


def hold(desk: Desk, name: str, *pairs: tuple[str, str], project: str = "shop") -> None:
    """Hold a session of prompts and their answers, each of which edits a file, and let a worker capture it."""
    desk.pass_time(3600)
    records = [
        record
        for at, (asked, told) in enumerate(pairs)
        for record in (prompt(asked), *edit(f"/src/{project}/{at}.py", f"{at}"), answer(told))
    ]
    desk.put(write_transcript(desk.home / "talks" / f"{name}.jsonl", records, cwd=f"/src/{project}", start=desk.now))
    desk.drain()


def started(desk: Desk, project: str = "shop") -> str:
    """Return what the next session in *project* is given at its start."""
    desk.pass_time(3600)
    return session_context(desk.work, project, session_id="next").text


@pytest.mark.slow
@pytest.mark.parametrize("said", TALKS.values(), ids=TALKS)
def test_a_decision_in_passing_and_a_correction_are_known_and_a_later_one_comes_first(
    desk: Desk, said: TalkOfChange
) -> None:
    hold(desk, "one", (said.decide, said.done), (said.correct, said.redone))
    second = started(desk)
    assert said.old in second
    assert said.rule in second
    elsewhere = started(desk, "elsewhere")
    assert said.name not in elsewhere
    assert said.rule not in elsewhere
    hold(desk, "two", (said.change, said.changed))
    fifth = started(desk)
    assert said.new in fifth
    assert said.old not in fifth or fifth.index(said.new) < fifth.index(said.old)
    assert said.rule in fifth
    assert desk.told == []
