from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from desk import Desk
from hook.agent import agent_in
from terminal import MEMTOOL

from memtool.git import tell
from memtool.index.files import FileEngine
from memtool.recall.ledger import Ledger, ledger_folder, write_ledger
from memtool.vault.facts import parse_facts
from memtool.vault.layout import Vault

if TYPE_CHECKING:
    from terminal import Memtool

FACTS = "areas/global/facts.json"
OFFLINE = {"MEMTOOL_EMBEDDINGS_PROVIDER": "none"}


@pytest.mark.slow
def test_it_prints_the_id_the_lines_and_how_to_undo(memtool: Memtool, vault: Vault) -> None:
    ran = memtool("remember", "The", "API", "listens", "on", "port", "8080.", "--vault", str(vault.root), "--global")
    assert ran.code == 0
    assert re.fullmatch(rf"fact-\d{{8}}-[0-9a-f]{{10}}  {FACTS}:3-11\n", ran.out)
    undo = re.search(r"^Undo: memtool (--vault \S+ undo [0-9a-f]+)$", ran.err, re.MULTILINE)
    assert undo
    assert memtool("search", "8080", "--json", "--vault", str(vault.root)).answer["hits"][0]["path"] == FACTS
    assert memtool(*undo[1].split()).code == 0
    assert parse_facts((vault.root / FACTS).read_text()).facts == ()


@pytest.mark.usefixtures("notes")
def test_json_holds_all_of_it(memtool: Memtool) -> None:
    old = memtool("remember", "Tokens live 24 hours", "--json").answer
    new = memtool("remember", "Tokens live 15 minutes, key AKIAIOSFODNN7EXAMPLE", "--json", "--tag", "auth").answer
    assert (new["format"], new["remembered"], new["path"], new["kind"]) == (1, True, FACTS, "fact")
    assert [one["id"] for one in new["contradictions"]] == [old["id"]]
    assert new["redacted"] == {"aws-key": 1}
    assert (new["commit"], new["undo"]) == ("", "")


@pytest.mark.slow
@pytest.mark.usefixtures("notes")
def test_a_duplicate_is_exit_1_with_the_id_in_json_too(memtool: Memtool) -> None:
    stands = memtool("remember", "Tokens live 24 hours", "--json").answer
    ran = memtool("remember", "tokens live 24 hours.", "--json")
    assert ran.code == 1
    assert stands["id"] in ran.err
    assert (ran.answer["remembered"], ran.answer["standing"]["id"]) == (False, stands["id"])
    assert stands["id"] in ran.answer["reason"]
    assert memtool("remember", "tokens live 24 hours.", "--force").code == 0


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_the_text_may_come_from_a_pipe(memtool: Memtool, notes: Path, arguments: tuple[str, ...]) -> None:
    ran = memtool(
        "remember", *arguments, "--kind", "knowledge", stdin="# 时区\r\n\r\n一律存 UTC。\r\n".encode("utf-8-sig")
    )
    path = ran.out.strip().rsplit(":", 1)[0]
    assert (notes / path).read_text().endswith("---\n\n# 时区\n\n一律存 UTC。\n")


@pytest.mark.parametrize(
    ("stdin", "said"), [(b"", "nothing to remember"), (b"a\xff", "not UTF-8 (byte 1)"), (b"a\0b", "NUL")]
)
@pytest.mark.usefixtures("notes")
def test_a_pipe_without_text_is_a_sentence(memtool: Memtool, stdin: bytes, said: str) -> None:
    ran = memtool("remember", stdin=stdin)
    assert ran.code == 2
    assert said in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("x", "--project", ""),
        ("x", "--project", "shop", "--global"),
        ("x", "--category", "milestone"),
        ("x", "--kind", "fact"),
        ("x", "--expires", "2020-01-01"),
        ("x", "--expires", "tomorrow"),
        ("x", "--tag", "#"),
        ("x", "--kind", "todo", "--expires", "2w"),
        ("x", "--kind", "todo", "--evidence", "y"),
        ("x", "--kind", "todo", "--due", "soon"),
        ("x", "--due", "2w"),
        ("x", "--kind", "todo", "--type", "epic"),
        ("x", "--kind", "decision", "--supersedes", "fact-1"),
        ("!?",),
    ],
)
def test_wrong_use_writes_nothing(memtool: Memtool, notes: Path, arguments: tuple[str, ...]) -> None:
    assert memtool("remember", *arguments).code == 2
    assert not (notes / "areas").exists()


