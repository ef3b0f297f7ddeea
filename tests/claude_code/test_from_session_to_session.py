"""What one session of the real client leaves behind, and what the next ones start with."""

from __future__ import annotations

import subprocess

import pytest
from claude_code.api import ScriptedApi
from claude_code.box import Box
from claude_code.owner import Owner
from claude_code.script import Json, Turn, text_of, use
from claude_code.talk import Talk

from memtool.redaction import CONTEXT_TAG

TOOLS = ("--allowedTools", "Write Edit Bash")

ENGLISH = {
    "decide": "Add the order model. For the order ids we take ULIDs, because they sort by time.",
    "correct": "No, not one test per case: always table-driven tests, please.",
    "change": "I changed my mind about the order ids: use UUIDv7 instead of ULIDs.",
    "ask": "What is next?",
    "old": "because they sort by time",
    "rule": "always table-driven tests",
    "new": "UUIDv7 instead of ULIDs",
    "name": "ULID",
    "done": "The order model is in order_model.py; its ids come from new_order_id().",
    "redone": "The three tests of order_model.py are one table-driven test now.",
    "changed": "new_order_id() in order_model.py returns a UUIDv7 now.",
}
CHINESE = {
    "decide": "新增订单模型。订单号我们用 ULID，因为它能按时间排序。",
    "correct": "不对，不要每种情况写一个测试：以后一律写成表驱动测试。",
    "change": "订单号改主意了：改用 UUIDv7，不再用 ULID。",
    "ask": "接下来做什么？",
    "old": "因为它能按时间排序",
    "rule": "以后一律写成表驱动测试",
    "new": "改用 UUIDv7，不再用 ULID",
    "name": "ULID",
    "done": "订单模型写在 order_model.py 里，订单号由 new_order_id() 生成。",
    "redone": "order_model.py 的三个测试已经合并成一个表驱动测试。",
    "changed": "order_model.py 里的 new_order_id() 现在返回 UUIDv7。",
}

# The same in other words: neither "always" nor "instead of".
CELERY = {
    "decide": "Set up the job runner - I'd go for Celery here since the ops people know it.",
    "correct": "Please stop adding docstrings to test functions, we never do that here.",
    "change": "We reconsidered the job runner: Celery out, Dramatiq in.",
    "ask": "good morning, what is left to do on the runner?",
    "old": "since the ops people know it",
    "rule": "stop adding docstrings to test functions",
    "new": "Celery out, Dramatiq in",
    "name": "Celery",
    "done": "src/runner.py starts a worker with two queues.",
    "redone": "Removed the docstrings from tests/test_runner.py.",
    "changed": "src/runner.py starts a Dramatiq broker.",
}
FEN = {
    "decide": "写一下发票导出，金额统一用整数分存，浮点会有误差",
    "correct": "等等，测试里不许 mock 数据库，用测试容器跑",
    "change": "金额精度不够，油价要四位小数。不要用整数分了，金额改存 Decimal。",
    "ask": "上次做到哪儿了？",
    "old": "浮点会有误差",
    "rule": "测试里不许 mock 数据库",
    "new": "金额改存 Decimal",
    "name": "统一用整数分",
    "done": "导出写在 src/invoice_export.py 里。",
    "redone": "测试已改为使用 tests/conftest.py 里的容器。",
    "changed": "src/invoice_export.py 里的 amount 现在是四位小数的 Decimal。",
}


def started_with(body: Json) -> str:
    """Return what a session was given at its start, as its first request shows it."""
    heard = "\n".join(map(text_of, body["messages"]))
    return "".join(
        part.split(f"</{CONTEXT_TAG}>")[0] for part in heard.split(f'<{CONTEXT_TAG} event="session-start">')[1:]
    )


def writes(box: Box, name: str) -> Turn:
    return use("Write", file_path=str(box.project / name), content="text\n")


def hold(box: Box, api: ScriptedApi, *prompts: str) -> str:
    """Hold a session with these prompts and return what it started with."""
    before = len(api.asked("main"))
    with Talk(box, api.url, *TOOLS) as talk:
        for prompt in prompts:
            talk.say(prompt)
    box.wait_until_idle()
    return started_with(api.asked("main")[before])


@pytest.mark.parametrize(
    "said",
    [ENGLISH, CELERY, CHINESE, FEN],
    ids=["english", "celery", "chinese", "fen"],
)
def test_a_decision_in_passing_and_a_correction_are_known_to_the_next_session_until_they_are_taken_back(
    box: Box, api: ScriptedApi, owner: Owner, said: dict[str, str]
) -> None:
    api.answers([
        writes(box, "order_model.py"), said["done"],
        writes(box, "test_order_model.py"), said["redone"],
        "…", "…",
        writes(box, "order_model_2.py"), said["changed"],
        "…",
    ])  # fmt: skip
    assert hold(box, api, said["decide"], said["correct"]) == ""
    assert len(owner.notes()) == 1

    second = hold(box, api, said["ask"])
    assert said["old"] in second
    assert said["rule"] in second

    home, box.project = box.project, box.root / "elsewhere"
    box.project.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=box.project, env=box.environ(), check=True)
    third = hold(box, api, said["ask"])
    box.project = home
    assert said["name"] not in third
    assert said["rule"] not in third

    hold(box, api, said["change"])
    fifth = hold(box, api, said["ask"])
    assert said["new"] in fifth
    assert said["old"] not in fifth
    assert said["rule"] in fifth


def test_what_the_user_deletes_from_a_note_is_never_said_again(box: Box, api: ScriptedApi, owner: Owner) -> None:
    api.answers([writes(box, "order_model.py"), ENGLISH["done"], "…", "…"])
    hold(box, api, ENGLISH["decide"])
    (name,) = owner.notes()
    path = owner.vault / "sessions" / f"{name}.md"
    path.write_text("\n".join(line for line in path.read_text().split("\n") if "new_order_id" not in line))
    assert "new_order_id" not in hold(box, api, ENGLISH["ask"])
    owner.run("capture", str(next(box.home.rglob(f"{name}.jsonl"))))
    assert "new_order_id" not in hold(box, api, ENGLISH["ask"])
