"""What the user decided, demanded and put off in a session: their own sentences. Pure.

A sentence counts by what it says (the patterns of `memtool.text.languages`) or by its place: it answers what the agent
asked or proposed, or corrects what the agent has just done. Work must follow a decision, or it ends the session; a
later choice for the same thing replaces it. What is asked, cited or imagined is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memtool.capture import limits
from memtool.capture.outcomes import CLOSING, is_doubted, is_question, telling_words
from memtool.capture.turns import Turn
from memtool.text.languages import begins_with, gives_order, pattern_of, starts_with, word_set
from memtool.text.lines import one_line, shortened, width
from memtool.text.statements import plain, prose, sentences, statements
from memtool.vault.memory import DECISION, OPEN, RULE, USER
from memtool.vault.sessions import Line

_LONGEST_TYPED = 600  # columns; a longer prompt holds something that was pasted, whatever it says
_WIDEST, _WIDEST_ANSWER = 240, 110  # columns
_BRIEF = 40  # columns
_TELLING = 3  # words of a sentence that tells what it is about
_NAMED, _AGREED = 2, 5  # telling words of a sentence that decides between things, of one that agrees
_WORK = 2  # turns within which work follows
_SAME = 0.5  # of the words of the shorter one of two choices for the same thing
_KINDS = {OPEN: "pending", RULE: "demanding", DECISION: "deciding"}  # by role, the first that fits
_FOREIGN = re.compile(r"(?ms)^@@ .*|^(?:>|\+(?=\S)|<)[^\n]*$")  # a diff, what is quoted, a line of a log
_LINK = re.compile(r"https?://\S+")
_QUOTED = re.compile(r'["“„«「『](?=\w)[^"“”„«»「」『』]{3,}["”“»」』]')
_DOCUMENT = re.compile(  # a heading, or "translate this notice:", and an empty line
    r"(?m)^#{1,3} \S|[:：]\s*\n\s*\n|\A(?![-*\d])[^.!?。！？\n]{1,90}\n\s*\n"
)

_OF_AGENT = re.compile(r"\bI\b|我(?!们)")
_DIGITS = {digit: str(number) for number, digit in enumerate("一二三四五六", 1)}
_LABEL = r"(?:[A-Ha-h]|\d{1,2}|[一二三四五六])"
_WORD = r"(?:[A-Za-z]{2,12}\s|[^\W\d_A-Za-z]{1,4})?"  # "Option 2", 方案二: whatever word, it need not be known
_OPTION = re.compile(
    rf"(?:[-*+•|]\s+|#{{1,6}}\s+)?{_WORD}[(（]?({_LABEL})(?:[.)、:：）](?!\d)|\s+[-–—](?=\s))\s*(\w.*)"
)
_NEXT = re.compile(rf"(?<=[.:;。；：，,])\s*(?={_WORD}{_LABEL}[.)、:：）]\s*[^\W\d])|\s(?=\d[.)]\s)")
_END = (
    rf"(?=\s*(?:$|[,;，；。!！~]|\.(?:\s|$)|吧|\s[-–—]\s|\s[a-z]+(?:\W*$|[,;])"
    rf"|(?:[,&+/、和与]|\s[^\W\d_]{{1,3}}\s)\s*{_LABEL}(?!\w)))"
)
_TAKEN = re.compile(
    rf"(?:^|(?<=[\s,，。：:])|(?<=[^\W\da-zA-Z_]))({_LABEL})(?![A-Za-z0-9_%.]\w){_END}"
    r"|\A([B-H])\s|第\s?(\d|[一二三四五六])(?!\d)"  # "B but …", 第二个
)


def own_words(turn: Turn) -> str:
    """Return what the user typed on one line, without links, quotations, code and logs; nothing of what was pasted."""
    text = _own_text(turn)
    return prose(text) or one_line(text)[:200]


def _own_text(turn: Turn) -> str:
    if turn.pasted:
        return ""
    text = _LINK.sub("…", turn.typed) if _LINK.sub("", turn.typed).strip() else turn.typed
    return _FOREIGN.sub("", re.sub(r"\A/[\w:-]+\s+", "", text) or text)  # "/review the changes"


def is_quoted(text: str, message: str) -> bool:
    """Return whether the sentence *text* is one of the agent's *message*."""
    return width(text) > _BRIEF and re.sub(r"\W+", "", text) in re.sub(r"\W+", "", message)


