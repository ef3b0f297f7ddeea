"""The summary of a session, made of its turns without a model. Pure.

Everything in it was said. A role is claimed only where it is sure: the user chose among what was offered (a decision),
the user said always or never (a rule), a plan was not approved or a prompt not answered (open), a command passed.
All else is the user's words and what came of them.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from memtool.capture.answer_statements import goes_on
from memtool.capture.checks import NOTHING_RAN, check_in, is_test, last_ends, was_edited_after
from memtool.capture.fixes import fixes_in, render_fix
from memtool.capture.old_turns import Turn, questions_number
from memtool.capture.options import Meant, meant, names_option, offered
from memtool.capture.retractions import is_taken_back, retractions_in, telling_words
from memtool.capture.transcript.record_fields import COMMIT
from memtool.text.languages import begins_with, cites_order, gives_order, labels, leads, mentioned, starts_with
from memtool.text.lines import shortened, width
from memtool.text.similarity import is_said, words
from memtool.text.statements import sentences, statements
from memtool.text.tokens import stem
from memtool.vault.authors import AGENT, USER
from memtool.vault.session_rows import Piece, Row, names_something, shortened_fairly, without_middle

_OUTCOMES = {"": "passed", NOTHING_RAN: "nothing_ran"}  # by the error of a run; of any other error it has failed
_RISE, _LAST = 0.5, 2.0  # value of what the first turn told, rising to 1 with the last; it and its prompt count double
_SAME_OPTION = 0.8  # of the words of an option
_REFERENCE_VALUE, _REFERENCE_BACK = 6.0, 6  # of an option that a prompt names; turns back in which it is looked for
_CONTRADICTED = 0.25
_WIDEST_OBJECTED = 150
_LEAST_OWN = 3  # words of an objection that is about something else
_PRAISED = 3.0  # value of what the user then found good: of several answers to one thing, the one that held
_LEAST_DOUBTED = 0.8  # value of what the user contradicted, below which it is not told
_ASKED_FROM = 24  # bytes, eight Chinese characters; a shorter prompt ("yes", "commit") tells nothing
_SHORTEST_NAMING = 12  # columns of a shorter prompt that names something ("compare to #343")
_REFUSED_FROM = 8  # bytes of what was typed on refusing a tool
_REFUSED_WEIGHT, _QUESTION_WEIGHT = 1.5, 0.7
_SIDE_QUESTION = 60  # columns of a question that is not what the session is about
_ON_TOPIC, _AS_GOOD = 0.1, 0.8  # of the share of the prompt that most is about: for the first one, for any other
_NOTHING_DONE = 0.6  # of the share of a prompt after which no file was edited
_TOPIC_ASKED, _TOPIC_ENDED, _WHOLLY_TOLD = 130, 180, 180  # columns
_MOST_DECISIONS, _MOST_RULES, _MOST_FIXES = 4, 6, 1
_WIDEST_DECISION, _WIDEST_ASKED = 350, 250  # columns; of the prompt that took an option
_SHORTEST_OPTION = 16  # columns; a shorter one is told with the others
_WIDEST_CHOICE, _WIDEST_ANSWER = 80, 140
_WIDEST_SIDE, _SIDE_SAID = 80, 0.6  # columns of what takes a side; of its words, how many the question has
_LONGEST_TYPED = 700  # columns; a longer prompt holds something that was pasted, whatever it says
_WIDEST_QUESTION = 220
_LONGEST_LABEL = 2  # characters
_WIDEST_CHECK = 80
_WIDEST_OPEN, _WIDEST_RULE, _WIDEST_COMMAND = 300, 220, 100
_GIT = r"(?:^|[;&|]\s*|\b(?:then|do)\s+)git (?:-[Cc] \S+ )*"  # run as a command, and not looked for by another one
_COMMITS = re.compile(rf"^{COMMIT}|{_GIT}commit\b(?! --help)", re.MULTILINE)
_ACTS = {"committed": _COMMITS, "pushed": re.compile(rf"{_GIT}push\b(?! --help)", re.MULTILINE)}
_UNTOLD_BRANCHES = frozenset({"", "main", "master", "develop", "trunk", "HEAD"})


KEY_POINT_KINDS = (
    "decision", "fix", "feature", "refactor", "finding", "refuted", "investigated", "change", "bugfix", "discovery",
)  # fmt: skip


class KeyPoint(NamedTuple):
    """One thing worth knowing. *kind* is empty or one of KEY_POINT_KINDS; *tags* are words without `#`."""

    text: str
    kind: str = ""
    tags: tuple[str, ...] = ()


class Summary(NamedTuple):
    """The topic in one line, and what is worth knowing, each text on one line; files are not part of it.

    *rows* are what a summary without a model has in place of *key_points*.
    """

    topic: str = ""
    key_points: tuple[KeyPoint, ...] = ()
    rows: tuple[Row, ...] = ()
    decisions: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


def summarise(turns: Sequence[Turn], *, branch: str = "", language: str = "en") -> Summary:
    """Return what *turns* came to. *language* is that of the few words that nobody said."""
    commands = tuple(_commands(turns))
    return Summary(
        topic=_topic(turns, branch, language),
        key_points=tuple(KeyPoint(render_fix(fix, language), "fix") for fix in fixes_in(turns)[-_MOST_FIXES:]),
        rows=tuple(_rows(turns, language)),
        decisions=tuple(_decisions(turns))[-_MOST_DECISIONS:],
        rules=tuple(dict.fromkeys(_rules(turns)))[-_MOST_RULES:],
        done=tuple(_done(turns, commands, language)),
        commands=commands,
        open=tuple(_open(turns, language)),
    )


def left_something(turns: Sequence[Turn]) -> bool:
    """Return whether a session is worth a note: something was done, decided or left open, or it was a talk.

    One or two questions that were answered without a look at the project are not.
    """
    if len(turns) > 2 or any(turn.files or turn.runs or turn.looked or turn.chosen or turn.plan for turn in turns):
        return True
    return any(_tells(turn) and not (turn.answered and _is_question(turn.asked)) for turn in turns)


def _topic(turns: Sequence[Turn], branch: str, language: str) -> str:
    """Return the problem and how it ended: the first prompt that says something, and the best of the last answer."""
    endings = (turn.ended for turn in reversed(turns) if turn.ended and turn.verdict != "refuted")
    ended = shortened_fairly(next(endings, ""), _TOPIC_ENDED)
    if ended and len(turns) > 1:  # it need not answer that prompt
        ended = labels("summary", language)["last"].format(ended)
    problem = _problem(turns)
    is_pasted = problem and any(turn.pasted and turn.asked == problem for turn in turns)
    asked = problem if width(problem) <= _WHOLLY_TOLD else without_middle(problem, _TOPIC_ASKED)
    parts = [labels("summary", language)["pasted"].format(asked) if is_pasted else asked, ended]
    topic = " → ".join(filter(None, parts))
    return f"{branch}: {topic}" if topic and branch not in _UNTOLD_BRANCHES else topic


def _problem(turns: Sequence[Turn]) -> str:
    """Return the first prompt that says something, unless most of the session is about something else.

    That is what the plan is called which was laid before the user, else the prompt that most is about.
    """
    told = [at for at, turn in enumerate(turns) if _tells(turn)]
    typed = [at for at in told if not (turns[at].refused or turns[at].pasted)] or told
    if not typed:
        return next((turn.asked for turn in turns if turn.asked), "")
    shares = _shares(turns)
    most = max(shares[at] for at in typed)
    main = [at for at in typed if not _is_aside(turns[at].asked)] or typed
    if main[0] == typed[0] and shares[main[0]] >= _ON_TOPIC * most:
        return turns[main[0]].asked
    if plan := next((turn.plan for turn in reversed(turns) if turn.plan), ""):
        return plan
    values = {at: shares[at] * (1.0 if _edits_follow(turns, at) else _NOTHING_DONE) for at in main}
    return turns[next(at for at in main if values[at] >= _AS_GOOD * max(values.values()))].asked


def _shares(turns: Sequence[Turn]) -> list[float]:
    """Return how much of each turn's prompt the other turns are about."""
    asked = [telling_words(turn.asked) for turn in turns]
    parts = ([turn.asked, *(one.text for one in turn.told), *map(os.path.basename, turn.files)] for turn in turns)
    counts = Counter(word for part in parts for word in telling_words(" ".join(part)))
    return [sum(counts[word] - 1 for word in one) / math.sqrt(len(one) or 1) for one in asked]


