from __future__ import annotations

import pytest

from memtool.consolidate.archiving import relinked
from memtool.consolidate.proposals import SessionView
from memtool.consolidate.run import done_items, old_dailies, old_sessions
from memtool.vault.sessions import Draft, Line, SessionNote


def view(name: str, date: str, project: str = "shop", *lines: Line, **said: str) -> SessionView:
    note = SessionNote(
        name, project, updated=date, draft=Draft(said.get("title", name), said.get("asked", ""), lines=lines)
    )
    return SessionView(f"sessions/{name}.md", note)


def test_old_sessions_go_but_for_the_newest_of_each_project() -> None:
    sessions = [view(f"s{day}", f"2026-01-{day:02} 10:00") for day in range(1, 9)] + [view("a", "2026-01-01", "api")]
    assert old_sessions(sessions, "2026-10-23", kept=5) == ["sessions/s1.md", "sessions/s2.md", "sessions/s3.md"]
    assert old_sessions(sessions, "2025-12-21", kept=0) == []


def test_old_daily_notes_go_and_what_is_none_stays() -> None:
    names = ["2026-08-01.md", "2026-08-02.memtool.md", "2026-11-01.md", "notes.md", "2026-08-02 copy.md"]
    assert old_dailies(names, "2026-08-24") == ["2026-08-01.md", "2026-08-02.memtool.md"]


def test_links_follow_the_sessions() -> None:
    text = "- [登录](../sessions/old.md) [b](../sessions/new.md) [c](../other/old.md)"
    left = relinked(text, archived=["old"], was=False, goes=False)
    assert left == "- [登录](../archive/sessions/old.md) [b](../sessions/new.md) [c](../other/old.md)"
    moved = relinked(left, archived=[], was=False, goes=True)
    assert moved == "- [登录](../sessions/old.md) [b](../../sessions/new.md) [c](../other/old.md)"
    assert str(relinked(moved, archived=["new"], was=True, goes=True)).count("](../sessions/") == 2


def test_an_open_item_is_done_when_a_session_says_so() -> None:
    tasks = (
        "[ ] rate limiting of the login route",
        "[ ] 给登录接口加限流",
        "[x] rate limiting of the login route",
        "[ ] tests",
    )
    todos = "".join(f"- {each}\n" for each in tasks)
    deed = Line("commit: Add rate limiting of the login route", "", "agent")
    chinese = Line("已完成：已给登录接口加限流；已提交", "", "agent")
    talk = Line("we should add rate limiting of the login route", "", "agent")
    assert done_items(todos, [view("s0", "2026-01-01", "shop", talk)]) == []
    closed = done_items(todos, [view("s1", "2026-01-01", "shop", deed), view("s2", "2026-01-02", "shop", chinese)])
    assert [(item.line, session) for item, session in closed] == [(1, "s1"), (2, "s2")]


@pytest.mark.parametrize(
    ("task", "asked", "deed"),
    [
        ("rate limiting of the login route", "", "Done: I wrote the rate limiting of the login route."),
        (
            "rate limiting of the login route",
            "Now the login route of the shop",
            "commit: Add rate limiting to the login",
        ),
        ("给登录接口加限流", "", "已完成：给登录接口加了限流。"),
        ("给登录接口加限流", "登录页和登录接口还没有限流，请加上", "commit: 接口加限流"),
    ],
)
def test_an_open_item_is_done_by_what_its_prompt_ended_with(task: str, asked: str, deed: str) -> None:
    done = view("s1", "2026-01-01", "shop", Line(deed, "", "agent", asked=asked))
    assert [session for _, session in done_items(f"- [ ] {task}\n", [done])] == ["s1"]


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ("Is the rate limiting of the login route done?", Line("commit: Add the order model", "", "agent")),
        ("Is the rate limiting of the login route done?", Line("commit: Add rate limiting", "", "agent")),
        ("登录接口的限流呢？", Line("commit: 加上订单模型", "", "agent")),
        ("", Line("The rate limiting of the login route is not done.", "", "agent")),
        ("", Line("Done: I wrote the rate limiting of the login route.", "", "imported")),
    ],
)
def test_a_question_or_other_work_closes_nothing(asked: str, line: Line) -> None:
    todos = "- [ ] rate limiting of the login route\n- [ ] 给登录接口加限流\n"
    assert done_items(todos, [view("s1", "2026-01-01", "shop", line._replace(asked=asked))]) == []


def test_a_commit_that_only_the_title_names_closes_its_item() -> None:
    done = view("s1", "2026-01-01", title="commit: rate limiting of the login", asked="给登录接口限流")
    closed = done_items("- [ ] rate limiting of the login\n- [ ] limiting of the API 路由\n", [done])
    assert [item.line for item, _ in closed] == [1]
