from __future__ import annotations

import pytest

from memtool.errors import UsageError
from memtool.index.evaluation import Expected, KnownQuestion, evaluate, parse_questions
from memtool.vault.memory import Location


def places(*found: str) -> list[Location]:
    """Read `a:1-3` as lines 1 to 3 of the note a."""
    parts = [each.replace(":", "-").split("-") for each in found]
    return [Location(path, int(first), int(last)) for path, first, last in parts]


def question(*relevant: Expected) -> KnownQuestion:
    return KnownQuestion("1", "key", relevant)


def test_the_metrics_by_hand() -> None:
    asked = [
        question(Expected("b", 1, 4), Expected("z", 1, 1)),  # second note of four, one of two found
        question(Expected("a")),  # first
        question(Expected("q")),  # not found
    ]
    hits = [places("a:1-9", "a:10-12", "b:3-8", "c:1-1", "b:1-1"), places("a:1-2"), []]

    assert evaluate(asked, hits) == pytest.approx(
        {
            "hit@1": 1 / 3,
            "recall@1": (0 + 1 + 0) / 3,
            "recall@5": (1 / 2 + 1 + 0) / 3,
            "recall@10": (1 / 2 + 1 + 0) / 3,
            "mrr@10": (1 / 2 + 1 + 0) / 3,
            "lines@6": 3 / 5,  # lines 1, 3 and 4 of b, of its four and the one of z; the others name no lines
        }
    )


def test_only_the_first_six_hits_show_lines() -> None:
    hits = places("b:1-1", "a:1-1", "a:2-2", "a:3-3", "a:4-4", "a:5-5", "b:2-2")

    assert evaluate([question(Expected("b", 1, 2))], [hits])["lines@6"] == 1 / 2


def test_questions_are_read_from_json_lines() -> None:
    lines = [
        '\ufeff{"query": "deploy key", "relevant": ["a.md"]}',
        "",
        '{"id": 7, "query": "密钥", "relevant": [{"path": "b.md", "lines": [3, 9]}, {"path": "c.md"}], "more": 1}',
    ]

    assert parse_questions(lines) == [
        KnownQuestion("1", "deploy key", (Expected("a.md"),)),
        KnownQuestion("7", "密钥", (Expected("b.md", 3, 9), Expected("c.md"))),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "7",
        "[]",
        "{}",
        '{"query": "key"}',
        '{"query": "key", "relevant": []}',
        '{"query": "key", "relevant": 7}',
        '{"query": 7, "relevant": ["a.md"]}',
        '{"query": "key", "relevant": [7]}',
        '{"query": "key", "relevant": [{}]}',
        '{"query": "key", "relevant": [{"path": "a.md", "lines": [1]}]}',
        '{"query": "key", "relevant": [{"path": "a.md", "lines": ["x", 2]}]}',
        '{"query": "key", "relevant": [{"path": "a.md", "lines": [1, 1e999]}]}',
        '{"query": "key", "relevant": ' + "[" * 100_000,
    ],
)
def test_a_line_that_is_no_question_is_named(line: str) -> None:
    with pytest.raises(UsageError, match="line 2 is not a question"):
        parse_questions(['{"query": "key", "relevant": ["a.md"]}', line])


def test_a_file_without_questions_is_refused() -> None:
    with pytest.raises(UsageError, match="no questions"):
        parse_questions(["", "  \n"])
