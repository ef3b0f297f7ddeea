"""The last sessions of a project and what their notes say, and which notes of all sessions say what holds for good.

A start has no time to look into hundreds of notes. A worker lists those with decisions, rules or open items, by
project, the newest first, in `.memtool/standing.json`, those in the archive as well; the lines are only in the notes.
"""

from __future__ import annotations

import codecs
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from memtool.named_tuple import NamedTuple
from memtool.recall import limits
from memtool.recall.budget import SAME
from memtool.recall.start.excerpt import Folder, names_in, one_line_fields
from memtool.text.languages import all_labels, begins_with, gives_order
from memtool.text.lines import width
from memtool.text.scripts import is_unspaced
from memtool.text.similarity import is_said, words
from memtool.vault.daily import DailySession, listed_sessions
from memtool.vault.layout import ARCHIVE, Vault
from memtool.vault.memory import AGENT, ASKED, COMMAND, DECISION, FINDING, FIX, OPEN, REFUTED, RULE, SUMMARY, TITLE
from memtool.vault.sessions import Line, lines_of, parse_session
from memtool.vault.state import make_state_folder, read_state, write_state

ARROW = " → "  # in a decision, behind the question
STANDING = {DECISION: "decisions", RULE: "rules", OPEN: "open"}
_LIST, _STAMPS = "standing.json", "standing-read.json"
_FOLDERS = ("sessions", f"{ARCHIVE}sessions")
_SESSIONS, _ARCHIVED = "sessions", f"{ARCHIVE}sessions"
_LARGEST_MATTER = 16_384  # bytes
_DAY = r"\d{4}-\d\d-\d\d(?:\.memtool)?\.md"
_WIDEST, _AROUND = 330, 8  # columns of a statement, which is given whole or not at all, and around it
_MARKS, _QUOTES = ("?", "？"), '”"」』'
_NAMING = 3  # words that name a subject; a pair of Chinese characters is half of one
_TELLING = 4  # words of a statement that tells something: "Committed as 2d495b8." has two
_SAID = 0.7  # share of an open item's words by which a later line shows that it was taken up


class PastSession(NamedTuple):
    """A session and what its note says."""

    day: str
    minute: str
    ref: str
    lines: tuple[Line, ...]

    @property
    def when(self) -> str:
        """When the session was last heard of, in the order of time."""
        return f"{self.day} {self.minute}"


class Said(NamedTuple):
    """A line of a session, when (`2026-11-22 14:09`) and where it was said, and the older line that it replaces."""

    when: str
    ref: str
    line: Line
    replaces: Said | None = None


def last_sessions(vault: Vault, project: str, most: int, besides: str = "") -> list[tuple[str, str, str]]:
    """Return the day, the minute and the path of the note of each of the last *most* sessions, newest first.

    The daily notes list them, newest first. Where they list fewer, the notes that they do not list are looked into.
    Sessions whose notes are gone or archived are left out, and so is the one of the note *besides*.
    """
    found: dict[str, tuple[str, str, str]] = {}
    listed = {besides}
    days, notes = Folder(vault, vault.daily), Folder(vault, _SESSIONS)
    for name in names_in(vault, vault.daily, limits.MOST_DAYS):
        if len(found) >= most:
            return list(found.values())[:most]
        for session in _sessions_of(days, name) if re.fullmatch(_DAY, name) else ():
            ref = f"{_SESSIONS}/{session.session_id}.md"
            if session.project == project and ref not in listed and is_there(_matter(notes, ref)):
                found[ref] = (name[:10], session.minute, ref)
            listed.add(ref)
    unlisted = [ref for name in names_in(vault, _SESSIONS) if (ref := f"{_SESSIONS}/{name}") not in listed]
    heard = ((ref, _last_heard(_matter(notes, ref), project)) for ref in unlisted[: limits.MOST_UNLISTED])
    found |= {ref: (*when, ref) for ref, when in heard if when}
    return sorted(found.values(), key=lambda each: each[:2], reverse=True)[:most]


def _matter(notes: Folder, ref: str) -> bytes | None:
    """Return the beginning of a session's note; None if there is none."""
    return notes.read(ref.rpartition("/")[2], _LARGEST_MATTER)


