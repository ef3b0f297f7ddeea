"""The weekly run: what happened becomes what is known, the vault is tidied, and one commit holds all of it.

read        session notes, daily notes, facts
distil      proposals → judged beside what is known → facts.json
tidy        open items that were done, old notes to the archive, generated sections
report      what happened in the week
commit      exactly the files that were written

Each step finds what it did before, so that the next run completes one that was cut off, and a second run of a week
changes nothing.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from pathlib import Path

from memtool.capture.daily_lines import is_ours
from memtool.consolidate import report, review
from memtool.consolidate.archiving import move_to_archive, relinked
from memtool.consolidate.model import proposals_by_model
from memtool.consolidate.proposals import (
    ARCHIVE,
    HALF,
    NEARLY_ALL,
    Judged,
    Proposal,
    SessionView,
    proposals_of,
    read_sessions,
    write_dropped,
    write_facts,
)
from memtool.consolidate.week import Week, keep_run, the_only_run
from memtool.errors import MemtoolError, NoteNotFound, UsageError
from memtool.history.one_commit import Kept, alone, commit, commit_noted, edited_by_hand, keep_edits
from memtool.history.repository import refuse_unfinished_vault
from memtool.history.uncommitted import note_uncommitted
from memtool.index.engine import catch_up
from memtool.llm import is_set_up
from memtool.memory.fact_book import FactBook, moved_anchors, read_facts
from memtool.recall.hints import gather_hints
from memtool.recall.start.last_sessions import gather_standing
from memtool.text.languages import pattern_of
from memtool.text.lines import counted
from memtool.text.similarity import is_said, words
from memtool.vault import files
from memtool.vault.daily import listed_sessions
from memtool.vault.facts import change as change_facts, update_facts
from memtool.vault.marks import with_generated
from memtool.vault.memory import AGENT
from memtool.vault.sessions import Line
from memtool.vault.todos import Todo, close_todo, find_todos
from memtool.workspace import Workspace

MEMORY = "MEMORY.md"
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?:\.memtool)?\.md")
_COMMIT = "commit: "

Change = Callable[[str | None], str | None]  # from the text of a file to a new one; None is no file, or no change


@dataclass
class Outcome:
    """The outcome of a run, real or tried.

    Args:
        is_open: whether a person decides on the proposals.
        waiting: the proposals that this week's review asks about.
        changes: its lines in the report.
    """

    week: Week
    is_open: bool = False
    judged: list[Judged] = field(default_factory=list)
    waiting: list[Judged] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    written: dict[str, None] = field(default_factory=dict)
    kept: Kept = field(default_factory=Kept)
    problems: list[str] = field(default_factory=list)


def consolidate(
    work: Workspace, week: Week, *, tidy: bool = True, review_first: bool = False, dry: bool = False
) -> Outcome:
    """Run the consolidation of *week*, and commit what it changed.

    Args:
        work: where.
        week: whose activity is reported; facts are distilled from all sessions up to its end.
        tidy: whether the vault is tidied and the report written, too.
        review_first: whether proposals wait for a person.
        dry: nothing is written; the outcome says what would be.

    Raises:
        Busy: another run is at work.
    """
    with the_only_run(work, week, dry=dry):
        if not dry:
            refuse_unfinished_vault(work.vault.root)
        everything, book = read_sessions(work.vault), read_facts(work.vault)
        outcome = Outcome(week, is_open=review_first, problems=[*book.broken.values()])
        sessions = [view for view in everything if view.date[:10] <= week.last.isoformat()]
        proposals = _proposed(work, outcome, book, sessions, dry=dry)
        outcome.judged = review.judge_all(work, book, [one for one in proposals if not book.is_broken(one.project)])
        run = _Run(work, book, outcome, dry=dry)
        run.distil([one for one in outcome.judged if one.fate == "known" or not review_first])
        if review_first:
            known = {one.proposal.id for one in outcome.judged}  # without those of notes that were archived since
            earlier = [one for one in review.stored_proposals(work.vault, week) if one.proposal.id not in known]
            run.leave_for_review([*outcome.judged, *earlier])
        if tidy:
            run.tidy(everything)
            run.write_report(sessions)
        if not dry:
            run.finish()
        if tidy and not dry:
            keep_run(work, week, _subject(outcome), is_done=True)
        return outcome


def _proposed(
    work: Workspace, outcome: Outcome, book: FactBook, sessions: Sequence[SessionView], *, dry: bool
) -> list[Proposal]:
    """Return what a model proposes of the week's sessions, and what the user said that it has not chosen from."""
    if dry or not is_set_up(work.settings.llm):
        return proposals_of(sessions)
    own = [view for view in sessions if outcome.week.holds(view.date)]
    found, read = proposals_by_model(work, book, own, outcome.problems)
    chosen = {span for one in found for span in one.spans}
    others = proposals_of(sessions, only_rules={view.id for view in sessions if view not in own} | read)
    return [*found, *(one for one in others if not chosen.intersection(one.spans))]


