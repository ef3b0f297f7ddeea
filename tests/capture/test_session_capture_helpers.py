from __future__ import annotations

from pathlib import Path

from client_transcripts import answer, edit, prompt, write_transcript
from desk import Desk

from memtool.vault.sessions import parse_session

TALK = [
    prompt("Let a helper write the lexer, 并补上测试。"),
    *edit("/src/shop/a.ts"),
    answer("The helper has written the lexer."),
]


def write_helper(transcript: Path, name: str, file: str) -> Path:
    records = [{**record, "isSidechain": True, "agentId": name} for record in [prompt("do it"), *edit(file, name)]]
    return write_transcript(transcript.with_suffix("") / "subagents" / f"agent-{name}.jsonl", records)


def test_what_a_helper_edited_is_named_in_the_note_of_its_session(desk: Desk) -> None:
    transcript = write_transcript(desk.home / "one.jsonl", TALK)
    write_helper(transcript, "h1", "/src/shop/词法.ts")
    (transcript.with_suffix("") / "subagents" / "agent-bad.jsonl").mkdir()
    desk.put(transcript)
    assert desk.drain().captured == ("one",)
    note = parse_session(desk.read("sessions/one.md"))
    assert set(note.files) == {"a.ts", "词法.ts"}
    assert "do it" not in desk.read("sessions/one.md")


def test_records_as_the_client_writes_them_are_read(desk: Desk) -> None:
    """The client puts `isSidechain` first, by which such lines are otherwise passed over unread."""
    transcript = write_transcript(desk.home / "one.jsonl", TALK)
    path = write_helper(transcript, "h1", "/src/shop/b.ts")
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text(
        "".join('{"parentUuid":null,"isSidechain":true,' + line[1:] + "\n" for line in lines), encoding="utf-8"
    )
    desk.put(transcript)
    desk.drain()
    assert set(parse_session(desk.read("sessions/one.md")).files) == {"a.ts", "b.ts"}
