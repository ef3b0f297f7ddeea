from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.recall.answers.question import question_of, shortened, without_pastes

GENERIC = [
    "continue", "ok", "继续", "run the tests", "修复这个 bug", "fix the bug", "please go on", "帮我看看这个问题",
    "谢谢",
    "계속해", "テストを実行してください", "解释一下这段代码", "yes, do it", "😀😀", "", " \n",
    "/compact", "...", "Why does this not work?", "写一个函数", "42", "重新运行一下测试",
]  # fmt: skip


def test_a_prompt_that_says_nothing_asks_for_nothing() -> None:
    assert {prompt: question_of(prompt).terms() for prompt in GENERIC} == {prompt: [] for prompt in GENERIC}


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("fix getUserById", "getuserbyid"), ("fix E0308 now", "e0308"), ("看一下 #4573", "#4573"),
        ("解密失败了", "解密"), ("open middleware/jwt.ts", "middleware/jwt.ts"), ("refresh tokens", "token"),
        ("인증 토큰", "인증"),
    ],
)  # fmt: skip
def test_what_a_prompt_is_about_is_asked_for(prompt: str, expected: str) -> None:
    assert expected in question_of(prompt).terms()


@pytest.mark.parametrize(("prompt", "number"), [("先看一眼目录", "一眼"), ("读第二个表", "二个"), ("讀三張表", "三張")])
def test_a_number_and_what_it_counts_find_nothing(prompt: str, number: str) -> None:
    assert number not in question_of(prompt).terms()


@pytest.mark.parametrize(
    ("prompt", "number"), [("晚上七点进不了课堂", "七点"), ("解析要五秒", "五秒"), ("二维码", "二维")]
)
def test_times_measures_and_names_with_a_number_do(prompt: str, number: str) -> None:
    assert number in question_of(prompt).terms()


def test_a_command_is_not_what_it_is_about() -> None:
    assert "zeppelin" not in question_of("/zeppelin:fly tokens").terms()
    assert "token" in question_of("/zeppelin:fly tokens").terms()
    assert "usr/lib/zeppelin" in question_of("/usr/lib/zeppelin is gone").terms()


def test_a_paste_counts_by_its_beginning_and_what_is_asked_below_it_counts() -> None:
    log = "zeppelin " * 1_000 + "gondola " * 100_000
    prompt = f'Look:\n<pasted_content id="1">{log}</pasted_content>\nWhy is the airship late?'
    terms = question_of(prompt).terms()
    assert "airship" in terms
    assert "zeppelin" in terms
    assert "gondola" not in terms
    assert len(shortened("解" * 1_000_000)) < 5_000


@pytest.mark.slow
@given(st.text(max_size=300))
def test_any_text_can_be_asked(prompt: str) -> None:
    question = question_of(prompt)
    assert all(word.terms and all(word.terms) for word in question.words)
    assert all(len(piece) > 1 for piece in question.pieces)
    assert len(set(question.terms())) == len(question.terms())


@pytest.mark.parametrize(
    ("prompt", "word", "tells"),
    [
        ("where does the zeppelin dock", "zeppelin", True), ("is it an ubuntu problem", "ubuntu", True),
        ("the weather in the mountains", "mountain", False), ("rename the file", "file", False),
        ("fix #4573", "#4573", True), ("in 12 ways", "12", False), ("user-friendly", "userfriendli", True),
    ],
)  # fmt: skip
def test_words_differ_in_what_they_tell(prompt: str, word: str, *, tells: bool) -> None:
    assert [asked.is_telling for asked in question_of(prompt).words if asked.terms[0] == word] == [tells]


@pytest.mark.parametrize("prompt", ["wo ist der Zeppelin", "où est le zeppelin", "¿dónde está el zeppelin?"])
def test_words_that_hold_sentences_together_are_left_out_in_other_languages_too(prompt: str) -> None:
    assert [word.terms[0] for word in question_of(prompt).words if word.is_telling] == ["zeppelin"]


def test_common_words_are_asked_for_only_beside_a_telling_one() -> None:
    assert question_of("rename the file").terms() == []
    assert question_of("rename the zeppelin file").terms() == ["zeppelin", "renam", "file"]


def test_what_has_other_words_is_known() -> None:
    assert [meaning.own for meaning in question_of("the voucher 优惠券").synonyms] == [("voucher",), ("优惠", "惠券")]


