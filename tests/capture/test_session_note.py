from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from memtool.capture.conversation import Conversation, Step
from memtool.capture.session_note import LARGEST, daily_sessions, session_note, shortened
from memtool.capture.summary import Summary
from memtool.vault.daily import DailySession, add_session, listed_sessions
from memtool.vault.hand_edits import keep_hand_edits
from memtool.vault.prose import LANGUAGES
from memtool.vault.sessions import KEY_POINT_KINDS, KeyPoint, SessionNote, parse_session, render_session

HOME, ROOT = Path("/home/anna"), Path("/home/anna/src/shop")
CHINA = timezone(timedelta(hours=8))
NOW = datetime(2026, 2, 12, 12, 0, tzinfo=CHINA)
SUMMARY = Summary(
    topic="user authentication",
    key_points=(KeyPoint("access tokens live 24 hours"), KeyPoint("one use only", "decision", ("auth",))),
    decisions=("JWT rather than server sessions",),
    done=("login route",),
    open=("rate limiting",),
)


def edit(file: str) -> Step:
    return Step("tool", tool="Edit", file=file)


CONVERSATION = Conversation(
    session_id="3f2a9c",
    cwd="/home/anna/src/shop",
    title="a title",
    steps=tuple(
        map(edit, ["/home/anna/src/shop/auth.ts", "/home/anna/notes/a.md", "/etc/hosts", "/home/anna/src/shop/auth.ts"])
    ),
    started_at=datetime(2026, 2, 10, 6, 0, 59, tzinfo=UTC),
    ended_at=datetime(2026, 2, 10, 6, 30, 59, tzinfo=UTC),
    lines=1200,
    size=262_000,
)


def note_of(conversation: Conversation = CONVERSATION, summary: Summary = SUMMARY, **options: bool) -> SessionNote:
    return session_note(conversation, summary, project="shop", root=ROOT, home=HOME, now=NOW, zone=CHINA, **options)


def test_a_note_says_where_and_when_the_session_was_and_which_files_it_touched() -> None:
    assert note_of() == SessionNote(
        id="3f2a9c",
        project="shop",
        updated="2026-02-10 14:30",
        directory="~/src/shop",
        transcript_kb=256,
        transcript_lines=1200,
        links=(("2026-02-10", "../daily/2026-02-10.md"), ("shop", "../areas/projects/shop/summary.md")),
        topic="user authentication",
        key_points=SUMMARY.key_points,
        files=("auth.ts", "~/notes/a.md", "/etc/hosts"),
        decisions=SUMMARY.decisions,
        done=SUMMARY.done,
        open=SUMMARY.open,
    )


def test_it_links_to_its_first_and_its_last_day_and_both_days_list_it() -> None:
    long = CONVERSATION._replace(ended_at=datetime(2026, 2, 12, 16, 30, tzinfo=UTC))
    note = note_of(long)
    assert [text for text, _ in note.links] == ["2026-02-10", "2026-02-13", "shop"]
    backwards = note_of(long._replace(started_at=long.ended_at, ended_at=long.started_at))
    assert (backwards.updated, backwards.links[0][0]) == ("2026-02-10 14:00", "2026-02-10")
    assert len(backwards.links) == 2
    lines = daily_sessions(long, note, now=NOW, zone=CHINA)
    assert lines == {
        date(2026, 2, 10): DailySession("14:00", "shop", "3f2a9c", "user authentication"),
        date(2026, 2, 13): DailySession("00:30", "shop", "3f2a9c", "user authentication"),
    }
    assert listed_sessions(add_session("", lines[date(2026, 2, 10)])) == (lines[date(2026, 2, 10)],)


def test_it_links_to_no_area_that_does_not_exist() -> None:
    assert [text for text, _ in note_of(has_area=False).links] == ["2026-02-10"]
    for project in ("", "..", "../x", "a/b"):
        note = session_note(CONVERSATION, SUMMARY, project=project, root=None, home=HOME, now=NOW, zone=CHINA)
        assert len(note.links) == 1


def test_a_session_without_times_folder_and_topic_has_a_note_too() -> None:
    note = session_note(Conversation(title="tea"), Summary(), project="", root=None, home=HOME, now=NOW, zone=CHINA)
    assert (note.updated, note.topic, note.directory, note.transcript_kb) == ("2026-02-12 12:00", "tea", "", 0)
    ends = Conversation(started_at=datetime.min.replace(tzinfo=CHINA), ended_at=datetime.max.replace(tzinfo=UTC))
    assert note_of(ends).updated == "2026-02-12 12:00"


