"""The answers at the start of a session, to a prompt, and to the client's own summariser."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from memtool.beside import team_beside
from memtool.errors import Busy, MemtoolError, NotWritable
from memtool.hook.main import Reply
from memtool.recall.given import PROMPT, START, GivenLine, Giving, in_known_words, keep_giving, lines_of_start
from memtool.recall.ledger import Ledger, clear_ledger, ledger_folder, read_ledger, sweep_ledgers, write_ledger
from memtool.vault.files import read_head
from memtool.vault.session_names import note_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memtool.capture.client_event import ClientEvent
    from memtool.recall.prompts.meaning import Meaning
    from memtool.recall.start.session_start import ContextBlock


def context_of_session(event: ClientEvent) -> Reply:
    """Return the context of a session at its start, and begin its ledger with it."""
    from memtool.recall.start.session_start import RESUMING, session_context

    work, session_id, source = event.work, event.text("session_id"), event.text("source")
    ledgers = ledger_folder(event.work)
    ledger = read_ledger(ledgers, session_id) if source in RESUMING else Ledger()
    project = work.area().name
    make = partial(
        session_context, project=project, session_id=session_id, source=source, given=ledger.known, ids=ledger.ids
    )
    # A fork knows what its parent was given, which is not known here.
    team = team_beside(work) if ledger.start or source != "fork" else None
    shared = team.shared_start(work, project, make, known=ledger.start) if team else None
    if shared and shared.notice:
        event.log(shared.notice)
    block = shared.own if shared else make(work)
    text, lines_of_team = (shared.text, shared.lines) if shared else (block.text, ())
    start = "\n".join(filter(None, [ledger.start, _without_ids(text, block)]))
    try:
        if session_id:
            ledger = ledger._replace(start=start, known=block.known, is_over=False)
            ledger = ledger.with_ids(block.ids)
            write_ledger(ledgers, session_id, ledger)
            at, lines = work.now().isoformat(timespec="seconds"), lines_of_start(block.lines)
            of_team = tuple(GivenLine("", line.ref, text=line.said) for line in lines_of_team)
            giving = Giving(at, START, project, lines=lines, client=event.client, team=of_team)
            keep_giving(ledgers, session_id, giving)
    except NotWritable as error:  # a session starts once, so its block is given all the same
        event.log(str(error), is_error=True)
    sweep_ledgers(ledgers, work.now().timestamp())
    texts = [line.text for line in block.lines if line.id] + [line.text for line in lines_of_team]
    return Reply(text, _notice(event, texts))


def memories_for_prompt(event: ClientEvent) -> Reply:
    """Return the memories for a prompt: mostly none. The ledger is written before the answer is sent."""
    from memtool.recall.answers.question import question_of

    session_id, wanted = event.text("session_id"), event.work.settings.recall
    if not session_id or not wanted.prompt_characters:
        return Reply()
    ledgers = ledger_folder(event.work)
    ledger = read_ledger(ledgers, session_id).next_turn()
    question = question_of(event.text("prompt"))
    meaning = _meaning(event)
    team = team_beside(event.work)
    asked_of_team = team.ask_for_prompt(event.work, question) if team else None
    if not question.terms() and not meaning:
        write_ledger(ledgers, session_id, ledger)
        return Reply()
    from memtool.index.engines import engine_of
    from memtool.recall.prompts import prompt as prompts
    from memtool.recall.prompts.finding import find
    from memtool.recall.uses import read_uses

    folder = event.work.index_folder
    asked = prompts.Asked(question, event.work.project(), session_id)
    finder = partial(find, meaning=meaning)
    try:
        with engine_of(event.work).current() as db:
            uses = partial(read_uses, folder)
            given = prompts.memories_for_prompt(event.work, db, asked, ledger, uses, finder=finder)
            # The vault's words hide what secrets the user has patterns of, but not for sure.
            is_safe = not event.work.settings.redact.patterns
            prompt = in_known_words(event.text("prompt"), db.known_words) if is_safe else ""
    except Busy as busy:
        from memtool.capture.queue import start_worker

        event.log(str(busy))
        start_worker(event.work.vault, event.work.environ)  # which updates the index
        given, prompt = prompts.Given("", ledger), ""  # the team may know something all the same
        if not asked_of_team:
            write_ledger(ledgers, session_id, ledger)
            return Reply()
    if team and asked_of_team:
        given, notice = team.with_memories(event.work, given, asked_of_team)
        if notice:
            event.log(notice)
    write_ledger(ledgers, session_id, given.ledger)
    at = event.work.now().isoformat(timespec="seconds")
    client = event.client
    giving = Giving(at, PROMPT, asked.project, ledger.turn, prompt, given.lines, given.next, client, given.team)
    keep_giving(ledgers, session_id, giving)
    return Reply(given.text, _notice(event, given.said))


def _without_ids(text: str, block: ContextBlock) -> str:
    """Return *text* without the ids of *block* inside of items that have several lines."""
    for line in block.lines:
        text = text.replace(f" [{line.id}]\n", "\n")
    return text


def _notice(event: ClientEvent, texts: Sequence[str]) -> str:
    """Return the notice to the user about the memories that were given, if they want one."""
    if not event.work.settings.recall.show or not texts:
        return ""
    from memtool.text.lines import counted, cut

    plain = ("".join(char if char.isprintable() else " " for char in text.lstrip("->#*+ ")) for text in texts[:3])
    clauses = "; ".join(cut(text, 40) for text in plain)
    more = "; …" if len(texts) > 3 else ""
    return f"memtool: {counted(len(texts), 'memory', 'memories')} given ({clauses}{more}) — memtool given --last"


def _meaning(event: ClientEvent) -> Meaning | None:
    """Return the client of the process that holds the model, if one runs."""
    if not os.path.isdir(event.work.cache / "services"):  # noqa: PTH112  (most machines have none: no import for it)
        return None
    from memtool.service_client import MODEL, find_address, service_place

    place = service_place(event.work.cache, event.work.vault.root)
    address = find_address(place, MODEL)
    if address is None:
        return None
    from memtool.recall.prompts.meaning import WarmMeaning

    return WarmMeaning(place, address, event.text("prompt"))


def start_service(event: ClientEvent) -> None:
    """Start the process that embeds prompts, where vectors are set up."""
    from memtool.service import starting

    starting.start_service(event.work)


def text_for_summary(event: ClientEvent) -> Reply:
    """Return the text that the client's summary must keep, and clear the ledger: the given lines leave the context."""
    from memtool.recall.start.session_start import what_must_survive
    from memtool.vault.sessions import parse_session

    session_id = event.text("session_id")
    if not session_id:
        return Reply()
    clear_ledger(ledger_folder(event.work), session_id)
    with suppress(OSError, MemtoolError):
        head = read_head(event.work.vault.path(note_of(event.work.vault, session_id)), 262_144)
        note = parse_session(head.decode("utf-8", "replace"))
        return Reply(what_must_survive(note, event.work.language))
    return Reply()


def close_ledger(event: ClientEvent) -> None:
    """Mark the ledger of the session as ended; after `/clear`, delete it."""
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
    from memtool.consolidate.week import find_missed

    week = find_missed(event.work)
    if week is None:
        return Reply()
    return Reply(notice=f"memtool: {week} was not consolidated; `memtool consolidate --week last` does it now")
