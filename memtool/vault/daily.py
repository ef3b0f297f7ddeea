"""Daily notes: what happened, one line for each project and minute, and the sessions of the day.

    - 14:30 **shop**: `auth.ts`, `middleware/jwt.ts`

    ## Sessions

    - 14:32 **shop**: [user authentication](../sessions/3f2a9c.md)
    - 15:10 **shop**: what does HTTP 418 mean? (session 8d01b2)

A session that left nothing behind has no note, and its line no link.

Lines that look otherwise are the owner's and stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

from memtool.text.lines import one_line
from memtool.vault.prose import LINK_TEXT, in_language, link, unescape

LABELS = {"daily": ("Daily", "日志"), "sessions": ("Sessions", "会话")}

_WHEN = r"^- (?P<minute>[0-2][0-9]:[0-5][0-9])(?: \*\*(?P<project>[^*\r\n]+)\*\*)?: "
_ENTRY = _WHEN + r"(?P<files>`[^`\r\n]+`(?:, `[^`\r\n]+`)*)(?=[ \t]*\r?$)"
_SESSION = _WHEN + rf"\[(?P<topic>{LINK_TEXT})\]\(\.\./(?P<ref>sessions/[^()\s/]+\.md)\)"
_BARE_SESSION = _WHEN + r"(?P<topic>[^\[\r\n][^\r\n]*) \((?P<ref>session [^()\s]+)\)(?=[ \t]*\r?$)"
_REST_OF_ITEM = r"[^\n]*(?:\n[ \t]+[^\s][^\n]*)*"  # its line, and what its owner wrote below it, indented
_SECTION = rf"^## (?:{'|'.join(LABELS['sessions'])})[ \t]*\r?$"
_LOWER_HEADING = r"^#{2,6} "
_CODE_FENCE = r"^[ \t]*(?P<fence>```|~~~)"
_FRONT_MATTER = r"\ufeff?---[ \t]*\r?\n(?:.*\n)*?---[ \t]*\r?\n"


class DailyEntry(NamedTuple):
    """The files that were edited in a project within one minute, such as `14:30`."""

    minute: str
    project: str
    files: tuple[str, ...]


class DailySession(NamedTuple):
    """A session that was last heard of at *minute*, and what it is about."""

    minute: str
    project: str
    session_id: str
    topic: str


def render_daily(
    day: date, entries: Iterable[DailyEntry] = (), sessions: Iterable[DailySession] = (), *, language: str = "en"
) -> str:
    """Return the daily note of *day*."""
    title = f"{in_language(LABELS, language)['daily']}: {day.isoformat()}"
    text = f"---\ntype: daily\ndate: {day.isoformat()}\n---\n\n# {title}\n\n"
    for entry in entries:
        text = add_entry(text, entry)
    for session in sessions:
        text = add_session(text, session, language=language)
    return text


def parse_daily(text: str) -> tuple[DailyEntry, ...]:
    """Return the entries of a daily note, in the order in which they stand."""
    return tuple(_entry(match) for match in _find_all(_ENTRY, text))


def listed_sessions(text: str) -> tuple[DailySession, ...]:
    """Return the sessions that a daily note lists; the id of each is the name of its note."""
    return tuple(
        DailySession(match["minute"], match["project"] or "", _stem(match["ref"]), unescape(match["topic"]))
        for match in _find_all(_SESSION, text)
    )


def add_entry(text: str, entry: DailyEntry) -> str:
    """Return *text* with *entry* in its place in time, or merged into the line of its project and minute.

    Every other byte is kept; an entry that says nothing new changes nothing.
    """
    entry = _clean(entry)
    entries = _find_all(_ENTRY, text)
    for match in entries:
        there = _entry(match)
        if (there.minute, there.project) == (entry.minute, entry.project):
            merged = there._replace(files=tuple(dict.fromkeys(there.files + entry.files)))
            return text if merged == there else text[: match.start()] + _line(merged) + text[match.end() :]
    if not entry.files:
        return text
    if entries:
        return _insert_in_time(text, _line(entry), entry.minute, entries)
    heading = _find_outside_code(_LOWER_HEADING, text)
    return _insert_first_entry(text, _line(entry), heading.start() if heading else len(text))


def add_session(text: str, session: DailySession, *, has_note: bool = True, language: str = "en") -> str:
    """Return *text* with *session* in its place in time in the list of sessions, instead of the line it had there.

    Every other byte is kept, such as what the owner wrote behind the link or, indented, below the line.
    """
    from memtool.vault.sessions import session_ref  # not for hooks, which add entries only

    ref = session_ref(session.session_id)
    bare_ref = f"session {_stem(ref)}"
    topic = one_line(session.topic) or _stem(ref)
    told = link(topic, f"../{ref}") if has_note else f"{topic.lstrip('[')} ({bare_ref})"
    line = _start(session.minute, _plain(session.project)) + told
    listed = _find_sessions(text)
    at = next((at for at, match in enumerate(listed) if match["ref"] in (ref, bare_ref)), None)
    if at is None:
        if listed:
            return _insert_in_time(text, line, session.minute, listed)
        return _insert_first_session(text, line, in_language(LABELS, language)["sessions"])
    own = listed[at]
    around = [session.minute if match is own else match["minute"] for match in listed[max(0, at - 1) : at + 2]]
    if around == sorted(around):
        return text[: own.start()] + line + text[own.end() :]
    end = _end_of_item(text, own)
    without = text[: own.start()] + text[text.find("\n", end) + 1 or len(text) :]
    return _insert_in_time(without, line + text[own.end() : end], session.minute, _find_sessions(without))


def _find_sessions(text: str) -> list[re.Match[str]]:
    """Return the lines of sessions with a note and without, in order."""
    return sorted([*_find_all(_SESSION, text), *_find_all(_BARE_SESSION, text)], key=lambda match: match.start())


def _find_all(pattern: str, text: str) -> list[re.Match[str]]:
    return list(re.finditer(pattern, text, re.MULTILINE))


def _find_outside_code(pattern: str, text: str) -> re.Match[str] | None:
    """Return the first match below the front matter that is not within fenced code."""
    matter = re.match(_FRONT_MATTER, text)
    in_code = False
    for match in re.compile(f"{_CODE_FENCE}|{pattern}", re.MULTILINE).finditer(text, matter.end() if matter else 0):
        if match["fence"]:
            in_code = not in_code
        elif not in_code:
            return match
    return None


def _insert_in_time(text: str, item: str, minute: str, others: Sequence[re.Match[str]]) -> str:
    """Return *text* with *item* behind the last of *others* that is not later, else before the first."""
    newline = _newline(text)
    earlier = [match for match in others if match["minute"] <= minute]
    if not earlier:
        return text[: others[0].start()] + item + newline + text[others[0].start() :]
    end = text.find("\n", _end_of_item(text, earlier[-1])) + 1
    return text[:end] + item + newline + text[end:] if end else text + newline + item + newline


def _insert_first_entry(text: str, line: str, at: int) -> str:
    """Return *text* with *line* at its end, or above the heading at *at*: what stands there is not about edits."""
    newline = _newline(text)
    if at == len(text):
        return text + ("" if text.endswith("\n") or not text else newline) + line + newline
    return text[:at] + _gap(text[:at]) + line + newline + newline + text[at:]


def _insert_first_session(text: str, line: str, title: str) -> str:
    """Return *text* with *line* in the section of sessions, which is made at the end if there is none."""
    newline = _newline(text)
    heading = _find_outside_code(_SECTION, text)
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
    return _newline(text) * max(0, missing)


def _end_of_item(text: str, match: re.Match[str]) -> int:
    rest = re.compile(_REST_OF_ITEM).match(text, match.end())
    end = rest.end() if rest else match.end()
    return end - 1 if text[end - 1] == "\r" else end


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _stem(ref: str) -> str:
    return ref.removeprefix("sessions/").removesuffix(".md")


def _entry(match: re.Match[str]) -> DailyEntry:
    return DailyEntry(match["minute"], match["project"] or "", tuple(match["files"][1:-1].split("`, `")))


def _line(entry: DailyEntry) -> str:
    return _start(entry.minute, entry.project) + ", ".join(f"`{name}`" for name in entry.files)


def _start(minute: str, project: str) -> str:
    return f"- {minute} **{project}**: " if project else f"- {minute}: "


def _clean(entry: DailyEntry) -> DailyEntry:
    names = (one_line(name).replace("`", "'") for name in entry.files)
    return DailyEntry(entry.minute, _plain(entry.project), tuple(dict.fromkeys(name for name in names if name)))


def _plain(project: str) -> str:
    return one_line(project).replace("*", "").strip()
