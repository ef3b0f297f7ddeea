from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, strategies as st

from memtool.capture.conversation import Conversation
from memtool.capture.session_note import LARGEST, daily_sessions, session_note
from memtool.capture.summary import Summary
from memtool.text.languages import label_languages
from memtool.text.lines import width
from memtool.vault.daily import DailySession, add_session, listed_sessions
from memtool.vault.hand_edits import keep_hand_edits
from memtool.vault.old_sessions import KEY_POINT_KINDS, KeyPoint, OldNote, parse_session, render_session
from memtool.vault.session_rows import Piece, Row

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


FILES = ["/home/anna/src/shop/auth.ts", "/home/anna/notes/a.md", "/etc/hosts", "/home/anna/src/shop/auth.ts"]
CONVERSATION = Conversation(
    session_id="3f2a9c",
    cwd="/home/anna/src/shop",
    branch="fix/登录",
    title="a title",
    started_at=datetime(2026, 2, 10, 6, 0, 59, tzinfo=UTC),
    ended_at=datetime(2026, 2, 10, 6, 30, 59, tzinfo=UTC),
)


def note_of(
    conversation: Conversation = CONVERSATION,
    summary: Summary = SUMMARY,
    files: Sequence[str] = FILES,
    turns: int = 5,
    project: str = "shop",
) -> OldNote:
    return session_note(conversation, summary, files, turns, project=project, root=ROOT, home=HOME, now=NOW, zone=CHINA)


def test_a_note_says_where_and_when_the_session_was_and_which_files_it_touched() -> None:
    assert note_of() == OldNote(
        id="3f2a9c",
        project="shop",
        updated="2026-02-10 14:30",
        directory="~/src/shop",
        branch="fix/登录",
        topic="user authentication",
        key_points=SUMMARY.key_points,
        files=("auth.ts", "~/notes/a.md", "/etc/hosts"),
        decisions=SUMMARY.decisions,
        done=SUMMARY.done,
        open=SUMMARY.open,
    )


def test_the_branch_is_said_once() -> None:
    named = note_of(summary=SUMMARY._replace(topic="fix/登录: the login fails"))
    assert (named.branch, named.topic) == ("", "fix/登录: the login fails")
    assert "(branch" not in render_session(named)


def test_its_first_day_and_its_last_list_it() -> None:
    long = CONVERSATION._replace(ended_at=datetime(2026, 2, 12, 16, 30, tzinfo=UTC))
    note = note_of(long)
    backwards = note_of(long._replace(started_at=long.ended_at, ended_at=long.started_at))
    assert (note.updated, backwards.updated) == ("2026-02-13 00:30", "2026-02-10 14:00")
    lines = daily_sessions(long, note, now=NOW, zone=CHINA)
    assert lines == {
        date(2026, 2, 10): DailySession("14:00", "shop", "3f2a9c", "user authentication"),
        date(2026, 2, 13): DailySession("00:30", "shop", "3f2a9c", "user authentication"),
    }
    assert listed_sessions(add_session("", lines[date(2026, 2, 10)])) == (lines[date(2026, 2, 10)],)


def test_a_session_without_times_folder_and_topic_has_a_note_too() -> None:
    note = note_of(Conversation(title="tea"), Summary(), (), 0, project="")
    assert (note.updated, note.topic, note.directory, note.files) == ("2026-02-12 12:00", "tea", "", ())
    ends = Conversation(started_at=datetime.min.replace(tzinfo=CHINA), ended_at=datetime.max.replace(tzinfo=UTC))
    assert note_of(ends).updated == "2026-02-12 12:00"


def test_a_folder_is_written_as_a_person_would() -> None:
    assert note_of(CONVERSATION._replace(cwd="/home/anna")).directory == "~"
    assert note_of(CONVERSATION._replace(cwd="/srv/x")).directory == "/srv/x"
    deep = note_of(CONVERSATION._replace(cwd="/srv/" + "folder/" * 50 + "end")).directory
    assert deep.startswith("…/folder/")
    assert deep.endswith("/folder/end")


def test_many_files_are_counted() -> None:
    note = note_of(files=[f"{ROOT}/src/文件-{number}.ts" for number in range(40)])
    named = len(note.files)
    assert (named > 1, named + note.more_files) == (True, 40)
    assert f"src/文件-{named - 1}.ts, and {40 - named} more\n" in render_session(note)
    assert note_of(files=[f"{ROOT}/../up.ts", "/" + "x" * 300]).files == ("~/src/up.ts",)


def test_a_large_summary_loses_the_least_important_first() -> None:
    points = tuple(KeyPoint(f"point {number} " + "word " * 20) for number in range(30))
    note = note_of(summary=SUMMARY._replace(key_points=points))
    assert 0.8 * LARGEST < width(render_session(note)) <= LARGEST
    assert [point.text.split()[1] for point in note.key_points] == list(map(str, range(len(note.key_points))))
    assert (note.decisions, note.done, note.open) == (SUMMARY.decisions, SUMMARY.done, SUMMARY.open)
    items = tuple(f"item {number} " + "word " * 50 for number in range(10))
    crowded = Summary("topic", points, (), items, items, items, (), items)
    note = note_of(summary=crowded)
    assert all((note.key_points, note.decisions, note.rules, note.open))
    note = note_of(CONVERSATION, crowded, [f"{ROOT}/{'folder/' * 12}{number}.ts" for number in range(9)])
    assert len(note.files) + note.more_files == 9


