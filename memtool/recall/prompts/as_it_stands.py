"""Memories as their files say them now: the index that found them may be older, and what was forgotten is not said.

A file that the index knows as it is speaks for all hits in it. In any other one, a fact is looked up by its id, and a
note by the passage that was found in it.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from memtool.errors import OutsideVault
from memtool.named_tuple import NamedTuple
from memtool.recall.prompts.evidence import Recalled
from memtool.recall.prompts.passages import passages
from memtool.vault.authors import is_past
from memtool.vault.files import KnownStamp, content_hash, is_suspect, read_head
from memtool.vault.layout import is_facts_file, is_outside
from memtool.vault.marks import is_unsolved
from memtool.vault.session_names import note_of
from memtool.workspace import Workspace

if TYPE_CHECKING:
    from memtool.index.tables import Tables
    from memtool.text.json_places import JsonItem

_LARGEST = 10_485_760  # bytes of a file that are read: as many as are indexed, unless the settings say otherwise
_MOST_CHANGED = 2_097_152  # bytes of changed files that a prompt has time to look through, the best hits first
_HEAD = 4_096  # bytes of a note in which its summary stands, and the session that wrote it

_BEGINNING = 4_096  # characters of a line that tell what sort of line it is
_MOST_PLACES = 20  # at which a passage is looked at


def as_they_stand(hits: Iterable[Recalled], db: Tables, work: Workspace, session_id: str) -> list[Recalled]:
    """Return those of *hits* that still stand in their files and come from elsewhere, as their files word them now.

    *db* is the index that found them; what the session *session_id* wrote itself is no news to it. Each file
    is read once. What was found by its title only gets a `summary`.
    """
    own = note_of(work.vault, session_id) if session_id else ""
    by_ref: dict[str, list[Recalled]] = {}
    for hit in hits:
        if hit.ref != own:
            by_ref.setdefault(hit.ref, []).append(hit)
    known = _known(db, list(by_ref))
    standing: list[Recalled] = []
    room = _MOST_CHANGED
    for ref, found in by_ref.items():
        file = _read(ref, work)
        if file is None:
            continue
        if file.matches(known.get(ref)):
            standing += _told(found, file, session_id)
        elif len(file.content) <= room:
            room -= len(file.content)
            standing += _told(_looked_up(ref, found, file, work.now()), file, session_id)
    return standing


def current_note(ref: str, work: Workspace, session_id: str) -> str:
    """Return the text of the note *ref* as it is; empty if it is gone, out of use, or by the session *session_id*."""
    file = _read(ref, work)
    if file is None or (session_id and session_id.encode("utf-8", "replace") in file.content[:_HEAD]):
        return ""
    text = file.content.decode("utf-8-sig", "replace")
    return text if _is_in_use(text, work.now()) else ""


class _IndexedFile(NamedTuple):
    """A file, as the index knows it."""

    stamp: KnownStamp
    hash: str


class _FileNow(NamedTuple):
    """A file, as it is."""

    stamp: tuple[int, int]
    content: bytes

    def matches(self, known: _IndexedFile | None) -> bool:
        """Return whether it is what is *known*. As a rule its stamp says so, and hashing is not even imported."""
        if known is None:
            return False
        return not is_suspect(known.stamp, self.stamp) or content_hash(self.content) == known.hash


def _known(db: Tables, refs: Sequence[str]) -> dict[str, _IndexedFile]:
    marks = ", ".join("?" * len(refs))
    rows = db.execute(f"SELECT ref, hash, size, mtime_ns, read_at_ns FROM note WHERE ref IN ({marks})", refs)  # noqa: S608
    return {ref: _IndexedFile(KnownStamp(*stamp), digest) for ref, digest, *stamp in rows}


def _looked_up(ref: str, hits: list[Recalled], file: _FileNow, now: dt.datetime) -> list[Recalled]:
    text = file.content.decode("utf-8-sig", "replace")
    return list((_facts_now if is_facts_file(ref) else _notes_now)(hits, text, now))


def _told(hits: list[Recalled], file: _FileNow, session_id: str) -> list[Recalled]:
    """Return what of *hits* is news to the session, with a summary where it is needed, and with a fact's mark."""
    session = session_id.encode("utf-8", "replace")
    if session and session in file.content:
        lines = file.content.split(b"\n")
        hits = [hit for hit in hits if not _is_by(session, hit, file.content, lines)]
    if hits and is_facts_file(hits[0].ref):
        lines = file.content.split(b"\n")
        return [hit._replace(review=_mark(lines[hit.first_line - 1 : hit.last_line])) for hit in hits]
    head = file.content[:_HEAD].decode("utf-8-sig", "ignore")  # the last character may be half
    return [hit if hit.text else _summed_up(hit, head) for hit in hits]


def _mark(lines: Sequence[bytes]) -> str:
    """Return why the fact on *lines* is to be looked at again; empty if it is not, or is not alone there."""
    text = b"\n".join(lines).decode("utf-8", "replace")
    match = re.search(r'"review"\s*:\s*("(?:[^"\\]|\\.)*")', text) if text.count('"fact"') == 1 else None
    with suppress(ValueError):
        return str(json.loads(match[1])) if match else ""
    return ""


