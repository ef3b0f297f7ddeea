"""Where the note of a session is, wherever its owner has put it; the name of a new one, and which of two gives way."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date
from itertools import chain, count
from pathlib import PurePosixPath

from memtool.capture import limits
from memtool.capture.captured import read_record, write_record
from memtool.capture.source import Source, find_source, kept_note
from memtool.capture.titles import title_of
from memtool.errors import HistoryFailed, MemtoolError
from memtool.git import ask, tell, texts_in
from memtool.history.commits import NewContent, commit, commit_contents
from memtool.history.mending import locked
from memtool.history.repository import get_own_repository
from memtool.history.syncing import Remote
from memtool.history.uncommitted import note_uncommitted
from memtool.text.languages import without_openings, word_set
from memtool.text.scripts import is_unspaced
from memtool.text.statements import prose
from memtool.vault.daily import DailyItem, DailyParts, put_together, take_apart
from memtool.vault.files import read_content, read_text, replace
from memtool.vault.hand_edits import keep_hand_edits
from memtool.vault.layout import ARCHIVE, Vault, session_ref
from memtool.vault.scan import scan
from memtool.vault.session_names import FOLDER, find_moved, note_of, session_at, session_of
from memtool.vault.sessions import is_as_written
from memtool.workspace import Workspace

_LONGEST, _LONGEST_UNSPACED = 44, 12  # characters; those of a script without spaces
_CLAUSES = re.compile(r"(?<=[.!?;:,])\s+|\n+|[。！？；：，、…]+")
_LINK = re.compile(r"\w+://\S+|<[^>]*>")
_PATH = re.compile(r"@?(?:[\w.~-]*[/\\])+([\w.-]+)")
_WORD = re.compile(r"[a-z0-9]+(?:[._+-][a-z0-9]+)*")
_ASKING = re.compile("(?:请|帮我|帮忙|麻烦|你|我们|把|将)+")
_PARTS = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9._+-]*[a-zA-Z0-9])?|[^\W_a-zA-Z0-9]+")


def name_from(texts: Iterable[str]) -> str:
    """Return a name for a file from the first clause of *texts* that tells something; empty if none does.

    It has words of Latin letters with dashes between them, or, of a script without spaces, its first characters.
    """
    shortest = ""
    for text in texts:
        plain = _PATH.sub(r" \1 ", _LINK.sub(" ", prose(text[: limits.PROMPT_HEAD])))
        for clause in _CLAUSES.split(plain):
            if clause.strip().casefold() in word_set("consent"):
                continue
            name = _unspaced(clause) if any(map(is_unspaced, clause)) else _spaced(clause)
            if "-" in name or any(map(is_unspaced, name)):
                return name
            shortest = shortest or name
    return shortest


def name_of(title: str) -> str:
    """Return a name for a file from the words of *title*, without the file or the kind of change before its colon."""
    text = _PATH.sub(r" \1 ", re.sub(r"^[\w.-]+(?:\([\w-]+\))?: ", "", title))
    return _unspaced(_CLAUSES.split(text)[0]) if any(map(is_unspaced, text)) else _spaced(text)


def _spaced(clause: str) -> str:
    """Return the words of *clause* in order, from the first one that tells something to one that does."""
    plain = unicodedata.normalize("NFKD", re.sub("['’]", "", without_openings(clause).casefold()))
    words = _WORD.findall("".join(char for char in plain if not unicodedata.combining(char)))
    empty = word_set("function") | word_set("stop_words") | word_set("opening") | word_set("consent")
    while words and words[0] in empty:
        words.pop(0)
    words = [re.sub(r"[^a-z0-9]+", "-", word).strip("-") for word in words]
    while words and (len("-".join(words)) > _LONGEST or words[-1] in empty):
        words.pop()
    return "-".join(words)


def _unspaced(clause: str) -> str:
    """Return the first characters of *clause*, and the Latin words between them, which do not count."""
    found, room = [], _LONGEST_UNSPACED
    for part in _PARTS.findall(unicodedata.normalize("NFKC", _ASKING.sub("", clause.strip(), count=1))):
        is_latin = part.isascii()
        found.append(part if is_latin else part[:room])
        room -= 0 if is_latin else len(part)
        if room <= 0:
            break
    name = "".join(found)[:_LONGEST].strip(".-")
    return name if len(name) > 1 else ""


def place_of_note(work: Workspace, source: Source, recorded: str) -> str:
    """Return the path of the session's note, which was at *recorded* before; or that of a new one."""
    vault = work.vault
    ref = note_of(vault, source.session_id)
    if (vault.root / ref).is_file() and session_at(vault, ref) in (source.session_id, PurePosixPath(ref).stem):
        return ref
    if (recorded or kept_note(source.note).text) and (moved := find_moved(vault, source.session_id)):
        return moved
    if recorded or work.settings.sessions.names == "id":
        return recorded or session_ref(source.session_id)
    typed = name_from(turn.typed for turn in source.turns if not turn.pasted)
    name = (name_of(title_of(source.turns)) if typed else "") or typed or "session"
    return _free_ref(work, source, name)


