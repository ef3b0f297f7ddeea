"""The note of a session, made of its turns without a model. Pure.

Everything in it was said. A role is claimed only where it is sure; all else is what the user asked and what came of it.
The title is a commit or a plan that was carried out, else what the agent says was done about what was asked, else what
the user asked for: of each kind the one that shares most with what was typed, answered and edited.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from memtool.capture.checks import last_ends
from memtool.capture.decisions import decided_in, is_quoted, offered, own_words, taken
from memtool.capture.mended import base_name, fixes_in
from memtool.capture.outcomes import (
    TurnOutcome,
    best_of,
    is_doubted,
    is_question,
    names_something,
    outcomes_in,
    result_of,
    taken_back,
    telling_words,
)
from memtool.capture.turns import Turn
from memtool.capture.view import informing, is_promise
from memtool.text.languages import gives_order, labels, leads, pattern_of, starts_with, without_openings
from memtool.text.lines import shortened, width
from memtool.text.statements import plain, sentences, statements
from memtool.vault.memory import AGENT, COMMAND, DECISION, FIX, OPEN, RULE, USER
from memtool.vault.sessions import Draft, Line

_CLOSING, _LEAST_CLOSING = 6, 16  # sentences at the end, among them the closing question; its columns
_ROOM, _LEAST_ROOM = 1_900, 700  # columns of the lines of a note; of what came of it at least
_WIDEST_ASKED = 220  # columns of what the session began with
_WIDEST_BEGINNING, _LEAST_BEGINNING = 90, 10  # columns of any other prompt
_MOST_FIXES, _MOST_OPEN, _MOST_COMMANDS, _MOST_FILES = 3, 3, 3, 5
_WIDEST_OPEN, _WIDEST_COMMAND = 300, 100
_SIDE_QUESTION, _SHORT = (
    48,
    24,
)  # columns of a first question that the session is not about; of a prompt that tells nothing
_TELLS_FROM = 24  # bytes, eight Chinese characters; a shorter prompt ("yes", "commit") goes on with the one before
_TALK = 2  # turns
_OPTION = 20  # characters by which a statement is known as an option
_CLAUSE_END = re.compile(r"(?<=[.!?])\s|[,;:] |[，。；：！？、]| [-–—] | \(")
_SECTIONS = (DECISION, RULE, FIX, "", OPEN, COMMAND)

# Of titles.
_WIDEST, _LEAST, _LEAST_CUT = 70, 20, 28  # columns of a title and of a clause
_TELLS_LITTLE = 32  # columns of a prompt that does not say where
_FIRST, _BEGUN = 6, 3  # sentences of an answer, of the first prompt
_OF_ASKED = 0.3  # least share of a commit's subject, of that of the prompt
_ASKED, _LATER, _TELLS = 0.4, 0.5, 1.5  # weight of a question; of a later prompt; of what was done, or names something
_UNTOLD_BRANCHES = frozenset({"main", "master", "develop", "trunk", "HEAD"})
_CLAUSES = (
    re.compile(r"[;；，。]| [-–—] |——|, "),
    re.compile(r" (?:and|but|to|by|so|for|with|using|because|even|since|that|which|where|while|after|before|without) "),
)
_UNFINISHED = re.compile(
    r"\b(?:an?|and|are|at|from|in|is|of|on|or|the|to|with)$|\b(?:between|both|either|neither|only|not)\b"
)
_MENTION = re.compile(r"@\S+\s+")
_SPEAKING = re.compile(r"(?:I|We|You|Here)\b")  # "I see the issue now"
_SPEAKER = re.compile(r"^(?:I|We)(?:'ve| have)? (?:\w+ly )?(?=\w+ed\b)")  # "I've updated …"
_PAST = re.compile(r"^(?:[A-Z]?[a-z]+ed|Built|Made|Wr[io]t\w+|Found|Set)\b|\bnow\b|已|完成")
_LABELLED = re.compile(r"\W|\d+\.|[^:：]{1,24}[:：]\s|[\w/.-]+/[\w/.-]+ ")  # "Option 1: …", a path


def write_by_rules(turns: Sequence[Turn], *, branch: str = "", language: str = "en") -> Draft:
    """Return the note of *turns*; files are absolute paths. *language* is that of the few words that nobody said."""
    decided = decided_in(turns)
    still_open = list(_open(turns, language))[:_MOST_OPEN]
    commands, fixes = list(_commands(turns)), fixes_in(turns)[-_MOST_FIXES:]
    title, asked, found = title_of(turns, branch), _asked(turns), _without_options(outcomes_in(turns), turns)
    sure = [*decided, *fixes, *still_open, *commands]
    room = max(_LEAST_ROOM, _ROOM - sum(width(line.text) + 6 for line in sure) - width(asked))
    done = _done(turns, found, room, [title, asked, *(line.text for line in sure)])
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


def _without_options(found: Sequence[TurnOutcome], turns: Sequence[Turn]) -> list[TurnOutcome]:
    """Return *found* without the options between which the user chose: the choice is among the decisions."""
    options = {
        at: offered(turn.said).values()
        for at, (turn, after) in enumerate(pairwise(turns), 1)
        if taken(own_words(after), turn.said)
    }
    return [each for each in found if not any(text[:_OPTION] in each.text for text in options.get(each.turn, ()))]


def _done(turns: Sequence[Turn], found: Sequence[TurnOutcome], room: int, known: Sequence[str]) -> Iterator[Line]:
    beginnings = list(_beginnings(turns))
    room -= sum(width(text) for text in dict.fromkeys(beginnings)) // 2
    for each in best_of(found, room, known=known):
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


def _to_clause(text: str, widest: int = _WIDEST_BEGINNING, least: int = _LEAST_BEGINNING) -> str:
    """Return the beginning of *text* to the end of a sentence or of a clause, so that no condition is cut in two."""
    if width(text) <= widest:
        return text
    heads = [text[: match.start()] for match in _CLAUSE_END.finditer(text)]
    fit = [head for head in heads if least <= width(head) < widest]
    if not fit:
        return shortened(text, widest)
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
    else:
        ends = [each.text for each in statements(last.said)[-_CLOSING:]]
        asked = [text for text in ends if is_question(text) and width(text) >= _LEAST_CLOSING]
        yield from (Line(names["no_decision"].format(text), OPEN, AGENT, number) for text in asked[-1:])


def _is_unanswered(turn: Turn, turns: Sequence[Turn]) -> bool:
    """Return whether nothing came of *turn*; where no message of any turn is known, only the prompts are left."""
    said = any(not is_promise(message) for message in informing(turn))
    return not (said or turn.files or turn.commits) and any(each.messages for each in turns)


def _commands(turns: Sequence[Turn]) -> Iterator[Line]:
    """Give the last checks that passed, if they passed the last time."""
    passed = [Line(command, COMMAND, AGENT, end.turn + 1) for command, end in last_ends(turns).items() if not end.error]
    yield from [line for line in passed if width(line.text) <= _WIDEST_COMMAND][-_MOST_COMMANDS:]


class _Candidate(NamedTuple):
    """A *text* that may be a title, how much it counts, and its turn."""

    text: str
    weight: float
    turn: Turn = Turn()


def title_of(turns: Sequence[Turn], branch: str = "") -> str:
    """Return the title of *turns*; the *branch* as words where nothing else names them."""
    counts = _counts(turns)

    def best(candidates: Iterable[_Candidate]) -> tuple[float, str]:
        heads = [(each, _head(each.text)) for each in candidates]
        valued = [(each.weight * _share(head, counts), _in_file(head, each.turn)) for each, head in heads if head]
        return max(valued, default=(0.0, ""))

    (named, subject), (_, done), (asked, demand) = map(best, (_named(turns), _done_in(turns), _asked_for(turns)))
    title = (subject if named >= _OF_ASKED * asked else "") or done or demand or subject
    words = "" if branch in _UNTOLD_BRANCHES else re.sub(r"[-_]+", " ", branch.rsplit("/", 1)[-1])
    return title or words or shortened(own_words(next(iter(turns), Turn())), _WIDEST)


def heading(text: str) -> str:
    """Return the first line of the document *text*, without a word for what it is ("Plan: …")."""
    return plain(re.sub(r"^#*\s*(?:\w+[:：]\s*)?", "", text.strip().split("\n", 1)[0]))[0]


def _counts(turns: Sequence[Turn]) -> Mapping[str, int]:
    """Return the words of what was typed, answered and edited; what was typed counts twice."""
    counts: Counter[str] = Counter()
    for turn in turns:
        files = re.sub(r"[_.-]", " ", " ".join(map(base_name, turn.files)))
        counts.update(telling_words(result_of(turn)))
        counts.update(telling_words(files))
        counts.update(2 * list(telling_words(own_words(turn))))
    return counts


def _share(text: str, counts: Mapping[str, int]) -> float:
    told = telling_words(text)
    return sum(counts[word] for word in told) / math.sqrt(len(told) + 3)


def _named(turns: Sequence[Turn]) -> Iterator[_Candidate]:
    """Give the subjects of commits and the headings of plans that were carried out."""
    for turn in turns:
        plans = [plan.text for plan in turn.plans if plan.fate == "approved"]
        plans += [turn.typed] if turn.typed.startswith("# ") and not turn.pasted else []
        for text in (*turn.commits, *map(heading, plans)):
            if not gives_order(text):
                yield _Candidate(text, 1.0)


def _done_in(turns: Sequence[Turn]) -> Iterator[_Candidate]:
    """Give the first sentences of what came of each turn that edited, if they say what was done; of a talk all."""
    gone, is_talk, busiest = (
        taken_back(turns),
        len(turns) == 1 and not turns[0].files,
        max(turns, key=_size, default=Turn()),
    )
    first = telling_words(own_words(_first(turns)))
    for at, turn in enumerate(turns):
        if at in gone or is_doubted(turns, at) or not (turn.files or is_talk):
            continue
        asked = first | telling_words(own_words(turn)) if turn == busiest else first
        for each in statements(result_of(turn))[:_FIRST]:
            text = _SPEAKER.sub("", each.text)
            text = text[:1].upper() + text[1:]
            is_told = not (each.is_listed or gives_order(f"{each.lead}: {text}")) and _says_by_itself(text)
            if is_told and (is_talk or _PAST.search(text)) and telling_words(text) & asked:
                yield _Candidate(text, _TELLS if names_something(text) else 1.0, turn)


def _says_by_itself(text: str) -> bool:
    if is_question(text) or _LABELLED.match(text) or _SPEAKING.match(text) or leads("deictic", text):
        return False
    return not any(starts_with(kind, text) for kind in ("announcement", "admission", "consent"))


def _first(turns: Sequence[Turn]) -> Turn:
    """Return the first turn whose prompt tells something."""
    return next((turn for turn in turns if width(own_words(turn)) > _SHORT), Turn())


def _asked_for(turns: Sequence[Turn]) -> Iterator[_Candidate]:
    """Give the first order of the first prompt that tells something, else of that with most work, else the question."""
    touched = Turn(edits=tuple(edit for turn in turns for edit in turn.edits))
    first, busiest = _first(turns), max(turns, key=_size, default=Turn())
    for turn in (first, busiest) if busiest.files else (first,):
        told = [(_without_plea(text), text) for text in sentences(own_words(turn))[:_BEGUN]]
        cut = [(_to_clause(own, _WIDEST, _LEAST_CUT), own != text) for own, text in told]
        orders = [text for text, is_plea in cut if is_plea or not is_question(text)]
        for text in (orders or [text for text, _ in cut])[:1]:
            weight = (1.0 if turn == first else _LATER) * (1.0 if orders else _ASKED)
            yield _Candidate(text, weight, touched if width(text) < _TELLS_LITTLE else Turn())


def _size(turn: Turn) -> int:
    return sum(edit.added + edit.removed for edit in turn.edits if not edit.stopped)


def _without_plea(text: str) -> str:
    """Return *text* without mentions of files and words that only ask before it: "can you please …"."""
    plea, own = re.compile(pattern_of("plea"), re.IGNORECASE), without_openings(text)
    while (match := _MENTION.match(own) or plea.match(own)) and width(own[match.end() :]) >= _LEAST:
        own = own[match.end() :]
    return own if own == text else own[:1].upper() + own[1:]


def _in_file(head: str, turn: Turn) -> str:
    """Return *head* behind the file that was edited most in *turn*, if it names none of them and there is room."""
    names = [base_name(file) for file in turn.files]
    if not head or not names or any(name.split(".")[0].casefold() in head.casefold() for name in names):
        return head
    sizes: Counter[str] = Counter()
    for edit in turn.edits:
        sizes[base_name(edit.file)] += 0 if edit.stopped else 1 + math.isqrt(edit.added + edit.removed)
    named = f"{sizes.most_common(1)[0][0]}: {head}"
    return named if width(named) <= _WIDEST else head


def _head(text: str) -> str:
    """Return *text*, or its first clause, if that can be a title; else nothing."""
    whole = text.rstrip(" :：.。!！")
    if width(whole) <= _WIDEST:
        return whole if _is_title(whole) and not text.endswith((":", "：")) else ""
    for clause in () if leads("deictic", whole) else _CLAUSES:
        heads = [whole[: match.start()] for match in clause.finditer(whole)]
        fit = [head for head in heads if width(head) >= _LEAST_CUT and _is_title(head) and not _UNFINISHED.search(head)]
        if fit:
            return fit[-1]
    return ""


def _is_title(text: str) -> bool:
    is_whole = text.count("(") == text.count(")") and text.count("“") == text.count("”") and text.count('"') % 2 == 0
    return _LEAST <= width(text) <= _WIDEST and is_whole and not re.search("[→·]|….", text)
