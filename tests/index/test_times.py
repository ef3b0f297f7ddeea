from __future__ import annotations

import datetime as dt

import pytest
from index.notebook import Notebook, fill

from memtool.errors import UsageError
from memtool.index.filters import Filter, only_time, parse_day
from memtool.index.times import Days, asked_days, spoken_times

TODAY = dt.date(2026, 2, 10)  # a Tuesday


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("what did we do last week", "2026-02-02", "2026-02-08"),
        ("JWT, yesterday", "2026-02-09", "2026-02-09"),
        ("the day before yesterday", "2026-02-08", "2026-02-08"),
        ("it broke 3 days ago", "2026-02-07", "2026-02-07"),
        ("2 weeks ago", "2026-01-26", "2026-02-01"),
        ("Last month's plan", "2026-01-01", "2026-01-31"),
        ("this year", "2026-01-01", "2026-12-31"),
        ("on Monday", "2026-02-09", "2026-02-09"),
        ("on Tuesday", "2026-02-03", "2026-02-03"),
        ("Friday last", "2026-02-06", "2026-02-06"),
        ("last week on Wednesday", "2026-02-04", "2026-02-04"),
        ("上周做了什么", "2026-02-02", "2026-02-08"),
        ("上周三讨论的JWT", "2026-02-04", "2026-02-04"),
        ("昨天改了什么", "2026-02-09", "2026-02-09"),
        ("3天前", "2026-02-07", "2026-02-07"),
        ("上个月的决定", "2026-01-01", "2026-01-31"),
        ("先週の水曜日", "2026-02-04", "2026-02-04"),
        ("지난주에 뭐 했지", "2026-02-02", "2026-02-08"),
        ("letzte Woche", "2026-02-02", "2026-02-08"),
        ("vor 3 Tagen", "2026-02-07", "2026-02-07"),
        ("la semaine dernière", "2026-02-02", "2026-02-08"),
        ("la semana pasada", "2026-02-02", "2026-02-08"),
        ("вчера", "2026-02-09", "2026-02-09"),
    ],
)
def test_a_time_is_named_by_words_in_each_language(text: str, since: str, until: str) -> None:
    assert spoken_times(text, TODAY).spans == (Days(since, until),)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("last month", "2026-01-01", "2026-01-31"),
        ("上周", "2026-02-02", "2026-02-08"),
        ("March", "2025-03-01", "2025-03-31"),
        ("in march 2024", "2024-03-01", "2024-03-31"),
        ("March 1999", "1999-03-01", "1999-03-31"),
        ("三月", "2025-03-01", "2025-03-31"),
        ("十二月", "2025-12-01", "2025-12-31"),
        ("8 May", "2025-05-08", "2025-05-08"),
    ],
)
def test_an_option_takes_the_same_words(text: str, first: str, last: str) -> None:
    assert (parse_day(text, TODAY), parse_day(text, TODAY, end=True)) == (first, last)


@pytest.mark.parametrize("text", ["last month or so", "tomorrow", "2026-2-x", "三个月", "may be"])
def test_an_option_takes_nothing_else(text: str) -> None:
    with pytest.raises(UsageError):
        parse_day(text, TODAY)


def test_a_day_counts_fully_and_the_three_days_after_it_a_little() -> None:
    asked = asked_days("what broke on 8 May 2023", TODAY)
    near = [asked.nearness(f"2023-05-{day:02}") for day in (7, 8, 9, 11, 12)]
    assert near == [0, 1, near[2], near[2], 0]
    assert 0 < near[2] < 1
    assert asked_days("yesterday", TODAY).nearness("2026-02-10") == near[2]
    assert asked_days("last week", TODAY).nearness("2026-02-09") == 0
    assert asked_days("三月", TODAY).nearness("2025-03-30") == 1
    assert asked_days("JWT", TODAY).nearness("2023-05-08") == 0


def test_a_question_that_only_names_a_time_is_a_filter() -> None:
    assert only_time("what did we do last week?", Filter(TODAY)) == (
        "",
        Filter(TODAY, since="2026-02-02", until="2026-02-08"),
    )
    asked = Filter(TODAY, since="2026-02-04", until="2026-02-05")
    assert only_time("上周", asked) == ("", asked)
    assert only_time("what did we do last week about JWT?", asked)[0] == "what did we do last week about JWT?"


def test_of_two_notes_that_say_the_same_that_of_the_named_week_comes_first(notebook: Notebook) -> None:
    for day in ("2026-01-05", "2026-02-04", "2026-01-20"):
        notebook.write(f"{day}-a.md", f"---\ndate: {day}\n---\n登录 login uses JWT {int(day[-2:]) * 7919}")
    fill(notebook, 5)

    assert notebook.find("上周的登录 login JWT")[0] == "2026-02-04-a.md"
    assert notebook.find("what did we say of the login JWT last week")[0] == "2026-02-04-a.md"