def _edits_follow(turns: Sequence[Turn], at: int) -> bool:
    """Return whether the turn number *at* edited files, or the next ones that only go on with it."""
    following = next((after for after in range(at + 1, len(turns)) if _tells(turns[after])), len(turns))
    return any(turn.files for turn in turns[at:following])


def _is_aside(asked: str) -> bool:
    return (_is_question(asked) and width(asked) < _SIDE_QUESTION) or starts_with("continuing", asked)


def _tells(turn: Turn) -> bool:
    """Return whether what was typed tells something; what was typed on refusing a tool does, however short."""
    return len(turn.asked.encode("utf-8", "replace")) >= (_REFUSED_FROM if turn.refused else _ASKED_FROM)


def _is_question(text: str) -> bool:
    return text.endswith(("?", "？"))


def _rows(turns: Sequence[Turn], language: str) -> Iterator[Row]:
    """Give a row for each prompt that tells something; others ("yes", "commit") go on with the one before."""
    told = _problem(turns)
    gone = retractions_in(turns, is_shown)
    starts = [at for at, turn in enumerate(turns) if at == 0 or is_shown(turn)]
    for start, stop in pairwise([*starts, len(turns)]):
        first = turns[start]
        pieces = [
            piece
            for at in range(start, stop)
            for piece in (*_references(turns, at), *_pieces(turns, at))
            if not is_taken_back(piece.text, at, gone)
        ]
        is_told = start == 0 and first.asked == told and width(told) <= _WHOLLY_TOLD  # by the topic
        shown = labels("summary", language)["pasted"].format(first.asked) if first.pasted else first.asked
        asked = shown if is_shown(first) and not is_told else ""
        if is_shown(first) and not pieces and not _is_question(first.asked):
            after = turns[start + 1] if start + 1 < len(turns) else Turn()
            pieces = list(_objected(first, after, labels("summary", language)["objected"]))
        weight = _REFUSED_WEIGHT if first.refused else _QUESTION_WEIGHT if _is_question(first.asked) else 1.0
        yield Row(asked, tuple(pieces), weight * (_LAST if stop == len(turns) else 1.0))


