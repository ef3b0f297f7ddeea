"""What the user decided, demanded and put off in a session: their own sentences. Pure.

A sentence counts where it orders or chooses, was followed by work or ended the session, and was not taken back: by a
word for that, or by a new choice for the same thing. What is asked, cited or imagined is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from memtool.capture.choices import offered, taken
from memtool.capture.outcomes import telling_words
from memtool.capture.turns import Turn
from memtool.text.languages import begins_with, cites_order, gives_order, pattern_of, starts_with, word_set
from memtool.text.lines import one_line, shortened, width
from memtool.text.statements import prose, sentences, statements
from memtool.vault.authors import DECISION, OPEN, RULE, USER
from memtool.vault.sessions import Line

_LONGEST_TYPED = 600  # columns; a longer prompt holds something that was pasted, whatever it says
_WIDEST, _WIDEST_QUESTION, _WIDEST_ANSWER = 240, 180, 110  # columns
_BRIEF = 40  # columns
_TELLING = 3  # words of a sentence that tells what it is about
_BACK = 4  # statements at the end of a message among which its question is
_BARE = 20  # columns of a question that asks for no more than consent
_WORK = 2  # turns within which work follows
_SAME = 0.5  # of the words of the shorter one of two choices for the same thing
_KINDS = {OPEN: "pending", RULE: "demanding", DECISION: "deciding"}  # by role, the first that fits
_COMMAND = re.compile(r"\A/[\w:-]+\s+")  # "/review the changes"
_FOREIGN = re.compile(r"(?ms)^@@ .*|^(?:>|\+(?=\S)|<)[^\n]*$")  # a diff, what is quoted, a line of a log
_LINK = re.compile(r"https?://\S+")
_QUOTED = re.compile(r'["“„«「『](?=\w)[^"“”„«»「」『』]{3,}["”“»」』]')
_CITING = re.compile(r"[:：]\s*…")  # what was said of a quotation, without it
_ASKS = re.compile("[?？]")
_DOCUMENT = re.compile(r"(?m)^#{1,3} \S")
_PASTED = re.compile(r"(?<=[:：])\s*\n\s*\n.*", re.DOTALL)  # "translate this notice:", and an empty line


def own_words(turn: Turn) -> str:
    """Return what the user typed on one line, without links, quotations, code and logs; nothing of what was pasted."""
    text = _own_text(turn)
    return prose(text) or one_line(text)[:200]


def _own_text(turn: Turn) -> str:
    if turn.pasted:
        return ""
    text = _LINK.sub("…", turn.typed) if _LINK.sub("", turn.typed).strip() else turn.typed
    return _FOREIGN.sub("", _COMMAND.sub("", text, count=1) or text)


def is_quoted(text: str, message: str) -> bool:
    """Return whether the sentence *text* stands in the agent's *message*."""
    return width(text) > _BRIEF and re.sub(r"\W+", "", text) in re.sub(r"\W+", "", message)


def decided_in(turns: Sequence[Turn]) -> list[Line]:
    """Return the decisions, the rules and what the user left open, in order."""
    found: list[Line] = []
    for at in range(len(turns)):
        new = [*_chosen(turns[at], at), *_said(turns, at, found)]
        begins = (sentences(own_words(turns[at])) or [""])[0]
        gone = [line for line in found if any(_replaces(line, other, turns) for other in new)]
        if any(line.role == DECISION for line in new) and _retracts(begins):
            gone += [line for line in found if line.role == DECISION and _is_about(turns, line, at)]
        found = [line for line in found if line not in gone] + new
    return list({line.text: line for line in found}.values())


def _chosen(turn: Turn, at: int) -> Iterator[Line]:
    """Give what the user chose when a tool asked."""
    for dialog in turn.dialogs:
        if not (_ASKS.search(dialog.answer) or _matches("aside", dialog.answer) or gives_order(dialog.question)):
            answer = shortened(dialog.answer, _WIDEST)
            yield Line(f"{shortened(dialog.question, _WIDEST_QUESTION)} → {answer}", DECISION, USER, at + 1)


