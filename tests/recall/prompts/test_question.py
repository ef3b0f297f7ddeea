from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.index.text import index_terms
from memtool.recall.prompts.question import Match, Weights, ask, shortened

GENERIC = [
    "continue", "ok", "继续", "run the tests", "修复这个 bug", "fix the bug", "please go on", "帮我看看这个问题",
    "谢谢", "commit and push",
    "계속해", "テストを実行してください", "解释一下这段代码", "yes, do it", "😀😀", "", " \n",
    "/compact", "...", "Why does this not work?", "写一个函数", "42", "重新运行一下测试",
]  # fmt: skip


@pytest.mark.parametrize("prompt", GENERIC)
def test_a_prompt_that_says_nothing_asks_for_nothing(prompt: str) -> None:
    assert ask(prompt).terms() == []


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("fix getUserById", "getuserbyid"), ("fix E0308 now", "e0308"), ("看一下 #4573", "#4573"),
        ("解密失败了", "解密"), ("open middleware/jwt.ts", "middleware/jwt.ts"), ("refresh tokens", "token"),
        ("인증 토큰", "인증"),
    ],
)  # fmt: skip
def test_what_a_prompt_is_about_is_asked_for(prompt: str, expected: str) -> None:
    assert expected in ask(prompt).terms()


def test_a_command_is_not_what_it_is_about() -> None:
    assert "zeppelin" not in ask("/zeppelin:fly tokens").terms()
    assert "token" in ask("/zeppelin:fly tokens").terms()
    assert "usr/lib/zeppelin" in ask("/usr/lib/zeppelin is gone").terms()


def test_a_paste_counts_by_its_beginning_and_what_is_asked_below_it_counts() -> None:
    log = "zeppelin " * 1_000 + "gondola " * 100_000
    prompt = f'Look:\n<pasted_content id="1">{log}</pasted_content>\nWhy is the airship late?'
    terms = ask(prompt).terms()
    assert "airship" in terms
    assert "zeppelin" in terms
    assert "gondola" not in terms
    assert len(shortened("解" * 1_000_000)) < 5_000


@given(st.text(max_size=300))
def test_any_text_can_be_asked(prompt: str) -> None:
    question = ask(prompt)
    weights = Weights(question, {}, 0)
    match = weights.match(frozenset(index_terms(prompt)))
    assert 0 <= match.share <= 1
    assert weights.match(frozenset()) == Match()


def weights_of(prompt: str, count: int = 1_000, **frequency: int) -> Weights:
    return Weights(ask(prompt), frequency, count)


def test_a_rare_word_weighs_more_than_one_that_is_everywhere() -> None:
    weights = weights_of("postgres zeppelin", postgr=400, zeppelin=2)
    assert weights.match({"zeppelin"}).share > 3 * weights.match({"postgr"}).share
    assert (weights.match({"zeppelin"}).words, weights.match({"postgr"}).words) == (1, 0.5)


def test_a_name_is_known_by_its_form_and_rare_by_its_number() -> None:
    assert weights_of("getUserById", getuserbyid=3).match({"getuserbyid"}).names == 1
    assert weights_of("getUserById", getuserbyid=300).match({"getuserbyid"}).names == 0
    assert weights_of("TypeScript", typescript=3).match({"typescript"}).names == 0


def test_chinese_words_count_by_the_characters_that_belong_together() -> None:
    weights = Weights(ask("解密失败"), {"解密": 3, "密失": 2, "失败": 30}, 1_000)
    whole = weights.match({"解密", "密失", "失败"})
    assert (whole.words, whole.share) == (2, 1.0)
    assert weights.match({"失败"}) == Match()  # says nothing by itself
    assert weights.match({"解密"}).words == 1


def test_a_common_word_counts_in_a_title() -> None:
    weights = weights_of("too many clients on postgres", postgr=20)
    assert weights.match({"client", "postgr"}, {"client"}).words == 1.5
    assert weights.match({"client", "postgr"}).words == 1


def test_an_english_note_is_not_asked_for_chinese_words() -> None:
    weights = Weights(ask("refresh token 被盗用的后果"), {"refresh": 5, "token": 9}, 1_000)
    held = {"refresh", "token"}
    assert weights.match(held, spaced=True).share > 1.5 * weights.match(held).share


def test_what_is_asked_below_a_long_paste_is_not_lost() -> None:
    log = "\n".join(f"module{number} failed in frame{number}" for number in range(2_000))
    assert "zeppelin" in ask(f"{log}\nWhere does the zeppelin dock?").terms()
    assert "飞艇" in ask(f"{'，'.join('第' + chr(0x4E00 + n) * 2 + '行' for n in range(2_000))}，飞艇停在哪里").terms()


@pytest.mark.parametrize("piece", ["<pasted_content ", "```", "a" * 50, "/", "解", "aB", "#1."])
def test_hostile_prompts_take_linear_time(piece: str) -> None:
    ask(piece * 100_000)  # would take minutes otherwise
