"""The answers at the start of a session, to a prompt, and to the client's own summariser."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from memtool.errors import Busy, MemtoolError, NotWritable
from memtool.hook.main import Reply
from memtool.recall.given import PROMPT, START, GivenLine, Giving, in_known_words, keep_giving, lines_of_start
from memtool.recall.ledger import Ledger, clear_ledger, ledger_folder, read_ledger, sweep_ledgers, write_ledger
from memtool.vault.files import read_head
from memtool.vault.session_names import note_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memtool.capture.client_event import ClientEvent
    from memtool.recall.prompts.meaning import Meaning
    from memtool.recall.prompts.prompt import Given
    from memtool.recall.prompts.question import Question
    from memtool.recall.start.session_start import ContextBlock
    from memtool.team.member import SharedStart, TeamMemory, TeamQuestion
    from memtool.workspace import Workspace

_SHOWN, _CLAUSE = 3, 40  # memories of which the user is told, and characters of each
_LONGEST_NOTE = 262_144  # bytes of a session's note that are read; ours have a few thousand


def context_of_session(event: ClientEvent) -> Reply:
    """Return the context of a session at its start, and begin its ledger with it."""
    from memtool.recall.start.session_start import RESUMING, session_context

    work, session_id, source = event.work, event.text("session_id"), event.text("source")
    ledgers = ledger_folder(event.work)
    ledger = read_ledger(ledgers, session_id) if source in RESUMING else Ledger()
    project = work.area().name
    make = partial(
        session_context,
        project=project,
        session_id=session_id,
        source=source,
        given=ledger.known,
        ids=ledger.ids,
    )
    # A fork knows what its parent was given, which is not known here.
    asks = work.settings.team.url and (ledger.start or source != "fork")
    shared = _start_with_team(event, make, project, ledger) if asks else None
    block = shared.own if shared else make(work)
    text, team = (shared.text, shared.lines) if shared else (block.text, ())
    start = "\n".join(filter(None, [ledger.start, _without_ids(text, block)]))
    try:
        if session_id:
            ledger = ledger._replace(start=start, known=block.known, is_over=False)
            ledger = ledger.with_ids(block.ids)
            write_ledger(ledgers, session_id, ledger)
            at, lines = work.now().isoformat(timespec="seconds"), lines_of_start(block.lines)
            of_team = tuple(GivenLine("", line.ref, text=line.said) for line in team)
            giving = Giving(at, START, project, lines=lines, client=event.client, team=of_team)
            keep_giving(ledgers, session_id, giving)
    except NotWritable as error:  # a session starts once, so its block is given all the same
        event.log(str(error), is_error=True)
    sweep_ledgers(ledgers, work.now().timestamp())
    said = [line.text for line in block.lines if line.id] + [line.text for line in team]
    return Reply(text, _notice(event, said))


def _start_with_team(
    event: ClientEvent, make: Callable[[Workspace], ContextBlock], project: str, ledger: Ledger
) -> SharedStart | None:
    """Return the context that *make* makes with what the team has of *project*; None while the service is away."""
    from memtool.team.member import is_resting, shared_start

    work = event.work
    if is_resting(work):
        return None
    shared = shared_start(work, project, make, wait=work.settings.team.wait_ms / 1000, known=ledger.start)
    _note_away(event, shared.notice)
    return shared


def memories_for_prompt(event: ClientEvent) -> Reply:
    """Return the memories for a prompt: mostly none. The ledger is written before anything is said."""
    from memtool.recall.prompts.question import question_of

    session_id, wanted = event.text("session_id"), event.work.settings.recall
    if not session_id or not wanted.prompt_characters:
        return Reply()
    ledgers = ledger_folder(event.work)
    ledger = read_ledger(ledgers, session_id).next_turn()
    question = question_of(event.text("prompt"))
    meaning = _meaning(event)
    team = _ask_team(event, question) if event.work.settings.team.url else None
    if not question.terms() and not meaning:
        write_ledger(ledgers, session_id, ledger)
        return Reply()
    from memtool.index.read_only import current_index
    from memtool.recall.prompts import prompt as prompts
    from memtool.recall.prompts.finding import find
    from memtool.recall.uses import read_uses

    folder = event.work.index_folder
    asked = prompts.Asked(question, event.work.project(), session_id)
    finder = partial(find, meaning=meaning)
    try:
        with current_index(folder, event.work) as db:
            uses = partial(read_uses, folder)
            given = prompts.memories_for_prompt(event.work, db, asked, ledger, uses, finder=finder)
            # The vault's words hide what secrets the user has patterns of, but not for sure.
            is_safe = not event.work.settings.redact.patterns
            prompt = in_known_words(event.text("prompt"), db.known_words) if is_safe else ""
    except Busy as busy:
        _leave_to_worker(event, busy)
        given, prompt = prompts.Given("", ledger), ""  # the team may know something all the same
        if not team:
            write_ledger(ledgers, session_id, ledger)
            return Reply()
    given = _with_team(event, team, given) if team else given
    write_ledger(ledgers, session_id, given.ledger)
    at = event.work.now().isoformat(timespec="seconds")
    client = event.client
    giving = Giving(at, PROMPT, asked.project, ledger.turn, prompt, given.lines, given.next, client, given.team)
    keep_giving(ledgers, session_id, giving)
    return Reply(given.text, _notice(event, given.said))


def _ask_team(event: ClientEvent, question: Question) -> TeamQuestion[TeamMemory] | None:
    """Begin to ask the team's service about the prompt; None if that is about nothing, or the service is away."""
    if not question.terms() or question.is_act:
        return None
    from memtool.team.member import ask_for_prompt

    return ask_for_prompt(event.work, question.text, event.work.project())