def _pieces(turns: Sequence[Turn], at: int) -> Iterator[Piece]:
    """Give what came of the turn number *at*: nothing if it was refuted or corrected, or broken off on its way."""
    turn = turns[at]
    if turn.verdict in ("refuted", "corrected") or (turn.verdict == "rejected" and goes_on(turn.said)):
        return iter(())
    factor = _RISE + (1 - _RISE) * (at / (len(turns) - 1) if len(turns) > 1 else 1)
    factor *= _LAST if at == len(turns) - 1 else 1.0
    is_doubted = turn.verdict == "rejected"
    is_praised = at + 1 < len(turns) and begins_with("praise", turns[at + 1].asked)
    factor *= _CONTRADICTED if is_doubted else _PRAISED if is_praised else 1.0
    pieces = (piece._replace(value=piece.value * factor) for piece in turn.told)
    named = turn.offered if at < len(turns) - 1 else ()  # what was said of one of several options led to a choice
    told = (piece for piece in pieces if piece.value >= _LEAST_DOUBTED or not is_doubted)
    told = (piece for piece in told if not _is_option(piece, turns, at) and not (named and names_option(piece.text)))
    # What was offered or proposed on the way was taken up or not; at the end it may be what is open.
    return (piece for piece in told if at == len(turns) - 1 or not _is_over(piece.text, turn))


def _objected(turn: Turn, after: Turn, mark: str) -> Iterator[Piece]:
    """Give the best of an answer that the user contradicted, marked so: else a prompt would stand without any.

    It has no mark where the turn *after* it objects to something else.
    """
    told = [piece for piece in turn.told if not _is_over(piece.text, turn)] if turn.verdict == "corrected" else []
    if told and turn.answered:
        best = max(told, key=lambda piece: piece.value)
        text = shortened(best.text, _WIDEST_OBJECTED)
        yield Piece(text if _is_about_else(after, best.text) else mark.format(text), _CONTRADICTED)


def _is_about_else(turn: Turn, text: str) -> bool:
    """Return whether what was typed, with a "no" or a "but" in it, orders something that *text* says nothing of.

    Whoever asks, reports a failure or only says no means what was said before.
    """
    asked = turn.asked
    is_doubt = re.search("[?？]", asked) or mentioned("failing", asked) or mentioned("faulting", asked) or turn.amends
    is_order = leads("denying", asked) or leads("forbidding", asked) or not starts_with("contradiction", asked)
    told = {stem(word) for word in telling_words(asked) if not mentioned("contradiction", word)}
    return not is_doubt and is_order and len(told) >= _LEAST_OWN and not told & set(map(stem, telling_words(text)))


