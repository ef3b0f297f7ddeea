"""Who wrote the last notes of sessions; and where a model was to write and did not, why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from heapq import nlargest
from typing import NamedTuple

from memtool.doctor.check import NOTE, OK, Check
from memtool.llm import models_of, writer_of
from memtool.llm.call_log import ModelCall, calls_of
from memtool.llm.writers import NOTES, USUAL_TOKENS
from memtool.text.frontmatter import plain_fields, split_front_matter
from memtool.text.lines import counted
from memtool.vault.files import read_head
from memtool.vault.layout import Vault
from memtool.vault.session_names import FOLDER
from memtool.workspace import Workspace

_LAST = 10  # notes
_LOOKED_INTO = 500  # notes, those of the newest files: a clone may have made all of them at once
_HEAD = 4_096  # bytes of a note
_RULES = ("rules", "extractive")


class _WrittenNote(NamedTuple):
    """A note of a session: when it was written last, and by whom."""

    at: str
    writer: str


def writer_checks(work: Workspace, stamps: Mapping[str, tuple[int, int]]) -> Iterator[Check]:
    """Give a finding on who wrote the last notes among the files of the vault with these *stamps*."""
    refs = (ref for ref in stamps if ref.startswith(FOLDER) and ref.endswith(".md"))
    newest = nlargest(_LOOKED_INTO, refs, key=lambda ref: (stamps[ref][1], ref))
    last = sorted(_notes(work.vault, newest), reverse=True)[:_LAST]
    if not last:
        return
    counts = Counter(_called(note.writer) for note in last)
    by_whom = ", ".join(f"{count} by {name}" for name, count in counts.most_common())
    notes = counted(len(last), "session note") if len(last) > 1 else "session note"
    sentence = f"the last {notes}: {by_whom}"
    writer = writer_of(work.settings.llm)
    if not writer:
        how = "" if work.settings.llm.writer else "; `memtool config set llm.writer claude` lets a model write them"
        yield Check("writer", OK, sentence + how)
    elif last[0].writer not in (*_RULES, ""):
        yield Check("writer", OK, sentence)
    else:
        why, fix = _why_not(work)
        yield Check("writer", NOTE, f"{sentence}; {writer} did not write the last one: {why}", fix)


def _notes(vault: Vault, refs: Iterable[str]) -> Iterator[_WrittenNote]:
    for ref in refs:
        with suppress(OSError):
            matter, _ = split_front_matter(read_head(vault.root / ref, _HEAD).decode("utf-8", "replace"))
            fields = plain_fields(matter or "")
            if fields.get("type") == "session":
                yield _WrittenNote(fields.get("updated") or fields.get("date", ""), fields.get("writer", ""))


def _called(writer: str) -> str:
    if writer in _RULES:
        return "memtool's rules"
    return {"agent": "the agent that worked", "": "an unnamed writer"}.get(writer, writer)


def _why_not(work: Workspace) -> tuple[str, str]:
    """Return why no model wrote, as far as the ledger of its calls knows, and what can be done."""
    calls, limit = calls_of(work.vault), work.settings.llm.daily_tokens
    today = work.now().date().isoformat()
    spent = sum(call.input_tokens + call.output_tokens for call in calls if call.at[:10] == today)
    if limit and spent + USUAL_TOKENS[0] > limit:
        why = f"{spent:,} of the {limit:,} tokens of today are used up"
        return why, "Raise it with `memtool config set llm.daily_tokens NUMBER`, or wait for tomorrow."
    last = _last_of_notes(calls, models_of(work.settings.llm))
    if last is None:
        return "it was not asked yet; it is when a session ends", ""
    if last.failure:
        when = last.at[:16].replace("T", " ")
        return f"{last.provider} failed at {when}: {last.failure}", "`memtool doctor --deep` asks it for a word."
    return "it was not asked for that session, or not yet; see `memtool capture --status`", ""


def _last_of_notes(calls: Iterable[ModelCall], names: Iterable[str]) -> ModelCall | None:
    known = set(names)
    return next((call for call in reversed(list(calls)) if call.purpose == NOTES and call.provider in known), None)
