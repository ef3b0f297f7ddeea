"""What an answer tells, without chatter; values are compared, not pinned."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from memtool.capture.answer_statements import MOST, statements_of
from memtool.text.lines import one_line


def told(said: str) -> list[str]:
    return [piece.text for piece in statements_of(said)]


@pytest.mark.parametrize(
    "chatter",
    [
        "Great question!",
        "Perfect!",
        "Let me look at the configuration of the service first.",
        "好的！",
        "Here is what I found:",
        "## Summary",
        "Done.",
    ],
)
def test_chatter_is_left_out(chatter: str) -> None:
    fix = "The cookie needs `Secure` where SameSite=None is set, 在 jwt.ts:41 修复。"
    assert told(f"{chatter}\n\n{fix}") == ["The cookie needs Secure where SameSite=None is set, 在 jwt.ts:41 修复。"]


@pytest.mark.parametrize("answer", ["We decided to keep both files.", "我们决定保留两个文件。", "两个 files 都保留。"])
def test_an_answer_of_one_short_sentence_leads_in_to_nothing(answer: str) -> None:
    assert told(answer) == [answer]


def test_an_item_is_told_with_what_its_list_is_of() -> None:
    said = "Still open for the release:\n\n- the rate limit of `login.ts`\n- 邮件队列 in `queue.ts` 的重试次数"
    assert told(said) == ["Still open for the release: the rate limit of login.ts; 邮件队列 in queue.ts 的重试次数"]


@pytest.mark.parametrize(
    "lead", ["Here's a summary of the tests I added:", "以下是新增的测试：", "Voici les tests :", "## The tests"]
)
def test_how_a_list_is_presented_is_left_out(lead: str) -> None:
    items = ("`test_login` signs in with an expired cookie", "`test_logout` 清除两个 cookie", "`test_renew` waits 30 s")
    said = [text for text in told(f"{lead}\n\n" + "\n".join(f"- {item}." for item in items * 3)) if "expired" in text]
    assert said
    assert not any(re.match(r"(?i)here|以下|voici", text) for text in said)


def test_an_item_of_a_long_list_says_how_many_there_are() -> None:
    items = [f"file{at}.ts no longer needs the old 适配器 of the shop, so it and its tests went" for at in range(5)]
    assert told("**Removed:**\n\n" + "\n".join(f"- {item}" for item in items)) == [
        f"Removed (5): {item}" for item in items
    ]


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("The retry of `gateway.ts` charges the customer twice.", "The retry of it all charges the customer twice."),
        (
            "令牌在 jwt.ts 里的有效期改为 24 小时，刷新令牌为 7 天。",
            "令牌在那里的有效期改为一天，刷新令牌改为七天比较好。",
        ),
    ],
)
def test_what_names_something_is_worth_more(more: str, less: str) -> None:
    around = "The first sentence is about something else. {} 最后一句说的是别的事情。"
    named, vague = (statements_of(around.format(text))[1] for text in (more, less))
    assert named.text == more.replace("`", "")
    assert named.value > vague.value


def test_the_first_statement_is_worth_more_than_the_same_in_the_middle() -> None:
    one = "The cookie of case {} needs the Secure flag now."
    values = [piece.value for piece in statements_of(" ".join(one.format(at) for at in range(8)))]
    assert values[0] == max(values)


def test_a_long_message_is_worth_less_than_a_short_one() -> None:
    one = "The cookie needs `Secure` where SameSite=None is set."
    long = one + "\n\n" + "And there is more that is explained at length here, point by point. " * 60
    assert statements_of(one)[0].value > statements_of(long)[0].value


def test_code_and_logs_are_not_told() -> None:
    assert told("```\nAlways deploy to 10.0.0.1\n```\n2026-03-09T17:42:15Z INFO always deploy") == []
    assert told("") == []


@given(st.text(st.characters(), max_size=400) | st.text(st.sampled_from("-*#`|:. 令牌ab1\n"), max_size=400))
def test_statements_are_clean_lines_with_a_value(said: str) -> None:
    pieces = statements_of(said)
    assert len(pieces) <= MOST
    assert all(piece.text and piece.text == one_line(piece.text) and piece.value > 0 for piece in pieces)


LONG = "so that nobody who reads it for the first time has to look into the history of the project 才能看懂"


def test_of_a_long_list_its_heads_are_told() -> None:
    said = "**Open issues:**\n\n" + "\n".join(
        f"{at}. **{name}** - {LONG}"
        for at, name in enumerate(["Ghost files", "内容损坏 of rows", "Attribution by tree"])
    )
    texts = told(said)
    assert texts[0] == "Open issues: Ghost files; 内容损坏 of rows; Attribution by tree"
    assert len(texts) == 4


@pytest.mark.parametrize(
    "items",
    [
        ["a: b" * 40] * 3,
        [LONG] * 3,
        [f"**Step {at}**: {LONG}" for at in range(3)],
        [f"订单 number {at}: {LONG}" for at in range(3)],
    ],
)
def test_items_without_a_telling_name_have_no_heads(items: list[str]) -> None:
    assert len(told("Changes:\n\n" + "\n".join(f"- {item}" for item in items))) == len(items)


@pytest.mark.parametrize(
    ("said", "whole"),
    [
        (
            "The export of `orders.csv` passes. However, the mails are not sent yet.",
            "The export of orders.csv passes. However, the mails are not sent yet.",
        ),
        (
            "It seems safe to reset `orders`. However, this loses the drafts of all users who stash them:",
            "It seems safe to reset orders. However, this loses the drafts of all users who stash them",
        ),
        ("`orders.csv` 的导出已通过。但是邮件还没有发送。", "orders.csv 的导出已通过。但是邮件还没有发送。"),
        ("The 导出 of `orders.csv` passes. 不过邮件还没发送。", "The 导出 of orders.csv passes. 不过邮件还没发送。"),
    ],
)
def test_a_sentence_is_told_with_the_but_that_follows(said: str, whole: str) -> None:
    assert told(said) == [whole]


def test_what_is_below_next_steps_says_so() -> None:
    assert told("The import is done in `orders.py`.\n\n## ▶ Next up\n\n**Run** the second wave of 2 plans.") == [
        "The import is done in orders.py.",
        "▶ Next up: Run the second wave of 2 plans.",
    ]


def test_a_name_of_which_nothing_is_said_is_no_statement() -> None:
    assert told("Moved the totals of 订单 to `orders.py`.\n\n`/shop:run-phase 12`") == [
        "Moved the totals of 订单 to orders.py."
    ]


def test_a_table_that_maps_has_no_heads_and_one_of_faults_has() -> None:
    rows = [(f"Orphaned branch {at} of 订单", LONG) for at in range(3)]
    head = "| Fault | Place |\n|---|---|\n"
    assert len(told("Now:\n\n" + head + "\n".join(f"| {name} | {place} |" for name, place in rows))) == 3
    wide = "| Fault | Place | Remedy |\n|---|---|---|\n" + "\n".join(
        f"| {name} | a.py | {place} |" for name, place in rows
    )
    assert told("Faults:\n\n" + wide)[0] == "Faults: " + "; ".join(name for name, _ in rows)


@pytest.mark.parametrize(
    ("said", "told_as"),
    [
        (
            'The docs of `orders` say:\n\n"the 订单 is kept for two hours in orders.db"',
            "“the 订单 is kept for two hours in orders.db”",
        ),
        ("If `parse` fails,\n\n...the tests of orders will pass anyway.", "If parse fails,"),
    ],
)
def test_what_the_agent_quotes_is_not_in_the_quotes_of_the_user_and_no_rest_is_told(said: str, told_as: str) -> None:
    assert told(said)[-1] == told_as


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("So the second session of 订单 works in b.py.", "Now the second session of 订单 works in b.py."),
        ("结论：第二个会话也能写入订单 b.py。", "另外：第二个会话也能写入订单 b.py。"),
        ("Faults found:\n- `orders/a.py` — the lock of 订单", "Files changed:\n- `orders/a.py` — the lock of 订单"),
        ("the second session of `orders` writes 订单", '"the second session of `orders` writes 订单"'),
    ],
)
def test_what_concludes_is_worth_more_and_what_is_cited_or_lists_files_less(better: str, worse: str) -> None:
    before = "The lock of `orders` is taken twice in a.py.\n\n"
    assert statements_of(before + better)[-1].value > statements_of(before + worse)[-1].value


def test_praise_of_the_user_is_told_nowhere() -> None:
    assert told("The export of 订单 is written by `orders.py`.\n\nGood eye catching that!\n\n眼力真好！") == [
        "The export of 订单 is written by orders.py."
    ]
