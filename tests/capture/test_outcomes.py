"""What came of a turn: which statements of the agent are told, and which ones later work takes the ground from."""

from __future__ import annotations

import pytest

from memtool.capture.outcomes import outcomes_in
from memtool.capture.transcript.record_fields import change_in
from memtool.capture.turns import FileEdit, Turn

TEXT = "购物 shop"


def told(turns: list[Turn]) -> list[str]:
    return [each.text for each in outcomes_in(turns)]


@pytest.mark.parametrize(
    ("was", "line", "text", "is_told"),
    [
        ("log::info!(", "log::debug!(", "The rename log of the disk is at info now.", False),
        ("log::info!(", "log::debug!(", "The rename log went from info to debug.", True),
        ("log::info!(", "log::debug!(", "The rename of the disk shows info to the user.", True),
        ("上传上限 = 5", "上传上限 = 20", "上传上限现在是 5 MB，超过会报错。", False),
        ("max_size = 5  # MB", "limit = load()", "The max size is 5 MB for all of the uploads.", True),
    ],
)
def test_what_a_later_edit_puts_in_another_place_is_not_told(was: str, line: str, text: str, *, is_told: bool) -> None:
    size = change_in({"old_string": f"// {TEXT}\n{was}", "new_string": f"// {TEXT}\n{line}"})
    begun = Turn("Fix the disk, please", messages=(text,), edits=(FileEdit("/src/disk.rs", 9),))
    ended = Turn("Go on.", messages=("The tests of the disk are green now.",))
    assert text in told([begun, ended])
    edit = FileEdit("/src/disk.rs", 1, 1, line=size.line, was=size.was)
    assert (text in told([begun, ended._replace(edits=(edit,))])) is is_told
    assert text in told([begun, ended._replace(edits=(edit._replace(file="/src/other.rs"),))])
    assert text in told([begun, ended._replace(edits=(edit._replace(stopped=True),))])


def test_a_list_has_no_line_above_it_that_hangs() -> None:
    items = "1. A column for the hash of the mail in `users`.\n2. An index over both columns of `users`."
    for lead, shown in (
        ("The migration of the users adds", "The migration of the users adds"),
        ("But it also has to add", ""),
    ):
        found = outcomes_in([Turn("加一列", messages=(f"{lead}:\n\n{items}",))])
        assert {each.lead for each in found} == {shown}
