from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from inspect import getsource

import pytest
from hypothesis import given, strategies as st

from memtool.doctor import index, vault, work
from memtool.errors import NoteChanged, NoteNotFound
from memtool.web.rendering import in_language as said

CHINESE = re.compile("[\u4e00-\u9fff]")


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("it is not a git repository", "它不是 git 仓库"),
        ("it cannot be examined: it is not a git repository", "无法检查：它不是 git 仓库"),
        ("2,000 notes in 1 chunk, up to date", "2,000 篇笔记，1 个片段，已是最新"),
        ("none in the newest 200 of 3000 notes", "3000 篇笔记中最新的 200 篇里没有发现"),
        ("s: its summary is extractive: there is no key for Groq", "s：摘要直接取自会话：没有 Groq 的密钥"),
        ("cannot read '支付.md': Permission denied", "无法读取“支付.md”：没有权限"),
        (f"{NoteNotFound('x')}. {NoteNotFound('x').hint}", "没有匹配“x”的笔记。可用 `memtool search 词语` 查找。"),
        ("fatal: bad object HEAD", "fatal: bad object HEAD"),
    ],
)  # fmt: skip
def test_sentences_are_told_in_chinese_and_the_words_of_others_as_they_are(sentence: str, told: str) -> None:
    assert said(sentence, "zh") == told
    assert said(sentence, "en") == sentence


def sentences(source: str) -> Iterator[str]:
    """Give what the checks of a module say, with `x` in the place of what differs."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Check":
            yield from (text(part) for part in node.args[2:4])
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("sentence", "fix"):
            yield text(node.value)


def text(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "\0" for part in node.values)  # type: ignore[misc]
    return str(node.value) if isinstance(node, ast.Constant) else ""


@pytest.mark.parametrize("module", [index, vault, work])
def test_each_finding_that_the_page_shows_has_its_chinese(module: object) -> None:
    found = [form for form in sentences(getsource(module)) if sum(map(str.isalpha, form)) > 11]  # type: ignore[arg-type]
    assert len(found) > 10
    missing = []
    for form in found:
        ways = [form.replace("\0", "x"), re.sub(r"(?<=\w)\0", "", form).replace("\0", "x")]
        ways.append(re.sub("\0\0?$", "", form).replace("\0", "3"))
        missing += [] if any(CHINESE.search(said(way, "zh")) for way in ways) else [form]
    assert missing == []


def test_refusals_of_a_change_have_their_chinese() -> None:
    for error in (NoteChanged("'areas/x.md' was changed by someone else"), NoteNotFound("x")):
        assert CHINESE.search(said(str(error), "zh"))
        assert CHINESE.search(said(error.hint, "zh"))


@given(st.text(max_size=200))
def test_any_text_is_told_somehow(sentence: str) -> None:
    assert said(sentence, "en") == sentence
    assert bool(said(sentence, "zh")) == bool(sentence)