def follow_title(work: Workspace, source: Source, ref: str, title: str) -> str:
    """Rename the note at *ref* after its *title* and return its new path; empty where it keeps its name.

    It does so if its owner edited, moved or links to it. The day's own line does not count.
    """
    vault, stem = work.vault, PurePosixPath(ref).stem
    day, name = f"{_day(work, source)}-", name_of(title)
    is_ours = ref == f"sessions/{stem}.md" and stem.startswith(day) and work.settings.sessions.names != "id"
    if not is_ours or name in ("", stem.removeprefix(day)) or not _is_untouched(vault, ref) or _is_linked(vault, ref):
        return ""
    renamed = _free_ref(work, source, name)
    with vault.lock():
        note_uncommitted(vault, [ref, renamed])
        os.replace(vault.path(ref), vault.path(renamed))
    return renamed


def _is_untouched(vault: Vault, ref: str) -> bool:
    with suppress(OSError, UnicodeDecodeError):
        return is_as_written(vault.path(ref).read_text(encoding="utf-8-sig"))
    return False


def _is_linked(vault: Vault, ref: str) -> bool:
    """Return whether another note than those of days names the note at *ref*."""
    name = PurePosixPath(ref).stem.encode()
    for other in scan(vault.root).stamps:
        if other != ref and not other.startswith(f"{vault.daily}/"):
            with suppress(OSError):
                if name in (vault.root / other).read_bytes():
                    return True
    return False


def _day(work: Workspace, source: Source) -> date:
    return (source.started_at or source.ended_at or work.now()).astimezone().date()


def _free_ref(work: Workspace, source: Source, name: str) -> str:
    day = _day(work, source)
    names = chain([f"{day}-{name}"], (f"{day}-{name}-{number}" for number in count(2)))
    refs = (f"sessions/{name}.md" for name in names)
    taken = (work.vault.root, work.vault.root / ARCHIVE)
    return next(ref for ref in refs if not any(os.path.lexists(root / ref) for root in taken))


def part_same_names(vault: Vault, remote: Remote) -> None:
    """Rename each note of a session here whose name *remote* has for another one, with its line in the daily note.

    Raises:
        HistoryFailed: git refuses.
    """
    base = ask(vault.root, "merge-base", "HEAD", remote.tracked).out.strip()
    if not base:
        return
    listed = tell(vault.root, "diff", "--name-only", "--no-renames", "--diff-filter=A", "-z", base, remote.tracked)
    refs = [ref for ref in listed.split("\0") if ref.startswith(FOLDER) and (vault.root / ref).is_file()]
    theirs = texts_in(vault.root, remote.tracked, refs)
    for ref in refs:
        with suppress(MemtoolError, OSError):
            ours = session_of(ref, read_text(vault.path(ref))[0])
            if (text := theirs.get(ref)) and session_of(ref, text) != ours:
                _give_way(vault, ref, ours)


