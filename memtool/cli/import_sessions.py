"""`memtool import`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memtool.capture.importing import Importable, ImportedSessions, doomed, find_sources, import_sessions, sources_in
from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.clients import CLAUDE_CODE, CLIENTS, history_folder, title_of
from memtool.errors import BrokenVaultFile, UsageError
from memtool.exchange.bundle_import import ADDED, KEPT, MERGED, SAME, Imported, import_bundle
from memtool.exchange.documents import Bundle, parsed
from memtool.exchange.stores import STORES, files_of, read_store
from memtool.index.engine import catch_up
from memtool.index.filters import parse_day
from memtool.index.turn_table import catch_up_turns
from memtool.recall.start.standing import gather_standing
from memtool.settings import client_folder
from memtool.text.lines import counted
from memtool.vault.files import read_content

if TYPE_CHECKING:
    from datetime import date

    from memtool.workspace import Workspace

_SOME_FAILED, _INTERRUPTED = 1, 130  # exit codes
_LARGEST_EXPORT = 1 << 30  # bytes
_NAMED_FILES = 10  # files


@click.group()
def command() -> None:
    """Turn what other programs keep on this machine into notes."""


def _command_for(name: str) -> click.Command:
    """Return the command that imports the sessions of the client *name*."""
    title = title_of(name)

    def import_client(session: Session, **options: Any) -> None:  # noqa: ANN401  (click hands them over)
        _import_client(name, session, **options)

    import_client.__doc__ = f"""Turn sessions of {title} on this machine into notes.

    Nothing of {title}'s own is changed. Sessions that were captured already are passed over, so that this can be
    interrupted and repeated. Summaries are made without a model, unless asked otherwise.
    """
    usual = f"~/{CLIENTS[name].history}"
    options: list[Callable[[Any], Any]] = [
        click.option(
            "--from", "folder", metavar="PATH", help=f"The client's folder; `{usual}` if nothing else is said."
        ),
        click.option(
            "--since", metavar="DATE", help="Only sessions not older than: 2026-02-10, 2026-02, 7d, 2w, yesterday."
        ),
        click.option("--project", "projects", multiple=True, help="Only sessions of this project. Repeatable."),
        click.option("--with-model", is_flag=True, help="Let the models of the settings summarise them: costs tokens."),
        click.option("--dry-run", is_flag=True, help="Say what would be imported; change nothing."),
        click.option("-y", "--yes", is_flag=True, help="Do not ask."),
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    ]
    for option in reversed(options):
        import_client = option(import_client)
    return click.command(name)(with_vault(import_client))


def _import_client(
    name: str,
    session: Session,
    *,
    folder: str | None,
    since: str | None,
    projects: tuple[str, ...],
    with_model: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    client = _client_folder(name, session, folder)
    work = session.work.of_client(client) if name == CLAUDE_CODE else session.work
    found = find_sources(work) if name == CLAUDE_CODE else sources_in(work, client, name)
    sources = _wanted(found, since, projects, work.now().date())
    new = [source for source in sources if not source.is_known]
    if not as_json:
        _print_preview(client, sources, new, doomed(work, new) if name == CLAUDE_CODE else 0)
    if dry_run or not new or not (yes or as_json or output.confirmed("Import them?")):
        if as_json:
            output.emit_json(_fields(sources, new))
        return
    done = _import(name, work, sources, with_model=with_model)
    if as_json:
        output.emit_json({**_fields(sources, new), **done._asdict()})
    else:
        _print_done(done)
    if done.problems:
        raise click.exceptions.Exit(_SOME_FAILED)


def _print_done(done: ImportedSessions) -> None:
    became = [counted(done.notes, "session became a note", "sessions became notes")]
    became += [f"{done.empty:,} held nothing to note"] if done.empty else []
    became += [f"{len(done.problems):,} could not be imported"] if done.problems else []
    click.echo(f"{'; '.join(became)}.")
    output.say(*done.problems)
    if done.notes:
        click.echo("Find something in them with `memtool search WORDS`.")


@command.command("memtool")
@click.argument("file", metavar="FILE")
@click.option("--dry-run", is_flag=True, help="Say what would be imported; change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def memtool(session: Session, file: str, *, dry_run: bool, as_json: bool) -> None:
    """Bring in a file of `memtool export`.

    FILE may be -, for stdin. What is missing is added. Facts, daily notes, open items and session notes are merged,
    other notes of yours stay as they are. Secrets are removed, and one commit holds it all.
    """
    _bring_in_file(session, file, dry_run=dry_run, as_json=as_json)


def _command_of_store(name: str, title: str) -> click.Command:
    """Return the command that imports what the program *name* keeps."""

    @click.option("--from", "folder", metavar="PATH", help="Its database or folder; the usual one if not said.")
    @click.option("--project", default="", metavar="NAME", help="The project of what names none; none if not said.")
    @click.option("--dry-run", is_flag=True, help="Say what would be imported; change nothing.")
    @click.option("-y", "--yes", is_flag=True, help="Do not ask.")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    @with_vault
    def import_store(session: Session, folder: str | None, project: str, **options: bool) -> None:
        _bring_in_store(session, name, folder, project, **options)

    import_store.__doc__ = f"""Bring in what {title} keeps.

    Memories become facts and notes, sessions session notes. Nothing of its own is changed. Ids and dates are kept,
    what the vault knows already is passed over, secrets are removed, and one commit holds it all, so that
    `memtool undo` takes it back.
    """
    return click.command(name)(import_store)


def _import(name: str, work: Workspace, sources: Sequence[Importable], *, with_model: bool) -> ImportedSessions:
    """Import *sources*; an interruption is answered with what it means."""
    looked_at = 0

    def show(done: int, total: int) -> None:
        nonlocal looked_at
        looked_at = done
        progress(done, total)

    try:
        with output.progress_bar("Importing sessions") as progress:
            done = import_sessions(work, sources, show, client=name, with_model=with_model)
            gather_standing(work.vault)
            return done
    except KeyboardInterrupt:
        stays = f"Interrupted after {counted(looked_at, 'session')}. What was imported stays"
        output.say(f"{stays}; repeat the command to go on.")
        raise click.exceptions.Exit(_INTERRUPTED) from None


def _client_folder(name: str, session: Session, named: str | None) -> Path:
    usual = client_folder(session.environ) if name == CLAUDE_CODE else None
    path = Path(named).expanduser() if named else usual or history_folder(name, session.environ, Path.home())
    if not path.is_dir():
        raise UsageError(f"there is no folder '{path}'", hint=f"Name {title_of(name)}'s folder with `--from PATH`.")
    return path


def _wanted(
    sources: Sequence[Importable], since: str | None, projects: tuple[str, ...], today: date
) -> list[Importable]:
    first = parse_day(since, today) if since is not None else ""
    names = {project.casefold() for project in projects}
    return [
        source
        for source in sources
        if source.ended_on.isoformat() >= first and (not names or source.project.casefold() in names)
    ]


def _print_preview(client: Path, sources: Sequence[Importable], new: Sequence[Importable], leaving: int) -> None:
    click.echo(f"{counted(len(sources), 'session')} in {output.printable(str(client))}, {len(new):,} new.")
    if not new:
        return
    size = sum(source.size for source in new)
    click.echo(f"{size / 1e6:,.1f} MB, from {min(one.started_on for one in new)} to {new[-1].ended_on}:")
    by_project = [(f"{count:,}", name or "(no project)") for name, count in _projects(new).items()]
    if output.on_terminal():
        from memtool.cli import screen

        screen.show(screen.table(("Sessions", "Project"), by_project, right=["Sessions"]))
    else:
        for count, name in by_project:
            click.echo(output.printable(f"  {count:>6}  {name}"))
    prompts_only = sum(source.path is None for source in new)
    if prompts_only:
        click.echo(f"Of {prompts_only:,} only the prompts are left.")
    if leaving:
        deleted = f"Claude Code will delete {counted(leaving, 'transcript')} of them within a week"
        click.echo(f"{deleted}; the vault keeps all turns.")


def _fields(sources: Sequence[Importable], new: Sequence[Importable]) -> dict[str, Any]:
    size = sum(one.size for one in new)
    return {"found": len(sources), "new": len(new), "bytes": size, "projects": _projects(new)}


def _projects(sources: Sequence[Importable]) -> dict[str, int]:
    """Return how many of *sources* each project has, the busiest first."""
    return dict(Counter(source.project for source in sources).most_common())


def _bring_in_file(session: Session, file: str, *, dry_run: bool, as_json: bool) -> None:
    """Import *file*, which `memtool export` wrote, and print what became of it."""
    session.vault.check_made()
    bundle, problems = parsed(_content(file))
    if not bundle and not problems:
        raise BrokenVaultFile(f"'{file}' holds nothing to import", hint="Name a file that `memtool export` wrote.")
    name = "stdin" if file == "-" else Path(file).name
    _bring_in(session, bundle, name, problems, dry_run=dry_run, as_json=as_json)


def _bring_in_store(
    session: Session, name: str, folder: str | None, project: str, *, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Import what the program *name* keeps, after a preview, and print what became of it."""
    session.vault.check_made()
    work = session.work
    path = Path(folder).expanduser() if folder else STORES[name].usual(work.home, session.environ)
    if path is None:
        raise UsageError("it is not said which folder", hint=f"Name it: `memtool import {name} --from PATH`.")
    taken = files_of(work, name, read_store(name, path), project)
    if not as_json:
        known = f", {taken.known:,} known already" if taken.known else ""
        place = output.printable(str(path))
        click.echo(f"{counted(taken.items, 'item')} of {STORES[name].title} in {place}{known}.")
    if not (dry_run or yes or as_json or not taken.files or output.confirmed("Import them?")):
        return
    _bring_in(session, taken.files, STORES[name].title, [], dry_run=dry_run, as_json=as_json)


