"""The calls of models and their cost, in `.memtool/model-calls.jsonl`, and the budget of the day.

    {"id": "…", "at": "2026-02-10T14:30:00+08:00", "provider": "claude", "purpose": "summary", "input_tokens": 6000, …}

A line is written before a call, with an estimate, and one when it has ended, which replaces it. So a call that is
killed has been counted, two processes cannot both spend what is left, and without a ledger there is no call.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memtool.errors import MemtoolError, ProviderFailed, Unavailable
from memtool.llm import Answer, Request, Wasted
from memtool.settings.text_providers import Limits
from memtool.text.lines import counted
from memtool.vault.layout import Vault
from memtool.vault.state import append_state, read_state, write_state

FILE = "model-calls.jsonl"
MAX_BYTES = 1_000_000  # some 2,000 calls; then the oldest half goes, but nothing of the day

_MOST_READ = 16 * MAX_BYTES
_UNFINISHED = "it never ended"
NO_LIMITS = Limits()


class BudgetSpent(ProviderFailed):
    """The day's tokens are used up, or cannot be counted."""

    hint = "Raise llm.daily_tokens, or wait for tomorrow."


class ModelCall(NamedTuple):
    """One call of a model. *at* is local time; *failure* is empty if its answer was used."""

    id: str
    at: str
    provider: str
    purpose: str
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0
    failure: str = _UNFINISHED

    @property
    def day(self) -> str:
        """The day of the call, such as `2026-02-10`."""
        return self.at[:10]


class Usage(NamedTuple):
    """The calls of one provider in one day, such as `2026-02-10`. *cost_usd* sums the costs that are known."""

    day: str
    provider: str
    calls: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


class CallLog(NamedTuple):
    """The calls that are made for one vault, and how many tokens they may take in a day (0: as many as they like)."""

    vault: Vault
    daily_tokens: int

    def begin(
        self, provider: str, request: Request, purpose: str, at: datetime, limits: Limits = NO_LIMITS
    ) -> ModelCall:
        """Return the call that may now be made, counted by the estimate of its input.

        Raises:
            Unavailable: the *limits* of the provider allow no further call now.
            BudgetSpent: the day has not that many tokens left, or the ledger cannot be written.
        """
        call = ModelCall(
            os.urandom(6).hex(), at.isoformat(timespec="seconds"), provider, purpose, input_tokens=request.tokens
        )
        try:
            with self.vault.lock("model-calls", timeout=5):
                path = _path(self.vault)
                calls = _latest(_lines(path))
                self._check(call, calls, limits, at)
                append_state(path, _line_of(call))
                _shorten(path, call.day)
        except (BudgetSpent, Unavailable):
            raise
        except (OSError, MemtoolError) as error:
            hint = "Check the permissions of the vault's `.memtool` and the free space of the disk."
            raise BudgetSpent(f"the ledger of model calls cannot be kept: {error}", hint=hint) from None
        return call

    def _check(self, call: ModelCall, others: list[ModelCall], limits: Limits, at: datetime) -> None:
        """Refuse *call* where the *others* have used up the tokens of the day, or the *limits* of its provider."""
        today = [other for other in others if other.day == call.day]
        spent = sum(other.input_tokens + other.output_tokens for other in today)
        if self.daily_tokens and spent + call.input_tokens > self.daily_tokens:
            budget = f"{self.daily_tokens:,} tokens"
            raise BudgetSpent(f"the day's budget of {budget} is spent: {spent:,}, and this takes {call.input_tokens:,}")
        own = [other for other in others if other.provider == call.provider]
        ages = [(other, (at - datetime.fromisoformat(other.at)).total_seconds()) for other in own]
        counts = (  # a call that has not ended after two minutes was killed
            (limits.per_minute, "in the last minute", sum(age < 60.0 for _, age in ages)),
            (limits.per_day, "today", sum(other.day == call.day for other in own)),
            (limits.at_once, "at once", sum(other.failure == _UNFINISHED and age < 120.0 for other, age in ages)),
        )
        for most, when, count in counts:
            if most and count >= most:
                raise Unavailable(f"{call.provider} has had {counted(count, 'call')} {when}, which is its limit")

    def end(self, call: ModelCall, outcome: Answer | MemtoolError, seconds: float, failure: str = "") -> None:
        """Note how *call* ended: well, or with a *failure*. If that cannot be written, the estimate counts."""
        if isinstance(outcome, Answer | Wasted):
            model = outcome.model if isinstance(outcome, Answer) else ""
            tokens = (outcome.input_tokens, outcome.output_tokens, outcome.cost_usd)
        else:
            model, tokens = "", (0, 0, None)
        ended = ModelCall(*call[:4], model, *tokens, round(seconds, 3), failure[:300])
        with contextlib.suppress(MemtoolError, OSError), self.vault.lock("model-calls", timeout=5):
            append_state(_path(self.vault), _line_of(ended))


