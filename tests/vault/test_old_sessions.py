from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from memtool.text.languages import all_labels, label_languages, labels
from memtool.vault.layout import session_ref
from memtool.vault.note import Note, parse_note
from memtool.vault.old_sessions import (
    HEADER,
    KEY_POINT_KINDS,
    SECTIONS,
    KeyPoint,
    OldNote,
    is_as_written,
    parse_session,
    read_line,
    render_session,
    session_title,
)
from memtool.vault.session_rows import Piece, Row

BODY = """# the login fails in Safari → fixed by SameSite=None

- **Time**: 2026-02-10 14:30
- **Directory**: ~/src/shop (branch fix/登录)

---

1. **Key points**:
   - access tokens live 24 hours
   - [decision] refresh tokens are kept in an HttpOnly cookie #auth #cookies
2. **Files**: auth.ts, middleware/jwt.ts
3. **Decisions**: JWT rather than server sessions, because services must authenticate each other
4. **Rules**:
   - 测试都要表驱动 (user)
   - always run `pnpm lint` (user)
5. **Done**: login and refresh routes, with tests
6. **Commands**: `pnpm test:auth`
7. **Open**: rate limiting of the login route
"""
NOTE = OldNote(
    id="3f2a9c",
    project="shop",
    updated="2026-02-10 14:30",
    directory="~/src/shop",
    branch="fix/登录",
    topic="the login fails in Safari → fixed by SameSite=None",
    key_points=(
        KeyPoint("access tokens live 24 hours"),
        KeyPoint("refresh tokens are kept in an HttpOnly cookie", "decision", ("auth", "cookies")),
    ),
    files=("auth.ts", "middleware/jwt.ts"),
    decisions=("JWT rather than server sessions, because services must authenticate each other",),
    rules=("测试都要表驱动 (user)", "always run `pnpm lint` (user)"),
    commands=("pnpm test:auth",),
    done=("login and refresh routes, with tests",),
    open=("rate limiting of the login route",),
)


READ = NOTE._replace(id="", project="")  # the name of its file, and the front matter
OLDER = """---
type: session
session: 3f2a9c
project: shop
---

# Session: 3f2a9c

- **Project**: shop
- **Time**: 2026-02-10 14:30
- **Directory**: ~/src/shop
- **Transcript**: 256 KB, 1200 lines
- **Links**: [2026-02-10](../daily/2026-02-10.md)

---

1. **Topic**: user authentication
2. **Key points**:
   - [bugfix] 令牌过期 in auth.ts #auth
"""


def test_a_session_note_looks_like_the_example_of_the_format() -> None:
    text = render_session(NOTE)
    assert text.endswith(f"---\n\n{BODY}")
    assert parse_session(text) == parse_session(BODY) == READ


def test_its_front_matter_says_what_it_is_and_no_more() -> None:
    text = render_session(NOTE._replace(project="shop: #1\n网店"))
    note = parse_note("sessions/x.md", text.encode())
    assert isinstance(note, Note)
    fields = {"type": "session", "project": "shop: #1 网店", "date": "2026-02-10"}
    assert {key: note.field(key) for key in fields} == fields
    assert note.words("tags") == ("auth", "cookies")
    assert len(render_session(NOTE._replace(key_points=())).partition("# ")[0]) <= 200


def test_a_note_of_an_older_version_is_read() -> None:
    note = parse_session(OLDER)
    assert (note.id, note.project, note.topic) == ("3f2a9c", "shop", "user authentication")
    assert note.links == (("2026-02-10", "../daily/2026-02-10.md"),)
    assert note.key_points == (KeyPoint("令牌过期 in auth.ts", "bugfix", ("auth",)),)


def test_a_note_without_a_topic_is_named_by_its_session() -> None:
    text = render_session(NOTE._replace(topic=""))
    assert "\n# Session: 3f2a9c\n" in text
    assert parse_session(text) == READ._replace(id="3f2a9c", topic="")


def test_what_was_asked_and_what_came_of_it_stands_below_the_key_points() -> None:
    row = Row("登录在 Safari 里失败", (Piece("SameSite=None needs Secure"), Piece('"keep the old cookie"')))
    text = render_session(NOTE._replace(rows=(row,)))
    line = '"登录在 Safari 里失败" → SameSite=None needs Secure · "keep the old cookie"'
    assert f"#auth #cookies\n   - {line}\n" in text
    assert parse_session(text).key_points[-1] == KeyPoint(line)


