from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.index.rows import LONGEST_BLOCK, TARGET, chunk_note, pieces_of

LARGEST = 2 * LONGEST_BLOCK + 10  # headings that wait for their text, and one block of it
lines = st.one_of(
    st.sampled_from(
        ["", " ", "\t", "# One", "## Two ##", "### 三", "#nothing", "```", "~~~", "````py", "```a```", "- b", "\r"]
    ),
    st.sampled_from(
        ["* 解密失败", "  - nested", "1. first", "12) twelfth", "> quoted", "plain text", "\u3000", "\x0c", "---"]
    ),
    st.integers(1, LONGEST_BLOCK - 10).map(lambda size: "ab cd。"[: size % 6] + "x" * size),
    st.text(st.characters(exclude_categories=()), max_size=20).map(lambda text: text.replace("\n", " ")),
)
notes = st.lists(lines, max_size=60).map("\n".join) | st.lists(lines, max_size=60).map("\r\n".join)
long_lines = st.integers(LONGEST_BLOCK + 1, 9000).map(lambda size: ("word。" * size)[:size]) | st.just("x" * 5000)


def visible(text: str) -> str:
    return "".join(text.split())


@pytest.mark.slow
@given(notes, st.integers(1, 50))
def test_every_line_is_in_the_one_chunk_whose_range_covers_it(body: str, first: int) -> None:
    numbered = dict(enumerate(body.split("\n"), first))

    for chunk in (chunks := chunk_note(body, first)):
        inside = [
            line.rstrip("\r") for number, line in numbered.items() if chunk.start_line <= number <= chunk.end_line
        ]
        assert [line for line in chunk.text.split("\n") if line.strip()] == [line for line in inside if line.strip()]
    covered = [number for chunk in chunks for number in range(chunk.start_line, chunk.end_line + 1)]
    assert covered == sorted(set(covered))
    assert {number for number, line in numbered.items() if line.strip()} <= set(covered)


@pytest.mark.slow
@given(st.lists(lines | long_lines, max_size=20).map("\n".join))
def test_nothing_is_lost_and_ranges_never_go_backwards(body: str) -> None:
    chunks = chunk_note(body)

    assert visible("".join(chunk.text for chunk in chunks)) == visible(body)
    ends = [end for chunk in chunks for end in (chunk.start_line, chunk.end_line)]
    assert ends == sorted(ends)


@pytest.mark.slow
@given(st.lists(lines | long_lines, max_size=40).map("\n".join))
def test_no_chunk_is_much_larger_than_the_bound(body: str) -> None:
    assert all(len(chunk.text) <= LARGEST for chunk in chunk_note(body))


def test_a_chunk_knows_the_headings_above_it() -> None:
    long = "text " * 60
    body = f"# Shop\n\n{long}\n\n## Login ##\n\n{long}\n\n### Limits\n\n{long}\n\n## Cart\n\n{long}"

    assert [chunk.heading for chunk in chunk_note(body)] == [
        "Shop",
        "Shop > Login",
        "Shop > Login > Limits",
        "Shop > Cart",
    ]


def test_a_comment_in_fenced_code_is_no_heading() -> None:
    filler = "make\n" * 80
    chunks = chunk_note(f"# Build\n\n```sh\n# not a heading\n{filler}```\n\n## Real\n\n{filler}")

    assert [chunk.heading for chunk in chunks] == ["Build", "Build > Real"]


def test_a_fence_ends_with_as_many_marks_as_it_began() -> None:
    filler = "text " * 60

    chunks = chunk_note(f"````\n```\n# inside\n````\n{filler}\n\n# After\n\n{filler}")

    assert [chunk.heading for chunk in chunks] == ["", "After"]


def test_an_unclosed_fence_loses_nothing() -> None:
    body = "# A\n\n```\n" + "code line\n" * 1000

    chunks = chunk_note(body)

    assert chunks[-1].end_line == 1003
    assert max(len(chunk.text) for chunk in chunks) <= LARGEST


def test_a_line_of_a_megabyte_is_cut_at_sentences() -> None:
    chunks = chunk_note("这是一句话。" * 170_000)

    assert {(chunk.start_line, chunk.end_line) for chunk in chunks} == {(1, 1)}
    assert all(chunk.text.endswith("。") for chunk in chunks)
    assert max(len(chunk.text) for chunk in chunks) <= LONGEST_BLOCK


# None of these would end if the work grew with the square of the size.
@pytest.mark.slow
@pytest.mark.parametrize(
    "hostile",
    [
        "x" * 8_000_000,
        "```\n" + "\n" * 1_000_000,
        "# a" + " " * 1_000_000 + "b",
        "# a" + " #" * 500_000,
        "# h\n" * 200_000,
        "a\n\n" * 300_000,
        "-\n" * 300_000,
        "- " * 500_000,
        "\t" * 1_000_000 + "x",
        "`" * 1_000_000,
    ],
    ids=lambda hostile: ascii(hostile[:12]),
)
def test_a_hostile_note_of_a_megabyte_is_cut_like_any_other(hostile: str) -> None:
    chunks = chunk_note(hostile)

    assert max(len(chunk.text) for chunk in chunks) <= LARGEST
    assert max(len(chunk.heading) for chunk in chunks) <= 6 * LONGEST_BLOCK
    assert len(chunks) <= len(hostile) / 150 + 1


def test_paragraphs_and_bullets_are_pieces_and_headings_are_not() -> None:
    assert pieces_of("# Title\n- one\n- two\n  more of two\n\nparagraph") == [
        "- one",
        "- two\n  more of two",
        "paragraph",
    ]
    assert pieces_of("# Title\none paragraph only") == []


def test_a_chunk_is_filled_up_to_the_target() -> None:
    chunks = chunk_note("- bullet of thirty characters\n" * 200)

    assert all(TARGET - 40 <= len(chunk.text) <= TARGET for chunk in chunks[:-1])