def calls_of(vault: Vault) -> list[ModelCall]:
    """Return the calls that are known, the oldest first."""
    try:
        return _latest(_lines(_path(vault)))
    except OSError:
        return []


def usage(vault: Vault) -> list[Usage]:
    """Return the calls and their cost per day and provider, the latest day first."""
    sums: dict[tuple[str, str], Usage] = {}
    for call in calls_of(vault):
        row = sums.get(key := (call.day, call.provider), Usage(*key, 0, 0, 0, 0, None))
        sums[key] = row._replace(
            calls=row.calls + 1,
            failed=row.failed + bool(call.failure),
            input_tokens=row.input_tokens + call.input_tokens,
            output_tokens=row.output_tokens + call.output_tokens,
            cost_usd=row.cost_usd if call.cost_usd is None else (row.cost_usd or 0.0) + call.cost_usd,
        )
    return sorted(sorted(sums.values(), key=lambda row: row.provider), key=lambda row: row.day, reverse=True)


def _path(vault: Vault) -> Path:
    return vault.state_path / FILE


def _latest(lines: Iterable[tuple[str, ModelCall]]) -> list[ModelCall]:
    """Return the calls in *lines*, in order; a later line replaces an earlier one of the same call."""
    return list({call.id: call for _, call in lines}.values())


def _lines(path: Path) -> list[tuple[str, ModelCall]]:
    """Return the lines that say something, and what they say.

    Raises:
        OSError: the file cannot be read, which does not mean that it holds no calls.
    """
    try:
        text = read_state(path, largest=_MOST_READ).decode("utf-8", "replace")
    except FileNotFoundError:
        return []
    found = []
    for line in text.split("\n"):
        with contextlib.suppress(ValueError, TypeError, RecursionError):
            found.append((line, _parsed(json.loads(line))))
    return found


def _parsed(fields: Any) -> ModelCall:  # noqa: ANN401  (anything may stand in a file)
    """Return the call that *fields* tell of.

    Raises:
        TypeError, ValueError: they tell of none.
    """
    call = ModelCall(**fields)
    datetime.fromisoformat(call.at)
    texts = (call.id, call.at, call.provider, call.purpose, call.model, call.failure)
    numbers = (call.input_tokens, call.output_tokens, call.seconds, call.cost_usd or 0)
    are_counts = all(type(number) in (int, float) and 0 <= number < 10**12 for number in numbers)  # NaN is none
    if not are_counts or not all(isinstance(text, str) for text in texts):
        raise TypeError
    return call._replace(input_tokens=int(call.input_tokens), output_tokens=int(call.output_tokens))


def _line_of(call: ModelCall) -> bytes:
    return json.dumps(call._asdict()).encode() + b"\n"


def _shorten(path: Path, today: str) -> None:
    """Forget the oldest calls, but none of *today*, once the file is large."""
    size, room = path.stat().st_size, MAX_BYTES // 2
    if size <= MAX_BYTES:
        return
    newest = []
    for line, call in reversed(_lines(path)):
        room -= len(line)
        if room >= 0 or call.day == today:
            newest.append(f"{line}\n")
    kept = "".join(reversed(newest)).encode()
    if len(kept) < 0.75 * size:  # or else the day has been long, and every call would write the file anew
        write_state(path, kept)
