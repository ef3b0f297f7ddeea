"""What failed in a session, by its telling line, and whether and how it was solved."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath, PureWindowsPath
from typing import NamedTuple

from memtool.capture.conversation import EDITING_TOOLS, Step
from memtool.capture.extractive.cues import cues_of
from memtool.capture.extractive.passages import passages
from memtool.index.text import index_terms
from memtool.vault.prose import one_line

# Tools whose failures are the agent's own slips: a text that it did not find, a file that is not there.
_HANDS = EDITING_TOOLS.union(
    "Read Glob Grep LS NotebookRead TodoWrite ToolSearch WebFetch WebSearch Skill AskUserQuestion ExitPlanMode".split()
)
_SLIPS = re.compile(r"InputValidationError|<tool_use_error>|requires approval|command not found: (?:rg|fd|timeout)\b")
_TELLING = tuple(
    (worth, re.compile(pattern))
    for worth, pattern in (
        (5, r"^(?:E {2,8}|Uncaught )?[A-Za-z_][\w.]{0,80}(?:Error|Exception|Panic)(?: \[\w+\])?: \S"),
        (4, r"\berror(?:\[[A-Z]+\d+\]|\s[A-Z]{2,4}\d+): \S"),
        (4, r"^FAILED \S+ - \S"),
        (3, r"^(?:E {2,8}|--- FAIL: |FAIL |✕ |✗ |● )\S"),
        (3, r"^(?:fatal|panic|error|Error|ERROR|npm ERR!|Fatal error)(?:\[[^\]]{1,40}\])?[:\s]\s?\S"),
        (2, r"(?:Error|Exception)\b"),
        (1, r"(?i)not found|denied|refused|cannot |can't |could not|failed|timed? ?out|no such file|unauthorized"),
        (1, r"(?i)undefined|invalid|unexpected|错误|失败|异常|超时|拒绝|无法|エラー|오류"),
    )
)
_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_NOISE = re.compile(r"^(?:Exit code \d+|E {2,8}|npm ERR! |Uncaught |--- |> )\s*")
_STAMP = re.compile(r"^\[?\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\]?\s+|^\[?\d\d:\d\d:\d\d[.,\d]*\]?\s+")
_FOLDERS = re.compile(r"(?<![\w./:])(?:[A-Za-z]:)?(?:[/\\][\w.@~+-]{1,80}){2,40}")
_NOT_THE_COMMAND = re.compile(r"^(?:cd [^&;]{1,300}(?:&&|;)\s*|[A-Z_]{2,40}=\S{1,200}\s+|sudo |time )+")
# What is run to see whether all is well: it failing matters, whatever it says.
_CHECK = re.compile(
    r"(?i)(?<![a-z])(?:tests?|builds?|lint|checks?|compile|deploy|migrate|pytest|cargo|tsc|make|mypy|ruff)(?![a-z])"
    r"|测试|构建|编译|部署|检查|テスト|ビルド|테스트|빌드"
)

LONGEST_OUTPUT = 40_000  # characters of an error that are read
MOST_FAILURES = 100  # the last so many failing steps are looked at
LOOK_AHEAD = 100  # further runs in which the same command is sought


class Failure(NamedTuple):
    """One thing that went wrong.

    Args:
        error: its telling line.
        at: the number of the step in which it was met first.
        until: the number of the step in which it was gone; -1 if that is not known.
        files: what was edited in between, by name.
        open: whether the session ended with it.
    """

    error: str
    at: int
    until: int = -1
    files: tuple[str, ...] = ()
    open: bool = False


def failures_of(steps: Sequence[Step]) -> list[Failure]:
    """Return what failed and was solved by an edit, or was never solved, in order; each telling line once."""
    found: dict[str, Failure] = {}
    runs = [at for at, step in enumerate(steps) if step.kind == "tool" and step.tool not in _HANDS]
    failed = [place for place, at in enumerate(runs) if _has_failed(steps[at])]
    for place in failed[-MOST_FAILURES:]:
        at = runs[place]
        if not (line := _line_of(steps[at])):
            continue
        later = runs[place + 1 : place + 1 + LOOK_AHEAD]
        again = [run for run in later if _is_same_command(steps[at], steps[run])]
        failure = _failure(steps, line, at, again, runs)
        if failure.files or failure.open:
            first = found.pop(line, failure)
            found[line] = failure._replace(at=first.at, files=tuple(dict.fromkeys(first.files + failure.files)))
    return sorted([*found.values(), *_pasted(steps, found)], key=lambda failure: failure.at)


def telling_line(output: str) -> str:
    """Return the line of an error's *output* that tells most, without paths, colours and times; empty if none does."""
    return _telling_line(output[:LONGEST_OUTPUT])


