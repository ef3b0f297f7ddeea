from __future__ import annotations

from hypothesis import given, strategies as st

from memtool.recall.prompts.passages import Passage, passages

SESSION = """# Session: 3f2a9c

- **Project**: shop
- **Time**: 2026-02-10 14:30 (last update)

---

1. **Topic**: user authentication
2. **Key points**:
   - access tokens live
     24 hours
3. **Decisions**: JWT rather than sessions
"""


def texts(text: str, kind: str = "note") -> list[str]:
    return [passage.text for passage in passages(text, kind)]


def test_a_session_note_is_its_statements() -> None:
    assert texts(SESSION, "session") == [
        "user authentication",
        "access tokens live 24 hours",
        "JWT rather than sessions",
    ]
    assert passages(SESSION, "session")[1] == Passage("access tokens live 24 hours", 9, 10)


def test_what_hooks_write_into_a_daily_note_says_nothing() -> None:
    lines = "- 14:30 **shop**: `auth.ts`\n- 14:32: [login](../sessions/3f2a9c.md)\n- 14:40 与客户通话：改用新密钥\n"
    assert texts(lines, "daily") == ["14:40 与客户通话：改用新密钥"]


def test_a_task_that_is_done_is_left_out() -> None:
    assert texts("- [x] rate limiting\n- [ ] 支付回调\n", "todo") == ["支付回调"]


def test_a_long_paragraph_is_cut_into_sentences() -> None:
    paragraph = "新密钥先发布。" * 20 + "旧密钥保留七天。" + " The rest is here. " * 10
    assert "旧密钥保留七天。" in texts(paragraph)
    assert "The rest is here." in texts(paragraph)


def test_rows_of_a_table_stand_for_themselves() -> None:
    assert texts("| name | value |\n| --- | --- |\n| max_connections | 200 |\n") == [
        "name | value",
        "max_connections | 200",
    ]


@given(st.text(alphabet="ab \n#-|*[x]`1.：。解密", max_size=400), st.sampled_from(["note", "session", "daily", "todo"]))
def test_every_passage_is_one_line_and_stands_where_it_says(text: str, kind: str) -> None:
    count = text.count("\n") + 1
    for passage in passages(text, kind):
        assert passage.text.strip()
        assert "\n" not in passage.text
        assert 0 <= passage.first <= passage.last < count
