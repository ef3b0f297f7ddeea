"""`memtool timeline`."""

from __future__ import annotations

from itertools import groupby

import click

from memtool.cli import completion, output
from memtool.cli.options import ALL_PROJECTS, PROJECTS, with_json
from memtool.cli.session import Session
from memtool.errors import NoteNotFound
from memtool.index.engine import Index, use_index
from memtool.index.reach import projects_in, reach
from memtool.memory.timeline import Timeline, event_fields, timeline
from memtool.text.lines import without_surrogates
from memtool.vault.memory import Memory

_COUNT = click.IntRange(0, 1_000)


@click.command()
@click.argument("anchor", nargs=-1, shell_complete=completion.references)
@click.option("--before", type=_COUNT, default=5, show_default=True, help="How many events before it.")
@click.option("--after", type=_COUNT, default=5, show_default=True, help="How many events after it.")
@PROJECTS
@ALL_PROJECTS
@with_json
def command(
    session: Session,
    anchor: tuple[str, ...],
    *,
    before: int,
    after: int,
    projects: tuple[str, ...],
    all_projects: bool,
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
        _draw(shown)
    else:
        for at, event in enumerate(shown.events):
            mark = ">" if at == shown.anchor else " "
            words = "  ".join(filter(None, (event.kind, event.project, _text(event), _place(event))))
            click.echo(f"{mark} {event.day} {event.minute or '     '}  {output.printable(words)}")
    output.say("" if shown.events else "Nothing with a date is known.")
    if more := [name for name, there_is in (("before", shown.earlier), ("after", shown.later)) if there_is]:
        output.say(f"there is more {' and '.join(more)}; --{more[0]} 20 shows it")


def _text(event: Memory) -> str:
    return f"{event.text} ({event.status})" if event.status else event.text


def _place(event: Memory) -> str:
    return event.id if event.kind in ("fact", "session") else f"{event.path}:{event.place.start_line}"


def _draw(shown: Timeline) -> None:
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
                screen.text(f"  {_text(event)}", "bold yellow" if event is anchor else ""),
            )
            tree.add(screen.lines(head, _place(event)))
        screen.show(tree)
