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
    """A model of one of the *vendors* of `memtool.settings.text_providers`, or behind an endpoint of the user's."""

    def __init__(self, vendor: str, to: Endpoint, model: str) -> None:
        self._vendor = vendor
        self._to = to
        self._model = model

    @classmethod
    def open(cls, name: str, settings: ModelSettings, keys: Keys) -> Self:
        """Return the model that *settings* name; see `memtool.llm.open_provider`."""
        vendor = VENDORS[name]
        base_url, model = getattr(settings, f"{name}_base_url", ""), getattr(settings, f"{name}_model", "")
        # A vendor's own key goes to that vendor only.
        is_own = bool(vendor.variables and base_url)
        if is_own and not model:
            raise BadSetting(f"the endpoint of '{name}' needs the name of a model", hint=f"Set llm.{name}_model.")
        key = keys.openai if is_own else keys.vendors.get(name, "")
        to = endpoint(base_url or vendor.base_url, "chat/completions", key)
        if vendor.variables and not is_own and not key:
            hint = f"Put it into the variable {vendor.variables[0]}."
            raise ProviderMissing(f"there is no key for {to.host}", hint=hint)
        return cls(name, to, model or vendor.model)

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
        return Answer(text, self._vendor, self._model, taken, made)
