"""The few memories that matter to a prompt, a line each, once."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeAlias

from memtool.named_tuple import NamedTuple
from memtool.recall.answers.answer import Budget
from memtool.recall.answers.likelihood import FLOOR, LATER_FLOOR
from memtool.recall.answers.sessions import MOST_LOOKED_AT, PromptKind, Told, files_beside, goes_on, told_by, wanted_by
from memtool.recall.answers.statements import LONGEST, choose, strength, whole
from memtool.recall.answers.user_words import with_whole_words
from memtool.recall.framing import MOST_UNITS, defused, framed, line_id
from memtool.recall.given import (
    AT_START,
    BELOW_FLOOR,
    BETWEEN,
    CONTRADICTED,
    NEVER_USED,
    OVER_LIMIT,
    OVER_ROOM,
    RESTS,
    GivenLine,
)
from memtool.recall.ledger import Ledger
from memtool.recall.prompts.as_it_stands import as_they_stand, current_note
from memtool.recall.prompts.evidence import Evidence, Recalled, floor_of, score
from memtool.recall.prompts.finding import FoundMemories, find
from memtool.recall.prompts.question import Question
from memtool.recall.uses import seldom_used
from memtool.resources import agent_text
from memtool.text.lines import cut
from memtool.text.scripts import is_unspaced
from memtool.text.tokens import fold, is_stop_word
from memtool.vault.authors import OPEN, TOOL, USER, named, signed_by, standing_category, trust
from memtool.vault.layout import is_facts_file
from memtool.vault.sessions import Line
from memtool.workspace import Workspace

if TYPE_CHECKING:
    from memtool.index.tables import Tables

EVENT = "prompt"

# What finds memories. A service that has vectors at hand can stand in for `find`; a hook has words only.
Finder: TypeAlias = Callable[["Tables", Question, str, dt.date], FoundMemories]
Uses: TypeAlias = Callable[[Sequence[str]], Mapping[str, int]]

_BUDGETS = {
    PromptKind.QUESTION: Budget(characters=1_250, notes=2, statements=12, first=0.8),
    PromptKind.PASTED: Budget(characters=840, notes=2, statements=2, first=0.5),
    PromptKind.ORDER: Budget(characters=840, notes=2, statements=2, first=0.5),
}
_SHARES = (1.0, 0.85, 0.7, 0.5, 0.3)  # of the room of sessions: the first with which all fits
_FIRST_PROMPTS = 2  # of a session; later on, sessions are given only what is sure
_LONGEST_MARK = 60  # characters of why a fact is to be looked at again
_LONGEST_TITLE = 80
_LONGEST_SOURCE = 400  # of where a memory stands; an id as long as a page would take the room of all others
_NEXT = 5  # memories that were not given, which `memtool given` tells of
_TELLING = 200  # characters of what a memory says; the block of a session's start may cut it later on

_FIRST_TURNS = 3  # turns that a session may take to find its topic
_PAUSE = 5  # turns from one reminder to the next

_FIRST_WORDS = 2
_FIRST_CHARACTERS = 4  # in scripts without spaces


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
    hits = [hit for hit in as_they_stand(likely, db, work, asked.session_id) if _saying(hit)]
    answers = _sessions(found, db, work, asked, ledger)
    keys = [hit.key for hit in (*hits, *(answer.hit for answer in answers))]
    reminds = topic_changed(ledger, keys)
    limit = settings.later_prompts if ledger.given else settings.first_prompt
    judged = _judged(hits, work, ledger, asked.question)
    fresh = [hit for hit in judged if not hit.left_out and len(_source(hit, asked.project)) <= _LONGEST_SOURCE]
    own = _best(fresh, uses, today)
    reminder = agent_text("reminder", work.language) if reminds else ""
    room = min(settings.prompt_characters, MOST_UNITS)
    for share in _SHARES:
        sessions = _judged([answer.within(share) for answer in answers], work, ledger, asked.question)
        chosen = [*own, *(hit for hit in sessions if not hit.left_out)][:limit]
        ids = dict(ledger.ids)
        lines = tuple(_line(hit, ids, ledger) for hit in chosen)
        said = [
            (_saying(hit), f"({_source(hit, asked.project)}) [{each.id}]")
            for hit, each in zip(chosen, lines, strict=True)
        ]
        text, count = _fitted(said, reminder, work, room)
        if count == len(chosen):
            break
    ledger = ledger.with_hits(keys)
    over = [hit._replace(left_out=OVER_ROOM) for hit in chosen[count:]]
    over += [hit._replace(left_out=OVER_LIMIT) for hit in own[limit:]]
    left_out = (hit for hit in (*found.memories, *judged, *sessions, *over) if hit.left_out)
    passed = sorted(left_out, key=lambda hit: -hit.relevance)
    after = tuple(_line(hit, {}, ledger)._replace(id="") for hit in passed[:_NEXT])
    if not count:
        return Given("", ledger, next=after)
    given = tuple(hit.key for hit in chosen[:count])
    ledger = ledger.with_given(given).with_ids(ids)
    ledger = ledger._replace(reminded=ledger.turn) if reminds else ledger
    return Given(text, ledger, given, lines[:count], after, tuple(line for line, _ in said[:count]))


class _Answer(NamedTuple):
    """What a session says to a prompt. *fresh* are its statements that the start of the session did not say."""

    hit: Recalled
    told: Told
    fresh: Sequence[Line]
    weights: Mapping[str, float]
    budget: Budget
    left_out: str

    def within(self, share: float) -> Recalled:
        """Return it with as many statements as *share* of its room holds."""
        if self.left_out:
            return self._saying(self.told.statements)._replace(left_out=self.left_out)
        room = self.budget._replace(characters=int(share * self.budget.characters))
        lines = choose(self.weights, self.fresh, room)
        if not lines:
            return self._saying(self.told.statements)._replace(left_out=AT_START)
        return self._saying(lines)._replace(files=files_beside(self.told.note, lines))

    def _saying(self, lines: Sequence[Line]) -> Recalled:
        first = lines[0]
        return self.hit._replace(
            text=BETWEEN.join(line.text for line in lines), role=first.role, author=first.author,
            first_line=first.number, last_line=first.number, statements=tuple(lines),
            date=self.told.note.date or self.hit.date, relevance=self.told.likelihood, evidence=self.told.signs,
        )  # fmt: skip


def _sessions(found: FoundMemories, db: Tables, work: Workspace, asked: Asked, ledger: Ledger) -> list[_Answer]:
    """Return what sessions say to the prompt, most likely first; what is not likely enough says so."""
    wanted = wanted_by(asked.question, found.weights, found.telling)
    hits = {hit.ref: hit for hit in found.sessions[:MOST_LOOKED_AT]}
    texts = [
        (ref, text, hit.relevance) for ref, hit in hits.items() if (text := current_note(ref, work, asked.session_id))
    ]
    told = [each for each in told_by(texts, wanted) if each.statements]
    budget = _BUDGETS[wanted.kind]
    is_first = ledger.turn <= _FIRST_PROMPTS and not goes_on(asked.question.prompt)
    floor = FLOOR if is_first else LATER_FLOOR
    count = sum(each.likelihood >= floor for each in told[: budget.notes])
    shares = [1.0] if count == 1 else [budget.first, 1.0 - budget.first]
    start = " ".join(ledger.start.replace("\n> ", " ").split())
    answers = []
    for at, each in enumerate(told):
        share = shares[at] if at < len(shares) else 0.0
        room = budget._replace(characters=int(share * budget.characters))
        lines = with_whole_words(each.lines, each.note, each.text, work.vault, db) if at < count else each.lines
        fresh = [line for line in lines if not start or defused(line.text)[:_TELLING] not in start]
        if wanted.kind is not PromptKind.QUESTION:  # an answer may use other words; beside a task they would be noise
            fresh = [line for line in fresh if strength(wanted.weights, line) > 0]
        answers.append(_Answer(hits[each.ref], each, fresh, wanted.weights, room, "" if at < count else BELOW_FLOOR))
    return answers


def _judged(hits: Sequence[Recalled], work: Workspace, ledger: Ledger, question: Question) -> list[Recalled]:
    """Return *hits*, each with the reason why the session is not given it, if there is one."""
    start = " ".join(ledger.start.replace("\n> ", " ").split())  # with its quotations on one line
    outweighed = contradicted(hits)

    def reason(hit: Recalled) -> str:
        if ledger.rests(hit.key):
            return RESTS
        if _stands_in(start, hit):
            return AT_START
        return CONTRADICTED if hit.key in outweighed else ""

    judged = [hit._replace(left_out=hit.left_out or reason(hit)) for hit in hits]
    keys = ["" if hit.left_out else _line(hit, {}, ledger).key for hit in judged]
    idle = seldom_used(work.index_folder, list(filter(None, keys)))
    return [_if_likely(hit, question) if key in idle else hit for hit, key in zip(judged, keys, strict=True)]


def _if_likely(hit: Recalled, question: Question) -> Recalled:
    """Return *hit*, whose line was given often and never used: left out if it has not twice the likelihood."""
    if hit.evidence is None:
        return hit
    floor = floor_of(hit.evidence, question.length) if isinstance(hit.evidence, Evidence) else FLOOR
    return hit if hit.relevance >= 2 * floor else hit._replace(left_out=NEVER_USED)


def _line(hit: Recalled, ids: dict[str, int], ledger: Ledger) -> GivenLine:
    evidence = hit.evidence.told() if hit.evidence else {}
    turns = ledger.turn - ledger.given[hit.key] if hit.left_out == RESTS else 0
    is_whole = hit.fact_id or hit.kind == "decision" or not hit.text  # and not one line of many; a decision is its note
    name = line_id(ids, hit.key) if is_whole else line_id(ids, hit.ref, hit.text)
    return GivenLine(
        name, hit.ref, hit.first_line, hit.fact_id, "" if hit.fact_id else hit.text,
        round(hit.relevance, 3), evidence, hit.left_out, turns,
    )  # fmt: skip


def _best(hits: Sequence[Recalled], uses: Uses, today: dt.date) -> list[Recalled]:
    """Return *hits*, the most valuable first; what the output of a tool said comes last."""
    counts = uses([hit.key for hit in hits])
    scores = {hit.key: score(hit, age_days=_age(hit.date, today), uses=counts.get(hit.key, 0)) for hit in hits}
    return sorted(hits, key=lambda hit: (hit.author == TOOL, -scores[hit.key], -trust(hit.author), hit.key))


def _age(date: str, today: dt.date) -> float | None:
    try:
        return float((today - dt.date.fromisoformat(date)).days)
    except ValueError:
        return None


def _stands_in(start: str, hit: Recalled) -> bool:
    """Whether the block *start* says what *hit* does; a decision is there with its title, its summary and its name."""
    if hit.kind == "decision" and not hit.text and f" {defused(PurePosixPath(hit.ref).name)}]" in start:
        return True
    said = _wording(hit)
    return bool(said) and said[:_TELLING] in start


def _wording(hit: Recalled) -> str:
    return defused(hit.text or hit.summary)


def _saying(hit: Recalled) -> str:
    """Return *hit* in one line: a fact as its statement, a note as its title and its passage or summary.

    A session note of which no line is worth giving says nothing: its title is what it was about.
    """
    said = _wording(hit)
    said = whole(said, LONGEST) or said
    if is_facts_file(hit.ref):
        return said
    if hit.statements:
        told = BETWEEN.join(map(_statement, hit.statements))
        return f"{told} [files: {', '.join(map(defused, hit.files))}]" if hit.files else told
    said, _ = signed_by(said)
    title = cut(defused(hit.title), _LONGEST_TITLE)
    if not said or said.casefold() in title.casefold():
        return title
    return said if title.casefold() in said.casefold() else f"{title}: {said}"


def _statement(line: Line) -> str:
    return f"{USER}: {defused(line.text)}" if line.author == USER and line.role != OPEN else defused(line.text)


def _source(hit: Recalled, project: str) -> str:
    """Return the source of *hit*: its kind, author, project if that is another one, day and place."""
    if hit.statements:
        where = f"project {hit.project}" if hit.project and hit.project != project else ""
        return defused(", ".join(filter(None, (where, hit.date, f"{hit.ref}:{hit.first_line}"))))
    where = f"{hit.ref}:{hit.first_line}-{hit.last_line}"
    author = signed_by(hit.text)[1] or hit.author
    category = standing_category(hit.role or hit.category, author)
    project = f"project {hit.project}" if hit.project and hit.project != project else ""
    review = cut(hit.review, _LONGEST_MARK)
    return defused(", ".join(filter(None, (category, named(author), project, hit.date, review, where, hit.fact_id))))


def _fitted(said: list[tuple[str, str]], reminder: str, work: Workspace, room: int) -> tuple[str, int]:
    """Return the block, and how many memories are in it: as many as fit, each whole."""
    lines = [f"- {text} {source}" for text, source in said]
    block = _block(lines, reminder, work)
    while lines and _units(block) > room:
        lines.pop()
        block = _block(lines, reminder, work)
    return block, len(lines)


def _block(lines: list[str], reminder: str, work: Workspace) -> str:
    if not lines:
        return ""
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
        if is_facts_file(hit.ref):
            by_subject.setdefault((hit.ref, _subject(hit.text)), []).append(hit)
    return {key for rivals in by_subject.values() if len(rivals) > 1 for key in _losers(rivals)}


def _losers(rivals: Sequence[Recalled]) -> Iterable[str]:
    from memtool.text.near_duplicates import contradicts, statement  # rarely needed, and slow to import

    strongest_first = sorted(rivals, key=lambda hit: (trust(hit.author), hit.date), reverse=True)
    statements = [statement(hit.text) for hit in strongest_first]
    for at, hit in enumerate(strongest_first):
        stronger = (other for other in range(at) if _weight(strongest_first[other]) > _weight(hit))
        if any(contradicts(statements[other], statements[at]) for other in stronger):
            yield hit.key


def _weight(hit: Recalled) -> tuple[int, str]:
    return trust(hit.author), hit.date


def _subject(text: str) -> str:
    """Return the words with which *text* begins: what it speaks of."""
    folded = fold(text[:200])
    words: list[str] = [word for word in re.findall(r"\w+", folded) if not is_stop_word(word)]
    if words and is_unspaced(words[0][0]):
        return words[0][:_FIRST_CHARACTERS]
    return " ".join(words[:_FIRST_WORDS])
