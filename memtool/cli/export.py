"""`memtool export`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import NotWritable, UsageError
from memtool.exchange.documents import FORMS, JSON, MARKDOWN, TAR
from memtool.exchange.exporting import export
from memtool.text.lines import counted
from memtool.vault.files import write_over

_BY_SUFFIX = {".md": MARKDOWN, ".markdown": MARKDOWN, ".tar": TAR}


@click.command()
@click.argument("file", default="-", metavar="[FILE]")
@click.option("--format", "form", type=click.Choice(FORMS), help="Else as FILE ends: .md, .tar; JSON if nothing says.")
@click.option("--project", default="", metavar="NAME", help="Only what belongs to this project.")
@with_vault
def command(session: Session, file: str, *, form: str | None, project: str) -> None:
    """Write the vault's content into FILE, or to stdout: what `memtool import memtool` brings in again.

    JSON and Markdown hold all facts and notes; tar holds every file that is not hidden, byte for byte.
    """
    form = form or _BY_SUFFIX.get(Path(file).suffix.lower(), JSON)
    if file == "-" and form == TAR and output.on_terminal():
        raise UsageError("an archive is nothing for a terminal", hint="Name a FILE, or send it through a pipe.")
    done = export(session.vault, form, project)
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
