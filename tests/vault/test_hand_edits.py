from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from memtool.text.languages import label_languages
from memtool.vault.hand_edits import keep_hand_edits
from memtool.vault.note import Note, parse_note
from memtool.vault.old_sessions import KeyPoint, OldNote, parse_session, render_session
from memtool.vault.session_rows import Piece, Row

EARLIER = OldNote(
    id="3f2a9c",
    project="shop",
    updated="2026-02-10 14:30",
    directory="~/src/shop",
    branch="login",
    links=(("2026-02-10", "../daily/2026-02-10.md"), ("shop", "../areas/projects/shop/summary.md")),
    topic="user authentication",
    key_points=(
        KeyPoint("access tokens live 24 hours"),
        KeyPoint("refresh tokens are kept in a cookie", "decision", ("auth",)),
        KeyPoint("the clock of the test server is wrong"),
    ),
    files=("auth.ts", "middleware/jwt.ts"),
    rows=(Row("登录在 Safari 里失败", (Piece("SameSite=None needs Secure"),)),),
    done=("login route",),
    open=("rate limiting", "logout"),
)
LATER = EARLIER._replace(
    updated="2026-02-11 09:05",
    branch="logout",
    links=(*EARLIER.links[:1], ("2026-02-11", "../daily/2026-02-11.md"), *EARLIER.links[1:]),
    topic="user authentication and logout",
    key_points=(*EARLIER.key_points[:2], KeyPoint("令牌存放在 cookie 里", "discovery", ("cookies",))),
    rows=(*EARLIER.rows, Row("and the logout?", (Piece("DELETE /session ends it"),))),
    files=(*EARLIER.files, "logout.ts"),
    decisions=("JWT rather than sessions",),
    done=("login route", "logout route"),
    open=("rate limiting",),
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


def test_a_note_that_nobody_edited_is_replaced() -> None:
    assert keep_hand_edits(BASE, BASE, NEW) == NEW
    assert keep_hand_edits(None, BASE, NEW) == NEW


def test_a_note_with_nothing_new_stays_as_its_owner_left_it() -> None:
    left = edited(("- **Time**", "-   **Time**"), ("- [decision] refresh tokens", "* my tokens"))
    assert keep_hand_edits(BASE, left, BASE) == left


def test_an_item_of_the_owner_stays_in_its_section_behind_the_one_it_stood_behind() -> None:
    text = kept(("live 24 hours\n", "live 24 hours\n   - ask Ann about that\n"))
    assert text == edited(("live 24 hours\n", "live 24 hours\n   - ask Ann about that\n"), text=NEW)


def test_an_item_whose_forerunner_is_gone_stays_in_its_section() -> None:
    text = kept(("   - logout\n", "   - logout\n   - my own item\n"))
    assert text.endswith("**Open**:\n   - rate limiting\n   - my own item\n")


def test_an_item_stays_where_nothing_else_does() -> None:
    base, new = (render_session(EARLIER._replace(open=(one,))) for one in ("logout", "limits"))
    text = keep_hand_edits(base, base + "   - my own item\n", new)
    assert parse_session(text).open == ("limits", "my own item")


def test_an_item_that_the_owner_changed_does_not_come_back_beside_the_change() -> None:
    text = kept(("access tokens live 24 hours", "access tokens live 15 minutes!"))
    assert [point.text for point in parse_session(text).key_points] == [
        "access tokens live 15 minutes!",
        "refresh tokens are kept in a cookie",
        "令牌存放在 cookie 里",
        '"登录在 Safari 里失败" → SameSite=None needs Secure',
        '"and the logout?" → DELETE /session ends it',
    ]


def test_a_row_that_the_owner_changed_or_deleted_stays_so() -> None:
    row = '   - "登录在 Safari 里失败" → SameSite=None needs Secure\n'
    mine = '   - "登录在 Safari 里失败" → it was the missing domain\n'
    assert mine in kept((row, mine))
    assert row not in kept((row, mine))
    assert kept((row, "")) == edited((row, ""), text=NEW)


def test_an_item_that_the_owner_deleted_does_not_come_back() -> None:
    text = kept(("   - access tokens live 24 hours\n", ""))
    assert text == edited(("   - access tokens live 24 hours\n", ""), text=NEW)


def test_an_item_with_a_remark_below_it_is_the_owners() -> None:
    remark = "   - the clock of the test server is wrong\n     - set it with chrony\n\n     > and restart\n"
    assert remark in kept(("   - the clock of the test server is wrong\n", remark))


def test_a_section_that_the_owner_deleted_comes_back_with_what_is_new_only() -> None:
    text = kept(("3. **Done**: login route\n", ""))
    assert "4. **Done**: logout route\n" in text.replace(":\n   - logout", ": logout")
    assert parse_session(text).done == ("logout route",)
    assert re.findall(r"^(\d+)\. ", text, re.MULTILINE) == list("12345")


def test_sections_are_numbered_anew() -> None:
    text = kept(("3. **Done**: login route\n", "3. **Done**: login, as Bob wanted it\n"))
    assert re.findall(r"^(\d)\. \*\*(\w+)", text, re.MULTILINE) == [
        ("1", "Key"), ("2", "Files"), ("3", "Decisions"), ("4", "Done"), ("5", "Open"),
    ]  # fmt: skip
    assert parse_session(text).done == ("login, as Bob wanted it", "logout route")


def test_the_numbers_have_no_gap_where_the_owner_deleted_a_section() -> None:
    left = edited(("2. **Files**: auth.ts, middleware/jwt.ts\n", ""))
    text = keep_hand_edits(BASE, left, render_session(LATER._replace(files=EARLIER.files)))
    assert re.findall(r"^(\d)\. \*\*(\w+)", text, re.MULTILINE) == [
        ("1", "Key"), ("2", "Decisions"), ("3", "Done"), ("4", "Open"),
    ]  # fmt: skip


def test_a_single_item_of_the_owner_stays_beside_a_new_one() -> None:
    text = kept(("**Done**: login route\n", "**Done**: login route\n   - a cake\n"))
    assert parse_session(text).done == ("login route", "a cake", "logout route")


def test_a_topic_of_the_owner_stays_and_is_the_only_one() -> None:
    text = kept(("# user authentication\n", "# how we log in\n"))
    assert parse_session(text).topic == "how we log in"
    assert text == edited(("# user authentication and logout\n", "# how we log in\n"), text=NEW)


def test_a_note_of_an_older_version_becomes_one_of_this_with_what_its_owner_wrote() -> None:
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
3. **Open**: rate limiting
"""
    left = older.replace("24 hours\n", "24 hours\n   - 问一下 Ann\n").replace("**Open**: rate", "**Open**: no rate")
    text = keep_hand_edits(older, left, NEW)
    note = parse_session(text)
    assert (note.topic, note.open[:1]) == (LATER.topic, ("no rate limiting",))
    assert "   - access tokens live 24 hours\n   - 问一下 Ann\n" in text
    assert not [old for old in ("# Session", "**Topic**", "**Transcript**", "**Project**") if old in text]
    assert keep_hand_edits(older, older, NEW) == NEW


def test_fields_and_header_lines_of_the_owner_stay_and_the_others_follow_the_session() -> None:
    text = kept(
        ("project: shop\n", "project: web shop\n"),
        ("type: session\n", "type: session\n# mine\ntitle: 01234\nrating:\n  - 5\n\n"),
        ("tags: [auth]", "tags: [auth, mine]"),
        ("date: 2026-02-10\n", "date: 2026-02-10\n# when\n"),
        ("- **Directory**: ~/src/shop (branch login)\n", "- **Directory**: ~/src/old-shop\n- **Mood**: good\n"),
    )
    assert "type: session\n# mine\ntitle: 01234\nrating:\n  - 5\n\ndate:" in text
    assert "tags: [auth, mine, cookies]\n" in text
    assert "project: web shop\n" in text
    assert "date: 2026-02-11\n# when\n" in text
    assert "- **Directory**: ~/src/old-shop\n- **Mood**: good\n- **Links**: " in text
    note = parse_note("sessions/3f2a9c.md", text.encode())
    assert isinstance(note, Note)
    assert note.field("title") == "01234"


def test_links_and_files_of_the_owner_stay_in_their_lists() -> None:
    text = kept(("[shop](", "[ticket, 12](https://example.org/12), [shop]("), (": auth.ts, ", ": `a, b.ts`, "))
    note = parse_session(text)
    assert [shown for shown, _ in note.links] == ["2026-02-10", "ticket, 12", "2026-02-11", "shop"]
    assert note.files == ("a, b.ts", "middleware/jwt.ts", "logout.ts")


def test_own_sections_paragraphs_and_comments_stay_byte_for_byte() -> None:
    aside = "A paragraph  \nof mine.\n\n<!-- 2. **Files**: no -->\n\n"
    tail = (
        "\nJust text.\n\n## My notes\n\n1. **Open**: call Bob\n\n```\n# Session: x\n```\n\n<!--\n- **Time**: now\n-->\n"
    )
    text = kept(("---\n\n1. **Key", f"---\n\n{aside}1. **Key"), ("   - logout\n", f"   - logout\n{tail}"))
    assert text == edited(("---\n\n1. **Key", f"---\n\n{aside}1. **Key"), text=NEW) + tail


def test_a_part_that_the_owner_put_into_a_comment_is_theirs() -> None:
    hidden = "<!--\n3. **Done**: login route\n-->\n"
    text = kept(("3. **Done**: login route\n", hidden))
    assert hidden in text
    assert "**Done**:\n   - logout route\n" in text


def test_a_new_line_of_the_header_finds_its_place() -> None:
    without = EARLIER._replace(links=(), key_points=(), rows=(), done=(), open=(), files=())
    base = render_session(without)
    text = keep_hand_edits(base, base + "\nMy own words.\n", NEW)
    assert text.partition("\n# ")[2] == NEW.partition("\n# ")[2] + "\nMy own words.\n"


def test_a_note_whose_title_is_followed_by_words_gets_its_parts_apart_from_them() -> None:
    text = keep_hand_edits(None, "# my title\nMy own words.\n", NEW)
    assert "# my title\n\n- **Time**: 2026-02-11" in text
    assert text.endswith("   - logout route\n5. **Open**: rate limiting\n\nMy own words.\n")


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
    assert parse_session(text) == parse_session(NEW)
    assert text.endswith("\nMy own words.")
    assert keep_hand_edits(None, " \n", NEW) == NEW


def test_without_a_base_everything_is_kept_but_times_and_sizes() -> None:
    left = edited(("access tokens live 24 hours", "access tokens live 15 minutes"), ("project: shop", "project: web"))
    text = keep_hand_edits(None, left, NEW)
    note = parse_session(text)
    assert (note.updated, note.topic) == (LATER.updated, EARLIER.topic)
    assert {point.text for point in note.key_points} == {
        point.text for text in (BASE, NEW) for point in parse_session(text).key_points
    } | {"access tokens live 15 minutes"}
    assert "project: web\n" in text
    assert keep_hand_edits(NEW, text, NEW) == text


def test_a_note_that_was_edited_is_not_taken_for_memtools_own() -> None:
    left = edited(("24 hours", "25 hours"))
    assert "25 hours" in keep_hand_edits(None, left, NEW)


def test_windows_line_ends_a_mark_and_a_missing_line_end_stay() -> None:
    left = "\ufeff" + edited(("   - logout\n", "   - logout\n\nmine\n")).replace("\n", "\r\n").removesuffix("\r\n")
    text = keep_hand_edits(BASE, left, NEW)
    assert text == "\ufeff" + f"{NEW}\nmine".replace("\n", "\r\n")
    assert keep_hand_edits(BASE, BASE.replace("\n", "\r\n"), NEW) == NEW.replace("\n", "\r\n")
    assert keep_hand_edits(None, BASE.replace("\n", "\r\n"), NEW) == NEW


def test_layout_that_an_editor_changed_is_no_change_of_what_is_said() -> None:
    left = BASE.replace("   - ", "    * ").replace("2. **Files", "7. **Files").replace("  24 hours", " 24 hours")
    assert keep_hand_edits(BASE, left, NEW) == NEW


def test_a_note_in_another_language_is_the_same_note() -> None:
    left = edited(("   - logout\n", "   - 我的事\n\n## My notes\n"), ("live 24 hours", "live for ever"))
    text = keep_hand_edits(BASE, left, render_session(LATER, language="zh"))
    assert "# user authentication and logout\n" in text
    assert "5. **待办**:\n   - rate limiting\n   - 我的事\n\n## My notes\n" in text
    assert "- **时间**: 2026-02-11 09:05\n" in text
    assert "**Key points**" not in text


def test_front_matter_that_the_owner_took_out_or_broke_stays_so() -> None:
    body = BASE.partition("---\n\n")[2]
    for left in (body, f"---\ntype: session\n\n{body}", f"---\nsome: thing\n: [\n---\n\n{body}"):
        text = keep_hand_edits(BASE, left, NEW)
        assert text.startswith(left[: left.index("# user")])
        assert text.endswith(NEW[NEW.index("1. **Key points**") :])


@pytest.mark.slow
@pytest.mark.parametrize(
    "mark", ["   - x\n", "   x\n", "\n", "```\n", "<!--\n", "a, `", "- **Links**: [", '1. **Files**: "']
)
def test_a_huge_note_takes_no_time(mark: str) -> None:
    keep_hand_edits(BASE, BASE + mark * 20_000, NEW)
    keep_hand_edits(None, BASE + mark * 20_000, NEW)


words = st.text(st.sampled_from("ab 令#`*[],:-\"'"), max_size=6)
lists = st.lists(words, max_size=3).map(tuple)
notes = st.builds(
    OldNote,
    id=st.just("x"),
    project=words,
    updated=st.sampled_from(["2026-02-10 14:30", "2026-02-11 09:00"]),
    directory=words,
    branch=words,
    links=st.lists(st.tuples(words, words), max_size=2).map(tuple),
    topic=words,
    key_points=st.lists(st.builds(KeyPoint, text=words, tags=lists), max_size=3).map(tuple),
    rows=st.lists(
        st.builds(Row, asked=words, pieces=lists.map(lambda texts: tuple(map(Piece, texts)))), max_size=2
    ).map(tuple),
    files=lists,
    more_files=st.integers(0, 2),
    decisions=lists,
    rules=lists,
    done=lists,
    commands=lists,
    open=lists,
)
texts = st.builds(
    lambda note, language: render_session(note, language=language), notes, st.sampled_from(label_languages())
)
own_lines = st.sampled_from(
    ["", "own 1", "   - own 2", "     - own 3", "   own 4", "## own 5", "```", "<!-- own 6 -->", "- **own 7**: x",
     "own: 8", "9. **own 9**: x", "---", "<!--", "\t- own 10", "# Session: own 11", "# own 14",
     "3. **Files**: own 12, own 13"]
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


@given(st.text(), st.text(), st.text())
def test_no_text_is_too_strange(base: str, left: str, new: str) -> None:
    keep_hand_edits(base, left, new)
    keep_hand_edits(None, left, new)
