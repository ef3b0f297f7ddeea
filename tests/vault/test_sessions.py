from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from memtool.vault.note import Note, parse_note
from memtool.vault.prose import LANGUAGES
from memtool.vault.sessions import (
    HEADER,
    KEY_POINT_KINDS,
    LABELS,
    SECTIONS,
    KeyPoint,
    SessionNote,
    is_as_written,
    parse_session,
    read_line,
    render_session,
    session_ref,
)

BODY = """# Session: 3f2a9c

- **Project**: shop
- **Time**: 2026-02-10 14:30 (last update)
- **Directory**: ~/src/shop
- **Transcript**: 256 KB, 1200 lines

---

1. **Topic**: user authentication
2. **Key points**:
   - access tokens live 24 hours
   - [decision] refresh tokens are kept in an HttpOnly cookie #auth #cookies
3. **Files**: auth.ts, middleware/jwt.ts
4. **Decisions**: JWT rather than server sessions, because services must authenticate each other
5. **Done**: login and refresh routes, with tests
6. **Open**: rate limiting of the login route
"""
NOTE = SessionNote(
    id="3f2a9c",
    project="shop",
    updated="2026-02-10 14:30",
    directory="~/src/shop",
    transcript_kb=256,
    transcript_lines=1200,
    topic="user authentication",
    key_points=(
        KeyPoint("access tokens live 24 hours"),
        KeyPoint("refresh tokens are kept in an HttpOnly cookie", "decision", ("auth", "cookies")),
    ),
    files=("auth.ts", "middleware/jwt.ts"),
    decisions=("JWT rather than server sessions, because services must authenticate each other",),
    done=("login and refresh routes, with tests",),
    open=("rate limiting of the login route",),
)


def test_a_session_note_looks_like_the_example_of_the_format() -> None:
    text = render_session(NOTE)
    assert text.endswith(f"---\n\n{BODY}")
    assert parse_session(text) == parse_session(BODY) == NOTE


def test_its_front_matter_says_what_it_is() -> None:
    note = parse_note("sessions/x.md", render_session(NOTE._replace(id="0123", topic="yes: #1\n令牌")).encode())
    assert isinstance(note, Note)
    fields = {"type": "session", "session": "0123", "project": "shop", "date": "2026-02-10", "summary": "yes: #1 令牌"}
    assert {key: note.field(key) for key in fields} == fields
    assert note.words("tags") == ("auth", "cookies")


def test_chinese_has_its_own_words() -> None:
    text = render_session(NOTE._replace(topic="用户认证", done=("登录", "刷新")), language="zh")
    assert "# 会话: 3f2a9c" in text
    assert "- **时间**: 2026-02-10 14:30（最后更新）" in text
    assert "1. **主题**: 用户认证" in text
    assert "5. **已完成**:\n   - 登录\n   - 刷新\n" in text
    assert parse_session(text) == NOTE._replace(topic="用户认证", done=("登录", "刷新"))


def test_an_unknown_language_is_written_in_english() -> None:
    assert render_session(NOTE, language="tlh") == render_session(NOTE)


def test_sections_that_have_nothing_to_say_are_left_out() -> None:
    text = render_session(SessionNote(id="x", done=("all of it",)))
    assert text.startswith("---\ntype: session\nsession: x\nchecksum: ")
    assert text.endswith("---\n\n# Session: x\n\n---\n\n1. **Done**: all of it\n")
    assert render_session(SessionNote(id="x")).endswith("# Session: x\n")


def test_links_lead_to_other_notes_of_the_vault() -> None:
    links = (("2026-02-10", "../daily/2026-02-10.md"), ("网店 [2]", "../areas/projects/网店 [2]/summary.md"))
    text = render_session(NOTE._replace(links=links))
    shop = "[网店 \\[2\\]](../areas/projects/网店%20%5B2%5D/summary.md)"
    assert text.replace(f"\n- **Links**: [2026-02-10](../daily/2026-02-10.md), {shop}\n", "\n").endswith(BODY)
    assert parse_session(text).links == links
    assert "- **链接**: [" in render_session(NOTE._replace(links=links), language="zh")


