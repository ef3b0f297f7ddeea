"""Rows of a session note: the user's words with their outcome behind them, made smaller to fit. Pure.

A row is an item of the section "Key points":

    "the login fails in Safari" → SameSite=None needs Secure · "no, keep the old cookie, too" · fixed in jwt.ts

In quotes stands what the user typed, all else is the agent's. The same rows fill a note of 2 KB and, smaller, a share
of the block that a session starts with.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memtool.named_tuple import NamedTuple
from memtool.text.languages import leads
from memtool.text.lines import one_line, shortened, width
from memtool.text.similarity import is_said, words

ARROW, JOINT = " → ", " · "

_USER_SHARE = 0.36  # of the room, for what the user typed (measured: docs/decisions/0025)
# Of a text that is cut, how much its end may take: a correction often stands there. Whole sentences read best.
_LAST_SENTENCES, _LAST_CLAUSES, _LAST_WORDS = 0.6, 0.5, 0.35
_WORDS_FROM = 100  # columns; of a text that is cut to fewer, the last words alone say nothing
_SHORTEST_TAIL = 12
_CELL = " = "  # between the name of a column and what stands in it
_SHORTEST_CONTRAST = 24  # characters
_CONTRAST = 0.5  # of the room of a text that is cut, for a "but …" at its end
_ASKED, _SHORTEST_ASKED = 320, 60  # columns of a prompt at most; that are left of each at least
_WIDEST, _WIDEST_FIRST, _LEAST_FIRST = 220, 160, 110  # columns of a piece; of the one that each prompt is given first
_SHORTEST_HEAD = 8  # characters by which a text is known that was cut
_SHOWN = 48  # columns of the beginning of a prompt, from which on it is not shown again
_WHOLLY = 0.9  # of the words of a text that stands elsewhere in the note already
_DENSITY = 0.6  # exponent of a piece's width, by which its value is divided
_OVERHEAD = 3  # columns around a piece
_ROW = 12  # bytes around a row
MOST_ROWS = 10
LEAST_ROW = 120  # columns of room that each row needs
OF_LIST = r"(.{1,160}?) \((?:\d{1,3}/)?(\d{1,3})\): "  # an item, with how many the list has
_REST = "… "  # before what is left of a prompt whose beginning is shown elsewhere
_MARKS = " ,;:.!?，、；：。！？"
_SENTENCE_START = r"(?<=[。！？；])|(?<=[.!?;])\s+"
_CLAUSE_START = r"(?<=[，、：])|(?<=[,:])\s+|\s+[-–—]\s+|\s+(?=\()"


class Piece(NamedTuple):
    """One statement. What the user typed is in quotes. The higher its *value*, the longer it is kept."""

    text: str
    value: float = 1.0

    @property
    def is_typed(self) -> bool:
        """Whether the user typed it."""
        return len(self.text) > 1 and self.text[0] == self.text[-1] == '"'


class Row(NamedTuple):
    """A row of a session's note: the prompt *asked* (empty if it is not worth telling), its outcome, its *weight*."""

    asked: str = ""
    pieces: tuple[Piece, ...] = ()
    weight: float = 1.0


def render_row(row: Row) -> str:
    """Return *row* as the text of an item."""
    asked = f'"{_plain(row.asked)}"' if row.asked else ""
    said = (_plain(piece.text).lstrip(ARROW) for piece in row.pieces)
    return ARROW.join(filter(None, [asked, JOINT.join(filter(None, said))]))


def parse_row(text: str, values: Mapping[str, float] | None = None) -> Row:
    """Return the row that *text* is; each piece has its value of *values*, where there is one."""
    asked, pieces = split_row(text)
    known = values or {}
    return Row(asked, tuple(Piece(piece, known.get(piece) or worth(piece)) for piece in pieces))


def split_row(text: str) -> tuple[str, list[str]]:
    """Return the prompt with which the row *text* begins, or an empty string, and the pieces behind it."""
    match = re.fullmatch(rf'(?:"((?:(?!{JOINT}).)+?)"(?:{ARROW}|$))?(.*)', text.lstrip(ARROW))
    asked, said = (match[1] or "", match[2]) if match else ("", text)
    return asked, [stripped for piece in said.split(JOINT) if (stripped := piece.strip())]


def texts_of(rows: Iterable[Row]) -> list[str]:
    """Return the questions of *rows* and their outcomes, a text each."""
    return [text for row in rows for text in (row.asked, *(piece.text for piece in row.pieces)) if text]


