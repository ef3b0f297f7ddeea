from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from memtool.text.languages import all_labels
from memtool.text.lines import one_line
from memtool.text.markdown import headings
from memtool.vault.memory import (
    AGENT,
    ASKED,
    AUTHORS,
    COMMAND,
    DECISION,
    FINDING,
    FIX,
    IMPORTED,
    OPEN,
    REFUTED,
    RULE,
    USER,
)
from memtool.vault.note import Note, parse_note
from memtool.vault.session_text import SECTIONS
from memtool.vault.sessions import (
    Draft,
    Line,
    SessionNote,
    is_as_written,
    lines_of,
    parse_session,
    render_session,
    session_title,
)

LOGIN, TOTALS = "the login fails in Safari", "订单总额为什么差一分钱？"
DRAFT = Draft(
    title="Login works in Safari again: SameSite=None needs Secure",
    asked="the login fails in Safari, everywhere else it works",
    lines=(
        Line("Orders have ULIDs as ids, because they sort by time. Turned down: UUIDv4.", DECISION, USER, 2),
        Line("The cookie is set in middleware/jwt.ts alone", DECISION, AGENT, 2),
        Line("never touch the migrations by hand", RULE, USER, 3),
        Line('`pytest tests/auth` failed: "clock skew" → leeway of 30 s in jwt.ts ✓ passed', FIX, AGENT, 4),
        Line("Safari drops cookies with SameSite=None and without Secure", FINDING, AGENT, 1),
        Line("It is the proxy", REFUTED, AGENT, 1),
        Line(LOGIN, ASKED, USER, 1),
        Line("SameSite=None needs Secure.", "", AGENT, 1, asked=LOGIN),
        Line("Both are set in jwt.ts.", "", AGENT, 1, asked=LOGIN),
        Line(TOTALS, ASKED, USER, 5),
        Line("每行先四舍五入再相加，所以差一分钱。", "", AGENT, 5, asked=TOTALS),
        Line("The staging certificate expires on Friday", OPEN, AGENT, 5),
        Line("pnpm test:auth", COMMAND, AGENT, 4),
    ),
    files=("auth.ts", "middleware/jwt.ts"),
    more_files=3,
)
NOTE = SessionNote(
    id="6f2c9c",
    project="shop",
    date="2026-03-02",
    updated="2026-03-02 14:30",
    branch="fix/登录",
    client="codex",
    size=12345,
    writer="rules",
    draft=DRAFT,
)
TEXT = """---
type: session
session: "6f2c9c"
date: 2026-03-02
updated: 2026-03-02 14:30
project: shop
branch: fix/登录
client: codex
size: 12345
writer: rules
checksum: "CHECKSUM"
---

# Login works in Safari again: SameSite=None needs Secure

Asked: “the login fails in Safari, everywhere else it works”

## Decisions
- Orders have ULIDs as ids, because they sort by time. Turned down: UUIDv4.
- The cookie is set in middleware/jwt.ts alone (agent)

## Rules
- “never touch the migrations by hand”

## Fixed
- `pytest tests/auth` failed: "clock skew" → leeway of 30 s in jwt.ts ✓ passed

## Findings
- Safari drops cookies with SameSite=None and without Secure
- Refuted: It is the proxy

## Done
- *the login fails in Safari*
  - SameSite=None needs Secure.
  - Both are set in jwt.ts.
- *订单总额为什么差一分钱？*
  - 每行先四舍五入再相加，所以差一分钱。

## Open
- [ ] The staging certificate expires on Friday

## Commands
- `pnpm test:auth`

**Files**: auth.ts, middleware/jwt.ts (and 3 more)
"""
CHINESE = """# 登录恢复正常：Cookie 需要 Secure

用户要求修好 Safari 登录；现已修好，还差证书。

问：“Safari 里登录失败”

## 决定
- 订单用 ULID，因为它按时间排序。

## 规则
- “迁移文件一律不许手改”

## 发现
- 已否定：是代理的问题

## 待办
- [ ] 周五证书到期

**文件**: auth.ts (另有 2 个)
"""


def bare(draft: Draft) -> Draft:
    """Return *draft* without what a printed note does not hold."""
    return draft._replace(lines=tuple(line._replace(turn=0, number=0) for line in draft.lines))


def test_a_note_looks_like_the_example_of_the_format() -> None:
    text = render_session(NOTE)
    assert re.sub(r'checksum: "?\w+"?', 'checksum: "CHECKSUM"', text) == TEXT
    assert bare(parse_session(text).draft) == bare(DRAFT)
    assert parse_session(text)._replace(draft=DRAFT) == NOTE
    assert is_as_written(text)
    assert not is_as_written(text.replace("ULIDs", "UUIDs"))
    assert is_as_written("\ufeff" + text.replace("\n", "\r\n"))


