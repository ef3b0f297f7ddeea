"""Whether a line that a session was given arrived, and whether the agent used it, by the transcript."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from capture.transcript.client_files import IDS, PLACES, lines_of, rows_of_opencode, write_database, write_lines
from desk import Desk

from memtool.capture.queue import Job
from memtool.recall.arrived import AGENT, CONTEXT, PERSON, TOOL, Heard, fates_of, look_back
from memtool.recall.given import PROMPT, GivenLine, Giving, keep_giving
from memtool.recall.ledger import ledger_folder
from memtool.recall.uses import Fate, fates_of_session, read_uses, seldom_used
from memtool.vault.layout import session_name
from memtool.worker import work_off

FIX = GivenLine("k3f9", "sessions/2026-02-03-login.md", 12, "", "The leeway lives in jwt_leeway.ts")
RULE = GivenLine("m4x7", "areas/projects/shop/rules.md", 3, "", "金额一律用整数，单位是分")
FACT = GivenLine("p5q2", "areas/projects/shop/facts.json", 9, "fact-1")
BLOCK = (
    '<memtool-context event="prompt">\n'
    "- The leeway lives in `src/jwt_leeway.ts` (2026-02-03, sessions/2026-02-03-login.md:12) [k3f9]\n"
    "- 金额一律用整数，单位是分 (user, 2026-02-03, areas/projects/shop/rules.md:3) [m4x7]\n</memtool-context>"
)


def fates(*said: tuple[str, str], lines: tuple[GivenLine, ...] = (FIX, RULE)) -> list[tuple[int | None, bool | None]]:
    heard = [Heard(number, who, text) for number, (who, text) in enumerate(said, 1)]
    found = fates_of([Giving("2026-02-10T14:30", PROMPT, "shop", 1, lines=lines)], lambda: heard)
    return [(fate.arrived, fate.used) for fate in found]


def test_a_line_is_used_where_the_agent_is_the_first_to_name_its_file() -> None:
    later = (AGENT, "I widen the leeway in src/jwt_leeway.ts.")
    assert fates((PERSON, "登录失败了"), (CONTEXT, BLOCK), later) == [(1, True), (1, None)]
    assert fates((PERSON, "登录失败了"), (CONTEXT, BLOCK), (AGENT, "我看看。")) == [(1, False), (1, None)]
    assert fates((CONTEXT, BLOCK), (TOOL, "jwt_leeway.ts:3"), later)[0] == (1, True)


@pytest.mark.parametrize(
    "before",
    [
        [(PERSON, "jwt_leeway.ts 里的时间差是多少？"), (CONTEXT, BLOCK)],
        [(CONTEXT, BLOCK), (PERSON, "Look at jwt_leeway.ts")],
        [(AGENT, "Bash grep -n leeway jwt_leeway.ts"), (PERSON, "go on"), (CONTEXT, BLOCK)],
        [(TOOL, "src/jwt_leeway.ts:3"), (PERSON, "go on"), (CONTEXT, BLOCK)],
    ],
    ids=["prompt", "prompt-after-the-block", "agent-before", "tool-before"],
)
def test_a_name_that_was_known_already_shows_nothing(before: list[tuple[str, str]]) -> None:
    assert fates(*before, (AGENT, "It is in jwt_leeway.ts."))[0] == (1, None)


def test_the_id_and_the_note_of_a_line_show_its_use_and_a_part_of_a_name_does_not() -> None:
    assert fates((CONTEXT, BLOCK), (AGENT, "memtool show m4x7"))[1] == (1, True)
    assert fates((CONTEXT, BLOCK), (AGENT, "/vault/areas/projects/shop/rules.md"))[1] == (1, True)
    assert fates((CONTEXT, BLOCK), (AGENT, "my_jwt_leeway.tsx"))[0] == (1, False)


def test_what_the_client_cut_off_did_not_arrive() -> None:
    cut = BLOCK[: BLOCK.index(" [m4x7]")]
    assert fates((CONTEXT, cut), (AGENT, "…")) == [(1, False), (0, None)]
    assert fates((AGENT, "I saw [k3f9] somewhere")) == [(0, None), (0, None)]


def test_of_several_statements_on_one_line_each_has_names_of_its_own() -> None:
    block = "- 2026-02-03 login [d4k2 2026-02-03-login] · 时间差在 jwt_leeway.ts [k3f9] · 金额用整数 money.ts [m4x7]"
    assert fates((CONTEXT, block), (AGENT, "It is in jwt_leeway.ts.")) == [(1, True), (1, False)]
    assert fates((CONTEXT, block), (AGENT, "见 money.ts。")) == [(1, False), (1, True)]


def test_a_line_arrives_as_often_as_it_was_given_and_no_oftener() -> None:
    given = [Giving(f"2026-02-10T14:3{turn}", PROMPT, "shop", turn, lines=(FIX,)) for turn in (1, 7)]
    heard = [Heard(number, CONTEXT, BLOCK) for number in (1, 2, 3)]
    (fate,) = fates_of(given, lambda: heard)
    assert (fate.given, fate.arrived, fate.used) == (2, 2, False)


# With the transcripts of the clients

MODEL = GivenLine("b7k3", "sessions/2026-02-03-order-model.md", 4, "", "订单模型放在 order_model.py")
OF_MODEL = (
    '<memtool-context event="prompt">\n'
    "- 订单模型放在 order_model.py (2026-02-03, sessions/a.md:4) [b7k3]\n</memtool-context>"
)
PROMPT_OF = {"claude-code": "Add the order model.", "codex": "Add the order model", "gemini": "Add the order model"}
CALL = {"type": "tool_use", "id": "1", "name": "Write", "input": {"file_path": "/shop/order_model.py", "content": "x"}}


def put_with_block(home: Path, client: str) -> Path:
    """Put the recorded talk of *client* below *home*, with our block where that client keeps it."""
    if client == "claude-code":
        context = {"type": "hook_additional_context", "content": [OF_MODEL], "hookEvent": "UserPromptSubmit"}
        envelope = {"parentUuid": None, "isSidechain": False}
        records: list[dict[str, Any]] = [
            {**envelope, "type": "user", "message": {"role": "user", "content": PROMPT_OF[client]}},
            {**envelope, "attachment": context, "type": "attachment"},
            {**envelope, "type": "assistant", "message": {"role": "assistant", "content": [CALL]}},
        ]
        return write_lines(home / "c1.jsonl", records)
    if client == "opencode":
        rows = rows_of_opencode()
        first = next(row for row in rows["part"] if "Add the order model" in row["data"])
        added = json.dumps({"type": "text", "text": OF_MODEL, "synthetic": True})
        rows["part"].append({**first, "id": f"{first['id']}z", "data": added})
        return write_database(home / PLACES[client], rows)
    records = lines_of(client)
    at = next(at for at, record in enumerate(records) if "Add the order model" in json.dumps(record))
    if client == "gemini":
        escaped = OF_MODEL.replace("<", "&lt;").replace(">", "&gt;")
        records[at]["content"][0]["text"] = f"<hook_context>{escaped}</hook_context>\n\n{PROMPT_OF[client]}"
    else:
        said = {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": OF_MODEL}]}
        records.insert(at, {"timestamp": "", "type": "response_item", "payload": said})
    return write_lines(home / PLACES[client], records)


def job_of(desk: Desk, client: str) -> Job:
    name = IDS.get(client, "c1")
    giving = Giving("2026-02-10T14:30:00+08:00", PROMPT, "shop", 1, lines=(MODEL,), client=client)
    keep_giving(ledger_folder(desk.work), name, giving)
    return Job(name, str(put_with_block(desk.home, client)), event="SessionEnd", client=client)


@pytest.mark.parametrize("client", ["claude-code", *IDS])
def test_each_client_that_keeps_a_transcript_shows_what_arrived_and_was_used(desk: Desk, client: str) -> None:
    job = job_of(desk, client)
    look_back(desk.work, job._replace(client="" if client == "claude-code" else client))
    look_back(desk.work, job._replace(client="" if client == "claude-code" else client))  # resumed, and ended again
    folder = desk.work.index_folder
    assert fates_of_session(folder, session_name(job.session_id)) == {MODEL.key: Fate(MODEL.key, 1, 1, used=True)}


def test_a_client_whose_transcript_we_keep_shows_neither(desk: Desk) -> None:
    job = job_of(desk, "claude-code")._replace(client="cursor")
    look_back(desk.work, job)
    assert fates_of_session(desk.work.index_folder, "c1") == {MODEL.key: Fate(MODEL.key, 1)}
    assert seldom_used(desk.work.index_folder, [MODEL.key]) == frozenset()


def test_a_transcript_that_is_gone_and_a_session_that_was_given_nothing_leave_nothing(desk: Desk) -> None:
    look_back(desk.work, job_of(desk, "claude-code")._replace(transcript=str(desk.home / "gone.jsonl")))
    look_back(desk.work, Job("other", str(desk.home / "c1.jsonl")))
    assert fates_of_session(desk.work.index_folder, "c1") == {}
    assert not (desk.work.index_folder / "uses.sqlite").exists()


def test_a_memory_that_was_used_counts_as_one_that_is_used(desk: Desk) -> None:
    look_back(desk.work, job_of(desk, "claude-code")._replace(client=""))
    assert read_uses(desk.work.index_folder, [MODEL.memory]) == {MODEL.memory: 1}


def test_a_worker_looks_back_at_a_session_that_has_ended_and_not_at_one_that_goes_on(desk: Desk) -> None:
    job = job_of(desk, "claude-code")._replace(client="")
    for event, expected in (("Stop", {}), ("SessionEnd", {MODEL.key: Fate(MODEL.key, 1, 1, used=True)})):
        desk.queue.put(job._replace(event=event))
        work_off(desk.work)
        assert fates_of_session(desk.work.index_folder, "c1") == expected