def _bring_in(
    session: Session, bundle: Bundle, name: str, problems: Sequence[str], *, dry_run: bool, as_json: bool
) -> None:
    """Write the files of *bundle*, which come from *name*, and print what became of them."""
    done = import_bundle(session.work, bundle, name, dry_run=dry_run)
    done = done._replace(refused=(*problems, *done.refused))
    if not dry_run:
        catch_up(session.work)
        catch_up_turns(session.work)
    if as_json:
        listed = {fate: done.of(fate) for fate in (ADDED, MERGED, SAME, KEPT)}
        about = {"refused": done.refused, "redacted": done.redacted, "dry_run": dry_run, "commit": done.kept.commit}
        output.emit_json({**listed, **about, "undo": done.kept.undo(session.vault)})
    else:
        _print(session, done, dry_run=dry_run)


def _content(file: str) -> bytes:
    if file == "-":
        content = sys.stdin.buffer.read(_LARGEST_EXPORT + 1) if sys.stdin else b""
        if len(content) > _LARGEST_EXPORT:
            raise UsageError(f"it has more than {_LARGEST_EXPORT:,} bytes")
        return content
    try:
        return read_content(Path(file), largest=_LARGEST_EXPORT)
    except OSError as error:
        raise UsageError(f"cannot read '{file}': {error.strerror}", hint="Name a file of `memtool export`.") from None