def test_a_chinese_note_has_chinese_labels() -> None:
    draft = Draft(
        title="登录恢复正常：Cookie 需要 Secure",
        asked="Safari 里登录失败",
        summary="用户要求修好 Safari 登录；现已修好，还差证书。",
        lines=(
            Line("周五证书到期", OPEN),
            Line("订单用 ULID，因为它按时间排序。", DECISION, USER),
            Line("迁移文件一律不许手改", RULE, USER),
            Line("是代理的问题", REFUTED),
        ),
        files=("auth.ts",),
        more_files=2,
    )
    text = render_session(SessionNote("x", draft=draft), language="zh")
    assert text.partition("---\n\n")[2] == CHINESE
    assert sorted(bare(parse_session(text).draft).lines) == sorted(draft.lines)
    assert parse_session(text).draft._replace(lines=()) == draft._replace(lines=())


def test_every_line_has_its_number_its_role_and_its_author() -> None:
    text = render_session(NOTE)
    written = text.split("\n")
    found = lines_of(text)
    assert [line.role for line in found[:2]] == ["title", "asked"]
    assert all(line.text in written[line.number - 1] for line in found)
    by_text = {line.text: line for line in found}
    assert by_text["The cookie is set in middleware/jwt.ts alone"].author == AGENT
    assert by_text["Both are set in jwt.ts."].asked == LOGIN
    assert by_text["每行先四舍五入再相加，所以差一分钱。"].asked == TOTALS
    assert by_text["pnpm test:auth"].role == COMMAND


def test_the_owner_may_write_as_people_write() -> None:
    text = """# Titel

Asked：“为什么？”

## 决定
* Use tabs,
  and never spaces

## Notes of mine
- not a line of the format
## RULES
+ Never push on Fridays
- “ask first” (agent)
## Open
- [x] done meanwhile
- [ ] still open
"""
    assert bare(parse_session(text).draft) == Draft(
        title="Titel",
        asked="为什么？",
        lines=(
            Line("Use tabs, and never spaces", DECISION, USER),
            Line("Never push on Fridays", RULE, USER),
            Line("“ask first”", RULE, AGENT),
            Line("done meanwhile", ""),
            Line("still open", OPEN),
        ),
    )


def test_code_and_comments_of_the_owner_hold_no_lines() -> None:
    text = "# T\n\n## Rules\n```\n- “never”\n```\n<!--\n- “always”\n-->\n- “只用制表符”\n"
    assert [line.text for line in lines_of(text)] == ["T", "只用制表符"]


def test_a_prompt_of_which_nothing_came_and_a_statement_without_one() -> None:
    lines = (Line("一般说明"), Line("go on", ASKED, USER), Line("*bold* from the start", "", "tool"))
    text = render_session(SessionNote("x", draft=Draft("T", lines=lines)))
    assert "## Done\n- 一般说明\n- *go on*\n- \\*bold* from the start (tool)\n" in text
    assert bare(parse_session(text).draft).lines == lines


HOSTILE = st.sampled_from(
    [
        "# not a title", "## Rules", "- item", "**Files**: x", "1. **Rules**: always", "- **Project**: x", "[ ] task",
        "[x] done", "*asked*", "\\*escaped", "“quoted”", "“", "```", "~~~ code", "<!-- hidden", "-->", "---",
        "> quoted",        "(user)", "said (user)", "说过（agent）", "x (user) (agent)", "Refuted: it is",
        "已否定：是的", "Asked: “me”",
        "问：“我”", "a\n## Rules\n- “b”", "a\u2028- b", "`code`", "\\", "*", "* *", "2) second", "12\\. odd",
        "| a | b |",        "=====", "a → b · c", "tail\\", "(and 3 more)", "Files: a", "`", "_x_", "  ", "\ufeff# bom",
    ]
)  # fmt: skip
TEXTS = st.one_of(HOSTILE, st.text(max_size=40), st.text(alphabet="#-*“” 登录\n[]x()`\\:：.1é", max_size=20))
ROLES = st.sampled_from(["", ASKED, DECISION, RULE, FIX, FINDING, REFUTED, OPEN, COMMAND])
LINES = st.lists(
    st.builds(Line, TEXTS, ROLES, st.sampled_from(AUTHORS), asked=st.one_of(st.just(""), TEXTS)), max_size=8
)
DRAFTS = st.builds(
    Draft, TEXTS, TEXTS, TEXTS, LINES.map(tuple), st.lists(TEXTS, max_size=3).map(tuple), st.integers(0, 9)
)


