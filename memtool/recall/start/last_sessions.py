"""The last sessions of a project and what their notes say."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence

from memtool.named_tuple import NamedTuple
from memtool.recall.start.excerpt import Folder, names_in, one_line_fields, read_bytes
from memtool.recall.start.settled import SAME
from memtool.text.languages import begins_with, gives_order
from memtool.text.lines import shortened, width
from memtool.text.similarity import is_said, words
from memtool.vault.authors import COMMAND, OPEN
from memtool.vault.daily import DailySession, listed_sessions
from memtool.vault.layout import Vault
from memtool.vault.old_sessions import OldNote, parse_session
from memtool.vault.session_lines import BRANCH, OldLine, lines_of, read_values
from memtool.vault.session_rows import ARROW, Row, fit_rows, parse_row

_SESSIONS = "sessions"
_MOST_UNLISTED = 200  # notes that no daily note lists
_MOST_DAYS = 180  # daily notes that are looked at, however long ago they were written
_LARGEST_DAY, _LARGEST_NOTE, _LARGEST_MATTER = 262_144, 65_536, 16_384  # bytes
_DAY = r"\d{4}-\d\d-\d\d(?:\.memtool)?\.md"
_TOPIC_SHARE, _SHORTEST_TOPIC = 0.35, 60  # of the room of a session, and columns, that its topic may take
_LEAST_ROW = 170  # columns of room that each row needs: fewer rows than in the note, but not cut as short
_MARKS = ("?", "？")
_CUT, _LEAST_CUT = " … ", 60  # in what was typed, and columns that are left of what nothing came of
_SAID = 0.7  # share of an open item's words by which a later line shows that it was taken up


class PastSession(NamedTuple):
    """A session and what its note says. *rows* are what was asked and what came of it."""

    day: str
    minute: str
    ref: str
    note: OldNote
    lines: tuple[OldLine, ...]
    rows: tuple[Row, ...]

    @property
    def when(self) -> str:
        """When the session was last heard of, in the order of time."""
        return f"{self.day} {self.minute}"


class Said(NamedTuple):
    """A line of a session, and when (`2026-11-22 14:09`) and where it was said."""

    when: str
    ref: str
    line: OldLine


def last_sessions(vault: Vault, project: str, most: int, besides: str = "") -> list[tuple[str, str, str]]:
    """Return the day, the minute and the path of the note of each of the last *most* sessions, newest first.

    The daily notes list them, newest first. Where they list fewer, the notes that they do not list are looked into.
    Sessions whose notes are gone or archived are left out, and so is the one of the note *besides*.
    """
    found: dict[str, tuple[str, str, str]] = {}
    listed = {besides}
    days, notes = Folder(vault, vault.daily), Folder(vault, _SESSIONS)
    for name in names_in(vault, vault.daily, _MOST_DAYS):
        if len(found) >= most:
            return list(found.values())[:most]
        for session in _sessions_of(days, name) if re.fullmatch(_DAY, name) else ():
            ref = f"{_SESSIONS}/{session.session_id}.md"
            if session.project == project and ref not in listed and _is_there(_matter(notes, ref)):
                found[ref] = (name[:10], session.minute, ref)
            listed.add(ref)
    unlisted = [ref for name in names_in(vault, _SESSIONS) if (ref := f"{_SESSIONS}/{name}") not in listed]
    heard = ((ref, _last_heard(_matter(notes, ref), project)) for ref in unlisted[:_MOST_UNLISTED])
    found |= {ref: (*when, ref) for ref, when in heard if when}
    return sorted(found.values(), key=lambda each: each[:2], reverse=True)[:most]


def _matter(notes: Folder, ref: str) -> bytes | None:
    """Return the beginning of a session's note; None if there is none."""
    return notes.read(ref.rpartition("/")[2], _LARGEST_MATTER)


def _last_heard(content: bytes | None, project: str) -> tuple[str, str] | None:
    """Return the day and the minute when a session was last heard of, by its note; None for other projects."""
    if content is None or project.encode("utf-8", "replace") not in content:
        return None  # most are other projects', and reading all fields of a note may take yaml
    text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(content).replace("\r\n", "\n")
    matter, _, body = text.removeprefix("---\n").partition("\n---")
    if not re.search(r"(?m)^type: *[\"']?session\b", matter) or project not in matter:
        return None
    fields = one_line_fields(matter)
    if fields.get("project", "") != project or fields.get("type") != "session" or not _is_there(content):
        return None
    when = parse_session(body).updated or fields.get("date", "")
    return when[:10], when[11:16]


