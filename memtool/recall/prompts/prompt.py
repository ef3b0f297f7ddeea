"""The few memories that matter to a prompt, a line each, once."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeAlias

from memtool.named_tuple import NamedTuple
from memtool.recall import limits
from memtool.recall.answers.likelihood import FLOOR, LATER_FLOOR, weighed
from memtool.recall.answers.question import Question
from memtool.recall.answers.sessions import (
    MOST_LOOKED_AT,
    PromptKind,
    SessionAnswer,
    Subject,
    answers_of_sessions,
    files_beside,
    goes_on,
    kept_statements,
    subject_of,
)
from memtool.recall.answers.statements import BETWEEN, LONGEST, Budget, choose, strength, whole
from memtool.recall.framing import defused, framed, line_id
from memtool.recall.given import (
    AT_START,
    BELOW_FLOOR,
    CONTRADICTED,
    NEVER_USED,
    OVER_LIMIT,
    OVER_ROOM,
    RESTS,
    GivenLine,
)
from memtool.recall.ledger import Ledger
from memtool.recall.prompts.current import current_note, still_said
from memtool.recall.prompts.finding import FoundMemories, Recalled, find
from memtool.recall.uses import seldom_used
from memtool.resources import agent_text
from memtool.text.lines import cut
from memtool.text.scripts import is_unspaced
from memtool.text.tokens import fold, is_stop_word
from memtool.vault.layout import is_facts_file
from memtool.vault.memory import (
    DECISION,
    FACT,
    OPEN,
    SESSION,
    TOOL,
    USER,
    Location,
    Memory,
    named,
    signed_by,
    standing_category,
    trust,
)
from memtool.vault.sessions import Line
from memtool.workspace import Workspace

if TYPE_CHECKING:
    from memtool.index.tables import Tables

EVENT = "prompt"

# What finds memories. A service that has vectors at hand can take the place of `find`; a hook has words only.
Finder: TypeAlias = Callable[["Tables", Question, str, dt.date], FoundMemories]
Uses: TypeAlias = Callable[[Sequence[str]], Mapping[str, int]]

_OF_QUESTION = Budget(characters=1_250, notes=2, statements=12, first=0.8)
_OF_TASK = Budget(characters=840, notes=2, statements=2, first=0.5)
_FIRST_PROMPTS = 2  # of a session; later on, sessions are given only what is sure

_FIRST_TURNS = 3  # turns that a session may take to find its topic
_PAUSE = 5  # turns from one reminder to the next


class Asked(NamedTuple):
    """A prompt: its question, the area of the project at hand (empty for none), and the session that asks."""

    question: Question
    project: str
    session_id: str


class Given(NamedTuple):
    """The memories for a prompt.

    Args:
        text: the block; empty for silence.
        ledger: after it.
        keys: of what was given.
        lines: the same, with what spoke for each.
        next: what came next in rank, and why it was not given.
        said: what each line says.
        team: the lines of the team's vaults.
    """

    text: str
    ledger: Ledger
    keys: tuple[str, ...] = ()
    lines: tuple[GivenLine, ...] = ()
    next: tuple[GivenLine, ...] = ()
    said: tuple[str, ...] = ()
    team: tuple[GivenLine, ...] = ()


def memories_for_prompt(
    work: Workspace,
    db: Tables,
    asked: Asked,
    ledger: Ledger,
    uses: Uses,
    *,
    finder: Finder = find,
) -> Given:
    """Return the memories for the prompt. *ledger* has counted its turn already; *db* is an open index."""
    settings, today = work.settings.recall, work.now().date()
    found = finder(db, asked.question, asked.project, today)
    likely = (hit for hit in found.memories if not hit.left_out)
    hits = [hit for hit in still_said(likely, db, work, asked.session_id) if _text(hit)]
    judged = _judged(hits, work, ledger)
    fresh = [hit for hit in judged if not hit.left_out and len(_source(hit, asked.project)) <= limits.LONGEST_LINE]
    own = _best(fresh, uses, today)
    room = min(settings.prompt_characters, limits.MOST_UNITS)
    limit = settings.later_prompts if ledger.given else settings.first_prompt
    subject = subject_of(asked.question, found.clues)
    refs = found.sessions[:MOST_LOOKED_AT]
    notes = {ref: text for ref in refs if (text := current_note(ref, work, asked.session_id))}
    answers = _Answers(answers_of_sessions(notes, subject), subject, work, db, ledger)
    keys = [hit.key for hit in hits] + list(notes)
    reminds = topic_changed(ledger, keys)
    reminder = agent_text("reminder", work.language) if reminds else ""
    left = room
    for _ in range(4):  # until the statements of sessions are small enough
        sessions = _judged(answers.within(left), work, ledger)
        chosen = [*own, *(hit for hit in sessions if not hit.left_out)][:limit]
        ids = dict(ledger.ids)
        texts = [f"- {_text(hit)} ({_source(hit, asked.project)}) [{_line(hit, ids, ledger).id}]" for hit in chosen]
        over = _units(_block(texts, reminder, work)) - room
        if over <= 0:
            break
        left = min(left, answers.budget.characters) - over - 20  # and the marks between some of them
    count = len(texts)
    while count and _units(_block(texts[:count], reminder, work)) > room:
        count -= 1
    ledger = ledger.with_hits(keys)
    unfit = [hit._replace(left_out=OVER_ROOM) for hit in chosen[count:]]
    unfit += [hit._replace(left_out=OVER_LIMIT) for hit in own[limit:]]
    left_out = (hit for hit in (*found.memories, *judged, *sessions, *unfit) if hit.left_out)
    passed = sorted(left_out, key=lambda hit: -hit.relevance)
    after = tuple(_line(hit, {}, ledger)._replace(id="") for hit in passed[: limits.MOST_NEXT])
    if not count:
        return Given("", ledger, next=after)
    lines = tuple(_line(hit, ids, ledger) for hit in chosen[:count])
    given = tuple(hit.key for hit in chosen[:count])
    ledger = ledger.with_given(given).with_ids(ids)
    ledger = ledger._replace(reminded=ledger.turn) if reminds else ledger
    text = _block(texts[:count], reminder, work)
    return Given(text, ledger, given, lines, after, tuple(map(_text, chosen[:count])))


class _Answers:
    """What sessions say to a prompt, most likely first."""

    def __init__(
        self, answers: Sequence[SessionAnswer], subject: Subject, work: Workspace, db: Tables, ledger: Ledger
    ) -> None:
        self._answers = answers
        self._subject = subject
        self._is_question = subject.kind is PromptKind.QUESTION
        self.budget = _OF_QUESTION if self._is_question else _OF_TASK
        is_first = ledger.turn <= _FIRST_PROMPTS and not goes_on(subject.text)
        floor = FLOOR if is_first else LATER_FLOOR
        self._given = [answer for answer in answers[: self.budget.notes] if answer.likelihood >= floor]
        start = _on_one_line(ledger.start)
        self._lines = []
        for answer in self._given:
            kept = kept_statements(subject.weights, answer.note, answer.text, work.vault, db)
            lines = answer.lines
            kept = [line for line in kept if self._is_question or line.author == USER]
            if not self._is_question:  # an answer may use other words; beside a task they would be noise
                lines = [line for line in lines if strength(subject.weights, line) > 0]
            self._lines.append((_not_in(start, lines), _not_in(start, kept)))

    def within(self, room: int) -> list[Recalled]:
        """Return them with as many statements as so many characters hold; what is not likely enough says so."""
        characters, first = min(room, self.budget.characters), self.budget.first
        shares = [1.0] if len(self._given) == 1 else [first, 1.0 - first]
        recalled = []
        for answer, (lines, kept), share in zip(self._given, self._lines, shares, strict=False):
            part = self.budget._replace(characters=int(share * characters))
            chosen = choose(self._subject.weights, lines, part, kept=kept)
            recalled.append(_recalled(answer, chosen or answer.statements, "" if chosen else AT_START))
        rest = self._answers[len(self._given) :]
        return [*recalled, *(_recalled(answer, answer.statements, BELOW_FLOOR) for answer in rest)]


def _not_in(start: str, lines: Sequence[Line]) -> list[Line]:
    return [line for line in lines if not start or defused(line.text)[: limits.COMPARED] not in start]


def _recalled(answer: SessionAnswer, lines: Sequence[Line], left_out: str) -> Recalled:
    first, draft = lines[0], answer.note
    text = BETWEEN.join(line.text for line in lines)
    place = Location(answer.ref, first.number or 1, first.number or 1)  # a statement of the source has no line
    memory = Memory(
        answer.ref, text, SESSION, place, draft.draft.title, role=first.role, author=first.author,
        project=draft.project, date=draft.date,
    )  # fmt: skip
    files = files_beside(answer.note, lines)
    return Recalled(memory, answer.likelihood, answer.signs, left_out, statements=tuple(lines), files=files)


def _on_one_line(start: str) -> str:
    """Return the block of a session's start with its quotations on one line."""
    return " ".join(start.replace("\n> ", " ").split())


