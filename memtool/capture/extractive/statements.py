"""Everything that was said in a session, as single statements that could stand in its note."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from memtool.capture.conversation import Step
from memtool.capture.extractive.compaction import Section, sections_of
from memtool.capture.extractive.cues import cues_of, heading_cue, is_small_talk
from memtool.capture.extractive.passages import LONGEST_PROMPT, LONGEST_TEXT, Passage, passages
from memtool.capture.extractive.sentences import width

# Where a statement was made: typed by the user; the session's last answer; a turn's last answer; an answer in between;
# a helper's result; the client's own summary.
USER, LAST, FINAL, MIDDLE, HELPER, CLIENT = "user", "last", "final", "middle", "helper", "client"

MOST_READ = 250_000  # characters of all that was said

NARROWEST, WIDEST = 14, 420  # columns of a statement; longer ones are no sentences
NAMED = 26  # columns of a statement whose heading may say what it is
NAMELESS = 26  # columns of a statement that announces a cause without naming it
_LEAD = re.compile(
    r"""(?:
      (?:and|but|so|also|however|then|additionally|finally|note\ that|note|important|great|good|nice|ok|okay|yes|done
        |completed|summary|tl;dr|注意|备注|備注|另外|此外|不过|但是|因此|所以|而且|同时|最后|已完成|完成|总结|搞定|好的
        |さらに|また|なお|그리고|하지만|또한)
      (?:\s*[,，:：、]\s*|\s[—–-]\s+)
    )+""",
    re.IGNORECASE | re.VERBOSE,
)
_OUR_MARKS = re.compile(r"^(?:\[(?:decision|bugfix|feature|refactor|discovery|change)\]\s*)+", re.IGNORECASE)
_TAGS = re.compile(r"(?:\s#[^\s#]+)+$")
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,30}\b(?:previous|prior|above|earlier)\b|忽略(?:之前|以上|上面)", re.IGNORECASE
)
_QUOTES = "\"'“”「」"
_REDACTED = re.compile(r"\[redacted: [\w-]{1,40}\]")
_PROSE = re.compile(r"[^\W\d_]{2,}")
_PAST = {"change", "fix", "refactor"}  # under a heading that says so, nothing is open


class Statement(NamedTuple):
    """One sentence of the session.

    Args:
        text: plain, on one line, at most WIDEST columns.
        cues: what it shows itself to be.
        source: where it was made.
        step: the number of the step that holds it.
        turn: the number of the turn, counted by prompts.
        item: whether it is an item of a list.
        codes: how many code spans it held.
        checked: of a task list's item, whether it is ticked.
        nested: whether the item is part of another.
    """

    text: str
    cues: frozenset[str]
    source: str
    step: int
    turn: int
    item: bool = False
    codes: int = 0
    checked: bool | None = None
    nested: bool = False

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return self.text.endswith(("?", "？", "吗", "嗎"))


def statements_of(steps: Sequence[Step]) -> list[Statement]:
    """Return the statements of a session, in order; of a very long one those of the steps that matter most."""
    sources = _sources(steps)
    read = _within_reach(steps, sources)
    found: list[Statement] = []
    turn = 0
    for at, step in enumerate(steps):
        turn += step.kind == "prompt"
        if at not in read:
            continue
        if sources[at] == CLIENT:
            found += _client_statements(step.text, at, turn)
        else:
            found += _statements(passages(step.text, _longest(sources[at])), sources[at], at, turn)
    return found


def cleaned(text: str) -> str:
    """Return a sentence without words that only tie it to the one before, and without marks of our own format."""
    text = _TAGS.sub("", _OUR_MARKS.sub("", text))
    if lead := _LEAD.match(text):
        rest = text[lead.end() :]
        text = rest[:1].upper() + rest[1:]
    text = text.strip(" -–—•·*").rstrip("。.").strip()
    return text.strip(_QUOTES) if text[:1] in _QUOTES else text


def is_sentence(text: str) -> bool:
    """Return whether *text* says something by itself: it has words, is no log line, no order to a reader."""
    if (
        text.startswith(("(", "（"))
        or not NARROWEST <= width(text) <= WIDEST
        or is_small_talk(text)
        or _ORDERS.search(text)
    ):
        return False
    text = _REDACTED.sub("", text)
    words = _PROSE.findall(text)
    return len(words) > 2 or (not text.isascii() and len(text) >= NARROWEST // 2)


def _sources(steps: Sequence[Step]) -> dict[int, str]:
    """Return where each step's statements are made, without steps that say nothing and all summaries but the last."""
    spoken = {at: step.kind for at, step in enumerate(steps) if step.kind != "tool" and step.text.strip()}
    named = {"prompt": USER, "answer": MIDDLE, "subagent": HELPER, "compaction": ""}
    sources = {at: named[kind] for at, kind in spoken.items()}
    finals = _finals(spoken.items())
    sources.update(dict.fromkeys(finals, FINAL))
    sources.update(dict.fromkeys(finals[-1:], LAST))
    summaries = [at for at, kind in spoken.items() if kind == "compaction"]
    sources.update(dict.fromkeys(summaries[-1:], CLIENT))
    return {at: source for at, source in sources.items() if source}