def test_a_folder_is_written_as_a_person_would() -> None:
    assert note_of(CONVERSATION._replace(cwd="/home/anna")).directory == "~"
    assert note_of(CONVERSATION._replace(cwd="/srv/x")).directory == "/srv/x"
    deep = note_of(CONVERSATION._replace(cwd="/srv/" + "folder/" * 50 + "end")).directory
    assert deep.startswith("…/folder/")
    assert deep.endswith("/folder/end")


def test_many_files_are_counted() -> None:
    many = CONVERSATION._replace(steps=tuple(edit(f"{ROOT}/src/file-{number}.ts") for number in range(40)))
    note = note_of(many)
    assert (len(note.files), note.more_files) == (12, 28)
    assert "src/file-11.ts, and 28 more\n" in render_session(note)
    assert note_of(many._replace(steps=(edit(f"{ROOT}/../up.ts"), edit("/" + "x" * 300)))).files == ("~/src/up.ts",)


def test_a_large_summary_loses_the_least_important_first() -> None:
    points = tuple(KeyPoint(f"point {number} " + "word " * 20) for number in range(30))
    note = note_of(summary=SUMMARY._replace(key_points=points))
    assert 1_900 < len(render_session(note).encode()) <= LARGEST
    assert [point.text.split()[1] for point in note.key_points] == list(map(str, range(len(note.key_points))))
    assert (note.decisions, note.done, note.open) == (SUMMARY.decisions, SUMMARY.done, SUMMARY.open)
    items = tuple(f"item {number} " + "word " * 50 for number in range(10))
    note = note_of(summary=Summary("topic", points, items, items, items))
    assert all((note.key_points, note.decisions, note.open))
    many = CONVERSATION._replace(steps=tuple(edit(f"{ROOT}/{'folder/' * 12}{number}.ts") for number in range(9)))
    note = note_of(many, Summary("topic", points, items, items, items))
    assert 0 < len(note.files) < 9
    assert len(note.files) + note.more_files == 9


def test_a_key_point_has_few_tags_and_short_ones() -> None:
    point = KeyPoint("x", "bugfix", ("a", "b" * 50, "c", "d", "e", "f"))
    assert note_of(summary=Summary(key_points=(point,))).key_points == (KeyPoint("x", "bugfix", ("a", "c", "d", "e")),)


@pytest.mark.parametrize(
    ("text", "longest", "short"),
    [
        ("a short text", 12, "a short text"),
        ("a short text", 11, "a short…"),
        ("one, two three", 10, "one…"),
        ("identifier_of_all_sorts", 10, ""),
        ("用户认证需要令牌", 18, "用户认证需…"),
        ("用户 authentication", 15, "用户…"),
        ("修复getUserById的错误", 12, "修复…"),
        ("两\n行", 99, "两 行"),
        ("", 5, ""),
    ],
)
def test_a_long_text_is_cut_between_words(text: str, longest: int, short: str) -> None:
    assert shortened(text, longest) == short
    assert len(short.encode()) <= longest


def test_a_session_that_goes_on_keeps_what_its_owner_wrote() -> None:
    base = render_session(note_of())
    new = render_session(note_of(CONVERSATION._replace(size=900_000), SUMMARY._replace(done=("login", "logout"))))
    text = keep_hand_edits(base, base.replace("24 hours\n", "24 hours\n   - ask Ann\n"), new)
    assert text == new.replace("24 hours\n", "24 hours\n   - ask Ann\n")


words = st.text(st.characters(), max_size=30).flatmap(
    lambda word: st.sampled_from([word, word * 40, f"{word} " * 60, f"令牌{word}" * 40])
)
lists = st.lists(words, max_size=30).map(tuple)
points = st.builds(KeyPoint, text=words, kind=st.sampled_from(["", *KEY_POINT_KINDS]), tags=lists)
summaries = st.builds(Summary, words, st.lists(points, max_size=30).map(tuple), lists, lists, lists)
conversations = st.builds(
    Conversation,
    session_id=words,
    cwd=words.map(lambda word: f"/{word}"),
    steps=st.lists(words.map(lambda word: edit(f"/{word}")), max_size=20).map(tuple),
    started_at=st.none() | st.datetimes(timezones=st.just(UTC)),
    ended_at=st.none() | st.datetimes(timezones=st.just(UTC)),
    lines=st.integers(0, 10**9 - 1),
    size=st.integers(0, 10**11),
)


@settings(deadline=None, max_examples=60)
@given(conversations, summaries, st.text(max_size=60))
def test_a_note_is_small_and_can_be_read_back(conversation: Conversation, summary: Summary, project: str) -> None:
    note = session_note(conversation, summary, project=project, root=ROOT, home=HOME, now=NOW, zone=CHINA)
    for language in LANGUAGES:
        text = render_session(note, language=language)
        assert len(text.encode()) <= LARGEST
        assert render_session(parse_session(text), language=language) == text