def _is_over(text: str, turn: Turn) -> bool:
    """Return whether *text* asked, offered or had the user try something, or proposed what they did not agree to."""
    is_asking = _is_question(text) or begins_with("offer", text) or begins_with("trial", text)
    is_asking = is_asking or leads("next_steps", text) or leads("condition", text)
    return is_asking or (turn.verdict != "confirmed" and not turn.files and bool(mentioned("proposal", text)))


def _references(turns: Sequence[Turn], at: int) -> Iterator[Piece]:
    """Give the options that the prompt names but does not take: what "option 5" is."""
    named = _meant(turns, at)
    if not any(one.is_chosen for one in named):
        yield from (Piece(f"{one.label} = {text}", _REFERENCE_VALUE) for one, text in named.items())


def _meant(turns: Sequence[Turn], at: int) -> dict[Meant, str]:
    """Return the options that the prompt names, and what they stand for."""
    return meant(turns[at].asked, [dict(turn.offered) for turn in turns[max(0, at - _REFERENCE_BACK) : at]])


def is_shown(turn: Turn) -> bool:
    """Return whether a row shows what was typed: it tells or names something, or says in a word that it was right."""
    if _tells(turn) or begins_with("praise", turn.asked):
        return True
    if starts_with("denying", turn.asked) and (mentioned("stating", turn.asked) or mentioned("picking", turn.asked)):
        return True  # "no, we use Biome"
    goes_on = starts_with("continuing", turn.asked) or starts_with("consent", turn.asked)
    return names_something(turn.asked) and not goes_on and width(turn.asked) >= _SHORTEST_NAMING


def _is_option(piece: Piece, turns: Sequence[Turn], at: int) -> bool:
    """Return whether *piece* is one of the options from which the user took one next: what they took is a decision."""
    if not turns[at].offered or at + 1 == len(turns) or not any(one.is_chosen for one in _meant(turns, at + 1)):
        return False
    told = [words(piece.text)]
    return any(is_said(words(text.removesuffix("…")), told, _SAME_OPTION) for _, text in turns[at].offered)


def _decisions(turns: Sequence[Turn]) -> Iterator[str]:
    for at, turn in enumerate(turns):
        yield from _answers(turn)
        if turn.pasted:
            continue
        yield from _side_taken(turns, at)
        named = _meant(turns, at)
        if any(one.is_chosen for one in named):
            if any(width(text) < _SHORTEST_OPTION for text in named.values()):  # "Both" says nothing without them
                named = {Meant(label): text for label, text in turns[at - 1].offered if len(label) <= _LONGEST_LABEL}
            asked = without_middle(turn.asked, _WIDEST_ASKED)
            widest = (_WIDEST_DECISION - width(asked)) // len(named) - len("; 1 = ")
            options = "; ".join(f"{one.label} = {shortened(text, widest)}" for one, text in named.items())
            yield f'"{asked}" → {options}{_changed_later(turns[at + 1 :], options)} ({USER})'


def _changed_later(later: Sequence[Turn], told: str) -> str:
    """Return what the user said in a *later* turn of a number in what was *told*: "30 s is too long: 5"."""
    changes = (turn.asked for turn in later if questions_number(turn.asked, told))
    said = next(changes, "")
    return f'; then "{without_middle(said, _WIDEST_SIDE)}"' if said else ""


def _side_taken(turns: Sequence[Turn], at: int) -> Iterator[str]:
    """Give the first sentence of the prompt, if it takes one side of the "A or B?" before it."""
    asked = (piece.text for piece in reversed(turns[at - 1].told) if _is_question(piece.text)) if at else iter(())
    question = next(asked, "")
    side = (sentences(turns[at].asked) or [""])[0]
    if mentioned("either", question) and not _is_question(side) and width(side) <= _WIDEST_SIDE:
        told = words(side)
        if len(told) > 1 and is_said(told, [words(question)], _SIDE_SAID):
            yield f'{shortened(question, _WIDEST_CHOICE)} → "{side}" ({USER})'