def _finals(spoken: Iterable[tuple[int, str]]) -> list[int]:
    """Return the steps that are a turn's last answer."""
    finals, held = list[int](), -1
    for at, kind in spoken:
        if kind == "answer":
            held = at
        elif kind == "prompt" and held >= 0:
            finals.append(held)
            held = -1
    return finals if held < 0 else [*finals, held]


def _within_reach(steps: Sequence[Step], sources: dict[int, str]) -> frozenset[int]:
    """Return the steps to read: what the user said and how turns ended before all else, late ones before early ones."""
    order = sorted(sources, key=lambda at: (sources[at] in {HELPER, MIDDLE}, sources[at] not in {LAST, CLIENT}, -at))
    lengths = accumulate(min(len(steps[at].text), _longest(sources[at])) for at in order)
    return frozenset(at for at, length in zip(order, lengths, strict=True) if length <= MOST_READ)


def _longest(source: str) -> int:
    return LONGEST_PROMPT if source == USER else LONGEST_TEXT


def _client_statements(text: str, at: int, turn: int) -> Iterator[Statement]:
    for section in sections_of(text):
        if section.kind in {"open", "fix", "discovery", "user"}:
            source = USER if section.kind == "user" else CLIENT
            for statement in _statements(_told(section), source, at, turn):
                yield statement if source == USER else statement._replace(cues=statement.cues | {section.kind})


def _told(section: Section) -> Iterator[Passage]:
    if section.kind == "fix":
        return map(_with_lead, passages(section.text, whole_items=True))
    return passages(section.text)


def _with_lead(passage: Passage) -> Passage:
    """Return what was done about an error together with the error that it stands under."""
    lead = passage.heading.rpartition("\n")[2]
    return passage._replace(text=f"{lead}: {passage.text}") if lead and passage.nested else passage


def _statements(said: Iterable[Passage], source: str, at: int, turn: int) -> Iterator[Statement]:
    announcer: str | None = None
    for passage in said:
        text = cleaned(passage.text)
        cues = cues_of(text)
        if "discovery" in cues and width(text) < NAMELESS:
            announcer = passage.heading  # "Found it." speaks of what follows
        elif is_sentence(text):
            if source != USER:
                cues = _in_place(cues, passage, text)
            if announcer == passage.heading and width(text) >= NAMED:
                cues |= {"discovery"}
            announcer = None
            yield Statement(text, cues, source, at, turn, passage.item, passage.codes, passage.checked, passage.nested)


def _in_place(cues: frozenset[str], passage: Passage, text: str) -> frozenset[str]:
    """Return *cues* with what the heading says of the passage."""
    under = heading_cue(passage.heading)
    if not under or (under in {"options", "open"} and not passage.item) or (under != "open" and width(text) < NAMED):
        return cues
    return (cues - {"open"} if under in _PAST else cues) | {under}
