"""The summary of a session by a model, where one is set up."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import NamedTuple

from memtool.capture.conversation import Conversation
from memtool.capture.model.answer import parse_summary
from memtool.capture.model.excerpt import LIMIT
from memtool.capture.model.prompt import summary_request
from memtool.capture.summary import Summary
from memtool.llm import EXTRACTIVE, Answer
from memtool.llm.chain import Chain, Clock
from memtool.llm.ledger import Ledger
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
        """Who wrote the summary; empty if nobody did."""
        return self.answer.provider if self.answer else ""

    @property
    def reason(self) -> str:
        """Why there is no summary; empty also where no model is set up."""
        return "" if self.summary else "; ".join(self.reasons)


def summarise_with_model(
    conversation: Conversation, settings: Settings, vault: Vault, now: datetime, *, limit: int = LIMIT
) -> ModelSummary:
    """Return what the first model of `settings.llm.providers` that answers well makes of *conversation*.

    *limit* is how many characters of it a model is shown. *conversation* is redacted already; the answer is, once more.
    """
    if settings.llm.providers[:1] in ((), (EXTRACTIVE,)):
        return ModelSummary(None, None, (), may_pass=False)
    code = secrets.token_hex(8)
    redact = make_redactor(settings.redact)
    language = settings.general.language

    def accept(text: str) -> Summary:
        return parse_summary(text, conversation, language=language, code=code, redact=redact)

    chain = Chain(settings.llm, settings.keys, Ledger(vault, settings.llm.daily_tokens), Clock(lambda: now))
    request = summary_request(conversation, language=language, code=code, limit=limit)
    outcome = chain.complete(request, accept, purpose=PURPOSE)
    return ModelSummary(outcome.value, outcome.answer, outcome.reasons, outcome.may_pass)
