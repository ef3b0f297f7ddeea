"""What the agent takes back by its own words is not told, and what it says instead is."""

from __future__ import annotations

import pytest

from memtool.capture.conversation import Step
from memtool.capture.statements import amends_in
from memtool.capture.summary import summarise
from memtool.capture.turns import turns_of
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
        Step("amends", amends),
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
