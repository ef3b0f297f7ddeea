"""The check of commit messages."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scripts.commit_message import problems

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    "message",
    [
        "search: one request for all interfaces\n\nEach built its own filter.\n",
        "docs, tests: 中文的例子\n\n每种语言都有一个例子。\n",
        "Merge branch 'main'\n",
        "index: a shorter name\n\nA body.\n# Please enter the commit message\n",
    ],
)
def test_a_good_message_has_no_problem(message: str) -> None:
    assert problems(message) == []


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("search: no body\n", "a body says why"),
        ("no topic here\n\nA body.\n", "topic: what changes"),
        (f"search: {'long ' * 12}\n\nA body.\n", "60 at most"),
        ("search: no gap\nA body.\n", "an empty line"),
        ("", "topic: what changes"),
    ],
)
def test_a_fault_is_named(message: str, fault: str) -> None:
    assert any(fault in problem for problem in problems(message))


def test_git_refuses_a_commit_with_a_fault(tmp_path: Path) -> None:
    def git(*args: str) -> subprocess.CompletedProcess[str]:
        names = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", f"core.hooksPath={ROOT / '.githooks'}")
        return subprocess.run(["git", *names, *args], cwd=tmp_path, capture_output=True, text=True, check=False)

    git("init", "-q")
    assert git("commit", "--allow-empty", "-m", "oops").returncode == 1
    assert git("commit", "--allow-empty", "-m", "first: a commit", "-m", "It has a reason.").returncode == 0
