from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, strategies as st

from memtool.errors import NoteNotFound
from memtool.vault.todos import Todo, add_todo, drop_todo, find_todos, new_todos, remove_todo, todo_line

LIST = "# Open items\n\n- [ ] one\n  more of one\n  - [ ] a part\n  - [x] another\n- [ ] 二\n- [x] done\n"


def test_a_new_item_stands_behind_the_last_open_one() -> None:
    text, line = add_todo(LIST, "three")
    assert text == LIST.replace("- [x] done", "- [ ] three\n- [x] done")
    assert text.split("\n")[line - 1] == "- [ ] three"


def test_what_hangs_below_an_item_stays_with_it() -> None:
    text, line = add_todo("- [ ] a\n  - [x] part of a\n\ntail\n", "b")
    assert (text, line) == ("- [ ] a\n  - [x] part of a\n- [ ] b\n\ntail\n", 3)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "- [ ] new\n"),
        ("# Open", "# Open\n\n- [ ] new\n"),
        ("# Open\n\n- [x] done\n", "# Open\n\n- [x] done\n- [ ] new\n"),
        ("# Open\r\n\r\n- [ ] a\r\n", "# Open\r\n\r\n- [ ] a\r\n- [ ] new\r\n"),
        ("```\n- [ ] no item\n```\n", "```\n- [ ] no item\n```\n\n- [ ] new\n"),
    ],
)
def test_a_list_of_any_form_takes_an_item(before: str, after: str) -> None:
    assert add_todo(before, "new")[0] == after


def test_a_new_list_is_in_the_language_of_the_vault() -> None:
    assert new_todos("shop", "en") == "---\ntype: todo\nproject: shop\n---\n\n# Open items\n"
    assert new_todos("", "zh") == "---\ntype: todo\n---\n\n# 待办\n"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_tags_and_session_are_no_part_of_the_task(language: str) -> None:
    line = todo_line("Fix #4573 (soon)", tags=["auth", "支付"], source="3f2a9c", language=language)
    (todo,) = find_todos(f"- [ ] {line}")
    assert todo.text == line
    assert todo.task == "Fix #4573 (soon)"


def test_an_item_that_is_dropped_is_struck_out() -> None:
    assert drop_todo(LIST, 7) == LIST.replace("- [ ] 二", "- [x] ~~二~~")
    assert drop_todo("- [ ] a\r\n", 1) == "- [x] ~~a~~\r\n"


def test_an_item_is_removed_with_what_hangs_below_it() -> None:
    assert remove_todo(LIST, 3) == "# Open items\n\n- [ ] 二\n- [x] done\n"


@pytest.mark.parametrize("line", [0, 1, 2, 4, 99])
def test_other_lines_are_no_items(line: int) -> None:
    with pytest.raises(NoteNotFound):
        drop_todo(LIST, line)
    with pytest.raises(NoteNotFound):
        remove_todo(LIST, line)


@given(st.text(alphabet="ab -[]x\n`", max_size=60), st.text(alphabet="ab[]x`~#", min_size=1, max_size=9))
def test_adding_keeps_every_other_line(before: str, item: str) -> None:
    text, line = add_todo(before, item)
    lines = text.split("\n")
    assert lines[line - 1] == f"- [ ] {item}"
    del lines[line - 1]
    assert [each for each in lines if each] == [each for each in before.split("\n") if each]


def test_an_added_item_is_found_on_its_line() -> None:
    text, line = add_todo(LIST, "[x] odd - [ ] text")
    assert Todo(line, "[x] odd - [ ] text", is_open=True) in find_todos(text)


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "[idea] 缓存 the cart #api #缓存 (due 2026-12-01) (from session 3f2a9c)"),
        ("zh", "[idea] 缓存 the cart #api #缓存（截止 2026-12-01）（来自会话 3f2a9c）"),
    ],
)
def test_an_item_has_a_type_and_a_day(language: str, line: str) -> None:
    tags, day = ("api", "缓存"), "2026-12-01"
    written = todo_line("缓存 the cart", type="idea", due=day, tags=tags, source="3f2a9c", language=language)
    assert written == line
    (todo,) = find_todos(f"- [ ] {written}\n")
    assert (todo.type, todo.due, todo.task) == ("idea", day, "缓存 the cart")
    assert todo.is_overdue(dt.date(2026, 12, 2))
    assert not todo.is_overdue(dt.date(2026, 12, 1))
    assert not todo._replace(is_open=False).is_overdue(dt.date(2027, 1, 1))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("plain", ("task", "", "plain")),
        ("[Epic] big (due 2026-12-01) thing", ("epic", "2026-12-01", "big thing")),
        ("[登录] 修复（截止2026-12-01）", ("登录", "2026-12-01", "修复")),
        ("[docs](a.md) are old", ("task", "", "[docs](a.md) are old")),
        ("[two words] x", ("task", "", "[two words] x")),
        ("[blocked]", ("task", "", "[blocked]")),
        ("[blocked] x (due 2026-13-40)", ("blocked", "", "x")),
        ("x (due tomorrow)", ("task", "", "x (due tomorrow)")),
    ],
)
def test_what_somebody_wrote_by_hand_is_read(text: str, found: tuple[str, str, str]) -> None:
    (todo,) = find_todos(f"- [ ] {text}\n")
    assert (todo.type, todo.due, todo.task) == found
    assert todo.text == text


def test_a_task_is_a_plain_item() -> None:
    assert todo_line("x", type="task") == todo_line("x") == "x"
