"""What the README shows is what memtool writes."""

from __future__ import annotations

import re
from pathlib import Path

from desk import Desk

ROOT = Path(__file__).parents[1]


def test_the_session_note_of_the_readme_is_that_of_the_sample_session(desk: Desk) -> None:
    (transcript,) = (ROOT / "sample_sessions").glob("*.jsonl")
    desk.put(transcript)
    assert desk.drain().captured == (transcript.stem,)
    body = desk.read(f"sessions/{transcript.stem}.md").partition("---\n\n")[2]
    assert f"```markdown\n{body}```" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_chinese_readme_is_level_with_the_english_one() -> None:
    english, chinese = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh-CN.md"))
    assert levels(english) == levels(chinese)
    assert commands(english) == commands(chinese)
    assert links(english) - {"README.zh-CN.md"} == links(chinese) - {"README.md"}


def levels(page: str) -> list[int]:
    return [len(marks) for marks in re.findall(r"^(#+) ", without_code(page), re.MULTILINE)]


def commands(page: str) -> list[str]:
    """The lines of code, without what is said of them."""
    code = "\n".join(re.findall(r"^```.*?^```", page, re.MULTILINE | re.DOTALL))
    return [re.sub(r"  +# .*", "", line).rstrip() for line in code.splitlines()]


def links(page: str) -> set[str]:
    return set(re.findall(r"\]\(([^)]+)\)", without_code(page)))


def without_code(page: str) -> str:
    return re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
