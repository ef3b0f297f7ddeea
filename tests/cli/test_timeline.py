from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from terminal import on_a_terminal

if TYPE_CHECKING:
    from terminal import Memtool


@pytest.mark.usefixtures("sample")
def test_it_is_plain_text_in_a_pipe_and_marks_the_anchor(memtool: Memtool) -> None:
    code, out, err = memtool("timeline", "3f2a9c", "--before", "1", "--after", "1", "--project", "shop")
    assert (code, err) == (0, "there is more before and after; --before 20 shows it\n")
    lines = out.splitlines()
    assert [line[0] for line in lines] == [" ", ">", " "]
    assert lines[1].endswith("session  shop  user authentication  3f2a9c")
    assert lines[2].endswith("each other  sessions/3f2a9c.md:20")


@pytest.mark.usefixtures("sample")
def test_json_holds_each_event_with_its_place(memtool: Memtool) -> None:
    answer = memtool("timeline", "文字化け", "--before", "2", "--json").answer
    assert list(answer) == ["format", "anchor", "earlier", "later", "events"]
    assert [event["is_anchor"] for event in answer["events"]].index(True) == answer["anchor"] == 2
    assert answer["events"][2]["project"] == "tideline"
    assert (answer["earlier"], answer["later"]) == (True, False)


@pytest.mark.usefixtures("notes")
def test_a_vault_without_a_past_says_so(memtool: Memtool) -> None:
    assert memtool("timeline") == (0, "", "Nothing with a date is known.\n")
    assert memtool("timeline", "飞艇").code == 20


def test_in_a_project_it_keeps_to_it(memtool: Memtool, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(sample / "areas/projects/shop")
    monkeypatch.setenv("MEMTOOL_VAULT", str(sample))
    assert "tideline" not in memtool("timeline", "--before", "100").out
    assert "tideline" in memtool("timeline", "--before", "100", "--all-projects").out
    code, out, err = memtool("timeline", "文字化け")
    assert (code, out) == (20, "")
    assert err.startswith("searched 'shop' and what belongs to no project; --all-projects searches every project\n")


@pytest.mark.slow
def test_a_terminal_shows_a_tree_of_days(sample: Path) -> None:
    drawn = on_a_terminal("timeline", "3f2a9c", "--vault", str(sample)).out
    assert "2026-02-10" in drawn
    assert "└── " in drawn
    assert "user authentication" in drawn
