"""What a real model answered to thirty sessions, through gate and printing, without a model.

The sessions themselves are in ../shared/transcripts. The replies are a model's that saw the request only, see
`recorded/README.md`; `python3 -m scripts.record_replies` asks one anew.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from capture.inventions import INVENTED
from capture.transcript.client_files import write_lines
from capture.transcripts import assistant, user
from scripted_claude import make_claude, result

from memtool.capture.gate import LineGate
from memtool.capture.model_note import draft_from_answer
from memtool.capture.turns import Turn
from memtool.capture.view import language_of
from memtool.text.lines import tokens_in, width
from memtool.vault.sessions import Draft
from scripts.record_replies import REPLIES, main, note_of, read_sessions, request_for, score_of

TRANSCRIPTS = Path(__file__).parents[3] / "shared" / "transcripts"
ASIDE = ("3e110024", "8e5653f8", "f14fdf7d", "58af5125", "7569c337", "9ed6f2e3")  # two projects nobody tuned on

FIELDS = {"title", "summary", "decisions", "rules", "fixes", "findings", "open", "commands", "files"}

on_transcripts = pytest.mark.skipif(
    not TRANSCRIPTS.is_dir(), reason="the transcripts of ../shared are not on this machine"
)


@cache
def sessions() -> dict[str, list[Turn]]:
    return read_sessions(TRANSCRIPTS)


@cache
def drafts() -> dict[str, Draft]:
    return {name: draft_from_answer(reply(name), turns) for name, turns in sessions().items()}


def reply(name: str) -> str:
    return (REPLIES / f"{name}.json").read_text(encoding="utf-8")


def items_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for each in answer.values() if isinstance(each, list) for item in each if isinstance(item, dict)]


def test_thirty_replies_are_recorded_and_short() -> None:
    replies = [path.read_text("utf-8") for path in REPLIES.glob("*.json")]
    assert len(replies) == 30
    assert median(tokens_in(each) for each in replies) <= 700
    assert all(set(json.loads(each)) <= FIELDS for each in replies)


@on_transcripts
@pytest.mark.slow
def test_a_request_costs_at_most_8000_tokens_at_the_median() -> None:
    asked = [request_for(name, turns) for name, turns in sessions().items()]
    assert median(each.tokens for each in asked) <= 8_000
    assert all(width(each.prompt) < 41_000 for each in asked)


@on_transcripts
@pytest.mark.slow
def test_good_lines_are_kept() -> None:
    """The lines of a model that saw the requests only stay, but for what only shortens the output of a command."""
    written = kept = 0
    for name in sessions():
        said = [str(list(item.values())[1]) for item in items_of(json.loads(reply(name)))]
        text = "\n".join(line.text for line in drafts()[name].lines).replace("`", "")
        written += len(said)
        plain = (each.removeprefix("Refuted: ").replace("`", "").rstrip("。.") for each in said)
        kept += sum(each.partition(" 2>&1")[0][:60] in text for each in plain)  # a command goes without its shortening
    assert written == 317
    assert kept >= 0.98 * written


@on_transcripts
@pytest.mark.slow
def test_inventions_are_not_let_in() -> None:
    offered = let_in = 0
    for turns in list(sessions().values())[::3]:
        gate = LineGate(turns)
        faults = [gate.fault(text, number) for number in range(1, len(turns) + 1) for text in INVENTED]
        offered, let_in = offered + len(faults), let_in + faults.count("")
    assert offered > 2_000
    assert let_in <= 0.01 * offered


@on_transcripts
@pytest.mark.slow
@pytest.mark.parametrize("is_aside", [False, True])
def test_the_notes_hold_what_counts(*, is_aside: bool) -> None:
    score = score_of(TRANSCRIPTS)
    rows = []
    for label in score.read_labels():
        name = label["session"]
        if name.startswith(ASIDE) == is_aside:
            rows.append(score.judge(label, note_of(name, sessions()[name], reply(name))))
    found, missed = (sum(len(row[key]) for row in rows) for key in ("found", "missed"))
    assert len(rows) == (6 if is_aside else 24)
    assert found >= (0.85 if is_aside else 0.95) * (found + missed)
    assert all(row["main"] for row in rows)
    # All four are right when read: three warn of what the pattern looks for, one names a test.
    assert sum(len(row["wrong"]) for row in rows) <= (1 if is_aside else 3)


@on_transcripts
@pytest.mark.slow
def test_titles_are_short_and_in_the_language_of_the_session() -> None:
    titles = {name: draft.title for name, draft in drafts().items()}
    assert all(width(title) <= 80 for title in titles.values())
    assert median(map(width, titles.values())) <= 70
    chinese = [name for name, turns in sessions().items() if language_of(turns) == "zh"]
    assert len(chinese) == 3
    assert [name for name, title in titles.items() if re.search("[\u4e00-\u9fff]", title)] == chinese


SCORE = """
def score(folder):
    return sorted(path.name for path in folder.glob("*.md"))
def show(result):
    print("scored", *result)
"""


@pytest.mark.slow
def test_the_script_asks_for_what_is_missing_and_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "score.py").write_text(SCORE, encoding="utf-8")
    talk_of = (user("用 ULID，因为它按时间排序"), assistant("The order ids are ULIDs now. 订单号用 ULID。"))
    write_lines(tmp_path / "sessions/one.jsonl", [{"sessionId": "one", **record} for record in talk_of])
    reply_of_model = json.dumps({"title": "订单号用 ULID", "decisions": [{"turn": 1, "text": "用 ULID"}]})
    monkeypatch.setenv("MEMTOOL_LLM_CLAUDE_COMMAND", str(make_claude(tmp_path / "box", result(reply_of_model))))
    given = [str(tmp_path), "--replies", str(tmp_path / "replies"), "--notes", str(tmp_path / "notes")]
    for _ in range(2):
        assert main([*given, "--ask", "claude"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("tokens in, ") == 1  # what is there is not asked for again
    assert printed.count("scored one.md") == 2
    assert "# 订单号用 ULID\n" in (tmp_path / "notes/one.md").read_text("utf-8")
    assert main([str(tmp_path), "--requests", str(tmp_path / "asked")]) == 0
    assert "USER: 用 ULID，因为它按时间排序" in (tmp_path / "asked/one.txt").read_text("utf-8")
    (tmp_path / "replies/one.json").write_text("no JSON", encoding="utf-8")
    assert main(given) == 0
    assert "one: the answer is not the JSON object" in capsys.readouterr().out
