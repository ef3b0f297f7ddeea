from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given, strategies as st

from memtool.capture.options import Meant, meant, offered

THREE = """There are three ways:

1. **Cache the key**: keep it for 12 hours
2. **Change the resolver**: a change of `/etc/resolv.conf`
3. Answer first, work later

Which one would you like?"""
CALLED = """**Option 4: Look at the tree**

```
if clean: new
```

**Option 5: Hybrid**"""
LETTERS = """两种做法：

- Plan A: 列改成 VARCHAR(255)
- Plan B: 再发一个 silent push"""
CHINESE = """方案一：缓存公钥
方案二：换 DNS"""


@pytest.mark.parametrize(
    ("said", "labels"),
    [(THREE, "123"), (LETTERS, "AB"), (CHINESE, "12"), (CALLED, "45"), ("1. the only one", ""), ("", "")],
)
def test_options_are_found_by_their_labels(said: str, labels: str) -> None:
    assert "".join(label for label in offered(said) if len(label) == 1) == labels


def test_the_last_list_of_a_message_counts() -> None:
    assert offered(f"1. one\n2. two\n\n{THREE}")["1"].startswith("Cache the key")


@pytest.mark.parametrize(
    "asked",
    [
        "2",
        "2.",
        "option 2",
        "Option 2, but for a week",
        "yes, let's go with 2",
        "用方案2，缓存改成两小时",
        "选 2",
        "2吧",
        "1 is too dear. Who keeps it? Go with 2, by user id",
        "1 太贵。谁来管？先选 2，按 user_id 灰度",
    ],
)
def test_an_option_is_taken(asked: str) -> None:
    named = meant(asked, [offered(THREE)])
    assert named == {Meant("2", is_chosen=True): "Change the resolver: a change of /etc/resolv.conf"}


@pytest.mark.parametrize(
    "asked",
    [
        "why option 2?",
        "Option 2 won't work, the resolver is not ours",
        "is 2 faster?",
        "2 tests fail now",
        "方案2不行，DNS 不归我们管",
        "2.5 s is too long",
        "A simple fix is enough",
        "phase 2 comes later",
    ],
)
def test_what_is_only_spoken_of_is_not_taken(asked: str) -> None:
    assert not any(one.is_chosen for one in meant(asked, [offered(THREE)]))


def test_an_option_that_was_called_so_is_meant_from_some_messages_away() -> None:
    before = [offered(CALLED), offered(f"{THREE}\n4. four\n5. five")]
    assert meant("can you sum up the approach with option 5", before) == {Meant("5"): "Hybrid"}


def test_what_was_offered_before_the_last_message_is_not_taken() -> None:
    assert not any(one.is_chosen for one in meant("2", [offered(THREE), {}]))


def test_several_are_answered_at_once() -> None:
    assert [one.label for one in meant("1 - yeah, 2 - definitely, go for it.", [offered(THREE)])] == ["1", "2"]


@pytest.mark.slow
@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_read(asked: str, said: str) -> None:
    assert set(offered(said)) >= {one.label for one in meant(asked, [offered(said)])}


@pytest.mark.parametrize(
    "hostile", ["就用" * 2_000 + "x", "ok, " * 1_000 + "x", "option " * 500, "- " * 2_000, "1" * 4_000]
)
def test_hostile_prompts_and_messages_take_no_time(hostile: str) -> None:
    start = process_time()
    meant(hostile, [offered(THREE)])
    offered(f"{hostile}\n{hostile}")
    assert process_time() - start < 1.0