def _answers(turn: Turn) -> Iterator[str]:
    for line in turn.chosen:
        question, _, answer = line.partition(" → ")
        if not (re.search("[?？]", answer) or gives_order(question)):
            yield f"{shortened(question, _WIDEST_CHOICE)} → {without_middle(answer, _WIDEST_ANSWER)} ({USER})"


def _rules(turns: Sequence[Turn]) -> Iterator[str]:
    """Give the sentences in which the user said what is always or never to be done."""
    for before, turn in pairwise([Turn(), *turns]):
        is_plan = bool(before.plan) and turn.asked.startswith(before.plan)  # of the agent, taken as the next prompt
        is_typed = not (turn.pasted or is_plan) and width(turn.asked) <= _LONGEST_TYPED
        for sentence in sentences(turn.asked) if is_typed else ():
            if cites_order(sentence):
                break  # what comes next may be cited, too
            is_order = begins_with("lasting", sentence) or starts_with("ordering", sentence)
            if is_order and not _is_question(sentence) and width(sentence) <= _WIDEST_RULE:
                yield f"{sentence} ({USER})"


def _commands(turns: Sequence[Turn]) -> Iterator[str]:
    """Give the build or test command that passed most often, if it passed the last time."""
    passed: Counter[str] = Counter()
    last = last_ends(turns)
    for run in (run for turn in turns for run in turn.runs if not run.error):
        command = check_in(run.command)
        if command and width(command) <= _WIDEST_COMMAND and not (command in last and last[command].error):
            passed[command] += 1
    yield from (command for command, _ in passed.most_common(1))


def _done(turns: Sequence[Turn], commands: Sequence[str], language: str) -> Iterator[str]:
    """Give how the last test and the last other check ended, and whether the work was committed and pushed.

    Those of *commands*, which the note names as well, are not named twice.
    """
    words = labels("summary", language)
    ends = last_ends(turns)
    last = {is_test(command): command for command in ends if width(command) <= _WIDEST_CHECK}
    told = []
    for command in last.values():
        end = ends[command]
        outcome = words["named_passed" if command in commands else _OUTCOMES.get(end.error, "failed")].format(command)
        is_stale = not end.error and was_edited_after(turns, end.turn)
        told.append(words["before_edits"].format(outcome) if is_stale else outcome)
    passed = [run.command for turn in turns for run in turn.runs if not run.error]
    told += [words[act] for act, sign in _ACTS.items() if any(sign.search(command) for command in passed)]
    commits = [at for at, turn in enumerate(turns) if _has_committed(turn)]
    if commits and any(turn.files for turn in turns[commits[-1] + 1 :]):
        told.append(words["edited_since"])
    if told:
        yield "; ".join(told)


def _has_committed(turn: Turn) -> bool:
    return any(_COMMITS.search(run.command) for run in turn.runs if not run.error)


def _open(turns: Sequence[Turn], language: str) -> Iterator[str]:
    words = labels("summary", language)
    last = turns[-1] if turns else Turn()
    if last.plan and last.plan_refused:
        yield f"{words['no_plan'].format(shortened(last.plan, 120))} ({AGENT})"
    elif last.asked and not (last.answered or last.files or _has_committed(last)):
        yield f"{words['no_answer'].format(without_middle(last.asked, _WIDEST_OPEN))} ({USER})"
    elif asked := _question_in(last.said):
        yield f"{words['no_decision'].format(asked)} ({AGENT})"


def _question_in(said: str) -> str:
    """Return the last question or offer to the user in the message *said*, with the options that it is about.

    An offer is only one if it names what is offered: "let me know" leaves nothing open.
    """
    told = statements(said)
    offers = [at for at, each in enumerate(told) if begins_with("offer", each.text)]
    asked = [at for at in offers if _is_question(told[at].text) or told[at].codes]
    at = next((at for at in reversed(asked) if width(told[at].text) <= _WIDEST_QUESTION), -1)
    if at < 0:
        return ""
    question = told[at].text
    options = [each.text for each in told[at + 1 :] if each.is_listed]
    if mentioned("choosing", question):
        options = [f"{label} = {text}" for label, text in offered(said).items() if len(label) <= _LONGEST_LABEL]
    named = told[at].codes or names_something(question) or mentioned("acts", question) or options
    if at and not named and mentioned("deictic", question) and width(told[at - 1].text) <= _WIDEST_QUESTION:
        question = f"{told[at - 1].text} {question}"  # "should I do it?" says nothing without it
    return " ".join([question, "; ".join(options)]).strip()
