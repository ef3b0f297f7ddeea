"""The gate: what a model says of a session is let in only as far as the turns bear it. Pure.

A model may have been talked into anything by the transcript, and may make things up by itself. Names and numbers of a
line stand in the turn that it names or beside it, and so do most of its words; only what the user typed or said yes to
is theirs. That does not find what is false in the words of its own turn: nothing cheap does.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import ceil
from typing import NamedTuple

from memtool.capture.checks import UNSURE
from memtool.capture.decisions import taken
from memtool.capture.turns import Turn
from memtool.capture.view import goes_on, pieces_of
from memtool.text.identifiers import folded, names_in, stands, unfounded, unknown_name, without_names
from memtool.text.languages import begins_with, cites_order, mentioned, pattern_of, starts_with
from memtool.text.lines import one_line
from memtool.text.markdown import without_code
from memtool.text.scripts import is_unspaced
from memtool.text.statements import statements
from memtool.text.tokens import fold, index_terms, is_stop_word, query_terms

_LINK = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://|(?<![a-z])(?:www\.[a-z]|(?:javascript|data|mailto|vbscript):\S)|\]\(|\[\[",
    re.IGNORECASE,
)
_MARKUP = re.compile(  # not `Vec<u8>`, not `<id>`
    r"</[a-z]|<!--|```|~~~|<[\w-]{0,40}(?:system|context|memory|reminder|instruction|private)[\w-]{0,40}[\s>/]"
    r"|<[^<>]{0,200}\son\w{1,20}\s{0,9}="
    r"|<(?:a|b|base|br|button|div|embed|form|h[1-6]|hr|html|i|iframe|img|input|li|link|meta|object|ol|p|pre|script|span"
    r"|style|svg|table|td|tr|u|ul|video)(?:\s[^<>]{0,500})?/?>",
    re.IGNORECASE,
)
_WORDS, _LESS, _PAIRS = 0.55, 0.5, 0.3  # of the content words; of those of a title or a part; of Chinese pairs
_BESIDE_NAMES = 0.34  # of the words beside two names
_ALIKE, _SHORTEST = 0.7, 4  # of the letters of two words, from so many letters on
_THEIRS = 1 / 3  # of the words of a decision
_AGREED = 2  # statements at the end of a message with a question that a yes is meant for
_SENTENCE = r"[.!?。！？](?=\s|$)|[\n。！？]"  # its end
_AND = re.compile(r"\s*(?:&&|\|\|?|;)\s*")  # between the commands of one line
_NOISE = re.compile(r"\s*\d?>(?:&\d|\s*/dev/null)")


class Ground(NamedTuple):
    """What some turns bear: all that was *said*, folded, its *terms*, and what the user *typed* or said yes to."""

    said: str
    terms: tuple[str, ...]  # sorted
    typed: str

    def has(self, term: str) -> bool:
        """Return whether *term* stands here, or a word that begins with most of its letters."""
        start = term if is_unspaced(term[0]) or len(term) < _SHORTEST else term[: ceil(_ALIKE * len(term))]
        for at in range(bisect_left(self.terms, start), len(self.terms)):
            other = self.terms[at]
            if not other.startswith(start):
                return False
            if term.startswith(other[: ceil(_ALIKE * len(other))]):
                return True
        return False


class LineGate:
    """The turns of a session as what bears, or does not, what is said of them. Turns count from 1; 0 is all of them."""

    def __init__(self, turns: Sequence[Turn], code: str = "") -> None:
        self._turns = turns
        self._code = code
        self._grounds: dict[range, Ground] = {}

    @cached_property
    def whole(self) -> Ground:
        """The ground of the whole session."""
        return self._ground(range(1, len(self._turns) + 1))

    def fault(self, text: str, number: int = 0, *, is_part: bool = False, by_all: bool = False) -> str:
        """Return why turn *number* and those beside it do not bear *text*, or part of a line; empty if they do.

        With *by_all* every turn may bear it.
        """
        if fault := foul(text, self._code):
            return fault
        if not 0 <= number <= len(self._turns):
            return "it names no turn that there is"
        ground, who = self.beside(0 if by_all else number), f"turn {number}" if number else "the session"
        if begins_with("standing", text) and not mentioned("standing", text) <= mentioned("standing", ground.typed):
            return f"{who} has no such order by the user"
        if unknown := unfounded(text, ground.said) or unknown_name(text, self.whole.said):
            return f"{who} does not name '{unknown[:60]}'"
        share = _WORDS if number and not is_part else _LESS
        return "" if is_borne(text, ground, share) else f"{who} does not say so"

    def is_the_users(self, text: str, number: int) -> bool:
        """Return whether the words of *text* are the user's, or they said yes to them."""
        typed = self.beside(number).typed
        terms = content_terms(text)
        shared = len(terms.intersection(query_terms(typed)))
        said = mentioned("standing", text) <= mentioned("standing", typed)
        return said and bool(terms) and shared >= max(min(2, len(terms)), _THEIRS * len(terms))

    def quoted(self, text: str, number: int) -> int:
        """Return the number of the turn in which the user typed *text*, that *number* if they did there; else 0."""
        parts = [re.findall(r"\w+", part) for part in re.split(r"…|\.\.\.", fold(text))]
        patterns = [r"\W*".join(map(re.escape, words)) for words in parts if words]
        turns = sorted(range(1, len(self._turns) + 1), key=lambda each: abs(each - number))
        for each in turns if patterns else ():
            typed = map(fold, _own_words(self._turns[each - 1]))
            if any(all(_says(text, pattern) for pattern in patterns) for text in typed):
                return each
        return 0

    def passed(self, command: str) -> tuple[str, int]:
        """Return *command* as it was run and the turn in which it passed last; nothing if it failed or was not run."""
        plain = one_line(command.replace("`", ""))
        return next((ends for form in (plain, _NOISE.sub("", plain)) if (ends := self._passed.get(form))), ("", 0))

    def worked(self, number: int) -> bool:
        """Return whether something was done in turn *number* or those beside it, or a plan for it was approved."""
        turns = [self._turns[each - 1] for each in self._beside(number)]
        return any(turn.files or turn.commits or any(p.fate == "approved" for p in turn.plans) for turn in turns)

    def is_the_agents(self, text: str, number: int) -> bool:
        """Return whether the agent itself says *text* in its messages or plans, and no output of a tool alone."""
        turns = [self._turns[each - 1] for each in self._beside(number)]
        texts = [text for turn in turns for text in (*turn.messages, *(plan.text for plan in turn.plans))]
        return is_borne(text, ground_of(texts))

    def beside(self, number: int) -> Ground:
        """Return the ground of turn *number* and of those before and after it."""
        return self._ground(self._beside(number)) if number else self.whole

    def _beside(self, number: int) -> range:
        first, end = self._stretch(number)
        before = self._stretch(first - 1)[0] if first > 1 else first
        return range(before, self._stretch(end)[1] if end <= len(self._turns) else end)

    def _stretch(self, number: int) -> tuple[int, int]:
        """Return the first of the turns that are shown as one with turn *number*, and the one behind the last."""
        first, end = number, number + 1
        while first > 1 and goes_on(self._turns[first - 1]):
            first -= 1
        while end <= len(self._turns) and goes_on(self._turns[end - 1]):
            end += 1
        return first, end

    def _ground(self, numbers: range) -> Ground:
        if numbers not in self._grounds:
            texts = [text for each in numbers for text in _said(self._turns[each - 1])]
            typed = [text for each in numbers for text in self._typed(each)]
            self._grounds[numbers] = ground_of(texts, typed)
        return self._grounds[numbers]

    def _typed(self, number: int) -> Iterator[str]:
        """Give what the user typed and chose in a turn, and the end of a message that they said yes to."""
        turn = self._turns[number - 1]
        yield from _own_words(turn)
        before = self._turns[number - 2].said if number > 1 else ""
        yield from taken(turn.typed, before).values()
        is_asked = before.rstrip("*_` \n").endswith(("?", "？"))
        if starts_with("consent", turn.typed) and (is_asked or turn.files):
            yield from (each.text for each in statements(before)[-_AGREED:] if not cites_order(each.text))

    @cached_property
    def _passed(self) -> dict[str, tuple[str, int]]:
        ends: dict[str, tuple[str, int]] = {}
        for number, turn in enumerate(self._turns, 1):
            for run in turn.runs:
                for part in _commands(run.command) if run.error != UNSURE else ():
                    ends[part] = ("", 0) if run.error else (part, number)
        return ends


