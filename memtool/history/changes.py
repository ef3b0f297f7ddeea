"""The changes of a vault: its commits, newest first, and which of them brought each line of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from memtool.errors import BrokenVaultFile, NoteNotFound, UsageError
from memtool.git import ask, tell
from memtool.history.commits import SIGNATURE
from memtool.history.repository import Repository, get_own_repository
from memtool.text.languages import all_labels
from memtool.vault.facts import Fact, parse_facts
from memtool.vault.layout import FACTS_FILE, Vault
from memtool.vault.note import Note, parse_note

UNDOES = "Undoes"  # the trailer that names the commit which another one takes back
UNDO, SYNC, INIT, CONSOLIDATE, MEND = "undo", "sync", "init", "consolidate", "mend"  # deeds
_NOT_STEPPED = (UNDO, SYNC, INIT, MEND, "route")  # the routing table would be made anew

_FIELDS = (
    "%H", "%P", "%cI", "%an", "%s", "%B", f"%(trailers:key={SIGNATURE},valueonly)",
    f"%(trailers:key={UNDOES},valueonly)",
)  # fmt: skip
_STATUSES = {"A": "added", "D": "removed"}
_NUMBER = re.compile(r"[1-9][0-9]{0,3}")  # a longer one is the beginning of a commit's id
_COMMIT = re.compile(r"[0-9a-fA-F]{4,64}")
_TRAILER = re.compile(rf"(?:{SIGNATURE}|{UNDOES}): ")
_BLAMED = re.compile(r"([0-9a-f]{40,64}) \d+ (\d+)(?: \d+)?")
_NOBODY = "0" * 40  # git's commit of a line that is in none
_IN_REASON = re.compile(r"\(sessions/([^()\s/]+)\.md\)")


class ChangedFile(NamedTuple):
    """A file that a commit `added`, `changed` or `removed`."""

    status: str
    path: str


class Change(NamedTuple):
    """A commit.

    Args:
        number: its place in the log, from 1.
        commit: its id.
        parents: the ids of the commits before it.
        at: when it was made.
        author: by whom.
        subject: what it did.
        reason: the rest of its message, without trailers.
        deed: of memtool's own commits, the kind: `capture`, `remember`, `undo`; empty for those of somebody else.
        undoes: the id of the commit that it takes back.
        undone_by: the id of the commit that took it back.
        files: what it changed; left out until asked for (`with_files`).
    """

    number: int
    commit: str
    parents: tuple[str, ...]
    at: datetime
    author: str
    subject: str
    reason: str = ""
    deed: str = ""
    undoes: str = ""
    undone_by: str = ""
    files: tuple[ChangedFile, ...] = ()

    @property
    def short(self) -> str:
        """The beginning of its id, as commands show it."""
        return self.commit[:10]

    @property
    def is_in_force(self) -> bool:
        """Whether memtool made it, to change the memory, and it was not taken back."""
        is_step = bool(self.deed) and self.deed not in _NOT_STEPPED
        return is_step and not self.undone_by and len(self.parents) == 1


def read_changes(vault: Vault, *paths: str) -> list[Change]:
    """Return the changes of the vault, newest first; with *paths*, those of these files only, numbered as in all.

    Raises:
        HistoryFailed: the vault has no history, or git refuses.
    """
    return _changes_in(get_own_repository(vault.root), *paths)


def _changes_in(repository: Repository, *paths: str) -> list[Change]:
    if not repository.head:
        return []
    root = repository.top
    said = tell(root, "log", "-z", "--no-show-signature", f"--format=tformat:{'%x00'.join(_FIELDS)}")
    parts = said.split("\0")
    rows = [parts[at : at + len(_FIELDS)] for at in range(0, len(parts) - 1, len(_FIELDS))]
    changes, undone = [], dict[str, str]()
    for number, row in enumerate(rows, 1):  # the newest first
        commit, parents, at, author, subject, message, deed, undoes = (field.strip() for field in row)
        body = message.partition("\n")[2].strip().split("\n")
        reason = "\n".join(line for line in body if not _TRAILER.match(line)).strip()
        change = Change(
            number, commit, tuple(parents.split()), datetime.fromisoformat(at), author, subject, reason,
            deed.split("\n")[-1], undoes.split("\n")[-1],
        )  # fmt: skip
        if change.deed and change.undoes and change.commit not in undone:
            undone.setdefault(change.undoes, change.commit)
        changes.append(change._replace(undone_by=undone.get(change.commit, "")))
    if not paths:
        return changes
    named = set(tell(root, "log", "--no-show-signature", "--format=%H", "--", *paths).split())
    return [change for change in changes if change.commit in named]


def with_files(vault: Vault, changes: Sequence[Change]) -> list[Change]:
    """Return *changes* with the files of each; of a merge, those that came in by it."""
    ids = "".join(f"{' '.join((change.commit, *change.parents[:1]))}\n" for change in changes)
    options = ("-r", "--root", "--no-renames", "--name-status", "-z", "--stdin")
    answer = ask(vault.root, "diff-tree", *options, stdin=ids.encode("ascii"), timeout=60.0)
    words = iter(answer.out.split("\0"))
    files: dict[str, list[ChangedFile]] = {change.commit: [] for change in changes}
    commit = ""
    for word in words:
        if len(word) == 1:
            files[commit].append(ChangedFile(_STATUSES.get(word, "changed"), next(words, "")))
        elif word:
            commit = word.split()[0]
    return [change._replace(files=tuple(files[change.commit])) for change in changes]


def find_change(vault: Vault, named: str = "") -> Change:
    """Return the change that *named* means, with its files: its number in the log, or the beginning of its id.

    Without a name it is the newest one that memtool made and that was not taken back.

    Raises:
        UsageError: there is none.
        HistoryFailed: the vault has no history, or git refuses.
    """
    changes = read_changes(vault)
    if not named:
        found = next((change for change in changes if change.is_in_force), None)
        if found is None:
            raise UsageError("memtool has made no change that could be taken back", hint="`memtool log` lists all.")
    elif _NUMBER.fullmatch(named):
        found = next((change for change in changes if change.number == int(named)), None)
    else:
        begun = [change for change in changes if _COMMIT.fullmatch(named) and change.commit.startswith(named.lower())]
        found = begun[0] if len(begun) == 1 else None
    if found is None:
        raise UsageError(f"there is no change '{named}'", hint="`memtool log` shows the number and the id of each.")
    return with_files(vault, [found])[0]


class Origin(NamedTuple):
    """Where lines come from.

    Args:
        first, last: the lines, counted from 1.
        text: of these lines.
        change: what brought them; None where they are in no commit yet.
        session: the id of the session that they come from, with `#` and its turn where that is known; else empty.
    """

    first: int
    last: int
    text: str
    change: Change | None
    session: str


def blame(vault: Vault, ref: str, first: int = 0, last: int = 0) -> list[Origin]:
    """Return the origins of the lines *first* to *last* of the file *ref* (0, 0: of all), in order.

    Raises:
        NoteNotFound: there are no such lines.
        HistoryFailed: the vault has no history, or git refuses.
    """
    repository = get_own_repository(vault.root)
    repository.refuse_programs()
    changes = {change.commit: change for change in _changes_in(repository)}
    lines = ("-L", f"{first},{last}") if first else ()
    vault.path(ref)  # it lies in the vault
    options = ("--porcelain", "--no-progress", "--no-textconv", "-w", *lines)
    answer = ask(vault.root, "--no-pager", "blame", *options, "--", ref, timeout=60.0)
    if answer.code:
        raise NoteNotFound(f"{ref}:{first}-{last}" if first else ref)
    sources, found = _Sources(ref, vault.path(ref).read_bytes()), []
    for (commit, source), group in groupby(_rows(answer.out), key=lambda row: (row[0], sources.of(row[1], row[2]))):
        part = list(group)
        change = changes.get(commit) if commit != _NOBODY else None
        captured = set(_IN_REASON.findall(change.reason)) if change else set()
        session = source or (captured.pop() if len(captured) == 1 else "")
        found.append(Origin(part[0][1], part[-1][1], "\n".join(row[2] for row in part), change, session))
    return found


def _rows(text: str) -> Iterator[tuple[str, int, str]]:
    """Give the commit, the number and the text of each line that git names."""
    commit, number = "", 0
    for line in text.split("\n"):
        if line.startswith("\t"):
            yield commit, number, line[1:]
        elif match := _BLAMED.fullmatch(line):
            commit, number = match[1], int(match[2])


class _Sources:
    """The sessions from which the lines of a file come, by the file itself."""

    def __init__(self, ref: str, content: bytes) -> None:
        folder, _, name = ref.removeprefix("archive/").rpartition("/")
        self._own = name.removesuffix(".md") if folder == "sessions" else ""
        self._facts: list[tuple[int, int, Fact]] = []
        of_items = (re.escape(form.strip()) for form in all_labels("todos")["session"])
        self._patterns = (  # how a line names its session: a daily note's link, or its line without one, and an item
            r"\.\./sessions/([^()\s/]+)\.md\)",
            r"\(session ([^()\s]+)\)",
            *(form.replace(r"\{\}", "([^()（）]+)") for form in of_items),
        )
        if name == FACTS_FILE:
            with suppress(BrokenVaultFile):
                file = parse_facts(content.decode("utf-8", "replace"), ref)
                spans = zip(file.places, file.facts, strict=True)
                self._facts = [(place.start_line, place.end_line, fact) for place, fact in spans]
        elif not self._own:
            note = parse_note(ref, content)
            sources = note.fields.get("sources") if isinstance(note, Note) else None
            named = [str(source) for source in sources] if isinstance(sources, list) else []
            self._own = named[0].removeprefix("sessions/").removesuffix(".md") if len(named) == 1 else ""

    def of(self, number: int, text: str) -> str:
        """Return the session of the line *number*, which is *text*; empty if it is not known."""
        for first, last, fact in self._facts:
            if first <= number <= last:
                return fact.source
        named = next(filter(None, (re.search(pattern, text) for pattern in self._patterns)), None)
        return named[1] if named else self._own