def decided_in(turns: Sequence[Turn]) -> list[Line]:
    """Return the decisions, the rules and what the user left open, in order."""
    found: list[Line] = []
    for at, turn in enumerate(turns):
        new = [*_chosen(turn, at + 1), *_said(turns, at)]
        found = [line for line in found if not any(_replaces(line, other, turns) for other in new)] + new
    return list({line.text: line for line in found}.values())


def _chosen(turn: Turn, number: int) -> Iterator[Line]:
    """Give what the user chose when a tool asked."""
    for dialog in turn.dialogs:
        is_aside = _is_aside(dialog.answer) or _OF_AGENT.search(dialog.question)  # "Where should I write it down?"
        if not (is_aside or gives_order(dialog.question)):
            answer = shortened(dialog.answer, _WIDEST)
            yield Line(f"{shortened(dialog.question, _WIDEST)} → {answer}", DECISION, USER, number)


def _said(turns: Sequence[Turn], at: int) -> Iterator[Line]:
    """Give what the user decided, demanded or put off with what they typed."""
    turn, before = turns[at], turns[at - 1] if at else Turn()
    typed, is_held = own_words(turn), _is_held(turns, at)
    if turn.pasted or _DOCUMENT.search(turn.typed) or width(turn.typed) > _LONGEST_TYPED:
        first = turn.typed.strip().split("\n", 1)[0]
        if is_held and taken(first, before.said):
            yield Line(_answer(first, before.said, decides=False), DECISION, USER, at + 1)
        return
    if any(map(is_question, sentences(typed))):  # what is beside a question explains or leads to it
        first = sentences(typed)[0]
        if is_held and (answer := _answer(first, before.said, decides=False)):
            yield Line(answer, DECISION, USER, at + 1)
        return
    own = [
        each for each in _own(_own_text(turn)) if (is_held or each[0] == RULE) and not is_quoted(each[1], before.said)
    ]
    is_kept = is_held and not (starts_with("consent", typed) and _is_undone(turns, at))
    answer = _answer(typed, before.said, decides=any(role == DECISION for role, _ in own)) if is_kept else ""
    if answer:
        yield Line(answer, DECISION, USER, at + 1)
    elif not own and _corrects(before, turn, typed):
        own = [(DECISION, typed)]
    if answer and re.search(r"\bfirst\b|先", typed) and (chosen := taken(typed, before.said)):
        others = (text for label, text in offered(before.said).items() if label not in chosen)
        yield from (Line(text, OPEN, USER, at + 1) for text in others)
    for role, text in own:
        if text not in answer:
            yield Line(f"“{text}”" if role == DECISION else text, role, USER, at + 1)


def _is_held(turns: Sequence[Turn], at: int) -> bool:
    """Return whether work followed upon the turn number *at*, or it ends the session as a talk.

    That commands alone were run in it says no more than that it asked for them.
    """
    turn, later = turns[at], turns[at + 1 : at + _WORK + 1]
    is_last = at == len(turns) - 1 and not turn.looked
    return bool(is_last or turn.files or turn.commits or any(one.files or one.commits or one.runs for one in later))


def _is_undone(turns: Sequence[Turn], at: int) -> bool:
    """Return whether the user says that what was done in the turn number *at* did not help."""
    return is_doubted(turns, at) and not is_question(turns[at + 1].typed)


def _corrects(before: Turn, turn: Turn, typed: str) -> bool:
    """Return whether *turn* does anew what the one *before* did, as the user wants it otherwise.

    Nothing of what they *typed* asks, cites or doubts.
    """
    is_same = set(before.files) & set(turn.files)
    is_short = width(typed) <= _WIDEST_ANSWER and len(telling_words(typed)) >= _TELLING
    is_otherwise = begins_with("contradiction", typed) or _matches("retracting", typed)
    return bool(is_same) and is_short and is_otherwise and not any(map(_is_aside, sentences(typed)))


def _is_aside(text: str) -> bool:
    return _matches("aside", text) or re.search("[?？]", text) is not None


def _own(typed: str) -> Iterator[tuple[str, str]]:
    """Give the sentences of what was *typed* that decide, demand or put off, each with its role."""
    for each in statements(_QUOTED.sub(lambda match: "…" if len(sentences(match[0])) > 1 else match[0], typed)):
        text, bare = each.text, _QUOTED.sub("…", each.text)
        if re.search(r"[:：]\s*…", bare):
            return  # what comes next is somebody else's
        role = next((role for role, kind in _KINDS.items() if _matches(kind, bare)), "")
        if role == DECISION and _weight(bare) < (_AGREED if starts_with("consent", bare) else _NAMED):
            continue  # "OK, not bad.", "Yes, let's follow your advice."
        if role and width(text) <= _WIDEST and not _is_aside(bare):
            yield role, text


