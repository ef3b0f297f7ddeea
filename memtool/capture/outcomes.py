"""What came of each turn of a session: the statements of the agent's last message that are worth keeping. Pure.

They are valued by their place in the message and in the session, by names, numbers and length; short messages report,
long ones explain. An answer that was taken back or contradicted says nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from memtool.capture.turns import Turn
from memtool.capture.view import goes_on, is_promise, telling
from memtool.text.languages import begins_with, gives_order, leads, pattern_of, starts_with
from memtool.text.lines import width
from memtool.text.similarity import is_said, words
from memtool.text.statements import Statement, prose, statements
from memtool.text.tokens import is_stop_word

_CODE, _NAME = 2.0, 1.5
_SHORT, _LONG = (40, 0.3), (80, 1.3)  # columns, and the factor below or above
_PLACES = (3.0, 1.4, 1.2, 1.2, 1.2, 1.2)  # of the first statements
_MESSAGE = (600, 0.6)  # columns up to which a message has its full value, and how fast that falls beyond
_RISE, _LAST = 0.5, 2.0  # what the first turn says, rising to 1 with the last; that one counts double
_OVERTAKEN = 0.4  # of a turn that the user contradicts, or later work may have overtaken
_WIDEST_LIST = 160  # columns of a list that is one statement
_SHORTEST = 24  # columns of a statement that names nothing
_WIDEST = 240  # columns of a statement
_DENSITY = 0.45
_CROWD = 0.6  # how much less each further statement of a turn is worth
_MOST = 6  # statements of a turn
_SHORT_REPORT, _BEFORE = 220, 4  # columns of a last message that leaves it to one of the messages before to explain
_SHARED = 2  # telling words of a contradiction in a statement that it is about
_SAME = 0.7  # of the words of a statement that another one has
_NAMES = re.compile(r"\d|[a-z][A-Z]|\w_\w|\w\(\)|\w/\w|[A-Za-z]\.[a-z]|--\w|[A-Z]{2}")
_ASKING = ("?", "？")


class TurnOutcome(NamedTuple):
    """One statement of the agent in turn number *turn*, from 1, at a *place* among the others, with its *value*.

    The *lead* is the line above the list that it is an item of.
    """

    text: str
    turn: int
    place: int = 0
    value: float = 1.0
    lead: str = ""


def result_of(turn: Turn) -> str:
    """Return the message that says what came of *turn*: the last one that informs; else the client's own summary."""
    messages = telling(turn)
    if not messages:
        return "" if turn.typed else turn.summary
    at = next((at for at in reversed(range(len(messages))) if not is_promise(messages[at])), len(messages) - 1)
    last, explained = messages[at], max(messages[max(0, at - _BEFORE) : at], key=width, default="")
    is_short = width(last) <= _SHORT_REPORT and width(explained) > 2 * width(last)
    return f"{explained}\n\n{last}" if is_short else last


def names_something(text: str) -> bool:
    """Return whether *text* has a number or an identifier."""
    return _NAMES.search(text) is not None


def telling_words(text: str) -> frozenset[str]:
    """Return the words of *text* that say what it is about."""
    return frozenset(word for word in words(text) if not is_stop_word(word))


def is_question(text: str) -> bool:
    """Return whether *text* asks."""
    return text.endswith(_ASKING)


def admits(turn: Turn) -> bool:
    """Return whether the agent admits in *turn* that it was wrong."""
    return any(starts_with("admission", message) for message in (*turn.messages[:3], turn.said))


def contradicts(typed: str) -> bool:
    """Return whether the user contradicts with what was *typed*."""
    return begins_with("contradiction", typed) and not starts_with("consent", typed)


def taken_back(turns: Sequence[Turn]) -> frozenset[int]:
    """Return the places of the turns that the next one takes back, with those that they only go on with."""
    found: set[int] = set()
    for at in reversed(range(len(turns) - 1)):
        if admits(turns[at + 1]) or (at + 1 in found and goes_on(turns[at + 1])):
            found.add(at)
    return frozenset(found)


def is_doubted(turns: Sequence[Turn], at: int) -> bool:
    """Return whether the user contradicts what came of the turn number *at*."""
    return at + 1 < len(turns) and (turns[at + 1].refused or contradicts(turns[at + 1].typed))


def outcomes_in(turns: Sequence[Turn]) -> list[TurnOutcome]:
    """Return the statements of all *turns*, in order."""
    found, gone, values, last = [], taken_back(turns), _new_values(turns), len(turns) - 1
    proposing = re.compile(pattern_of("proposing"), re.IGNORECASE)
    for at, turn in enumerate(turns):
        factor = _LAST if at == last else _RISE + (1 - _RISE) * at / last
        factor *= _OVERTAKEN if is_doubted(turns, at) or _is_done_anew(turns, at) else 1.0
        for place, (text, value, lead) in enumerate(_valued(result_of(turn)) if at not in gone else ()):
            is_past = at < last and proposing.search(text) and not starts_with("consent", turns[at + 1].typed)
            if not (is_past or _is_contradicted(text, turns, at) or _is_overtaken(text, turns, at, values)):
                found.append(TurnOutcome(text, at + 1, place, value * factor, lead))
    return found


def _is_done_anew(turns: Sequence[Turn], at: int) -> bool:
    """Return whether work came after the turn number *at* that only talked, or edited half of its files again."""
    files, later = turns[at].files, {file for turn in turns[at + 1 :] for file in turn.files}
    return bool(later) and 2 * len(later.intersection(files)) >= len(files)


