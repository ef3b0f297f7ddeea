"""What a shell completes: agents, projects, notes, facts, sessions, files.

A command is given these types only where a shell asks. Nothing is brought up to date, waited for or written.
"""

from __future__ import annotations

import contextlib
import shlex
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import click
from click.shell_completion import CompletionItem

from memtool.cli.hits import short_path
from memtool.cli.session import Session
from memtool.errors import Busy, MemtoolError
from memtool.index.files import FileEngine
from memtool.settings.sections import ABOUT
from memtool.text.tokens import fold
from memtool.vault.layout import Vault, projects_of
from memtool.vault.scan import scan
from memtool.vault.state import find_state_folder

SHELLS = ("bash", "zsh", "fish")
_MOST = 100
_Pairs = Iterable[tuple[str, str]]  # a value, and what it is


class _KnownNames(click.types.StringParamType):
    """A text of which the vault knows some."""

    def __init__(self, known: Callable[[Session, str], _Pairs]) -> None:
        self._known = known

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        """Return what begins like *incomplete*."""
        session = ctx.find_object(Session) or Session()
        session.vault_option = session.vault_option or ctx.find_root().params.get("vault")
        begun, found = fold(incomplete), dict[str, str]()
        with contextlib.suppress(MemtoolError, OSError, sqlite3.Error):
            for value, about in self._known(session, begun):
                if fold(value).startswith(begun) and value.isprintable():
                    found.setdefault(value, about)
                if len(found) == _MOST:
                    break
        # The other shells quote by themselves; bash would take a name with a space for two words.
        is_bash = session.environ.get("_MEMTOOL_COMPLETE", "").startswith("bash")
        quoted = shlex.quote if is_bash else str
        return [CompletionItem(quoted(value), help=about or None) for value, about in found.items()]


def _settings(_session: Session, _begun: str) -> _Pairs:
    return ((key, about.help) for key, about in ABOUT.items())


def _projects(session: Session, _begun: str) -> _Pairs:
    return ((name, "") for name in projects_of(session.vault))


def _references(session: Session, begun: str) -> Iterator[tuple[str, str]]:
    """Give the projects, the names of notes that mean one note, the ids of sessions and facts, and paths."""
    notes = list(_notes(session.vault, session))
    named = Counter(_name(ref) for ref, _ in notes)
    if "/" not in begun:
        yield from _projects(session, begun)
        yield from ((_name(ref), title) for ref, title in notes if named[_name(ref)] == 1 and not _is_session(ref))
        yield from _sessions(session, begun)
        with contextlib.suppress(MemtoolError):
            yield from _facts(session, begun)
    yield from ((short_path(ref), title) for ref, title in notes if "/" in ref)


def _name(ref: str) -> str:
    return ref.rpartition("/")[2].rpartition(".")[0]


def _notes(vault: Vault, session: Session) -> _Pairs:
    try:
        return _rows(vault, session, "SELECT ref, title FROM note ORDER BY ref")
    except MemtoolError:  # there is no index yet
        return [(ref, "") for ref in scan(vault.root).stamps]


def _sessions(session: Session, _begun: str) -> _Pairs:
    notes = ((ref, title) for ref, title in _notes(session.vault, session) if _is_session(ref))
    return ((short_path(ref).rpartition("/")[2].removesuffix(".md").rstrip("…"), title) for ref, title in notes)


def _facts(session: Session, _begun: str) -> _Pairs:
    return _rows(session.vault, session, "SELECT fact_id, text FROM chunk WHERE fact_id <> '' AND status = 'active'")


def _rows(vault: Vault, session: Session, sql: str) -> _Pairs:
    folder = find_state_folder(vault, session.work.cache)
    if folder is None:
        raise Busy("there is no index yet")
    with FileEngine(folder).current() as db:
        return [(value, about.partition("\n")[0]) for value, about in db.execute(sql)]


def _is_session(ref: str) -> bool:
    return ref.removeprefix("archive/").startswith("sessions/")


class _Path(click.types.StringParamType):
    """A path, which the shell knows; *kind* is `dir` or `file`."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        """Leave the answer to the shell."""
        return [CompletionItem(incomplete, type=self._kind)]


_FOLDER, _FILE = _Path("dir"), _Path("file")
_BY_NAME: dict[tuple[str, str | None], click.ParamType[str]] = {
    ("--project", None): _KnownNames(_projects),
    ("--project", "NAME"): _KnownNames(_projects),
    ("--project", "[PATH]"): _FOLDER,
    ("--vault", "PATH"): _FOLDER,
    ("--from", "PATH"): _FILE,
    ("--file", "PATH"): _FILE,
    ("path", None): _FOLDER,
    ("file", None): _FILE,
    ("transcripts", None): _FILE,
    ("setting", None): _KnownNames(_settings),
    ("ref", None): _KnownNames(_references),
    ("anchor", None): _KnownNames(_references),
    ("session_id", None): _KnownNames(_sessions),
    ("fact_id", None): _KnownNames(_facts),
    ("fact_ids", None): _KnownNames(_facts),
    ("--supersedes", "ID"): _KnownNames(_facts),
    ("--keep", "ID"): _KnownNames(_facts),
    ("--drop", "ID"): _KnownNames(_facts),
}


def prepare(command: click.Command) -> None:
    """Let a shell complete what *command*, and the commands below it, take."""
    for parameter in command.params:
        is_option = isinstance(parameter, click.Option)
        name = (parameter.opts[-1], parameter.metavar) if is_option else (parameter.name or "", None)
        if type(parameter.type) is click.types.StringParamType and name in _BY_NAME:
            parameter.type = _BY_NAME[name]
    if isinstance(command, click.Group):
        for below in command.commands.values():
            prepare(below)