def _read(ref: str, work: Workspace) -> _FileNow | None:
    """Return a file as it is; None if it is gone, or nothing that may be read."""
    with suppress(OSError, ValueError, OutsideVault):
        path = _path(ref, work)
        if path is not None:
            about = path.stat()
            content = read_head(path, _LARGEST)
            is_whole = len(content) == about.st_size
            if not is_unsolved(content, is_whole=is_whole):
                return _FileNow((about.st_size, about.st_mtime_ns), content)
    return None


def _path(ref: str, work: Workspace) -> Path | None:
    return work.outside.path_of(ref) if is_outside(ref) else work.vault.path(ref)


def _is_by(session: bytes, hit: Recalled, content: bytes, lines: Sequence[bytes]) -> bool:
    """Return whether *session* is named where *hit* stands, or at the head of its note."""
    head = b"" if is_facts_file(hit.ref) else content[:_HEAD]
    return session in head or any(session in line for line in lines[hit.first_line - 1 : hit.last_line])


def _facts_now(hits: Iterable[Recalled], text: str, now: dt.datetime) -> Iterator[Recalled]:
    """Give what is still true of *hits*, worded as in the facts file *text*."""
    from memtool.text.json_places import parse_list

    try:
        items = [item for item in parse_list(text, "facts").items if _holds(item.value, now)]
    except ValueError:  # it is broken; doctor says so
        return
    by_id = {item.value["id"]: item for item in items if isinstance(item.value.get("id"), str)}
    for hit in hits:
        item = by_id.get(hit.fact_id) if hit.fact_id else _without_id(items, hit.text)
        if item:
            said = item.value["fact"] if hit.fact_id else hit.text
            yield hit._replace(text=said, first_line=item.place.start_line, last_line=item.place.end_line)


def _without_id(items: Iterable[JsonItem], text: str) -> JsonItem | None:
    nameless = (item for item in items if not item.value.get("id"))
    return next((item for item in nameless if text in " ".join(_words_of(item.value))), None)


def _words_of(fact: Mapping[str, Any]) -> list[str]:
    """Return the words that the index knows a fact by."""
    return f"{fact['fact']} {fact.get('evidence', '')}".split()


def _holds(fact: Any, now: dt.datetime) -> bool:  # noqa: ANN401  (whatever stands in a file of somebody's)
    if not isinstance(fact, dict) or not isinstance(fact.get("fact"), str) or fact.get("status", "active") != "active":
        return False
    expires = fact.get("expires")
    return not (isinstance(expires, str) and is_past(expires, now))


def _notes_now(hits: Iterable[Recalled], text: str, now: dt.datetime) -> Iterator[Recalled]:
    """Give those of *hits* whose passage, or else whose title, still stands in the note *text*, with its lines."""
    if not _is_in_use(text, now):
        return
    lines = text.split("\n")
    for hit in hits:
        title = hit.title if _is_titled(hit, text) else ""
        found = _place(hit, lines) if hit.text else (1, 1) if title else None
        if found:
            yield hit._replace(title=title, first_line=found[0], last_line=found[1])


def _is_in_use(text: str, now: dt.datetime) -> bool:
    matter, _ = _parted(text)
    status = _field(matter, "status").partition(" ")[0].strip("\"'")  # a comment may follow
    is_private = _field(matter, "search").casefold() in {"false", "no", "off"}
    is_over = status.casefold() in {"superseded", "archived"} or is_past(_field(matter, "expires"), now)
    return not (is_private or is_over)


def _is_titled(hit: Recalled, text: str) -> bool:
    return hit.title in text or hit.title == PurePosixPath(hit.ref).stem


def _place(hit: Recalled, lines: Sequence[str]) -> tuple[int, int] | None:
    """Return the first and the last of the *lines* on which the passage of *hit* stands; None if it is gone."""
    plain = [" ".join(line.split()) for line in lines]
    starts = list(accumulate((len(line) + 1 for line in plain), initial=0))
    text, wanted = " ".join(plain), " ".join(hit.text.split())
    at = text.find(wanted)
    for _ in range(_MOST_PLACES):
        if at < 0:
            break
        first, end = bisect(starts, at), bisect(starts, at + len(wanted) - 1)
        if passages("\n".join(lines[first - 1 : end])[:_BEGINNING], hit.kind):  # an item may have been done since
            return first, end
        at = text.find(wanted, at + 1)
    return None


def _summed_up(hit: Recalled, text: str) -> Recalled:
    """Return *hit* with what its note, which begins with *text*, says about itself.

    That is the summary in its front matter or its first sentence.
    """
    matter, body = _parted(text)
    told = _field(matter, "summary") or _field(matter, "description")
    return hit._replace(summary=told or next((passage.text for passage in passages(body, hit.kind)), ""))


def _parted(text: str) -> tuple[str, str]:
    """Return the front matter and the body of a note."""
    matter, _, rest = text.partition("\n---") if text.startswith("---") else ("", "", f"\n{text}")
    return matter, rest.partition("\n")[2]


def _field(matter: str, name: str) -> str:
    """Return a field of front matter as one line. By yaml it would take longer than all else that a hook does."""
    found = re.findall(rf"^{name}:(.*(?:\n[ \t]+.*)*)", matter, re.MULTILINE)
    value = " ".join(found[-1].split()) if found else ""
    return re.sub(r"^[|>][+-]? ", "", value).strip("\"'")
