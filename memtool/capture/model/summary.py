"""The summary of a session by a model, where one is set up."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from memtool.capture.summary import Summary
from memtool.capture.turns import Turn
from memtool.llm import Answer
from memtool.settings import Settings
from memtool.vault.layout import Vault

PURPOSE = "summary"


class ModelSummary(NamedTuple):
    """A summary with the answer that it was read from; or None, and why: *may_pass* if a later try may succeed."""

    summary: Summary | None
    answer: Answer | None
    reasons: tuple[str, ...]
    may_pass: bool

    @property
    def provider(self) -> str:
        """Who wrote the summary; empty if nobody did."""
        return self.answer.provider if self.answer else ""

    @property
    def reason(self) -> str:
        """Why there is no summary; empty also where no model is set up."""
        return "" if self.summary else "; ".join(self.reasons)


def summarise_with_model(turns: Sequence[Turn], settings: Settings, vault: Vault, now: datetime) -> ModelSummary:
    """Return what a model makes of *turns*."""
    return ModelSummary(None, None, (), may_pass=False)