def without_texts(rows: Iterable[Row], gone: Sequence[str]) -> list[Row]:
    """Return *rows* without the texts that a note showed as *gone*, where they may have been cut."""
    beginnings = (re.split(r"(?<=.) … |…$", _uncounted(text).strip('"'))[0] for text in gone)
    heads = [head for head in beginnings if len(head) >= _SHORTEST_HEAD]

    def is_gone(text: str) -> bool:
        plain = _uncounted(text).strip('"')
        return any(
            plain.startswith(head) or f": {head}" in plain or (head.startswith(_REST) and head[len(_REST) :] in plain)
            for head in heads
        )

    kept = (
        row._replace(
            asked="" if is_gone(row.asked) else row.asked,
            pieces=tuple(piece for piece in row.pieces if not is_gone(piece.text)),
        )
        for row in rows
    )
    return [row for row in kept if row.asked or row.pieces] if heads else list(rows)


def _uncounted(text: str) -> str:
    match = re.match(OF_LIST, text)
    return f"{match[1]}: {text[match.end() :]}" if match else text


def worth(text: str) -> float:
    """Return the value of a statement of which nothing but its *text* is known."""
    return (1.5 if names_something(text) else 1.0) * (0.3 if width(text) < 40 else 1.3 if width(text) >= 80 else 1.0)


def names_something(text: str) -> bool:
    """Return whether *text* has a digit or an identifier."""
    return re.search(r"\d|[a-z][A-Z]|\w_\w|\w\(\)|\w/\w|[A-Za-z]\.[a-z]|--\w|[A-Z]{2}", text) is not None


