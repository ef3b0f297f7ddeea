from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from memtool.capture.conversation import Conversation
from memtool.capture.session_note import LARGEST, daily_sessions, session_note
from memtool.capture.summary import KEY_POINT_KINDS, KeyPoint, Summary
from memtool.text.languages import label_languages
from memtool.text.lines import width
from memtool.vault.daily import DailySession, add_session, listed_sessions
from memtool.vault.hand_edits import keep_hand_edits
from memtool.vault.session_rows import Piece, Row
from memtool.vault.sessions import Draft, Line, SessionNote, parse_session, render_session

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
) -> SessionNote:
    return session_note(conversation, summary, files, turns, project=project, root=ROOT, home=HOME, now=NOW, zone=CHINA)


def test_a_note_says_where_and_when_the_session_was_and_which_files_it_touched() -> None:
    note = note_of()
    assert note._replace(draft=Draft()) == SessionNote("3f2a9c", "shop", updated="2026-02-10 14:30", branch="fix/登录")
    assert note.draft == Draft(
        title="user authentication",
        lines=(
            Line("JWT rather than server sessions", "decision"),
            Line("access tokens live 24 hours"),
            Line("one use only", "decision"),
            Line("login route"),
            Line("rate limiting", "open"),
        ),
        files=("auth.ts", "~/notes/a.md", "/etc/hosts"),
    )


def test_the_title_is_what_came_of_it_and_the_branch_is_said_once() -> None:
    note = note_of(summary=SUMMARY._replace(topic="fix/登录: the login fails → last: 两个 cookie 都由 jwt.ts 写"))
    assert (note.branch, note.draft.asked, note.draft.title) == ("", "the login fails", "两个 cookie 都由 jwt.ts 写")


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
    assert (note.updated, note.draft) == ("2026-02-12 12:00", Draft("tea"))
    ends = Conversation(started_at=datetime.min.replace(tzinfo=CHINA), ended_at=datetime.max.replace(tzinfo=UTC))
    assert note_of(ends).updated == "2026-02-12 12:00"


def test_many_files_are_counted() -> None:
    note = note_of(files=[f"{ROOT}/src/文件-{number}.ts" for number in range(40)])
    named = len(note.draft.files)
    assert (named > 1, named + note.draft.more_files) == (True, 40)
    assert f"src/文件-{named - 1}.ts (and {40 - named} more)\n" in render_session(note)
    assert note_of(files=[f"{ROOT}/../up.ts", "/" + "x" * 300]).draft.files == ("~/src/up.ts",)


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


def test_a_decision_is_not_said_again_among_the_rows() -> None:
    row = Row("which store?", (Piece("We use Redis with an expiry for the tokens"), Piece("jwt.ts reads it 每次请求")))
    summary = Summary("tokens", rows=(row,), decisions=("We use Redis with an expiry for the tokens (user)",))
    said = [line.text for line in note_of(summary=summary).draft.lines if line.role == ""]
    assert said == ["jwt.ts reads it 每次请求"]


def test_a_session_that_goes_on_keeps_what_its_owner_wrote() -> None:
    base = render_session(note_of())
    new = render_session(note_of(CONVERSATION, SUMMARY._replace(done=("login", "logout"))))
    text = keep_hand_edits(base, base.replace("24 hours\n", "24 hours\n- ask Ann\n"), new)
    assert text == new.replace("24 hours\n", "24 hours\n- ask Ann\n")


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
        assert width(text) <= LARGEST + 200  # the front matter and the labels of another language
        assert body(render_session(parse_session(text), language=language)) == body(text)


def body(text: str) -> str:
    return text.partition("\n---\n\n")[2]