def apply_review(work: Workspace, week: Week, choices: Mapping[str, review.Choice] | None = None) -> Outcome:
    """Write what a person decided on the proposals of *week*, and commit it.

    *choices* are those of the review's note, if they are not given.

    Raises:
        NoteNotFound: there is no review of that week.
        UsageError: the proposals are no longer known.
    """
    # Dry, so that a failure is not kept as the last weekly run: a person asked for this and sees the error.
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
            raise UsageError(f"the proposals of {week} are no longer known", hint=hint)
        run = _Run(work, read_facts(work.vault), outcome, dry=False)
        kept, dropped = review.decided(judged, choices)
        outcome.judged = [*kept, *(one._replace(fate="rejected") for one in dropped)]
        run.distil(kept)
        write_dropped(work, dropped, run.before_writing)
        run.write_sections(read_sessions(work.vault))
        run.leave_for_review([one for one in judged if one.proposal.id not in choices])
        run.finish()
        return outcome


class _Run:
    """The writing steps of a run; a dry one writes nothing and says the same."""

    def __init__(self, work: Workspace, book: FactBook, outcome: Outcome, *, dry: bool) -> None:
        self._work, self._vault, self._outcome, self._dry = work, work.vault, outcome, dry
        self._book = book  # as it is now
        self._lines = report.ChangeLines(work, outcome.week, {stored.fact.id for stored in book}, dry=dry)
        outcome.changes = self._lines.lines

    def distil(self, judged: Sequence[Judged]) -> None:
        """Write the facts of *judged*, and mark those whose files have changed."""
        write_facts(self._work, self._book, judged, self._lines.say_fact, None if self._dry else self.before_writing)
        for stored in () if self._dry else list(self._book):
            found = moved_anchors(self._vault, stored.fact, stored.project, self._work.language)
            moved = "; ".join(found) if stored.fact.status == "active" else ""
            if moved and moved != stored.fact.review:
                self.before_writing([stored.ref])
                with suppress(MemtoolError):  # it was changed in the meantime, and the next run looks at it
                    marked = partial(change_facts, fact_id=stored.fact.id, review=moved)
                    self._book.files[stored.ref] = update_facts(self._vault, stored.ref, marked)

    def leave_for_review(self, judged: Iterable[Judged]) -> None:
        """Write the note in which a person decides on *judged*; without any left it goes, and git has it.

        What waits in the note of another week is not asked for a second time.
        """
        week, ref = self._outcome.week, review.review_ref(self._outcome.week)
        waiting = self._outcome.waiting = review.to_ask(self._vault, week, judged)
        if self._dry:
            return
        review.store_proposals(self._vault, week, waiting)
        if waiting:
            self._write({ref: lambda _: review.render_review(week, waiting, self._work.language)})
        elif self._vault.path(ref).is_file():
            with self._vault.lock():
                self.before_writing([ref])
                self._vault.path(ref).unlink(missing_ok=True)

    def tidy(self, sessions: Sequence[SessionView]) -> None:
        """Close open items that were done, move old notes to the archive, and write the sections of what is left."""
        for ref in self._refs("areas/projects/*/todos.md"):
            self._close(ref, [view for view in sessions if view.project == ref.split("/")[2]])
        self.write_sections(self._archive(sessions))

    def _close(self, ref: str, sessions: Sequence[SessionView]) -> None:
        """Tick off the open items of the task list *ref* that *sessions* did."""
        done: list[tuple[Todo, str]] = []

        def closed(text: str | None) -> str | None:
            done[:] = done_items(text or "", sessions)
            for item, session in done:
                text = close_todo(text or "", item.line, session, self._work.language)
            return text

        def say() -> None:
            for item, session in done:
                self._lines.say("closed", item.task, session)

        self._write({ref: closed}, say)

    def write_sections(self, sessions: Sequence[SessionView]) -> None:
        """Write what is worth reading at each start into MEMORY.md and the projects' summaries."""
        bodies = {MEMORY: report.shared_section(self._book, self._work)}
        for ref in self._refs("areas/projects/*/summary.md"):
            name = ref.split("/")[2]
            own = [view for view in sessions if view.project == name]
            bodies[ref] = report.project_section(self._book, name, own, self._work)
        for ref, body in bodies.items():
            self._write({ref: partial(_with_section, body=body)}, partial(self._lines.say, "section", ref))

    def write_report(self, sessions: Sequence[SessionView]) -> None:
        """Write the report."""
        week, ref = self._outcome.week, report.report_ref(self._outcome.week)
        everything, known = [*sessions], {view.ref for view in sessions}
        if (self._work.now().date() - week.last).days >= self._work.settings.consolidate.sessions_days:
            archived = read_sessions(self._vault, folder=ARCHIVE)
            everything += [view for view in archived if view.ref.removeprefix("archive/") not in known]

        def rendered(before: str | None) -> str | None:
            changes = self._outcome.changes
            return report.render_report(self._work, week, self._book, everything, changes, before=before or "") or None

        self._write({ref: rendered})

    def finish(self) -> None:
        """Commit what this run wrote, and what one that was cut off had left; bring the index up to date."""
        outcome = self._outcome
        if outcome.written:
            with alone(self._vault):
                why = "\n".join(f"- {line}" for line in outcome.changes[:20])  # the report has all
                outcome.kept = commit(self._vault, list(outcome.written), "consolidate", _subject(outcome), why)
        try:
            commit_noted(self._vault, f"consolidate: {outcome.week}: what was left by a run that was cut off")
        except MemtoolError as error:  # it is still noted, and the next capture commits it
            notice = outcome.kept.notice or f"what was written before is not committed yet: {error}. {error.hint}"
            outcome.kept = outcome.kept._replace(notice=notice)
        gather_hints(self._vault)
        gather_standing(self._vault)
        catch_up(self._work)
        self._lines.end()

    def before_writing(self, refs: Sequence[str]) -> None:
        """Note the files that are about to change; the user's own changes to them are a commit of their own."""
        if edited := [ref for ref in refs if ref in self._edited and ref not in self._outcome.written]:
            keep_edits(self._vault, edited)
        note_uncommitted(self._vault, refs)
        self._outcome.written |= dict.fromkeys(refs)

    @cached_property
    def _edited(self) -> frozenset[str]:
        """The files that the user has changed and not committed."""
        return edited_by_hand(self._vault)

    def _archive(self, sessions: Sequence[SessionView]) -> list[SessionView]:
        """Move old notes, none of them of a later week, to the archive, and return the *sessions* that are left."""
        settings, daily = self._work.settings, self._vault.daily
        gone = old_sessions(sessions, self._oldest(settings.consolidate.sessions_days), kept=settings.recall.sessions)
        going = set(gone)
        left = [view for view in sessions if view.ref not in going]
        ids = {name for view in left for name in (view.id, view.name)}
        names = [ref.rpartition("/")[2] for ref in self._refs(f"{daily}/*.md")]
        old = [f"{daily}/{name}" for name in old_dailies(names, self._oldest(settings.consolidate.daily_days))]
        dailies = [ref for ref in old if self._may_go(ref, ids)]
        days = {view.ref: view.date[:10] for view in sessions}
        dated = {ref: days.get(ref) or Path(ref).name[:10] for ref in (*gone, *dailies)}
        with nullcontext() if self._dry else alone(self._vault):  # who commits in between would commit half of it
            if dated:  # the daily notes link to the archived sessions; those that go themselves, from there
                leave = partial(relinked, archived=[Path(ref).stem for ref in gone])
                self._write({
                    ref: partial(leave, was=was, goes=was or ref in dailies)
                    for folder, was in {daily: False, f"archive/{daily}": True}.items()
                    for ref in self._refs(f"{folder}/*.md")
                })  # fmt: skip
            self._lines.note_moves(dated)
            self._lines.say_moves({ref: dated[ref] for ref in (dated if self._dry else self._moved(dated))})
        return left

    def _oldest(self, days: int) -> str:
        """Return the first day whose notes stay: so many *days* ago, or the day after the week if that is earlier."""
        ago = self._work.now().date() - dt.timedelta(days=days)
        return min(ago, self._outcome.week.last + dt.timedelta(days=1)).isoformat()

    def _may_go(self, ref: str, sessions: set[str]) -> bool:
        """Return whether the daily note *ref* is no journal of the user's, and lists none of *sessions*.

        A project's next start finds its sessions by it. Of a note that cannot be read the move will say why.
        """
        with suppress(MemtoolError, OSError):
            text = self._vault.read(ref)[0]
            is_listed = any(session.session_id in sessions for session in listed_sessions(text))
            return is_ours(self._vault, ref) and not is_listed
        return True

    def _moved(self, refs: Collection[str]) -> list[str]:
        """Move the notes *refs* to the archive, and return those that could be moved."""
        self.before_writing([each for ref in refs for each in (ref, f"archive/{ref}")])
        done = []
        for ref in refs:
            with self._problems(ref):
                move_to_archive(self._vault, ref, self.before_writing)
                done.append(ref)
        return done

    def _write(self, new: Mapping[str, Change], say: Callable[[], None] = lambda: None) -> None:
        """Change files, and *say* so before, if there is something to change."""
        texts: dict[str, tuple[str, str | None]] = {}
        for ref, changed in new.items():
            with self._problems(ref):
                before, expected = None, None
                with suppress(NoteNotFound):
                    before, expected = self._vault.read(ref)
                text = changed(before)
                if text is not None and text != before:
                    texts[ref] = (text, expected)
        if texts:
            say()
        if not self._dry:
            self.before_writing([*texts])
            for ref, (text, expected) in texts.items():
                with self._problems(ref), self._vault.lock():
                    files.replace(self._vault.path(ref), text, expected=expected)

    @contextmanager
    def _problems(self, ref: str) -> Iterator[None]:
        """Make a problem of what keeps the file *ref* from being changed."""
        try:
            yield
        except (MemtoolError, OSError) as error:
            self._outcome.problems.append(f"'{ref}' was left as it is: {error}")

    def _refs(self, pattern: str) -> list[str]:
        return sorted(path.relative_to(self._vault.root).as_posix() for path in self._vault.root.glob(pattern))