def ground_of(texts: Sequence[str], typed: Sequence[str] = ()) -> Ground:
    """Return what *texts* bear, where *typed* is the user's."""
    terms = sorted({term for text in texts for term in index_terms(text)})
    return Ground(folded("\n".join(texts)), tuple(terms), one_line(" . ".join(typed)))


def is_borne(text: str, ground: Ground, share: float = _WORDS) -> bool:
    """Return whether a *share* of the content words of *text* stands in *ground*; fewer suffice beside two names."""
    names = [
        name for name in names_in(text) if not name.replace(".", "").isdigit() and stands(name.casefold(), ground.said)
    ]
    share = _BESIDE_NAMES if len(names) > 1 else share
    terms = content_terms(text)
    pairs = {term for term in terms if is_unspaced(term[0])}
    found = sum(map(ground.has, terms))
    return found >= share * len(terms - pairs) + _PAIRS * len(pairs) and bool(terms or names_in(text))


def content_terms(text: str) -> frozenset[str]:
    """Return the stems and the pairs of characters of *text* that say something, without names and numbers."""
    terms = query_terms(without_names(text).replace("-", " "))
    return frozenset(term for term in terms if not (term.isdigit() or is_stop_word(term)))


def _said(turn: Turn) -> Iterator[str]:
    """Give all texts of *turn*, with the labels under which a model is shown them."""
    yield from dict.fromkeys(piece.label for piece in pieces_of(turn))
    yield from (turn.typed, *turn.messages, turn.summary, *(plan.text for plan in turn.plans))
    yield from (text for dialog in turn.dialogs for text in (dialog.question, *dialog.options, dialog.answer))
    yield from (text for edit in turn.edits for text in (edit.file, edit.line))
    yield from (text for run in turn.runs for text in (run.command, run.error, run.last_line))


