"""Fixes that held: a command failed, files were changed, and the same command passed. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtool.capture.checks import check_in
from memtool.capture.turns import Turn
from memtool.text.languages import mentioned
from memtool.text.lines import one_line, shortened, width
from memtool.text.similarity import words
from memtool.vault.fix_lines import Fix

_WIDEST_COMMAND, _WIDEST_ERROR, _WIDEST_CHANGE = 60, 80, 70  # columns
_SHORT_MESSAGE = 2  # statements of one that is about one thing
_TELLING = re.compile(
    r"(?i)\b(?:\w*error|\w*exception|panic|fatal|cannot|can't|could not|couldn't|undefined|unexpected|expected"
    r"|not found|no such|denied|refused|timed? ?out|missing|invalid|mismatch|unknown|conflict|exceeded|failed to"
    r"|unable to)\b|[:：]\s"
)
_TRIFLE = re.compile(
    r"(?i)^(?:exit (?:code|status) \d+|fail(?:ed|ure|ures)?\b.{0,40}|error|\[?…\]?|\^+|make: .*"
    r"|npm ERR! (?:code|errno|A complete).*|\d+ (?:issues?|errors?|failed|passing).{0,40}|=+.*=+|-+ ?.*-+"
    r"|.*\b\w+: \d+|Traceback .*|\[\w[^\]]*\] ERROR task failed.*)$"
)


def fixes_in(turns: Sequence[Turn]) -> list[Fix]:
    """Return the fixes that held until the end of the session, the newest last; each command counts once."""
    found: dict[str, Fix] = {}
    failed: dict[str, tuple[int, str]] = {}
    for at, turn in enumerate(turns):
        for run in turn.runs:
            command = _known(run.command)
            if not command:
                continue
            if run.error:
                found.pop(command, None)
                if error := telling_error(run.error):
                    failed.setdefault(command, (at, error))
                continue
            since, error = failed.pop(command, (at, ""))
            if any("/" in word and word in error for word in command.split()):
                continue  # the program itself was written
            if error and (change := _change(turns[since : at + 1], error)):
                found[command] = Fix(shortened(command, _WIDEST_COMMAND), error, change)
    return list(found.values())


def telling_error(output: str) -> str:
    """Return the line of *output* that says what was wrong, on one line; empty if none does."""
    lines = [one_line(line) for line in output.splitlines()]
    telling = [line for line in lines if width(line) >= 12 and not _TRIFLE.match(line)]
    best = next((line for line in telling if _TELLING.search(line)), "")
    return shortened(best, _WIDEST_ERROR).replace('"', "'")


def _known(command: str) -> str:
    """Return what a command is known by: a check without what leads in to it, else its first line."""
    return check_in(command) or one_line(command.split("\n", 1)[0])


def _change(turns: Sequence[Turn], error: str) -> str:
    """Return the cause of *error* that *turns* name, else how they ended, and the file; empty if none was edited.

    The end of a long message may be about anything: it must say something of the error or of the files.
    """
    files = [file.rsplit("/", 1)[-1] for turn in turns for file in turn.files]
    if not files:
        return ""
    causes = [piece.text for turn in turns for piece in turn.told if mentioned("cause", piece.text)]
    last = next((turn for turn in reversed(turns) if turn.ended), Turn())
    about = words(" ".join([error, *files]))
    ended = last.ended if len(last.told) <= _SHORT_MESSAGE or words(last.ended) & about else ""
    said = shortened(max(causes, key=lambda cause: len(words(cause) & about), default=ended), _WIDEST_CHANGE)
    told = f"{said} ({files[-1]})" if said and files[-1] not in said else said or files[-1]
    return told.replace(" → ", " -> ")