def _with_section(text: str | None, body: str) -> str | None:
    return None if text is None else with_generated(text, body)


def _subject(outcome: Outcome) -> str:
    facts = sum(judged.fate in ("new", "supersedes") for judged in outcome.judged)
    named = counted(facts, "proposal" if outcome.is_open else "fact")
    return f"{outcome.week}: {named}, {counted(len(outcome.changes), 'change')}"


def old_sessions(sessions: Sequence[SessionView], oldest: str, *, kept: int) -> list[str]:
    """Return the sessions before the day *oldest*; the newest *kept* of each project stay, for its next start."""
    by_project: dict[str, list[SessionView]] = {}
    for view in sorted(sessions, key=lambda view: (view.date, view.id), reverse=True):
        by_project.setdefault(view.project, []).append(view)
    old = (view for views in by_project.values() for view in views[kept:] if view.date and view.date[:10] < oldest)
    return sorted(view.ref for view in old)


def old_dailies(names: Iterable[str], oldest: str) -> list[str]:
    """Return the daily notes among the file *names* of days before the day *oldest*."""
    return sorted(name for name in names if (match := _DAY.fullmatch(name)) and match[1] < oldest)


def done_items(todos: str, sessions: Sequence[SessionView]) -> list[tuple[Todo, str]]:
    """Return the open items of the task list *todos* that a session did, with its id.

    Its commits say so, or what it says was done: a sentence that holds half of an item's words, and nearly all of them
    together with the prompt that it answers.
    """
    done = [(view.id, words(text), words(f"{asked} {text}")) for view in sessions for asked, text in _done(view)]
    found = []
    for todo in find_todos(todos):
        wanted = words(todo.task)
        if todo.is_open and len(wanted) > 2:  # of fewer words, too much would be taken for it
            fitting = (
                session_id
                for session_id, own, around in done
                if is_said(wanted, [own], HALF) and is_said(wanted, [around], NEARLY_ALL)
            )
            found += [(todo, session_id) for session_id in islice(fitting, 1)]
    return found


def _done(view: SessionView) -> Iterator[tuple[str, str]]:
    """Give what the session *view* did, each with the order before it: its commits, "Done: I wrote …" and the like."""
    draft = view.note.draft
    title = draft.title[max(0, draft.title.find(_COMMIT)) :]
    for line in (*draft.lines, Line(title, asked=draft.asked)):
        is_done = line.author == AGENT and re.match(pattern_of("status_line"), line.text, re.IGNORECASE)
        if line.role == "" and (line.text.startswith(_COMMIT) or is_done):
            order = line.asked or draft.asked
            yield "" if re.search("[?？]", order) else order, line.text.removeprefix(_COMMIT)