def _own_words(turn: Turn) -> Iterator[str]:
    """Give what the user typed, without what they pasted or quoted, and their answers with the questions."""
    if not turn.pasted:
        yield "\n".join(line for line in without_code(turn.typed).splitlines() if not line.lstrip().startswith(">"))
    for dialog in turn.dialogs:
        is_no = begins_with("contradiction", dialog.answer)
        yield dialog.answer if is_no else f"{dialog.question} {dialog.answer}"


def _says(text: str, pattern: str) -> bool:
    """Return whether *text* itself says what *pattern* matches: it neither cites it nor says no right before it."""
    for match in re.finditer(rf"(?<![a-z0-9]){pattern}", text):
        before = re.split(r"[.!?:;,\n。！？：；，]", text[: match.start()])[-1]
        sentence = re.split(_SENTENCE, text[: match.start()])[-1] + re.split(_SENTENCE, text[match.start() :])[0]
        if not (re.search(pattern_of("negation"), before) or cites_order(sentence)):
            return True
    return False


def _commands(command: str) -> set[str]:
    """Return *command* and the parts of it that may be named alone: without the pipe, without the change of folder."""
    forms = (one_line(command), _NOISE.sub("", one_line(command)))
    return {part for form in forms for part in (form, form.split(" | ")[0], *_AND.split(form)) if part}


def foul(text: str, code: str = "") -> str:
    """Return why *text* must not be in a note, whatever the session says; empty if it may."""
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs") and character not in "\n\r\t\u200c\u200d":
            return f"it holds an invisible character (U+{ord(character):04X})"
    if _LINK.search(text):
        return "it holds a link"
    if _MARKUP.search(text):
        return "it holds markup"
    if re.search(pattern_of("instruction"), text, re.IGNORECASE) or (code and code in text):
        return "it repeats an instruction"
    return ""