def _weight(text: str) -> int:
    """Return how many words of *text* tell what it is about."""
    return len(telling_words(text) - word_set("function") - word_set("consent"))


def _matches(kind: str, text: str) -> bool:
    return re.search(pattern_of(kind), text, re.IGNORECASE) is not None


def _answer(typed: str, message: str, *, decides: bool) -> str:
    """Return what the user chose or agreed to of what the agent's *message* asked, offered or proposed.

    *decides*: what was *typed* holds a decision by itself.
    """
    first = (sentences(typed) or [""])[0]
    if not (message and first) or is_question(first) or _matches("aside", first):
        return ""
    if options := taken(typed, message):
        told = "; ".join(f"{label} = {text}" if len(options) > 1 else text for label, text in options.items())
        return f"“{shortened(typed.rstrip(' :：'), _WIDEST_ANSWER)}” → {told}"
    if offered(message) and starts_with("consent", first) and _weight(typed) >= _TELLING:
        return f"“{typed}”" if width(typed) <= _WIDEST_ANSWER and not decides else ""  # one of them in their own words
    asked = _asked(typed, first, message, decides=decides) if width(typed) <= _WIDEST_ANSWER else ""
    return f"{shortened(asked, _WIDEST)} → “{shortened(typed, _WIDEST_ANSWER)}”" if asked else ""


def _asked(typed: str, first: str, message: str, *, decides: bool) -> str:
    """Return the proposal or the question of *message* that *typed* answers."""
    last = [each.text for each in statements(message)][-CLOSING:]
    question = next((text for text in reversed(last) if is_question(text)), "")
    if starts_with("consent", first):
        if question and question == last[-1] and len(telling_words(question)) < _TELLING:
            last = last[:-1]  # "Shall I do that?"
            return "" if decides else (last or [""])[-1]
        return "" if decides else next((text for text in reversed(last) if _matches("proposing", text)), "")
    is_no = begins_with("contradiction", first) and width(typed) <= _BRIEF and not begins_with("announcement", question)
    return question if is_no or telling_words(first) & telling_words(question) else ""


def _replaces(old: Line, new: Line, turns: Sequence[Turn]) -> bool:
    """Return whether the decision *new* takes *old* back: by a word for that, or as another choice for the same."""
    before, after = telling_words(old.text), telling_words(new.text)
    shared = len((before & after) - word_set("function"))
    if OPEN in (old.role, new.role) or before == after:
        return False
    is_near = 0 < new.turn - old.turn <= _WORK
    is_decided = old.role == new.role == DECISION
    is_redone = is_decided and set(turns[old.turn - 1].files) & set(turns[new.turn - 1].files)
    if is_near and (shared or is_redone) and _matches("retracting", new.text):
        return True
    return is_decided and bool(
        (is_near and is_redone and shared) or shared >= max(2, _SAME * min(len(before), len(after)))
    )


def offered(message: str) -> dict[str, str]:
    """Return the options in the agent's *message* by their labels; of several lists with the same labels the last."""
    lists: list[dict[str, str]] = [{}]
    lines = (part for line in message.splitlines() for part in _NEXT.split(line[: limits.PROMPT_HEAD]) if part)
    for match in filter(None, (_OPTION.match(plain(line)[0]) for line in lines)):
        label = _DIGITS.get(match[1], match[1].upper())
        if label in ("1", "A") and label in lists[-1]:
            lists.append({})
        if text := shortened(match[2].rstrip(" :：,，;；"), limits.LINE):
            lists[-1][label] = text
    found = next((each for each in reversed(lists) if len(each) > 1), {})
    return dict(list(found.items())[: limits.OPTIONS])


def taken(typed: str, message: str) -> dict[str, str]:
    """Return the options of the agent's *message* that the user takes with the first sentence of what was *typed*."""
    first = re.split(r"(?<=[.!?])\s+|(?<=[。！？])|\n", typed.strip())[0]
    options = offered(message) if width(first) <= _WIDEST else {}
    if not options or is_question(first):
        return {}
    matches = [match for match in _TAKEN.finditer(first) if match.start() == 0 or not match[0].islower()]
    labels = {match[1] or match[2] or match[3] for match in matches}
    labels = {_DIGITS.get(label, label.upper()) for label in labels}
    return {label: text for label, text in options.items() if label in labels}
