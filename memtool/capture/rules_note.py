"""The note of a session, made of its turns without a model. Pure.

Everything in it was said. A role is claimed only where it is sure; all else is what the user asked and what came of it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memtool.capture.checks import last_ends
from memtool.capture.decisions import decided_in, is_quoted, own_words
from memtool.capture.mended import base_name, fixes_in
from memtool.capture.outcomes import (
    best_of,
    is_doubted,
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
_EARLY, _BEGUN, _ASKED = 0.6, 4.0, 0.6  # weights of what may be a title
_FIRST, _ASKS = 6, 2  # sentences of an answer, of a prompt among which a title is looked for
_CLOSING, _LEAST_CLOSING = 6, 16  # sentences at the end, among them the closing question; its columns
_LEAST_SHARED = 2  # words that a sentence of an answer shares with what was asked
_HANGING = re.compile(
    r"(?:When|If|While|Since|Once|After|Before|As|Because|Although|This|That|It|These|But|So|Now|I|You|We|Here|All|Everything)\b"
)
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
    """Return what names best what came of *turns*, of the first kind of text that there is.

    A commit or an approved plan names it, else the first sentence of an answer, else the prompt that most was about.
    """
    counts = Counter(word for turn in turns for word in telling_words(_all_of(turn)))
    counts.update(word for turn in turns for word in telling_words(own_words(turn)))

    def best(candidates: Iterable[tuple[str, float]]) -> str:
        return max(candidates, key=lambda each: each[1] * _share(each[0], counts), default=("", 0.0))[0]

    told = (_named(turns), _answered(turns), _prompted(turns))
    titles = (text for candidates in told if (text := best(candidates)))
    return next(titles, "" if branch in _UNTOLD_BRANCHES else branch)


def _share(text: str, counts: Mapping[str, int]) -> float:
    """Return how much of what was typed, said and edited *text* is about; *counts* has the words of all that."""
    told = telling_words(text)
    return (1 + sum(min(max(counts[word] - 1, 0), _OFTEN) for word in told)) / math.sqrt(len(told) + 2)


def _all_of(turn: Turn) -> str:
    return " ".join([own_words(turn), *result_of(turn), *map(base_name, turn.files)])


def _named(turns: Sequence[Turn]) -> Iterator[tuple[str, float]]:
    """Give the subjects of commits and the headings of plans that were carried out, later ones with more weight."""
    for at, turn in enumerate(turns):
        plans = [plan.text for plan in turn.plans if plan.fate == "approved"]
        for text in (*turn.commits, *map(_heading, (*plans, _typed_plan(turn)))):
            if (head := _head(plain(text)[0], _WIDEST_NAMED)) and not gives_order(text):
                yield head, _EARLY + (1 - _EARLY) * (at + 1) / len(turns)


def _answered(turns: Sequence[Turn]) -> Iterator[tuple[str, float]]:
    """Give the first sentences of what came of the last turn that edited a file, or of the last one.

    Each speaks of what was asked, then or when the session began.
    """
    at = max((at for at, turn in enumerate(turns) if turn.edits), default=len(turns) - 1)
    after = turns[at + 1] if at + 1 < len(turns) else Turn()
    if at < 0 or is_doubted(turns[at], after) or at in taken_back(turns):
        return
    begun, asked = telling_words(own_words(turns[_first(turns)])), telling_words(own_words(turns[at]))
    for message in result_of(turns[at]):
        for each in statements(message)[:_FIRST]:
            head = _head(each.text, _WIDEST_NAMED)
            is_whole = head == each.text.rstrip(" :：.。!！") and not each.is_listed
            told = telling_words(head)
            is_about = bool(told & begun) and len(told & (begun | asked)) >= _LEAST_SHARED
            is_about = is_about or (at == _first(turns) and names_something(head))
            if is_whole and is_about and _is_outcome(each):
                yield head, 1.5 if names_something(head) else 1.0


def _first(turns: Sequence[Turn]) -> int:
    """Return the place of the first turn whose prompt tells something."""
    return next((at for at, turn in enumerate(turns) if width(own_words(turn)) > _SHORT), 0)


def _prompted(turns: Sequence[Turn]) -> Iterator[tuple[str, float]]:
    """Give the first sentences of the prompts; what the session began with counts most, and orders before questions."""
    first = _first(turns)
    for at, turn in enumerate(turns):
        for text in sentences(own_words(turn))[:_ASKS]:
            if head := _head(text, _WIDEST_TITLE) or (shortened(text, _WIDEST_TITLE) if at == first else ""):
                yield head, (_BEGUN if at == first else 1.0) * (_ASKED if is_question(text) else 1.0)


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
    text = re.sub(r"\A(?:@\S+\s+)+", "", text).rstrip(" :：.。!！")
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
    return next((text for text in reversed(told) if is_question(text) and width(text) >= _LEAST_CLOSING), "")


def _commands(turns: Sequence[Turn]) -> Iterator[Line]:
    """Give the last checks that passed, if they passed the last time."""
    passed = [Line(command, COMMAND, AGENT, end.turn + 1) for command, end in last_ends(turns).items() if not end.error]
    yield from [line for line in passed if width(line.text) <= _WIDEST_COMMAND][-_MOST_COMMANDS:]
