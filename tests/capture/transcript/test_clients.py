"""The transcripts of other clients become the same conversation as Claude Code's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from capture.transcript.client_files import (
    IDS,
    PLACES,
    PROMPTS,
    lines_of,
    put,
    rows_of_opencode,
    write_database,
    write_lines,
)
from hypothesis import HealthCheck, given, settings, strategies as st

from memtool.capture.transcript.forms import check_transcript, form_of_client
from memtool.capture.transcript.reader import read_transcript
from memtool.capture.turns import Conversation, turns_of
from memtool.errors import TranscriptUnreadable

CLIENTS = ("codex", "gemini", "opencode")
Record = dict[str, Any]


def read(path: Path, client: str, **more: Any) -> Conversation:
    return read_transcript(path, str, session_id=IDS[client], **more)


def prompts(conversation: Conversation) -> list[str]:
    return [step.text for step in conversation.steps if step.kind == "prompt"]


def answers(conversation: Conversation) -> list[str]:
    return [step.text for step in conversation.steps if step.kind == "answer"]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_recorded_talk_is_read_with_its_files_runs_and_answers(tmp_path: Path, client: str) -> None:
    told = read(put(tmp_path, client), client)
    assert (told.client, told.session_id, told.cwd) == (client, IDS[client], "/home/ann/shop")
    assert prompts(told) == list(PROMPTS)
    first, _, third = turns_of(told.steps)
    assert "/home/ann/shop/order_model.py" in first.files
    failed, passed = first.runs
    assert failed.command.startswith("python3 -m unittest")
    assert failed.error.endswith("FAILED (errors=1)")
    assert not passed.error
    assert "The order model is in" in first.said
    assert third.said == "订单号改成了 UUIDv7：order_model.py 里的 new_order_id() 现在返回 UUIDv7。"
    assert not told.broken


@pytest.mark.parametrize("client", CLIENTS)
def test_the_sessions_of_a_home_folder_are_found(tmp_path: Path, client: str) -> None:
    path = put(tmp_path, client)
    root = form_of_client(client).root_of(path, this_project=False)
    assert root is not None
    (found,) = form_of_client(client).sessions(root)
    assert (found.session_id, found.path) == (IDS[client], path)
    assert found.size


@pytest.mark.parametrize("client", CLIENTS)
def test_sessions_that_have_not_changed_are_not_looked_at(tmp_path: Path, client: str) -> None:
    path = put(tmp_path, client)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    root = form_of_client(client).root_of(path, this_project=False)
    assert root is not None
    later = 1_900_000_000.0 if client == "opencode" else 1_000_000_001.0  # whose records say when
    assert list(form_of_client(client).sessions(root, later)) == []
    assert len(list(form_of_client(client).sessions(root, 999_999_999.0))) == 1


@pytest.mark.parametrize("client", ["codex", "gemini"])
def test_a_transcript_is_recognised_wherever_it_lies(tmp_path: Path, client: str) -> None:
    path = write_lines(tmp_path / "copy.jsonl", lines_of(client))
    assert check_transcript(path) == IDS[client]


@pytest.mark.slow
@pytest.mark.parametrize("client", ["codex", "gemini"])
def test_a_transcript_that_grew_is_read_on_from_its_last_turn(tmp_path: Path, client: str) -> None:
    from memtool.capture.transcript.record_stream import mark_before, open_transcript

    path, records = put(tmp_path, client), lines_of(client)
    whole = turns_of(read(path, client).steps)
    for length in range(1, len(records)):
        write_lines(path, records[:length])
        before = read(path, client)
        turns = turns_of(before.steps)
        offset = turns[-1].offset if turns else 0
        with open_transcript(path) as file:
            mark = mark_before(file, offset)
        write_lines(path, records)
        rest = read(path, client, start=offset, mark=mark, cwd=before.cwd)
        assert turns_of(rest.steps, turns[:-1] if rest.start else ()) == whole


def test_what_the_harness_says_in_the_users_name_is_no_prompt(tmp_path: Path) -> None:
    records = lines_of("codex")

    def message(text: str, **more: Any) -> Record:
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}], **more}
        return {"timestamp": "2026-11-22T21:00:00.000Z", "type": "response_item", "payload": item}

    records += [
        message("# AGENTS.md instructions for /home/ann/shop\n\n<INSTRUCTIONS>be kind</INSTRUCTIONS>"),
        message("<turn_aborted>\nThe user interrupted</turn_aborted>"),
        message("<new_tag>x</new_tag>", internal_chat_message_metadata_passthrough={"content_item_kinds": ["goal"]}),
        message("<user_shell_command>\n<command>\nls -la\n</command>\n<result>x</result>\n</user_shell_command>"),
        message("# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\n给订单加上限流\n"),
    ]
    told = read(write_lines(tmp_path / "rollout.jsonl", records), "codex")
    assert prompts(told) == [*PROMPTS, "给订单加上限流"]
    assert [step.text for step in told.steps if step.tool == "Bash"][-1] == "! ls -la"


def test_what_hooks_said_is_no_prompt_of_gemini(tmp_path: Path) -> None:
    records = lines_of("gemini")
    said = "<hook_context>&lt;memtool-context&gt;ULIDs&lt;/memtool-context&gt;</hook_context>\n\n"
    prompt = next(record for record in records if "Add the order model" in str(record.get("content")))
    prompt["content"] = [{"text": f"{said}{PROMPTS[0]}"}, {"text": said}]
    assert prompts(read(write_lines(tmp_path / "s.jsonl", records), "gemini"))[0] == PROMPTS[0]


def test_text_that_the_plugin_put_into_a_message_of_opencode_is_no_prompt(tmp_path: Path) -> None:
    tables = rows_of_opencode()
    first = next(part for part in tables["part"] if "ULIDs" in part["data"])
    ours = {**first, "id": f"{first['id']}_", "data": json.dumps({"type": "text", "text": "ours", "synthetic": True})}
    tables["part"].append(ours)
    assert prompts(read(write_database(tmp_path / "o.db", tables), "opencode")) == list(PROMPTS)


def test_turns_that_were_taken_back_are_gone(tmp_path: Path) -> None:
    codex = [*lines_of("codex"), {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 2}}]
    assert prompts(read(write_lines(tmp_path / "a.jsonl", codex), "codex")) == [PROMPTS[0]]

    gemini = lines_of("gemini")
    second = next(record["id"] for record in gemini if PROMPTS[1] in str(record.get("content")))
    gemini.append({"$rewindTo": second})
    told = read(write_lines(tmp_path / "b.jsonl", gemini), "gemini")
    assert prompts(told) == [PROMPTS[0]]
    assert len(answers(told)) == 1

    tables = rows_of_opencode()
    second = sorted(row["id"] for row in tables["message"] if '"user"' in row["data"])[1]
    tables["session"][0]["revert"] = json.dumps({"messageID": second})
    assert prompts(read(write_database(tmp_path / "c.db", tables), "opencode")) == [PROMPTS[0]]


def test_a_rewind_behind_what_was_read_begins_anew(tmp_path: Path) -> None:
    from memtool.capture.transcript.record_stream import mark_before, open_transcript

    path = put(tmp_path, "codex")
    offset = turns_of(read(path, "codex").steps)[-1].offset
    with open_transcript(path) as file:
        mark = mark_before(file, offset)
    back = {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 3}}
    write_lines(path, [*lines_of("codex"), back])
    told = read(path, "codex", start=offset, mark=mark)
    assert told.start == 0
    assert prompts(told) == []


def test_a_compaction_is_the_clients_own_summary(tmp_path: Path) -> None:
    codex = [*lines_of("codex"), {"type": "compacted", "payload": {"message": "订单号用 UUIDv7。"}}]
    gemini = [*lines_of("gemini"), {"$set": {"messages": [
        {"id": "new", "type": "user", "content": [{"text": "<state_snapshot>订单号用 UUIDv7。</state_snapshot>"}]},
        *(record for record in lines_of("gemini") if record.get("id")),
    ]}}]  # fmt: skip
    tables = rows_of_opencode()
    name = "msg_zzz"
    session = IDS["opencode"]
    summary = {"role": "assistant", "summary": True}
    last = {"id": name, "session_id": session, "time_created": 1_800_000_000_000, "data": json.dumps(summary)}
    tables["message"].append(last)
    part = {"id": "prt_zzz", "message_id": name, "session_id": session}
    tables["part"].append({**part, "data": json.dumps({"type": "text", "text": "订单号用 UUIDv7。"})})
    for told in (
        read(write_lines(tmp_path / "a.jsonl", codex), "codex"),
        read(write_lines(tmp_path / "b.jsonl", gemini), "gemini"),
        read(write_database(tmp_path / "c.db", tables), "opencode"),
    ):
        assert "订单号用 UUIDv7。" in next(step.text for step in told.steps if step.kind == "compaction")
        assert prompts(told) == list(PROMPTS)


def test_a_command_that_goes_on_is_told_when_it_ends(tmp_path: Path) -> None:
    def item(**payload: Any) -> Record:
        return {"timestamp": "2026-11-22T21:00:00.000Z", "type": "response_item", "payload": payload}

    running = "Chunk ID: 1\nWall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\n"
    ended = "Chunk ID: 2\nWall time: 3.0 seconds\nProcess exited with code 1\nOutput:\n2 failed, 3 passed\n"
    records = [
        *lines_of("codex"),
        item(type="function_call", name="exec_command", arguments='{"cmd": "pytest -q"}', call_id="c1"),
        item(type="function_call_output", call_id="c1", output=running),
    ]
    path = write_lines(tmp_path / "rollout.jsonl", records)
    assert read(path, "codex").steps[-1].pending
    records += [
        item(type="function_call", name="write_stdin", arguments='{"session_id": 7, "chars": ""}', call_id="c2"),
        item(type="function_call_output", call_id="c2", output=ended),
    ]
    step = next(step for step in read(write_lines(path, records), "codex").steps if step.text == "pytest -q")
    assert (step.pending, step.error) == (False, "2 failed, 3 passed")


def test_helpers_are_no_sessions_of_their_own(tmp_path: Path) -> None:
    codex, gemini = lines_of("codex"), lines_of("gemini")
    codex[0]["payload"]["source"] = {"subagent": {"thread_spawn": {}}}
    gemini[0]["kind"] = "subagent"
    write_lines(tmp_path / PLACES["codex"], codex)
    write_lines(tmp_path / PLACES["gemini"], gemini)
    tables = rows_of_opencode()
    tables["session"][0]["parent_id"] = "ses_other"
    write_database(tmp_path / PLACES["opencode"], tables)
    for client, folder in (("codex", ".codex"), ("gemini", ".gemini"), ("opencode", ".local/share/opencode")):
        assert list(form_of_client(client).sessions(tmp_path / folder)) == []


def test_an_old_chat_of_gemini_is_one_object(tmp_path: Path) -> None:
    messages = [record for record in lines_of("gemini") if record.get("id")]
    whole = {"sessionId": IDS["gemini"], "projectHash": "x", "messages": messages}
    path = tmp_path / "session-old.json"
    path.write_text(json.dumps(whole, ensure_ascii=False, indent=2), encoding="utf-8")
    assert prompts(read(path, "gemini")) == list(PROMPTS)


@pytest.mark.skipif(shutil.which("zstd") is None, reason="there is no program zstd")
def test_a_rollout_that_codex_has_compressed_is_read(tmp_path: Path) -> None:
    path = put(tmp_path, "codex")
    subprocess.run(["zstd", "--rm", "-q", str(path)], check=True)
    (found,) = form_of_client("codex").sessions(tmp_path / ".codex")
    assert found.path.name.endswith(".jsonl.zst")
    assert prompts(read(found.path, "codex")) == list(PROMPTS)
    found.path.write_bytes(found.path.read_bytes()[:-100])
    with pytest.raises(TranscriptUnreadable, match="no whole zstd file"):
        read(found.path, "codex")


@pytest.mark.parametrize("client", CLIENTS)
def test_every_text_is_redacted(tmp_path: Path, client: str) -> None:
    def redact(text: str) -> str:
        return text.replace("ULID", "[gone]").replace("unittest", "[gone]")

    told = read_transcript(put(tmp_path, client), redact, session_id=IDS[client])
    assert "ULID" not in str(told.steps)
    assert "unittest" not in str([step.text for step in told.steps])


def test_a_transcript_of_unknown_form_is_called_so(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "other.jsonl", [{"speaker": "me", "words": "hello"}])
    with pytest.raises(TranscriptUnreadable, match="its form is unknown"):
        check_transcript(path)
    with pytest.raises(TranscriptUnreadable, match="no history of OpenCode"):
        read(write_database(tmp_path / "other.db", {"notes": [{"id": 1}]}), "opencode")
    with pytest.raises(TranscriptUnreadable, match="history of all sessions"):
        check_transcript(put(tmp_path, "opencode"))


HOSTILE = (
    "<hook_context>" * 40_000,
    " " * 600_000 + "x",
    "\n" * 600_000 + "x",
    "*** Add File: a" + " " * 600_000 + "b",
)


@pytest.mark.parametrize("text", HOSTILE, ids=["open blocks", "spaces", "lines", "a file"])
def test_hostile_texts_are_read_in_linear_time(text: str) -> None:
    from memtool.capture.transcript import codex, gemini
    from memtool.hook.translation import translated

    def item(**payload: Any) -> Record:
        return {"type": "response_item", "payload": payload}

    began = time.perf_counter()
    patch = f"*** Begin Patch\n{text}\n*** End Patch"
    translation = codex._RolloutTranslation()
    for record in (
        item(type="message", role="user", content=[{"type": "input_text", "text": f"<user_shell_command>{text}"}]),
        item(type="custom_tool_call", name="apply_patch", input=patch, call_id="c"),
        item(type="function_call_output", call_id="c", output=text),
    ):
        list(translation.of(record))
    call = {"name": "run_shell_command", "result": [{"functionResponse": {"response": {"output": text}}}]}
    for message in ({"type": "user", "content": text}, {"type": "gemini", "toolCalls": [call]}):
        list(gemini._ChatTranslation("", set()).of({"id": "x", **message}))
    translated({"hook_event_name": "BeforeAgent", "prompt": text}, "gemini")
    translated(
        {"hook_event_name": "PostToolUse", "tool_name": "apply_patch", "tool_input": {"command": patch}}, "codex"
    )
    assert time.perf_counter() - began < 5


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


def _places(value: object, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(found for key, part in inner for found in _places(part, (*way, key)))]


def _changed(value: Any, way: tuple[Any, ...], other: Any) -> Any:
    if not way:
        return other
    copy = deepcopy(value)
    holder = copy
    for key in way[:-1]:
        holder = holder[key]
    holder[way[-1]] = other
    return copy


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data(), client=st.sampled_from(["codex", "gemini"]))
def test_any_field_may_be_of_any_type(tmp_path: Path, data: st.DataObject, client: str) -> None:
    records = lines_of(client)
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(1, len(records) - 1))
        way = data.draw(st.sampled_from(_places(records[at])))
        records[at] = _changed(records[at], way, data.draw(_ANY))
    path = tmp_path / "changed.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8", errors="replace")
    turns_of(read(path, client).steps)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(data=st.data())
def test_any_value_in_the_database_may_be_of_any_kind(tmp_path: Path, data: st.DataObject) -> None:
    tables = rows_of_opencode()
    for table in ("message", "part"):
        row = data.draw(st.sampled_from(tables[table]))
        value = json.loads(row["data"])
        row["data"] = json.dumps(_changed(value, data.draw(st.sampled_from(_places(value))), data.draw(_ANY)))
    odd = data.draw(st.none() | st.integers(-(2**62), 2**62) | st.text(max_size=5).map(lambda t: t.encode()))
    tables["message"][0]["time_created"] = odd
    path = tmp_path / "o.db"
    path.unlink(missing_ok=True)
    turns_of(read(write_database(path, tables), "opencode").steps)
