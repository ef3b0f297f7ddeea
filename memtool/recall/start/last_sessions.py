"""The last sessions of a project and what their notes say."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from memtool.named_tuple import NamedTuple
from memtool.recall.budget import SAME
from memtool.recall.start.excerpt import Folder, names_in, one_line_fields
from memtool.text.languages import all_labels, begins_with, gives_order
from memtool.text.lines import width
from memtool.text.similarity import is_said, words
from memtool.vault.authors import AGENT, ASKED, COMMAND, DECISION, FINDING, FIX, OPEN, REFUTED, RULE, SUMMARY, TITLE
from memtool.vault.daily import DailySession, listed_sessions
from memtool.vault.layout import Vault
from memtool.vault.sessions import Line, lines_of, parse_session

_SESSIONS = "sessions"
_MOST_UNLISTED = 200  # notes that no daily note lists
_MOST_DAYS = 180  # daily notes that are looked at, however long ago they were written
_LARGEST_DAY, _LARGEST_NOTE, _LARGEST_MATTER = 262_144, 65_536, 16_384  # bytes
_DAY = r"\d{4}-\d\d-\d\d(?:\.memtool)?\.md"
_WIDEST, _AROUND = 330, 8  # columns of a statement, which is given whole or not at all, and around it
_STANDING = {DECISION: "decisions", RULE: "rules", OPEN: "open"}
_MARKS, _QUOTES = ("?", "？"), '”"」』'
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
    """A line of a session, and when (`2026-11-22 14:09`) and where it was said."""

    when: str
    ref: str
    line: Line


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
    when = fields.get("updated") or parse_session(body).updated or fields.get("date", "")
    return when[:10], when[11:16]


def read_sessions(vault: Vault, project: str, most: int, besides: str = "", *, older: int = 0) -> list[PastSession]:
    """Return the last *most* sessions of *project*, newest first; of *older* ones those that decided or left something.

    Reading a note takes a tenth of the time that its lines take.
    """
    notes, sessions = Folder(vault, _SESSIONS), []
    for at, (day, minute, ref) in enumerate(last_sessions(vault, project, most + older, besides)):
        content = notes.read(ref.rpartition("/")[2], _LARGEST_NOTE) or b""
        if at < most or any(label in content for label in _standing_labels()):
            text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(content)
            lines = (line for line in lines_of(text) if at < most or line.role in _STANDING)
            sessions.append(PastSession(day, minute, ref, tuple(lines)))
    return sessions


@cache
def _standing_labels() -> tuple[bytes, ...]:
    """Return what stands above decisions, rules and open items, in any language and any version of the note."""
    words = [word for name in _STANDING.values() for word in all_labels("session")[name]]
    return tuple(form.format(word).encode() for word in words for form in ("\n## {}", ". **{}**"))


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


def still_open(sessions: Sequence[PastSession]) -> list[Said]:
    """Return the open items that no later session took up, newest first.

    What the agent asked at the end of a session is over when another one has begun.
    """
    later: list[frozenset[str]] = []
    found = []
    for at, session in enumerate(sessions):
        lines = (line for line in session.lines if line.role == OPEN)
        items = [Said(session.when, session.ref, line) for line in lines if not (at and _asks(line))]
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
        taken = width(line.text) + _AROUND
        if taken <= left and is_whole(line.text):
            kept.append(line)
            left -= taken
    return sorted(kept, key=lambda line: line.number)


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


def _asks(line: Line) -> bool:
    return line.author == AGENT and line.text.endswith(_MARKS)


def _is_over(text: str) -> bool:
    """Return whether an agent asked or offered something, or gives an order, which it mostly quotes from a page."""
    return text.endswith(_MARKS) or begins_with("offer", text) or gives_order(text)


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
