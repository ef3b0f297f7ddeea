"""The sample vault is an example of the format: everything in it must be as docs/vault-format.md says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memtool.vault.facts import parse_facts
from memtool.vault.layout import FACTS_FILE, kind_of, project_of
from memtool.vault.memory import KINDS
from memtool.vault.note import Note, parse_note
from memtool.vault.scan import scan
from memtool.vault.sessions import parse_session

SAMPLE = Path(__file__).resolve().parent.parent / "sample_vault"
FOUND = scan(SAMPLE)
NOTES = sorted(ref for ref in FOUND.stamps if ref.endswith(".md"))
FACT_FILES = sorted(ref for ref in FOUND.stamps if ref.endswith(FACTS_FILE))


def note_at(ref: str) -> Note:
    note = parse_note(ref, (SAMPLE / ref).read_bytes())
    assert isinstance(note, Note), note
    return note


def test_the_sample_vault_shows_every_kind_of_note() -> None:
    assert not FOUND.problems
    assert {kind_of(ref) for ref in FOUND.stamps} == set(KINDS) - {"note"}


def test_a_sample_note_says_what_it_is() -> None:
    for ref in NOTES:
        note = note_at(ref)
        assert note.field("type") == kind_of(ref), ref
        assert note.field("project") in ("", project_of(ref)) or kind_of(ref) == "session", ref
        assert note.field("summary") or kind_of(ref) in ("daily", "todo", "session"), ref


@pytest.mark.parametrize("ref", FACT_FILES)
def test_the_sample_facts_are_valid_and_name_sources_that_exist(ref: str) -> None:
    text = (SAMPLE / ref).read_text(encoding="utf-8")
    assert parse_facts(text).problems == ()
    for source in re.findall(r'"source": "([^"]+)"', text):
        assert (SAMPLE / (source if "/" in source else f"sessions/{source}.md")).is_file()


def test_the_sources_of_sample_notes_exist() -> None:
    missing = [source for ref in NOTES for source in note_at(ref).words("sources") if not (SAMPLE / source).is_file()]
    assert missing == []


@pytest.mark.parametrize("ref", [ref for ref in NOTES if kind_of(ref) == "session"])
def test_a_sample_session_can_be_read_back(ref: str) -> None:
    note = note_at(ref)
    session = parse_session(note.text)
    assert (session.id, session.project) == (Path(ref).stem, note.field("project"))
    assert session.updated[:10] == note.field("date")
    assert session.draft.title
    assert session.draft.lines
    assert any(line.role == "open" for line in session.draft.lines)
