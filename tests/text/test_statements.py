from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.text.lines import one_line
from memtool.text.statements import is_machine_text, plain, prose, sentences, statements

anything = st.text(st.characters(exclude_categories=()), max_size=400)


def texts(markdown: str) -> list[str]:
    return [each.text for each in statements(markdown)]


def test_markdown_is_made_plain() -> None:
    text = "**Fixed** the [login](https://a.b/c) in `auth_client.ts` with *care* ✅ <br> and ~~old~~ `**/*.py` 🎉"
    assert plain(text) == ("Fixed the login in auth_client.ts with care and old **/*.py", ["auth_client.ts", "**/*.py"])
    assert plain("keep __init__.py and snake_case_name") == ("keep __init__.py and snake_case_name", [])


@pytest.mark.parametrize(
    "block",
    [
        "```py\nx = 1  # not said\n```",
        "~~~\nnot said\n~~~",
        "```\n~~~\nnot said\n~~~\nnot said either\n```",
        "~~~\n```\nnot said\n~~~",
        "````md\n```\nnot said\n```\nnot said\n````",
        "```\nnot said\n``` not the end\nnot said\n```",
        "- ```sh\n  not said\n  ```",
        "   ```\nnot said\n   ```",
        "<pasted_content>\nnot said\n</pasted_content>",
        "| a | not said |\n|---|---|",
        "| 名称 | 未说 |\n|:--|--:|",
    ],
)
def test_code_blocks_pastes_and_the_heads_of_tables_say_nothing(block: str) -> None:
    assert texts(f"Said before, 之前.\n\n{block}\n\nSaid after, 之后.") == ["Said before, 之前.", "Said after, 之后."]


def test_a_fence_that_is_never_closed_hides_what_follows_and_nothing_before() -> None:
    assert texts("Said.\n\n```\nnot said\n~~~\nnot said") == ["Said."]


def test_logs_and_commands_are_not_said() -> None:
    text = """Intro text here.

2026-03-09T17:42:15Z INFO starting
Traceback (most recent call last):
  File "/app/main.py", line 12, in <module>
    at foo (bar.js:1:2)
ann@build-01:~/app$ docker compose up
<system-reminder>
hidden
</system-reminder>
const x = call({
Last text here."""
    assert texts(text) == ["Intro text here.", "Last text here."]


def test_items_and_rows_know_what_their_list_is_of() -> None:
    text = """## Result 结果

The cache was not cleared
when the user logged out.

**Next steps:**
- [ ] add a *test*
- [x] remove the flag
  - nested `thing` here

What is left for 明天：
1. 限流
2) mails

After the list.

| key | when |
|---|---|
| `ttl` | 24 h |
| 刷新 | 7 天 |"""
    found = statements(text)
    assert [(each.text, each.lead, each.is_listed) for each in found] == [
        ("The cache was not cleared when the user logged out.", "", False),
        ("add a test", "Next steps", True),
        ("remove the flag", "Next steps", True),
        ("nested thing here", "Next steps", True),
        ("限流", "What is left for 明天", True),
        ("mails", "What is left for 明天", True),
        ("After the list.", "", False),
        ("ttl: 24 h", "Result 结果", True),
        ("刷新: 7 天", "Result 结果", True),
    ]
    assert [each.codes for each in found][3] == 1


def test_wrapped_chinese_lines_are_one_sentence() -> None:
    first, second = (
        "根本原因是用户退出登录的时候没有清除缓存里面的会话令牌以及它的刷新令牌",
        "所以下一个用户看到了上一个用户的订单",
    )
    assert texts(f"{first}\n{second}。") == [f"{first}{second}。"]
    assert texts(f"已修复。\n{second}。") == ["已修复。", f"{second}。"]
    assert texts("短标题\n另一行") == ["短标题", "另一行"]


def test_the_ends_of_a_very_long_text_are_read() -> None:
    text = "first thing said.\n\n" + "middle 中间 of it\n\n" * 20_000 + "last thing said."
    found = texts(text)
    assert (found[0], found[-1]) == ("first thing said.", "last thing said.")
    assert len(found) < 5_000


