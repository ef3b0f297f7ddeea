"""Daily notes: the edited files, one line for each project and minute, and the sessions of the day.

    - 14:30 **shop**: `auth.ts`, `middleware/jwt.ts`

    ## Sessions

    - 14:32 **shop**: [user authentication](../sessions/3f2a9c.md)
    - 15:10 **shop**: what does HTTP 418 mean? (session 8d01b2)

A session that left nothing behind has no note, and its line no link.

Lines that look otherwise are the owner's and stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date

from memtool.named_tuple import NamedTuple
from memtool.text.languages import all_labels, labels
from memtool.text.lines import newline_of, one_line
from memtool.text.markdown import LINK_TEXT, in_code, link, unescape
from memtool.vault.layout import session_name

_WHEN = r"^- (?P<minute>[0-2][0-9]:[0-5][0-9])(?: \*\*(?P<project>[^*\r\n]+)\*\*)?: "
_ENTRY = _WHEN + r"(?P<files>`[^`\r\n]+`(?:, `[^`\r\n]+`)*)(?=[ \t]*\r?$)"
_SESSION = _WHEN + rf"\[(?P<topic>{LINK_TEXT})\]\(\.\./(?P<ref>sessions/[^()\s/]+\.md)\)"
_BARE_SESSION = _WHEN + r"(?P<topic>[^\[\r\n][^\r\n]*) \((?P<ref>session [^()\s]+)\)(?=[ \t]*\r?$)"
_REST_OF_ITEM = r"[^\n]*(?:\n[ \t]+[^\s][^\n]*)*"  # its line, and what its owner wrote below it, indented
_LOWER_HEADING = r"^#{2,6}[ \t]"
_FRONT_MATTER = r"\ufeff?---[ \t]*\r?\n(?:.*\n)*?---[ \t]*\r?\n"


class DailyEntry(NamedTuple):
    """The files that were edited in a project within one minute, such as `14:30`."""

    minute: str
    project: str
    files: tuple[str, ...]


class DailySession(NamedTuple):
    """A session of the day: the *minute* of its last event, and its topic.

    *session_id* is the name of its note; of one without a note, its id. *former* are the names that it had before.
    """

    minute: str
    project: str
    session_id: str
    topic: str
    former: tuple[str, ...] = ()


def render_daily(
    day: date, entries: Iterable[DailyEntry] = (), sessions: Iterable[DailySession] = (), *, language: str = "en"
) -> str:
    """Return the daily note of *day*."""
    title = f"{labels('daily', language)['daily']}: {day.isoformat()}"
    text = f"---\ntype: daily\ndate: {day.isoformat()}\n---\n\n# {title}\n\n"
    return add_sessions(add_entries(text, entries), ((session, True) for session in sessions), language=language)


def names_of(day: date) -> tuple[str, str]:
    """Return the names of the daily note of *day*: its own, and that beside a journal of the user's own."""
    return f"{day.isoformat()}.md", f"{day.isoformat()}.memtool.md"


def listed_entries(text: str) -> tuple[DailyEntry, ...]:
    """Return the entries of a daily note, in their order."""
    return tuple(
        DailyEntry(match["minute"], match["project"] or "", tuple(match["files"][1:-1].split("`, `")))
        for match in re.finditer(_ENTRY, text, re.MULTILINE)
    )


def listed_sessions(text: str) -> tuple[DailySession, ...]:
    """Return the sessions with a note that a daily note lists, and no others; the id of each is its note's name."""
    return tuple(
        DailySession(match["minute"], match["project"] or "", _stem(match["ref"]), unescape(match["topic"]))
        for match in re.finditer(_SESSION, text, re.MULTILINE)
    )


def add_entries(text: str, entries: Iterable[DailyEntry]) -> str:
    """Return *text* with each of *entries* in its place in time, or merged into the line of its project and minute.

    Every other byte is kept; an entry that says nothing new changes nothing.
    """
    listed = _Listed(text, _ENTRY)
    for each in entries:
        names = (one_line(name).replace("`", "'") for name in each.files)
        entry = DailyEntry(each.minute, _plain(each.project), tuple(dict.fromkeys(filter(None, names))))
        key = f"{entry.minute} {entry.project}"
        if there := listed.find(key):
            for known in listed_entries(there.line):
                merged = known._replace(files=tuple(dict.fromkeys(known.files + entry.files)))
                there.line = there.line if merged == known else _line(merged)
        elif entry.files and listed.items:
            listed.insert(key, entry.minute, _line(entry))
        elif entry.files:
            text = listed.text()
            heading = _find_outside_code(_LOWER_HEADING, text)
            text = _insert_first_entry(text, _line(entry), heading.start() if heading else len(text))
            listed = _Listed(text, _ENTRY)
    return listed.text()