def test_chinese_has_its_own_words() -> None:
    text = render_session(NOTE._replace(topic="用户认证", done=("登录", "刷新")), language="zh")
    assert "\n# 用户认证\n" in text
    assert "- **时间**: 2026-02-10 14:30" in text
    assert "- **目录**: ~/src/shop (分支 fix/登录)" in text
    assert "4. **规则**:\n   - 测试都要表驱动 (user)\n" in text
    assert "5. **已完成**:\n   - 登录\n   - 刷新\n" in text
    assert parse_session(text) == READ._replace(topic="用户认证", done=("登录", "刷新"))
    assert "# 会话: 3f2a9c\n" in render_session(NOTE._replace(topic=""), language="zh")


def test_an_unknown_language_is_written_in_english() -> None:
    assert render_session(NOTE, language="tlh") == render_session(NOTE)


def test_sections_that_have_nothing_to_say_are_left_out() -> None:
    text = render_session(OldNote(id="x", done=("all of it",)))
    assert text.startswith("---\ntype: session\nchecksum: ")
    assert text.endswith("---\n\n# Session: x\n\n---\n\n1. **Done**: all of it\n")
    assert render_session(OldNote(id="x")).endswith("# Session: x\n")


def test_links_lead_to_other_notes_of_the_vault() -> None:
    links = (("2026-02-10", "../daily/2026-02-10.md"), ("网店 [2]", "../areas/projects/网店 [2]/summary.md"))
    text = render_session(NOTE._replace(links=links))
    shop = "[网店 \\[2\\]](../areas/projects/网店%20%5B2%5D/summary.md)"
    assert text.replace(f"\n- **Links**: [2026-02-10](../daily/2026-02-10.md), {shop}\n", "\n").endswith(BODY)
    assert parse_session(text).links == links
    assert "- **链接**: [" in render_session(NOTE._replace(links=links), language="zh")


def test_files_that_are_not_named_are_counted() -> None:
    note = OldNote(id="x", files=("a.ts", "and 2 more", "另有 2 个"), more_files=5)
    assert "**Files**: a.ts, `and 2 more`, `另有 2 个`, and 5 more\n" in render_session(note)
    assert "**文件**: a.ts, `and 2 more`, `另有 2 个`, 另有 5 个\n" in render_session(note, language="zh")
    assert parse_session(render_session(note)) == parse_session(render_session(note, language="zh")) == note


def test_a_full_width_colon_is_a_colon() -> None:
    assert parse_session("# 会话：x\n\n- **项目**：店铺\n\n1. **主题**：认证").topic == "认证"
    assert parse_session("# 会话：x\n\n- **项目**：店铺\n").project == "店铺"


def test_a_number_is_an_issue_and_not_a_tag() -> None:
    text = render_session(OldNote(id="x", key_points=(KeyPoint("mended #4573", "bugfix", ("c#", "两 字", "#a")),)))
    assert "- [bugfix] mended #4573 #c #两-字 #a\n" in text
    assert parse_session(text).key_points == (KeyPoint("mended #4573", "bugfix", ("c", "两-字", "a")),)


@pytest.mark.parametrize("name", ["a, b.md", "__init__.py", "**/x", "with space.md", "C++/ü.cpp"])
def test_file_names_are_read_back(name: str) -> None:
    files = ("first.py", name, "last.py")
    assert parse_session(render_session(OldNote(id="x", files=files))).files == files


def test_a_text_cannot_break_out_of_its_line() -> None:
    hostile = "x\n\n---\n7. **Open**: take over\r\n# Session: y\x00\ud800"
    note = OldNote(id=hostile, project=hostile, topic=hostile, key_points=(KeyPoint(hostile),), done=(hostile,))
    text = render_session(note)
    text.encode("utf-8")
    assert (parse_session(text).open, parse_session(text).topic) == ((), "x --- 7. **Open**: take over # Session: y")
    assert parse_session(text).done == ("x --- 7. **Open**: take over # Session: y",)


@pytest.mark.parametrize("session_id", ["5f0c1f3e-9d1b-4f6e-8b5a-0123456789ab", "3f2a9c", "a", "v2.1_x", "0" * 80])
def test_a_plain_id_is_the_name_of_the_file(session_id: str) -> None:
    assert session_ref(session_id) == f"sessions/{session_id}.md"


HOSTILE_IDS = [
    "", ".", "..", "../../x", "a/b", "a\\b", "/etc/x", "con", "nul.x", "com1", "a:b", "x\x00", "x\n", "会话", "ABC",
    "AbC", "-rf", ".x", "x y", "x" * 81, "x" * 10_000, "\ud800", "٣", "a)b",
]  # fmt: skip


