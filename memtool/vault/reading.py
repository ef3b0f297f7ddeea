"""A note, or some of its lines, at the level of detail that a reader can afford."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from memtool.errors import BrokenVaultFile, NoteNotFound, UsageError
from memtool.named_tuple import NamedTuple
from memtool.text.frontmatter import read_front_matter
from memtool.text.markdown import blocks, headings
from memtool.text.tokens import fold
from memtool.vault.layout import DAILY, Vault, is_archived, kind_of, project_of
from memtool.vault.marks import UNSOLVED, holds_two_texts
from memtool.vault.memory import Location, Memory
from memtool.vault.note import BrokenNote, Note, overview, parse_note
from memtool.vault.sessions import session_title

SUMMARY, OVERVIEW, WHOLE = range(3)  # levels of detail

_LINES = re.compile(r"(?P<path>.+?)(?::|#L)(?P<first>[1-9]\d{0,8})(?:-L?(?P<last>\d{1,9}))?")
_LINK = re.compile(r"!?\[\[([^\]|#]+)(?:#([^\]|]*))?(?:\|[^\]]*)?\]\]")


class Ref(NamedTuple):
    """A reference by the user: a path or a name, and lines of it (0, 0: all) or a *part*: a heading, or `^block`."""

    name: str
    first: int = 0
    last: int = 0
    part: str = ""


class Reading(NamedTuple):
    """What was read of a file as a memory, the *fields* of its front matter, and the file's *problem*, if any."""

    memory: Memory
    fields: Mapping[str, Any] = {}
    problem: str = ""


def parse_ref(text: str) -> Ref:
    """Return the parts of `path`, `path:12`, `path:12-20`, `path#L12-L20`, `[[name#heading]]` or `[[name#^block]]`."""
    if link := _LINK.fullmatch(text.strip()):
        return Ref(link[1].strip(), part=(link[2] or "").rpartition("#")[2].strip())
    match = _LINES.fullmatch(text)
    if not match:
        return Ref(text)
    first = int(match["first"])
    return Ref(match["path"], first, int(match["last"] or first))


def resolve(
    name: str,
    refs: Iterable[str],
    named: Callable[[str], list[str]] = lambda _: [],
    titled: Callable[[str], list[str]] = lambda _: [],
    of_session: Callable[[str], list[str]] = lambda _: [],
) -> str:
    """Return the one path among *refs* that *name* means, which may be a `[[link]]`.

    It is a path, its end, its beginning before `…`, a file's name without the suffix, one of the aliases that *named*
    knows, a project, the beginning of a session's id, also of one that *of_session* knows, or a title
    that *titled* knows. Case, accents and the form of
    Unicode make no difference where nothing is called exactly so.

    Raises:
        NoteNotFound: none does.
        UsageError: several do.
    """
    link = _LINK.fullmatch(name.strip())
    wanted = (link[1] if link else name).strip().removeprefix("./").removeprefix("…/").strip("/")
    refs = list(refs)
    if wanted in refs:
        return wanted
    folded = fold(wanted)
    begun = wanted.casefold().removesuffix("…").removesuffix("...").removeprefix("archive/")
    may_be_session = len(begun) >= 4  # characters of its id
    # A place is often shown shortened; the beginning of any other path is a folder, and no note.
    is_begun = may_be_session and (wanted.endswith(("…", "...")) or begun.startswith("sessions/"))
    ways: tuple[Callable[[], list[str]], ...] = (
        lambda: [ref for ref in refs if ref.endswith(f"/{wanted}")],
        lambda: [ref for ref in refs if f"/{fold(ref)}".rpartition(".")[0].endswith(f"/{folded}")],
        lambda: [ref for ref in refs if f"/{fold(ref)}".endswith(f"/{folded}")],
        lambda: named(wanted),
        lambda: [ref for ref in refs if fold(ref) == f"areas/projects/{folded}/summary.md"],
        lambda: [ref for ref in refs if may_be_session and _session_id(ref).startswith(begun)],
        lambda: of_session(begun) if may_be_session else [],
        lambda: [ref for ref in refs if is_begun and ref.casefold().removeprefix("archive/").startswith(begun)],
        lambda: titled(wanted),
    )
    candidates = next((found for way in ways if (found := way())), [])
    if not candidates:
        raise NoteNotFound(name)
    if len(candidates) > 1:
        listed = ", ".join(sorted(candidates)[:5])
        raise UsageError(f"'{name}' may mean {len(candidates)} notes: {listed}", hint="Name more of the path.")
    return candidates[0]


