from __future__ import annotations

import io
import sys

import pytest
from hypothesis import given, strategies as st
from terminal import on_a_terminal

from memtool.cli import output

HOSTILE = "a\x1b]0;owned\x07b\x9b31mc\x00\x7f\u202e\u2028d"
TURNING = "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


class Screen(io.StringIO):
    """What claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def test_nothing_that_steers_a_terminal_is_printable() -> None:
    assert output.printable(HOSTILE) == "a ]0;owned b 31mc    d"
    assert output.printable("解密 [red]x[/red]") == "解密 [red]x[/red]"
    assert output.printable_lines("a\tb\r\n\x1bc") == "a   b \n c"


def test_json_escapes_what_turns_text_around() -> None:
    assert output.as_json(f"解密 {TURNING}") == '"解密 ' + "".join(f"\\u{ord(char):04x}" for char in TURNING) + '"'


def test_lone_surrogates_become_question_marks() -> None:
    assert output.as_json("a\ud800b解") == '"a?b解"'


def test_text_goes_to_a_pipe_as_it_is_and_to_a_terminal_without_what_steers_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("\x1b[31mred\x1b[0m\r\n", "no line end", ""):
        output.emit_text(text)
        assert capsys.readouterr().out == (text if text.endswith("\n") else text + "\n")
    monkeypatch.setattr(sys, "stdout", screen := Screen())
    output.emit_text("\x1b[31mred\x1b[0m\r\n")
    assert screen.getvalue() == " [31mred [0m \n"
    monkeypatch.setattr(sys, "stdout", None)
    output.emit_text("to nobody")


@pytest.mark.parametrize(
    ("text", "columns"), [("", 0), ("abc", 3), ("解密", 4), ("ｶﾞ", 2), ("e\u0301", 1), ("😀", 2), ("한글", 4), ("Ａ", 2)]
)
def test_wide_characters_take_two_columns(text: str, columns: int) -> None:
    assert output.columns(text) == columns


texts = st.text(st.sampled_from("ab 解密，😀e\u0301\x1b\n"), max_size=200)


@pytest.mark.slow
@given(texts, st.integers(4, 40), st.integers(1, 5))
def test_lines_fit_and_lose_nothing_but_what_is_cut(text: str, room: int, lines: int) -> None:
    shown = output.wrapped(text, room, lines)
    assert len(shown) <= lines
    assert all(output.columns(line) <= room for line in shown)
    whole = output.wrapped(text, room, 1_000)
    assert "".join(whole).replace(" ", "") == output.printable(text).replace(" ", "")
    assert whole[:lines] == shown


@pytest.mark.slow
@given(texts, st.integers(4, 40))
def test_a_title_fits_on_its_line(text: str, room: int) -> None:
    short = output.shortened(text, room)
    assert output.columns(short) <= room
    assert short == text or short.endswith("…")


@pytest.mark.slow
def test_a_bar_is_drawn_on_a_terminal_only_and_one_at_a_time() -> None:
    script = (
        "from memtool.cli import output\n"
        "with output.progress_bar('First') as first:\n"
        "    first(0, 3); first(3, 3)\n"
        "    with output.progress_bar('Second', least=2) as second:\n"
        "        second(0, 1); second(1, 1); second(0, 2); second(2, 2)\n"
        "print('done')"
    )
    shown = on_a_terminal(command=[sys.executable, "-c", script]).out
    assert shown.index("First") < shown.rindex("First") < shown.index("Second") < shown.index("done")
    assert "1/1" not in shown
    assert "2/2" in shown


def test_where_nobody_watches_a_long_read_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with output.progress_bar("Nobody asked") as progress:
        progress(0, 10_000)
    with output.progress_bar("读笔记 Reading notes", least=200) as progress:
        progress(0, 1_999)
        for done in range(3):
            progress(done, 2_000)
    assert capsys.readouterr() == ("", "读笔记 Reading notes: 2,000\n")


@pytest.mark.slow
def test_a_clock_runs_beside_what_takes_long_on_a_terminal_only(capsys: pytest.CaptureFixture[str]) -> None:
    script = (
        "from memtool.cli import output\n"
        "with output.waiting() as announce:\n    pass\n"
        "with output.waiting() as announce:\n    announce('下载 [red]x[/red]\\x1b[2J')"
    )
    shown = on_a_terminal(command=[sys.executable, "-c", script]).out
    assert "下载 [red]x[/red]" in shown
    assert "0:00:00" in shown
    assert "\x1b[2J" not in shown
    with output.waiting() as announce:
        announce("downloading")
    assert capsys.readouterr().err == "downloading\n"


def test_the_width_is_that_of_the_terminal_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns, width in (("10", 40), ("77", 77), ("500", 120), ("many", 80)):
        monkeypatch.setenv("COLUMNS", columns)
        assert output.width() == width
