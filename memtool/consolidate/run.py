"""The weekly run: what happened becomes what is known, the vault is tidied, and one commit holds all of it.

read        session notes, daily notes, facts
distil      proposals → judged beside what is known → facts.json
tidy        open items that were done, old notes to the archive, generated sections
tell        the report of the week
commit      exactly the files that were written

Each step finds what it did before, so that a run that was cut off is completed by the next, and a second run of a week
changes nothing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

from memtool.capture.daily_lines import is_ours
from memtool.consolidate import report, review, tidying
from memtool.consolidate.distilling import judge_all, proposals_of, write_dropped, write_facts
from memtool.consolidate.model import proposals_by_model
from memtool.consolidate.proposals import Judged, Proposal
from memtool.consolidate.session_views import ARCHIVE, SessionView, read_sessions
from memtool.consolidate.week import Week, keep_run, the_only_run
from memtool.errors import MemtoolError, NoteNotFound, UsageError
from memtool.history.one_commit import Kept, alone, commit, commit_noted, edited_by_hand, keep_edits
from memtool.history.repository import refuse_unfinished_vault
from memtool.history.uncommitted import note_uncommitted
from memtool.index.engine import catch_up
from memtool.llm import is_set_up
from memtool.memory.anchors import moved_anchors
from memtool.memory.archiving import Move, move_to_archive, relinked
from memtool.memory.fact_book import FactBook, StoredFact, read_facts
from memtool.recall.hints import gather_hints
from memtool.recall.start.standing import gather_standing
from memtool.text.lines import counted
from memtool.vault import files
from memtool.vault.daily import listed_sessions
from memtool.vault.facts import change as change_facts, update_facts
from memtool.vault.marks import with_generated
from memtool.vault.todos import close_todo
from memtool.workspace import Workspace

MEMORY = "MEMORY.md"
_MOST_TOLD = 20  # changes in the message of a commit; the report has all of them


@dataclass
class Outcome:
    """The outcome of a run, real or tried. *changes* are its lines in the report; *is_open*: a person decides."""

    week: Week
    is_open: bool = False
    judged: list[Judged] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    written: dict[str, None] = field(default_factory=dict)
    kept: Kept = field(default_factory=Kept)
    problems: list[str] = field(default_factory=list)


class RunParts(NamedTuple):
    """Which parts of the run are wanted; without *tidy* only facts are distilled."""

    tidy: bool = True
    review: bool = False  # proposals wait for a person


def consolidate(work: Workspace, week: Week, parts: RunParts = RunParts(), *, dry: bool = False) -> Outcome:  # noqa: B008
    """Run the consolidation of *week*, and commit what it changed.

    Args:
        work: where.
        week: whose activity is reported; facts are distilled from all sessions up to its end.
        parts: which of its parts.
        dry: nothing is written; the outcome says what would be.

    Raises:
        Busy: another run is at work.
        MemtoolError: the vault cannot be read or written.
    """
    with the_only_run(work, week, dry=dry):
        if not dry:
            refuse_unfinished_vault(work.vault.root)
        outcome = Outcome(week, is_open=parts.review)
        everything = read_sessions(work.vault)
        sessions = [view for view in everything if view.date[:10] <= week.last.isoformat()]
        book = read_facts(work.vault)
        outcome.problems += book.broken.values()
        proposals = _proposed(work, outcome, book, sessions, dry=dry)
        outcome.judged = judge_all(work, book, [one for one in proposals if not book.is_broken(one.project)])
        run = _Writer(work, book, outcome, dry=dry)
        run.distil([one for one in outcome.judged if one.fate == "known" or not parts.review])
        if parts.review:
            run.leave_for_review(outcome.judged)
        if parts.tidy:
            run.tidy(everything)
            run.tell(sessions)
        if not dry:
            _finish(work, outcome)
            run.end()
        if parts.tidy and not dry:
            keep_run(work, week, _subject(outcome), is_done=True)
        return outcome


def _proposed(
    work: Workspace, outcome: Outcome, book: FactBook, sessions: Sequence[SessionView], *, dry: bool
) -> list[Proposal]:
    """Return what a model proposes of the sessions of the week, and what the user said that it has not chosen from."""
    if dry or not is_set_up(work.settings.llm):
        return proposals_of(sessions)
    own = [view for view in sessions if outcome.week.holds(view.date)]
    found, read = proposals_by_model(work, book, own, outcome.problems)
    chosen = {span for one in found for span in one.spans}
    others = proposals_of(sessions, {view.id for view in sessions if view not in own} | read)
    return [*found, *(one for one in others if not chosen.intersection(one.spans))]


def apply_review(work: Workspace, week: Week, choices: Mapping[str, review.Choice] | None = None) -> Outcome:
    """Write what a person review.decided on the proposals of *week*, and commit it.

    *choices* are those of the review's note, if they are not given.

    Raises:
        NoteNotFound: there is no review of that week.
        UsageError: what was proposed is not known any more.
        MemtoolError: the vault cannot be read or written.
    """
    with the_only_run(work, week, dry=True):
        refuse_unfinished_vault(work.vault.root)
        outcome, ref = Outcome(week), review.review_ref(week)
        path = work.vault.path(ref)
        if choices is None:
            if not path.is_file():
                raise NoteNotFound(ref)
            choices = review.read_choices(files.read_text(path)[0])
        judged = review.stored_proposals(work.vault, week)
        if not judged and choices:
            hint = "Run `memtool consolidate --review` again."
            raise UsageError(f"what was proposed in {week} is not known any more", hint=hint)
        run = _Writer(work, read_facts(work.vault), outcome, dry=False)
        kept, dropped = review.decided(judged, choices)
        outcome.judged = [*kept, *(one._replace(fate="rejected") for one in dropped)]
        run.distil(kept)
        write_dropped(work, dropped, run.before_writing)
        run.write_sections(read_sessions(work.vault))
        run.leave_for_review([one for one in judged if one.proposal.id not in choices])
        _finish(work, outcome)
        run.end()
        return outcome


def _finish(work: Workspace, outcome: Outcome) -> None:
    """Commit what was written, what a run that was cut off had left, too; and bring the index up to date."""
    if outcome.written:
        with alone(work.vault):
            why = "\n".join(f"- {line}" for line in outcome.changes[:_MOST_TOLD])
            outcome.kept = commit(work.vault, list(outcome.written), "consolidate", _subject(outcome), why)
    try:
        commit_noted(work.vault, f"consolidate: {outcome.week}: what was left by a run that was cut off")
    except MemtoolError as error:  # it is still noted, and the next capture commits it
        notice = outcome.kept.notice or f"what was written before is not committed yet: {error}. {error.hint}"
        outcome.kept = outcome.kept._replace(notice=notice)
    gather_hints(work.vault)
    gather_standing(work.vault)
    catch_up(work)


class _Writer:
    """The writing steps of a run; a dry one writes nothing and says the same."""

    def __init__(self, work: Workspace, book: FactBook, outcome: Outcome, *, dry: bool) -> None:
        self._work, self._vault, self._outcome, self._dry = work, work.vault, outcome, dry
        self._book = book  # as it is now
        self._lines = report.ChangeLines(work, outcome.week, {stored.fact.id for stored in book}, dry=dry)
        outcome.changes = self._lines.lines

    def distil(self, judged: Sequence[Judged]) -> None:
        """Write the facts of *judged*, and mark those whose files have changed."""
        write_facts(self._work, self._book, judged, self._lines.say_fact, None if self._dry else self.before_writing)
        if self._dry:
            return
        for stored in list(self._book):
            found = moved_anchors(self._vault, stored.fact, stored.project, self._work.language)
            moved = "; ".join(found) if stored.fact.status == "active" else ""
            if moved and moved != stored.fact.review:
                self._mark(stored, moved)

    def _mark(self, stored: StoredFact, why: str) -> None:
        self.before_writing([stored.ref])
        with suppress(MemtoolError):  # it was changed in the meantime, and is looked at the next time
            marked = partial(change_facts, fact_id=stored.fact.id, review=why)
            self._book.files[stored.ref] = update_facts(self._vault, stored.ref, marked)

    def leave_for_review(self, judged: Sequence[Judged]) -> None:
        """Write the note in which a person decides on *judged*; without any left it goes, and git has it.

        What waits in the note of another week is not asked for a second time.
        """
        week, ref = self._outcome.week, review.review_ref(self._outcome.week)
        waiting = review.to_ask(self._vault, week, judged)
        if self._dry:
            return
        review.store_proposals(self._vault, week, waiting)
        if waiting:
            self._write(ref, lambda _: review.render_review(week, waiting, self._work.language))
        elif self._vault.path(ref).is_file():
            with self._vault.lock():
                self.before_writing([ref])
                self._vault.path(ref).unlink(missing_ok=True)

    def tidy(self, sessions: Sequence[SessionView]) -> None:
        """Close open items that were done, move old notes to the archive, and write the sections of what is left."""
        for ref in self._refs("areas/projects/*/todos.md"):
            own = [view for view in sessions if view.project == ref.split("/")[2]]
            self._close(ref, own)
        self.write_sections(self._archive(sessions))

    def write_sections(self, sessions: Sequence[SessionView]) -> None:
        """Write what is worth reading at each start into MEMORY.md and the projects' summaries."""
        self._section(MEMORY, tidying.shared_section(self._book, self._work))
        for ref in self._refs("areas/projects/*/summary.md"):
            name = ref.split("/")[2]
            own = [view for view in sessions if view.project == name]
            self._section(ref, tidying.project_section(self._book, name, own, self._work))

    def tell(self, sessions: Sequence[SessionView]) -> None:
        """Write the report."""
        week, ref = self._outcome.week, report.report_ref(self._outcome.week)
        everything, known = [*sessions], {view.ref for view in sessions}
        if (self._work.now().date() - week.last).days >= self._work.settings.consolidate.sessions_days:
            archived = read_sessions(self._vault, folder=ARCHIVE)
            everything += [view for view in archived if view.ref.removeprefix("archive/") not in known]
        before = ""
        with suppress(MemtoolError, OSError):
            before = files.read_text(self._vault.path(ref))[0]
        text = report.render_report(self._work, week, self._book, everything, self._outcome.changes, before=before)
        if text:
            self._write(ref, lambda _: text)

    def _close(self, ref: str, sessions: Sequence[SessionView]) -> None:
        def closed(text: str | None) -> str | None:
            found[:] = tidying.done_items(text or "", sessions)
            for item in found:
                text = close_todo(text or "", item.line, item.source, self._work.language)
            return text

        def say() -> None:
            for item in found:
                self._lines.say("closed", item.task, item.source)

        found: list[tidying.Closed] = []
        self._write(ref, closed, say)

    def _section(self, ref: str, body: str) -> None:
        def new(text: str | None) -> str | None:
            return None if text is None else with_generated(text, body)

        self._write(ref, new, partial(self._lines.say, "section", ref))

    def _archive(self, sessions: Sequence[SessionView]) -> list[SessionView]:
        """Move old notes, none of them of a later week, to the archive, and return the *sessions* that are left."""
        settings, kept = self._work.settings.consolidate, self._work.settings.recall.sessions
        moves = tidying.old_sessions(sessions, self._oldest(settings.sessions_days), kept=kept)
        names = [Path(ref).name for ref in self._refs(f"{self._vault.daily}/*.md")]
        gone = {move.source for move in moves}
        left = [view for view in sessions if view.ref not in gone]
        old = tidying.old_dailies(names, self._oldest(settings.daily_days), folder=self._vault.daily)
        ids = {name for view in left for name in (view.id, view.name)}
        dailies = [move for move in old if self._may_go(move.source, ids)]
        with nullcontext() if self._dry else alone(self._vault):  # who commits in between would commit half of it
            self._relink([Path(move.source).stem for move in moves], {move.source for move in dailies})
            dated = tidying.days_of([*moves, *dailies], sessions)
            self._lines.note_moves(dated)
            moved = self._move_all([*moves, *dailies])
        self._lines.say_moves({move.source: dated[move.source] for move in moved})
        return left

    def _oldest(self, days: int) -> str:
        """Return the first day whose notes stay: so many *days* ago, or the day after the week if that is earlier."""
        ago = self._work.now().date() - dt.timedelta(days=days)
        return min(ago, self._outcome.week.last + dt.timedelta(days=1)).isoformat()

    def _may_go(self, ref: str, sessions: Collection[str]) -> bool:
        """Return whether the daily note *ref* is no journal of the user's, and lists none of *sessions*.

        A project's next start finds its sessions by it. Of a note that cannot be read the move will say why.
        """
        with suppress(MemtoolError, OSError):
            text = files.read_text(self._vault.path(ref))[0]
            is_listed = any(session.session_id in sessions for session in listed_sessions(text))
            return is_ours(self._vault, ref) and not is_listed
        return True

    def _relink(self, archived: Sequence[str], leaving: set[str]) -> None:
        """Let the daily notes lead to the *archived* sessions; those that are *leaving* themselves from there."""
        folders = {self._vault.daily: False, f"archive/{self._vault.daily}": True} if archived or leaving else {}
        self._write_all(
            {
                ref: partial(relinked, archived=archived, was=was, goes=was or ref in leaving)
                for folder, was in folders.items()
                for ref in self._refs(f"{folder}/*.md")
            }
        )

    def _move_all(self, moves: Sequence[Move]) -> list[Move]:
        """Move notes, and return those *moves* that were done or would be."""
        if self._dry or not moves:
            return list(moves)
        self.before_writing([ref for move in moves for ref in move])
        return [move for move in moves if self._tried(move.source, partial(self._move, move))]

    def _move(self, move: Move) -> bool:
        move_to_archive(self._vault, move, self.before_writing)
        return True

    def _write(self, ref: str, new: Callable[[str | None], str | None], say: Callable[[], None] = lambda: None) -> None:
        """Change the file *ref*, and *say* so before, if there is something to change."""
        self._write_all({ref: new}, say)

    def _write_all(
        self, new: Mapping[str, Callable[[str | None], str | None]], say: Callable[[], None] = lambda: None
    ) -> None:
        """Change files; what cannot be read or written is a problem."""
        changing = [ref for ref, changed in new.items() if self._tried(ref, partial(self._changes, ref, changed))]
        if changing:
            say()
        if not self._dry:
            self.before_writing(changing)
            for ref in changing:
                self._tried(ref, partial(self._change, ref, new[ref]))

    def _changes(self, ref: str, new: Callable[[str | None], str | None]) -> bool:
        try:
            before = files.read_text(self._vault.path(ref))[0]
        except FileNotFoundError:
            before = None
        wanted = new(before)
        return wanted is not None and wanted != before

    def _change(self, ref: str, new: Callable[[str | None], str | None]) -> bool:
        with self._vault.lock():
            files.change(self._vault.path(ref), new)
        return True

    def _tried(self, ref: str, deed: Callable[[], bool]) -> bool:
        """Return the result of *deed* on the file *ref*; False if it failed, which is a problem."""
        try:
            return deed()
        except (MemtoolError, OSError) as error:
            self._outcome.problems.append(f"'{ref}' was left as it is: {error}")
            return False

    def _refs(self, pattern: str) -> list[str]:
        return sorted(path.relative_to(self._vault.root).as_posix() for path in self._vault.root.glob(pattern))

    def before_writing(self, refs: Sequence[str]) -> None:
        """Note the files that are about to change; what the user has changed in them is a commit of its own."""
        if edited := [ref for ref in refs if ref in self._edited and ref not in self._outcome.written]:
            keep_edits(self._vault, edited)
        note_uncommitted(self._vault, refs)
        self._outcome.written |= dict.fromkeys(refs)

    @cached_property
    def _edited(self) -> frozenset[str]:
        """The files that the user has changed and not committed: that is a commit of its own, and no part of ours."""
        return edited_by_hand(self._vault)

    def end(self) -> None:
        """Forget the lines of this run: its report and its commit have them."""
        self._lines.end()


def _subject(outcome: Outcome) -> str:
    facts = sum(judged.fate in ("new", "supersedes") for judged in outcome.judged)
    told = counted(facts, "proposal" if outcome.is_open else "fact")
    return f"{outcome.week}: {told}, {counted(len(outcome.changes), 'change')}"
