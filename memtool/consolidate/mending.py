"""Fixes: faults that the user reported and the agent mended, from a session's turns. Pure.

A report speaks of a failure. It was mended by the last turn that edited files for it, if the user did not come back
to it. The fact is what was wrong, as the report says it, and what the agent says of its change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memtool.capture.retractions import Retraction, is_taken_back, retractions_in, telling_words
from memtool.capture.summary import is_shown
from memtool.capture.turns import Turn
from memtool.consolidate.proposals import LIKELY, LONGEST, POSSIBLE, Proposal
from memtool.consolidate.session_views import SessionView
from memtool.consolidate.spans import Grounds
from memtool.text.languages import begins_with, mentioned, starts_with
from memtool.text.lines import width
from memtool.text.similarity import is_said, words
from memtool.text.statements import sentences
from memtool.vault.authors import AGENT
from memtool.vault.session_rows import ARROW, OF_LIST, names_something

COMMIT = "commit: "  # what the subject of a commit begins with in a note

_BACK = 4  # turns in which a report is looked for
_LONGEST_REPORT = 700  # characters of a prompt that are looked at
_WIDEST_SHORT = 24  # columns of a prompt that tells nothing of its own
_SHORTEST = 40  # columns of what was changed
_NEAR, _CLEAR = 2, 3  # words that it shares with the report: to come first, and to be told without a name
_SHORTEST_CAUSE = 60
_SHORT_REPORT, _BACK_TO = 60, 0.3  # columns; of its words, how many were said before, where it comes back to something
_JOINED = 0.5  # of the value of the first statement, for others of its turn to be told with it
_SAME = 0.4  # of the words of a statement, how many another of the session may have
_STANDING = ("", "confirmed", "went on")  # verdicts on a turn of which nothing was taken back
_MENDING = re.compile(r"(?i)(?:bug)?fix\b")  # how the subject of such a commit begins, by convention
_QUOTED = re.compile(r"[\"“「][^\"”」]{1,100}[\"”」]")
_PLACE = re.compile(r"^(?:[Ll]ine|第) ?\d+ ?行?[:：] |\s?\([\w./-]+:\d+(?:-\d+)?\)")
_NOT_DONE = ("offer", "announcement", "trial")  # kinds of beginnings
_TESTING = re.compile(r"(?i)\btests?\b|_test|(?-i:Test[A-Z])")


def mended_in(view: SessionView, turns: Sequence[Turn], grounds: Grounds) -> Iterator[Proposal]:
    """Give what was mended in *turns*, and what was found to be the cause, as far as nothing of it was taken back."""
    gone = retractions_in(turns, is_shown)
    said: list[str] = []
    for reported, edited in _mended(turns).items():
        report = turns[reported].asked[:_LONGEST_REPORT]
        for at in reversed(edited):  # the last that says what it changed
            told = [text for text in _changes(turns[at], report) if _is_new(text, at, said, gone)]
            if told:
                said += told
                whole = _joined(told)
                yield from _proposed(view, grounds, told[0], _with_problem(report, whole), (reported, at), LIKELY)
                break
    is_mended = bool(said)
    for at, turn in enumerate(turns):
        for text in _causes(turn) if turn.verdict in _STANDING else ():
            if _is_new(text, at, said, gone):
                said.append(text)
                yield from _proposed(view, grounds, text, text, (at,), POSSIBLE)
        for text in () if is_mended else _mending_commits(turn):  # it was made, whatever was said since
            if _is_new(text, at, said, ()):
                said.append(text)
                yield from _proposed(view, grounds, text, text, (at,), LIKELY)


def _is_new(text: str, at: int, said: Sequence[str], gone: Sequence[Retraction]) -> bool:
    return not (is_taken_back(text, at, gone) or is_said(words(text), map(words, said), _SAME))


def _proposed(
    view: SessionView, grounds: Grounds, told: str, text: str, places: Sequence[int], confidence: float
) -> Iterator[Proposal]:
    spans = (grounds.of_text(places[-1], told), *map(grounds.of, places))
    if span := next(filter(None, spans), None):
        yield Proposal(text, "bug", AGENT, view.project, (span,), "", view.date, confidence)


def _mended(turns: Sequence[Turn]) -> dict[int, list[int]]:
    """Return for each turn with a report the turns that edited files for it, unless the user came back to it."""
    found: dict[int, list[int]] = {}
    for at, turn in enumerate(turns):
        if turn.files and _held(turns, at) and (reported := _report_of(turns, at)) is not None:
            found.setdefault(reported, []).append(at)
    return found


def _causes(turn: Turn) -> Iterator[str]:
    """Give the best statement of *turn* that names a cause."""
    for piece in sorted(turn.told, key=lambda piece: -piece.value):
        text = _PLACE.sub("", _without_list(piece.text))
        said = _QUOTED.sub("", text)
        is_cause = mentioned("cause", said) or (turn.files and mentioned("explaining", said.partition(" ")[2]))
        if is_cause and not piece.text.startswith(COMMIT) and _is_telling(text, _SHORTEST_CAUSE):
            yield text
            return


def _mending_commits(turn: Turn) -> Iterator[str]:
    for piece in turn.told:
        subject = piece.text.removeprefix(COMMIT)
        is_mending = _MENDING.match(subject) or starts_with("explaining", subject)
        if subject != piece.text and is_mending and len(subject) <= LONGEST and not _TESTING.search(subject):
            yield subject


def _is_telling(text: str, shortest: int) -> bool:
    is_whole = shortest <= width(text) and len(text) <= LONGEST and text.count("; ") < 2
    return is_whole and names_something(text) and not text.endswith(("?", "？", ":", "："))


def _report_of(turns: Sequence[Turn], at: int) -> int | None:
    for back in range(at, max(-1, at - _BACK), -1):
        asked = turns[back].asked
        if not turns[back].pasted and mentioned("reporting", asked[:_LONGEST_REPORT]):
            return back
        is_objection = back > 0 and turns[back - 1].verdict in ("corrected", "rejected")
        goes_on = turns[back].refused or is_objection or width(asked) < _WIDEST_SHORT
        if not (goes_on or starts_with("continuing", asked) or starts_with("consent", asked)):
            return None
    return None


def _held(turns: Sequence[Turn], at: int) -> bool:
    """Return whether the user did not come back to what turn number *at* mended; another report is no coming back."""
    if turns[at].verdict not in _STANDING or at + 1 == len(turns):
        return turns[at].verdict in _STANDING
    after, turn = turns[at + 1].asked, turns[at]
    told = telling_words(after)
    shared = told & telling_words(" ".join([turn.asked, *(piece.text for piece in turn.told)]))
    is_near = width(after) < _SHORT_REPORT or len(shared) >= _BACK_TO * len(told)
    return not (is_near and mentioned("reporting", after))


def _with_problem(report: str, text: str) -> str:
    """Return *text* behind the sentence of the *report* that says what was wrong, if it names it and there is room."""
    room = LONGEST - len(text) - len(ARROW)
    for sentence in sentences(report):
        is_told = mentioned("reporting", sentence) and names_something(sentence)
        if is_told and len(sentence) <= room and not sentence.endswith(("?", "？")):
            return f"{sentence.rstrip('.。')}{ARROW}{text}"
    return text


def _changes(turn: Turn, report: str) -> list[str]:
    """Return the sentences of *turn* about its change, the nearest to the *report* first."""
    about = words(report)
    is_about_tests = _TESTING.search(report)
    found = []
    for piece in turn.told:
        text = _fitting(_PLACE.sub("", _without_list(piece.text)))
        shared = len(words(text) & about)
        is_told = width(text) >= _SHORTEST and text.count("; ") < 2 and (names_something(text) or shared >= _CLEAR)
        is_asking = text.endswith(("?", "？", ":", "：")) or any(begins_with(kind, text) for kind in _NOT_DONE)
        is_test = _TESTING.search(text) and not is_about_tests
        is_change = any(mentioned(kind, text) for kind in ("cause", "explaining", "changing"))
        if is_told and is_change and not (is_asking or is_test):
            found.append((shared >= _NEAR, piece.value, text))
    found.sort(key=lambda each: each[:2], reverse=True)
    return [text for _, value, text in found if value >= _JOINED * found[0][1]]


def _without_list(text: str) -> str:
    """Return *text* without the words that its list begins with, unless these say what changed."""
    match = re.match(OF_LIST, text)
    if not match:
        return text.removeprefix(COMMIT)
    is_telling = width(match[1]) >= _WIDEST_SHORT and mentioned("changing", match[1])
    return f"{match[1]}: {text[match.end() :]}" if is_telling else text[match.end() :]


def _joined(told: Sequence[str]) -> str:
    """Return the first sentence of *told*, with those behind it that a fact has room for."""
    kept = told[0]
    for text in told[1:]:
        if len(kept) + len("; ") + len(text) <= LONGEST and not is_said(words(text), [words(kept)]):
            kept = f"{kept.rstrip('.。')}; {text}"
    return kept


def _fitting(text: str) -> str:
    """Return as many whole sentences of *text* as a fact may have; empty if the first is too long."""
    kept = ""
    for sentence in sentences(text) if len(text) > LONGEST else [text]:
        longer = f"{kept} {sentence}".strip()
        if len(longer) > LONGEST:
            break
        kept = longer
    return kept
