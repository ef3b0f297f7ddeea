from __future__ import annotations

import pytest
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
    assert passages(SESSION, "session")[1] == Passage("access tokens live 24 hours", 9, 10, author="agent")


def test_what_hooks_write_into_a_daily_note_says_nothing() -> None:
    lines = "- 14:30 **shop**: `auth.ts`\n- 14:32: [login](../sessions/3f2a9c.md)\n"
    lines += "- 14:33 **shop**: 接着上次的来 (session 8d01b2)\n- 14:40 与客户通话：改用新密钥\n"
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


NOTE = """# Login of the shop: sessions replaced by JWT

- **Project**: shop

---

1. **Topic**: login of the shop
2. **Key points**:
   - "the login fails in Safari, why?" → SameSite=None needs Secure · "no, keep the old cookie, too" · fixed in jwt.ts
   - "always write table-driven tests" → All 14 tests pass.
   - [fix] `pytest tests/auth` failed → leeway of 30 s → passed #auth
   - [finding] 时钟偏差是 Docker 引起的
3. **Files**: auth.ts, middleware/jwt.ts
4. **Decisions**: JWT rather than sessions (user)
5. **Done**: 已提交并推送。
6. **Commands**: `pnpm test:auth`
7. **Open**:
   - rate limiting of the login route
   - docs are done
   - 重试逻辑已修复
"""


def test_a_session_is_given_in_lines_that_know_their_role_and_author() -> None:
    given = {passage.text: (passage.role, passage.author) for passage in passages(NOTE, "session")}
    assert given == {
        "Login of the shop: sessions replaced by JWT": ("title", "user"),
        "login of the shop": ("title", "user"),
        "SameSite=None needs Secure": ("", "agent"),
        "no, keep the old cookie, too": ("asked", "user"),
        "fixed in jwt.ts": ("", "agent"),
        "always write table-driven tests": ("asked", "user"),
        "All 14 tests pass.": ("", "agent"),
        "已提交并推送。": ("", "agent"),
        "`pytest tests/auth` failed → leeway of 30 s → passed #auth": ("fix", "agent"),
        "时钟偏差是 Docker 引起的": ("finding", "agent"),
        "JWT rather than sessions": ("decision", "user"),
        "pnpm test:auth": ("command", "agent"),
        "rate limiting of the login route": ("open", "agent"),
        "docs are done": ("open", "agent"),
        "重试逻辑已修复": ("open", "agent"),
    }


def test_a_line_knows_what_was_asked_before_it_and_where_it_stands() -> None:
    [line] = [passage for passage in passages(NOTE, "session") if passage.text == "SameSite=None needs Secure"]
    assert line.asked == "the login fails in Safari, why?"
    assert (line.first, line.last) == (8, 8)


@pytest.mark.parametrize("begun", ["fix/login: the login fails in Safari", "登录在 Safari 里为什么失败？"])
def test_what_a_session_came_to_stands_in_its_title(begun: str) -> None:
    note = f"---\ntype: session\n---\n\n# {begun} → SameSite=None 需要 Secure\n\n- **Time**: 2026-02-10 14:30\n"
    [line] = [each for each in passages(note, "session") if each.role == "title"]
    assert (line.text, line.role, line.author, line.first) == ("SameSite=None 需要 Secure", "title", "agent", 4)
    assert line.asked == begun.removeprefix("fix/login: ")
    assert "Shall I commit it?" not in texts(f"# {begun} → Shall I commit it?\n", "session")


def test_other_separators_of_lines_move_nothing() -> None:
    note = "1. **Key points**:\n   - 时钟\u2028偏差\n   - a\x0bb\x85c\r\n   - the cookie lacked Secure\n"
    found = [(each.text, each.first) for each in passages(note, "session")]
    assert found == [("时钟 偏差", 1), ("a b c", 2), ("the cookie lacked Secure", 3)]


def test_a_part_of_a_session_s_note_is_read_like_the_whole() -> None:
    part = '   - "why?" → the cookie lacked Secure\n   - [finding] 时钟偏差\n3. **Open**: 支付回调\n'
    assert [(each.text, each.role, each.first) for each in passages(part, "session")] == [
        ("the cookie lacked Secure", "", 0), ("时钟偏差", "finding", 1), ("支付回调", "open", 2),
    ]  # fmt: skip


def test_what_its_owner_wrote_between_the_lines_is_given_too() -> None:
    assert "Ask Mara before touching the cookie." in texts(f"{NOTE}\nAsk Mara before touching the cookie.\n", "session")


@pytest.mark.parametrize(
    "text",
    [
        "All tests pass", "All 14 tests pass.", "tests are green", "Committed as 3f2a9c.", "Done.", "pushed to main",
        "单元测试全部通过", "所有测试都通过了", "已提交", "テストはすべて通りました", "auth.ts, middleware/jwt.ts",
        "`a.py`, `b/c.py`, and 3 more", "How long do tokens live?", "令牌能用多久？",
    ],
)  # fmt: skip
def test_questions_statuses_and_lists_of_files_are_never_given(text: str) -> None:
    assert texts(f"- {text}\n", "daily") == []


@pytest.mark.parametrize(
    "text",
    [
        "all tests of the database must pass against PostgreSQL in a container, because SQLite has no locks",
        "tests need `docker compose up db` first",
        "committing needs a signed-off line", "see auth.ts: it holds the key",
        "测试之前要先启动容器", "the done button is green",
    ],
)  # fmt: skip
def test_a_statement_about_tests_commits_or_files_is_given(text: str) -> None:
    assert texts(f"- {text}\n", "daily") == [text]
