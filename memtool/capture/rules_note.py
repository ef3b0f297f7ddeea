"""The note of a session, made of its turns without a model. Pure.

Everything in it was said. A role is claimed only where it is sure; all else is what the user asked and what came of it.
What a turn that changed something says is under Done, what any other one says under Findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memtool.capture.checks import last_ends
from memtool.capture.decisions import decided_in, is_quoted, own_words
from memtool.capture.mended import fixes_in
from memtool.capture.outcomes import (
    CLOSING,
    SCRATCH,
    TurnOutcome,
    best_of,
    is_question,
    outcomes_in,
)
from memtool.capture.titles import heading, lines_edited, tells, title_of, to_clause
from memtool.capture.turns import Turn
from memtool.capture.view import informing, is_promise
from memtool.text.languages import begins_with, labels
from memtool.text.lines import shortened, width
from memtool.text.statements import sentences, statements
from memtool.vault.memory import AGENT, COMMAND, DECISION, FINDING, FIX, OPEN, RULE, USER
from memtool.vault.sessions import Draft, Line

_ROOM, _LEAST_ROOM = 2_300, 900  # columns of all lines of a note; at least so many for its outcomes
_WIDEST_ASKED, _WIDEST_BEGINNING = 220, 90  # columns of the first and of the last prompt, of any other one
_WIDEST_COMMAND = 100  # columns
_MOST, _MOST_FILES = 3, 5  # fixes, open ends, commands; files
_SIDE_QUESTION = 48  # columns of a first question that the session is not about
_LEAST_QUESTION = 16  # columns of a question that waits for an answer ("Anything else?" does not)
_TALK = 2  # turns
_BEGINS = re.compile(r"(?i)now\b|let me (?!know)|i'll\b|i will\b|正在|现在|让我|我来")
_SECTIONS = (DECISION, RULE, FIX, FINDING, "", OPEN, COMMAND)


def write_by_rules(turns: Sequence[Turn], *, branch: str = "", language: str = "en") -> Draft:
    """Return the note of *turns*; files are absolute paths. *language* is that of the few words that nobody said."""
    decided = decided_in(turns)
    still_open = list(_open(turns, language))[:_MOST]
    commands, fixes = list(_commands(turns)), fixes_in(turns)[-_MOST:]
    title, asked, found = title_of(turns, branch, language), _asked(turns), outcomes_in(turns)
    sure = [*decided, *fixes, *still_open, *commands]
    room = max(_LEAST_ROOM, _ROOM - sum(width(line.text) + 6 for line in sure) - width(asked))
    done = _done(turns, found, room, [title, *(line.text for line in sure)])
    lines = sorted([*sure, *done], key=lambda line: _SECTIONS.index(line.role))
    files = list(dict.fromkeys(file for turn in turns for file in turn.files))
    edits = [edit for turn in turns for edit in turn.edits if not edit.stopped]
    sizes = {file: sum(edit.added + edit.removed for edit in edits if edit.file == file) for file in files}
    order = {file: (not file.startswith(SCRATCH), sizes[file], at) for at, file in enumerate(files)}
    kept = sorted(sorted(files, key=lambda file: order[file])[-_MOST_FILES:], key=files.index)
    return Draft(title, asked, "", tuple(lines), tuple(kept), len(files) - len(kept))


def leaves_note(turns: Sequence[Turn]) -> bool:
    """Return whether a session is worth a note: something was done, decided or left open, or it was a talk.

    One or two questions that were answered without a look at the project are not.
    """
    if len(turns) > _TALK or any(
        turn.edits or turn.runs or turn.looked or turn.dialogs or turn.plans for turn in turns
    ):
        return True
    return any(tells(turn) and (_is_unanswered(turn, turns) or not is_question(own_words(turn))) for turn in turns)


def _done(
    turns: Sequence[Turn], found: Sequence[Sequence[TurnOutcome]], room: int, known: Sequence[str]
) -> Iterator[Line]:
    beginnings = list(_beginnings(turns))
    sizes = [1000 * len(turn.commits) + lines_edited([turn]) for turn in turns]
    for at in [at for at, turn in enumerate(turns) if tells(turn)][:1]:
        sizes[at] = max(sizes[at], 1)  # what the session is about comes before all other talk
    for each in best_of(found, room, sizes, beginnings, known):
        yield Line(each.text, each.role, AGENT, each.turn, asked=beginnings[each.turn - 1])


def _beginnings(turns: Sequence[Turn]) -> Iterator[str]:
    """Give the beginning of each prompt; of one that tells nothing that of the one before."""
    last, said = "", ""
    for turn in turns:
        if tells(turn) or not last:
            own = [text for text in sentences(own_words(turn)) if not is_quoted(text, said)]
            last = to_clause(" ".join(own) or own_words(turn), _WIDEST_BEGINNING)
        said = turn.said
        yield last


def _asked(turns: Sequence[Turn]) -> str:
    """Return the first prompt that tells something: not a short question, if anything else was typed."""
    told = list(map(own_words, filter(tells, turns))) or [own_words(turn) for turn in turns]
    orders = [text for text in told if not is_question(text)]
    is_aside = bool(orders) and is_question(told[0]) and width(told[0]) <= _SIDE_QUESTION
    return shortened((orders if is_aside else told or [""])[0], _WIDEST_ASKED)


def _open(turns: Sequence[Turn], language: str) -> Iterator[Line]:
    names, last, number = labels("summary", language), (turns[-1] if turns else Turn()), len(turns)
    plan = last.plans[-1] if last.plans else None
    begun = last.messages or last.runs or last.looked
    told = [each.text for each in statements(last.said)]
    ends = told[-CLOSING:]
    asked = [text for text in told if is_question(text) and (text in ends or begins_with("announcement", text))]
    asked = [text for text in asked if width(text) >= _LEAST_QUESTION]
    if plan and plan.fate == "turned down" and not last.edits:
        yield Line(names["no_plan"].format(shortened(heading(plan.text), _WIDEST_COMMAND)), OPEN, AGENT, number)
    elif last.typed and _is_unanswered(last, turns) and (begun or is_question(own_words(last))):
        yield Line(names["no_answer"].format(shortened(own_words(last), _WIDEST_ASKED)), OPEN, USER, number)
    elif asked:
        yield Line(names["no_decision"].format(asked[-1]), OPEN, AGENT, number)
    elif ends and _BEGINS.match(ends[-1]) and is_promise(ends[-1]):
        yield Line(names["no_end"].format(ends[-1].rstrip(":：")), OPEN, AGENT, number)
    for command, end in list(last_ends(turns).items())[-1:]:
        if end.error and width(command) <= _WIDEST_COMMAND:
            yield Line(names["no_success"].format(command), OPEN, AGENT, end.turn + 1)


def _is_unanswered(turn: Turn, turns: Sequence[Turn]) -> bool:
    """Return whether nothing came of *turn*; where no message of any turn is known, only the prompts are left."""
    said = any(not is_promise(message) for message in informing(turn))
    return not (said or turn.files or turn.commits) and any(each.messages for each in turns)


def _commands(turns: Sequence[Turn]) -> Iterator[Line]:
    """Give the last checks that passed, if they passed the last time."""
    passed = [Line(command, COMMAND, AGENT, end.turn + 1) for command, end in last_ends(turns).items() if not end.error]
    yield from [line for line in passed if width(line.text) <= _WIDEST_COMMAND][-_MOST:]