def _judged(hits: Sequence[Recalled], work: Workspace, ledger: Ledger) -> list[Recalled]:
    """Return *hits*, each with the reason why the session is not given it, if there is one.

    A line that was given often and never used takes twice the likelihood.
    """
    start = _on_one_line(ledger.start)
    outweighed = contradicted(hits)

    def reason(hit: Recalled) -> str:
        if hit.left_out:
            return hit.left_out
        if ledger.rests(hit.key):
            return RESTS
        if _is_in(start, hit):
            return AT_START
        if hit.key in outweighed:
            return CONTRADICTED
        return NEVER_USED if hit.relevance < 2 * FLOOR and line_keys[hit.key] in idle else ""

    line_keys = {hit.key: _line(hit, {}, ledger).key for hit in hits}
    idle = seldom_used(work.index_folder, list(line_keys.values()))
    return [hit._replace(left_out=reason(hit)) for hit in hits]


def _line(hit: Recalled, ids: dict[str, int], ledger: Ledger) -> GivenLine:
    memory = hit.memory
    turns = ledger.turn - ledger.given[hit.key] if hit.left_out == RESTS else 0
    # And not one line of many; a decision is its note.
    is_whole = memory.fact_id or memory.kind == DECISION or not memory.text
    name = line_id(ids, hit.key) if is_whole else line_id(ids, memory.path, memory.text)
    return GivenLine(
        name, memory.path, memory.place.start_line, memory.fact_id, "" if memory.fact_id else memory.text,
        round(hit.relevance, 3), hit.signs.by_name() if hit.signs else {}, hit.left_out, turns,
    )  # fmt: skip