def fit_rows(rows: Sequence[Row], room: int, said: Iterable[str] = (), *, least_row: int = LEAST_ROW) -> list[Row]:
    """Return as much of *rows* as fits into *room* columns: no piece that *said* or a better piece says already.

    What the user typed is shortened evenly; each such text keeps the best of what came of it; then the pieces that are
    worth most for their width.
    """
    said = list(said)
    known = [words(text) for text in said]
    rows = _best_of(rows, min(MOST_ROWS, max(1, room // least_row)), known)
    was_asked = [bool(row.asked) for row in rows]
    rows = [row._replace(asked="" if is_said(words(row.asked), known, _WHOLLY) else row.asked) for row in rows]
    shown = _asked_within(rows, int(_USER_SHARE * room))
    new = [
        "" if is_said(words(text), known, _WHOLLY) else _unshown(row.asked, said, text)
        for row, text in zip(rows, shown, strict=True)
    ]
    asked = _newest_within(new, room)
    taken = _Taken(room - sum(width(text) + _ROW for text in asked if text), known)
    order = sorted(
        ((at, place, piece) for at, row in enumerate(rows) for place, piece in enumerate(row.pieces)),
        key=lambda each: -each[2].value / math.pow(min(_WIDEST, width(each[2].text)) + _OVERHEAD, _DENSITY),
    )
    by_value = dict.fromkeys(at for at, _, piece in order if _tells(piece))  # there may not be room for all
    widest = min(_WIDEST_FIRST, max(_LEAST_FIRST, int(1.5 * taken.room / max(1, len(by_value)))))
    for at in by_value:
        if asked[at] or (was_asked[at] and not rows[at].asked):  # the topic shows that prompt
            own = ((place, piece) for number, place, piece in order if number == at and _tells(piece))
            any(taken.take((at, place), piece, widest) for place, piece in own)
    for at, place, piece in order:
        taken.take((at, place), piece, _WIDEST)
    fitted = [row._replace(asked=asked[at], pieces=taken.pieces(at, row)) for at, row in enumerate(rows)]
    kept = [at for at, row in enumerate(fitted) if row.pieces or (row.asked and _may_stand(fitted, at, rows, known))]
    if len(kept) < len(rows):  # there is more room for the others
        return fit_rows([rows[at] for at in kept], room, said, least_row=least_row)
    return fitted


def _unshown(asked: str, said: Iterable[str], short: str) -> str:
    """Return *asked* as it was made *short*, or as much of what is between the two ends that one of *said* shows."""
    for text in said:
        begun = _shared(asked, text[max(0, text.find(asked[:_SHORTEST_HEAD])) :])
        if width(asked[:begun]) >= _SHOWN:
            end = text.rfind(asked[-_SHORTEST_HEAD:]) + _SHORTEST_HEAD
            ended = _shared(asked[::-1], text[:end][::-1])
            rest = asked[begun : len(asked) - ended].strip(_MARKS)
            return f"{_REST}{without_middle(rest, width(short))}" if width(rest) >= _SHORTEST_TAIL else ""
    return short


def _shared(one: str, other: str) -> int:
    """Return with how many characters both texts begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (here, there) in pairs if here != there), min(len(one), len(other)))


def _best_of(rows: Sequence[Row], most: int, known: Sequence[frozenset[str]]) -> list[Row]:
    """Return *most* of *rows*: the last, the first if it says what was asked, and those with the best pieces.

    One whose prompt is *known*, as the topic is, comes before others: it is what came of that.
    """
    values = {at: max((piece.value for piece in row.pieces), default=0.0) for at, row in enumerate(rows)}
    topic = [at for at, row in enumerate(rows) if is_said(words(row.asked), known, _WHOLLY)][:1]
    always = {*topic, len(rows) - 1, *([0] if rows and rows[0].asked else [])}
    best = sorted(values, key=lambda at: (at in always, values[at], at), reverse=True)[:most]
    return [rows[at] for at in sorted(best)]


def _may_stand(fitted: Sequence[Row], at: int, rows: Sequence[Row], known: Sequence[frozenset[str]]) -> bool:
    """Return whether a prompt may be shown without its outcome: it is the last, or that is *known* from elsewhere.

    One of which nothing came must not be cut here, and be no question.
    """
    if at == len(fitted) - 1:
        return True
    asked = fitted[at].asked
    told = [is_said(words(piece.text), known, _WHOLLY) for piece in rows[at].pieces if _tells(piece)]
    return all(told) and (bool(told) or (asked == rows[at].asked and not asked.endswith(("?", "？"))))


class _Taken:
    """The pieces that were taken so far, and the room that is left."""

    def __init__(self, room: int, said: Iterable[frozenset[str]]) -> None:
        self.room = room
        self._elsewhere = list(said)
        self._said: list[frozenset[str]] = []
        self._texts: dict[tuple[int, int], str] = {}

    def take(self, at: tuple[int, int], piece: Piece, widest: int) -> bool:
        """Take *piece*, whose row and place are *at*, unless it is said already or there is no room for it."""
        text = _shortened(piece, widest)
        told = words(piece.text)
        if not text or at in self._texts or width(text) + _OVERHEAD > self.room:
            return False
        if is_said(told, (other for other in self._said if not _differ(told, other))):
            return False
        if is_said(told, self._elsewhere, _WHOLLY):
            return False
        self.room -= width(text) + _OVERHEAD
        self._said.append(told)
        self._texts[at] = text
        return True

    def pieces(self, at: int, row: Row) -> tuple[Piece, ...]:
        """Return the pieces that were taken of *row*, which is number *at*, in its order."""
        texts = ((self._texts.get((at, place)), piece.value) for place, piece in enumerate(row.pieces))
        return tuple(_each_lead_once(Piece(text, value) for text, value in texts if text))


def without_middle(text: str, limit: int) -> str:
    """Return *text* in at most *limit* columns: its beginning and its end, where what counts often is."""
    if width(text) <= limit:
        return text
    rest = _end_of(text, limit)
    if not rest:
        return shortened(text, limit)
    beginning = shortened(text, limit - width(rest) - 2).removesuffix("…").rstrip()
    return f"{beginning} … {rest}" if beginning else ""


def _end_of(text: str, limit: int) -> str:
    """Return the last sentences of *text*, else its last clauses, else its last words, as far as *limit* allows."""
    for starts, share in ((_SENTENCE_START, _LAST_SENTENCES), (_CLAUSE_START, _LAST_CLAUSES)):
        ends = (text[match.end() :] for match in re.finditer(starts, text))
        rest = next((end for end in ends if width(end) <= limit * share - 3), "")
        if width(rest) >= _SHORTEST_TAIL:
            return rest
    if limit < _WORDS_FROM:
        return ""
    end = len(text)
    while end and width(text[end - 1 :]) <= limit * _LAST_WORDS - 3:
        end -= 1
    rest = text[end:]
    return rest.split(" ", 1)[1] if " " in rest and text[end - 1 : end].isascii() else rest


def _asked_within(rows: Sequence[Row], room: int) -> list[str]:
    """Return the prompt of each row; if they take more than *room* columns, the longest are cut to one length.

    The heavier a text, the more of it is left.
    """
    needs = sorted((min(_ASKED, width(row.asked)) / row.weight, row.weight) for row in rows if row.asked)
    longest, left, weights = float(_ASKED), float(room), sum(weight for _, weight in needs)
    for need, weight in needs:
        if need * weights > left:
            longest = left / weights
            break
        left, weights = left - need * weight, weights - weight
    limits = (max(_SHORTEST_ASKED, min(_ASKED, int(longest * row.weight))) for row in rows)
    return [without_middle(row.asked, limit) for row, limit in zip(rows, limits, strict=True)]


def _newest_within(texts: Sequence[str], room: int) -> list[str]:
    """Return *texts*; of more than fit into *room* columns, the oldest behind the first are empty."""
    left = room
    kept = [""] * len(texts)
    for at in sorted(range(len(texts)), key=lambda at: (at > 0, -at)):
        if texts[at] and width(texts[at]) + _ROW <= left:
            kept[at] = texts[at]
            left -= width(texts[at]) + _ROW
    return kept


def _each_lead_once(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Give *pieces*; items of one list, which begin with the same words, keep them once: `gone (2/3): a`, then `b`."""
    pieces = list(pieces)
    shown = Counter(match[1] for piece in pieces if (match := re.match(OF_LIST, piece.text)))
    lead = ""
    for piece in pieces:
        match = re.match(OF_LIST, piece.text)
        begins = bool(lead) and piece.text.startswith(lead) and len(piece.text) > len(lead)
        before, colon, _ = piece.text.partition(": ")
        if begins:
            yield piece._replace(text=piece.text[len(lead) :])
        elif match and lead == f"{match[1]}: ":  # behind what the items of that list are called
            yield piece._replace(text=piece.text[match.end() :])
            continue
        elif match:
            count = f" ({shown[match[1]]}/{match[2]})" if shown[match[1]] < int(match[2]) else ""
            yield piece._replace(text=f"{match[1]}{count}: {piece.text[match.end() :]}")
        else:
            yield piece
        lead = piece.text[: match.end()] if match else before + colon if colon else ""


def _differ(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether each of two texts, of which these are the words, has a number of its own, or one word."""
    own = one - other, other - one
    return all(any(word[0].isdigit() for word in each) for each in own) or len(own[0]) == len(own[1]) == 1


def _tells(piece: Piece) -> bool:
    is_reference = re.match(r"\w{1,2} = ", piece.text)  # what an option was that the prompt names
    return not (piece.is_typed or is_reference) and (names_something(piece.text) or width(piece.text) >= 60)


def _shortened(piece: Piece, widest: int) -> str:
    if piece.is_typed:
        inner = without_middle(piece.text[1:-1], widest - 2)
        return f'"{inner}"' if inner else ""
    return shortened_fairly(piece.text, widest)


def shortened_fairly(text: str, limit: int) -> str:
    """Return *text* in at most *limit* columns: of a row of a table the last cells, of a sentence its "but …", too."""
    cut = shortened(text, limit)
    if cut == text or not cut:
        return cut
    if text.count(_CELL) > 1:
        return _last_cells(text, limit) or cut
    starts = (match.end() for match in re.finditer(f"{_SENTENCE_START}|{_CLAUSE_START}", text))
    start = next((at for at in starts if at >= len(cut) - _SHORTEST_CONTRAST and leads("contrast", text[at:])), 0)
    if not start:
        return cut
    but = shortened(text[start:], int(_CONTRAST * limit))
    head = shortened(text[:start], limit - width(but) - 3).removesuffix("…").rstrip()
    return f"{head} … {but}" if head and but else cut


def _last_cells(text: str, limit: int) -> str:
    """Return the subject of a table's row, and its last cells: what came of it, not what it was before."""
    head, _, cells = text.rpartition(": ") if text.index(_CELL) > text.rfind(": ") > 0 else text.partition(": ")
    named = re.split(rf", (?=[^,]{{1,40}}{_CELL})", cells)
    rest = next(
        (", ".join(named[at:]) for at in range(1, len(named)) if width(", ".join(named[at:])) <= limit // 2), ""
    )
    short = shortened(head, limit - width(rest) - 4).removesuffix("…")
    return f"{short}: … {rest}" if short and rest else ""


def _plain(text: str) -> str:
    return (
        one_line(text).replace(JOINT, "; ").replace('"' + ARROW, '" -> ')
    )  # an arrow behind a quote ends what was asked
