"""What a prompt is given: the few memories that matter to it, a line each, once."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from memtool.errors import MemtoolError
from memtool.recall.framing import defused, framed
from memtool.recall.ledger import Ledger
from memtool.recall.prompts.finding import find
from memtool.recall.prompts.question import Question
from memtool.recall.prompts.recalled import Recalled, score
from memtool.recall.prompts.topic import REMINDER, has_changed
from memtool.settings import RecallSettings
from memtool.vault.client_memory import client_memory_path
from memtool.vault.layout import Vault
from memtool.vault.sessions import session_ref

EVENT = "prompt"

# What finds memories. A service that has vectors at hand can stand in for `find`; a hook has words only.
Finder: TypeAlias = Callable[[sqlite3.Connection, Question, str, dt.date], list[Recalled]]
Uses: TypeAlias = Callable[[Sequence[str]], Mapping[str, int]]

_MOST_UNITS = 9_500  # UTF-16 code units; beyond 10,000 the client cuts what a hook says
_WIDTHS = (220, 150, 90)  # characters of what a memory says: the first with which all fit
_LONGEST_TITLE = 80
_HEAD = 4_096  # bytes of a note that are read for its summary, and for the session that wrote it


class Asked(NamedTuple):
    """A prompt, and who asks.

    Args:
        question: of the prompt.
        project: the area of the working folder; empty for none.
        session_id: what the session itself wrote is no news to it.
        shown_vault: the vault's folder, as the agent should see it.
        client_projects: where the client keeps its own memory files; None if nothing is read there.
    """

    question: Question
    project: str
    session_id: str
    today: dt.date
    shown_vault: str
    client_projects: Path | None = None


class Given(NamedTuple):
    """The block for a prompt, empty for silence; the ledger after it; the keys of what was given."""

    text: str
    ledger: Ledger
    keys: tuple[str, ...] = ()


class _Notes(NamedTuple):
    """What memories are read from, as it stands there now."""

    vault: Vault
    client_projects: Path | None

    def text_of(self, hit: Recalled) -> str:
        """Return the lines of a fact, or the head of a note; empty if they cannot be read."""
        try:
            with self._path(hit.ref).open("rb") as file:
                if not hit.fact_id:
                    return file.read(_HEAD).decode("utf-8", "replace")
                lines = [line for at, line in zip(range(hit.last_line), file, strict=False) if at >= hit.first_line - 1]
                return b"".join(lines).decode("utf-8", "replace")
        except (OSError, MemtoolError):
            return ""

    def _path(self, ref: str) -> Path:
        memory = client_memory_path(ref, self.client_projects) if self.client_projects else None
        return memory or self.vault.path(ref)


def memories_for_prompt(
    vault: Vault,
    db: sqlite3.Connection,
    asked: Asked,
    ledger: Ledger,
    settings: RecallSettings,
    uses: Uses,
    *,
    finder: Finder = find,
) -> Given:
    """Return what the prompt is given. *ledger* has counted its turn already; *db* is an open index."""
    notes = _Notes(vault, asked.client_projects)
    hits = finder(db, asked.question, asked.project, asked.today)
    hits = [hit for hit in hits if not _is_own(notes, hit, asked.session_id)]
    keys = [hit.key for hit in hits]
    reminds = has_changed(ledger, keys)
    limit = settings.later_prompts if ledger.given else settings.first_prompt
    fresh = [hit for hit in hits if not ledger.rests(hit.key) and not _stands_in(ledger.start, hit)]
    ledger = ledger.with_hits(keys)
    chosen = _best(fresh, uses, asked.today)[:limit]
    said = [(_saying(notes, hit), _source(hit)) for hit in chosen]
    room = min(settings.prompt_characters, _MOST_UNITS)
    text, count = _fitted(said, asked.shown_vault, REMINDER if reminds else "", room)
    if not count:
        return Given("", ledger)
    given = tuple(hit.key for hit in chosen[:count])
    ledger = ledger.with_given(given)
    return Given(text, ledger._replace(reminded=ledger.turn) if reminds else ledger, given)


def _best(hits: Iterable[Recalled], uses: Uses, today: dt.date) -> list[Recalled]:
    hits = list(hits)
    counts = uses([hit.key for hit in hits])
    scores = {hit.key: score(hit, age_days=_age(hit.date, today), uses=counts.get(hit.key, 0)) for hit in hits}
    return sorted(hits, key=lambda hit: (-scores[hit.key], hit.key))


def _age(date: str, today: dt.date) -> float | None:
    try:
        return float((today - dt.date.fromisoformat(date)).days)
    except ValueError:
        return None


def _is_own(notes: _Notes, hit: Recalled, session_id: str) -> bool:
    """Whether the session itself wrote *hit*: its own note, or what names it as its source."""
    if not session_id:
        return False
    return hit.ref == session_ref(session_id) or session_id in notes.text_of(hit)


def _stands_in(start: str, hit: Recalled) -> bool:
    return bool(hit.text) and defused(hit.text) in start


def _saying(notes: _Notes, hit: Recalled) -> str:
    """Return what *hit* says in one line: a fact its statement, a note its title and its passage or summary."""
    if hit.fact_id:
        return defused(hit.text)
    if hit.kind == "session":  # its title is only its id
        return defused(hit.text or _summary(notes.text_of(hit)) or hit.title)
    title = _cut(defused(hit.title), _LONGEST_TITLE)
    said = defused(hit.text or _summary(notes.text_of(hit)))
    if not said or said.casefold() in title.casefold():
        return title
    return said if title.casefold() in said.casefold() else f"{title}: {said}"


def _summary(head: str) -> str:
    matter = head.removeprefix("\ufeff").split("\n---", 1)[0] if head.lstrip("\ufeff").startswith("---") else ""
    lines = [line for line in matter.splitlines() if line.startswith(("summary:", "description:"))]
    return lines[0].partition(":")[2].strip().strip("\"'") if lines else ""


def _source(hit: Recalled) -> str:
    where = f"{hit.ref}:{hit.first_line}-{hit.last_line}"
    return defused(", ".join(filter(None, (hit.category, hit.date, where, hit.fact_id))))


def _fitted(said: list[tuple[str, str]], vault: str, reminder: str, room: int) -> tuple[str, int]:
    """Return the block, and how many memories are in it: all of them if that is possible at any width."""
    for width in _WIDTHS:
        lines = [f"- {_cut(text, width)} ({source})" for text, source in said]
        block = _block(lines, reminder, vault)
        if _units(block) <= room:
            return block, len(lines)
    while lines and _units(block) > room:
        lines.pop()
        block = _block(lines, reminder, vault)
    return block, len(lines)


def _block(lines: list[str], reminder: str, vault: str) -> str:
    if not lines:
        return ""
    return framed("\n".join([*lines, *filter(None, [reminder])]), event=EVENT, vault=vault)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "replace")) // 2
