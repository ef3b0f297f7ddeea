from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from client_transcripts import answer, edit, prompt, write_transcript

from memtool.vault.forgotten import forget_item
from memtool.vault.layout import Vault

if TYPE_CHECKING:
    from terminal import Memtool

SESSION = "3f2a9c71-0000-4000-8000-000000000001"
TALK = [
    prompt("Why does the refund endpoint charge customers twice, 为什么重复扣款?"),
    *edit("/src/shop/api/gateway.ts"),
    answer("The root cause is the retry in `gateway.ts`: it sent no idempotency key. 已改为发送幂等键。"),
    prompt("And the mail queue, 邮件队列?"),
    *edit("/src/shop/mail.ts", "e2"),
    answer("The mail queue keeps each message for seven days now, in `mail.ts`."),
]


@pytest.fixture
def kept(memtool: Memtool, notes: Path, tmp_path: Path) -> Vault:
    path = write_transcript(tmp_path / "transcripts" / f"{SESSION}.jsonl", TALK)
    assert memtool("capture", str(path)).code == 0
    return Vault(notes)


@pytest.mark.slow
@pytest.mark.parametrize("named", [SESSION, SESSION[:8], f"sessions/{SESSION}.md"])
@pytest.mark.usefixtures("kept")
def test_the_turns_of_a_session_are_listed(memtool: Memtool, named: str) -> None:
    first, second = memtool("show", named, "--turns").out.splitlines()
    assert first.startswith("1  2026-02-10 ")
    assert "为什么重复扣款?  → The root cause is the retry" in first
    assert second.startswith("2  2026-02-10 ")
    assert second.endswith("140")
    rows = memtool("show", named, "--turns", "--json").answer["turns"]
    assert [(row["number"], row["typed"]) for row in rows][1] == (2, "And the mail queue, 邮件队列?")
    assert "text" not in rows[0]


@pytest.mark.slow
def test_a_line_of_a_note_leads_to_its_turn(memtool: Memtool, kept: Vault) -> None:
    note = kept.root / f"sessions/{SESSION}.md"
    lines = note.read_text(encoding="utf-8").splitlines()
    number = [at for at, line in enumerate(lines, 1) if "root cause" in line][-1]
    shown = memtool("show", f"sessions/{SESSION}.md:{number}", "--turns").out
    assert shown.startswith("TURN 1\n")
    lines[number - 1] = "   - 发送幂等键: the retry in gateway.ts has sent no key"  # in other words by the owner
    note.write_text("\n".join(lines), encoding="utf-8")
    assert memtool("show", f"sessions/{SESSION}.md:{number}", "--turns").out == shown
    lines[number - 1] = "   - Quite another thought about penguins 企鹅"
    note.write_text("\n".join(lines), encoding="utf-8")
    code, _, err = memtool("show", f"sessions/{SESSION}.md:{number}", "--turns")
    assert (code, f"memtool show {SESSION} --turns" in err) == (28, True)


@pytest.mark.slow
def test_a_session_whose_turns_are_not_kept_is_a_sentence(memtool: Memtool, kept: Vault) -> None:
    for path in kept.root.glob("transcripts/*/*.gz"):
        path.unlink()
    code, _, err = memtool("show", f"sessions/{SESSION}.md", "--turns")
    assert (code, "no turns of" in err, "memtool import claude-code" in err) == (28, True, True)
    assert json.loads(memtool("show", f"sessions/{SESSION}.md", "--json").out)["kind"] == "session"


@pytest.mark.slow
def test_what_was_forgotten_is_in_no_turn_and_in_no_search(memtool: Memtool, kept: Vault) -> None:
    said = "The mail queue keeps each message for seven days now, in `mail.ts`."
    found = memtool("search", "mail queue keeps message seven days", "--transcripts", "only").out
    assert "keeps each message for seven days" in found
    assert "turn 2" in found
    note = kept.root / f"sessions/{SESSION}.md"
    note.write_text(forget_item(note.read_text("utf-8"), lambda text: "seven days" in text), encoding="utf-8")
    for words in (
        ("show", SESSION, "--turns"),
        ("show", SESSION, "--turn", "2"),
        ("show", SESSION, "--turn", "2", "--json"),
    ):
        shown = memtool(*words).out
        assert said not in shown
        assert "[forgotten]" in shown
        assert "And the mail queue, 邮件队列?" in shown
    # The daily page keeps the title of the session, which says it as well.
    assert "seven days" not in memtool("search", "mail queue keeps message seven days", "--kind", "session").out
    assert "为什么重复扣款" in memtool("search", "为什么重复扣款", "--transcripts", "only").out