def add_session(text: str, session: DailySession, *, has_note: bool = True, language: str = "en") -> str:
    """Return *text* with *session* in its place in time in the list of sessions, instead of the line it had there.

    Every other byte is kept, such as what the owner wrote behind the link or, indented, below the line.
    """
    return add_sessions(text, [(session, has_note)], language=language)


def add_sessions(text: str, sessions: Iterable[tuple[DailySession, bool]], *, language: str = "en") -> str:
    """Return *text* with all *sessions*, added one after the other as `add_session` does; each may have a note."""
    listed = _Listed(text, _SESSION, _BARE_SESSION)
    for session, has_note in sessions:
        is_plain = re.fullmatch(r"\w[\w.+-]*", session.session_id)
        name = session.session_id if is_plain else session_name(session.session_id)
        topic = one_line(session.topic) or name
        shown = link(topic, f"../sessions/{name}.md") if has_note else f"{topic.lstrip('[') or name} (session {name})"
        line = _start(session.minute, _plain(session.project)) + shown
        if own := next(filter(None, map(listed.find, (name, *session.former))), None):
            own.key = name
            if listed.is_in_time(own, session.minute):
                own.minute, own.line = session.minute, line
            else:
                listed.remove(own)
                listed.insert(name, session.minute, line, own.words)
        elif listed.items:
            listed.insert(name, session.minute, line)
        else:
            text = _insert_first_session(listed.text(), line, labels("daily", language)["sessions"])
            listed = _Listed(text, _SESSION, _BARE_SESSION)
    return listed.text()


class DailyItem(NamedTuple):
    """A line of ours, without its line end, and the owner's *words* behind it and, indented, below it."""

    minute: str
    line: str
    words: str = ""


class DailyParts(NamedTuple):
    """A daily note in parts: its items by their keys, and the *rest* of the text without them.

    *heading* is the name of the section of sessions; empty if there is none.
    """

    rest: str
    entries: Mapping[str, DailyItem]
    sessions: Mapping[str, DailyItem]
    heading: str = ""


def take_apart(text: str) -> DailyParts:
    """Return the parts of a daily note."""
    sessions = _Listed(text, _SESSION, _BARE_SESSION)
    entries = _Listed(sessions.rest(), _ENTRY)
    rest = entries.rest()
    names = "|".join(map(re.escape, all_labels("daily")["sessions"]))
    heading = _find_outside_code(rf"^## ({names})[ \t]*\r?$", rest)
    if heading and re.match(r"\s*(?:#{1,6} |\Z)", rest[heading.end() :]):
        rest = rest[: heading.start()] + rest[heading.end() :]
    return DailyParts(rest, entries.by_key(), sessions.by_key(), heading[1] if heading else "")


def put_together(parts: DailyParts) -> str:
    """Return the daily note of *parts*: its items in the order of time."""
    text = re.sub(r"\n{3,}", "\n\n", parts.rest.rstrip()) + "\n\n"
    if parts.entries:
        heading = _find_outside_code(_LOWER_HEADING, text)
        text = _insert_first_entry(text, _in_time(parts.entries), heading.start() if heading else len(text))
    if parts.sessions:
        text = _insert_first_session(text, _in_time(parts.sessions), parts.heading or labels("daily", "en")["sessions"])
    return text.rstrip("\n") + "\n" if parts.entries or parts.sessions else text


def _in_time(items: Mapping[str, DailyItem]) -> str:
    ordered = sorted(items.items(), key=lambda one: (one[1].minute, one[0]))
    return "\n".join(item.line + item.words for _, item in ordered)


class _ListedLine:
    """A line of ours, the rest of its item, which may be the owner's, and the text up to the next one."""

    def __init__(self, key: str, minute: str, line: str, rest: str, below: str) -> None:
        self.key, self.minute, self.line, self.rest, self.below = key, minute, line, rest, below

    @property
    def words(self) -> str:
        """The text below the line that belongs to its item, without the last line end."""
        return self.rest.removesuffix("\n").removesuffix("\r")


