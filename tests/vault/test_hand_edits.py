from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from memtool.text.languages import label_languages
from memtool.vault.hand_edits import keep_hand_edits
from memtool.vault.note import Note, parse_note
from memtool.vault.sessions import Draft, Line, SessionNote, lines_of, parse_session, render_session

ASKED, LOGOUT = "登录在 Safari 里失败", "and the logout?"
EARLIER = SessionNote(
    id="3f2a9c",
    project="shop",
    updated="2026-02-10 14:30",
    branch="login",
    writer="rules",
    tags=("auth",),
    draft=Draft(
        title="user authentication",
        asked="make the login work",
        lines=(
            Line("refresh tokens are kept in a cookie", "decision", "user"),
            Line("access tokens live 24 hours", "finding"),
            Line("the clock of the test server is wrong", "finding"),
            Line("SameSite=None needs Secure", asked=ASKED),
            Line("both cookies are set in jwt.ts", asked=ASKED),
            Line("rate limiting", "open"),
            Line("logout", "open"),
        ),
        files=("auth.ts", "middleware/jwt.ts"),
    ),
)
LATER = EARLIER._replace(
    updated="2026-02-11 09:05",
    branch="logout",
    tags=("auth", "cookies"),
    draft=Draft(
        title="user authentication and logout",
        asked="make the login work",
        lines=(
            Line("refresh tokens are kept in a cookie", "decision", "user"),
            Line("迁移文件不许手改", "rule", "user"),
            Line("access tokens live 24 hours", "finding"),
            Line("令牌存放在 cookie 里", "finding"),
            Line("SameSite=None needs Secure", asked=ASKED),
            Line("the proxy keeps the header", asked=ASKED),
            Line("DELETE /session ends it", asked=LOGOUT),
            Line("rate limiting", "open"),
        ),
        files=("auth.ts", "middleware/jwt.ts", "logout.ts"),
    ),
)
BASE, NEW = render_session(EARLIER), render_session(LATER)


def edited(*changes: tuple[str, str], text: str = BASE) -> str:
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def kept(*changes: tuple[str, str]) -> str:
    """Return the note after its owner made *changes* and memtool captured the session again."""
    return keep_hand_edits(BASE, edited(*changes), NEW)


def said(text: str, role: str) -> list[str]:
    return [line.text for line in lines_of(text) if line.role == role]


def test_a_note_with_nothing_new_stays_as_its_owner_left_it() -> None:
    left = edited(("# user", "#   user"), ("- refresh tokens", "* my tokens"))
    assert keep_hand_edits(BASE, left, BASE) == left


def test_an_item_of_the_owner_stays_in_its_section_behind_the_one_it_stood_behind() -> None:
    mine = ("live 24 hours\n", "live 24 hours\n- ask Ann about that\n")
    assert kept(mine) == edited(mine, text=NEW)
    below = ("  - SameSite=None needs Secure\n", "  - SameSite=None needs Secure\n  - 问一下 Ann\n")
    assert kept(below) == edited(below, text=NEW)


def test_an_item_whose_forerunner_is_gone_stays_in_its_section() -> None:
    assert said(kept(("- [ ] logout\n", "- [ ] logout\n- [ ] my own item\n")), "open") == [
        "rate limiting",
        "my own item",
    ]


def test_an_item_that_the_owner_changed_does_not_come_back_beside_the_change() -> None:
    text = kept(("access tokens live 24 hours", "access tokens live 15 minutes!"))
    assert said(text, "finding") == ["access tokens live 15 minutes!", "令牌存放在 cookie 里"]
    text = kept(("- [ ] rate limiting", "- [x] rate limiting"))
    assert (said(text, "open"), "- [x] rate limiting\n" in text) == ([], True)


def test_what_the_owner_changed_or_deleted_of_what_came_of_a_prompt_stays_so() -> None:
    line, mine = "  - SameSite=None needs Secure\n", "  - it was the missing domain\n"
    assert kept((line, mine)) == edited((line, ""), (f"- *{ASKED}*\n", f"- *{ASKED}*\n{mine}"), text=NEW)
    assert kept((line, "")) == edited((line, ""), text=NEW)
    whole = f"- *{ASKED}*\n{line}  - both cookies are set in jwt.ts\n"
    assert kept((whole, "")) == edited((f"- *{ASKED}*\n{line}  - the proxy keeps the header\n", ""), text=NEW)


