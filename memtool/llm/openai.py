"""Text from an endpoint that speaks OpenAI's `/v1/chat/completions`: OpenAI, Gemini, OpenRouter, Ollama, vLLM.

Protocol: https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

from typing import Any, Self

from memtool.errors import BadSetting, ProviderMissing
from memtool.http import Endpoint, endpoint, post_json, within
from memtool.llm import MAX_ANSWER, Answer, OutOfTime, Request, Wasted, tokens_used
from memtool.settings import Keys
from memtool.settings.sections import ModelSettings
from memtool.settings.text_providers import VENDORS
from memtool.text.lines import tokens_in

_VENDOR = ("openai.com", "openai.azure.com")  # their newer models refuse `max_tokens`; many other servers know no other


class OpenAIChat:
    """A model of OpenAI, or behind an endpoint of the user's choice."""

    vendor = "openai"

    def __init__(self, to: Endpoint, model: str) -> None:
        self._to = to
        self._model = model

    @classmethod
    def open(cls, settings: ModelSettings, keys: Keys) -> Self:
        """Return the model that *settings* name; see `memtool.llm.open_provider`."""
        if not settings.openai_base_url:
            own = VENDORS[cls.vendor]
            return cls._of_vendor(own.base_url, settings.openai_model or own.model, keys)
        if not settings.openai_model:
            raise BadSetting("the endpoint of 'openai' needs the name of a model", hint="Set llm.openai_model.")
        # A vendor's own key goes to that vendor and to nobody else.
        return cls(endpoint(settings.openai_base_url, "chat/completions", keys.openai), settings.openai_model)

    @classmethod
    def _of_vendor(cls, base_url: str, model: str, keys: Keys) -> Self:
        to = endpoint(base_url, "chat/completions", keys.vendors.get(cls.vendor, ""))
        variables = VENDORS[cls.vendor].variables
        if variables and not to.key:
            raise ProviderMissing(f"there is no key for {to.host}", hint=f"Put it into the variable {variables[0]}.")
        return cls(to, model)

    def complete(self, request: Request, timeout: float) -> Answer:
        """Return the answer; see `memtool.llm.Provider`."""
        host = self._to.host.partition(":")[0]
        limit = "max_completion_tokens" if host.endswith(_VENDOR) else "max_tokens"
        question = {
            "model": self._model,
            "messages": [{"role": "system", "content": request.system}, {"role": "user", "content": request.prompt}],
            limit: request.max_tokens,
            "stream": False,
        }
        try:
            # The socket waits a little longer, so that it is always `within` that says that time is up.
            body = within(timeout, lambda: post_json(self._to, question, timeout=timeout + 1, max_bytes=MAX_ANSWER))
        except TimeoutError:
            raise OutOfTime(self._to.host, request, timeout) from None
        return self._answer(body, request)

    def _answer(self, body: Any, request: Request) -> Answer:  # noqa: ANN401  (anything may come)
        try:
            choice = body["choices"][0]
            text, ended = choice["message"]["content"], choice.get("finish_reason")
        except (TypeError, LookupError, AttributeError):
            text = ended = None
        usage = body.get("usage") if isinstance(body, dict) else None
        taken = tokens_used(usage, "prompt_tokens") or request.tokens
        if not isinstance(text, str):
            raise Wasted(f"{self._to.host} answered with something that is no chat completion", taken)
        made = tokens_used(usage, "completion_tokens") or tokens_in(text)
        if ended == "length":
            raise Wasted(f"the answer of {self._to.host} was cut off after {made} tokens", taken, made)
        return Answer(text, self.vendor, self._model, taken, made)


class GeminiChat(OpenAIChat):
    """A model of Google."""

    vendor = "gemini"

    @classmethod
    def open(cls, settings: ModelSettings, keys: Keys) -> Self:
        """Return the model that *settings* name; see `memtool.llm.open_provider`."""
        return cls._of_vendor(VENDORS[cls.vendor].base_url, settings.gemini_model, keys)


class OpenRouterChat(OpenAIChat):
    """A model of one of many vendors, through OpenRouter."""

    vendor = "openrouter"

    @classmethod
    def open(cls, settings: ModelSettings, keys: Keys) -> Self:
        """Return the model that *settings* name; see `memtool.llm.open_provider`."""
        return cls._of_vendor(VENDORS[cls.vendor].base_url, settings.openrouter_model, keys)


class OllamaChat(OpenAIChat):
    """A model on a machine of the user."""

    vendor = "ollama"

    @classmethod
    def open(cls, settings: ModelSettings, keys: Keys) -> Self:
        """Return the model that *settings* name; see `memtool.llm.open_provider`."""
        return cls._of_vendor(settings.ollama_base_url, settings.ollama_model, keys)