@pytest.mark.slow
def test_processes_that_remember_at_once_lose_nothing(vault: Vault) -> None:
    environ = {**os.environ, **OFFLINE}
    texts = [
        "Harbour cranes are painted yellow", "咖啡在周三送到", "Backups run at night", "The lift stops at floor 4",
        "订单号按日期编排", "Invoices are printed in Osaka", "港口的风速计每小时校准", "Bicycles belong in the cellar",
    ]  # fmt: skip
    commands = [[*MEMTOOL, "remember", text, "--global", "--vault", str(vault.root)] for text in [*texts, *texts[:2]]]
    running = [
        subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, stdout=subprocess.PIPE) for command in commands
    ]
    errors = [process.communicate()[1].decode() for process in running]
    assert sorted(process.returncode for process in running) == [0] * 8 + [1] * 2, errors
    facts = parse_facts((vault.root / FACTS).read_text()).facts
    assert sorted(fact.fact for fact in facts) == sorted(texts)
    assert len({fact.id for fact in facts}) == 8
    subjects = tell(vault.root, "log", "--format=%s").splitlines()
    assert sorted(subjects[:8]) == sorted(f"remember: {text}" for text in texts)
    assert tell(vault.root, "status", "--porcelain") == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("The dirigible costs 40 euros a day", "what does the dirigible cost?"),
        ("飞艇停靠在七号登机口", "飞艇停在哪个登机口?"),
    ],
)
def test_what_was_remembered_and_forgotten_is_known_to_the_very_next_prompt(
    memtool: Memtool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, prompt: str
) -> None:
    agent = agent_in(tmp_path)
    for name, value in agent.environ.items():
        monkeypatch.setenv(name, value)
    done = memtool("remember", text, "--project", "shop", "--json").answer
    assert text in agent.ask(prompt)
    assert memtool("forget", done["id"]).code == 0
    assert agent.other("s2").ask(prompt) == ""
    with FileEngine(agent.state()).current() as db:
        assert db.execute("SELECT status FROM chunk WHERE fact_id = ?", (done["id"],)).fetchall() == [("archived",)]


# Forgetting


@pytest.mark.slow
def test_forgetting_says_how_to_undo(memtool: Memtool, vault: Vault) -> None:
    there = ("--vault", str(vault.root))
    done = memtool("remember", "Tokens live 24 hours", "--global", "--json", *there).answer
    ran = memtool("forget", done["id"], *there)
    assert (ran.code, ran.out) == (0, f"{done['id']} is archived.\n")
    assert " undo " in ran.err
    assert memtool("forget", done["id"], *there).out == f"{done['id']} is already archived.\n"
    answer = memtool("forget", done["id"], "--json", *there).answer
    assert (answer["format"], answer["changed"], answer["purged"], answer["name"]) == (1, False, False, done["id"])