def _give_way(vault: Vault, ref: str, session: str) -> None:
    renamed = f"{FOLDER}{PurePosixPath(ref).stem}-{session[: limits.ID_LETTERS]}.md"
    if os.path.lexists(vault.root / renamed):
        return
    changed = [ref, renamed]
    with vault.lock():
        os.replace(vault.path(ref), vault.path(renamed))
        for path in sorted((vault.root / vault.daily).glob("*.md")):
            text, expected = read_text(path)
            if f"](../{ref})" in text:
                replace(path, text.replace(f"](../{ref})", f"](../{renamed})"), expected=expected)
                changed.append(path.relative_to(vault.root).as_posix())
    write_record(vault, session, read_record(vault, session)._replace(ref=renamed))
    with locked(vault):
        commit(vault.root, changed, f"sync: {renamed} gives way to another session's note")


_SKELETON = re.compile(r"\A\ufeff?---\r?\n(?:.*\n)*?---\r?\n\s*(?:# .*)?\s*\Z")  # front matter and a title
_SESSIONS = "sessions/"


def keep_what_is_by_hand(vault: Vault, refs: Iterable[str]) -> None:
    """Commit what the owner of *vault* wrote into those of the notes *refs* that are about to be committed.

    What they wrote into a session's note that is in no commit yet cannot stand before it. Where git refuses, nothing is
    kept apart.
    """
    with suppress(HistoryFailed):
        _keep(vault, refs)


def _keep(vault: Vault, refs: Iterable[str]) -> None:
    staged = ask(vault.root, "diff", "--cached", "--name-only", "--no-renames", "-z").out.split("\0")
    contents: dict[str, NewContent | None] = {}
    ours = [ref for ref in refs if ref not in staged and ref.endswith(".md") and "\n" not in ref]
    ours = [ref for ref in ours if ref.startswith((_SESSIONS, f"{vault.daily}/"))]
    before = texts_in(vault.root, "HEAD", ours)
    for ref in ours:
        with suppress(OSError, UnicodeDecodeError, MemtoolError):  # gone, broken, or a link out of the vault
            if (own := _of_owner(vault, ref, before.get(ref))) is not None:
                contents[ref] = NewContent(own.encode())
    if contents:
        repository = get_own_repository(vault.root)
        repository.refuse_unsafe()
        commit_contents(repository, contents, f"keep: {', '.join(contents)}"[:200], is_ours=False)


def _of_owner(vault: Vault, ref: str, before: str | None) -> str | None:
    """Return the note as its owner would have it without memtool's latest lines; None if they have written nothing."""
    now = read_content(vault.path(ref)).decode("utf-8")
    if not ref.startswith(_SESSIONS):
        return own_words(now, before)
    if before is None or is_as_written(now):
        return None
    source = find_source(vault, session_of(ref, now))
    base = kept_note(source.note).text if source else ""
    own = keep_hand_edits(base or None, now, before)
    return None if _is_same(own, before) else own


def own_words(now: str, before: str | None) -> str | None:
    """Return the daily note *now* without those lines of memtool that *before* lacks; None if all else is the same."""
    parts, known = take_apart(now), take_apart(before or "")
    own = DailyParts(
        parts.rest, _own_items(parts.entries, known.entries), _own_items(parts.sessions, known.sessions), parts.heading
    )
    is_nothing = before is None and not (own.entries or own.sessions) and _SKELETON.match(parts.rest)
    is_as_before = before is not None and _is_same(put_together(own), put_together(known))
    return None if is_nothing or is_as_before else put_together(own)


def _own_items(now: Mapping[str, DailyItem], before: Mapping[str, DailyItem]) -> dict[str, DailyItem]:
    """Return the items that were there, with the words of *now*, and new ones that have words of their owner."""
    return {
        key: before[key]._replace(words=item.words) if key in before else item
        for key, item in now.items()
        if key in before or item.words.strip()
    }


def _is_same(one: str, other: str) -> bool:
    return one.split() == other.split()
