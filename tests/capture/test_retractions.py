"""What the agent takes back by its own words is not told, and what it says instead is."""

from __future__ import annotations

import pytest

from memtool.capture.answer_statements import amends_in
from memtool.capture.conversation import Step
from memtool.capture.old_turns import turns_of
from memtool.capture.summary import summarise
from memtool.vault.session_rows import render_row


def note(*steps: Step) -> str:
    return "\n".join(render_row(row) for row in summarise(turns_of(steps)).rows)


@pytest.mark.parametrize(
    ("claim", "objection", "amends", "gone"),
    [
        (
            "The invoices of a tenant are numbered by the table `seq_invoice`, one sequence for all tenants.",
            "hm, I looked into two tenants and their invoices both begin with 1",
            "You're right, each tenant has its own sequence, `seq_invoice_<tenant>`.",
            "one sequence for all tenants",
        ),
        (
            "Yes! The new retry covers uploads through the proxy, too.",
            "and uploads of the mobile app, do they use the same retry?",
            "**No, the mobile app uploads by its own client** and never retries.",
            "covers uploads through the proxy",
        ),
        (
            "缓存在 `cache.ts` 里按用户保存，过期时间是 24 小时。",
            "我看了一下，缓存是所有用户共用的",
            "你说得对，缓存是全局共用的，只有令牌按用户保存。",
            "按用户保存，过期时间",
        ),
        (
            "Raised the limit: `maxUploads` in limits.yaml is 20 now, so that the import is done in one go.",
            "那个 limit 只是测试用的",
            "Reverted `maxUploads` to its old value.",
            "is 20 now",
        ),
        (
            "已把 `pool.size` 改成 64，压测时 P99 明显下降。",
            "这个改动只是压测用的",
            "已还原 `pool.size`，配置与主分支一致。",
            "改成 64",
        ),
    ],
)
def test_what_was_taken_back_on_the_way_is_not_told(claim: str, objection: str, amends: str, gone: str) -> None:
    told = note(
        Step("prompt", "why is the shop so slow since Monday, 为什么这么慢?"),
        Step("answer", claim),
        Step("prompt", objection),
        Step("message", amends),
        Step("tool"),
        Step("answer", "All of it is on the branch now, and the notes for the team are written."),
    )
    assert gone not in told
    assert amends.replace("`", "").replace("**", "").split("，")[0].split(",")[-1].strip() in told


def test_only_a_message_that_begins_so_takes_something_back() -> None:
    assert amends_in("You're right - the ids are ULIDs. Let me look.").startswith("You're right - the ids are ULIDs.")
    assert amends_in("不，支付走的是另一条路径。") == "不，支付走的是另一条路径。"
    for said in (
        "Now the tests pass.",
        "Nothing was reverted.",
        "Notes are written, no worries.",
        "不过测试通过了。",
        "",
    ):
        assert amends_in(said) == ""


def test_a_question_that_is_answered_by_no_takes_nothing_else_back() -> None:
    told = note(
        Step("prompt", "set up the mail service for staging, 邮件服务"),
        Step("answer", "The MX records at `dns.tf` point to the new provider, with DKIM."),
        Step("prompt", "do I need the client secret of the login for that?"),
        Step("answer", "No, the secret is only for the server-side login flow, which is not used here."),
    )
    assert "The MX records at dns.tf" in told


CAUSES = [
    (
        "The issue is that `pause()` of the engine drops the reason of tasks in a.ts.",
        "The root cause is another one: `pause()` reads the tasks of a.ts from a stale copy.",
    ),
    ("根本原因在于 `pause()` 没有写入任务的暂停原因。", "结论：根因是 `pause()` 读取了任务的旧快照，暂停原因被覆盖。"),
]


@pytest.mark.parametrize(("first", "second"), CAUSES)
@pytest.mark.parametrize("report", ["the log of the next run, still the same", "看日志，还是有问题"])
def test_of_two_causes_of_one_failure_the_later_one_is_told(first: str, second: str, report: str) -> None:
    told = note(
        Step("prompt", "the tasks do not go on after a pause, 为什么?"),
        Step("answer", first),
        Step("prompt", report),
        Step("answer", second),
        Step("prompt", "and what is the name of the next release of the shop?"),
        Step("answer", "Release 2.4 is called Zanzibar in `release.toml`, 计划在周四发布。"),
    )
    assert plain(second) in told
    assert plain(first) not in told


@pytest.mark.parametrize(("first", "second"), CAUSES)
@pytest.mark.parametrize(
    "report", ["works, great! now the log of the other pause, it is broken, too", "and why does the other one wait?"]
)
def test_a_cause_stands_that_was_found_good_or_not_doubted(first: str, second: str, report: str) -> None:
    told = note(
        Step("prompt", "the tasks do not go on after a pause, 为什么?"),
        Step("answer", first),
        Step("prompt", report),
        Step("answer", second),
    )
    assert plain(first) in told


def test_a_plan_is_over_when_the_user_agrees_to_begin_anew() -> None:
    steps = [
        Step("prompt", "/shop:plan the payment by wallets, 支付方式"),
        Step("answer", "**Phase 12: payment** — 2 plans in 2 waves, checked by `plan.py`."),
        Step("prompt", "and who keeps the keys of the wallets then?"),
        Step(
            "answer",
            "The SDK keeps them in `keys.ts`.\n\n1. Drop the SDK for the core kit before replanning\n2. Keep it",
        ),
        Step("prompt", "1, go for it"),
        Step("answer", "Wrote the new direction to CONTEXT.md and dropped `sdk.ts`."),
    ]
    assert "2 plans in 2 waves" in note(*steps[:4])
    assert "2 plans in 2 waves" not in note(*steps)


def plain(text: str) -> str:
    return text.replace("`", "")
