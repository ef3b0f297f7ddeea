"""The history of the vault: `memtool timeline`, `log`, `diff`, `blame`, `undo` and `sync`."""

from __future__ import annotations

import datetime as dt
import shlex
import time
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import Any

import click

from memtool.cli import completion, output
from memtool.cli.options import ALL_PROJECTS, PROJECTS, REF, project_option, with_json
from memtool.cli.output import table
from memtool.cli.session import Session
from memtool.cli.show import find_place
from memtool.errors import NoteNotFound, UsageError
from memtool.history.changes import Change, Origin, find_change, read_changes, with_files
from memtool.history.repository import AUTHOR
from memtool.index.engine import Index, use_index
from memtool.index.lookup import find_ref
from memtool.index.reach import projects_in, reach
from memtool.memory.timeline import Timeline, event_fields, timeline
from memtool.text.lines import counted, some_of, without_surrogates
from memtool.vault.layout import Vault, project_of
from memtool.vault.memory import Memory

_CHANGE = click.argument("change", required=False, default="")


@click.command("log")
@click.argument("ref", required=False, shell_complete=completion.references)
@click.option("-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Changes on a page.")
@click.option("--page", type=click.IntRange(min=1), default=1, help="Show older changes: 2, 3 and so on.")
@project_option("Only changes of this project.")
@with_json
def log(session: Session, ref: str | None, *, limit: int, page: int, project: str | None) -> None:
    """Show the changes of the memory, newest first: what was done, why, and in which files.

    REF is a note, as `memtool show` takes it, or a folder of the vault. `memtool undo` and `memtool diff` take the
    number at the beginning of a change, or its id. Changes that memtool did not make show their author.
    """
    vault = session.vault
    changes = read_changes(vault, *([_path(session, ref)] if ref else []))
    if project:
        changes = [
            change
            for change in with_files(vault, changes)
            if any(project_of(file.path) == project for file in change.files)
            or any(line.startswith(f"{project}: ") for line in _message_lines(change))
        ]
    first = limit * (page - 1)
    shown = with_files(vault, changes[first : first + limit])
    pages = max(1, -(-len(changes) // limit))
    listed = [_fields(change) for change in shown]
    if session.emits({"page": page, "pages": pages, "total": len(changes), "changes": listed}):
        return
    rows = [(str(one.number), f"{one.at:%Y-%m-%d %H:%M}", (_heading(one), *_details(one))) for one in shown]
    table(("#", "When", "What"), rows, right=("#",))
    if not shown:
        output.say("No change is known." if page == 1 else f"There are {counted(pages, 'page')}.")
    output.say_page(page, pages)


def _path(session: Session, ref: str) -> str:
    """Return the path that *ref* means. A folder or a removed file is in no index, so its path is returned as it is."""
    if (session.vault.root / ref).exists():
        return ref
    with suppress(NoteNotFound):
        return use_index(session.place(), lambda index: find_ref(index.db, ref)).name
    return ref


def _message_lines(change: Change) -> list[str]:
    return [change.subject.partition(": ")[2], *(line.removeprefix("- ") for line in change.reason.split("\n"))]


def _fields(change: Change) -> dict[str, Any]:
    return {
        "number": change.number, "commit": change.commit, "at": change.at.isoformat(), "author": change.author,
        "deed": change.deed, "subject": change.subject, "reason": change.reason, "undoes": change.undoes,
        "undone_by": change.undone_by, "files": [{"deed": file.status, "path": file.path} for file in change.files],
    }  # fmt: skip


def _heading(change: Change) -> str:
    """Return the title of *change*, with its author if that is not memtool."""
    author = "hand" if change.author == AUTHOR["user.name"] else change.author
    return change.subject if change.deed else f"{change.subject} (by {author})"


def _details(change: Change) -> list[str]:
    """Return the lines below the title of *change*: why, its id and files, and whether it was reverted."""
    reasons = change.reason.split("\n") if change.reason else []
    more = [f"… and {len(reasons) - 4} more"] if len(reasons) > 4 else []
    signs = {"added": "+", "removed": "-"}
    files = ", ".join(f"{signs.get(file.status, '')}{file.path}" for file in change.files[:3])
    files += f" and {len(change.files) - 3} more" if len(change.files) > 3 else ""
    return [*reasons[:4], *more, "  ".join(filter(None, (change.short, files, _reverted(change))))]


def _reverted(change: Change) -> str:
    return f"reverted by {change.undone_by[:10]}" if change.undone_by else ""


@click.command("diff")
@_CHANGE
@click.option("--since", "day", metavar="DATE", help="Everything that differs from then: 2026-02-10, 7d, yesterday.")
@click.option("--uncommitted", "is_waiting", is_flag=True, help="What is written and not committed yet.")
@with_json
def diff(session: Session, change: str, *, day: str | None, is_waiting: bool) -> None:
    """Show what a change did to the memory, line by line.

    CHANGE is its number in `memtool log`, or its id; by default, the newest change.
    """
    from memtool.history.past import since, uncommitted, what_changed
    from memtool.history.repository import get_own_repository
    from memtool.index.filters import parse_day

    if sum(map(bool, (change, day, is_waiting))) > 1:
        raise UsageError("CHANGE, --since and --uncommitted exclude each other")
    vault = session.vault
    get_own_repository(vault.root)
    about: dict[str, Any] = {}
    if day:
        begun = dt.date.fromisoformat(parse_day(day, session.work.now().date()))
        found, head = since(vault, begun), f"since {begun}"
    elif is_waiting:
        found, head = uncommitted(vault), "not committed yet"
    else:
        one = find_change(vault, change or ("1" if read_changes(vault) else ""))
        found, about = what_changed(vault, one), {"change": _fields(one)}
        head = f"{one.number}  {one.at:%Y-%m-%d %H:%M}  {one.short}  {_heading(one)}  {_reverted(one)}".rstrip()
    if session.emits({**about, "files": [difference._asdict() for difference in found]}):
        return
    click.echo(output.printable(head))
    for difference in found:
        click.secho(output.printable_lines(f"\n{difference.deed}: {difference.path}"), bold=True)
        for line in difference.lines:
            colour = {"+": "green", "-": "red"}.get(line[0])
            click.secho(output.printable(line), fg=colour, dim=colour is None)
    output.say("" if found else "Nothing differs.")


@click.command("blame")
@REF
@with_json
def blame(session: Session, ref: str) -> None:
    """Show which session, turn and change brought a line.

    REF is the id of a fact, a path with lines such as `areas/x.md:10-20`, a path, the name of a note, or the short id
    of a line that a session received. The turn is known as long as the session's record is kept, and for facts that
    name it.
    """
    from memtool.history.changes import blame as origins_of

    place = find_place(session, without_surrogates(ref))
    vault = session.vault
    found = [_with_turn(vault, origin) for origin in origins_of(vault, place.name, place.first, place.last)]
    if session.emits({"path": place.name, "lines": [_origin_fields(origin) for origin in found]}):
        return
    click.echo(output.printable(place.name))
    rows = []
    for origin in found:
        change, (session_id, _, turn) = origin.change, origin.session.partition("#")
        head = f"{change.at:%Y-%m-%d %H:%M}  {change.short}  {_heading(change)}" if change else "not committed yet"
        source = f"from {session_id}{f', turn {turn}' if turn else ''}" if session_id else ""
        texts = [f"| {line.strip()}" for line in origin.text.split("\n") if line.strip()]
        more = [f"… and {len(texts) - 3} more"] if len(texts) > 3 else []
        numbers = f"{origin.first}-{origin.last}" if origin.last > origin.first else f"{origin.first}"
        rows.append((numbers, (head, source, *texts[:3], *more)))
    table(("Lines", "Brought by"), rows, right=("Lines",))


def _with_turn(vault: Vault, origin: Origin) -> Origin:
    """Return *origin* with the turn of its session that it came from, if the session's source holds it."""
    from memtool.capture.source import find_source, turn_of, without_marks
    from memtool.vault.session_names import note_of, session_at

    if not origin.session or any(mark in origin.session for mark in "#/:"):
        return origin
    source = find_source(vault, session_at(vault, note_of(vault, origin.session)))
    if source and (number := turn_of(source, without_marks(origin.text))):
        return origin._replace(session=f"{origin.session}#{number}")
    return origin


def _origin_fields(origin: Origin) -> dict[str, Any]:
    session, _, turn = origin.session.partition("#")
    about: dict[str, Any] = dict.fromkeys(("commit", "at", "author", "deed", "subject"), "")
    if origin.change:
        about = {name: value for name, value in _fields(origin.change).items() if name in about}
    return {
        "start_line": origin.first, "end_line": origin.last, "text": origin.text, **about, "session": session,
        "turn": int(turn) if turn.isdecimal() else None,
    }  # fmt: skip


@click.command("undo")
@_CHANGE
@with_json
def undo(session: Session, change: str) -> None:
    """Revert one change of the memory.

    CHANGE is its number in `memtool log`, or its id; by default, the newest change that memtool made and that was not
    reverted yet. What was written since is kept, committed or not; if it overlaps with the change, nothing is done and
    the files are named. The result is one more commit, which can be reverted as well. A session whose note was reverted
    is not captured again. A change that memtool did not make is reverted by its id only.
    """
    from memtool.capture.captured import take_back

    work = session.work
    found = find_change(work.vault, change)
    if not found.deed and found.number == (int(change) if change.isdecimal() else 0):
        hint = f"To revert it all the same: `memtool undo {found.short}`."
        raise UsageError(f"change {change} is not memtool's: '{found.subject}' by {found.author}", hint=hint)
    done = take_back(work, found)
    back = f"memtool --vault {shlex.quote(str(session.vault.root))} undo {done.commit[:10]}"
    answer = {"commit": done.commit, "undoes": done.change.commit, "subject": done.change.subject, "files": done.refs}
    if session.emits({**answer, "undo": back}):
        return
    click.echo(output.printable(f"Reverted: {found.subject} ({found.at:%Y-%m-%d %H:%M})"))
    click.echo(output.printable(f"{counted(len(done.refs), 'file')} changed: {', '.join(done.refs[:5])}"))
    output.say(f"Undo: {back}")


@click.command("sync")
@click.option("--edits", is_flag=True, help="Also commit your own changes, in your name.")
@click.option("--join", is_flag=True, help="Join two vaults that were made independently.")
@with_json
def sync(session: Session, *, edits: bool, join: bool) -> None:
    """Synchronise the vault with its remote, and so with your other machines.

    This fetches, merges and pushes the checked-out branch, without questions. Facts, daily notes, open items, session
    notes and the routing table are merged item by item. If two machines changed the same place of a text, the file
    keeps both versions between conflict marks, and is named. Your uncommitted changes stay here, unless you use
    --edits.
    """
    from memtool.capture.note_place import keep_what_is_by_hand, part_same_names
    from memtool.history import syncing
    from memtool.index.engine import catch_up
    from memtool.index.turn_table import catch_up_turns
    from memtool.worker import update_routes

    work = session.work

    def follow() -> None:
        update_routes(work, new_table=False)

    def wait(attempt: int) -> None:
        # Seconds, longer each time, and not the same on two machines.
        time.sleep(0.2 * attempt * (1 + int(work.random(1), 16) / 255))

    keep = partial(keep_what_is_by_hand, work.vault)
    with output.waiting() as tell:
        if output.is_watched():
            tell("Synchronising")
        done = syncing.sync(
            work.vault, wait=wait, after_merge=follow, join=join, edits=edits, before_commit=keep,
            before_merge=partial(part_same_names, work.vault),
        )  # fmt: skip
    catch_up(work)
    catch_up_turns(work)
    if session.emits(done._asdict()):
        return
    moved = [f"{counted(done.received, 'change')} received"] if done.received else []
    moved += [f"{counted(done.sent, 'change')} sent"] if done.sent else []
    click.echo(output.printable(f"{done.remote}: {', '.join(moved) or 'nothing new on either side'}."))
    if done.aside:
        named = some_of([f"{name} → {beside}" for name, beside in done.aside.items()], 5)
        output.say(f"the remote has files with the names of some that git ignores here; yours were renamed: {named}")
    if done.unsolved:
        output.say(f"conflicts in {some_of(done.unsolved, 5)}: keep the right version, with an editor")
    if done.waiting:
        output.say(f"not committed, so not sent: {some_of(done.waiting, 5)} (`memtool sync --edits` sends it, too)")


_COUNT = click.IntRange(0, 1_000)


@click.command("timeline")
@click.argument("anchor", nargs=-1, shell_complete=completion.references)
@click.option("--before", type=_COUNT, default=5, show_default=True, help="How many events before it.")
@click.option("--after", type=_COUNT, default=5, show_default=True, help="How many events after it.")
@PROJECTS
@ALL_PROJECTS
@with_json
def around(
    session: Session, anchor: tuple[str, ...], *, before: int, after: int, projects: tuple[str, ...], all_projects: bool
) -> None:
    """Show what happened around a note, a time or a word: sessions, decisions, edits, facts and dated notes, in order.

    ANCHOR is a day or a time (2026-02-10, 2026-02-10T14:30, 7d, yesterday), the id of a fact or a session, a note's
    path or name, or words to search for. Without it, the newest events are shown. In a project that the vault knows,
    only events of that project and of no project are shown.
    """
    words = without_surrogates(" ".join(anchor))
    here = "" if all_projects or projects else session.work.project()

    def found(index: Index) -> Timeline:
        known = projects_in(index.db) if here else []
        kept = reach(index.db, here) if here in known else projects
        try:
            return timeline(session.work, index, words, projects=kept, before=before, after=after)
        except NoteNotFound:
            if here in known and len(known) > 1:
                output.say(f"searched '{here}' and what belongs to no project; --all-projects searches every project")
            raise

    shown = use_index(session.place(), found)
    events = [{**event_fields(event), "is_anchor": at == shown.anchor} for at, event in enumerate(shown.events)]
    if session.emits({"anchor": shown.anchor, "earlier": shown.earlier, "later": shown.later, "events": events}):
        return
    if output.on_terminal():
        _draw_days(shown)
    else:
        for at, event in enumerate(shown.events):
            mark = ">" if at == shown.anchor else " "
            words = "  ".join(filter(None, (event.kind, event.project, _event_text(event), _event_place(event))))
            click.echo(f"{mark} {event.day} {event.minute or '     '}  {output.printable(words)}")
    output.say("" if shown.events else "Nothing with a date is known.")
    if more := [name for name, there_is in (("before", shown.earlier), ("after", shown.later)) if there_is]:
        output.say(f"there is more {' and '.join(more)}; --{more[0]} 20 shows it")


def _event_text(event: Memory) -> str:
    return f"{event.text} ({event.status})" if event.status else event.text


def _event_place(event: Memory) -> str:
    return event.id if event.kind in ("fact", "session") else f"{event.path}:{event.place.start_line}"


def _draw_days(shown: Timeline) -> None:
    """Draw a tree of the days."""
    from memtool.cli import screen

    anchor = None if shown.anchor is None else shown.events[shown.anchor]
    for day, events in groupby(shown.events, key=lambda event: event.day):
        tree = screen.tree(screen.text(day, "bold"))
        for event in events:
            head = screen.joined(
                screen.text(f"{event.minute or '     '}  "),
                screen.text(event.kind, "cyan"),
                screen.text(f"  {event.project}" if event.project else ""),
                screen.text(f"  {_event_text(event)}", "bold yellow" if event is anchor else ""),
            )
            tree.add(screen.lines(head, _event_place(event)))
        screen.show(tree)