def _said(turns: Sequence[Turn], at: int, before: Sequence[Line]) -> Iterator[Line]:
    """Give what the user decided, demanded or put off with what they typed."""
    turn, message = turns[at], turns[at - 1].said if at else ""
    if turn.pasted or _DOCUMENT.search(turn.typed) or width(turn.typed) > _LONGEST_TYPED:
        return
    typed = own_words(turn)
    first = (sentences(typed) or [""])[0]
    is_held = _is_held(turns, at) and not _asks_for_options(turns, at)
    own = [
        each
        for each in _own(_PASTED.sub("", _own_text(turn)))
        if (is_held or each[0] == RULE) and not is_quoted(each[1], message)
    ]
    if not own and (_corrects(turns, at, first) or any(_is_about(turns, line, at) for line in before)):
        own = [
            (DECISION, text) for text in sentences(typed) if _retracts(text) and len(telling_words(text)) >= _TELLING
        ][:1]
    if not own and begins_with("contradiction", first) and _corrects(turns, at, typed) and _is_plain(typed):
        own = [(DECISION, typed.removeprefix(first).strip() or typed)]
    decides = any(role == DECISION for role, _ in own)
    answer = _answer(typed, first, message, decides=decides)
    if answer and is_held:
        yield Line(answer, DECISION, USER, at + 1)
    for role, text in own:
        if role == RULE and text == first and _question(message) and _matches("deciding", text):
            yield Line(f"“{text}”", DECISION, USER, at + 1)
        elif text not in answer:
            yield Line(f"“{text}”" if role == DECISION else text, role, USER, at + 1)


def _is_about(turns: Sequence[Turn], line: Line, at: int) -> bool:
    """Return whether the turn number *at* edits what the one of *line* did, not long before it."""
    return at + 1 - line.turn <= _WORK and bool(set(turns[line.turn - 1].files) & set(turns[at].files))


def _corrects(turns: Sequence[Turn], at: int, first: str) -> bool:
    """Return whether the turn number *at* does anew what the one before did, as the user wants it otherwise."""
    return at > 0 and width(first) <= _WIDEST_ANSWER and bool(set(turns[at - 1].files) & set(turns[at].files))


def _is_plain(typed: str) -> bool:
    """Return whether nothing in *typed* asks, cites or doubts."""
    return not (_ASKS.search(typed) or any(_matches("aside", text) for text in sentences(typed)))


def _retracts(text: str) -> bool:
    return _matches("retracting", text) and not (_ASKS.search(text) or _matches("aside", text))


def _is_held(turns: Sequence[Turn], at: int) -> bool:
    """Return whether work followed upon the turn number *at*, or it ends the session as a talk.

    That commands alone were run in it says no more than that it asked for them.
    """
    turn, later = turns[at], turns[at + 1 : at + _WORK + 1]
    is_last = at == len(turns) - 1 and not turn.looked
    return bool(is_last or turn.files or turn.commits or any(one.files or one.commits or one.runs for one in later))


def _asks_for_options(turns: Sequence[Turn], at: int) -> bool:
    """Return whether the agent only answered the turn number *at* with options, of which the next turn may take one."""
    return not (turns[at].files or turns[at].commits) and bool(offered(turns[at].said))


def _own(typed: str) -> Iterator[tuple[str, str]]:
    """Give the sentences of what was *typed* that decide, demand or put off, each with its role."""
    cites = False
    for each in statements(_QUOTED.sub(lambda match: "…" if len(sentences(match[0])) > 1 else match[0], typed)):
        text = each.text
        bare = _QUOTED.sub("…", text)
        cites = cites or bool(_CITING.search(bare)) or cites_order(text)
        is_asked = bool(_ASKS.search(bare)) or _matches("asking", bare)
        role = next((role for role, kind in _KINDS.items() if _matches(kind, bare)), "")
        if role and not (cites or is_asked or width(text) > _WIDEST or _matches("aside", bare)):
            yield role, text


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(pattern_of(kind), re.IGNORECASE)