def test_what_the_owner_nested_in_an_item_that_memtool_says_no_more_stays_with_it() -> None:
    remark = "- the clock of the test server is wrong\n  - set it with chrony\n"
    text = kept(("- the clock of the test server is wrong\n", remark))
    assert remark in text
    assert "the clock" not in kept()


def test_an_item_that_the_owner_deleted_does_not_come_back() -> None:
    text = kept(("- access tokens live 24 hours\n", ""))
    assert text == edited(("- access tokens live 24 hours\n", ""), text=NEW)


def test_a_section_that_the_owner_deleted_comes_back_with_what_is_new_only() -> None:
    section = "## Findings\n- access tokens live 24 hours\n- the clock of the test server is wrong\n\n"
    text = kept((section, ""))
    assert "\n\n## Findings\n- 令牌存放在 cookie 里\n\n## Done\n" in text


def test_a_title_of_the_owner_stays_and_is_the_only_one() -> None:
    text = kept(("# user authentication\n", "# how we log in\n"))
    assert text == edited(("# user authentication and logout\n", "# how we log in\n"), text=NEW)


def test_a_summary_that_memtool_writes_later_finds_its_place_and_one_of_the_owner_stays() -> None:
    new = render_session(LATER._replace(draft=LATER.draft._replace(summary="The login works; logout is open.")))
    left = edited(("24 hours", "25 hours"))
    assert "and logout\n\nThe login works; logout is open.\n\nAsked: “" in keep_hand_edits(BASE, left, new)
    mine = edited(("# user authentication\n\n", "# user authentication\n\n我的总结。\n\n"))
    text = keep_hand_edits(BASE, mine, new)
    assert "我的总结。" in text
    assert "The login works" not in text


def test_a_note_of_an_earlier_version_becomes_one_of_today_with_what_its_owner_wrote() -> None:
    older = """---
type: session
session: 3f2a9c
project: shop
---

# Session: 3f2a9c

- **Project**: shop
- **Time**: 2026-02-10 14:30 (last update)
- **Transcript**: 256 KB, 1200 lines

---

1. **Topic**: user authentication
2. **Key points**:
   - access tokens live 24 hours
   - "the login fails" → SameSite=None needs Secure · both are set
3. **Rules**: never on Fridays
4. **Open**: rate limiting
"""
    mine = "\n## 我的\n\n1. call Bob\n   - soon\n```\n- **Time**: no\n```\n"
    left = older.replace("24 hours\n", "24 hours\n   - 问一下 Ann\n").replace("**Open**: rate", "**Open**: no rate")
    left = left.replace("project: shop\n", "project: shop\nrating: 5\n") + mine
    text = keep_hand_edits(older, left, NEW)
    note = parse_session(text)
    assert (note.id, note.updated, note.draft.title) == ("3f2a9c", LATER.updated, LATER.draft.title)
    assert said(text, "open") == ["no rate limiting"]
    assert "问一下 Ann" in said(text, "")
    assert "both are set" not in text
    assert "\nrating: 5\n" in text
    assert text.endswith(mine)
    assert not [old for old in ("# Session", "**Topic**", "**Transcript**", "never on Fridays") if old in text]
    assert keep_hand_edits(older, older, NEW) == NEW
    assert keep_hand_edits(NEW, text, NEW) == text


def test_fields_of_the_owner_stay_and_the_others_follow_the_session() -> None:
    text = kept(
        ("project: shop\n", "project: web shop\n"),
        ("type: session\n", "type: session\n# mine\ntitle: 01234\nrating:\n  - 5\n\n"),
        ("tags: [auth]", "tags: [auth, mine]"),
        ("date: 2026-02-10\n", "date: 2026-02-10\n# when\n"),
        ("branch: login\n", "branch: main\n"),
    )
    assert 'type: session\n# mine\ntitle: 01234\nrating:\n  - 5\n\nsession: "3f2a9c"\ndate:' in text
    assert "tags: [auth, mine, cookies]\n" in text
    assert "project: web shop\nbranch: main\n" in text
    assert "date: 2026-02-11\n# when\n" in text
    note = parse_note("sessions/3f2a9c.md", text.encode())
    assert isinstance(note, Note)
    assert note.field("title") == "01234"


