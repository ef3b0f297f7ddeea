"""`memtool import` and `memtool export`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memtool.capture.importing import Importable, ImportedSessions, doomed, find_sources, import_sessions, sources_in
from memtool.cli import completion, output
from memtool.cli.options import DRY_RUN, PROJECTS, YES, project_option, with_json, with_vault
from memtool.cli.output import table
from memtool.cli.session import Session
from memtool.clients import CLAUDE_CODE, CLIENTS, history_folder, title_of
from memtool.errors import BrokenVaultFile, NotWritable, UsageError
from memtool.exchange.bundle_import import ADDED, KEPT, MERGED, SAME, import_bundle
from memtool.exchange.documents import FORMS, JSON, MARKDOWN, TAR, Bundle, parsed
from memtool.exchange.stores import STORES, files_of, read_store
from memtool.index.engine import catch_up
from memtool.index.filters import parse_day
from memtool.index.turn_table import catch_up_turns
from memtool.recall.start.last_sessions import gather_standing
from memtool.settings import claude_folder
from memtool.text.lines import counted
from memtool.vault.files import read_content, write_over

if TYPE_CHECKING:
    from datetime import date

    from memtool.workspace import Workspace


@click.group("import")
def import_() -> None:
    """Import sessions and memories that other programs keep on this machine, or an export."""


def _client_command(name: str, folder: str) -> click.Command:
    """Return the command that imports the sessions that the client *name* keeps in its *folder*."""
    title = title_of(name)
    usual = f"~/{folder}"

    @click.option(
        "--from",
        "folder",
        metavar="PATH",
        shell_complete=completion.files,
        help=f"The client's folder; by default `{usual}`.",
    )
    @click.option("--since", metavar="DATE", help="Only sessions not older than: 2026-02-10, 2026-02, 7d, yesterday.")
    @PROJECTS
    @click.option("--with-model", is_flag=True, help="Let the models in your settings write the notes: costs tokens.")
    @DRY_RUN
    @YES
    @with_json
    def import_client(session: Session, **options: Any) -> None:  # noqa: ANN401  (click hands them over)
        _import_client(name, session, **options)

    import_client.__doc__ = f"""Turn sessions of {title} on this machine into notes.

    Files of {title} are not changed. Sessions that were captured before are skipped, so you can interrupt and repeat
    the import. Notes are written without a model, unless you ask for one.
    """
    return click.command(name)(import_client)  # fmt: skip


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
) -> None:
    usual = claude_folder(session.environ) if name == CLAUDE_CODE else None
    client = Path(folder).expanduser() if folder else usual or history_folder(name, session.environ, Path.home())
    if not client.is_dir():
        raise UsageError(f"there is no folder '{client}'", hint=f"Name {title_of(name)}'s folder with `--from PATH`.")
    work = session.work.of_client(client) if name == CLAUDE_CODE else session.work
    found = find_sources(work) if name == CLAUDE_CODE else sources_in(work, client, name)
    sources = _wanted(found, since, projects, work.now().date())
    new = [source for source in sources if not source.is_known]
    size = sum(source.size for source in new)
    by_project = Counter(source.project for source in new)
    plan = {"found": len(sources), "new": len(new), "bytes": size, "projects": dict(by_project.most_common())}
    if not session.as_json:
        click.echo(f"{counted(len(sources), 'session')} in {output.printable(str(client))}, {len(new):,} new.")
        _print_preview(new, size, by_project, doomed(work, new) if name == CLAUDE_CODE else 0)
    if dry_run or not new or not (yes or session.as_json or _confirmed()):
        session.emits(plan)
        return
    done = _import(name, work, sources, with_model=with_model)
    if not session.emits({**plan, **done._asdict()}):
        became = [counted(done.notes, "session became a note", "sessions became notes")]
        became += [f"{done.empty:,} had nothing to note"] if done.empty else []
        became += [f"{len(done.problems):,} could not be imported"] if done.problems else []
        click.echo(f"{'; '.join(became)}.")
        output.say(*done.problems)
        if done.notes:
            click.echo("Search them with `memtool search WORDS`.")
    if done.problems:
        raise click.exceptions.Exit(1)


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


def _print_preview(new: Sequence[Importable], size: int, by_project: Counter[str], leaving: int) -> None:
    if not new:
        return
    click.echo(f"{size / 1e6:,.1f} MB, from {min(one.started_on for one in new)} to {new[-1].ended_on}:")
    rows = [(f"{count:,}", name or "(no project)") for name, count in by_project.most_common()]
    table(("Sessions", "Project"), rows, right=("Sessions",))
    if prompts_only := sum(source.path is None for source in new):
        click.echo(f"Of {prompts_only:,} only the prompts are left.")
    if leaving:
        deleted = f"Claude Code will delete {counted(leaving, 'transcript')} of them within a week"
        click.echo(f"{deleted}; the vault keeps all turns.")


def _import(name: str, work: Workspace, sources: Sequence[Importable], *, with_model: bool) -> ImportedSessions:
    """Import *sources*; an interruption prints how far it came."""
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
        kept = f"Interrupted after {counted(looked_at, 'session')}. What was imported is kept"
        output.say(f"{kept}; repeat the command to continue.")
        raise click.exceptions.Exit(130) from None


@import_.command("memtool")
@click.argument("file", metavar="FILE", shell_complete=completion.files)
@DRY_RUN
@with_json
def memtool(session: Session, file: str, *, dry_run: bool) -> None:
    """Import a file of `memtool export`.

    FILE may be -, for stdin. What is missing is added. Facts, daily notes, open items and session notes are merged,
    your other notes are kept as they are. Secrets are removed, and everything is one commit.
    """
    session.vault.check_made()
    bundle, problems = parsed(_content(file))
    if not bundle and not problems:
        raise BrokenVaultFile(f"'{file}' holds nothing to import", hint="Name a file that `memtool export` wrote.")
    _import_bundle(session, bundle, "stdin" if file == "-" else Path(file).name, problems, dry_run=dry_run)


def _content(file: str) -> bytes:
    largest = 1 << 30  # bytes
    if file == "-":
        content = sys.stdin.buffer.read(largest + 1) if sys.stdin else b""
        if len(content) > largest:
            raise UsageError(f"it has more than {largest:,} bytes")
        return content
    try:
        return read_content(Path(file), largest=largest)
    except OSError as error:
        raise UsageError(f"cannot read '{file}': {error.strerror}", hint="Name a file of `memtool export`.") from None


def _store_command(name: str, title: str) -> click.Command:
    """Return the command that imports the memories of the program *name*."""

    @click.option("--from", "folder", metavar="PATH", shell_complete=completion.files, help="Its database or folder.")
    @project_option("The project of memories that name none.", default="")
    @DRY_RUN
    @YES
    @with_json
    def import_store(session: Session, folder: str | None, project: str, *, dry_run: bool, yes: bool) -> None:
        session.vault.check_made()
        path = Path(folder).expanduser() if folder else STORES[name].usual(session.work.home, session.environ)
        if path is None:
            raise UsageError("no folder is named", hint=f"Name it: `memtool import {name} --from PATH`.")
        taken = files_of(session.work, name, read_store(name, path), project)
        if not session.as_json:
            known = f", {taken.known:,} already known" if taken.known else ""
            click.echo(f"{counted(taken.items, 'item')} of {title} in {output.printable(str(path))}{known}.")
        if dry_run or yes or session.as_json or not taken.files or _confirmed():
            _import_bundle(session, taken.files, title, [], dry_run=dry_run)

    import_store.__doc__ = f"""Import the memories of {title}.

    Memories become facts and notes, sessions become session notes. Files of {title} are not changed. Ids and dates are
    kept, what the vault knows already is skipped, secrets are removed, and everything is one commit, so that
    `memtool undo` reverts it.
    """
    return click.command(name)(import_store)


def _confirmed() -> bool:
    return output.confirmed("Import them?", piped=True, hint="`--yes` imports without asking.")


def _import_bundle(session: Session, bundle: Bundle, name: str, problems: Sequence[str], *, dry_run: bool) -> None:
    """Write the files of *bundle*, which come from *name*, and print the result."""
    done = import_bundle(session.work, bundle, name, dry_run=dry_run)
    done = done._replace(refused=(*problems, *done.refused))
    if not dry_run:
        catch_up(session.work)
        catch_up_turns(session.work)
    added, merged, same, kept = (done.of(fate) for fate in (ADDED, MERGED, SAME, KEPT))
    about = {"refused": done.refused, "redacted": done.redacted, "dry_run": dry_run, "commit": done.kept.commit}
    listed = {ADDED: added, MERGED: merged, SAME: same, KEPT: kept}
    if session.emits({**listed, **about, "undo": done.kept.undo(session.vault)}):
        return
    click.echo(
        f"{counted(len(added), 'file')} {'would be ' if dry_run else ''}added, {len(merged):,} merged, "
        f"{len(same):,} unchanged, {len(kept):,} kept as you have them, {len(done.refused):,} refused."
    )
    for lead, names in (("Kept as you have it: ", kept), ("Refused: ", list(done.refused))):
        output.say(*(lead + each for each in names[:10]))
        output.say(f"and {len(names) - 10:,} more" if len(names) > 10 else "")
    output.say_redacted(done.redacted)
    session.say_kept(done.kept)


@click.command("export")
@click.argument("file", default="-", metavar="[FILE]", shell_complete=completion.files)
@click.option("--format", "form", type=click.Choice(FORMS), help="By default by FILE's ending: .md, .tar, else JSON.")
@project_option("Only notes and facts of this project.", default="")
@with_vault
def export(session: Session, file: str, *, form: str | None, project: str) -> None:
    """Write the vault's content to FILE, or to stdout. `memtool import memtool` reads it again.

    JSON and Markdown hold all facts and notes; tar holds every file that is not hidden, byte for byte.
    """
    from memtool.exchange.documents import export as exported

    form = form or {".md": MARKDOWN, ".markdown": MARKDOWN, ".tar": TAR}.get(Path(file).suffix.lower(), JSON)
    if file == "-" and form == TAR and output.on_terminal():
        raise UsageError("an archive cannot be shown on a terminal", hint="Name a FILE, or send it through a pipe.")
    done = exported(session.vault, form, project)
    if file != "-":
        try:
            write_over(Path(file).absolute(), done.content, durable=True)
        except OSError as error:
            raise NotWritable(f"cannot write '{file}': {error.strerror}") from None
    elif output.on_terminal():
        output.emit_text(done.content.decode("utf-8"))
    else:
        sys.stdout.buffer.write(done.content)
        sys.stdout.buffer.flush()
    output.say(f"{counted(done.files, 'file')} with {counted(done.facts, 'fact')}.", *done.problems)


for _name, _client in CLIENTS.items():
    if _client.transcripts:
        import_.add_command(_client_command(_name, _client.transcripts.folder))
for _name, _store in STORES.items():
    import_.add_command(_store_command(_name, _store.title))