def _best(hits: Sequence[Recalled], uses: Uses, today: dt.date) -> list[Recalled]:
    """Return *hits*, the most valuable first; what the output of a tool said comes last."""
    counts = uses([hit.key for hit in hits])

    def order(hit: Recalled) -> tuple[bool, float, int, str]:
        memory = hit.memory
        worth = weighed(hit.relevance, memory.category, age_days=_age(memory.date, today), uses=counts.get(hit.key, 0))
        return memory.author == TOOL, -worth, -trust(memory.author), hit.key

    return sorted(hits, key=order)


def _age(date: str, today: dt.date) -> float | None:
    try:
        return float((today - dt.date.fromisoformat(date)).days)
    except ValueError:
        return None


def _is_in(start: str, hit: Recalled) -> bool:
    """Whether the block *start* says what *hit* does; a decision is there with its title, its summary and its name."""
    memory = hit.memory
    if memory.kind == DECISION and not memory.text and f" {defused(PurePosixPath(memory.path).name)}]" in start:
        return True
    said = defused(memory.text or hit.summary)
    return bool(said) and said[: limits.COMPARED] in start


def _text(hit: Recalled) -> str:
    """Return *hit* in one line: a fact as its statement, a note as its title and its passage or summary."""
    said = defused(hit.memory.text or hit.summary)
    said = whole(said, LONGEST) or said
    if hit.memory.kind == FACT:
        return said
    if hit.statements:
        statements = BETWEEN.join(
            (f"{USER}: " if line.author == USER and line.role != OPEN else "") + defused(line.text)
            for line in hit.statements
        )
        return f"{statements} [files: {', '.join(map(defused, hit.files))}]" if hit.files else statements
    said, _ = signed_by(said)
    title = cut(defused(hit.memory.title), limits.WIDEST)
    if not said or said.casefold() in title.casefold():
        return title
    return said if title.casefold() in said.casefold() else f"{title}: {said}"


