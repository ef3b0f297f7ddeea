"""Memories as their files say them now: the index that found them may be older, and what was forgotten is not given.

A file that the index knows as it is speaks for all memories in it. In any other, a fact is looked up by its id, and a
note by the passage that was found in it.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from memtool.errors import MemtoolError, OutsideVault
from memtool.named_tuple import NamedTuple
from memtool.recall import limits
from memtool.recall.answers.statements import passages
from memtool.recall.prompts.finding import Recalled
from memtool.vault.files import KnownStamp, content_hash, is_suspect, read_head
from memtool.vault.layout import is_facts_file, is_outside
from memtool.vault.marks import is_unsolved
from memtool.vault.memory import Location, is_past
from memtool.workspace import Workspace

if TYPE_CHECKING:
    from memtool.index.tables import Tables


def still_said(hits: Iterable[Recalled], db: Tables, work: Workspace, session_id: str) -> list[Recalled]:
    """Return those of *hits* that their files still say, as they say it now, and that the session did not write itself.

    *db* is the index that found them. Each file is read once. What was found by its title only gets a `summary`.
    """
    by_ref: dict[str, list[Recalled]] = {}
    for hit in hits:
        by_ref.setdefault(hit.memory.path, []).append(hit)
    marks = ", ".join("?" * len(by_ref))
    rows = db.execute(f"SELECT ref, hash, size, mtime_ns, read_at_ns FROM note WHERE ref IN ({marks})", list(by_ref))  # noqa: S608
    known = {ref: (digest, KnownStamp(*stamp)) for ref, digest, *stamp in rows}
    found: list[Recalled] = []
    room = limits.LARGEST_CHANGED
    for ref, same in by_ref.items():
        file = _read(ref, work)
        if file is None:
            continue
        now = same
        if not (ref in known and file.matches(*known[ref])):
            room -= len(file.content)
            look_up = _facts_now if is_facts_file(ref) else _notes_now
            now = list(look_up(same, file.text(), work.now())) if room >= 0 else []
        found += _completed(now, file, session_id.encode("utf-8", "replace"))
    return found


def current_note(ref: str, work: Workspace, session_id: str) -> str:
    """Return the text of the note *ref* as it is; empty if it is gone, out of use, or by the session *session_id*."""
    file = _read(ref, work)
    if file is None or (session_id and session_id.encode("utf-8", "replace") in file.content[: limits.HEAD]):
        return ""
    return file.text() if _is_in_use(file.text(), work.now()) else ""


class _FileNow(NamedTuple):
    """A file as it is: its size and time of change, and its content."""

    stamp: tuple[int, int]
    content: bytes

    def matches(self, digest: str, stamp: KnownStamp) -> bool:
        """Return whether it is as the index knows it. As a rule its stamp says so, and hashing is not even imported."""
        return not is_suspect(stamp, self.stamp) or content_hash(self.content) == digest

    def text(self) -> str:
        return self.content.decode("utf-8-sig", "replace")


def _read(ref: str, work: Workspace) -> _FileNow | None:
    """Return a file as it is; None if it is gone, or nothing that may be read."""
    with suppress(OSError, ValueError, OutsideVault):
        path = work.outside.path_of(ref) if is_outside(ref) else work.vault.path(ref)
        if path is not None:
            about = path.stat()
            content = read_head(path, limits.LARGEST_FILE)
            if not is_unsolved(content, is_whole=len(content) == about.st_size):
                return _FileNow((about.st_size, about.st_mtime_ns), content)
    return None


def _completed(hits: Sequence[Recalled], file: _FileNow, session: bytes) -> Iterator[Recalled]:
    """Give those of *hits* that *session* did not write, notes with a summary where it is needed, facts with a mark."""
    lines = file.content.split(b"\n")
    head = file.content[: limits.HEAD]
    for hit in hits:
        is_fact, place = is_facts_file(hit.memory.path), hit.memory.place
        own = lines[place.start_line - 1 : place.end_line]
        if session and any(session in part for part in (own if is_fact else [head, *own])):
            continue
        if is_fact:
            yield hit._replace(review=_mark(b"\n".join(own).decode("utf-8", "replace")))
        else:
            # The last character of the head may be half.
            yield hit if hit.memory.text else _summed_up(hit, head.decode("utf-8-sig", "ignore"))


def _mark(text: str) -> str:
    """Return why the fact in *text* is to be looked at again; empty if it is not, or is not alone there."""
    match = re.search(r'"review"\s*:\s*("(?:[^"\\]|\\.)*")', text) if text.count('"fact"') == 1 else None
    with suppress(ValueError):
        return str(json.loads(match[1])) if match else ""
    return ""


def _facts_now(hits: Iterable[Recalled], text: str, now: dt.datetime) -> Iterator[Recalled]:
    """Give those of *hits* that the facts file *text* still holds as true, as it words them."""
    from memtool.vault.facts import parse_facts  # few prompts come here, and a hook is short

    with suppress(MemtoolError):  # it is broken; doctor says so
        file = parse_facts(text, "")
        living = [
            (fact, place)
            for fact, place in zip(file.facts, file.places, strict=True)
            if fact.status == "active" and not is_past(fact.expires, now)
        ]
        for hit in hits:
            memory = hit.memory
            same = (
                each
                for each in living
                if each[0].id == memory.fact_id and (each[0].id or memory.text in " ".join(each[0].fact.split()))
            )
            if found := next(same, None):
                place = Location(memory.path, found[1].start_line, found[1].end_line)
                said = found[0].fact if memory.fact_id else memory.text
                yield hit._replace(memory=memory._replace(text=said, place=place))


def _notes_now(hits: Iterable[Recalled], text: str, now: dt.datetime) -> Iterator[Recalled]:
    """Give those of *hits* whose passage, or else whose title, is still in the note *text*, with its lines."""
    if not _is_in_use(text, now):
        return
    lines = text.split("\n")
    for hit in hits:
        memory = hit.memory
        title = memory.title if memory.title in text or memory.title == PurePosixPath(memory.path).stem else ""
        found = _place(memory.text, memory.kind, lines) if memory.text else (1, 1) if title else None
        if found:
            yield hit._replace(memory=memory._replace(title=title, place=Location(memory.path, *found)))


def _place(passage: str, kind: str, lines: Sequence[str]) -> tuple[int, int] | None:
    """Return the first and the last of *lines* that hold *passage*; None if it is gone."""
    plain = [" ".join(line.split()) for line in lines]
    starts = list(accumulate((len(line) + 1 for line in plain), initial=0))
    wanted = re.escape(" ".join(passage.split()))
    for match in islice(re.finditer(wanted, " ".join(plain)), limits.MOST_PLACES):
        first, end = bisect(starts, match.start()), bisect(starts, match.end() - 1)
        if passages("\n".join(lines[first - 1 : end])[: limits.HEAD], kind):  # a task may have been done since
            return first, end
    return None


def _summed_up(hit: Recalled, text: str) -> Recalled:
    """Return *hit* with the summary of its note, which begins with *text*, or else its first sentence."""
    matter, body = _parted(text)
    summary = _field(matter, "summary") or _field(matter, "description")
    return hit._replace(summary=summary or next((each.text for each in passages(body, hit.memory.kind)), ""))


def _is_in_use(text: str, now: dt.datetime) -> bool:
    matter, _ = _parted(text)
    status = _field(matter, "status").partition(" ")[0].strip("\"'")  # a comment may follow
    is_private = _field(matter, "search").casefold() in {"false", "no", "off"}
    is_over = status.casefold() in {"superseded", "archived"} or is_past(_field(matter, "expires"), now)
    return not (is_private or is_over)


def _parted(text: str) -> tuple[str, str]:
    """Return the front matter and the body of a note."""
    matter, _, rest = text.partition("\n---") if text.startswith("---") else ("", "", f"\n{text}")
    return matter, rest.partition("\n")[2]


def _field(matter: str, name: str) -> str:
    """Return a field of front matter as one line. By yaml it would take longer than all else that a hook does."""
    found = re.findall(rf"^{name}:(.*(?:\n[ \t]+.*)*)", matter, re.MULTILINE)
    value = " ".join(found[-1].split()) if found else ""
    return re.sub(r"^[|>][+-]? ", "", value).strip("\"'")
