"""`memtool timeline`."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import click

from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import NoteNotFound
from memtool.index.engine import Index, use_index
from memtool.index.lookup import projects_in, reach
from memtool.memory.timeline import Event, Timeline, timeline
from memtool.text.lines import without_surrogates

_MOST = 1_000  # events to each side


@click.command()
@click.argument("anchor", nargs=-1)
@click.option("--before", type=click.IntRange(0, _MOST), default=5, show_default=True, help="Events before it.")
@click.option("--after", type=click.IntRange(0, _MOST), default=5, show_default=True, help="Events after it.")
@click.option("--project", "projects", multiple=True, help="Only this project. Repeatable.")
@click.option("--all-projects", is_flag=True, help="Every project, and not only the one at hand.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(
    session: Session,
    anchor: tuple[str, ...],
    *,
    before: int,
    after: int,
    projects: tuple[str, ...],
    all_projects: bool,
    as_json: bool,
) -> None:
    """Show what happened around a note, a time or a word: sessions, decisions, edits, facts and dated notes, in order.

    ANCHOR is a day or a time (2026-02-10, 2026-02-10T14:30, 7d, yesterday), the id of a fact or a session, a note's
    path or name, or words to search for. Without it, the newest events are shown. In a project that the vault knows,
    only what belongs to it or to no project is.
    """
    asked = without_surrogates(" ".join(anchor))
    here = "" if all_projects or projects else session.work.project()

    def found(index: Index) -> Timeline:
        known = projects_in(index.db) if here else []
        kept = reach(index.db, here) if here in known else projects
        try:
            return timeline(session.work, index, asked, projects=kept, before=before, after=after)
        except NoteNotFound:
            if here in known and len(known) > 1:
                output.say(f"only '{here}' and what belongs to no project was looked at; --all-projects widens that")
            raise

    shown = use_index(session.place(), found)
    if as_json:
        output.emit_json(_fields(shown))
        return
    if output.on_terminal():
        _show(shown)
    else:
        for at, event in enumerate(shown.events):
            click.echo(_line(event, is_anchor=at == shown.anchor))
    output.say(*_more(shown))


def _fields(shown: Timeline) -> dict[str, Any]:
    events = [{**event._asdict(), "is_anchor": at == shown.anchor} for at, event in enumerate(shown.events)]
    return {"anchor": shown.anchor, "earlier": shown.earlier, "later": shown.later, "events": events}


def _line(event: Event, *, is_anchor: bool) -> str:
    mark = ">" if is_anchor else " "
    when = f"{event.date} {event.minute or '     '}"
    ended = f" ({event.status})" if event.status else ""
    told = "  ".join(filter(None, (event.kind, event.project, event.text + ended, _place(event))))
    return f"{mark} {when}  {output.printable(told)}"


def _place(event: Event) -> str:
    return event.id if event.kind in ("fact", "session") else f"{event.path}:{event.line}"


def _more(shown: Timeline) -> list[str]:
    if not shown.events:
        return ["Nothing with a date is known."]
    more = [name for name, there_is in (("before", shown.earlier), ("after", shown.later)) if there_is]
    return [f"there is more {' and '.join(more)}; --{more[0]} 20 shows it"] if more else []


def _show(shown: Timeline) -> None:
    """Draw a tree of the days."""
    from memtool.cli import screen

    anchor = None if shown.anchor is None else shown.events[shown.anchor]
    for day, events in groupby(shown.events, key=lambda event: event.date):
        tree = screen.tree(screen.text(day, "bold"))
        for event in events:
            told = event.text + (f" ({event.status})" if event.status else "")
            head = screen.joined(
                screen.text(f"{event.minute or '     '}  "),
                screen.text(event.kind, "cyan"),
                screen.text(f"  {event.project}" if event.project else ""),
                screen.text(f"  {told}", "bold yellow" if event is anchor else ""),
            )
            tree.add(screen.lines(head, _place(event)))
        screen.show(tree)
