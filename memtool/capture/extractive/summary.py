"""Summaries without a model: the sentences of a session that its note should keep, and what failed and was solved.

Every text is a piece of what was said, made plain and perhaps shortened, or a fact put into a fixed form
("TypeError: x is undefined → fixed in auth.ts"). Nothing is made up.
"""

from __future__ import annotations

from collections.abc import Sequence

from memtool.capture.conversation import Conversation
from memtool.capture.extractive.cues import DEED_CUES
from memtool.capture.extractive.decisions import decision_lines
from memtool.capture.extractive.failures import failures_of
from memtool.capture.extractive.lines import Line, Ranked, line_of, within_room
from memtool.capture.extractive.mended import failure_lines
from memtool.capture.extractive.open_ends import open_lines
from memtool.capture.extractive.salience import Chosen, by_worth
from memtool.capture.extractive.sentences import shortened, width
from memtool.capture.extractive.statements import CLIENT, FINAL, LAST, USER, Statement, statements_of
from memtool.capture.extractive.topic import WIDEST as WIDEST_TOPIC, topic_of
from memtool.capture.summary import Summary
from memtool.vault.prose import in_language

MOST_POINTS, MOST_DONE = 6, 3
ENOUGH = 4  # key points beyond which nothing is added that is merely informative

_WORDS = {"joint": ("; ", "；")}


def summarise(conversation: Conversation, *, language: str = "en") -> Summary:
    """Return what *conversation* came to. *language* is that of the few words that are not quoted."""
    steps = conversation.steps
    topic = topic_of(conversation, joint=in_language(_WORDS, language)["joint"])
    said = statements_of(steps)
    ranked = by_worth(said, len(steps))
    chosen = Chosen()
    lines = failure_lines(failures_of(steps), ranked, chosen, language)
    lines += decision_lines(ranked, chosen, steps)
    chosen.take([topic])  # a rule may stand in the topic, too; all else is not said twice
    lines += open_lines(said, ranked, chosen, steps)
    lines += _results(ranked, chosen, MOST_POINTS - sum(line.slot == "point" for line in lines))
    return _summary(topic or _outcome(lines), within_room(lines, topic))


def _results(ranked: Ranked, chosen: Chosen, room: int) -> list[Line]:
    """Return how it ended, and in the *room* for key points what was found out, what was changed, what else matters."""
    told = [(worth, each) for worth, each in ranked if _is_told(each)]
    found = chosen.pick(told, _is_finding, limit=min(room, ENOUGH), floor=1.8)
    done = chosen.pick(told, _is_outcome, limit=MOST_DONE, floor=1.9)
    made = chosen.pick(told, _is_deed, limit=room - len(found), floor=2.2)
    if not done:
        done = [pair for pair in made if pair[1].source != CLIENT][:1]
        made = [pair for pair in made if pair not in done]
    rest = chosen.pick(told, _is_final, limit=min(room, ENOUGH) - len(found) - len(made), floor=2.8)
    points = [line_of(worth, each, "point") for worth, each in (*found, *made, *rest)]
    return points + [line_of(worth + 0.3, each, "done") for worth, each in done]


def _is_told(statement: Statement) -> bool:
    return statement.source != USER and not statement.asks and statement.cues.isdisjoint({"open", "options"})


def _is_finding(statement: Statement) -> bool:
    detailed = statement.item or width(statement.text) >= 40
    return not statement.cues.isdisjoint({"discovery", "recommendation"}) or ("fix" in statement.cues and detailed)


def _is_outcome(statement: Statement) -> bool:
    """Return whether *statement* says how the work ended, rather than what exactly was changed."""
    return _is_final(statement) and ("success" in statement.cues or (_is_deed(statement) and not statement.item))


def _is_deed(statement: Statement) -> bool:
    return not statement.cues.isdisjoint(DEED_CUES)


def _is_final(statement: Statement) -> bool:
    return statement.source in {LAST, FINAL, CLIENT}


def _outcome(lines: Sequence[Line]) -> str:
    """Return what stands for the topic where nothing was asked in words: the best of what was done or found."""
    best = max((line for line in lines if line.slot in {"done", "point"}), key=lambda line: line.worth, default=None)
    return shortened(best.point.text, WIDEST_TOPIC) if best else ""


def _summary(topic: str, lines: Sequence[Line]) -> Summary:
    def slot(name: str) -> tuple[str, ...]:
        return tuple(line.point.text for line in lines if line.slot == name)

    points = tuple(line.point for line in lines if line.slot == "point")
    return Summary(topic, points, slot("decisions"), slot("done"), slot("open"))
