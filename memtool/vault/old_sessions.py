"""Session notes of earlier versions, read into the values of today (`sessions`). Nothing writes this form any more.

# the login fails in Safari → fixed by SameSite=None

- **Time**: 2026-02-10 14:30

1. **Key points**:
- [fix] `pytest` failed: "clock skew" → leeway of 30 s → passed
- "the login fails" → SameSite=None needs Secure · "keep the old cookie" · both are set
2. **Rules**: always run the linter
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from memtool.text.frontmatter import split_front_matter
from memtool.text.languages import all_labels
from memtool.vault.memory import (
    AGENT,
    ASKED,
    COMMAND,
    DECISION,
    FINDING,
    FIX,
    OPEN,
    REFUTED,
    RULE,
    TITLE,
    USER,
    Line,
    signed_by,
)  # fmt: skip
from memtool.vault.session_text import author_of_prompt, joined_lines, names_of_labels, one_of, quoted_lines

_ROLES = {"decisions": DECISION, "rules": RULE, "done": "", "commands": COMMAND, "open": OPEN}
_KINDS = {
    "decision": DECISION, "fix": FIX, "bugfix": FIX, "finding": FINDING, "discovery": FINDING, "refuted": REFUTED,
    "feature": "", "refactor": "", "investigated": "", "change": "",
}  # fmt: skip
_ARROW, _JOINT = " → ", " · "
_BRANCH = r"^[\w.]+[-/_][\w./-]*: "
_PARTS = (
    ("title", r"# ()(.*\S)"),
    ("header", r"- \*\*([^*]+)\*\*[:：] *(.*)"),
    ("section", r"\d+\. \*\*([^*]+)\*\*[:：] *(.*)"),
    ("bullet", r"\s+()- (.*)"),
)


def is_old(text: str) -> bool:
    """Return whether *text* is a session's note of an earlier version, or a part of one."""
    if "**" not in text and not text.startswith("   - "):
        return False
    if any(match[1].strip().casefold() in names_of_labels() for match in re.finditer(r"(?m)^## (.+)", text)):
        return False
    labels = (re.match(r"(?:\d+\. |- )\*\*([^*]+)\*\*[:：]", line) for line in text.split("\n") if "**" in line)
    known = {word for words in all_labels("session").values() for word in words}
    return text.startswith("   - ") or any(match and match[1] in known for match in labels)


def read_old_line(line: str) -> tuple[str, str, str]:
    """Return the part of a note that *line* is, the name of its label, and its text; a label may be unknown."""
    for part, pattern in _patterns():
        if match := pattern.fullmatch(line):
            name = next((name for name, words in all_labels("session").items() if match[1] in words), "")
            return part, name, match[2]
    return "", "", ""


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    titles = ("title", rf"# ({one_of('session')})[:：] *(\S+)")
    return tuple((part, re.compile(pattern)) for part, pattern in (titles, *_PARTS))


def old_parts(text: str) -> Iterator[tuple[str, Line]]:
    """Give the parts of a session's note of an earlier version as `sessions` names them, in the order of its lines."""
    section = "key_points" if text.startswith((" ", "\t")) else ""  # where most lines are
    is_titled = False
    lines = text.removeprefix("\ufeff").split("\n")
    start = split_front_matter("\n".join(line.rstrip("\r") for line in lines))[1] - 1
    for number, line in joined_lines(lines[start:], quoted_lines(lines)[start:], start + 1):
        part, name, value = read_old_line(line)
        if part == "section":
            section = name
        elif part != "bullet" and line.strip():
            section = ""
        if part == "title" and (name or not is_titled):
            is_titled = is_titled or not name
            yield from (("id", Line(value)),) if name else _title(value, number)
        elif part == "header":
            if name in ("project", "updated", "links"):
                yield name, Line(value)
            elif name == "directory" and (match := re.search(rf" \((?:{one_of('branch')}) (.+)\)$", value)):
                yield "branch", Line(match[1])
        elif part in ("section", "bullet") and value:
            yield from _statements(section, value, number)


def _title(topic: str, number: int) -> Iterator[tuple[str, Line]]:
    """Give the prompt that the session began with, and its result."""
    began, _, ended = topic.partition(_ARROW)
    if ended:
        asked = re.sub(_BRANCH, "", began)
        yield "asked", _asked(asked, number)
        yield "title", Line(ended.strip(), TITLE, AGENT, number=number, asked=asked)
    else:
        yield "title", Line(topic, TITLE, USER, number=number)  # what it was about


def _statements(section: str, value: str, number: int) -> Iterator[tuple[str, Line]]:
    if section == "files":
        yield "files", Line(value, number=number)
    elif section == "topic":
        yield from _title(value, number)
    elif section == "key_points":
        yield from (("line", line) for line in _key_point(value, number))
    elif section in _ROLES:
        role = _ROLES[section]
        said, author = signed_by(value)
        said = said.strip("`") if role == COMMAND else said
        yield "line", Line(said, role, author or (USER if role == RULE else AGENT), number=number)


def _key_point(value: str, number: int) -> Iterator[Line]:
    """Give the statements of a row, `"asked" → one · "typed" · another`, or the one that an item with a kind is."""
    if kind := re.match(rf"\[({'|'.join(_KINDS)})\]\s+", value):
        said, author = signed_by(value[kind.end() :])
        yield Line(said, _KINDS[kind[1]], author or AGENT, number=number)
        return
    match = re.fullmatch(rf'(?:"((?:(?!{_JOINT}).)+?)"(?:{_ARROW}|$))?(.*)', value.removeprefix(_ARROW))
    asked, rest = (match[1] or "", match[2]) if match else ("", value)
    if asked:
        yield _asked(asked, number)
    for piece in filter(None, map(str.strip, rest.split(_JOINT))):
        if len(piece) > 2 and piece[0] == piece[-1] == '"':
            yield Line(piece[1:-1], ASKED, USER, number=number, asked=asked)
        else:
            said, author = signed_by(piece)
            yield Line(said, "", author or AGENT, number=number, asked=asked)


def _asked(text: str, number: int) -> Line:
    return Line(text, ASKED, author_of_prompt(text), number=number)
