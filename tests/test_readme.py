"""What the README shows is what memtool writes."""

from __future__ import annotations

from pathlib import Path

from desk import Desk

ROOT = Path(__file__).parents[1]


def test_the_session_note_of_the_readme_is_that_of_the_sample_session(desk: Desk) -> None:
    (transcript,) = (ROOT / "sample_sessions").glob("*.jsonl")
    desk.put(transcript)
    assert desk.drain().captured == (transcript.stem,)
    body = desk.read(f"sessions/{transcript.stem}.md").partition("---\n\n")[2]
    heading, time, *rest = body.splitlines()[0], *body.splitlines()[2:]
    shown = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"```markdown\n{heading}\n\n{time[:20]}" in shown
    assert "\n".join(rest) in shown
