"""Asking one provider after the other until one answers well."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from memtool.errors import MemtoolError, Unavailable
from memtool.llm import Answer, OutOfTime, Provider, Request, models_of, open_provider
from memtool.llm.call_log import BudgetSpent, CallLog
from memtool.settings import Keys
from memtool.settings.sections import ModelSettings
from memtool.settings.text_providers import VENDORS, Limits

T = TypeVar("T")


class ChainOutcome(NamedTuple, Generic[T]):
    """The outcome of a request: the accepted value with its answer, or None; and why others failed, a sentence each.

    *retry_may_help* says whether a failure is one that may be gone in a while.
    """

    value: T | None = None
    answer: Answer | None = None
    reasons: tuple[str, ...] = ()
    retry_may_help: bool = False


class Clock(NamedTuple):
    """Time: what it is here, seconds that only grow, and how to let some pass."""

    now: Callable[[], datetime]
    monotonic: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep


class Chain(NamedTuple):
    """The models that *settings* allow, the writer first; every call is in the *ledger*."""

    settings: ModelSettings
    keys: Keys
    ledger: CallLog
    clock: Clock
    open_provider: Callable[[str, ModelSettings, Keys], Provider] = open_provider

    def complete(self, request: Request, accept: Callable[[str], T], *, purpose: str) -> ChainOutcome[T]:
        """Return the value that *accept* makes of the first answer that it does not refuse with a MemtoolError."""
        failures: list[tuple[str, MemtoolError]] = []
        for name in models_of(self.settings):
            if any(isinstance(error, BudgetSpent) for _, error in failures):
                break
            try:
                value, answer = self._ask(name, request, accept, purpose)
            except MemtoolError as error:
                failures.append((name, error))
            else:
                return ChainOutcome(value, answer, _reasons(failures))
        retry_may_help = any(isinstance(error, Unavailable | OutOfTime) for _, error in failures)
        return ChainOutcome(None, None, _reasons(failures), retry_may_help)

    def _ask(self, name: str, request: Request, accept: Callable[[str], T], purpose: str) -> tuple[T, Answer]:
        """Return the accepted value and its answer; the ledger knows of the call whatever comes of it."""
        provider = self.open_provider(name, self.settings, self.keys)
        call = self.ledger.begin(name, request, purpose, self.clock.now(), limits_of(name, self.settings))
        began = self.clock.monotonic()
        answer: Answer | None = None
        try:
            answer = self._answer(provider, request)
            value = accept(answer.text)
        except MemtoolError as error:
            self.ledger.end(call, answer or error, self.clock.monotonic() - began, failure=str(error))
            raise
        answer = answer._replace(seconds=self.clock.monotonic() - began)
        self.ledger.end(call, answer, answer.seconds)
        return value, answer

    def _answer(self, provider: Provider, request: Request) -> Answer:
        """Return the answer; where it is worth it, and there is time, the provider is asked a second time."""
        deadline = self.clock.monotonic() + self.settings.timeout
        try:
            return provider.complete(request, self.settings.timeout)
        except Unavailable as failure:
            wait = max(1.0, failure.wait)  # seconds, where the provider names none
            if self.clock.monotonic() + wait + 1.0 > deadline:  # a second try is worth a second
                raise
        self.clock.pause(wait)
        return provider.complete(request, deadline - self.clock.monotonic())


def limits_of(name: str, settings: ModelSettings) -> Limits:
    """Return the limits of the provider *name*: those of *settings*, else its own."""
    own = VENDORS[name].limits if name in VENDORS else Limits()
    return Limits(
        settings.calls_per_minute or own.per_minute,
        settings.calls_per_day or own.per_day,
        settings.calls_at_once or own.at_once,
    )


def _reasons(failures: list[tuple[str, MemtoolError]]) -> tuple[str, ...]:
    return tuple(f"{name}: {error}" for name, error in failures)