def _matches(kind: str, text: str) -> bool:
    return _pattern(kind).search(text) is not None


def _question(said: str) -> str:
    """Return the question with which the message *said* ends."""
    told = [each.text for each in statements(said)][-_BACK:]
    return next((text for text in reversed(told) if text.endswith(("?", "？"))), "")


def _answer(typed: str, first: str, message: str, *, decides: bool) -> str:
    """Return what the user chose or agreed to of what the agent's *message* asked, offered or proposed.

    *decides*: what was *typed*, of which *first* is the first sentence, holds a decision by itself.
    """
    if not (message and first) or _ASKS.search(first) or _matches("aside", first):
        return ""
    if options := taken(typed, message):
        told = "; ".join(f"{label} = {text}" if len(options) > 1 else text for label, text in options.items())
        return f"“{shortened(typed, _WIDEST_ANSWER)}” → {told}"
    if begins_with("contradiction", first):
        return _refused(typed, message)
    asked = _asked(typed, first, message, decides=decides)
    return f"{shortened(asked, _WIDEST_QUESTION)} → “{shortened(typed, _WIDEST_ANSWER)}”" if asked else ""


def _refused(typed: str, message: str) -> str:
    """Return what the agent's *message* asked and *typed* answers with no, if it was no offer to do the next thing."""
    question = _question(message)
    is_one = width(typed) <= _BRIEF and len(telling_words(question)) >= _TELLING and not begins_with("offer", question)
    return f"{shortened(question, _WIDEST_QUESTION)} → “{typed}”" if is_one else ""


def _asked(typed: str, first: str, message: str, *, decides: bool) -> str:
    """Return the proposal or the question of *message* that *typed* answers."""
    question = _question(message)
    if starts_with("consent", first) and not decides:
        said = [each.text for each in statements(message)][-_BACK:]
        if len(said) > 1 and question == said[-1] and width(question) <= _BARE and width(typed) <= _BRIEF:
            return said[-2]  # "Shall I do that?"
        proposals = (each.text for each in reversed(statements(message)[-_BACK:]) if _matches("proposing", each.text))
        if proposal := next(proposals, ""):
            return proposal
    if starts_with("consent", first) or width(typed) > _WIDEST_ANSWER:
        return ""
    asked = " ".join(each.text for each in statements(message)[-_BACK:])
    return question if telling_words(first) & telling_words(asked) else ""


def _replaces(old: Line, new: Line, turns: Sequence[Turn]) -> bool:
    """Return whether the decision *new* takes *old* back: by a word for that, or as another choice for the same.

    What soon changes the same files of a turn, and names what *old* did, is such a choice.
    """
    if OPEN in (old.role, new.role):
        return False
    before, after = telling_words(old.text), telling_words(new.text)
    shared, least = len(before & after), min(len(before), len(after))
    is_near = 0 < new.turn - old.turn <= _WORK
    retracts = _matches("retracting", new.text) and (old.role == DECISION or shared)  # a rule falls by its own words
    is_redone = (
        old.role == new.role == DECISION
        and bool((before & after) - word_set("function"))
        and _is_about(turns, old, new.turn - 1)
    )
    if is_near and (is_redone or retracts or _named(old.text) & _named(new.text)):
        return True
    return old.role == new.role == DECISION and shared >= max(2, _SAME * least) and before != after


def _named(text: str) -> set[str]:
    """Return the names in *text*: words with a capital letter, but for the first one."""
    return set(re.findall(r"(?<=[^.!?:“\s] )[A-Z][\w.-]+|(?<=[^\W\da-zA-Z_])[ ]?[A-Z][\w.-]+", text))
