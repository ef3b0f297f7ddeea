"""The note of a session, made of its turns without a model. Pure.

Everything in it was said. A role is claimed only where it is sure; all else is what the user asked and what came of it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from memtool.capture.checks import last_ends
from memtool.capture.decisions import decided_in, is_quoted, own_words
from memtool.capture.mended import base_name, fixes_in
from memtool.capture.outcomes import (
    best_of,
    contradicts,
    is_question,
    names_something,
    orders,
    outcomes_in,
    result_of,
    taken_back,
    telling_words,
)  # fmt: skip
from memtool.capture.turns import Turn
from memtool.capture.view import informing, is_promise
from memtool.text.languages import gives_order, labels, starts_with
from memtool.text.lines import shortened, width
from memtool.text.statements import Statement, plain, sentences, statements
from memtool.vault.authors import AGENT, COMMAND, DECISION, FIX, OPEN, RULE, USER
from memtool.vault.sessions import Draft, Line

_WIDEST_TITLE, _WIDEST_NAMED, _LEAST_TITLE = 70, 80, 20  # columns; of a commit's subject or a plan's heading
_EARLY, _NAMED, _WORKED, _ITEM = 0.6, 2.0, 1.5, 0.25  # weights of what may be a title
_LATER, _CUT, _TYPED, _BARE, _LEAST = 0.7, 0.7, 0.2, 0.7, 0.05
_FIRST, _CLOSING = 8, 4  # statements of a message among which a title is looked for; its closing question
_HANGING = re.compile(r"(?:When|If|While|Since|Once|After|Before|As|Because|Although|This|That|It|These|But|So|Now)\b")
_WORD = re.compile(r"(?<![\w./(`-])[^\W\d_]+(?![\w./(-])")
_OFTEN, _LEAST_CUT, _LEAST_WORDS = 4, 34, 3  # times that a word counts at most; of a clause, of a title
_LABELLED = re.compile(r"\W|[^:：]{1,24}[:：]\s|[\w/.-]+/[\w/.-]+ |.* = ")  # "Option 1: …", a path, a cell
_ROOM, _LEAST_ROOM = 1_900, 700  # columns of the lines of a note; of what came of it at least
_WIDEST_ASKED, _WIDEST_BEGINNING = 220, 90  # columns of what the session began with, and of any other prompt
_MOST_FIXES, _MOST_OPEN, _MOST_COMMANDS, _MOST_FILES = 3, 3, 3, 5
_WIDEST_OPEN, _WIDEST_COMMAND = 300, 100
_SIDE_QUESTION, _SHORT = 48, 24  # columns of a first prompt that the session is not about
_TELLS_FROM = 24  # bytes, eight Chinese characters; a shorter prompt ("yes", "commit") goes on with the one before
_UNTOLD_BRANCHES = frozenset({"main", "master", "develop", "trunk", "HEAD"})
_TALK = 2  # turns
_CLAUSE = re.compile(r"[;；，。]| [-–—] | \(|（|——|, ")
_SECTIONS = (DECISION, RULE, FIX, "", OPEN, COMMAND)


def write_by_rules(turns: Sequence[Turn], *, branch: str = "", language: str = "en") -> Draft:
    """Return the note of *turns*; files are absolute paths. *language* is that of the few words that nobody said."""
    decided = decided_in(turns)
    still_open = list(_open(turns, language))[:_MOST_OPEN]
    commands, fixes = list(_commands(turns)), fixes_in(turns)[-_MOST_FIXES:]
    title, asked = _title(turns, branch), _asked(turns)
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
    for each in best_of(outcomes_in(turns), room, turns=len(turns), known=known):
        yield Line(each.text, "", AGENT, each.turn, asked=beginnings[each.turn - 1])


def _beginnings(turns: Sequence[Turn]) -> Iterator[str]:
    """Give the beginning of each prompt; of one that tells nothing that of the one before."""
    last, said = "", ""
    for turn in turns:
        if _tells(turn) or not last:
            own = [text for text in sentences(own_words(turn)) if not is_quoted(text, said)]
            last = shortened(" ".join(own) or own_words(turn), _WIDEST_BEGINNING)
        said = turn.said
        yield last


def _asked(turns: Sequence[Turn]) -> str:
    """Return the first prompt that tells something: not a short question, if anything else was typed."""
    typed = list(filter(None, map(own_words, turns)))
    told = [text for text in typed if width(text) > _SHORT]
    orders = [text for text in told if not is_question(text)]
    first = orders[0] if told and orders and is_question(told[0]) and width(told[0]) <= _SIDE_QUESTION else ""
    return shortened(first or (told or typed or [""])[0], _WIDEST_ASKED)


def _title(turns: Sequence[Turn], branch: str) -> str:
    """Return the text that names best what came of *turns*: it shares most with all that was typed, said and edited."""
    counts = Counter(word for turn in turns for word in telling_words(_all_of(turn)))
    counts.update(word for turn in turns for word in telling_words(own_words(turn)))
    candidates: dict[str, float] = {}
    for text, weight in _candidates(turns):
        candidates[text] = max(weight, candidates.get(text, 0.0))

    def share(text: str) -> float:
        told = telling_words(text)
        return (
            candidates[text]
            * (1 + sum(min(max(counts[word] - 1, 0), _OFTEN) for word in told))
            / math.sqrt(len(told) + 2)
        )

    typed = (head for turn in turns for text in sentences(own_words(turn)) if (head := _head(text, _WIDEST_TITLE)))
    return max(candidates, key=share, default="") or next(typed, "" if branch in _UNTOLD_BRANCHES else branch)


def _all_of(turn: Turn) -> str:
    return " ".join([own_words(turn), *result_of(turn), *map(base_name, turn.files)])


def _candidates(turns: Sequence[Turn]) -> Iterator[tuple[str, float]]:
    """Give the texts that may name what came of *turns*, each with its weight."""
    gone = taken_back(turns)
    first = next((turn for turn in turns if width(own_words(turn)) > _SHORT), Turn())
    heads = (_head(text, _WIDEST_TITLE) for text in sentences(own_words(first))[:2])
    yield from ((head, _TYPED if is_question(head) else 2 * _TYPED) for head in heads if head)
    edited = [at for at, turn in enumerate(turns) if turn.edits]
    for at, turn in enumerate(turns):
        after = turns[at + 1] if at + 1 < len(turns) else Turn()
        late = _EARLY + (1 - _EARLY) * (at + 1) / len(turns)
        plans = [plan.text for plan in turn.plans if plan.fate == "approved"]
        named = [*turn.commits, *map(_heading, (*plans, _typed_plan(turn)))]
        yield from (
            (head, _NAMED * late)
            for text in named
            if (head := _head(plain(text)[0], _WIDEST_NAMED)) and not gives_order(text)
        )
        if at in gone or after.refused or contradicts(after.typed):
            continue
        for message in result_of(turn):
            for place, each in enumerate(statements(message)[:_FIRST]):
                weight = late * (_WORKED if at in edited or not edited else 1.0) * (_ITEM if each.is_listed else 1.0)
                if (head := _head(each.text, _WIDEST_TITLE)) and not orders(each):
                    weight *= (1.0 if _is_outcome(each) else _LEAST) * (1.0 if names_something(head) else _BARE)
                    weight *= 1.0 if head == each.text.rstrip(".。!！") else _CUT
                    yield head, weight * (1.0 if place < 2 else _LATER)


def _heading(text: str) -> str:
    """Return the first line of the document *text*, without a word for what it is ("Plan: …")."""
    return re.sub(r"^#*\s*(?:\w+[:：]\s*)?", "", text.strip().split("\n", 1)[0])


def _typed_plan(turn: Turn) -> str:
    return turn.typed if turn.typed.startswith("# ") and not turn.pasted else ""


def _is_outcome(each: Statement) -> bool:
    """Return whether *each* may be a title: a sentence that says something by itself."""
    text = each.text
    is_lead = is_question(text) or text.endswith((":", "：")) or _LABELLED.match(text) or _HANGING.match(text)
    return not (
        is_lead or orders(each) or any(starts_with(kind, text) for kind in ("announcement", "admission", "consent"))
    )


def _head(text: str, widest: int) -> str:
    """Return *text*, or its first clause, if that can be a title."""
    text = text.rstrip(" :：.。!！")
    if width(text) > widest:
        ends = [match.start() for match in _CLAUSE.finditer(text) if width(text[: match.start()]) <= widest]
        text = text[: ends[-1]] if ends and not _HANGING.match(text) else ""
        text = text if width(text) >= _LEAST_CUT else ""
    is_whole = text.count("(") == text.count(")") and text.count("“") == text.count("”") and text.count('"') % 2 == 0
    is_said = len(_WORD.findall(text)) >= _LEAST_WORDS or not text.isascii()
    return text if width(text) >= _LEAST_TITLE and is_said and is_whole and not re.search("[→·]", text) else ""


def _open(turns: Sequence[Turn], language: str) -> Iterator[Line]:
    names = labels("summary", language)
    last, number = (turns[-1] if turns else Turn()), len(turns)
    plan = last.plans[-1] if last.plans else None
    if plan and plan.fate == "turned down" and not last.edits:
        heading = plain(_heading(plan.text))[0]
        yield Line(names["no_plan"].format(shortened(heading, 120)), OPEN, AGENT, number)
    elif last.typed and _is_unanswered(last, turns):
        yield Line(names["no_answer"].format(shortened(own_words(last), _WIDEST_OPEN)), OPEN, USER, number)
    elif asked := _closing_question(last.said):
        yield Line(names["no_decision"].format(asked), OPEN, AGENT, number)


def _is_unanswered(turn: Turn, turns: Sequence[Turn]) -> bool:
    """Return whether nothing came of *turn*; where no message of any turn is known, only the prompts are left."""
    said = any(not is_promise(message) for message in informing(turn))
    return not (said or turn.files or turn.commits) and any(each.messages for each in turns)


def _closing_question(said: str) -> str:
    told = [each.text for each in statements(said)[-_CLOSING:]]
    return next((text for text in reversed(told) if is_question(text) and width(text) > _SHORT), "")


def _commands(turns: Sequence[Turn]) -> Iterator[Line]:
    """Give the last checks that passed, if they passed the last time."""
    ends = last_ends(turns)
    passed = [
        (command, end.turn) for command, end in ends.items() if not end.error and width(command) <= _WIDEST_COMMAND
    ]
    yield from (Line(command, "command", "tool", at + 1) for command, at in passed[-_MOST_COMMANDS:])