class _Listed:
    """The items of a text that match one of some *patterns*, so that many are added with one look at it."""

    def __init__(self, text: str, *patterns: str) -> None:
        matches = (match for pattern in patterns for match in re.finditer(pattern, text, re.MULTILINE))
        found = sorted(matches, key=lambda match: match.start())
        starts = [*(match.start() for match in found), len(text)]
        self._newline = newline_of(text)
        self._head = text[: starts[0]]
        self.items: list[_ListedLine] = []
        for match, start in zip(found, starts[1:], strict=True):
            below_it = re.compile(_REST_OF_ITEM).match(text, match.end())
            last = below_it.end() if below_it else match.end()
            end = text.find("\n", last - (text[last - 1] == "\r")) + 1 or len(text)
            rest, below = text[match.end() : end], text[end:start]
            is_session = "ref" in match.re.groupindex
            key = _stem(match["ref"]) if is_session else f"{match['minute']} {match['project'] or ''}"
            self.items.append(_ListedLine(key, match["minute"], match[0], rest, below))

    def text(self) -> str:
        return self._head + "".join(item.line + item.rest + item.below for item in self.items)

    def rest(self) -> str:
        """Return the text without the items."""
        return self._head + "".join(item.below for item in self.items)

    def by_key(self) -> dict[str, DailyItem]:
        return {item.key: DailyItem(item.minute, item.line, item.words) for item in self.items}

    def find(self, key: str) -> _ListedLine | None:
        return next((item for item in self.items if item.key == key), None)

    def is_in_time(self, item: _ListedLine, minute: str) -> bool:
        """Return whether *item* may stay where it is if it is of this *minute*."""
        at = self.items.index(item)
        around = [minute if each is item else each.minute for each in self.items[max(0, at - 1) : at + 2]]
        return around == sorted(around)

    def insert(self, key: str, minute: str, line: str, words: str = "") -> None:
        """Put *line* behind the last item that is not later, else before the first."""
        at = next((at for at in reversed(range(len(self.items))) if self.items[at].minute <= minute), -1)
        below = ""
        if at >= 0:
            earlier = self.items[at]
            below, earlier.below = earlier.below, ""
            earlier.rest += "" if earlier.rest.endswith("\n") else self._newline
        self.items.insert(at + 1, _ListedLine(key, minute, line, words + self._newline, below))

    def remove(self, item: _ListedLine) -> None:
        at = self.items.index(item)
        del self.items[at]
        if at:
            self.items[at - 1].below += item.below
        else:
            self._head += item.below


def _find_outside_code(pattern: str, text: str) -> re.Match[str] | None:
    """Return the first match below the front matter that is not within fenced code."""
    matter = re.match(_FRONT_MATTER, text)
    found = re.compile(pattern, re.MULTILINE)
    at = matter.end() if matter else 0
    lines = text[at:].split("\n")
    for line, is_code in zip(lines, in_code(lines), strict=True):
        if not is_code and (match := found.match(text, at)):
            return match
        at += len(line) + 1
    return None


def _insert_first_entry(text: str, line: str, at: int) -> str:
    """Insert *line* before the heading at offset *at*, or append it if *at* is the end."""
    newline = newline_of(text)
    if at == len(text):
        return text + ("" if text.endswith("\n") or not text else newline) + line + newline
    return text[:at] + _gap(text[:at]) + line + newline + newline + text[at:]


def _insert_first_session(text: str, line: str, title: str) -> str:
    """Return *text* with *line* in the section of sessions, which is made at the end if there is none."""
    newline = newline_of(text)
    names = "|".join(map(re.escape, all_labels("daily")["sessions"]))
    heading = _find_outside_code(rf"^## (?:{names})[ \t]*\r?$", text)
    if heading is None:
        return f"{text}{_gap(text)}## {title}{newline}{newline}{line}{newline}"
    blank = re.compile(r"\r?\n(?:[ \t]*\r?\n)?").match(text, heading.end())
    at = blank.end() if blank else len(text)
    below = text[at:]
    gap = newline if below.split("\n", 1)[0].strip() else ""
    return text[:at] + _gap(text[:at]) + line + newline + gap + below


def _gap(text: str) -> str:
    """Return the line ends that are missing between *text* and a paragraph of its own."""
    missing = 2 - text[len(text.rstrip()) :].count("\n") if text else 0
    return newline_of(text) * max(0, missing)


def _stem(ref: str) -> str:
    return ref.removeprefix("session ") if ref.startswith("session ") else ref.removeprefix("sessions/")[: -len(".md")]


def _line(entry: DailyEntry) -> str:
    return _start(entry.minute, entry.project) + ", ".join(f"`{name}`" for name in entry.files)


def _start(minute: str, project: str) -> str:
    return f"- {minute} **{project}**: " if project else f"- {minute}: "


def _plain(project: str) -> str:
    return one_line(project).replace("*", "").strip()
