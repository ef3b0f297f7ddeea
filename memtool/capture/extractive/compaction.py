"""The client's own summary of a compacted session, section by section."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memtool.capture.extractive.cue_words import TRADITIONAL

_HEADING = re.compile(
    r"\s{0,3}(?:#{1,4}\s+)?(?:\d{1,2}\.\s+)?(?:\*\*)?([^\W\d_][^:：*#]{2,60}?)(?:\*\*)?\s?(?:[:：](?:\*\*)?|$)"
)
_KINDS = {
    "request": ("primary request", "request and intent", "用户请求", "主要请求", "用户意图"),
    "fix": ("errors and fixes", "errors", "错误与修复", "错误和修复", "错误及修复"),
    "discovery": ("problem solving", "key decisions", "问题解决", "解决的问题"),
    "user": ("all user messages", "user preferences", "user feedback", "用户消息", "用户偏好"),
    "open": ("pending tasks", "pending task", "待办任务", "待处理任务", "待办事项"),
    "work": ("current work", "当前工作"),
    "next": ("optional next step", "next step", "next steps", "下一步", "后续步骤"),
    "other": (
        "key technical concepts",
        "files and code",
        "关键技术",
        "技术概念",
        "文件与代码",
        "文件和代码",
        "analysis",
        "summary",
    ),
}


LONGEST = 60_000  # characters of a summary that are read


class Section(NamedTuple):
    """The text below one heading; *kind* is a key of the table above."""

    kind: str
    text: str


def sections_of(summary: str) -> Iterator[Section]:
    """Give the sections that a client's *summary* is known to have, in order, without what it thought before that."""
    kind, lines = "", list[str]()
    for line in _summary_part(summary).splitlines():
        found, rest = _heading(line)
        if found:
            if kind:
                yield Section(kind, "\n".join(lines))
            kind, lines = found, [rest]
        else:
            lines.append(line)
    if kind:
        yield Section(kind, "\n".join(lines))


def _summary_part(text: str) -> str:
    start = text.rfind("</analysis>")
    return text[max(start, 0) :][:LONGEST].replace("<summary>", "\n").replace("</summary>", "\n")


def _heading(line: str) -> tuple[str, str]:
    """Return the kind of section that *line* opens, if any, and what stands behind the heading."""
    match = _HEADING.match(line)
    name = match[1].strip().lower().translate(TRADITIONAL) if match else ""
    kind = next((kind for kind, names in _KINDS.items() if name and name.startswith(names)), "")
    return kind, line[match.end() :] if match else ""