def _last_heard(content: bytes | None, project: str) -> tuple[str, str] | None:
    """Return the day and the minute when a session was last heard of, by its note; None for other projects."""
    if content is None or project.encode("utf-8", "replace") not in content:
        return None  # most are other projects', and reading all fields of a note may take yaml
    owner, day, minute = last_heard(content)
    return (day, minute) if owner == project else None


def read_sessions(vault: Vault, project: str, most: int, besides: str = "", *, older: int = 0) -> list[PastSession]:
    """Return the last *most* sessions of *project*, newest first; of *older* ones those that decided or left something.

    Reading a note takes a tenth of the time that its lines take.
    """
    listed = standing_notes(vault, project) if older else []
    found = last_sessions(vault, project, most if listed is not None else most + older, besides)
    recent = min(most, len(found))
    if listed:
        known = {besides, *(ref for _, _, ref in found)}
        before = [(when[:10], when[11:16], ref) for when, ref in listed if ref not in known]
        found += before if len(before) <= older else [*before[: older // 2], *before[-older // 2 :]]
    folders = {name: Folder(vault, name) for name in (_SESSIONS, _ARCHIVED)}
    sessions = []
    for at, (day, minute, ref) in enumerate(found):
        folder, _, name = ref.rpartition("/")
        content = folders[folder].read(name, limits.LARGEST_NOTE) or b""
        if at < recent or (holds_standing(content) and is_there(content)):
            text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(content)
            wanted = {DECISION, RULE} if folder == _ARCHIVED else STANDING.keys()
            lines = (line for line in lines_of(text) if at < recent or line.role in wanted)
            sessions.append(PastSession(day, minute, ref, tuple(lines)))
    return sessions


def unsaid(session: PastSession, said: Sequence[frozenset[str]]) -> PastSession:
    """Return *session* without what is said elsewhere, such as in CLAUDE.md: *said* holds the words of each line."""
    return session._replace(lines=tuple(line for line in session.lines if not is_said(words(line.text), said, SAME)))


def said_as(sessions: Iterable[PastSession], role: str) -> list[Said]:
    """Return the lines of this *role*, each once, in its newest words: of each session the last, newest first.

    Then those before these, and so on: a session with many leaves room for those before it. A question says nothing.
    """
    found: list[tuple[int, Said]] = []
    told: list[frozenset[str]] = []
    for session in sessions:
        place = 0
        for line in reversed([line for line in session.lines if line.role == role]):
            own = words(line.text)
            if not (role != COMMAND and line.text.rstrip(_QUOTES).endswith(_MARKS)) and not is_said(own, told, 1.0):
                found.append((place, Said(session.when, session.ref, line)))
                told.append(own)
                place += 1
    return [said for _, said in sorted(found, key=lambda each: each[0])]


def newest_words(found: Sequence[Said], most: int, newest: Sequence[PastSession]) -> list[Said]:
    """Return the lines *found* that no later one replaces, the first *most* of which are to be given.

    Half of these places are for sessions before the *newest*: for the line that shares most words with these, for the
    oldest one, on which the project may stand, and for what comes next to the first.
    """
    refs = {session.ref for session in newest}
    now, before = ([said for said in found if (said.ref in refs) is is_new] for is_new in (True, False))
    spoken = frozenset().union(*(words(line.text) for session in newest for line in session.lines))
    oldest = min(before, key=lambda said: said.when, default=None)
    before.sort(key=lambda said: (said is oldest, len(words(said.line.text) & spoken)), reverse=True)
    before[:2] = before[:2][::-1]
    first = max(most - len(before), most - most // 2)
    kept: list[Said] = []
    for said in (*now[:first], *before, *now[first:]):
        if len(kept) > most:  # what is not given is only counted
            kept.append(said)
        elif not any(_replaces(later, said) for later in found):
            kept.append(said._replace(replaces=next((other for other in found if _replaces(said, other)), None)))
    return kept


def _replaces(later: Said, said: Said) -> bool:
    """Return whether *later* surely says something else of the subject that *said* names.

    Both answer one question; or only a number differs; or *later* names all that *said* names, and more.
    """
    if later.when <= said.when or later.ref == said.ref or said.line.author not in (later.line.author, AGENT):
        return False
    (asked, arrow, _), (was_asked, had_arrow, _) = (each.line.text.partition(ARROW) for each in (later, said))
    if arrow or had_arrow:
        return bool(words(asked)) and words(asked) == words(was_asked)
    ours, theirs = words(later.line.text), words(said.line.text)
    other = ours ^ theirs
    if not (theirs < ours or (other and all(map(str.isdecimal, other)))):
        return False
    names = (0.5 if is_unspaced(word[0]) else 1 for word in theirs if not word.isdecimal())
    return sum(names) >= _NAMING


def still_open(sessions: Sequence[PastSession]) -> list[Said]:
    """Return the open items that no later session took up, newest first.

    What the agent asked at the end of a session is over when another one has begun.
    """
    later: list[frozenset[str]] = []
    found = []
    for at, session in enumerate(sessions):
        lines = (line for line in session.lines if line.role == OPEN)
        items = [
            Said(session.when, session.ref, line)
            for line in lines
            if not (at and line.author == AGENT and line.text.endswith(_MARKS))
        ]
        found += [item for item in items if not is_said(words(item.line.text), later, _SAID)]
        later += [words(line.text) for line in session.lines]
    return found


def is_whole(text: str) -> bool:
    """Return whether *text* is a statement that was not cut and is no longer than a person reads."""
    return bool(text) and not text.endswith(("…", ":", "：")) and width(text) <= _WIDEST


def whole_part(text: str) -> str:
    """Return *text* without the sentence in which it was cut; empty if nothing is left."""
    if not text.endswith("…"):
        return text
    found = re.match(r".*(?:[.!?](?=\s)|[。！？])", text)
    return found[0] if found else ""


def told_in(session: PastSession, room: int) -> list[Line]:
    """Return the lines of *session* that say what came of it, in *room* columns, each whole, below its title.

    Of each prompt the first statement, the last prompt first; then the second ones, and so on. What is given beside it
    (decisions, rules and open items) is not among them, nor what the agent asked or ordered, which is over. A title
    that only repeats the beginning of a prompt, or asks, is empty.
    """
    title = next((line for line in session.lines if line.role == TITLE), Line(session.day, TITLE))
    if not is_whole(title.text) or title.text.endswith(_MARKS):
        title = title._replace(text="")
    kept = [title]
    left = room - width(title.text)
    for line in sorted(_telling(session.lines), key=_turn_of_taking(session.lines)):
        if line.role == ASKED:
            line = line._replace(text=whole_part(line.text))  # noqa: PLW2901
        if (line.role == "" and is_stump(line.text)) or is_said(words(line.text), [words(title.text)], SAME):
            continue
        taken = width(line.text) + _AROUND
        if taken <= left and is_whole(line.text):
            kept.append(line)
            left -= taken
    return sorted(kept, key=lambda line: line.number)


def is_stump(text: str) -> bool:
    """Return whether *text* tells too little to be read: it has few words, and names no file."""
    return len(words(text)) < _TELLING and not re.search(r"\w[._/]\w", text)


def _telling(lines: Sequence[Line]) -> list[Line]:
    roles, answered = (SUMMARY, FIX, FINDING, REFUTED), {line.asked for line in lines}
    return [
        line
        for line in lines
        if line.role in roles
        or (line.role == "" and not _is_over(line.text))
        or (line.role == ASKED and line.text not in answered and not line.text.endswith(_MARKS))
    ]


def _turn_of_taking(lines: Sequence[Line]) -> Callable[[Line], tuple[int, int]]:
    """Return by what the lines are ordered that say what came of a session."""
    told = Counter[str]()
    place: dict[int, tuple[int, int]] = {}
    for line in _telling(lines):
        if line.role == "":
            place[line.number] = (1 + told[line.asked] * bool(line.asked), -line.number)
            told[line.asked] += 1
        else:
            place[line.number] = (2 if line.role == ASKED else 0, line.number)
    return lambda line: place[line.number]


def _is_over(text: str) -> bool:
    """Return whether an agent asked or offered something, or gives an order, which it mostly quotes from a page."""
    return text.endswith(_MARKS) or begins_with("announcement", text) or gives_order(text)


def _sessions_of(days: Folder, name: str) -> list[DailySession]:
    """Return the sessions of one day, latest first."""
    content = days.read(name, limits.LARGEST_TABLE)
    if content is None or b"](../sessions/" not in content:
        return []
    text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(content)
    latest_first = reversed(listed_sessions(text))  # of one minute, too
    return sorted(latest_first, key=lambda session: session.minute, reverse=True)


def gather_standing(vault: Vault) -> None:
    """Bring the list up to date; only notes that have changed since the last time are read."""
    known = _read(vault, _STAMPS)
    seen: dict[str, list[Any]] = {}
    for folder in _FOLDERS:
        notes = Folder(vault, folder)
        with suppress(OSError), os.scandir(vault.root / folder) as entries:
            for entry in entries:
                if entry.name.endswith(".md") and entry.name[0] != ".":
                    about = entry.stat(follow_symlinks=False)
                    stamp, row = [about.st_size, about.st_mtime_ns], known.get(f"{folder}/{entry.name}")
                    is_known = isinstance(row, list) and len(row) == 4 and row[:2] == stamp
                    found = list(row or ()) if is_known else [*stamp, *_standing_in(notes, entry.name)]
                    seen[f"{folder}/{entry.name}"] = found
    if seen == known:
        return
    by_project: dict[str, list[list[str]]] = {}
    for ref, (_, _, project, when) in seen.items():
        if project:
            by_project.setdefault(project, []).append([when, ref])
    with suppress(OSError):  # the next worker will do it
        make_state_folder(vault.state_path)
        listed = {project: sorted(rows, reverse=True) for project, rows in by_project.items()}
        for name, content in ((_LIST, listed), (_STAMPS, seen)):
            write_state(vault.state_path / name, json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))


def standing_notes(vault: Vault, project: str) -> list[tuple[str, str]] | None:
    """Return when each note of *project* that is listed was heard of last, and its path; None if there is no list."""
    listed = _read(vault, _LIST)
    rows = listed.get(project, [])
    if not listed or not isinstance(rows, list):
        return None
    return [
        (row[0], row[1])
        for row in rows
        if isinstance(row, list) and len(row) == 2 and all(isinstance(each, str) for each in row)
    ]


def holds_standing(content: bytes) -> bool:
    """Return whether the note with *content* holds a decision, a rule or an open item."""
    return any(label in content for label in _labels())


def last_heard(content: bytes) -> tuple[str, str, str]:
    """Return the project of the session with the note *content*, and the day and minute when it was last heard of.

    All are empty for a note of another kind, and for a session that was forgotten as a whole.
    """
    text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(content).replace("\r\n", "\n")
    matter, _, body = text.removeprefix("---\n").partition("\n---")
    if not re.search(r"(?m)^type: *[\"']?session\b", matter):
        return "", "", ""
    fields = one_line_fields(matter)
    if fields.get("type") != "session" or not is_there(content):
        return "", "", ""
    when = fields.get("updated") or parse_session(body).updated or fields.get("date", "")
    return fields.get("project", ""), when[:10], when[11:16]


def is_there(content: bytes | None) -> bool:
    """Return whether *content* begins a session's note that was not forgotten as a whole."""
    if content is None or not content.startswith((b"---", b"\xef\xbb\xbf---")):
        return content is not None
    return re.search(rb"\nstatus:[ \t]*[\"']?archived\b", content.split(b"\n---", 1)[0], re.IGNORECASE) is None


def _standing_in(notes: Folder, name: str) -> tuple[str, str]:
    """Return the project of a note that holds such lines, and when it was heard of last; empty for all others."""
    content = notes.read(name, limits.LARGEST_NOTE)
    if content is None or not holds_standing(content):
        return "", ""
    project, day, minute = last_heard(content)
    return project, f"{day} {minute}".strip()


@cache
def _labels() -> tuple[bytes, ...]:
    """Return what stands above decisions, rules and open items, in any language and any version of the note."""
    words = [word for name in STANDING.values() for word in all_labels("session")[name]]
    return tuple(form.format(word).encode() for word in words for form in ("\n## {}", ". **{}**"))


def _read(vault: Vault, name: str) -> dict[str, Any]:
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(read_state(vault.state_path / name, largest=limits.LARGEST_LIST))
        return found if isinstance(found, dict) else {}
    return {}