@pytest.mark.slow
@given(anything)
def test_statements_are_single_clean_lines(text: str) -> None:
    assert all(each.text == one_line(each.text) and each.text for each in statements(text))


@pytest.mark.parametrize(
    "line", ["npm install --save-dev jest", "    at run (index.js:10:5)", "{", "$ ls -l", "│ a │ b │ c │"]
)
def test_machine_text_is_known(line: str) -> None:
    assert is_machine_text(line)


@pytest.mark.parametrize(
    "line", ["npm is used everywhere, never yarn", "At the end we return 404", "修复了 `auth.ts` 的问题"]
)
def test_prose_is_no_machine_text(line: str) -> None:
    assert not is_machine_text(line)


HOSTILE = {
    "a megabyte without a space": "x" * 1_000_000,
    "a hundred thousand bullets": "- fixed the thing in x.py\n" * 100_000,
    "fences never closed": "```\n" * 100_001,
    "brackets": "[" * 500_000,
    "stars": "*a " * 200_000,
    "code marks": "`" * 500_001,
    "tags never closed": "<system-reminder>" * 60_000,
    "comments never closed": "<!--" * 200_000,
    "one Chinese character": "修" * 500_000,
    "full stops": "。." * 300_000,
    "paths": "/a" * 400_000,
    "tables": "|a" * 300_000 + "\n" + "|-" * 300_000,
    "lines of nothing": "\r\n" * 400_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_read_in_bounded_time(text: str) -> None:
    statements(text)


def test_a_bold_line_that_ends_as_a_sentence_says_something() -> None:
    bold = "## 结论\n\n> **不要直接加到列表，还是要走 pushTask。**\n\n**Files changed:**\n- one\n\n"
    told = statements(bold + "**Root cause**: the lock. It stays.")
    assert [(each.text, each.is_strong) for each in told] == [
        ("不要直接加到列表，还是要走 pushTask。", True),
        ("one", False),
        ("Root cause: the lock.", True),
        ("It stays.", False),
    ]


@pytest.mark.parametrize("label", ["**Removed:**", "**移除：**"])
def test_a_short_label_in_bold_type_stays_with_its_list(label: str) -> None:
    (item,) = statements(f"{label}\n\n- the old adapter, 适配器")
    assert item.lead == label.strip("*:：")


def test_a_row_of_a_table_names_its_columns() -> None:
    text = "| Case | Before | 之后 |\n|---|---|---|\n| no state | conflict | reset |\n| 有状态 | conflict | |"
    assert [each.text for each in statements(text)] == [
        "no state: Before = conflict, 之后 = reset",
        "有状态: Before = conflict",
    ]
    assert statements("| a | row | without | a head |") == []
    assert "conflict" not in prose(f"why does it do this?\n{text}")


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("It works. The cache was stale.", ["It works.", "The cache was stale."]),
        (
            "Upgrade to v2.1.210 in auth.ts, e.g. with 3.5 s. Done",
            ["Upgrade to v2.1.210 in auth.ts, e.g. with 3.5 s.", "Done"],
        ),
        ("原因找到了！缓存没有失效。已修复；请重启", ["原因找到了！", "缓存没有失效。", "已修复；请重启"]),
        ("他说“可以。”然后走了", ["他说“可以。”", "然后走了"]),
        ("Use Redis (see docs.) Then restart.", ["Use Redis (see docs.)", "Then restart."]),
        ("Let's take option B. Tokens live 15 minutes.", ["Let's take option B.", "Tokens live 15 minutes."]),
        ("已修复，go test ./app/... 通过。再看", ["已修复，go test ./app/... 通过。", "再看"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, cut: list[str]) -> None:
    assert sentences(text) == cut


@pytest.mark.slow
@given(st.text(st.characters(), max_size=300).map(one_line))
def test_sentences_lose_nothing_but_spaces(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
