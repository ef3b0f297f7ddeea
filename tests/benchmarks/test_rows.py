from __future__ import annotations

from benchmarks.groups import linearity
from benchmarks.rows import Row, table

KEPT = Row("refresh", 1_000, "ms", [3.0, 2.0, 4.0], [2.0, 1.0, 1.5], most_ratio=2.0)
MISSED = Row("memory", 0, "MB", [200.0], [20.0], most=150.0)
FREE = Row("index on disk", 1_000, "MB", [7.0], [1.0])


def test_the_least_of_all_tries_is_judged() -> None:
    assert (KEPT.ratio, KEPT.ok) == (2.0, True)
    assert (MISSED.ratio, MISSED.ok) == (10.0, False)
    assert (FREE.ratio, FREE.ok) == (7.0, None)


def test_the_table_shows_the_least_the_median_and_the_verdict() -> None:
    head, _, kept, missed, free = (
        [cell.strip() for cell in line.strip("|").split("|")] for line in table([KEPT, MISSED, FREE]).split("\n")
    )
    assert head == ["what", "ours", "floor", "ratio", "budget", "ok"]
    assert kept == ["refresh, 1,000 notes", "2.00 (3.00) ms", "1.00 (1.50) ms", "2.00", "2", "yes"]
    assert missed == ["memory", "200.0 MB", "20.0 MB", "10.00", "150 MB", "NO"]
    assert free[-2:] == ["", ""]


def test_a_first_index_is_compared_with_the_next_smaller_one_by_the_note() -> None:
    firsts = [Row("first index", notes, "s", [seconds]) for notes, seconds in ((10_000, 20.0), (1_000, 1.0))]
    (row,) = linearity([*firsts, KEPT])
    assert (row.ratio, row.ok) == (2.0, False)
    assert not list(linearity(firsts[:1]))
