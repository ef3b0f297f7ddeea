from __future__ import annotations

import pytest

from memtool.redaction import CONTEXT_TAG, Redactor

PRIVATE = "[redacted: private]"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a <private>b</private> c", f"a {PRIVATE} c"),
        ("a <private>\nb\n\nc\n</private> d", f"a {PRIVATE} d"),
        ("<PRIVATE>b</Private>", PRIVATE),
        ('<private reason="mine" lang=zh>b</private >', PRIVATE),
        ("< private >b</ private > c", f"{PRIVATE} c"),
        ("我的<private>密码</private>在这里", f"我的{PRIVATE}在这里"),
        ("＜private＞b＜/private＞", PRIVATE),
        (r'{"text": "<private>b<\/private> c"}', f'{{"text": "{PRIVATE} c"}}'),
        ("%3Cprivate%3Eb%3C/private%3E", PRIVATE),
        (r"\u003cprivate\u003eb\u003c/private\u003e c", f"{PRIVATE} c"),
        ("<private>a</private><private>b</private>", PRIVATE * 2),
        ("<private>a<private>b</private>c</private>d", f"{PRIVATE}d"),
        ("`<private>b</private>`", f"`{PRIVATE}`"),
    ],
)
def test_a_private_block_goes_whole(redact: Redactor, text: str, cleaned: str) -> None:
    assert redact(text) == cleaned


@pytest.mark.parametrize(
    "text",
    ["a <private>b", "a <private>b <private>c</private> d", "a <private>\n\nb\n\n# c", "a <private> `</private>"],
)
def test_a_private_tag_that_nobody_closes_hides_the_rest(redact: Redactor, text: str) -> None:
    assert redact(f"{text} e") in {f"a {PRIVATE}", f"a {PRIVATE} e"}


@pytest.mark.parametrize(
    "text",
    [
        "write `<private>` before it",
        'if tag == "<private>": skip()',
        r'{"text": "skip \"<private>\" here"}',
        "标签是「<private>」，不要忘记",
        "the <private> tag hides what follows",
        "tags such as <private>, <b> and <i>",
        "用 <private> 标签包起来",
        "a stray </private> closes nothing",
        "private: true, List<privateKey>, <privateer>b</privateer>, <private/>",
    ],
)
def test_talk_about_the_tag_hides_nothing(redact: Redactor, text: str) -> None:
    assert redact(text) == text


def test_talk_about_the_tag_does_not_unhide_a_block(redact: Redactor) -> None:
    assert redact("the <private> tag: <private>b</private> c") == f"the <private> tag: {PRIVATE} c"
    assert redact("<private>, b</private> c") == f"{PRIVATE} c"


def test_memtools_own_context_goes_and_leaves_a_space(redact: Redactor) -> None:
    block = f'<{CONTEXT_TAG} source="x">\n- [decision] JWT\n</{CONTEXT_TAG}>'
    assert redact(f"before\n{block}\nafter") == "before\n \nafter"
    assert redact(f"before {block.upper()} after") == "before   after"
    assert redact(f"before <{CONTEXT_TAG}>cut off") == "before  "


def test_a_tag_inside_memtools_context_opens_nothing_behind_it(redact: Redactor) -> None:
    assert redact(f"<{CONTEXT_TAG}>use <private> for it</{CONTEXT_TAG}> b") == "  b"
    assert redact(f"<private>a <{CONTEXT_TAG}>b</{CONTEXT_TAG}> c</private> d") == f"{PRIVATE} d"


def test_what_removal_brings_together_is_no_tag(redact: Redactor) -> None:
    assert "hidden" not in redact(f"<pri<{CONTEXT_TAG}></{CONTEXT_TAG}>vate>hidden</private>").replace(
        "vate>hidden", ""
    )
