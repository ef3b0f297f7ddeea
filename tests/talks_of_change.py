"""Talks in which something is decided in passing, the agent is corrected, and the decision is taken back later."""

from __future__ import annotations

from typing import NamedTuple


class TalkOfChange(NamedTuple):
    """What the user says, and by which words it is known.

    Args:
        decide, correct, change, ask: prompts, in the order in which they come.
        old, rule, new: parts of the first three that a later session must, or must no longer, be told.
        name: the decision's subject.
        done, redone, changed: what the agent answers to the first three.
    """

    decide: str
    correct: str
    change: str
    ask: str
    old: str
    rule: str
    new: str
    name: str
    done: str
    redone: str
    changed: str


TALKS = {
    "english": TalkOfChange(
        decide="Add the order model. For the order ids we take ULIDs, because they sort by time.",
        correct="No, not one test per case: always table-driven tests, please.",
        change="I changed my mind about the order ids: use UUIDv7 instead of ULIDs.",
        ask="What is next?",
        old="because they sort by time",
        rule="always table-driven tests",
        new="UUIDv7 instead of ULIDs",
        name="ULID",
        done="The order model is in order_model.py; its ids come from new_order_id().",
        redone="The three tests of order_model.py are one table-driven test now.",
        changed="new_order_id() in order_model.py returns a UUIDv7 now.",
    ),
    "chinese": TalkOfChange(
        decide="新增订单模型。订单号我们用 ULID，因为它能按时间排序。",
        correct="不对，不要每种情况写一个测试：以后一律写成表驱动测试。",
        change="订单号改主意了：改用 UUIDv7，不再用 ULID。",
        ask="接下来做什么？",
        old="因为它能按时间排序",
        rule="以后一律写成表驱动测试",
        new="改用 UUIDv7，不再用 ULID",
        name="ULID",
        done="订单模型写在 order_model.py 里，订单号由 new_order_id() 生成。",
        redone="order_model.py 的三个测试已经合并成一个表驱动测试。",
        changed="order_model.py 里的 new_order_id() 现在返回 UUIDv7。",
    ),
    "english in other words": TalkOfChange(
        decide="Set up the job runner - I'd go for Celery here since the ops people know it.",
        correct="Please stop adding docstrings to test functions, we never do that here.",
        change="We reconsidered the job runner: Celery out, Dramatiq in.",
        ask="good morning, what is left to do on the runner?",
        old="since the ops people know it",
        rule="stop adding docstrings to test functions",
        new="Celery out, Dramatiq in",
        name="Celery",
        done="src/runner.py starts a worker with two queues.",
        redone="Removed the docstrings from tests/test_runner.py.",
        changed="src/runner.py starts a Dramatiq broker.",
    ),
    "chinese in other words": TalkOfChange(
        decide="写一下发票导出，金额统一用整数分存，浮点会有误差",
        correct="等等，测试里不许 mock 数据库，用测试容器跑",
        change="金额精度不够，油价要四位小数。不要用整数分了，金额改存 Decimal。",
        ask="上次做到哪儿了？",
        old="浮点会有误差",
        rule="测试里不许 mock 数据库",
        new="金额改存 Decimal",
        name="统一用整数分",
        done="导出写在 src/invoice_export.py 里。",
        redone="测试已改为使用 tests/conftest.py 里的容器。",
        changed="src/invoice_export.py 里的 amount 现在是四位小数的 Decimal。",
    ),
}
