"""`memtool log`."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click

from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import NoteNotFound
from memtool.history.changes import Change, ChangedFile, read_changes, with_files
from memtool.history.repository import AUTHOR
from memtool.index.engine import use_index
from memtool.index.lookup import find_ref
from memtool.text.lines import counted
from memtool.vault.layout import project_of

_NAMED = 3  # files of a change
_REASONS = 4  # lines


@click.command()
@click.argument("ref", required=False)
@click.option("-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Changes on a page.")
@click.option("--page", type=click.IntRange(min=1), default=1, help="The older ones: 2, 3 and so on.")
@click.option("--project", metavar="NAME", help="Only changes of this project.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(session: Session, ref: str | None, *, limit: int, page: int, project: str | None, as_json: bool) -> None:
    """Show how the memory changed: newest first, what was done, why, and in which files.

    REF is a note, as `memtool show` takes it, or a folder of the vault, to see what changed it. `memtool undo` and
    `memtool diff` take the number in front of a change, or its id. Changes that memtool did not make carry the name of
    who did.
    """
    vault = session.vault
    changes = read_changes(vault, *([_path(session, ref)] if ref else []))
    if project:
        changes = [change for change in with_files(vault, changes) if _is_about(change, project)]
    first = limit * (page - 1)
    shown = with_files(vault, changes[first : first + limit])
    pages = max(1, -(-len(changes) // limit))
    if as_json:
        output.emit_json(
            {"page": page, "pages": pages, "total": len(changes), "changes": [fields_of(change) for change in shown]}
        )
        return
    if output.on_terminal():
        _show(shown)
    else:
        for change in shown:
            _print(change)
    if not shown:
        output.say("No change is known." if page == 1 else f"There are {counted(pages, 'page')}.")
    elif page < pages:
        output.say(f"page {page} of {pages}; `--page {page + 1}` shows the next")


def _path(session: Session, ref: str) -> str:
    """Return the path that *ref* means; what the index does not hold may be a folder, or a file that was removed."""
    if (session.vault.root / ref).exists():
        return ref
    with suppress(NoteNotFound):
        return use_index(session.place(), lambda index: find_ref(index.db, ref)).name
    return ref


def _is_about(change: Change, project: str) -> bool:
    """Whether *change* touches the project's area, or says that it is about it."""
    if any(project_of(file.path) == project for file in change.files):
        return True
    said = (change.subject.partition(": ")[2], *change.reason.split("\n"))
    return any(line.removeprefix("- ").startswith(f"{project}: ") for line in said)


def fields_of(change: Change) -> dict[str, Any]:
    """Return the fields of *change* for JSON."""
    return {
        "number": change.number, "commit": change.commit, "at": change.at.isoformat(), "author": change.author,
        "deed": change.deed, "subject": change.subject, "reason": change.reason, "undoes": change.undoes,
        "undone_by": change.undone_by, "files": [file._asdict() for file in change.files],
    }  # fmt: skip


def heading(change: Change) -> str:
    """Return the title of *change*, with its author where that was not memtool."""
    author = "hand" if change.author == AUTHOR["user.name"] else change.author
    return change.subject if change.deed else f"{change.subject} (by {author})"


def remark(change: Change) -> str:
    """Return the end that *change* came to since; empty if it stands."""
    return f"taken back by {change.undone_by[:10]}" if change.undone_by else ""


def _print(change: Change) -> None:
    room = output.width()
    head = f"{change.number:>3}  {change.at:%Y-%m-%d %H:%M}  {output.printable(heading(change))}"
    click.echo(output.shortened(head, room))
    for line in _below(change):
        click.echo(output.shortened(f"     {output.printable(line)}", room))


def _show(changes: list[Change]) -> None:
    from memtool.cli import screen

    rows = [
        (
            str(change.number),
            f"{change.at:%Y-%m-%d %H:%M}",
            screen.lines(screen.text(heading(change), "" if change.deed else "cyan"), "; ".join(_below(change))),
        )
        for change in changes
    ]
    screen.show(screen.table(("#", "When", "What"), rows, right=("#",)))


def _below(change: Change) -> list[str]:
    """Return the lines below the head of *change*: why, which files, its id, and what became of it."""
    reasons = change.reason.split("\n") if change.reason else []
    more = [f"… and {len(reasons) - _REASONS} more"] if len(reasons) > _REASONS else []
    about = "  ".join(filter(None, (change.short, _files(change.files), remark(change))))
    return [*reasons[:_REASONS], *more, about]


def _files(changed: tuple[ChangedFile, ...]) -> str:
    signs = {"added": "+", "removed": "-"}
    named = ", ".join(f"{signs.get(file.deed, '')}{file.path}" for file in changed[:_NAMED])
    return f"{named} and {len(changed) - _NAMED} more" if len(changed) > _NAMED else named