def test_files_of_the_owner_stay_in_their_list() -> None:
    text = kept(("**: auth.ts, ", "**: `a, b.ts`, "))
    assert parse_session(text).draft.files == ("a, b.ts", "middleware/jwt.ts", "logout.ts")
    new = render_session(LATER._replace(draft=LATER.draft._replace(files=("auth.ts", "x.ts"), more_files=4)))
    text = keep_hand_edits(BASE, edited(("**: auth.ts, ", "**: auth.ts, mine.ts, ")), new)
    assert "**Files**: auth.ts, mine.ts, x.ts (and 4 more)\n" in text


def test_own_sections_paragraphs_and_comments_stay_byte_for_byte() -> None:
    aside = "## Aside\nA paragraph  \nof mine.\n\n<!-- ## Rules -->\n\n"
    tail = "\nJust text.\n\n## My notes\n\n- call Bob\n\n```\n# x\n## Rules\n```\n\n<!--\n- **Time**: now\n-->\n"
    inside = ("live 24 hours\n", "live 24 hours\n\n    code of mine\n\n| a | b |\n")
    text = kept(("## Decisions", f"{aside}## Decisions"), inside) + tail
    assert text == edited(("## Decisions", f"{aside}## Decisions"), inside, text=NEW) + tail
    assert keep_hand_edits(BASE, BASE + tail, NEW) == NEW + tail


def test_a_part_that_the_owner_put_into_a_comment_is_theirs() -> None:
    hidden = "<!--\n## Decisions\n- refresh tokens are kept in a cookie\n-->\n"
    text = kept(("## Decisions\n- refresh tokens are kept in a cookie\n", hidden))
    assert hidden in text
    assert said(text, "decision") == []


def test_a_note_whose_title_is_followed_by_words_gets_its_parts_apart_from_them() -> None:
    text = keep_hand_edits(None, "# my title\nMy own words.\n", NEW)
    assert text.partition("---\n\n")[2].startswith("# my title\n\nAsked: “make the login work”\n\n## ")
    assert text.endswith("logout.ts\n\nMy own words.\n")


@pytest.mark.parametrize(
    "left", ["", "\n", "\ufeff", "nothing of yours\n", "---\na: b\n---\n\nmy *own*", "---\nx", "- a\r\n"]
)
def test_a_note_of_which_nothing_is_left_is_its_owners(left: str) -> None:
    assert keep_hand_edits(BASE, left, NEW) == left


def test_a_note_of_unknown_making_gets_what_is_new_and_loses_nothing() -> None:
    text = keep_hand_edits(None, "My own words.\n", NEW)
    assert text == f"{NEW}\nMy own words.\n"
    text = keep_hand_edits(None, "---\nrating: 5\n---\nMy own words.", NEW)
    assert "\nrating: 5\n---\n" in text
    assert [line.text for line in lines_of(text)] == [line.text for line in lines_of(NEW)]
    assert text.endswith("\nMy own words.")
    assert keep_hand_edits(None, " \n", NEW) == NEW


def test_without_a_base_everything_is_kept_but_times_and_sizes() -> None:
    left = edited(("access tokens live 24 hours", "access tokens live 15 minutes"), ("project: shop", "project: web"))
    text = keep_hand_edits(None, left, NEW)
    note = parse_session(text)
    assert (note.updated, note.draft.title) == (LATER.updated, EARLIER.draft.title)
    assert {line.text for line in note.draft.lines} == {
        line.text for each in (BASE, NEW) for line in parse_session(each).draft.lines
    } | {"access tokens live 15 minutes"}
    assert "project: web\n" in text
    assert keep_hand_edits(NEW, text, NEW) == text


def test_a_note_that_was_edited_is_not_taken_for_memtools_own() -> None:
    assert "25 hours" in keep_hand_edits(None, edited(("24 hours", "25 hours")), NEW)


def test_windows_line_ends_a_mark_and_a_missing_line_end_stay() -> None:
    left = "\ufeff" + f"{BASE}\nmine\n".replace("\n", "\r\n").removesuffix("\r\n")
    text = keep_hand_edits(BASE, left, NEW)
    assert text == "\ufeff" + f"{NEW}\nmine".replace("\n", "\r\n")
    assert keep_hand_edits(BASE, BASE.replace("\n", "\r\n"), NEW) == NEW.replace("\n", "\r\n")
    assert keep_hand_edits(None, BASE.replace("\n", "\r\n"), NEW) == NEW


