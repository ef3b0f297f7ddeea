"""The prompts over real session notes, and how what they are given is measured."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.recall import __main__ as program, session_notes
from benchmarks.recall.labelled import BadSet
from benchmarks.recall.measures import WINDOW
from benchmarks.recall.session_prompts import (
    Conversation,
    Label,
    Prompt,
    Turn,
    measure,
    parse_conversations,
    read_conversations,
)
from benchmarks.recall.sessions import Hook

SESSIONS = Path(__file__).parents[3] / "shared" / "transcripts" / "sessions"
TALK = """# 水壶 · 1a2b · mixed
- 水温多少?
  + 1a2b · 八十度
  ~ 1a2b · kettle
- which did we say?
    90 °C
  + 1a2b 3c4d · eighty & (degrees|°)
  > 3c4d · thermometer
  ! 3c4d · ninety
- paint it
  =
- thanks
"""


def talk() -> Conversation:
    [conversation] = parse_conversations(TALK)
    return conversation


def held(*blocks: str) -> list[Turn]:
    """Return the turns of `talk`, of which each is given the next of *blocks*."""
    return [Turn(prompt, block) for prompt, block in zip(talk().prompts, blocks, strict=True)]


def block(*lines: str) -> str:
    told = "\n".join(f"- {line} (sessions/1a2b.md:{number})" for number, line in enumerate(lines, start=9))
    return f"<memtool-context>\nRemembered text:\n{told}\n</memtool-context>"


def test_conversations_are_read_as_they_are_written() -> None:
    assert (talk().name, talk().session, talk().language) == ("水壶", "1a2b", "mixed")
    water, which, paint, thanks = talk().prompts
    assert [prompt.text for prompt in (water, which)] == ["水温多少?", "which did we say?\n  90 °C"]
    assert [label.sessions for label in which.wanted] == [("1a2b", "3c4d"), ("3c4d",)]
    assert [len(prompt.tolerated) for prompt in talk().prompts] == [1, 0, 0, 0]
    assert [prompt.is_near for prompt in talk().prompts] == [False, False, True, False]
    assert [prompt.is_unrelated for prompt in (paint, thanks)] == [False, True]
    assert parse_conversations("# tea · - · en\n- hi")[0].session == ""


@pytest.mark.parametrize(
    "text",
    [
        "- hello",
        "# a · b\n- hello",
        "# a · b · en\n  + 1a · x",
        "# a · b · en\n- 水\n  + 1a",
        "# a · b · en\n- 水\n  + 1a · (",
    ],
)
def test_a_set_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(BadSet):
        parse_conversations(text)


def test_a_label_fits_a_line_with_all_of_its_patterns_in_any_order_and_case() -> None:
    both = talk().prompts[1].named[0]
    assert both.fits("80 °: Eighty it is")
    assert not both.fits("eighty")
    assert talk().prompts[0].named[0].fits("白毫银针用八十度的水")


def test_a_prompt_is_served_by_a_line_that_fits_one_of_its_labels_and_does_not_mislead() -> None:
    silent = ["", ""]
    assert measure([held(block("八十度"), "", *silent)])["served"] == 1 / 2
    assert measure([held("", block("A thermometer was bought"), *silent)])["served"] == 1 / 2
    wrong = measure([held("", block("Ninety degrees, not eighty degrees", "kettles"), *silent)])
    assert (wrong["served"], wrong["relevant_lines"], wrong["misleading_lines"]) == (0, 0, 1 / 2)


def test_near_and_unrelated_prompts_are_disturbed_by_any_text_and_count_apart() -> None:
    measured = measure([held("", "", block("Paint is dry"), ""), held("", "", "", "Do not forget to save.")])
    assert (measured["disturbed_near"], measured["disturbed"], measured["relevant_lines"]) == (1 / 2, 1 / 2, 0)
    assert measured["misleading_lines"] == 0


def test_what_a_line_has_said_within_five_turns_is_not_owed_again() -> None:
    asked = Prompt("?", named=(Label(("1a",), (re.compile("八十"),)),))
    told, silent = Turn(asked, block("八十度")), Turn(asked, "")
    assert measure([[told, *[silent] * WINDOW]])["served"] == 1
    assert measure([[told, *[silent] * (WINDOW + 1)]])["served"] == 1 / 2
    assert measure([[told], [silent]])["served"] == 1 / 2  # another session


def test_the_held_out_set_has_prompts_of_every_kind_in_each_language() -> None:
    conversations = read_conversations()
    prompts = [prompt for conversation in conversations for prompt in conversation.prompts]
    assert {conversation.language for conversation in conversations} == {"en", "zh", "mixed"}
    assert len({conversation.name for conversation in conversations}) == len(conversations)
    assert len({prompt.text for prompt in prompts}) == len(prompts) >= 100
    assert sum(bool(prompt.wanted) for prompt in prompts) >= 60
    assert sum(prompt.is_near for prompt in prompts) >= 25
    assert sum(prompt.is_unrelated for prompt in prompts) >= 15


@pytest.mark.slow
@pytest.mark.skipif(not SESSIONS.is_dir(), reason="the transcripts of ../shared/transcripts are not on this machine")
def test_each_label_is_held_by_each_of_its_sessions() -> None:
    statements = {path.stem: list(_statements(path)) for path in SESSIONS.glob("*.jsonl")}
    missing = [
        f"{conversation.name}: {session} {[pattern.pattern for pattern in label.patterns]}"
        for conversation in read_conversations()
        for prompt in conversation.prompts
        for label in prompt.wanted + prompt.tolerated + prompt.misleading
        for session in label.sessions
        if not any(label.fits(line) for id_, lines in statements.items() if id_.startswith(session) for line in lines)
    ]
    assert missing == []


def _statements(transcript: Path) -> Iterator[str]:
    """Give what was said and called in *transcript*, one paragraph or item of a list a line."""
    for line in transcript.read_text(encoding="utf-8").splitlines():
        for text in _strings(json.loads(line).get("message")):
            yield from (" ".join(part.split()) for part in re.split(r"\n(?=\s*(?:[-*+#>|]|\d+[.)]))|\n\s*\n", text))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _strings(inner)


@pytest.fixture
def transcripts(tmp_path: Path) -> Path:
    """Return a folder with the transcript of one session about the water for tea."""
    said = [
        ("user", "Which water do we use for white tea? 白毫银针用多少度的水?"),
        ("assistant", [{"type": "text", "text": "We decided: eighty degrees for white tea. 白毫银针用八十度的水。"}]),
    ]
    records = [
        {
            "type": kind,
            "uuid": f"u-{number}",
            "parentUuid": f"u-{number - 1}" if number else None,
            "sessionId": "1a2b0000-0000-4000-8000-000000000000",
            "cwd": "/home/li/茶馆",
            "timestamp": f"2026-02-10T08:0{number}:00.000Z",
            "message": {"role": kind, "content": content},
        }
        for number, (kind, content) in enumerate(said)
    ]
    folder = tmp_path / "shared" / "sessions"
    folder.mkdir(parents=True)
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    (folder / f"{records[0]['sessionId']}.jsonl").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_transcripts_are_imported_and_the_hook_itself_is_asked(
    transcripts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with session_notes.imported(transcripts) as (hook, places):
        vault = next(tmp_path.glob("memtool-recall-*")) / "vault"
        assert any("白毫银针" in path.read_text(encoding="utf-8") for path in vault.rglob("*.md"))
        turns = session_notes.hold(talk(), hook, places)
        hook.check()
    assert [turn.prompt for turn in turns] == list(talk().prompts)


@pytest.mark.slow
def test_the_program_prints_the_shares_and_keeps_what_was_given(
    transcripts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Hook, "ask_in", lambda *_: block("八十度"))
    monkeypatch.setattr("benchmarks.recall.session_prompts.read_conversations", lambda: [talk()])
    words = ["--sessions", str(transcripts.parent), "--keep", str(tmp_path / "given.md")]
    assert program.main(words) == 0
    assert "| given lines that match a label of their prompt | 25.0% |" in capsys.readouterr().out
    assert (tmp_path / "given.md").read_text(encoding="utf-8").startswith("# 水壶\n\n> 水温多少?\n")
    assert program.main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["lines"] == 4
