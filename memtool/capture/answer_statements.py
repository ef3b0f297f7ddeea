"""Statements of the last message of a turn, without chatter, each with its worth. Pure.

What carries is the position in the message, identifiers and numbers, the length, and how long the message is: short
messages report, long ones explain. The weights hardly matter (docs/decisions/0025); these are round numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from memtool.capture.options import called_options
from memtool.text.languages import begins_with, gives_order, leads, starts_with, without_lead
from memtool.text.lines import one_line, width
from memtool.text.scripts import is_unspaced
from memtool.text.similarity import words
from memtool.text.statements import Statement, plain, sentences, statements
from memtool.vault.session_rows import Piece, names_something

AMENDING = ("concession", "denial", "reversal")  # kinds of words with which something is taken back
MOST = 24  # statements of one message that are kept

_CODE, _NAME = 2.0, 1.5
_AMENDED = 3.0  # what was said in place of what was wrong
_SHORT, _LONG = (40, 0.3), (80, 1.3)  # columns, and the factor below or above
_PLACES = (3.0, 1.4, 1.2, 1.2, 1.2, 1.2)  # of the first statements
_LATE = (13, 0.6)
_CONCLUDING = 1.5
_OF_FILES = 0.5  # of what was done to each file: the note names the files, and the other statements say what for
_CITATION, _CITED = r'["“「].*["”」][.。]?', 0.3  # of what the agent only cites
_TAIL = 1.4  # the last two of four and more
_QUESTION = 0.7
_STRONG = 1.25  # a sentence of which part is in bold type, such as "**Root cause**: …"
_MESSAGE = (600, 0.6)  # columns up to which a message has its full value, and how fast that falls beyond
_SHORTEST = 16  # columns of a statement that names nothing
_SHORTEST_END = 30
_CHATTER = 130  # columns
_CALL = 60  # columns of "Good eye catching that!"
_LONGEST_OFFER = 160  # columns
_FEW, _WIDEST_LIST = 6, 160  # items, and columns, of a list that is told as one statement
_DASHED = r"(\S.{3,70}?)(?: [-–—] |——)"  # what an item is called, before what is said of it
_HEAD = r"(\S.{3,70}?)(?::(?= )|：| [-–—] |——)"  # of one in bold type, or of a row with three cells and more
_HEADS, _MOST_HEADS, _LEAST_HEADS, _WIDEST_HEADS = 1.0, 9, 14, 160  # their value by the best item; how many; columns
_LEAD = 110  # columns of the line above a list that its items are told with


def statements_of(said: str) -> tuple[Piece, ...]:
    """Return the statements of the message *said*, in order, each with its value within the turn."""
    told = _without_chatter(_with_contrasts(_own_statements(said)))
    length = max(1, width(said))
    whole = min(1.0, (_MESSAGE[0] / length) ** _MESSAGE[1])
    pieces = list(_pieces(told, whole))
    kept = sorted(range(len(pieces)), key=lambda at: -pieces[at].value)[:MOST]
    return tuple(pieces[at] for at in sorted(kept) if pieces[at].text)


def _own_statements(said: str) -> list[Statement]:
    """Return the statements of the message *said* but orders: an agent that says "always …" mostly quotes a page."""
    return [each for each in statements(said) if not (gives_order(each.text) or gives_order(each.lead))]


def is_answer(said: str) -> bool:
    """Return whether the message *said* is more than an announcement of what the agent will do."""
    told = statements(said)
    return bool(said) and (not told or not all(begins_with("announcement", each.text) for each in told))


def goes_on(said: str) -> bool:
    """Return whether the message *said* ends with what the agent will do next: it was on its way, and had no result."""
    told = statements(said)
    return bool(told) and begins_with("announcement", told[-1].text)


def _pieces(told: list[Statement], whole: float) -> Iterator[Piece]:
    """Give what is *told*, a short list as one piece, an item of a longer one with how many there are."""
    values = [whole * _value(each, at, len(told)) for at, each in enumerate(told)]
    at = 0
    for _, group in groupby(told, key=lambda each: (each.is_listed, each.lead if each.is_listed else each)):
        items = list(group)
        own = values[at : at + len(items)]
        at += len(items)
        joined = "; ".join(item.text for item in items)
        if 1 < len(items) <= _FEW and width(joined) <= _WIDEST_LIST:
            yield Piece(_text(items[0]._replace(text=joined)), max(own))
        else:
            if heads := _heads(items):
                yield Piece(_text(items[0]._replace(text=heads)), _HEADS * max(own))
            yield from (Piece(_text(item, len(items)), value) for item, value in zip(items, own, strict=True))


def _heads(items: list[Statement]) -> str:
    """Return what the *items* of a list are called, where each of them has a name before what is said of it."""
    if not 2 < len(items) <= _MOST_HEADS:
        return ""
    found = [re.match(_HEAD if item.is_strong or " = " in item.text else _DASHED, item.text) for item in items]
    heads = "; ".join(match[1] for match in found if match)
    return heads if all(found) and _LEAST_HEADS * len(items) <= width(heads) <= _WIDEST_HEADS else ""


def amends_in(said: str) -> str:
    """Return the beginning of the message *said* if it takes something back: admits, denies or undoes it."""
    lines = [one_line(line) for line in said.splitlines() if line.strip()][:2]
    told = [sentence for line in lines for sentence in sentences(line)]
    is_amending = bool(told) and any(starts_with(kind, plain(told[0])[0]) for kind in AMENDING)
    return " ".join(told[:4]) if is_amending else ""


def amendment_of(text: str) -> Piece:
    """Return what *text*, which takes something back, says instead; an empty text if it says nothing."""
    told = [each for each in _without_chatter(statements(text)) if not _is_asking(each)]
    return Piece(" ".join(each.text for each in told), _AMENDED if told else 0.0)


def is_offer(said: str) -> bool:
    """Return whether the message *said* is nothing but an offer to do more; what was done stands before it."""
    return width(said) <= _LONGEST_OFFER and begins_with("offer", said)


def ending_of(said: str) -> str:
    """Return the sentence of the message *said* that says best what came out; of nothing but a list its first item."""
    options = called_options(said)  # of which none was taken yet
    told = [
        each
        for each in _without_chatter(_own_statements(said))
        if not _is_asking(each) and width(_text(each)) >= _SHORTEST_END
    ]
    told = [each for each in told if not any(option in each.text for option in options)]
    told = [each for each in told if not each.is_listed] or told[:1]
    values = {_text(each): _value(each, at, len(told)) / width(each.text) ** 0.3 for at, each in enumerate(told)}
    return max(values, key=values.__getitem__, default="")


def _is_asking(each: Statement) -> bool:
    return each.text.endswith(("?", "？")) or begins_with("offer", each.text)


def _without_chatter(told: list[Statement]) -> list[Statement]:
    """Return what is *told*, without what only leads in to the rest and without announcements."""
    start = 0
    while start < min(3, len(told) - 1) and _is_chatter(told[start], start):
        start += 1
    return [each for each in told[start:] if not _says_nothing(each)]


def _with_contrasts(told: list[Statement]) -> list[Statement]:
    """Return what is *told*, each "However, …" put behind the sentence that does not hold without it."""
    joined: list[Statement] = []
    for each in told:
        is_contrast = not (each.is_listed or each.text.endswith(("?", "？"))) and leads("contrast", each.text)
        if joined and is_contrast and not joined[-1].is_listed:
            before = joined.pop()
            space = "" if is_unspaced(before.text[-1]) or before.text[-1] in "。！？" else " "
            text = f"{before.text}{space}{each.text.rstrip(':：')}"
            joined.append(before._replace(text=text, codes=before.codes + each.codes))
        else:
            joined.append(each)
    return joined


def _says_nothing(each: Statement) -> bool:
    """Return whether *each* only announces, leads in to something, or is too short to be understood."""
    if each.text.endswith((":", "：")) or begins_with("announcement", each.text):
        return True
    if begins_with("offer", each.text) and not each.text.endswith(("?", "？")) and _is_bare(each):
        return True
    if each.text.startswith(("...", "…")):  # the rest of a sentence
        return True
    if each.is_listed and begins_with("announcement", each.lead):
        return True
    if each.text.endswith(("!", "！")) and _is_bare(each) and width(each.text) <= _CALL:
        return True
    return _is_bare(each) and width(each.text) < _SHORTEST


def _is_chatter(each: Statement, at: int) -> bool:
    if width(each.text) > _CHATTER:
        return False
    if each.text.endswith((":", "：")):
        return True
    is_call = each.text.endswith(("!", "?", "！", "？")) or (at == 0 and width(each.text) <= _SHORT[0])
    return is_call and _is_bare(each)


def _is_bare(each: Statement) -> bool:
    return not each.codes and not names_something(each.text)


def _value(each: Statement, at: int, count: int) -> float:
    columns = width(each.text)
    value = _CODE if each.codes else _NAME if names_something(each.text) else 1.0
    value *= _STRONG if each.is_strong and not each.is_listed else 1.0
    value *= _SHORT[1] if columns < _SHORT[0] else _LONG[1] if columns >= _LONG[0] else 1.0
    value *= _PLACES[at] if at < len(_PLACES) else _LATE[1] if at >= _LATE[0] else 1.0
    value *= _CONCLUDING if leads("conclusion", each.text) and not each.is_listed else 1.0
    value *= _OF_FILES if each.is_listed and leads("files_changed", each.lead) else 1.0
    value *= _CITED if re.fullmatch(_CITATION, each.text) else 1.0
    value *= _TAIL if count > 3 and at >= count - 2 else 1.0
    return value * (_QUESTION if each.text.endswith(("?", "？")) else 1.0)


def _text(each: Statement, of: int = 1) -> str:
    """Return what *each* says; an item of a list with the line that says what the list is of, and *of* how many."""
    text = re.sub(r'^"(.*)"$', r"“\1”", each.text)  # what the agent quotes is not typed by the user
    if leads("next_steps", each.section):
        return f"{each.section}: {text}"
    lead = re.sub(r"^\d+[.)]\s+", "", each.lead)
    lead = without_lead("presenting", lead)
    is_useful = each.is_listed and lead and width(lead) <= _LEAD and not words(lead) <= words(each.text)
    count = f" ({of})" if of > 1 else ""
    return f"{lead}{count}: {text}" if is_useful else text
