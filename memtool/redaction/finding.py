"""Findings of the rules: from where to where, and of which kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Finding(NamedTuple):
    """A piece of a text that goes. An empty *kind* is no secret and leaves a space."""

    start: int
    end: int
    kind: str

    @property
    def marker(self) -> str:
        """The text that takes its place."""
        return f"[redacted: {self.kind}]" if self.kind else " "


def merge(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings from left to right, with those that overlap as one.

    Its kind is that of the earliest in *findings*: exact rules come first.
    """
    merged: list[tuple[int, Finding]] = []
    for rank, finding in sorted(enumerate(findings), key=lambda ranked: ranked[1].start):
        if not merged or finding.start >= merged[-1][1].end:
            merged.append((rank, finding))
            continue
        other_rank, other = merged[-1]
        kind = other.kind if other_rank < rank else finding.kind
        merged[-1] = (min(rank, other_rank), Finding(other.start, max(other.end, finding.end), kind))
    return [finding for _, finding in merged]


def replace(text: str, findings: Sequence[Finding]) -> str:
    """Return *text* with a marker for each of the merged *findings*."""
    pieces, end = [], 0
    for finding in findings:
        pieces += [text[end : finding.start], finding.marker]
        end = finding.end
    return "".join(pieces) + text[end:]
