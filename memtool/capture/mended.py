"""What mended a check that had failed: the error, what was changed, and what the agent said of that. Pure.

A check that failed and then passed says little by itself: the folder may have been wrong, or a scratch file. A fix
needs an edit in between, not of a file that the session itself wrote to try things, and a sentence that the agent said
in between and that names what the error or the edit names. Where one of these is missing nothing is claimed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from memtool.capture.checks import UNSURE, check_in, error_lines
from memtool.capture.outcomes import base_name, contradicts, gone_in, telling_words
from memtool.capture.turns import FileEdit, Turn
from memtool.text.languages import begins_with, gives_order, leads
from memtool.text.lines import cut, shortened, width
from memtool.text.statements import statements
from memtool.vault.memory import AGENT, FIX
from memtool.vault.sessions import Line

_WIDEST, _WIDEST_SAID = 80, 240  # columns of a command, an error or a line; of what was said
_LEAST = 0.5  # value of a sentence that says what was changed
_NAMES = re.compile(r"[A-Za-z_$][\w$]*(?:(?:[./-]|::)+[\w$]+)*")
_IS_NAME = re.compile(r"_|[./:]\w|[a-z][A-Z]|\d")  # in what is rather the name of something than a word
_COMMENT = re.compile(r"\s*(?://|#|/\*|\*|--|<!--|\"\"\")")
_Place: TypeAlias = tuple[int, int]  # of a command: the number of its turn, and its own in that


class _Failure(NamedTuple):
    """The failures of a check that has not passed since: the *first* one, the *last* one, and what was wrong then."""

    first: _Place
    last: _Place
    lines: tuple[str, ...]


def fixes_in(turns: Sequence[Turn]) -> list[Line]:
    """Return the fixes that held until the end of the session, the newest last; each command counts once."""
    found: dict[str, Line] = {}
    failed: dict[str, _Failure] = {}
    runs = [((at, number), run) for at, turn in enumerate(turns) for number, run in enumerate(turn.runs)]
    met = Counter(line for command, line in {(run.command, line) for _, run in runs for line in error_lines(run.error)})
    for place, run in runs:
        command = check_in(run.command)
        if not command or run.error == UNSURE:
            continue
        if run.error:
            found.pop(command, None)
            lines = tuple(line for line in error_lines(run.error) if met[line] == 1 and not gives_order(line))
            failed[command] = _Failure(failed[command].first if command in failed else place, place, lines)
        elif (failure := failed.pop(command, None)) and (fix := _fix(turns, failure, place, command)):
            found[command] = fix
    return list(found.values())


def _fix(turns: Sequence[Turn], failure: _Failure, passed: _Place, command: str) -> Line | None:
    """Return what mended the *command*, if that is sure."""
    edits = _edits(turns, failure.last, passed) or _edits(turns, failure.first, passed)
    made = {
        edit.file: not edit.removed for turn in reversed(turns) for edit in reversed(turn.edits)
    }  # by the first one
    is_scratch = any(base_name(edit.file) in command and made[edit.file] for edit in edits)
    is_refused = passed[0] + 1 < len(turns) and contradicts(turns[passed[0] + 1].typed)
    if not (edits and failure.lines) or is_scratch or is_refused:
        return None
    changed = " ".join(f"{base_name(edit.file)} {edit.line}" for edit in edits)
    about = f"{' '.join(failure.lines)} {changed}"
    said = _said(_messages(turns, failure.last, passed), about) or _said(_messages(turns, failure.first, passed), about)
    if not said:
        return None
    error = max(failure.lines, key=lambda line: (len(_names(line) & _names(f"{changed} {said}")), -width(line)))
    edit = next((edit for edit in edits if base_name(edit.file).casefold() in _names(error)), edits[-1])
    mark = "``" if "`" in edit.line else "`"
    is_shown = edit.line and not _COMMENT.match(edit.line)
    line = f": {mark}{shortened(edit.line, _WIDEST)}{mark}" if is_shown else ""
    told = shortened(error, _WIDEST).replace(" → ", " -> ")
    text = f"`{cut(command, _WIDEST)}`: “{told}” → {said} → {base_name(edit.file)}{line} ✓ passed"
    return Line(text, FIX, AGENT, passed[0] + 1)


def _edits(turns: Sequence[Turn], since: _Place, until: _Place) -> list[FileEdit]:
    edits = (((at, edit.after), edit) for at, turn in enumerate(turns) for edit in turn.edits if not edit.stopped)
    return [edit for place, edit in edits if since < place <= until]


def _messages(turns: Sequence[Turn], since: _Place, until: _Place) -> Iterator[str]:
    """Give what the agent said between the commands *since* and *until*."""
    gone = gone_in(turns)
    for at in (at for at in range(since[0], until[0] + 1) if at not in gone):
        start = turns[at].runs[since[1]].after if at == since[0] else 0
        stop = turns[at].runs[until[1]].after if at == until[0] else None
        yield from turns[at].messages[start:stop]


def _said(messages: Iterable[str], about: str) -> str:
    """Return the sentences of *messages* that say what was wrong or changed; none if nothing names it.

    They are those of the message that names most of it, of equal ones the last, and of the messages after that one.
    """
    told = [[each.text.rstrip(":：") for each in statements(message)] for message in messages]
    values = [{text: value for text in each if (value := _value(text, about)) >= _LEAST} for each in told]
    best = max(range(len(told)), key=lambda at: (max(values[at].values(), default=0.0), at), default=0)
    kept: list[tuple[int, str]] = []
    for at in range(best, len(told)):
        for text in sorted(values[at], key=lambda text: -values[at][text]):
            if width(" ".join(each for _, each in kept)) + width(text) < _WIDEST_SAID:
                kept.append((at, text))
    if kept and leads("deictic", kept[0][1]):
        return ""
    ordered = sorted(kept, key=lambda each: (each[0], told[each[0]].index(each[1])))
    return " ".join(text for _, text in ordered).replace(" → ", " -> ")


def _value(text: str, about: str) -> float:
    if text.endswith(("?", "？")) or begins_with("announcement", text) or not re.match(r"\w", text):
        return 0.0
    return len(_names(text) & _names(about)) + 0.5 * len(telling_words(text) & telling_words(about))


def _names(text: str) -> frozenset[str]:
    """Return the names of files, symbols and rules in *text*, without folders, of symbols the last part; case aside."""
    found = (base_name(name).casefold() for name in _NAMES.findall(text) if _IS_NAME.search(name))
    return frozenset(name if re.search(r"\.[a-z]{1,5}$", name) else re.split(r"[.:]+", name)[-1] for name in found)