@pytest.mark.slow
def test_purging_asks_and_without_anybody_to_ask_it_refuses(memtool: Memtool, vault: Vault) -> None:
    there = ("--vault", str(vault.root))
    done = memtool("remember", "Tokens live 24 hours", "--global", "--json", *there).answer
    ran = memtool("forget", done["id"], "--purge", *there, stdin=b"y\n")
    assert (ran.code, "there is no terminal to ask" in ran.err) == (2, True)
    ran = memtool("forget", done["id"], "--purge", "--yes", *there)
    assert (ran.code, ran.out) == (0, f"{done['id']} is deleted.\n")
    assert "git's history still holds it" in ran.err
    assert json.loads((vault.root / FACTS).read_text()) == {"facts": []}
    assert memtool("forget", "x", "--yes", *there).code == 2


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of Unix")
@pytest.mark.parametrize(("answer", "left"), [("n", 1), ("y", 0)])
def test_on_a_terminal_the_answer_decides(memtool: Memtool, vault: Vault, answer: str, left: int) -> None:
    import pexpect

    there = ["--vault", str(vault.root)]
    done = memtool("remember", "Tokens live 24 hours", "--global", "--json", *there).answer
    program, *arguments = MEMTOOL
    child = pexpect.spawn(program, [*arguments, "forget", done["id"], "--purge", *there], encoding="utf-8", timeout=60)
    child.expect("Tokens live 24 hours\\s+Remove fact-.* for good")
    child.sendline(answer)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == (130 if left else 0)
    assert len(parse_facts((vault.root / FACTS).read_text()).facts) == left


@pytest.mark.usefixtures("notes")
def test_without_a_history_copies_are_named_instead(memtool: Memtool) -> None:
    done = memtool("remember", "Tokens live 24 hours", "--json").answer
    ran = memtool("forget", done["id"], "--purge", "--yes")
    assert "Copies of the vault may still hold it." in ran.err
    assert "no git repository of its own" in ran.err


@pytest.mark.slow
def test_in_a_session_of_the_client_that_is_the_source(
    memtool: Memtool, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    for session_id, text in (("3f2a-9c", "Tea is served at four."), ("no id!", "茶在四点。")):
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", session_id)
        assert memtool("remember", text, "--global", "--vault", str(vault.root)).code == 0
    assert [fact.source for fact in parse_facts((vault.root / FACTS).read_text()).facts] == ["3f2a-9c", ""]


@pytest.mark.slow
def test_the_turn_of_the_session_is_noted_where_it_is_known(
    memtool: Memtool, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "3f2a9c")
    write_ledger(ledger_folder(Desk(vault).work), "3f2a9c", Ledger(turn=4))
    for text, source in (
        ("Tea at four.", ()),
        ("茶在四点。", ("--source", "3f2a9c")),
        ("Coffee.", ("--source", "x.md")),
    ):
        assert memtool("remember", text, "--global", "--vault", str(vault.root), *source).code == 0
    sources = [fact.source for fact in parse_facts((vault.root / FACTS).read_text()).facts]
    assert sources == ["3f2a9c#4", "3f2a9c#4", "x.md"]


@pytest.mark.slow
def test_at_a_terminal_it_is_the_users_word_and_in_a_session_the_agents(
    memtool: Memtool, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def say(text: str, *more: str) -> Any:
        return memtool("remember", text, "--global", "--vault", str(vault.root), "--json", *more).answer["author"]

    monkeypatch.delenv("CLAUDECODE", raising=False)
    assert say("Tea is served at four.") == "user"
    monkeypatch.setenv("CLAUDECODE", "1")
    assert (say("咖啡在十点。"), say("Cake is for birthdays.", "--author", "user")) == ("agent", "user")
    assert memtool("remember", "x", "--author", "nobody").code == 2
    found = memtool("search", "咖啡", "--vault", str(vault.root), "--json", "--explain").answer["hits"][0]
    assert (found["author"], found["why"]["author"]) == ("agent", "agent")
    shown = memtool("show", found["fact_id"], "--vault", str(vault.root), "--json").answer
    assert shown["fields"]["author"] == "agent"
    assert "by agent" in memtool("search", "咖啡", "--vault", str(vault.root)).out


@pytest.mark.usefixtures("notes")
def test_an_open_item_has_a_type_and_a_day(memtool: Memtool) -> None:
    done = memtool("remember", "--global", "--kind", "todo", "--type", "idea", "--due", "2026-12", "购物车 cache")
    assert done.code == 0
    written = memtool("show", "areas/global/todos.md").out
    assert "- [ ] [idea] 购物车 cache (due 2026-12-31)" in written