TRACE = """Traceback (most recent call last):
  File "/srv/zeppelin/main.py", line 3, in dock
    anchor.lower()
gondola.RopeError: the rope is too short
"""
JAVA = "org.gondola.RopeException: the rope is too short\n\tat com.zeppelin.Dock.run(Dock.java:42)\n\t... 7 more\n"

GO = "panic: the rope is too short\n\ngoroutine 7 [running]:\nmain.dock(0x2)\n\t/srv/zeppelin/main.go:9 +0x1d\n"


@pytest.mark.parametrize("trace", [TRACE, JAVA, GO])
def test_a_stack_trace_is_asked_by_its_message(trace: str) -> None:
    terms = question_of(f"what now?\n{trace}").terms()
    assert "rope" in terms
    assert not {"zeppelin", "dock", "goroutin"}.intersection(terms)


def test_lines_that_repeat_count_once() -> None:
    assert "airship" in question_of(f"Where is the airship?\n{'the gondola fell down' * 20}\n" * 5_000).terms()


def test_what_is_asked_below_a_long_paste_is_not_lost() -> None:
    log = "\n".join(f"module{number} failed in frame{number}" for number in range(2_000))
    assert "zeppelin" in question_of(f"{log}\nWhere does the zeppelin dock?").terms()
    log = "，".join("第" + chr(0x4E00 + n) * 2 + "行" for n in range(2_000))
    assert "飞艇" in question_of(f"{log}，飞艇停在哪里").terms()


@pytest.mark.parametrize("opening", ["\n```py", " ```", "：```python", "\n~~~"])
def test_code_is_cut_wherever_its_fence_begins(opening: str) -> None:
    code = "\n".join(f"call{number}()" for number in range(200))
    closing = "~~~" if "~" in opening else "```"
    prompt = f"飞艇 fails{opening}\n{code}\n{closing}\nWhere does it dock?"
    assert "call199" not in question_of(prompt).terms()
    assert "dock" in question_of(prompt).terms()
    assert "call" not in without_pastes(prompt)
    assert without_pastes(prompt).endswith("Where does it dock?")


def test_a_prompt_of_one_line_is_no_place_of_a_failure() -> None:
    assert "zeppelin" in question_of("at 5:30 (sharp) the zeppelin docks").terms()


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["<pasted_content ", "```", "a" * 50, "/", "解", "aB", "#1."])
def test_hostile_prompts_take_linear_time(piece: str) -> None:
    question_of(piece * 100_000)  # would take minutes otherwise


def pairs(prompt: str) -> list[str]:
    return [word.terms[0] for word in question_of(prompt).words if " " in word.terms[0]]


def test_two_common_words_side_by_side_are_one_more_word() -> None:
    assert pairs("How do we store money amounts?") == ["store monei", "monei amount"]
    assert pairs("the new version, please") == ["new version"]


@pytest.mark.parametrize("prompt", ["does it not work", "version. New", "zeppelin version", "新 version", "go on"])
def test_no_pair_is_made_across_clauses_with_telling_words_or_with_words_that_only_link(prompt: str) -> None:
    assert pairs(prompt) == []


@pytest.mark.parametrize("prompt", ["deploy はどうやる", "deploy 怎么弄", "deploy 어떻게 해"])
def test_a_common_english_word_is_a_name_in_a_script_without_spaces(prompt: str) -> None:
    assert "deploi" in question_of(prompt).terms()
    assert question_of("how to rename").terms() == []


def test_a_prompt_is_as_long_as_what_it_is_about() -> None:
    assert question_of("How do I do it?").length < 2
    assert question_of("zeppelin " + " ".join(f"word{number}" for number in range(60))).length > 50
    assert question_of("订单状态机的每一次迁移都要写进流水表" * 4).length > 15


@pytest.mark.parametrize(
    ("prompt", "acts"),
    [
        ("commit it", ["commit"]),
        ("please merge and push this now", ["merg", "push"]),
        ("帮我提交一下代码", ["提交"]),
        ("mach den Commit", ["commit"]),
    ],
)
def test_a_prompt_that_only_says_what_to_do_is_about_that(prompt: str, acts: list[str]) -> None:
    asked = question_of(prompt)
    assert asked.is_act
    assert sorted(asked.terms()) == sorted(acts)


@pytest.mark.parametrize(
    "prompt", ["commit the parseManifest fix", "把吊机的超时提交一下", "make it nicer", "看一下文件"]
)
def test_a_prompt_that_is_about_something_or_names_no_act_is_none(prompt: str) -> None:
    assert not question_of(prompt).is_act