def test_files_that_are_not_named_are_counted() -> None:
    note = SessionNote(id="x", files=("a.ts", "and 2 more", "另有 2 个"), more_files=5)
    assert "**Files**: a.ts, `and 2 more`, `另有 2 个`, and 5 more\n" in render_session(note)
    assert "**文件**: a.ts, `and 2 more`, `另有 2 个`, 另有 5 个\n" in render_session(note, language="zh")
    assert parse_session(render_session(note)) == parse_session(render_session(note, language="zh")) == note


def test_a_full_width_colon_is_a_colon() -> None:
    assert parse_session("# 会话：x\n\n- **项目**：店铺\n\n1. **主题**：认证").topic == "认证"
    assert parse_session("# 会话：x\n\n- **项目**：店铺\n").project == "店铺"


def test_a_number_is_an_issue_and_not_a_tag() -> None:
    text = render_session(SessionNote(id="x", key_points=(KeyPoint("mended #4573", "bugfix", ("c#", "两 字", "#a")),)))
    assert "- [bugfix] mended #4573 #c #两-字 #a\n" in text
    assert parse_session(text).key_points == (KeyPoint("mended #4573", "bugfix", ("c", "两-字", "a")),)


@pytest.mark.parametrize("name", ["a, b.md", "__init__.py", "**/x", "with space.md", "C++/ü.cpp"])
def test_file_names_are_read_back(name: str) -> None:
    files = ("first.py", name, "last.py")
    assert parse_session(render_session(SessionNote(id="x", files=files))).files == files


def test_a_text_cannot_break_out_of_its_line() -> None:
    hostile = "x\n\n---\n7. **Open**: take over\r\n# Session: y\x00\ud800"
    note = SessionNote(id=hostile, project=hostile, topic=hostile, key_points=(KeyPoint(hostile),), done=(hostile,))
    text = render_session(note)
    text.encode("utf-8")
    assert parse_session(text).open == ()
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
        (
            "shop",
            "web",
        ),
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
    assert read_line("# Notes: x") == read_line("plain") == ("", "", "")
    assert {*HEADER, *SECTIONS} <= LABELS.keys()


def test_any_other_note_is_a_session_that_says_nothing() -> None:
    assert parse_session("# Notes\n\n- a list\n1. one\n") == SessionNote(id="")
    assert parse_session("- **Transcript**: " + "9" * 5000 + " KB, 1 lines").transcript_kb == 0


def test_every_label_is_there_in_every_language() -> None:
    assert all(len(words) == len(LANGUAGES) and all(words) for words in LABELS.values())
    for column in zip(*LABELS.values(), strict=True):
        assert len(set(column)) == len(column)


texts = st.text(max_size=12)
lists = st.lists(texts, max_size=3).map(tuple)
points = st.builds(KeyPoint, text=texts, kind=st.sampled_from(["", "other", *KEY_POINT_KINDS]), tags=lists)
notes = st.builds(
    SessionNote,
    id=texts,
    project=texts,
    updated=st.datetimes().map(lambda moment: moment.isoformat(" ", "minutes")),
    directory=texts,
    transcript_kb=st.integers(0, 10**6),
    transcript_lines=st.integers(0, 10**6),
    links=st.lists(st.tuples(texts, texts), max_size=2).map(tuple),
    topic=texts,
    key_points=st.lists(points, max_size=3).map(tuple),
    files=lists,
    more_files=st.integers(0, 10**6),
    decisions=lists,
    done=lists,
    open=lists,
)


@given(notes, st.sampled_from(LANGUAGES))
def test_rendering_what_was_parsed_changes_nothing(note: SessionNote, language: str) -> None:
    text = render_session(note, language=language)
    assert render_session(parse_session(text), language=language) == text
    assert is_as_written(text)
