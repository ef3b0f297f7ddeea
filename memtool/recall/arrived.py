"""What became of the lines that a session was given: whether each arrived, and whether the agent used it.

The client's own transcript shows both, and is read when the session ends. A line ends with its short id, so where a
context that the client recorded holds the id, it holds the whole line. The agent used a line if, once it had arrived,
it named one of the line's files or identifiers that neither a prompt nor anything earlier in the session names. Of a
line without such a name nothing shows whether it was used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from memtool.capture import limits as capture_limits
from memtool.capture.queue import Job
from memtool.capture.transcript.forms import Transcript, form_of
from memtool.capture.transcript.record_fields import HOOK_CONTEXT, content_of, is_by_a_person, text_at, text_in
from memtool.capture.transcript.record_stream import Record, Tally, open_transcript
from memtool.clients import CLIENTS
from memtool.errors import MemtoolError
from memtool.recall import limits
from memtool.recall.given import GivenLine, Giving, read_givings
from memtool.recall.ledger import ledger_folder
from memtool.recall.uses import Fate, count_uses, keep_fates
from memtool.text.identifiers import names_in, stands
from memtool.vault.layout import session_name
from memtool.workspace import Workspace

CONTEXT, PERSON, AGENT, TOOL = "context", "person", "agent", "tool"

_SOURCE = re.compile(r" \([^()]*\d{4}-\d\d-\d\d[^()]*\)\Z")  # where a line stands, behind what it says
_SHORTEST = 3  # characters of a name
_NEVER = 1 << 62  # the number of a record that there is not


class Heard(NamedTuple):
    """One text of a transcript: the *number* of its record, *who* said it, and the text."""

    number: int
    who: str
    text: str


def look_back(work: Workspace, job: Job) -> None:
    """Count what became of the lines that the session of *job* was given, now that it has ended."""
    session = session_name(job.session_id)
    givings = read_givings(ledger_folder(work), session)
    if not any(giving.lines for giving in givings):
        return
    client = CLIENTS.get(job.client)
    keeps_transcript = client is None or bool(client.transcripts)
    with suppress(MemtoolError, OSError):  # the session is captured, whatever becomes of this
        fates = fates_of(givings, lambda: _heard(job)) if keeps_transcript else unknown_fates(givings)
        keep_fates(work.index_folder, session, givings[-1].at[:10], fates)
        used = {line.key: line.memory for giving in givings for line in giving.lines}
        count_uses(work.index_folder, (used[fate.key] for fate in fates if fate.used))


def fates_of(givings: Iterable[Giving], heard: Callable[[], Iterable[Heard]]) -> list[Fate]:
    """Return what became of the lines of *givings* in the session whose texts *heard* gives, in order. Pure."""
    contexts = [each for each in heard() if each.who == CONTEXT]
    lines = [_line(key, same, contexts) for key, same in _by_key(givings).items()]
    first = _first_sightings({name for line in lines for name in line.names | line.places}, heard())
    return [Fate(line.key, line.given, min(line.given, len(line.arrivals)), line.is_used(first)) for line in lines]


def unknown_fates(givings: Iterable[Giving]) -> list[Fate]:
    """Return what is known where no transcript of the client is: how often each line was given."""
    return [Fate(key, len(lines)) for key, lines in _by_key(givings).items()]


def _by_key(givings: Iterable[Giving]) -> dict[str, list[GivenLine]]:
    found: dict[str, list[GivenLine]] = {}
    for giving in givings:
        for line in giving.lines:
            found.setdefault(line.key, []).append(line)
    return found


def _line(key: str, same: Sequence[GivenLine], contexts: Iterable[Heard]) -> _Line:
    """Return the line that was given as all of *same*, with the beginning of it in each of *contexts* that holds it."""
    ids = "|".join(sorted({re.escape(line.id) for line in same}))
    ends = re.compile(rf"^(?:.*\] · )?(.*?) \[(?:{ids})[\] ]", re.MULTILINE)  # several may be on one line
    arrivals = tuple(each._replace(text=match[1]) for each in contexts if (match := ends.search(each.text)))
    places = frozenset(place.casefold() for line in same for place in (line.id, line.ref))
    return _Line(key, len(same), arrivals, _names(arrivals[0]) if arrivals else frozenset(), places)


def _names(arrival: Heard) -> frozenset[str]:
    """Return the files and identifiers that a line names, in small letters; a number by itself is said by chance."""
    said = (name.casefold() for name in names_in(_SOURCE.sub("", arrival.text)))
    return frozenset(name for name in said if len(name) >= _SHORTEST and not name.replace(".", "").isdigit())


def _first_sightings(names: Iterable[str], heard: Iterable[Heard]) -> dict[tuple[str, str], int]:
    """Return the number of the first record that holds each of *names*, by the name and by who says it."""
    first: dict[tuple[str, str], int] = {}
    for each in heard:
        text = each.text[: limits.LONGEST_TEXT].casefold() if each.who != CONTEXT else ""
        for name in names:
            if name in text and (name, each.who) not in first and stands(name, text):
                first[name, each.who] = each.number
    return first


class _Line(NamedTuple):
    """A line as it was given and as it arrived: its key, how often, and what would show that it was used."""

    key: str
    given: int
    arrivals: tuple[Heard, ...]
    names: frozenset[str]
    places: frozenset[str]  # its id and its note: to say one of them is to use it, not to say it means nothing

    def is_used(self, first: dict[tuple[str, str], int]) -> bool | None:
        """Return whether the agent used it, by the *first* sightings; None where nothing would show that."""
        if not self.arrivals:
            return None
        at = self.arrivals[0].number

        def is_first(name: str) -> bool:
            said = first.get((name, AGENT), _NEVER)
            return at < said < first.get((name, PERSON), _NEVER) and at < first.get((name, TOOL), _NEVER)

        def can_show(name: str) -> bool:
            said = first.get((name, AGENT), _NEVER)
            return at < min(said, first.get((name, TOOL), _NEVER)) and said <= first.get((name, PERSON), _NEVER)

        if any(map(is_first, self.names | self.places)):
            return True
        return False if any(map(can_show, self.names)) else None


def _heard(job: Job) -> Iterator[Heard]:
    """Give the texts of the transcript that *job* names.

    Raises:
        TranscriptUnreadable: it cannot be read.
    """
    path, tally = Path(job.transcript), Tally()
    with open_transcript(path) as file:
        form = form_of(file.read(capture_limits.HEAD_BYTES))
        file.seek(0)
        for number, record in enumerate(form.records(Transcript(path, file, tally, job.session_id, job.cwd)), 1):
            if who := _who(record):
                yield Heard(number, who, _text(record))


def _who(record: Record) -> str:
    """Return who says what is in *record*; empty where that is nobody, or a helper."""
    kind = text_at(record, "type")
    if record.get("isSidechain") is True:
        return ""
    if kind == "attachment":
        return CONTEXT if text_at(record, "attachment", "type") == HOOK_CONTEXT else ""
    if kind == "user":
        return PERSON if text_in(content_of(record)) and is_by_a_person(record) else TOOL
    return AGENT if kind == "assistant" else ""


def _text(record: Record) -> str:
    """Return all texts in the message or the context of *record*, on lines of their own."""
    attached = record.get("attachment")
    return "\n".join(_texts(attached.get("content") if isinstance(attached, dict) else content_of(record)))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