def _print(session: Session, done: Imported, *, dry_run: bool) -> None:
    would = "would be " if dry_run else ""
    added, merged, same, kept = (done.of(fate) for fate in (ADDED, MERGED, SAME, KEPT))
    click.echo(
        f"{counted(len(added), 'file')} {would}added, {len(merged):,} merged, {len(same):,} the same already, "
        f"{len(kept):,} kept as you have them, {len(done.refused):,} refused."
    )
    _say_some("Kept as you have it: ", kept)
    _say_some("Refused: ", list(done.refused))
    if done.redacted:
        output.say(f"removed before writing: {', '.join(f'{kind} ({n})' for kind, n in sorted(done.redacted.items()))}")
    if undo := done.kept.undo(session.vault):
        output.say(f"Undo: {undo}")
    elif done.kept.notice:
        output.say(done.kept.notice)


def _say_some(lead: str, listed: list[str]) -> None:
    output.say(*(lead + each for each in listed[:_NAMED_FILES]))
    if len(listed) > _NAMED_FILES:
        output.say(f"and {len(listed) - _NAMED_FILES:,} more")


for _name in (name for name, client in CLIENTS.items() if client.history):
    command.add_command(_command_for(_name))
for _name, _store in STORES.items():
    command.add_command(_command_of_store(_name, _store.title))