@lru_cache(maxsize=64)  # one output is asked for again and again while its later runs are compared
def _telling_line(output: str) -> str:
    lines = output.splitlines()
    traceback = any(line.startswith("Traceback (most recent") for line in lines[:200])
    best, worth = "", 0
    for raw in [*lines[:200], *lines[200:][-100:]]:
        line = _STAMP.sub("", _ANSI.sub("", raw[:600]).strip())
        value = next((value for value, pattern in _TELLING if pattern.search(line)), 0)
        if value > worth or (value == worth and value and traceback):
            best, worth = line, value
    return one_line(_FOLDERS.sub(lambda path: _base(path[0]), _NOISE.sub("", best))).replace("`", "'").strip(" .")


def _has_failed(step: Step) -> bool:
    return bool(step.error) and not step.stopped and not _SLIPS.search(step.error[:2000])


def _failure(steps: Sequence[Step], line: str, at: int, again: Sequence[int], runs: Sequence[int]) -> Failure:
    """Return the failure of step *at*, given the later runs of the same command."""
    if any(not steps[later].error for later in again):  # else another error merely took its place
        gone = next(later for later in again if _line_of(steps[later]) != line)
        return Failure(line, at, gone, _edited(steps, at, gone))
    last = again[-1] if again else at
    stayed = _line_of(steps[last]) == line and bool(again or _is_serious(line) or _CHECK.search(steps[last].text))
    return Failure(line, at, open=stayed and not _ends_well(steps, last, runs))


def _line_of(step: Step) -> str:
    """Return the telling line of a step's error; of a failed check the last line, if none tells by itself."""
    line = telling_line(step.error)
    if line or not _CHECK.search(step.text):
        return line
    lines = [line for raw in step.error[-LONGEST_OUTPUT:].splitlines() if (line := _NOISE.sub("", raw.strip()))]
    return one_line(lines[-1][:600]).replace("`", "'").strip(" .") if lines else ""


def _is_same_command(step: Step, later: Step) -> bool:
    """Return whether two steps run the same thing; a second run may have more options or another description."""
    if step.tool != later.tool:
        return False
    one, other = _command_words(step.text[:300]), _command_words(later.text[:300])
    fewest = min(len(one), len(other))
    return len(one & other) >= 0.6 * fewest if fewest else one == other


@lru_cache(maxsize=1024)
def _command_words(command: str) -> frozenset[str]:
    return frozenset(index_terms(_NOT_THE_COMMAND.sub("", command)))


def _ends_well(steps: Sequence[Step], at: int, runs: Sequence[int]) -> bool:
    """Return whether, after step *at*, an edit was followed by a run that succeeded, or success was reported."""
    edits = [later for later in range(at, len(steps)) if _is_edit(steps[later])]
    if edits and any(later > edits[0] and not steps[later].error for later in runs):
        return True
    answers = [step for step in steps[at:] if step.kind == "answer" and step.text]
    return bool(answers) and _reports_success(answers[-1].text)


def _reports_success(text: str) -> bool:
    told = {cue for passage in passages(text) for cue in cues_of(passage.text)}
    return bool(told & {"success", "fix"}) and "stuck" not in told


def _is_serious(line: str) -> bool:
    return any(value > 2 and pattern.search(line) for value, pattern in _TELLING)


def _pasted(steps: Sequence[Step], known: dict[str, Failure]) -> list[Failure]:
    """Return the errors that the user pasted and that the same turn mended."""
    prompts = [at for at, step in enumerate(steps) if step.kind == "prompt"]
    found = []
    for at, end in pairwise([*prompts, len(steps)]):
        line = telling_line(steps[at].text)
        files = _edited(steps, at, end)
        if not files or not _is_serious(line) or line in known:
            continue
        answers = [step.text for step in steps[at:end] if step.kind == "answer" and step.text]
        returned = end < len(steps) and telling_line(steps[end].text) == line
        if answers and _reports_success(answers[-1]) and not returned:
            found.append(Failure(line, at, end - 1, files))
    return found


def _edited(steps: Sequence[Step], start: int, end: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_base(step.file) for step in steps[start:end] if _is_edit(step)))


def _is_edit(step: Step) -> bool:
    return step.tool in EDITING_TOOLS and bool(step.file) and not step.error and not step.stopped


def _base(path: str) -> str:
    return PureWindowsPath(path).name if "\\" in path else PurePosixPath(path).name
