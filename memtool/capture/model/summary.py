"""The summary of a session by a model, where one is set up."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from memtool.capture.model.answer import parse_summary
from memtool.capture.model.request import summary_request
from memtool.capture.summary import Summary
from memtool.capture.turns import Turn
from memtool.llm import EXTRACTIVE, Answer
from memtool.llm.chain import Chain, Clock
from memtool.llm.ledger import CallLog
from memtool.redaction import make_redactor
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
        """The provider that wrote the summary; empty if none did."""
        return self.answer.provider if self.answer else ""

    @property
    def reason(self) -> str:
        """Why there is no summary; empty also where no model is set up."""
        return "" if self.summary else "; ".join(self.reasons)


def summarise_with_model(turns: Sequence[Turn], settings: Settings, vault: Vault, now: datetime) -> ModelSummary:
    """Return what the first model of `settings.llm.providers` that answers well makes of *turns*.

    *turns* are redacted already; the answer is, once more.
    """
    if settings.llm.providers[:1] in ((), (EXTRACTIVE,)):
        return ModelSummary(None, None, (), may_pass=False)
    code = secrets.token_hex(8)
    redact = make_redactor(settings.redact)
    language = settings.general.language

    def accept(text: str) -> Summary:
        return parse_summary(text, turns, language=language, code=code, redact=redact)

    chain = Chain(settings.llm, settings.keys, CallLog(vault, settings.llm.daily_tokens), Clock(lambda: now))
    outcome = chain.complete(summary_request(turns, language=language, code=code), accept, purpose=PURPOSE)
    return ModelSummary(outcome.value, outcome.answer, outcome.reasons, outcome.may_pass)
