"""Turns: what was typed and all that came of it, as it was, nothing judged."""

from __future__ import annotations

from pathlib import Path

import pytest
from capture.transcripts import Record, assistant, call, read, result, user
from hypothesis import given, strategies as st

from memtool.capture.turns import AgentPlan, Dialog, FileEdit, Run, Step, Steps, Turn, turns_of

QUESTION = {
    "question": "Which  ids?",
    "header": "IDs",
    "options": [{"label": "ULID (Recommended)", "description": "sortable"}, {"label": "UUIDv4"}, "自增"],
}


def turns(folder: Path, *records: Record) -> list[Turn]:
    return turns_of(read(folder, *records).steps)


def test_every_message_is_kept_in_order_with_what_the_user_typed_between(tmp_path: Path) -> None:
    first, second = turns(
        tmp_path,
        user("修好登录\n\n```\nError: E0308\n```"),
        assistant("Let me look."),
        call("Read", {"file_path": "/a"}),
        result("…"),
        assistant("The cookie lacks `Secure`."),
        assistant("No response requested."),
        user("and the docs?"),
        assistant("Done, too."),
    )
    assert first.typed == "修好登录\n\n```\nError: E0308\n```"
    assert (first.messages, first.said, first.looked) == (
        ("Let me look.", "The cookie lacks `Secure`."),
        "The cookie lacks `Secure`.",
        True,
    )
    assert (second.typed, second.messages, second.looked) == ("and the docs?", ("Done, too.",), False)
    assert second.offset > first.offset == 0


def test_a_question_has_its_options_and_the_answer_its_place(tmp_path: Path) -> None:
    records = (
        user("choose ids"),
        assistant("I have a question."),
        call("AskUserQuestion", {"questions": [QUESTION]}),
        result("…", toolUseResult={"answers": {"Which  ids?": "ULID (Recommended)"}}),
        assistant("ULIDs it is."),
    )
    (turn,) = turns(tmp_path, *records)
    assert turn.dialogs == (Dialog("Which ids?", ("ULID (Recommended)", "UUIDv4", "自增"), "ULID (Recommended)", 1),)


def test_a_plan_is_whole_and_has_its_fate(tmp_path: Path) -> None:
    said = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n先写测试"
    first, second = turns(
        tmp_path,
        user("plan it"),
        call("ExitPlanMode", {"plan": "# Plan\n1. write\n2. 测试"}),
        result(said, toolDenialKind="user-rejected", is_error=True),
        assistant("Tests first."),
        call("ExitPlanMode", {"plan": "# Plan 2"}, "toolu_2"),
        result("approved", "toolu_2"),
    )
    assert first.plans == (AgentPlan("# Plan\n1. write\n2. 测试", "turned down", 0),)
    assert (second.typed, second.refused, second.plans) == ("先写测试", True, (AgentPlan("# Plan 2", "approved", 1),))


def test_edits_have_their_size_and_the_first_line_that_tells(tmp_path: Path) -> None:
    (turn,) = turns(
        tmp_path,
        user("go"),
        call("Write", {"file_path": "/p/新.md", "content": "---\n\n标题一\nmore words here\n"}),
        result("ok"),
        call(
            "Edit",
            {"file_path": "/p/a.py", "old_string": "x = 1\ny = 2", "new_string": "x = 1\n)\ndef leeway():"},
            "t2",
        ),
        result("ok", "t2"),
        call("Edit", {"file_path": "/p/a.py", "old_string": "z", "new_string": "zz"}, "t3"),
        result("ok", "t3"),
        call("Bash", {"command": "pytest tests"}, "t4"),
        result("E  clock skew\n1 failed", "t4", is_error=True),
        call("Edit", {"file_path": "/p/a.py", "old_string": "", "new_string": "now works"}, "t5"),
        result("old_string not found", "t5", is_error=True),
        call("Bash", {"command": "pytest tests"}, "t6"),
        result("....\n41 passed in 0.3s\n\nShell cwd was reset to /p", "t6"),
    )
    assert turn.edits == (
        FileEdit("/p/新.md", 3, 0, "标题一", 0),
        FileEdit("/p/a.py", 3, 2, "def leeway():", 0),
    )
    assert turn.files == ("/p/新.md", "/p/a.py")
    assert turn.runs == (Run("pytest tests", "E  clock skew\n1 failed"), Run("pytest tests", "", "41 passed in 0.3s"))


def test_an_edit_that_the_user_refused_is_told_and_is_no_file_of_the_turn(tmp_path: Path) -> None:
    said = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nnot there"
    first, _ = turns(
        tmp_path,
        user("go"),
        call("Write", {"file_path": "/p/a.py", "content": "def one(): ..."}),
        result(said, toolDenialKind="user-rejected", is_error=True),
    )
    assert (first.edits[0].stopped, first.files) == (True, ())


def test_the_same_prompt_twice_is_one_turn_unless_something_was_done(tmp_path: Path) -> None:
    assert len(turns(tmp_path, user("再试一次"), assistant("Overloaded."), user("再试一次"), assistant("Fine."))) == 1
    records = (user("go"), call("Bash", {"command": "git commit -m 'ids: use ULID 排序'"}), result("ok"), user("go"))
    first, _ = turns(tmp_path, *records)
    assert first.commits == ("ids: use ULID 排序",)


def test_turns_are_read_on_from_those_before(tmp_path: Path) -> None:
    steps = read(tmp_path, user("one"), assistant("1"), user("two"), assistant("2")).steps
    whole = turns_of(steps)
    assert turns_of(steps[2:], whole[:1]) == whole


KINDS = {
    "prompt": Step("prompt", "问" * 3_000),
    "answer": Step("answer", "a" * 3_000),
    "run": Step("tool", "make", tool="Bash", error="e" * 200),
    "edit": Step("tool", tool="Edit", file="/src/令牌.py"),
}


def weight(steps: list[Step]) -> int:
    return sum(len(step.text) + len(step.error) + len(step.file) for step in steps)


def test_a_step_is_changed_by_its_number() -> None:
    steps = Steps()
    number = steps.add(KINDS["run"])
    steps.change(number, lambda step: step._replace(error="失败"))
    steps.change(99, lambda step: step._replace(error="no"))
    assert [step.error for step in steps] == ["失败"]


@pytest.mark.slow
@given(names=st.lists(st.sampled_from(sorted(KINDS)), max_size=300), bound=st.integers(0, 400_000))
def test_the_first_and_the_newest_steps_stay_within_the_bound(names: list[str], bound: int) -> None:
    steps = Steps(bound)
    came = [KINDS[name]._replace(offset=at) for at, name in enumerate(names)]
    for step in came:
        steps.add(step)
    kept = list(steps)
    first, newest = kept[:20], kept[20:]
    assert first == came[:20]
    assert newest == came[len(came) - len(newest) :]
    assert weight(kept) <= max(bound, weight([*first, *newest[-1:]]))
    assert newest or len(came) <= 20


def test_a_change_to_a_step_that_had_to_go_is_passed_over() -> None:
    steps = Steps(bound=100_000)
    numbers = [steps.add(Step("tool", f"run {number}", tool="Bash")) for number in range(2_000)]
    steps.change(numbers[1_000], lambda step: step._replace(error="late"))
    assert 20 < len(list(steps)) < 1_000
    assert "late" not in [step.error for step in steps]
