"""Records of what sessions were given, as fields for JSON and for pages: in the words that the vault has now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from memtool.index.engine import Index, place_of, use_index
from memtool.recall.given import START, GivenLine, Giving
from memtool.recall.given_now import SaidNow, evidence, reason, said_now, shared_words, terms_of
from memtool.workspace import Workspace


def told_now(work: Workspace, givings: Sequence[Giving]) -> Iterator[dict[str, Any]]:
    """Give the fields of each record, with what its lines say now, why each was given, and what was not.

    Raises:
        MemtoolError: the index cannot be read.
    """
    today = work.now().date()
    frequency = _frequency(work, terms_of(giving.prompt for giving in givings))

    def look(line: GivenLine) -> SaidNow | None:
        return said_now(work.vault, line, work.outside, today)

    for giving in givings:
        lines = [_fields(line, giving, look, frequency) for line in giving.lines]
        after = [_fields(line, giving, look, frequency) for line in giving.next]
        yield {
            "at": giving.at, "event": giving.event, "project": giving.project, "turn": giving.turn,
            "prompt": giving.prompt, "lines": [line for line in lines if line],
            "gone": sum(line is None for line in lines), "next": [line for line in after if line],
        }  # fmt: skip


def _frequency(work: Workspace, terms: Sequence[str]) -> dict[str, float]:
    """Return the share of the chunks of the vault that hold each of *terms*."""
    marks = ", ".join("?" * len(terms))
    query = f"SELECT term, doc FROM vocabulary WHERE term IN ({marks})"  # noqa: S608  (marks only)

    def look(index: Index) -> dict[str, float]:
        count = index.db.execute("SELECT count(*) FROM chunk").fetchone()[0] or 1
        return {term: number / count for term, number in index.db.execute(query, terms)}

    return use_index(place_of(work), look) if terms else {}


def _fields(
    line: GivenLine, giving: Giving, look: Callable[[GivenLine], SaidNow | None], frequency: dict[str, float]
) -> dict[str, Any] | None:
    """Return the fields of *line* for JSON; None if the vault holds it no more."""
    said = look(line)
    if said is None:
        return None
    fields = {"id": line.id, "text": said.text, "author": said.author, "path": line.ref, "line": line.line}
    if line.fact_id:
        fields["fact"] = line.fact_id
    if giving.event == START:
        return fields
    shared = shared_words(giving.prompt, said, frequency)
    fields |= {"relevance": line.relevance, "shared": list(shared), "evidence": dict(line.evidence)}
    fields["why"] = evidence(line, shared)
    return fields | ({"left_out": line.left_out, "because": reason(line)} if line.left_out else {})