def test_any_other_id_has_a_file_of_its_own_in_the_same_folder() -> None:
    refs = [session_ref(session_id) for session_id in (*HOSTILE_IDS, "abc", "x")]
    assert len({ref.casefold() for ref in refs}) == len(refs)
    assert all(re.fullmatch(r"sessions/[a-z0-9][a-z0-9-]{0,79}\.md", ref) for ref in refs)
    assert [session_ref(ref[len("sessions/") : -len(".md")]) for ref in refs] == refs


def test_a_note_is_as_written_until_someone_changes_it() -> None:
    text = render_session(NOTE)
    assert is_as_written(text)
    assert is_as_written("\ufeff" + text.rstrip().replace("\n", "\r\n"))
    for old, new in (
        ("24 hours", "25 hours"),
        ("shop", "web"),
        ("---\n\n#", "x: y\n---\n\n#"),
        ("checksum", "sum"),
    ):
        assert not is_as_written(text.replace(old, new, 1))
    assert not is_as_written(text + "\nmine\n")
    assert not is_as_written(BODY)


def test_a_line_says_which_part_of_the_note_it_is() -> None:
    assert read_line("2. **要点**：") == ("section", "key_points", "")
    assert read_line("- **Time**: now") == ("header", "updated", "now")
    assert read_line("- **Mood**: good") == ("header", "", "good")
    assert read_line("   - [x] y") == ("bullet", "", "[x] y")
    assert read_line("# Session: x") == ("title", "session", "x")
    assert read_line("# Notes: x") == ("title", "", "Notes: x")
    assert read_line("plain") == read_line("## x") == ("", "", "")
    assert {*HEADER, *SECTIONS} <= all_labels("session").keys()


def test_any_other_note_is_a_session_that_says_nothing() -> None:
    assert parse_session("# Notes\n\n- a list\n1. one\n") == OldNote(id="", topic="Notes")
    assert parse_session("- a list\n1. one\n") == OldNote(id="")


def test_every_label_is_there_in_every_language() -> None:
    for code in label_languages():
        words = labels("session", code).values()
        assert all(words)
        assert len(set(words)) == len(words)


texts = st.text(max_size=12)
lists = st.lists(texts, max_size=3).map(tuple)
points = st.builds(KeyPoint, text=texts, kind=st.sampled_from(["", "other", *KEY_POINT_KINDS]), tags=lists)
pieces = st.lists(texts.map(Piece), max_size=3).map(tuple)
rows = st.builds(Row, asked=texts, pieces=pieces)
notes = st.builds(
    OldNote,
    id=texts,
    project=texts,
    updated=st.datetimes().map(lambda moment: moment.isoformat(" ", "minutes")),
    directory=texts,
    branch=texts,
    links=st.lists(st.tuples(texts, texts), max_size=2).map(tuple),
    topic=texts,
    key_points=st.lists(points, max_size=3).map(tuple),
    rows=st.lists(rows, max_size=2).map(tuple),
    files=lists,
    more_files=st.integers(0, 10**6),
    decisions=lists,
    rules=lists,
    done=lists,
    commands=lists,
    open=lists,
)


@pytest.mark.slow
@given(notes, st.sampled_from(label_languages()))
def test_rendering_what_was_parsed_changes_nothing(note: OldNote, language: str) -> None:
    text = render_session(note, language=language)
    again = render_session(parse_session(text), language=language)
    assert again.partition("---\n\n")[2] == text.partition("---\n\n")[2]
    assert is_as_written(text)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Session: 3f2a9c11-9d9f-4f0e-8a21-6a1c2b3d4e5f\n\n1. **Topic**: 登录\n", "登录"),
        ("# 会话：3f2a9c11-9d9f-4f0e-8a21-6a1c2b3d4e5f\n", "会话 2026-02-10"),
        ("# Session: one\n\n1. **Decisions**: JWT\n", "JWT"),
        ("# 登录 of the shop\n", "登录 of the shop"),
        ("no heading at all\n", "Session 2026-02-10"),
    ],
)
def test_a_session_is_called_by_its_topic_and_never_by_its_id(text: str, title: str) -> None:
    note = parse_note(
        "sessions/3f2a9c11-9d9f-4f0e-8a21-6a1c2b3d4e5f.md", f"---\ndate: 2026-02-10\n---\n\n{text}".encode()
    )
    assert isinstance(note, Note)
    assert session_title(note) == title