def _source(hit: Recalled, project: str) -> str:
    """Return the source of *hit*: its kind, author, project if that is another one, day and place."""
    memory, place = hit.memory, hit.memory.place
    other = f"project {memory.project}" if memory.project and memory.project != project else ""
    if hit.statements:
        return defused(", ".join(filter(None, (other, memory.date, f"{place.path}:{place.start_line}"))))
    author = signed_by(memory.text)[1] or memory.author
    category = standing_category(memory.role or memory.category, author)
    where = f"{place.path}:{place.start_line}-{place.end_line}"
    review = cut(hit.review, limits.WIDEST)
    about = (category, named(author), other, memory.date, review, where, memory.fact_id)
    return defused(", ".join(filter(None, about)))


def _block(lines: list[str], reminder: str, work: Workspace) -> str:
    body = "\n".join([*lines, *filter(None, [reminder])])
    return framed(body, event=EVENT, vault=work.shown_vault, language=work.language)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "replace")) // 2


def topic_changed(ledger: Ledger, hits: Sequence[str]) -> bool:
    """Return whether the session has turned to something else: more than half of this turn's *hits* are new to it."""
    if ledger.turn <= _FIRST_TURNS or not ledger.hits:
        return False
    if ledger.reminded and ledger.turn - ledger.reminded < _PAUSE:
        return False
    return sum(key not in ledger.hits for key in hits) * 2 > len(hits)


def contradicted(hits: Iterable[Recalled]) -> set[str]:
    """Return the keys of those facts among *hits* that another one of them contradicts and outweighs.

    Two contradict each other if they stand in one file, begin with the same words, and then say different things.
    """
    by_subject: dict[tuple[str, str], list[Recalled]] = {}
    for hit in hits:
        if is_facts_file(hit.memory.path):
            by_subject.setdefault((hit.memory.path, _subject(hit.memory.text)), []).append(hit)
    return {key for rivals in by_subject.values() if len(rivals) > 1 for key in _losers(rivals)}


def _losers(rivals: Sequence[Recalled]) -> Iterable[str]:
    from memtool.text.near_duplicates import contradicts, statement  # rarely needed, and slow to import

    def weight(hit: Recalled) -> tuple[int, str]:
        return trust(hit.memory.author), hit.memory.date

    strongest_first = sorted(rivals, key=weight, reverse=True)
    statements = [statement(hit.memory.text) for hit in strongest_first]
    for at, hit in enumerate(strongest_first):
        stronger = (other for other in range(at) if weight(strongest_first[other]) > weight(hit))
        if any(contradicts(statements[other], statements[at]) for other in stronger):
            yield hit.key


def _subject(text: str) -> str:
    """Return what *text* is about: its first two words, or four characters of a script without spaces."""
    words = [word for word in re.findall(r"\w+", fold(text[:200])) if not is_stop_word(word)]
    if words and is_unspaced(words[0][0]):
        return str(words[0][:4])
    return " ".join(words[:2])
