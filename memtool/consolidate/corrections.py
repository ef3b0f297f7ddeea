"""Corrections by the user in a session, from its turns: their own words, and the agent's where it gave in. Pure.

A prompt that contradicts, that was typed while refusing a tool, or in which the agent found them right, is a
correction. Of any other prompt only what says how things are to be is taken, or what to do instead of something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memtool.capture.turns import Turn
from memtool.consolidate.proposals import LIKELY, POSSIBLE, Proposal
from memtool.consolidate.session_views import SessionView
from memtool.consolidate.spans import Grounds
from memtool.text.languages import begins_with, cites_order, leads, mentioned, starts_with, words as words_of_kind
from memtool.text.lines import width
from memtool.text.statements import plain, sentences
from memtool.vault.authors import AGENT, USER
from memtool.vault.session_rows import names_something

_LONGEST_TYPED = 700  # columns of a prompt; a longer one holds a plan or a document
_SHORTEST_STATEMENT, _SHORTEST_GIVEN = 30, 24  # columns of what the user states, and the agent when it gives in
_CONCEDING = ("concession", "admission")
_GOING_ON = ("continuing", "picking")
_INITIALS = re.compile(r"(?<![A-Za-z])[A-Z]{2}(?![A-Za-z])")  # "UI" names nothing
_PRINTED = re.compile(r"\d:\d\d|(?:^|\s)[+-]\w|(?i:^\W*(?:for|line|in|at) \d)")  # a log, a diff, the number of a line
_LISTED = re.compile(r"^\W*(?:\d{1,2}[.)、]\s*)|(?:\s+\d{1,2}[.)])$")  # the number of an item, or of the next one
_ANSWERED = re.compile(r"^[«“][^»”]{1,200}[»”]\s*")
_MENTION = re.compile(r"(?<!\S)@\S+\s*")  # of a file, as the client lets one name it
_END = re.compile(r"(?:[吗呢嘛](?=[?？]))?[?？.。!！\s]+$")
_AFTER_CONCESSION = re.compile(r"\s*(?:[-–—,.:!，。！：]+|that\b|$)\s*")
_SELF = re.compile(r"(?i)^(?:i|i'll|i've|i'm|my|let|sorry|that|we'll)\b|^(?:我|让我|抱歉)")


def corrections_in(view: SessionView, turns: Sequence[Turn], grounds: Grounds) -> Iterator[Proposal]:
    """Give a proposal for each correction or wish of the user in *turns*, with its place in the note of *view*."""
    for at, turn in enumerate(turns):
        source = grounds.of(at)
        if source is None or turn.pasted or turn.verdict == "refuted":
            continue
        given = _given_in(turn) if turn.verdict != "rejected" else ""
        is_correction = turn.refused or _is_conceded(turn)
        is_correction = is_correction or (at > 0 and turns[at - 1].verdict in ("corrected", "rejected"))
        is_correction = is_correction or any(map(_condition, sentences(turn.asked)))
        wanted = [] if given and _leans(turn.asked) else list(_wanted(turn, is_correction=is_correction))
        is_done = bool(turn.files) and turn.verdict in ("", "confirmed", "went on")
        for sentence in wanted or ([] if given else _stated(turn)):
            is_sure = is_correction or (
                is_done and bool(mentioned("preferring", sentence)) and not leads("condition", sentence)
            )
            confidence = LIKELY if is_sure else POSSIBLE
            yield Proposal(sentence, "preference", USER, view.project, (source,), "", view.date, confidence)
        if given and not wanted:
            span = grounds.of_text(at, given) or source
            yield Proposal(given, "architecture", AGENT, view.project, (span,), "", view.date, LIKELY)


def _leans(asked: str) -> bool:
    return starts_with("deictic", _plain(asked))


def _wanted(turn: Turn, *, is_correction: bool) -> Iterator[str]:
    """Give the sentences that say how things are to be, or what to do instead of something."""
    if width(turn.asked) > _LONGEST_TYPED or not (turn.files or turn.runs or is_correction or _is_agreed(turn)):
        return
    for sentence in map(_plain, sentences(turn.asked)):
        if cites_order(sentence):
            continue
        if condition := _condition(sentence):
            yield condition
            continue
        text = _order(sentence)
        is_asked = sentence.endswith(("?", "？")) and text == sentence
        is_preferred = mentioned("preferring", text) and not mentioned("option", text)
        is_wished = mentioned("wish", sentence) and (is_correction or names_something(sentence))
        is_wished = is_wished or (is_correction and bool(mentioned("manner", text)))
        is_wanted = is_preferred and not mentioned("hedge", text)
        if not is_asked and (is_wanted or (is_wished and not _is_aside(sentence, text))):
            yield text


def _is_agreed(turn: Turn) -> bool:
    return turn.verdict == "confirmed" and not turn.asked.endswith(("?", "？"))


def _condition(sentence: str) -> str:
    """Return the condition in "yes, but ..."; empty if *sentence* is not of that kind, or asks."""
    match = re.match(r"\W*([^,，]{1,20})[,，]\s*(\w+)[,，]?\s*(.+)", sentence)
    if not match or sentence.endswith(("?", "？")) or not leads("consent", match[1]):
        return ""
    rest = sentence[match.start(2) :]
    but = max((word for word in words_of_kind("contrast") if rest.casefold().startswith(word)), key=len, default="")
    behind = rest[len(but) :].lstrip(" ,，")
    return behind if but and width(behind) >= _SHORTEST_GIVEN and names_something(behind) else ""


def _stated(turn: Turn) -> Iterator[str]:
    """Give what the user states in a prompt after which the agent gave in."""
    if not _is_conceded(turn) or width(turn.asked) > _LONGEST_TYPED:
        return
    for sentence in map(_plain, sentences(turn.asked)):
        is_told = width(sentence) >= _SHORTEST_STATEMENT and not sentence.endswith(("?", "？"))
        is_told = is_told and (names_something(sentence) or bool(re.search(r"\w-\w", sentence)))
        if is_told and _order(sentence) == sentence and not (_is_aside(sentence) or _PRINTED.search(sentence)):
            yield sentence


def _is_aside(sentence: str, text: str = "") -> bool:
    """Return whether *sentence*, an order as *text*, only wonders, goes on, or takes an option."""
    return bool(mentioned("hedge", text or sentence)) or any(starts_with(kind, sentence) for kind in _GOING_ON)


def _order(sentence: str) -> str:
    """Return *sentence* without the courtesy that makes a question of an order."""
    for word in words_of_kind("courtesy"):
        at = sentence.casefold().find(word)
        if at >= 0:
            head, tail = sentence[:at], sentence[at + len(word) :]
            if not head.strip() or head.rstrip().endswith((".", ",", "，", "…", ":", "：")):
                return _END.sub("", f"{head}{tail}").strip(" ,，")
    return sentence


def _plain(sentence: str) -> str:
    """Return *sentence* without the number of a list, the files that it names to the client, and what it quotes."""
    return _MENTION.sub("", _LISTED.sub("", _ANSWERED.sub("", sentence))).strip()


def _is_conceded(turn: Turn) -> bool:
    """Return whether the agent found the user right; "you're right to ask" finds nothing."""
    first = next(iter(sentences(plain(turn.amends)[0])), "")
    return any(starts_with(kind, first) for kind in _CONCEDING) and _behind_concession(first) is not None


def _given_in(turn: Turn) -> str:
    """Return the agent's words when it gave in: the first statement behind "you're right"; empty if there is none."""
    if not _is_conceded(turn):
        return ""
    for sentence in sentences(plain(turn.amends)[0]):
        text = _behind_concession(sentence) or ""
        is_rule = bool(mentioned("wish", text))
        is_told = width(text) >= _SHORTEST_GIVEN and not text.endswith((":", "：", "?", "？"))
        is_told = is_told and (is_rule or names_something(_INITIALS.sub("", text)))
        is_vague = _SELF.match(text) or leads("deictic", text) or mentioned("hedge", text)
        if is_told and not is_vague and not begins_with("announcement", text):
            return text[0].upper() + text[1:]
    return ""


def _behind_concession(sentence: str) -> str | None:
    """Return *sentence* without the "you're right" that it begins with; None if that concedes nothing."""
    words = (word for kind in _CONCEDING for word in words_of_kind(kind) if sentence.casefold().startswith(word))
    if not (longest := max(words, key=len, default="")):
        return sentence
    match = re.match(_AFTER_CONCESSION, sentence[len(longest) :])
    return sentence[len(longest) + match.end() :] if match else None