def read_sessions(vault: Vault, project: str, most: int, besides: str = "") -> list[PastSession]:
    """Return the last *most* sessions of *project*, newest first."""
    sessions = []
    for day, minute, ref in last_sessions(vault, project, most, besides):
        content, _ = read_bytes(vault, ref, _LARGEST_NOTE) or (b"", 0.0)
        text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(content)
        note, values = parse_session(text), read_values(vault, ref)
        rows = (
            _without_asking(parse_row(f"[{point.kind}] {point.text}" if point.kind else point.text, values))
            for point in note.key_points
        )
        sessions.append(PastSession(day, minute, ref, note, tuple(lines_of(text)), tuple(rows)))
    return sessions


def unsaid(session: PastSession, said: Sequence[frozenset[str]]) -> PastSession:
    """Return *session* without what is said elsewhere, such as in CLAUDE.md: *said* holds the words of each line."""

    def is_new(text: str) -> bool:
        return not is_said(words(text), said, SAME)

    rows = (
        row._replace(
            asked=row.asked if is_new(row.asked) else "",
            pieces=tuple(piece for piece in row.pieces if is_new(piece.text)),
        )
        for row in session.rows
    )
    return session._replace(rows=tuple(row for row in rows if row.asked or row.pieces))


def _without_asking(row: Row) -> Row:
    """Return *row* without what the agent asked and offered, which is over, and without orders, which are the user's.

    An agent that says "always ..." mostly quotes a page, a document or the output of a program.
    """
    pieces = (
        piece for piece in row.pieces if piece.is_typed or not (_is_asking(piece.text) or gives_order(piece.text))
    )
    return row._replace(pieces=tuple(pieces))


def _is_asking(text: str) -> bool:
    return text.endswith(_MARKS) or begins_with("offer", text)


def said_as(sessions: Iterable[PastSession], role: str) -> list[Said]:
    """Return the lines of this *role*, newest first, each once; of commands that are alike, the newest.

    A question says nothing.
    """
    found: dict[str, Said] = {}
    for session in sessions:
        for line in reversed(session.lines):
            is_command = role == COMMAND
            is_question = any(mark in line.text.rpartition(ARROW)[2] for mark in _MARKS) and not is_command
            if line.role == role and not (is_question or (is_command and is_said(words(line.text), map(words, found)))):
                found.setdefault(line.text, Said(session.when, session.ref, line))
    return list(found.values())


def still_open(sessions: Sequence[PastSession]) -> list[Said]:
    """Return the open items that no later session took up, newest first."""
    later: list[frozenset[str]] = []
    found = []
    for session in sessions:
        items = [Said(session.when, session.ref, line) for line in session.lines if line.role == OPEN]
        found += [item for item in items if not is_said(words(item.line.text), later, _SAID)]
        later += [words(line.text) for line in session.lines]
        later.append(words(session.note.topic))
    return found


def told_in(session: PastSession, room: int) -> tuple[str, list[Row]]:
    """Return the topic of *session*, and as much of its outcome as fits into *room* columns."""
    topic = _topic_within(session.note.topic, max(_SHORTEST_TOPIC, int(_TOPIC_SHARE * room)))
    rows = fit_rows(session.rows, room - width(topic), [topic], least_row=_LEAST_ROW)
    return topic, [row for row in rows if row.pieces or _CUT not in row.asked or width(row.asked) >= _LEAST_CUT]


def _topic_within(topic: str, limit: int) -> str:
    """Return *topic* in at most *limit* columns: how it began and how it ended, without the branch if that is long."""
    began, _, ended = topic.partition(ARROW)
    if _is_asking(re.split(": |：", ended, maxsplit=1)[-1]):
        ended = ""
    if width(began) + width(ended) + len(ARROW) > limit:
        began = re.sub(BRANCH, "", began)
        ended = shortened(ended, max(limit // 2, limit - width(began) - len(ARROW)))
        began = re.sub("[ …]+$", "…", shortened(began, limit - width(ended) - len(ARROW)))
    return ARROW.join(filter(None, (began, ended)))


def _is_there(content: bytes | None) -> bool:
    """Return whether *content* begins a session's note that was not forgotten as a whole."""
    if content is None or not content.startswith((b"---", b"\xef\xbb\xbf---")):
        return content is not None
    return re.search(rb"\nstatus:[ \t]*[\"']?archived\b", content.split(b"\n---", 1)[0], re.IGNORECASE) is None


def _sessions_of(days: Folder, name: str) -> list[DailySession]:
    """Return the sessions of one day, latest first."""
    content = days.read(name, _LARGEST_DAY)
    if content is None or b"](../sessions/" not in content:
        return []
    text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(content)
    latest_first = reversed(listed_sessions(text))  # of one minute, too
    return sorted(latest_first, key=lambda session: session.minute, reverse=True)
