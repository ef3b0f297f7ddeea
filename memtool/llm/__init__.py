"""Providers of text, which may write a summary, opened by name."""

from __future__ import annotations

from importlib import import_module
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memtool.errors import ProviderFailed, ProviderMissing
from memtool.settings.text_providers import VENDORS
from memtool.text.lines import tokens_in

if TYPE_CHECKING:
    from memtool.settings import Keys
    from memtool.settings.sections import ModelSettings

EXTRACTIVE = "extractive"  # in `llm.providers`: no model, and none after it
NO_WRITER = "none"  # in `llm.writer`: the user wants no model
MAX_ANSWER = 1_000_000  # characters or bytes; a summary has a thousandth of that


class Request(NamedTuple):
    """A request to a model. *max_tokens* bounds its answer."""

    system: str
    prompt: str
    max_tokens: int = 3_000

    @property
    def tokens(self) -> int:
        """About how many tokens it takes to read."""
        return tokens_in(self.system, self.prompt)


class Answer(NamedTuple):
    """The answer of a model, and its cost. *cost_usd* is None unless the provider itself names it."""

    text: str
    provider: str
    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None
    seconds: float = 0.0


def models_of(settings: ModelSettings) -> tuple[str, ...]:
    """Return the providers that may be asked, in order: the writer, then those that take over."""
    if settings.writer == NO_WRITER:
        return ()
    others = takewhile(lambda name: name != EXTRACTIVE, settings.providers)
    return tuple(dict.fromkeys(name for name in (settings.writer, *others) if name))


def writer_of(settings: ModelSettings) -> str:
    """Return the provider that writes session notes; empty where no model may be asked."""
    return next(iter(models_of(settings)), "")


def is_set_up(settings: ModelSettings) -> bool:
    """Return whether a model may be asked."""
    return bool(writer_of(settings))


class Wasted(ProviderFailed):
    """A call that came to nothing and used up tokens all the same."""

    def __init__(
        self, sentence: str, input_tokens: int, output_tokens: int = 0, cost_usd: float | None = None, *, hint: str = ""
    ) -> None:
        super().__init__(sentence, hint=hint)
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens
        self.cost_usd = cost_usd


class OutOfTime(Wasted):
    """No answer came in time. What was sent may have been read, so that it counts."""

    def __init__(self, who: str, request: Request, seconds: float) -> None:
        super().__init__(f"{who} did not answer within {seconds:g} seconds", request.tokens)


class Provider(Protocol):
    """A provider of text, which turns a request into an answer."""

    def complete(self, request: Request, timeout: float) -> Answer:
        """Return the answer, within *timeout* seconds in all.

        Raises:
            ProviderMissing: it cannot be had on this machine.
            memtool.errors.Unavailable: it fails now, and may work soon.
            ProviderFailed: it fails, or answers with something that is no text.
        """


def open_provider(name: str, settings: ModelSettings, keys: Keys) -> Provider:
    """Return the provider *name*. Nothing is sent or started yet.

    Raises:
        ProviderMissing: its command, its library or its key is not there.
        BadSetting: its settings cannot be used.
    """
    if name not in VENDORS:
        raise ProviderMissing(f"there is no provider '{name}'", hint=f"There are {', '.join(VENDORS)}.")
    module, _, kind = VENDORS[name].opens.partition(":")
    provider: Provider = getattr(import_module(module), kind).open(name, settings, keys)
    return provider


def tokens_used(usage: object, *names: str) -> int:
    """Return the sum of the numbers that *usage* has under *names*; 0 for what is no number of tokens."""
    values = [usage.get(name) for name in names] if isinstance(usage, dict) else []
    return sum(value for value in values if type(value) is int and 0 <= value < 10**9)
