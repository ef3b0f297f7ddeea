"""The outcome of each turn of a session: the statements of the agent's last message in that turn. Pure.

The turn that changed files, committed or ran something tells what was *done*; any other one what was *found*. What was
interrupted, taken back or done anew tells nothing, and of an answer that ends in a question only what comes before its
options. Each turn gives its statements from the first one on; a list goes whole, or shows that it goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby, islice, pairwise
from typing import NamedTuple

from memtool.capture.checks import check_in
from memtool.capture.turns import Turn
from memtool.capture.view import goes_on, is_promise, looks, telling
from memtool.text.languages import begins_with, gives_order, leads, pattern_of, starts_with
from memtool.text.lines import width
from memtool.text.similarity import is_said, words
from memtool.text.statements import Statement, statements
from memtool.text.tokens import is_stop_word
from memtool.vault.memory import FINDING

_WIDEST, _WIDEST_LIST = 240, 400  # columns of a sentence, of a list
_SHORTEST = 48  # columns of a statement that names nothing
_SHORT_REPORT, _BEFORE = 220, 4  # columns of a last message that leaves it to one of the messages before to explain
CLOSING = 4  # statements at the end of a message, among them its question
_SAME = 0.7  # of the words of a statement that another one has
_NAMES = re.compile(r"\d|[a-z][A-Z]|\w_\w|\w\(\)|\w/\w|[A-Za-z]\.[a-z]|--\w|[A-Z]{2}")
_DETAIL = re.compile(r" [-–—] |: (?=\w+ = )|(?<=\w)[.。] ")  # behind the head of an item
_SPEAKER = re.compile(r"^(?:I|We)(?:'ve| have)? (?:\w+ly )?(?=\w+ed\b)")  # "I've moved …"
_INSTRUCTS = re.compile(r"(?:Step \d|Try|Run|Restart|Give|Compare|To \w+|How to|The .{1,40} is ready)\b|请")  # the user
_IF = re.compile(r"If\b|如果")  # a list of what may be
_PART = re.compile(r"(?m)^(?=#{1,6} |\*\*[^*\n]{2,60}\*\*:?\s*$)")  # before a heading
_SOLUTION = re.compile(r"(?i)[#*]+\W*(?:\w+ ){0,3}(?:solution|fix|after\b)|[#*]+.{0,6}(?:解决|方案|修复)")
PROBLEM = re.compile(
    r"(?i)[#*]+\W*(?:\w+ ){0,3}(?:problem|issue|background|before\b|why not|what was wrong)|[#*]+.{0,6}(?:问题|背景)"
)
_HASH = re.compile(r"\b[0-9a-f]{7,40}\b")  # of a commit
SCRATCH = "/tmp/"  # noqa: S108  (where a session tries things; nothing is written there)
_HERE = ("Here", "以下", "下面")
_ASKING, _COLONS = ("?", "？"), (":", "：")


class TurnOutcome(NamedTuple):
    """One statement of turn number *turn*, from 1, or a list with the line above it."""

    text: str
    turn: int
    role: str = ""
    is_listed: bool = False


@lru_cache(512)  # a note asks for it half a dozen times
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


def contradicts(typed: str) -> bool:
    """Return whether the user contradicts with what was *typed*."""
    return starts_with("contradiction", typed) and not starts_with("consent", typed)


def is_doubted(turns: Sequence[Turn], at: int) -> bool:
    """Return whether the user contradicts what came of the turn number *at*."""
    return at + 1 < len(turns) and (turns[at + 1].refused or contradicts(turns[at + 1].typed))


def changed(turn: Turn) -> bool:
    """Return whether *turn* changed something: a file, a commit, what a command does that neither looks nor checks."""
    ran = any(not (run.error or looks(run.command) or check_in(run.command)) for run in turn.runs)
    return bool(turn.files or turn.commits) or ran


def is_closed(turn: Turn) -> bool:
    """Return whether the last message of *turn* does not end in what the agent is about to do."""
    last = result_of(turn).rstrip().rpartition("\n")[2]
    return not (last.endswith(_COLONS) and begins_with("announcement", last))


def gone_in(turns: Sequence[Turn]) -> frozenset[int]:
    """Return the places of the turns of which nothing holds.

    The agent admits that it was wrong; or the user contradicts, and it edited nothing or what it edited was edited
    again. The turns that such a turn only goes on with are gone, too.
    """
    found: set[int] = set()
    for at in reversed(range(len(turns) - 1)):
        after, files = turns[at + 1], set(turns[at].files)
        later = {file for turn in turns[at + 1 :] for file in turn.files}
        is_redone = 2 * len(files & later) > len(files)
        admits = any(starts_with("admission", message) for message in (*after.messages[:3], after.said))
        is_stopped = after.refused and not contradicts(after.typed)
        is_wrong = (admits or is_doubted(turns, at)) and (is_redone or not (files or is_stopped))
        is_wrong = is_wrong or (after.refused and bool(files))  # what it says last was said on the way
        if is_wrong or (at + 1 in found and goes_on(after)):
            found.add(at)
    return frozenset(found)


def outcomes_in(turns: Sequence[Turn]) -> list[list[TurnOutcome]]:
    """Return the outcomes of *turns*, in the order of the turns."""
    gone, heads = gone_in(turns), [_heading_in(result_of(turn)) for turn in turns]
    found: list[list[TurnOutcome]] = []
    for at, turn in enumerate(turns):
        is_over = at in gone or bool(heads[at] and heads[at] in heads[at + 1 :])
        later = {file for other in turns[at + 1 :] for file in other.files}
        told = [] if is_over else list(_outcomes(turns, at))
        edits = [each for each in turn.edits if not (each.stopped or each.file in later)]
        edits = [each for each in edits if not each.file.startswith(SCRATCH)]
        if edits and not (told or is_over):
            names = ", ".join(dict.fromkeys(base_name(each.file) for each in edits))
            size = f"+{sum(each.added for each in edits)} -{sum(each.removed for each in edits)}"
            told = [TurnOutcome(f"{names} ({size})", at + 1)]
        found.append(told)
    return found


def base_name(file: str) -> str:
    """Return the name of *file* without its folders."""
    return file.replace("\\", "/").rsplit("/", 1)[-1]


def _heading_in(message: str) -> str:
    """Return the heading that *message* begins with: a draft that has the same one as a later draft is over."""
    match = re.match(r"\s*#+ (.+)", message)
    return match[1] if match else ""


def _without_problem(message: str) -> str:
    """Return *message* without its parts about the problem, if it has one about what solves it."""
    parts = _PART.split(message)
    is_solved = any(map(_SOLUTION.match, parts))
    return "".join(part for part in parts if not (is_solved and PROBLEM.match(part)))


def _outcomes(turns: Sequence[Turn], at: int) -> Iterator[TurnOutcome]:
    turn, before = turns[at], turns[at - 1] if at else Turn()
    proposing = re.compile(pattern_of("proposing"), re.IGNORECASE)
    told, is_last = statements(_without_problem(result_of(turn))), at + 1 == len(turns)
    asks = any(is_question(each.text) for each in told[-CLOSING:])
    is_plan = bool(turn.plans) and not turn.files
    if is_plan and turn.plans[-1].fate == "turned down" and not is_last:
        return
    is_done = is_closed(turn) and not is_plan and (changed(turn) or (turn.refused and changed(before) and not asks))
    role = "" if is_done else FINDING
    is_past = role == FINDING and not is_last
    has_options = is_past and asks
    hashes = _HASH.findall(turn.said)
    for commit in (commit for commit in turn.commits if not gives_order(commit)):
        yield TurnOutcome(f"{commit.rstrip('.')} ({hashes[0]})" if len(hashes) == 1 else commit, at + 1, role)
    is_taken_up = is_last or (starts_with("consent", turns[at + 1].typed) and not has_options)
    shown = (bare(each.text.rstrip(" :：")) for each in told if each.text.endswith(_COLONS) and not each.is_listed)
    leads_on = [
        TurnOutcome(text, 0) for text in shown if not (text.startswith(_HERE) or begins_with("announcement", text))
    ]
    for each in islice(list(_pieces(told)) or leads_on[:1], 2 if is_past or is_doubted(turns, at) else None):
        if has_options and each.is_listed:
            return
        if is_taken_up or not proposing.search(each.text):
            yield each._replace(turn=at + 1, role=role)


def _pieces(told: Sequence[Statement]) -> Iterator[TurnOutcome]:
    """Give the statements that say something; a list is one, with an ellipsis at its end where it goes on."""
    shown = {  # what only leads in to a list that names it, or to code
        each.text
        for each, after in pairwise([*told, Statement("")])
        if each.text.endswith(_COLONS) and not each.is_listed
        if after.lead in ("", each.text.rstrip(" :：")) or each.text.startswith(_HERE)
    }
    for _, group in groupby(told, key=lambda each: (each.is_listed, each.lead if each.is_listed else each)):
        items = [each for each in group if each.text not in shown and not _says_nothing(each)]
        if items:
            lead, texts = _lead(items[0]), [each.text if each.is_listed else bare(each.text) for each in items]
            full = _joined(lead, texts)
            line = full if not full.endswith("…") else _joined(lead, [_DETAIL.split(text, 1)[0] for text in texts])
            if line:
                yield TurnOutcome(line, 0, is_listed=items[0].is_listed)


def bare(text: str) -> str:
    """Return the sentence *text* without its speaker: "I've moved …" is "Moved …"."""
    told = _SPEAKER.sub("", re.sub(r"^\d+[.)] ", "", text))
    return told if told == text else told[:1].upper() + told[1:]


def _joined(lead: str, texts: Sequence[str]) -> str:
    """Return the list of *texts* below the line *lead* on one line; it ends in an ellipsis where there is no room."""
    line = f"{lead}: {texts[0]}" if lead else texts[0]
    for text in texts[1:]:
        if width(line + text) > _WIDEST_LIST:
            return f"{line.rstrip(' :：')} …" if line.endswith(_COLONS) else f"{line}; …"
        line = f"{line} {text}" if line.endswith(_COLONS) else f"{line.rstrip('.。')}; {text}"
    return line.rstrip(" :：")


def _says_nothing(each: Statement) -> bool:
    text = each.text
    is_offer = any(begins_with("announcement", part) or _INSTRUCTS.match(part) for part in (text, each.lead))
    is_talk = starts_with("admission", text) or text.startswith(("...", "…")) or is_question(text)
    is_quoted = text.startswith(('"', "“")) and not each.is_listed
    if is_offer or is_talk or is_quoted or _IF.match(each.lead) or gives_order(f"{each.lead}: {text}"):
        return True
    # a Chinese text says more in as many columns
    is_short = width(text) < (_SHORTEST if text.isascii() else _SHORTEST // 3) or text.endswith(("!", "！"))
    nameless = _HASH.sub("", text)
    return is_short and not ((each.codes and nameless == text) or names_something(nameless) or each.is_listed)


def _lead(each: Statement) -> str:
    """Return the line above the list of *each*, if that says more than *each*."""
    lead = re.sub(r"^\d+[.)]\s+", "", each.lead)
    is_name = each.is_listed and not (leads("deictic", lead) or begins_with("announcement", lead))
    return lead if is_name and not words(lead) <= words(each.text) else ""


def _hangs(text: str) -> bool:
    """Return whether *text* goes on with the sentence before it: "This means …"."""
    return leads("deictic", text) and not text.startswith(("Now", "现在"))


def best_of(
    outcomes: Sequence[Sequence[TurnOutcome]],
    room: int,
    sizes: Sequence[int],
    above: Sequence[str],
    known: Sequence[str],
) -> list[TurnOutcome]:
    """Return as many of *outcomes* as fit into *room* columns, in order: no text twice, none that is *known*.

    Each turn gives its next one in turn: the last turn first, then those with the greatest *sizes*, of equal ones the
    later one first. The line *above* those of a turn needs room, too.
    """
    last = max((at for at, each in enumerate(outcomes) if each), default=0)
    order = sorted(range(len(outcomes)), key=lambda at: (at != last, -sizes[at], -at))
    quota = [3 if at in (last, sizes.index(max(sizes))) else 1 for at in range(len(outcomes))]
    said, taken = [words(text) for text in known], list[TurnOutcome]()
    shown = set[str]()
    begun = set[int]()  # turns that already have a statement
    left = {at: list(outcomes[at]) for at in order if outcomes[at]}
    while left:
        for at in list(left):
            for each in left[at][: quota[at]]:
                is_known = is_said(words(each.text), said, _SAME)
                columns = width(each.text) + 6 + (0 if above[at] in shown else width(above[at]))
                widest = _WIDEST_LIST if each.is_listed else _WIDEST
                fits = columns <= room and width(each.text) <= widest
                if not is_known and fits and (at in begun or not _hangs(each.text)):
                    room -= columns
                    shown.add(above[at])
                    said.append(words(each.text))
                    taken.append(each)
                    begun.add(at)
                elif is_known:
                    begun.add(at)
            del left[at][: quota[at]]
            if not left[at]:
                del left[at]
    return sorted(taken, key=lambda each: (each.turn, outcomes[each.turn - 1].index(each)))
