"""What mended a check that had failed: an error with the change that touches what it names. Pure.

A check that failed and then passed says little by itself: the folder may have been wrong, or the test. A fix needs an
error that names something, edits after it, and a statement of the agent that names the same. A fault of the environment
is paired with the command that mended it. Where one of these is missing nothing is claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from memtool.capture.checks import UNSURE, check_in, error_lines
from memtool.capture.old_turns import Turn
from memtool.capture.retractions import telling_words
from memtool.text.languages import gives_order, labels, mentioned
from memtool.text.lines import one_line, shortened

_WIDEST_COMMAND, _WIDEST_ERROR, _WIDEST_CHANGE = 60, 80, 140  # columns
_SHARED = 2  # telling words of an error that a statement has which gives a cause, or names a file of the error
_CHANGED = re.compile(
    r"(?:^|[:;,.] |: )[A-Z]?[a-z]+ed\b|[改修换删加移][^，。；]{0,12}[了为成好]"
)  # "Renamed …", 已修复了
_PATHS = re.compile(r"[\w.@+-]*[\w+-]")
_NAMES = re.compile(r"/?[A-Za-z_$][\w$]*(?:(?:[./-]|::)+[\w$]+)*")
_IS_NAME = re.compile(r"_|[./:]\w|[a-z][A-Z]|\d")  # in what is rather the name of something than a word
_IS_FILE = re.compile(r"\.[a-z]{1,5}$")
_QUOTED = re.compile(r"[\"'`‘“\[(]([\w.$/:@-]{3,60})[\"'`’”\])]")
_ELSEWHERE = re.compile(r"(?:^|\s)(?:-c\b|<<|/tmp/|/var/|\.\./)")  # a command of the moment, or outside of the project
_ENVIRONMENT = re.compile(
    r"(?i)No such file or directory|No module named|Cannot find module|command not found|Permission denied|EACCES"
    r"|No space left|ENOSPC"
)
_INSTALLS = re.compile(r"^(?!git\b).*\b(?:install|add|sync|download|restore|ci)\b")
_PREPARES = re.compile(r"^(?:sudo )?(?:mkdir|touch|cp|mv|ln|chmod|chown|rm|git lfs|docker system prune)\b")


_Place: TypeAlias = tuple[int, int]  # of a command: the number of its turn, and its own in that


class Fix(NamedTuple):
    """A *command* that failed with *error*, what was changed, and that it then passed."""

    command: str
    error: str
    change: str


def render_fix(fix: Fix, language: str) -> str:
    """Return *fix* as the line of a note."""
    return one_line(labels("summary", language)["fix"].format(fix.command.replace("`", "'"), fix.error, fix.change))


class _Failure(NamedTuple):
    """The first failure of a check: its place, and the lines that say what was wrong."""

    place: _Place
    lines: tuple[str, ...]


def fixes_in(turns: Sequence[Turn]) -> list[Fix]:
    """Return the fixes that held until the end of the session, the newest last; each command counts once."""
    found: dict[str, Fix] = {}
    failed: dict[str, _Failure] = {}
    runs = [((at, number), run) for at, turn in enumerate(turns) for number, run in enumerate(turn.runs)]
    for place, run in runs:
        command = check_in(run.command)
        if not command or run.error == UNSURE:
            continue
        if run.error:
            found.pop(command, None)
            lines = tuple(line for line in error_lines(run.error) if not gives_order(line))
            if lines and not _is_of_the_moment(command, _edited(turns, (0, -1), place)):
                failed.setdefault(command, _Failure(place, lines))
        elif failure := failed.pop(command, None):
            between = [other.command for at, other in runs if failure.place < at < place and not other.error]
            error, change = _environment(failure, between) or _change(turns, failure, place, command)
            if change:
                told = shortened(error, _WIDEST_ERROR).replace('"', "'")
                said = shortened(change, _WIDEST_CHANGE).replace(" → ", " -> ")
                found[command] = Fix(shortened(command, _WIDEST_COMMAND), told, said)
    return list(found.values())


def _edited(turns: Sequence[Turn], since: _Place, until: _Place) -> set[str]:
    """Return the names of the files that were edited after the command *since* and before the command *until*."""
    edits = ((file, (at, after)) for at, turn in enumerate(turns) for file, after in turn.edits)
    return {_base(file).casefold() for file, at in edits if since < at <= until}


def _is_of_the_moment(command: str, edited: set[str]) -> bool:
    """Return whether *command* runs what the session itself has written, or lies outside of the project."""
    return bool(_ELSEWHERE.search(command)) or any(part.casefold() in edited for part in _PATHS.findall(command))


def _environment(failure: _Failure, commands: Sequence[str]) -> tuple[str, str] | None:
    """Return the fault of the environment and the command that mended it, empty where none did; None if it is none."""
    error = next((line for line in failure.lines if _ENVIRONMENT.search(line)), "")
    if not error:
        return None
    named = _names(error)
    for command in reversed(commands):
        is_install = _INSTALLS.search(command) and re.search("(?i)module|command not found", error)
        if is_install or (_PREPARES.match(command) and _names(command) & named) or _frees(command, error):
            return error, f"`{one_line(command)}`"
    return "", ""


def _frees(command: str, error: str) -> bool:
    return re.search("(?i)no space|ENOSPC", error) is not None and _PREPARES.match(command) is not None


def _change(turns: Sequence[Turn], failure: _Failure, passed: _Place, command: str) -> tuple[str, str]:
    """Return the line of the error and the statement that says what mended it; empty ones if none names the same."""
    files = _edited(turns, failure.place, passed)
    told = (piece.text for turn in turns[failure.place[0] : passed[0] + 1] for piece in turn.told if files)
    own = _names(command)
    best, found = 0.0, ("", "")
    for text in filter(_tells, told):
        names, is_cause = _names(text), bool(mentioned("cause", text))
        for line in failure.lines:
            shared, words = (_names(line) & names) - own, len(_words(line) & _words(text))
            symbols = shared - _files(shared)  # a file may be changed for many reasons
            if (of_error := _files(_names(line))) and (of_text := _files(names)) and not of_error & of_text:
                continue  # it is about another file
            is_about = symbols or (words >= _SHARED and (shared or is_cause))
            value = len(shared) + 0.1 * words + bool(names & files) + 0.5 * is_cause
            if is_about and value > best:
                best, found = value, (line, text)
    return found


def _tells(text: str) -> bool:
    """Return whether *text* says what was changed or what the cause was, and neither asks nor proposes it."""
    if text.endswith(("?", "？")) or mentioned("proposal", text):
        return False
    return bool(mentioned("cause", text) or _CHANGED.search(text))


def _words(text: str) -> frozenset[str]:
    return telling_words(_NAMES.sub(lambda match: "" if _IS_NAME.search(match[0]) else match[0], text))


def _names(text: str) -> frozenset[str]:
    """Return the names of files, symbols and rules in *text*, without folders, of symbols the last part; case aside."""
    found: Iterable[str] = [*(name for name in _NAMES.findall(text) if _IS_NAME.search(name)), *_QUOTED.findall(text)]
    names = (_base(name).casefold() for name in found)
    names = (name if _IS_FILE.search(name) else re.split(r"[.:]+", name)[-1] for name in names)
    return frozenset(name for name in names if re.search(r"[^\W_]{2}", name))


def _files(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name for name in names if _IS_FILE.search(name))


def _base(file: str) -> str:
    return file.replace("\\", "/").rsplit("/", 1)[-1]
