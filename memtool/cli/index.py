"""`memtool index`."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memtool.cli import output
from memtool.cli.options import with_json
from memtool.cli.session import Session
from memtool.embeddings import open_embedder
from memtool.errors import MemtoolError, ProviderFailed
from memtool.index.engine import Index, once, use_index
from memtool.index.lookup import status
from memtool.index.semantic import chunks_waiting, embed, forget_unused, has_other_scripts, open_vectors, words_only
from memtool.index.turn_table import follow_sources
from memtool.text.lines import counted
from memtool.vault.files import make_folder, write_over

if TYPE_CHECKING:
    from memtool.embeddings import Embedder


@click.command()
@click.option("--rebuild", is_flag=True, help="Rebuild it from the files.")
@click.option("--status", "only_status", is_flag=True, help="Show the contents of the index; make no vectors.")
@click.option("--model", metavar="NAME", help="Also make the vectors of this model, by its name or its folder.")
@with_json
def command(session: Session, *, rebuild: bool, only_status: bool, model: str | None) -> None:
    """Bring the index up to date with the vault.

    Every search updates the word index by itself; only stored transcripts are indexed by the capture process and by
    this command. It also makes missing vectors, and downloads the model if it is not on this machine yet. Deleting
    `.memtool/` loses nothing.

    With --model, searches continue with the model in use until you switch to the other one, whose vectors are complete
    by then.
    """
    with output.progress_bar("Reading notes") as progress:
        place = session.place(progress=progress, patience=600.0)._replace(migrates=not only_status)
        make = None if only_status else partial(make_vectors, session, other=model)
        answer = use_index(place, lambda index: _answer(session, index, make), rebuild=rebuild)
        answer["transcripts"] = follow_sources(place, rebuild=rebuild)._asdict()
    if not session.emits(answer):
        _print(answer, only_status=only_status)


def _answer(session: Session, index: Index, making: Callable[[Index], list[str]] | None) -> dict[str, Any]:
    notices = [*session.settings.notices, *index.notices()]
    applied = index.applied
    if making:
        notices += making(index)
    changed = {"added": len(applied.added), "changed": len(applied.changed), "removed": len(applied.removed)}
    return {**changed, **status(index, session.settings, session.work.cache), "notices": notices}


def make_vectors(session: Session, index: Index, other: str | None = None) -> list[str]:
    """Make the missing vectors of the model in use, or of an *other* one, and return notices.

    A failure is an error if the user chose the embedder, otherwise a notice.
    """
    settings = session.settings.embeddings
    if settings.provider == "none":
        return []
    if other:
        in_folder = os.path.isdir(other)  # noqa: PTH112  (a name is no path)
        settings = settings._replace(model="" if in_folder else other, path=other if in_folder else "")
    elif settings.provider == "fastembed" and not (settings.model or settings.path):
        from memtool.embeddings.fastembed import default_model

        model = default_model(session.work.cache, for_all_scripts=has_other_scripts(index.db))
        settings = settings._replace(model=model)
    is_chosen = bool(other) or session.settings.has_chosen_embedder
    failed_path = session.work.cache / "models" / "failed.txt"
    failure = "" if is_chosen else _recent_failure(failed_path, session.work.now().timestamp())
    try:
        key, cache = session.settings.keys.embeddings, session.work.cache
        with output.waiting() as announce:
            embedder = open_embedder(settings, key, cache, may_download=not failure, announce=announce)
        _embed(index, embedder, keeps_others=bool(other))
    except MemtoolError as error:
        if is_chosen:
            raise
        notice = failure or words_only(error)
        if not failure and isinstance(error, ProviderFailed):  # asking the network takes seconds
            notice += " It is tried again tomorrow, or at once with `--model NAME`."
            make_folder(failed_path.parent)
            write_over(failed_path, notice.encode(), durable=False)
        once(index.place.folder, [notice])  # so that the next search need not repeat it
        return [notice]
    switch = "set it in [embeddings] of your config.toml to search with it; the next `memtool index` drops the others"
    return [f"the vectors of {embedder.name} are complete: {switch}"] if other else []


def _recent_failure(path: Path, now: float) -> str:
    """Return the notice of a download that failed within a day, kept at *path*; empty if none did."""
    with suppress(OSError):
        if now - path.stat().st_mtime < 86_400:
            return path.read_text(encoding="utf-8", errors="replace")
    return ""


def _embed(index: Index, embedder: Embedder, *, keeps_others: bool) -> None:
    with open_vectors(index, embedder) as store:
        if chunks_waiting(index.db, embedder.name):
            with output.progress_bar("Making vectors") as progress:
                embed(index, embedder, store, progress)
        else:
            store.complete()  # which an interrupted run may have left undone
        if not keeps_others:
            forget_unused(index, embedder, store)


def _print(answer: dict[str, Any], *, only_status: bool) -> None:
    if not only_status:
        click.echo(f"{answer['added']:,} added, {answer['changed']:,} changed, {answer['removed']:,} removed.")
    turns = answer["transcripts"]
    if turns["unread"]:
        output.say(f"{counted(turns['unread'], 'kept session')} cannot be read")
    chunks = counted(answer["chunks"], "chunk")
    click.echo(f"{counted(answer['notes'], 'note')} in {chunks}, {counted(answer['facts'], 'fact')}.")
    vectors = answer["vectors"]
    if vectors["model"]:
        skipped = f"; {vectors['skipped']:,} in scripts it does not know" if vectors["skipped"] else ""
        click.echo(f"Vectors by {vectors['model']}: {vectors['chunks']:,} of {chunks}{skipped}.")
    click.echo(f"The index is in {answer['path']} ({answer['bytes'] / 1e6:.1f} MB).")
    output.say(*answer["notices"])
    for problem in answer["problems"]:
        output.say(f"{problem['path']}: {problem['reason']}")