def with_lines(vault: Vault, ref: Ref) -> Ref:
    """Return *ref* with the lines of the part that it names, if it names one.

    Raises:
        NoteNotFound: the note has no such part.
    """
    return _located(ref, vault.read(ref.name)[0]) if ref.part else ref


def _located(ref: Ref, text: str) -> Ref:
    """Return *ref* with the lines of the section below the heading that it names, or of its `^block`."""
    if not ref.part:
        return ref
    lines = text.rstrip("\n").split("\n")
    if ref.part.startswith("^") and (found := _block(lines, ref.part)):
        return Ref(ref.name, *found)
    body = read_front_matter(text)[1] - 1
    heads = [(at + body, heading) for at, heading in headings(lines[body:])]
    for number, (at, heading) in enumerate(heads):
        if fold(heading) == fold(ref.part):
            depth = _depth(lines[at])
            end = next((later for later, _ in heads[number + 1 :] if _depth(lines[later]) <= depth), len(lines))
            return Ref(ref.name, at + 1, end)
    raise NoteNotFound(f"{ref.name}#{ref.part}")


def _block(lines: list[str], mark: str) -> tuple[int, int] | None:
    at = next((at for at, line in enumerate(lines) if f" {line.rstrip()}".endswith(f" {mark}")), -1)
    if at < 0:
        return None
    first, last = next(((first, last) for first, last in blocks(lines) if first <= at <= last), (at, at))
    if lines[first].strip() == mark:  # it names the block above it, such as a table
        while first and not lines[first - 1].strip():
            first -= 1
        while first and lines[first - 1].strip():
            first -= 1
    return first + 1, last + 1


def _depth(heading: str) -> int:
    return len(heading) - len(heading.lstrip("#"))


def _session_id(ref: str) -> str:
    folder, _, name = ref.removeprefix("archive/").rpartition("/")
    return name.casefold().removesuffix(".md") if folder == "sessions" else ""


def read_note(vault: Vault, ref: Ref, *, level: int, max_bytes: int) -> Reading:
    """Return the note at the path *ref* of the vault: its summary, its overview, the whole, or the lines named.

    Raises:
        OutsideVault, NoteNotFound, BrokenVaultFile
    """
    path = vault.path(ref.name).resolve()
    name = path.relative_to(vault.root).as_posix()  # however it was written: its place says what it is
    if any(part.startswith(".") for part in name.split("/")):
        raise NoteNotFound(ref.name)  # git's files and our own are no notes
    return read_file(path, name, ref, level=level, max_bytes=max_bytes, daily=vault.daily)


def read_file(path: Path, name: str, ref: Ref, *, level: int, max_bytes: int, daily: str = DAILY) -> Reading:
    """Return the note in the file at *path*, called *name*, as `read_note` does; the caller knows that it may be read.

    Raises:
        NoteNotFound, BrokenVaultFile
    """
    try:
        if not path.is_file():
            raise NoteNotFound(ref.name)
        if path.stat().st_size > max_bytes:
            raise BrokenVaultFile(f"'{ref.name}' is too large to show", hint="Raise `[index] max_note_kb`.")
        note = parse_note(name, path.read_bytes())
    except OSError as error:
        raise BrokenVaultFile(f"cannot read '{ref.name}': {error.strerror}") from None
    readable = Note(note.ref, note.text) if isinstance(note, BrokenNote) else note
    kind = kind_of(name, readable.field("type"), daily=daily)
    ref = _located(ref, readable.text)
    lines = readable.text.rstrip("\n").split("\n")
    text = {SUMMARY: readable.summary, OVERVIEW: overview(readable.body)}.get(level, readable.text)
    start, end = 1, len(lines)
    if ref.first:
        if ref.first > len(lines) or ref.last < ref.first:
            raise NoteNotFound(f"{ref.name}:{ref.first}-{ref.last}")
        start, end = ref.first, min(ref.last, len(lines))
        text = "\n".join(lines[start - 1 : end])
    field, status = readable.field, "archived" if is_archived(name) else readable.field("status")
    memory = Memory(
        name, text, kind, Location(name, start, end), author=field("author"),
        title=session_title(readable) if kind == "session" else readable.title,
        project=field("project") or project_of(name), category=field("category"),
        date=field("date") or field("created"), tags=readable.words("tags"), expires=field("expires"),
        status="" if status == "active" else status,
    )  # fmt: skip
    reason = note.reason if isinstance(note, BrokenNote) else ""
    return Reading(memory, readable.fields, UNSOLVED if holds_two_texts(note.text) else reason)