def _is_contradicted(text: str, turns: Sequence[Turn], at: int) -> bool:
    """Return whether the user stops the turn number *at* or contradicts its *text*, in its words or in none."""
    if not is_doubted(turns, at):
        return False
    doubt = telling_words(turns[at + 1].typed)
    is_about = not doubt or len(doubt & telling_words(text)) >= _SHARED
    return turns[at + 1].refused or is_about


class _NewValue(NamedTuple):
    """One value that an edit of *file* in turn number *at* puts in the place of another; the words of both lines."""

    file: str
    at: int
    old: frozenset[str]
    new: frozenset[str]

    def overtakes(self, told: frozenset[str]) -> bool:
        """Return whether it replaces the value that a statement with the words *told* names."""
        return self.old - self.new <= told and bool(told & self.old & self.new) and not told & (self.new - self.old)


def _new_values(turns: Sequence[Turn]) -> list[_NewValue]:
    edits = [(at, edit) for at, turn in enumerate(turns) for edit in turn.edits if edit.was and not edit.stopped]
    found = (_NewValue(edit.file, at, words(edit.was), words(edit.line)) for at, edit in edits)
    return [each for each in found if len(each.old - each.new) == len(each.new - each.old) == 1]


def _is_overtaken(text: str, turns: Sequence[Turn], at: int, values: Sequence[_NewValue]) -> bool:
    """Return whether a later edit puts another value in the place of one that *text*, of the turn number *at*, names.

    So "renames are logged at info" goes when `log::info!(` has become `log::debug!(`. An edit of the same turn counts
    for what is not said in its last message.
    """
    rivals = [each for each in values if each.at >= at and each.overtakes(words(text))]
    files = {file for turn in turns[: at + 1] for file in turn.files} if rivals else set()
    return any(each.file in files and (each.at > at or text not in prose(turns[at].said)) for each in rivals)


def _valued(message: str) -> Iterator[tuple[str, float, str]]:
    whole = min(1.0, (_MESSAGE[0] / max(1, width(message))) ** _MESSAGE[1])
    told = [
        each for each in statements(message) if not (_says_nothing(each) or gives_order(f"{each.lead}: {each.text}"))
    ]
    yield from ((text, whole * value, lead) for text, value, lead in _pieces(told))


def _pieces(told: list[Statement]) -> Iterator[tuple[str, float, str]]:
    values = [_value(each, at) for at, each in enumerate(told)]
    at = 0
    for _, group in groupby(told, key=lambda each: (each.is_listed, each.lead if each.is_listed else each)):
        items = list(group)
        own = values[at : at + len(items)]
        at += len(items)
        joined = "; ".join(item.text for item in items)
        if len(items) > 1 and width(joined) <= _WIDEST_LIST:
            yield joined, max(own), _lead(items[0])
        else:
            yield from ((item.text, value, _lead(item)) for item, value in zip(items, own, strict=True))


def _says_nothing(each: Statement) -> bool:
    text = each.text
    if text.endswith((":", "：")) or begins_with("announcement", text) or text.startswith(("...", "…")):
        return True
    # a Chinese text says more in as many columns
    return is_question(text) or not (_names(each) or width(text) >= (_SHORTEST if text.isascii() else _SHORTEST // 2))


def _names(each: Statement) -> bool:
    return bool(each.codes) or names_something(each.text)


def _value(each: Statement, at: int) -> float:
    columns = width(each.text)
    value = _CODE if each.codes else _NAME if names_something(each.text) else 1.0
    value *= _SHORT[1] if columns < _SHORT[0] else _LONG[1] if columns >= _LONG[0] else 1.0
    return value * (_PLACES[at] if at < len(_PLACES) else 1.0)


def _lead(each: Statement) -> str:
    """Return the line above the list of *each*, if that says more than *each*."""
    lead = re.sub(r"^\d+[.)]\s+", "", each.lead)
    is_name = each.is_listed and not (leads("deictic", lead) or begins_with("announcement", lead))
    return lead if is_name and not words(lead) <= words(each.text) else ""


def best_of(outcomes: Sequence[TurnOutcome], room: int, *, known: Sequence[str] = ()) -> list[TurnOutcome]:
    """Return as many of *outcomes* as fit into *room* columns, in order: no text twice, none that is *known*."""
    left = [each for each in outcomes if width(_text(each)) <= _WIDEST]
    worth = {each: each.value / math.pow(width(each.text) + 3, _DENSITY) for each in left}
    said, taken, counts = [words(text) for text in known], list[TurnOutcome](), Counter[int]()
    while left:
        best = max(left, key=lambda each: worth[each] / (1 + _CROWD * counts[each.turn]))
        left.remove(best)
        is_led = any((each.turn, each.lead) == (best.turn, best.lead) for each in taken)
        columns = width(best.text if is_led else _text(best))
        if columns <= room and counts[best.turn] < _MOST and not is_said(words(best.text), said, _SAME):
            room -= columns + 6
            counts[best.turn] += 1
            said.append(words(best.text))
            taken.append(best)
    return _joined(sorted(taken, key=lambda each: (each.turn, each.place)))


def _joined(taken: Sequence[TurnOutcome]) -> list[TurnOutcome]:
    """Return *taken*, the first of each list with its lead, and those in one statement that fit."""
    joined: list[TurnOutcome] = []
    for each in taken:
        last = joined[-1] if joined else TurnOutcome("", 0)
        is_next = each.lead and (each.turn, each.lead) == (last.turn, last.lead)
        if is_next and width(last.text + each.text) <= _WIDEST:
            joined[-1] = last._replace(text=f"{last.text.rstrip('.。')}; {each.text}")
        else:
            joined.append(each if is_next else each._replace(text=_text(each)))
    return joined


def _text(each: TurnOutcome) -> str:
    return f"{each.lead}: {each.text}" if each.lead else each.text
