"""The answers of the hooks: what a session, a prompt and the client's own summariser are given."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from memtool.errors import Busy, MemtoolError, NotWritable
from memtool.hook.occasion import Occasion, Reply
from memtool.recall.given import PROMPT, START, GivenLine, Giving, in_known_words, keep_giving, lines_of_start
from memtool.recall.ledger import Ledger, clear_ledger, ledger_folder, read_ledger, sweep_ledgers, write_ledger
from memtool.vault.files import read_head
from memtool.vault.session_names import note_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memtool.recall.prompts.meaning import Meaning
    from memtool.recall.prompts.prompt import Given
    from memtool.recall.prompts.question import Question
    from memtool.recall.start.session_start import ContextBlock
    from memtool.team.member import SharedStart, TeamMemory, TeamQuestion
    from memtool.workspace import Workspace

_SHOWN, _CLAUSE = 3, 40  # memories of which the user is told, and characters of each
_LONGEST_NOTE = 262_144  # bytes of a session's note that are read; ours have a few thousand


def context_of_session(occasion: Occasion) -> Reply:
    """Return the context of a session at its start, and begin its ledger with it."""
    from memtool.recall.start.session_start import RESUMING, session_context

    work, session_id, source = occasion.work, occasion.text("session_id"), occasion.text("source")
    ledgers = ledger_folder(occasion.work)
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
    shared = _start_with_team(occasion, make, project, ledger) if asks else None
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
            giving = Giving(at, START, project, lines=lines, client=occasion.options.client, team=of_team)
            keep_giving(ledgers, session_id, giving)
    except NotWritable as error:
        from memtool.hook.problems import report

        # a session starts once, so its block is given all the same
        report(occasion.name, error, occasion.options, occasion.work.environ)
    sweep_ledgers(ledgers, work.now().timestamp())
    said = [line.text for line in block.lines if line.id] + [line.text for line in team]
    return Reply(text, _notice(occasion, said))


def _start_with_team(
    occasion: Occasion, make: Callable[[Workspace], ContextBlock], project: str, ledger: Ledger
) -> SharedStart | None:
    """Return the context that *make* makes with what the team has of *project*; None while the service is away."""
    from memtool.team.member import is_resting, shared_start

    work = occasion.work
    if is_resting(work):
        return None
    shared = shared_start(work, project, make, wait=work.settings.team.wait_ms / 1000, known=ledger.start)
    _note_away(occasion, shared.notice)
    return shared


def memories_of_prompt(occasion: Occasion) -> Reply:
    """Return the memories for a prompt: mostly none. The ledger is written before anything is said."""
    from memtool.recall.prompts.question import question_of

    session_id, wanted = occasion.text("session_id"), occasion.work.settings.recall
    if not session_id or not wanted.prompt_characters:
        return Reply()
    ledgers = ledger_folder(occasion.work)
    ledger = read_ledger(ledgers, session_id).next_turn()
    question = question_of(occasion.text("prompt"))
    meaning = _meaning(occasion)
    team = _ask_team(occasion, question) if occasion.work.settings.team.url else None
    if not question.terms() and not meaning:
        write_ledger(ledgers, session_id, ledger)
        return Reply()
    from memtool.index.read_only import current_index
    from memtool.recall.prompts.finding import find
    from memtool.recall.prompts.prompt import Asked, Given, memories_for_prompt
    from memtool.recall.uses import read_uses

    folder = occasion.work.index_folder
    asked = Asked(question, occasion.work.project(), session_id)
    finder = partial(find, meaning=meaning)
    try:
        with current_index(folder, occasion.work) as db:
            uses = partial(read_uses, folder)
            given = memories_for_prompt(occasion.work, db, asked, ledger, uses, finder=finder)
            # The vault's words hide what secrets the user has patterns of, but not for sure.
            is_safe = not occasion.work.settings.redact.patterns
            prompt = in_known_words(occasion.text("prompt"), db.known_words) if is_safe else ""
    except Busy as busy:
        _leave_to_worker(occasion, busy)
        given, prompt = Given("", ledger), ""  # the team may know something all the same
        if not team:
            write_ledger(ledgers, session_id, ledger)
            return Reply()
    given = _with_team(occasion, team, given) if team else given
    write_ledger(ledgers, session_id, given.ledger)
    at = occasion.work.now().isoformat(timespec="seconds")
    client = occasion.options.client
    giving = Giving(at, PROMPT, asked.project, ledger.turn, prompt, given.lines, given.next, client, given.team)
    keep_giving(ledgers, session_id, giving)
    return Reply(given.text, _notice(occasion, given.said))


def _ask_team(occasion: Occasion, question: Question) -> TeamQuestion[TeamMemory] | None:
    """Begin to ask the team's service about the prompt; None if that is about nothing, or the service is away."""
    if not question.terms() or question.is_act:
        return None
    from memtool.team.member import ask_for_prompt

    return ask_for_prompt(occasion.work, question.text, occasion.work.project())