@given(DRAFTS, st.sampled_from(["en", "zh"]))
def test_what_memtool_wrote_is_read_back_to_the_byte(draft: Draft, language: str) -> None:
    parts = {"request": 'two\nlines “und” 引号 \\ "'}
    note = SessionNote("id: #1", "shop: 网店", "2026-03-02", "2026-03-02 14:30", "fix/登录", parts=parts, draft=draft)
    text = render_session(note, language=language)
    read = parse_session(text)
    assert render_session(read, language=language) == text
    assert read._replace(draft=draft) == note


@given(DRAFTS)
def test_a_text_never_becomes_another_part(draft: Draft) -> None:
    text = render_session(SessionNote("x", draft=draft))
    read = parse_session(text).draft
    parts = {(" ".join(line.text.replace("`", "'").split()), line.role) for line in read.lines}
    for line in draft.lines:
        said = one_line(line.text)
        if said and line.role not in (FINDING, REFUTED):
            assert (" ".join(said.replace("`", "'").split()), line.role) in parts or (line.role == ASKED)
    allowed = {line.role for line in draft.lines} | {ASKED, REFUTED}
    assert {line.role for line in read.lines} <= allowed
    assert read.asked == one_line(draft.asked)
    assert read.summary == one_line(draft.summary)
    assert read.title == one_line(draft.title) or (not one_line(draft.title) and read.title)
    labels = {word for name in SECTIONS for word in all_labels("session")[name]}
    found = [heading for _, heading in headings(text.partition("---\n\n")[2].split("\n"))]
    assert set(found[1:]) <= labels  # also as Markdown reads it


def test_a_pasted_prompt_is_not_the_user_s() -> None:
    text = render_session(SessionNote("x", draft=Draft("T", lines=(Line("日志…", ASKED, IMPORTED),))))
    assert "- *日志…* (imported)\n" in text
    assert [line.author for line in lines_of(text)] == [AGENT, IMPORTED]


def test_a_note_without_a_title_is_named_by_its_day() -> None:
    text = render_session(SessionNote("3f2a9c", date="2026-03-02", draft=Draft(lines=(Line("登录已修好。"),))))
    assert "\n# Session 2026-03-02\n" in text
    note = parse_note("sessions/x.md", text.encode())
    assert isinstance(note, Note)
    assert session_title(note) == "登录已修好。"


@pytest.mark.parametrize("name", ["a, b.md", "__init__.py", "**/x", "with space.md", "C++/ü.cpp", "页面 (2).tsx"])
def test_file_names_are_read_back(name: str) -> None:
    files = ("first.py", name, "last.py")
    for more in (0, 2):
        text = render_session(SessionNote("x", draft=Draft(files=files, more_files=more)))
        read = parse_session(text).draft
        assert (read.files, read.more_files) == (files, more)


OLD = """---
type: session
date: 2026-02-10
project: shop
client: codex
size: 77
request: "登录"
checksum: "0badcafe"
---

# fix/x: the login fails in Safari → fixed by SameSite=None

- **Time**: 2026-02-10 14:30
- **Directory**: ~/src/shop (branch fix/登录)

---

1. **Key points**:
   - [fix] `pytest` failed: "x" → jwt.ts → passed
   - [decision] refresh tokens are kept in a cookie #auth
   - "登录在 Safari 里失败" → SameSite=None needs Secure · "keep the old cookie" · fixed in jwt.ts
2. **Files**: auth.ts, `a, b.ts`, and 2 more
3. **Decisions**: JWT rather than sessions (user)
4. **Rules**:
   - 测试都要表驱动
5. **Done**: committed and pushed
6. **Commands**: `pnpm test:auth`
7. **Open**: rate limiting of the login route
"""


def test_a_note_of_an_earlier_version_is_read_into_the_same_values() -> None:
    note = parse_session(OLD)
    asked = "登录在 Safari 里失败"
    assert note._replace(draft=Draft()) == SessionNote(
        project="shop", date="2026-02-10", updated="2026-02-10 14:30", branch="fix/登录", client="codex", size=77,
        parts={"request": "登录"},
    )  # fmt: skip
    assert bare(note.draft) == Draft(
        title="fixed by SameSite=None",
        asked="the login fails in Safari",
        lines=(
            Line('`pytest` failed: "x" → jwt.ts → passed', FIX),
            Line("refresh tokens are kept in a cookie #auth", DECISION),
            Line(asked, ASKED, USER),
            Line("SameSite=None needs Secure", asked=asked),
            Line("keep the old cookie", ASKED, USER, asked=asked),
            Line("fixed in jwt.ts", asked=asked),
            Line("JWT rather than sessions", DECISION, USER),
            Line("测试都要表驱动", RULE, USER),
            Line("committed and pushed"),
            Line("pnpm test:auth", COMMAND),
            Line("rate limiting of the login route", OPEN),
        ),
        files=("auth.ts", "a, b.ts"),
        more_files=2,
    )
    lines = OLD.split("\n")
    assert all(line.text[:12] in lines[line.number - 1] for line in lines_of(OLD))
