"""The note of a session, made of its turns without a model. Pure.

Everything in it was said. A role is claimed only where it is sure; all else is what the user asked and what came of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memtool.capture.checks import last_ends
from memtool.capture.decisions import decided_in, is_quoted, own_words
from memtool.capture.mended import fixes_in
from memtool.capture.outcomes import best_of, is_question, outcomes_in
from memtool.capture.titles import heading, title_of
from memtool.capture.turns import Turn
from memtool.capture.view import informing, is_promise
from memtool.text.languages import labels
from memtool.text.lines import shortened, width
from memtool.text.statements import sentences, statements
from memtool.vault.authors import AGENT, COMMAND, DECISION, FIX, OPEN, RULE, USER
from memtool.vault.sessions import Draft, Line

_CLOSING, _LEAST_CLOSING = 6, 16  # sentences at the end, among them the closing question; its columns
_ROOM, _LEAST_ROOM = 1_900, 700  # columns of the lines of a note; of what came of it at least
_WIDEST_ASKED, _WIDEST_BEGINNING, _LEAST_BEGINNING = (
    220,
    90,
    10,
)  # columns of what the session began with, and of any other prompt, at least
_MOST_FIXES, _MOST_OPEN, _MOST_COMMANDS, _MOST_FILES = 3, 3, 3, 5
_WIDEST_OPEN, _WIDEST_COMMAND = 300, 100
_SIDE_QUESTION, _SHORT = 48, 24  # columns of a first prompt that the session is not about
_TELLS_FROM = 24  # bytes, eight Chinese characters; a shorter prompt ("yes", "commit") goes on with the one before
_TALK = 2  # turns
_CLAUSE_END = re.compile(r"(?<=[.!?])\s|[,;:] |[，。；：！？、]| [-–—] | \(")
_SECTIONS = (DECISION, RULE, FIX, "", OPEN, COMMAND)


def write_by_rules(turns: Sequence[Turn], *, branch: str = "", language: str = "en") -> Draft:
    """Return the note of *turns*; files are absolute paths. *language* is that of the few words that nobody said."""
    decided = decided_in(turns)
    still_open = list(_open(turns, language))[:_MOST_OPEN]
    commands, fixes = list(_commands(turns)), fixes_in(turns)[-_MOST_FIXES:]
    title, asked = title_of(turns, branch), _asked(turns)
    sure = [*decided, *fixes, *still_open, *commands]
    room = max(_LEAST_ROOM, _ROOM - sum(width(line.text) + 6 for line in sure) - width(asked))
    done = _done(turns, room, [title, asked, *(line.text for line in sure)])
    lines = sorted([*sure, *done], key=lambda line: _SECTIONS.index(line.role))
    files = list(dict.fromkeys(file for turn in turns for file in turn.files))
    return Draft(title, asked, "", tuple(lines), tuple(files[-_MOST_FILES:]), max(0, len(files) - _MOST_FILES))


def leaves_note(turns: Sequence[Turn]) -> bool:
    """Return whether a session is worth a note: something was done, decided or left open, or it was a talk.

    One or two questions that were answered without a look at the project are not.
    """
    if len(turns) > _TALK or any(
        turn.edits or turn.runs or turn.looked or turn.dialogs or turn.plans for turn in turns
    ):
        return True
    return any(_tells(turn) and (_is_unanswered(turn, turns) or not is_question(own_words(turn))) for turn in turns)


def _tells(turn: Turn) -> bool:
    return len(own_words(turn).encode()) >= _TELLS_FROM


def _done(turns: Sequence[Turn], room: int, known: Sequence[str]) -> Iterator[Line]:
    beginnings = list(_beginnings(turns))
    room -= sum(width(text) for text in dict.fromkeys(beginnings)) // 2
    for each in best_of(outcomes_in(turns), room, known=known):
        yield Line(each.text, "", AGENT, each.turn, asked=beginnings[each.turn - 1])


def _beginnings(turns: Sequence[Turn]) -> Iterator[str]:
    """Give the beginning of each prompt; of one that tells nothing that of the one before."""
    last, said = "", ""
    for turn in turns:
        if _tells(turn) or not last:
            own = [text for text in sentences(own_words(turn)) if not is_quoted(text, said)]
            last = _to_clause(" ".join(own) or own_words(turn))
        said = turn.said
        yield last


def _to_clause(text: str) -> str:
    """Return the beginning of *text* to the end of a sentence or of a clause, so that no condition is cut in two."""
    if width(text) <= _WIDEST_BEGINNING:
        return text
    heads = [text[: match.start()] for match in _CLAUSE_END.finditer(text)]
    fit = [head for head in heads if _LEAST_BEGINNING <= width(head) < _WIDEST_BEGINNING]
    if not fit:
        return shortened(text, _WIDEST_BEGINNING)
    return fit[-1] if is_question(fit[-1]) else f"{fit[-1].rstrip('.。')}…"


def _asked(turns: Sequence[Turn]) -> str:
    """Return the first prompt that tells something: not a short question, if anything else was typed."""
    typed = list(filter(None, map(own_words, turns)))
    told = [text for text in typed if width(text) > _SHORT]
    orders = [text for text in told if not is_question(text)]
    first = orders[0] if told and orders and is_question(told[0]) and width(told[0]) <= _SIDE_QUESTION else ""
    return shortened(first or (told or typed or [""])[0], _WIDEST_ASKED)


def _open(turns: Sequence[Turn], language: str) -> Iterator[Line]:
    names = labels("summary", language)
    last, number = (turns[-1] if turns else Turn()), len(turns)
    plan = last.plans[-1] if last.plans else None
    begun = last.messages or last.runs or last.looked
    if plan and plan.fate == "turned down" and not last.edits:
        yield Line(names["no_plan"].format(shortened(heading(plan.text), 120)), OPEN, AGENT, number)
    elif last.typed and _is_unanswered(last, turns) and (begun or is_question(own_words(last))):
        yield Line(names["no_answer"].format(shortened(own_words(last), _WIDEST_OPEN)), OPEN, USER, number)
    elif asked := _closing_question(last.said):
        yield Line(names["no_decision"].format(asked), OPEN, AGENT, number)


def _is_unanswered(turn: Turn, turns: Sequence[Turn]) -> bool:
    """Return whether nothing came of *turn*; where no message of any turn is known, only the prompts are left."""
    said = any(not is_promise(message) for message in informing(turn))
    return not (said or turn.files or turn.commits) and any(each.messages for each in turns)


def _closing_question(said: str) -> str:
    told = [each.text for each in statements(said)[-_CLOSING:]]
    return next((text for text in reversed(told) if is_question(text) and width(text) >= _LEAST_CLOSING), "")


def _commands(turns: Sequence[Turn]) -> Iterator[Line]:
    """Give the last checks that passed, if they passed the last time."""
    passed = [Line(command, COMMAND, AGENT, end.turn + 1) for command, end in last_ends(turns).items() if not end.error]
    yield from [line for line in passed if width(line.text) <= _WIDEST_COMMAND][-_MOST_COMMANDS:]