def _with_team(event: ClientEvent, asked: TeamQuestion[TeamMemory], given: Given) -> Given:
    """Return *given* with what the team remembers and the session was not given lately."""
    from memtool.team.member import is_known, team_block

    memories, notice = asked.answer()
    _note_away(event, notice)
    start = given.ledger.start
    fresh = [each for each in memories if not given.ledger.rests(each.key) and not is_known(start, each.text)]
    text = "\n\n".join(filter(None, [given.text, team_block(event.work, fresh)]))
    return given._replace(
        text=text,
        ledger=given.ledger.with_given(memory.key for memory in fresh),
        said=(*given.said, *(memory.said for memory in fresh)),
        team=tuple(GivenLine("", memory.address, text=memory.said, relevance=memory.relevance) for memory in fresh),
    )


def _note_away(event: ClientEvent, notice: str) -> None:
    """Say in the log that the team's service is away, if that is news."""
    if notice:
        event.log(notice)


def _without_ids(text: str, block: ContextBlock) -> str:
    """Return *text*, which holds *block*, so that an item of several lines goes on as in its note."""
    for line in block.lines:
        text = text.replace(f" [{line.id}]\n", "\n")
    return text


def _notice(event: ClientEvent, said: Sequence[str]) -> str:
    """Return the notice to the user about the memories that were given, if they want one."""
    if not event.work.settings.recall.show or not said:
        return ""
    from memtool.text.lines import counted, cut

    plain = ("".join(char if char.isprintable() else " " for char in text.lstrip("->#*+ ")) for text in said[:_SHOWN])
    clauses = "; ".join(cut(text, _CLAUSE) for text in plain)
    more = "; …" if len(said) > _SHOWN else ""
    return f"memtool: {counted(len(said), 'memory', 'memories')} given ({clauses}{more}) — memtool given --last"


def _meaning(event: ClientEvent) -> Meaning | None:
    """Return who tells what the prompt means, if a warm helper is there."""
    if not os.path.isdir(event.work.cache / "helpers"):  # noqa: PTH112  (most machines have none: no import for it)
        return None
    from memtool.embeddings.helper import find_address, helper_place

    place = helper_place(event.work.cache, event.work.vault.root)
    address = find_address(place)
    if address is None:
        return None
    from memtool.recall.prompts.meaning import HelperMeaning

    return HelperMeaning(place, address, event.text("prompt"))


def start_helper(event: ClientEvent) -> None:
    """Start the process that embeds prompts, where vectors are set up."""
    from memtool.embeddings import helper_start

    helper_start.start_helper(event.work)


def text_for_summary(event: ClientEvent) -> Reply:
    """Return the text that the client's summary must keep, and clear the ledger: what was given leaves the context."""
    from memtool.recall.start.session_start import what_must_survive
    from memtool.vault.sessions import parse_session

    session_id = event.text("session_id")
    if not session_id:
        return Reply()
    clear_ledger(ledger_folder(event.work), session_id)
    with suppress(OSError, MemtoolError):
        head = read_head(event.work.vault.path(note_of(event.work.vault, session_id)), _LONGEST_NOTE)
        said = parse_session(head.decode("utf-8", "replace"))
        return Reply(what_must_survive(said, event.work.language))
    return Reply()


def close_ledger(event: ClientEvent) -> None:
    """Forget what the session was given, now that it ends; one that is resumed is reminded of it."""
    session_id = event.text("session_id")
    if not session_id:
        return
    ledgers = ledger_folder(event.work)
    if event.text("reason") == "clear":
        clear_ledger(ledgers, session_id)
    elif (ledger := read_ledger(ledgers, session_id)) != Ledger():
        write_ledger(ledgers, session_id, ledger._replace(is_over=True))


def missed_week(event: ClientEvent) -> Reply:
    """Return, once for each week, that last week was not consolidated."""
    from memtool.schedules import missed_week as schedule

    week = schedule.missed_week(event.work)
    if week is None:
        return Reply()
    return Reply(notice=f"memtool: {week} was not consolidated; `memtool consolidate --week last` does it now")


def _leave_to_worker(event: ClientEvent, busy: Busy) -> None:
    """Say in the log why there is no index to read, and let the worker bring it up to date."""
    from memtool.capture.queue import start_worker

    event.log(str(busy))
    start_worker(event.work.vault, event.work.environ)
