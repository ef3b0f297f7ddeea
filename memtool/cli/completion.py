"""`memtool completion`, and completions in a shell: projects, notes, facts, sessions, settings, paths.

Completion updates no index, waits for nothing and writes nothing. Each function is click's `shell_complete` of a
parameter.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import click

from memtool.cli.session import Session

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SHELLS = ("bash", "zsh", "fish")
_Pairs: TypeAlias = "Iterable[tuple[str, str]]"  # a value, and what it is
_Complete: TypeAlias = "Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script with which SHELL completes memtool's commands, projects, notes, ids and agents.

    Write it to a file that the shell reads when it starts.
    """
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    assert script is not None  # noqa: S101  (click has these three)
    click.echo(script(click.Command("memtool"), {}, "memtool", "_MEMTOOL_COMPLETE").source(), nl=False)


def folders(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Leave it to the shell to complete a folder."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="dir")]


def files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Leave it to the shell to complete a path."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def _known(values: Callable[[Session, str], _Pairs]) -> _Complete:
    """Return a `shell_complete` that offers those of *values* that begin with what was typed."""

    def complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        import shlex
        import sqlite3

        from click.shell_completion import CompletionItem

        from memtool.errors import MemtoolError
        from memtool.text.tokens import fold

        session = ctx.find_object(Session) or Session()
        session.vault_option = session.vault_option or ctx.find_root().params.get("vault")
        begun, found = fold(incomplete), dict[str, str]()
        with contextlib.suppress(MemtoolError, OSError, sqlite3.Error):
            for value, about in values(session, begun):
                if fold(value).startswith(begun) and value.isprintable():
                    found.setdefault(value, about)
                if len(found) == 100:  # more than a shell shows at once
                    break
        # The other shells quote by themselves; bash would take a name with a space for two words.
        quoted = shlex.quote if session.environ.get("_MEMTOOL_COMPLETE", "").startswith("bash") else str
        return [CompletionItem(quoted(value), help=about or None) for value, about in found.items()]

    return complete


def _settings(_session: Session, _begun: str) -> _Pairs:
    from memtool.settings.sections import ABOUT

    return ((key, about.help) for key, about in ABOUT.items())


def _projects(session: Session, _begun: str) -> _Pairs:
    from memtool.vault.layout import projects_of

    return ((name, "") for name in projects_of(session.vault))


def _references(session: Session, begun: str) -> Iterator[tuple[str, str]]:
    """Give the projects, the names of notes that mean one note, the ids of sessions and facts, and paths."""
    from collections import Counter

    from memtool.cli.hits import short_path
    from memtool.errors import MemtoolError

    notes = list(_notes(session))
    named = Counter(_name(ref) for ref, _ in notes)
    if "/" not in begun:
        yield from _projects(session, begun)
        yield from ((_name(ref), title) for ref, title in notes if named[_name(ref)] == 1 and not _is_session(ref))
        yield from _sessions(session, begun)
        with contextlib.suppress(MemtoolError):
            yield from _facts(session, begun)
    yield from ((short_path(ref), title) for ref, title in notes if "/" in ref)


def _notes(session: Session) -> _Pairs:
    from memtool.errors import MemtoolError
    from memtool.vault.scan import scan

    try:
        return _rows(session, "SELECT ref, title FROM note ORDER BY ref")
    except MemtoolError:  # there is no index yet
        return [(ref, "") for ref in scan(session.vault.root).stamps]


def _sessions(session: Session, _begun: str) -> _Pairs:
    from memtool.cli.hits import short_path

    notes = ((ref, title) for ref, title in _notes(session) if _is_session(ref))
    return ((_name(f"{short_path(ref).rstrip('…').removesuffix('.md')}.md"), title) for ref, title in notes)


def _facts(session: Session, _begun: str) -> _Pairs:
    return _rows(session, "SELECT fact_id, text FROM chunk WHERE fact_id <> '' AND status = 'active'")


def _rows(session: Session, sql: str) -> _Pairs:
    from memtool.errors import Busy
    from memtool.index.files import FileEngine
    from memtool.vault.layout import find_state_folder

    folder = find_state_folder(session.vault, session.work.cache)
    if folder is None:
        raise Busy("there is no index yet")
    with FileEngine(folder).current() as db:
        return [(value, about.partition("\n")[0]) for value, about in db.execute(sql)]


def _name(ref: str) -> str:
    return ref.rpartition("/")[2].rpartition(".")[0]


def _is_session(ref: str) -> bool:
    return ref.removeprefix("archive/").startswith("sessions/")


settings, projects, references = _known(_settings), _known(_projects), _known(_references)
sessions, facts = _known(_sessions), _known(_facts)