def _with_team(occasion: Occasion, asked: TeamQuestion[TeamMemory], given: Given) -> Given:
    """Return *given* with what the team remembers and the session was not given lately."""
    from memtool.team.member import is_known, team_block

    memories, notice = asked.answer()
    _note_away(occasion, notice)
    start = given.ledger.start
    fresh = [each for each in memories if not given.ledger.rests(each.key) and not is_known(start, each.text)]
    text = "\n\n".join(filter(None, [given.text, team_block(occasion.work, fresh)]))
    return given._replace(
        text=text,
        ledger=given.ledger.with_given(memory.key for memory in fresh),
        said=(*given.said, *(memory.said for memory in fresh)),
        team=tuple(GivenLine("", memory.address, text=memory.said, relevance=memory.relevance) for memory in fresh),
    )


def _note_away(occasion: Occasion, notice: str) -> None:
    """Say in the log that the team's service is away, if that is news."""
    if notice:
        from memtool.hook.problems import note

        note(occasion.name, notice, occasion.options, occasion.work.environ)


def _without_ids(text: str, block: ContextBlock) -> str:
    """Return *text*, which holds *block*, so that an item of several lines goes on as in its note."""
    for line in block.lines:
        text = text.replace(f" [{line.id}]\n", "\n")
    return text


def _notice(occasion: Occasion, said: Sequence[str]) -> str:
    """Return the notice to the user about the memories that were given, if they want one."""
    if not occasion.work.settings.recall.show or not said:
        return ""
    from memtool.text.lines import counted, cut

    plain = ("".join(char if char.isprintable() else " " for char in text.lstrip("->#*+ ")) for text in said[:_SHOWN])
    clauses = "; ".join(cut(text, _CLAUSE) for text in plain)
    more = "; …" if len(said) > _SHOWN else ""
    return f"memtool: {counted(len(said), 'memory', 'memories')} given ({clauses}{more}) — memtool given --last"


def _meaning(occasion: Occasion) -> Meaning | None:
    """Return who tells what the prompt means, if a warm helper is there."""
    if not os.path.isdir(occasion.work.cache / "helpers"):  # noqa: PTH112  (most machines have none: no import for it)
        return None
    from memtool.embeddings.helper import find_address, helper_place

    place = helper_place(occasion.work.cache, occasion.work.vault.root)
    address = find_address(place)
    if address is None:
        return None
    from memtool.recall.prompts.meaning import HelperMeaning

    return HelperMeaning(place, address, occasion.text("prompt"))


def warm_up(occasion: Occasion) -> None:
    """Start the helper that knows what prompts mean, where vectors are set up."""
    from memtool.embeddings.helper_start import start_helper

    start_helper(occasion.work)


def what_summary_keeps(occasion: Occasion) -> Reply:
    """Return the text that the client's summary must keep, and clear the ledger: what was given leaves the context."""
    from memtool.recall.start.session_start import what_must_survive
    from memtool.vault.sessions import parse_session

    session_id = occasion.text("session_id")
    if not session_id:
        return Reply()
    clear_ledger(ledger_folder(occasion.work), session_id)
    with suppress(OSError, MemtoolError):
        head = read_head(occasion.work.vault.path(note_of(occasion.work.vault, session_id)), _LONGEST_NOTE)
        said = parse_session(head.decode("utf-8", "replace"))
        return Reply(what_must_survive(said, occasion.work.language))
    return Reply()


def close_ledger(occasion: Occasion) -> None:
    """Forget what the session was given, now that it ends; one that is resumed is reminded of it."""
    session_id = occasion.text("session_id")
    if not session_id:
        return
    ledgers = ledger_folder(occasion.work)
    if occasion.text("reason") == "clear":
        clear_ledger(ledgers, session_id)
    elif (ledger := read_ledger(ledgers, session_id)) != Ledger():
        write_ledger(ledgers, session_id, ledger._replace(is_over=True))


def week_was_missed(occasion: Occasion) -> Reply:
    """Return, once for each week, that last week was not consolidated."""
    from memtool.schedules.missed_week import missed_week

    week = missed_week(occasion.work)
    if week is None:
        return Reply()
    return Reply(notice=f"memtool: {week} was not consolidated; `memtool consolidate --week last` does it now")


def _leave_to_worker(occasion: Occasion, busy: Busy) -> None:
    """Say in the log why there is no index to read, and let the worker bring it up to date."""
    from memtool.capture.queue import start_worker
    from memtool.hook.problems import note

    note(occasion.name, str(busy), occasion.options, occasion.work.environ)
    start_worker(occasion.work.vault, occasion.work.environ)