ROWS = tuple(
    Row(
        f"登录的第 {number} 个问题在 Safari 里出现",
        tuple(Piece(f"alpha{number}{at} reads beta{at}{number}.ts and writes gamma{number}x{at}") for at in range(9)),
    )
    for number in range(10)
)


def test_a_longer_session_may_fill_more_of_the_room_and_never_more_than_all() -> None:
    sizes = [width(render_session(note_of(summary=Summary("登录", rows=ROWS), turns=turns))) for turns in (1, 6, 60)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1] <= LARGEST


def test_a_chinese_note_says_as_much_as_an_english_one() -> None:
    english = tuple(
        Row(f"problem {at} of the login in Safari", (Piece(f"case{at}.ts needs None"),)) for at in range(60)
    )
    chinese = tuple(Row(f"登录在浏览器里的第 {at} 个问题", (Piece(f"case{at}.ts 需要空值"),)) for at in range(60))
    said = [len(note_of(summary=Summary("x", rows=rows), turns=40).rows) for rows in (english, chinese)]
    assert abs(said[0] - said[1]) <= 0.2 * said[0]


def test_a_decision_is_not_said_again_among_the_rows() -> None:
    row = Row("which store?", (Piece("We use Redis with an expiry for the tokens"), Piece("jwt.ts reads it 每次请求")))
    summary = Summary("tokens", rows=(row,), decisions=("We use Redis with an expiry for the tokens (user)",))
    assert [piece.text for row in note_of(summary=summary).rows for piece in row.pieces] == ["jwt.ts reads it 每次请求"]


def test_a_key_point_has_few_tags_and_short_ones() -> None:
    point = KeyPoint("x", "bugfix", ("a", "b" * 50, "c", "d", "e", "f"))
    assert note_of(summary=Summary(key_points=(point,))).key_points == (KeyPoint("x", "bugfix", ("a", "c", "d", "e")),)


def test_a_session_that_goes_on_keeps_what_its_owner_wrote() -> None:
    base = render_session(note_of())
    new = render_session(note_of(CONVERSATION, SUMMARY._replace(done=("login", "logout"))))
    text = keep_hand_edits(base, base.replace("24 hours\n", "24 hours\n   - ask Ann\n"), new)
    assert text == new.replace("24 hours\n", "24 hours\n   - ask Ann\n")


words = st.text(st.characters(), max_size=30).flatmap(
    lambda word: st.sampled_from([word, word * 40, f"{word} " * 60, f"令牌{word}" * 40])
)
lists = st.lists(words, max_size=30).map(tuple)
points = st.builds(KeyPoint, text=words, kind=st.sampled_from(["", *KEY_POINT_KINDS]), tags=lists)
pieces = st.builds(Piece, words, st.floats(0.1, 10))
rows = st.builds(Row, words, st.lists(pieces, max_size=5).map(tuple), st.floats(0.1, 5))
many_rows = st.lists(rows, max_size=15).map(tuple)
summaries = st.builds(
    Summary, words, st.lists(points, max_size=20).map(tuple), many_rows, lists, lists, lists, lists, lists
)
conversations = st.builds(
    Conversation,
    session_id=words,
    cwd=words.map(lambda word: f"/{word}"),
    started_at=st.none() | st.datetimes(timezones=st.just(UTC)),
    ended_at=st.none() | st.datetimes(timezones=st.just(UTC)),
)
files = st.lists(words.map(lambda word: f"/{word}"), max_size=20)


@pytest.mark.slow
@given(conversations, summaries, files, st.integers(0, 60), st.text(max_size=60))
def test_a_note_is_small_and_can_be_read_back(
    conversation: Conversation, summary: Summary, files: list[str], turns: int, project: str
) -> None:
    note = note_of(conversation, summary, files, turns, project)
    for language in label_languages():
        text = render_session(note, language=language)
        assert width(text) <= LARGEST + 100  # the front matter and the labels of another language
        assert body(render_session(parse_session(text), language=language)) == body(text)


def body(text: str) -> str:
    return text.partition("\n---\n\n")[2]


def test_rows_give_way_to_the_files() -> None:
    random = Random(0)  # arrows and quotes take more bytes than columns

    def text(count: int) -> str:
        signs = ("订单…", "“完成”", "→", "orders.py", "恢复")
        return " ".join(f"{random.choice(signs)}{random.randint(0, 9999)}" for _ in range(count))

    rows = tuple(Row(text(9), (Piece(text(9), 2.0), Piece(text(5), 1.5))) for _ in range(10))
    note = note_of(summary=SUMMARY._replace(rows=rows), turns=10)
    assert note.files == ("auth.ts", "~/notes/a.md", "/etc/hosts")
    assert note.rows
