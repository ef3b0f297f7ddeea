"""No text breaks a summary, and none is read without bounds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from memtool.capture.conversation import Conversation, Step, StepKind
from memtool.capture.extractive.sentences import width
from memtool.capture.extractive.summary import summarise
from memtool.capture.summary import Summary
from memtool.vault.prose import one_line

KINDS: tuple[StepKind, ...] = ("prompt", "answer", "tool", "subagent", "compaction")
anything = st.text(st.characters(exclude_categories=()), max_size=300)
pieces = st.lists(
    st.sampled_from(
        """
        fixed decided TODO root cause turns out **bold** `code` ``` ~~~ - * 1. [ ] [x] # ## | a| [x](y) <!-- --> <b>
        <system-reminder> 修复了 决定用 待办： 因为 。 ！ … v2.1.210 auth.ts e.g. Error: Traceback ✅ 👩‍💻 --- === >
        /compact @src/a.ts 1. Pending Tasks: Errors and fixes: </analysis> \u202e \ud800 \x00
        """.split()
    ),
    max_size=60,
).map(" ".join)
texts = st.one_of(anything, pieces, pieces.map(lambda text: text.replace(" ", "\n")))
steps = st.builds(
    Step,
    kind=st.sampled_from(KINDS),
    text=texts,
    tool=st.sampled_from(("", "Bash", "Edit", "mcp__x")),
    file=st.one_of(st.just(""), texts),
    error=st.one_of(st.just(""), texts),
)
conversations = st.builds(Conversation, title=texts, steps=st.lists(steps, max_size=12).map(tuple))

HOSTILE = {
    "a megabyte without a space": "x" * 1_000_000,
    "a hundred thousand bullets": "- fixed the thing in x.py\n" * 100_000,
    "fences never closed": "```\n" * 100_001,
    "brackets": "[" * 500_000,
    "stars": "*a " * 200_000,
    "code marks": "`" * 500_001,
    "tags never closed": "<system-reminder>" * 60_000,
    "comments never closed": "<!--" * 200_000,
    "one Chinese character": "修" * 500_000,
    "full stops": "。." * 300_000,
    "greetings": "谢谢你好" * 100_000,
    "politeness": "please can you " * 60_000,
    "cue words": "fixed decided todo turns out root cause " * 20_000,
    "hashtags": " #a" * 300_000,
    "errors": ("Error" * 20 + "\n") * 10_000,
    "paths": "/a" * 400_000,
    "lines of nothing": "\r\n" * 400_000,
}


def lines_of(summary: Summary) -> list[str]:
    texts = (text for point in summary.key_points for text in (point.text, *point.tags))
    return [summary.topic, *texts, *summary.decisions, *summary.done, *summary.open]


@given(conversations, st.sampled_from(("en", "zh", "")))
@settings(max_examples=80, deadline=None)
def test_every_session_has_a_summary_of_short_clean_lines(conversation: Conversation, language: str) -> None:
    summary = summarise(conversation, language=language)

    for text in lines_of(summary):
        assert text == one_line(text)
        assert width(text) <= 200
    assert all(lines_of(summary)[1:])


@given(conversations)
@settings(max_examples=40, deadline=None)
def test_every_word_of_a_summary_was_said(conversation: Conversation) -> None:
    told = [part for step in conversation.steps for part in (step.text, step.error, step.file)]
    known = re.sub(r"\W+", "", " ".join([conversation.title, *told]).casefold())
    ours = {"fixed", "in", "not", "solved"}

    summary = summarise(conversation)
    untagged = tuple(point._replace(tags=()) for point in summary.key_points)
    for text in lines_of(summary._replace(key_points=untagged)):
        words = re.findall(r"[^\W_]+", text.casefold())
        assert all(word in ours or re.sub(r"\W+", "", word) in known for word in words)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("kind", KINDS)
def test_hostile_texts_are_read_in_bounded_time(kind: StepKind, text: str) -> None:
    first = Step("prompt", "Fix the parser in x.py")
    tool = "Bash" if kind == "tool" else ""
    twice = (Step(kind, text, tool=tool, error=text if tool else ""), Step(kind, text, tool=tool))

    summary = summarise(Conversation(title=text, steps=(first, *twice)))

    assert sum(len(line.encode()) for line in lines_of(summary)) <= 2_000


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_thousands_of_small_hostile_steps_do_no_harm(text: str) -> None:
    pieces = [text[at : at + 200] for at in range(0, min(len(text), 80_000), 200)]
    steps = [Step(kind, piece) for piece in pieces for kind in ("prompt", "answer")]

    assert sum(len(line.encode()) for line in lines_of(summarise(Conversation(steps=tuple(steps))))) <= 2_000
