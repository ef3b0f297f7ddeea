"""`memtool test`: what is expected of a vault."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memtool.errors import UsageError
from memtool.recall.expectations import Expectation, parse_expectations

if TYPE_CHECKING:
    from terminal import Memtool

HOLDING = """
[[expect]]
project = "shop"
prompt = "Why do we use JWT rather than server sessions?"
gives = ["authenticate each other", "areas/projects/shop/decisions/"]
gives_not = ["parquet"]

[[expect]]
project = "tideline"
prompt = "解密失败时应该先看什么？"
gives = ["kid"]

[[expect]]
project = "shop"
prompt = "thanks, that is all for today"
gives_nothing = true

[[expect]]
project = "shop"
gives = ["JWT"]
"""


def write(folder: Path, text: str) -> str:
    path = folder / "期望.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.slow
def test_expectations_that_hold_end_with_0_and_leave_no_trace(memtool: Memtool, sample: Path, tmp_path: Path) -> None:
    ran = memtool("test", write(tmp_path, HOLDING))
    assert (ran.code, ran.out) == (0, "All 4 expectations hold.\n")
    assert not list(sample.rglob("ledger*"))
    assert memtool("given", "--last").err.startswith("memtool: no session received a memory yet")


@pytest.mark.slow
@pytest.mark.usefixtures("sample")
def test_one_that_does_not_hold_ends_with_1_and_says_why(memtool: Memtool, tmp_path: Path) -> None:
    wrong = HOLDING.replace("authenticate each other", "会话存在数据库里").replace('"parquet"', '"jwt"')
    ran = memtool("test", write(tmp_path, wrong))
    assert ran.code == 1
    lines = ran.out.split("\n")
    assert lines[0] == "1: 'Why do we use JWT rather than server sessions?' in shop"
    assert lines[1:3] == ["   it is not given '会话存在数据库里'", "   it is given 'jwt'"]
    assert lines[3].startswith("   | - ")
    assert lines[-2] == "3 of 4 expectations hold."
    answer = memtool("test", write(tmp_path, wrong), "--json")
    assert (answer.code, answer.answer["format"]) == (1, 1)
    assert (answer.answer["passed"], answer.answer["failed"]) == (3, 1)
    assert [one["number"] for one in answer.answer["expectations"] if one["faults"]] == [1]


@pytest.mark.usefixtures("sample")
def test_a_project_or_a_file_that_is_not_there_is_a_sentence(memtool: Memtool, tmp_path: Path) -> None:
    ran = memtool("test", write(tmp_path, '[[expect]]\nproject = "无"\ngives = ["x"]\n'))
    assert ran.code == 2
    assert "expectation 1: there is no project '无'" in ran.err
    assert memtool("test", str(tmp_path / "none.toml")).code == 2
    assert memtool("test", str(tmp_path)).code == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = [", "no TOML"),
        ("", "no expectation"),
        ("expect = 3", "no expectation"),
        ("expect = [3]", "expectation 1: it should be a table"),
        ('[[expect]]\nprompt = "x"', "it expects nothing"),
        ('[[expect]]\ngives = "x"', "'gives' should be a list of text"),
        ('[[expect]]\nprompt = 3\ngives = ["x"]', "'prompt' should be text"),
        ('[[expect]]\ngives_nothing = "yes"', "'gives_nothing' should be true or false"),
        ('[[expect]]\ngive = ["x"]', "'give' is not known; there are project, prompt,"),
        ('[[expect]]\ngives = ["x"]\ngives_nothing = true', "contradict"),
    ],
)
def test_what_is_no_expectation_is_refused_with_its_number(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_expectations(text)
    assert said in str(caught.value)


def test_expectations_are_read_in_order() -> None:
    assert parse_expectations('[[expect]]\ngives = ["茶"]\n[[expect]]\nprompt = "x"\ngives_nothing = true\n') == [
        Expectation(1, gives=("茶",)),
        Expectation(2, prompt="x", nothing=True),
    ]
