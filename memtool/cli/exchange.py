"""Bringing files into the vault: what `memtool import` of an export, or of another program's store, does and says."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from memtool.cli import output
from memtool.cli.session import Session
from memtool.errors import BrokenVaultFile, UsageError
from memtool.index.engine import catch_up
from memtool.integrations.exchange.documents import Bundle, parsed
from memtool.integrations.exchange.importing import ADDED, KEPT, MERGED, SAME, Imported, import_bundle
from memtool.text.lines import counted
from memtool.vault.files import read_content

_LARGEST = 1 << 30  # bytes
_NAMED = 10  # files


def bring_in_file(session: Session, file: str, *, dry_run: bool, as_json: bool) -> None:
    """Import *file*, which `memtool export` wrote, and print what became of it."""
    session.vault.check_made()
    bundle, problems = parsed(_content(file))
    if not bundle and not problems:
        raise BrokenVaultFile(f"'{file}' holds nothing to import", hint="Name a file that `memtool export` wrote.")
    name = "stdin" if file == "-" else Path(file).name
    bring_in(session, bundle, name, problems, dry_run=dry_run, as_json=as_json)


def bring_in_store(
    session: Session, name: str, folder: str | None, project: str, *, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Import what the program *name* keeps, after a preview, and print what became of it."""
    from memtool.integrations.stores import STORES, files_of, read_store

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
    bring_in(session, taken.files, STORES[name].title, [], dry_run=dry_run, as_json=as_json)


def bring_in(
    session: Session, bundle: Bundle, name: str, problems: Sequence[str], *, dry_run: bool, as_json: bool
) -> None:
    """Write the files of *bundle*, which come from *name*, and print what became of them."""
    done = import_bundle(session.work, bundle, name, dry_run=dry_run)
    done = done._replace(refused=(*problems, *done.refused))
    if not dry_run:
        catch_up(session.work)
    if as_json:
        listed = {fate: done.of(fate) for fate in (ADDED, MERGED, SAME, KEPT)}
        about = {"refused": done.refused, "redacted": done.redacted, "dry_run": dry_run, "commit": done.kept.commit}
        output.emit_json({**listed, **about, "undo": done.kept.undo(session.vault)})
    else:
        _print(session, done, dry_run=dry_run)


def _content(file: str) -> bytes:
    if file == "-":
        content = sys.stdin.buffer.read(_LARGEST + 1) if sys.stdin else b""
        if len(content) > _LARGEST:
            raise UsageError(f"it has more than {_LARGEST:,} bytes")
        return content
    try:
        return read_content(Path(file), largest=_LARGEST)
    except OSError as error:
        raise UsageError(f"cannot read '{file}': {error.strerror}", hint="Name a file of `memtool export`.") from None


def _print(session: Session, done: Imported, *, dry_run: bool) -> None:
    would = "would be " if dry_run else ""
    added, merged, same, kept = (done.of(fate) for fate in (ADDED, MERGED, SAME, KEPT))
    click.echo(
        f"{counted(len(added), 'file')} {would}added, {len(merged):,} merged, {len(same):,} the same already, "
        f"{len(kept):,} kept as you have them, {len(done.refused):,} refused."
    )
    _name("Kept as you have it: ", kept)
    _name("Refused: ", list(done.refused))
    if done.redacted:
        output.say(f"removed before writing: {', '.join(f'{kind} ({n})' for kind, n in sorted(done.redacted.items()))}")
    if undo := done.kept.undo(session.vault):
        output.say(f"Undo: {undo}")
    elif done.kept.notice:
        output.say(done.kept.notice)


def _name(lead: str, listed: list[str]) -> None:
    output.say(*(lead + each for each in listed[:_NAMED]))
    if len(listed) > _NAMED:
        output.say(f"and {len(listed) - _NAMED:,} more")
