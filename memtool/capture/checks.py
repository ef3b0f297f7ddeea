"""Checks, the commands that build or test: how one ended, and what was wrong, by what it printed. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from memtool.capture.turns import Turn
from memtool.text.lines import one_line, width

NOTHING_RAN, FAILED, UNSURE = "no tests were run", "failed", "its end tells nothing"

_NAME = re.compile(
    r"(?i)(?<![a-z])(?:tests?|build|builds|lint|check|pytest|cargo|tsc|make|mypy|ruff|jest|vitest|gradlew?|mvn|vet)(?![a-z])"
)
_RUNNERS = frozenset(
    """
    bazel bun bundle cargo cmake composer dart deno dotnet flutter go gradle gradlew hatch just make meson mise mix mvn
    mvnw ninja npm npx nox pdm php pixi pnpm poetry python python3 rake sbt swift task tox uv uvx xcodebuild yarn zig
    """.split()
)
_CHANGE_FOLDER = re.compile(r"\Acd [^&;|]+(?:&&|;)\s*")
_NOISE = re.compile(r"\s*(?:2>&1|\|\s*(?:head|tail|grep|tee|cat|less)\b.*|\|\|.*|;\s*echo.*)\s*\Z")
_AND = r"(\s*(?:&&|;)\s*)"
_HIDES_ITS_END = re.compile(r"(?<!\|)\|(?!\|)|;|\|\||&\s*\Z")  # the shell tells the end of the last part only
_NONE = re.compile(
    r"(?im)\bno tests? (?:files? )?(?:were )?(?:found|ran|run|executed|collected|to run|match)"
    r"|\bcollected 0 items|\b(?:ran|running) 0 tests|\b0 passed\b|\bno test files\b"
)
_SOME = re.compile(r"(?m)^ok\s|\b[1-9]\d* (?:tests? )?(?:passed|passing|ok)\b|\bTests?:? +[1-9]|^PASS\b|^--- PASS")
_FAILURE = re.compile(
    r"(?m)^(?:---\s)?FAIL(?:ED)?\b|\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?)\b|\bBUILD FAILED"
    r"|^error(?:\[\w+\])?:|^panic:|^Traceback |^make: \*\*\*|\btest result: FAILED|\bnpm ERR!"
    r"|\bexit(?:ed with)? (?:code|status) [1-9]|: error (?:TS)?\d+|^ERROR\b.*\bfailed"
)
_SHORTEST_ERROR = 12  # columns
_TELLING = re.compile(
    r"(?i)\b(?:\w*error|\w*exception|panic|fatal|cannot|can't|could not|couldn't|undefined|unexpected|expected"
    r"|not found|no such|denied|refused|timed? ?out|missing|invalid|mismatch|unknown|conflict|exceeded|failed to"
    r"|unable to)\b|\w\.\w+:\d+|^(?:--- )?FAIL(?:ED)?:? \S|错误|失败|无法|找不到"
)
_TRIFLE = re.compile(
    r"(?i)^(?:.*warning\b.*|exit (?:code|status) \d+|fail(?:ed|ure|ures)?\b.{0,40}|error|\[?…\]?|\^+|make: .*"
    r"|npm ERR! (?:code|errno|A complete).*|\d+ (?:issues?|errors?|failed|passing).{0,40}|=+.*=+|-+ ?.*-+"
    r"|.*\b\w+: \d+|FAIL\s+\S+\s+[\d.]+s|.*\b(?:INFO|DEBUG)\b.*|Traceback .*|\[\w[^\]]*\] ERROR task failed.*)$"
)


class CheckEnd(NamedTuple):
    """The end of a check: its error, empty if it passed, and the number of its turn."""

    error: str
    turn: int


def check_in(command: str) -> str:
    """Return *command* without what only leads in to it, cuts its output or tries out what it built.

    It is empty if the command neither builds nor tests.
    """
    text = _NOISE.sub("", _NOISE.sub("", _CHANGE_FOLDER.sub("", command)))
    if not _is_check(text):
        return ""
    parts = re.split(_AND, text)
    while len(parts) > 1 and not _is_check(parts[-1]):
        parts = parts[:-2]  # with the "&&" before it
    return "".join(parts)


def _is_check(text: str) -> bool:
    words = re.sub(r"^(?:[A-Z_]+=\S* +)+", "", text).split(maxsplit=1)
    program = words[0].rsplit("/", 1)[-1] if words else ""
    is_named = program != "test" and (_NAME.search(program) or (program in _RUNNERS and _NAME.search(text)))
    return bool(is_named) and not text.startswith("/")  # such a program is rather what was built


def fault_in(command: str, output: str) -> str:
    """Return what is wrong with the check *command* that is said to have passed; empty if it has.

    A pipe hides how its first part ended, and a runner that finds no test may call that a success.
    """
    if _HIDES_ITS_END.search(command) and _FAILURE.search(output):
        return FAILED
    return NOTHING_RAN if _NONE.search(output) and not _SOME.search(output) else ""


def is_sure_to_have_failed(command: str, output: str) -> bool:
    """Return whether the check *command*, which ended with an error, has failed: `make && ./shop bad` need not have.

    Where the last part is a program that was tried out, its error may be what was wanted.
    """
    last = re.split(_AND, _NOISE.sub("", command))[-1]
    return _is_check(last) or _FAILURE.search(output) is not None


def last_ends(turns: Sequence[Turn]) -> dict[str, CheckEnd]:
    """Return the checks whose last run passed or failed, in the order of these runs; one of unknown end is left out."""
    ends: dict[str, CheckEnd] = {}
    for at, turn in enumerate(turns):
        for run in turn.runs:
            if command := check_in(run.command):
                ends.pop(command, None)
                if run.error != UNSURE:
                    ends[command] = CheckEnd(run.error, at)
                if not run.error:  # and so has each part that was run before by itself
                    ends |= {part: CheckEnd("", at) for part in command.split(" && ") if part in ends}
    return ends


def error_lines(output: str) -> list[str]:
    """Return the lines of *output* that say what was wrong, each on one line and once."""
    lines = [one_line(line) for line in output.splitlines()]
    telling = (line for line in lines if width(line) >= _SHORTEST_ERROR and not _TRIFLE.match(line))
    return list(dict.fromkeys(line for line in telling if _TELLING.search(line)))
