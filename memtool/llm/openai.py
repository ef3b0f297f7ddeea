"""Text from an endpoint that speaks OpenAI's `/v1/chat/completions`: Ollama, vLLM, a vendor in the cloud.

Protocol: https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

from typing import Any

from memtool.errors import BadSetting
from memtool.http import Endpoint, endpoint, post_json, within
from memtool.llm import MAX_ANSWER, Answer, OutOfTime, Request, Wasted, tokens_used
from memtool.settings import Keys
from memtool.settings.sections import ModelSettings
from memtool.text.lines import tokens_in

_VENDOR = ("openai.com", "openai.azure.com")  # their newer models refuse `max_tokens`; many other servers know no other


class OpenAIChat:
    """A model behind an endpoint."""

    def __init__(self, to: Endpoint, model: str) -> None:
        self._to = to
        self._model = model

    @classmethod
    def open(cls, settings: ModelSettings, keys: Keys) -> OpenAIChat:
        """Return the model that *settings* name; see `memtool.llm.open_provider`."""
        if not settings.openai_base_url:
            raise BadSetting("the provider 'openai' needs the address of its endpoint", hint="Set llm.openai_base_url.")
        if not settings.openai_model:
            raise BadSetting("the provider 'openai' needs the name of a model", hint="Set llm.openai_model.")
        return cls(endpoint(settings.openai_base_url, "chat/completions", keys.openai), settings.openai_model)

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
        return Answer(text, "openai", self._model, taken, made)