def test_layout_that_an_editor_changed_is_no_change_of_what_is_said() -> None:
    left = BASE.replace("\n  - ", "\n    * ").replace("\n- ", "\n*  ").replace(" 24 hours", "  24 hours")
    assert keep_hand_edits(BASE, left, NEW) == NEW


def test_a_note_in_another_language_is_the_same_note() -> None:
    left = edited(("- [ ] logout\n", "- [ ] logout\n- [ ] 我的事\n"), ("live 24 hours", "live for ever"))
    text = keep_hand_edits(BASE, left, render_session(LATER, language="zh"))
    assert "# user authentication and logout\n" in text
    assert "## 待办\n- [ ] rate limiting\n- [ ] 我的事\n" in text
    assert "## Findings" not in text


def test_front_matter_that_the_owner_took_out_or_broke_stays_so() -> None:
    body = BASE.partition("---\n\n")[2]
    for left in (body, f"---\ntype: session\n\n{body}", f"---\nsome: thing\n: [\n---\n\n{body}"):
        text = keep_hand_edits(BASE, left, NEW)
        assert text.startswith(left[: left.index("# user")])
        assert text.endswith(NEW[NEW.index("Asked: “") :])


@pytest.mark.slow
@pytest.mark.parametrize(
    "mark", ["  - x\n", "- x\n", "   x\n", "\n", "```\n", "<!--\n", "a, `", "**Links**: [", '**Files**: "']
)
def test_a_huge_note_takes_no_time(mark: str) -> None:
    keep_hand_edits(BASE, BASE + mark * 20_000, NEW)
    keep_hand_edits(None, BASE + mark * 20_000, NEW)


words = st.text(st.sampled_from("ab 令#`*[],:-\"'“”"), max_size=6)
drafts = st.builds(
    Draft,
    title=words,
    asked=words,
    summary=words,
    lines=st.lists(
        st.builds(
            Line,
            words,
            st.sampled_from(["", "asked", "decision", "rule", "fix", "finding", "refuted", "open", "command"]),
            st.sampled_from(["user", "agent"]),
            asked=words,
        ),
        max_size=6,
    ).map(tuple),
    files=st.lists(words, max_size=3).map(tuple),
    more_files=st.integers(0, 2),
)
notes = st.builds(
    SessionNote,
    id=st.just("x"),
    project=words,
    updated=st.sampled_from(["2026-02-10 14:30", "2026-02-11 09:00"]),
    branch=words,
    tags=st.lists(words, max_size=2).map(tuple),
    draft=drafts,
)
texts = st.builds(
    lambda note, language: render_session(note, language=language), notes, st.sampled_from(label_languages())
)
own_lines = st.sampled_from(
    ["", "own 1", "- own 2", "  - own 3", "   own 4", "## own 5", "```", "<!-- own 6 -->", "- **own 7**: x",
     "own: 8", "9. **own 9**: x", "---", "<!--", "\t- own 10", "# own 11", "## Rules", "- “own 14”",
     "**Files**: own 12, own 13", "Asked: “own 15”", "- *own 16*"]
)  # fmt: skip


@st.composite
def left_by_their_owner(draw: st.DrawFn) -> tuple[str, str]:
    """A text as memtool wrote it, and what its owner made of it."""
    base = draw(texts)
    lines = base.split("\n")
    for line in draw(st.lists(own_lines, max_size=4)):
        lines.insert(draw(st.integers(0, len(lines))), line)
    gone = draw(st.sets(st.integers(0, len(lines)), max_size=3))
    return base, "\n".join(line for at, line in enumerate(lines) if at not in gone)


@pytest.mark.slow
@given(texts, st.text())
def test_what_says_nothing_new_changes_nothing(new: str, left: str) -> None:
    assert keep_hand_edits(new, left, new) == left


@pytest.mark.slow
@given(texts, texts)
def test_what_nobody_edited_is_replaced(base: str, new: str) -> None:
    assert keep_hand_edits(base, base, new) == new
    assert keep_hand_edits(None, base, new) == new
    assert keep_hand_edits(base, new, new) == new


@pytest.mark.slow
@given(left_by_their_owner(), texts, st.booleans())
def test_nothing_that_the_owner_wrote_is_lost(note: tuple[str, str], new: str, knows_base: bool) -> None:
    base, left = note
    text = keep_hand_edits(base if knows_base else None, left, new)
    for word in re.findall(r"own \d+", left):
        assert text.count(word) >= left.count(word)
    assert keep_hand_edits(new, text, new) == text
