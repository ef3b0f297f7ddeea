"""Text from endpoints: OpenAI's `/v1/chat/completions`, which most vendors speak, and Anthropic's `/v1/messages`.

Protocols: https://platform.openai.com/docs/api-reference/chat and https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from memtool.errors import BadSetting, ProviderMissing
from memtool.http import Endpoint, endpoint, post_json, within
from memtool.llm import MAX_ANSWER, Answer, OutOfTime, Request, Wasted, tokens_used
from memtool.settings import Keys
from memtool.settings.sections import ModelSettings
from memtool.settings.text_providers import VENDORS
from memtool.text.lines import tokens_in

_VENDOR = ("openai.com", "openai.azure.com")  # their newer models refuse `max_tokens`; many other servers know no other
_MESSAGES_VERSION = "2023-06-01"


class _Said(NamedTuple):
    """The content of an answer. *loss* says why only half of it is there, or none."""

    text: object
    usage: object
    loss: str = ""


class OpenAIChat:
    """A model of one of the *vendors* of `memtool.settings.text_providers`, or behind an endpoint of the user's."""

    _form = "chat completion"
    _taken: tuple[str, ...] = ("prompt_tokens",)  # of its usage
    _made: tuple[str, ...] = ("completion_tokens",)

    def __init__(self, vendor: str, to: Endpoint, model: str) -> None:
        self._vendor = vendor
        self._to = to
        self._model = model

    @classmethod
    def open(cls, name: str, settings: ModelSettings, keys: Keys) -> Self:
        """Return the model that *settings* name; see `memtool.llm.open_provider`."""
        vendor = VENDORS[name]
        base_url, model = getattr(settings, f"{name}_base_url", ""), getattr(settings, f"{name}_model", "")
        # A vendor's own key goes to that vendor and to no other.
        is_own = bool(vendor.variables and base_url)
        if is_own and not model:
            raise BadSetting(f"the endpoint of '{name}' needs the name of a model", hint=f"Set llm.{name}_model.")
        key = keys.openai if is_own else keys.vendors.get(name, "")
        to = endpoint(base_url or vendor.base_url, "chat/completions", key)
        if vendor.variables and not is_own and not key:
            raise _no_key(to, vendor.variables[0])
        return cls(name, to, model or vendor.model)

    def complete(self, request: Request, timeout: float) -> Answer:
        """Return the answer; see `memtool.llm.Provider`."""
        question, headers = self._question(request), self._headers()

        def ask() -> Any:  # noqa: ANN401  (anything may come)
            # The socket waits a little longer, so that it is always `within` that says that time is up.
            return post_json(self._to, question, timeout=timeout + 1, max_bytes=MAX_ANSWER, headers=headers)

        try:
            body = within(timeout, ask)
        except TimeoutError:
            raise OutOfTime(self._to.host, request, timeout) from None
        return self._answer(body, request)

    def _headers(self) -> Mapping[str, str] | None:
        """Return the headers that carry the key; None for those that most endpoints want."""
        return None

    def _question(self, request: Request) -> dict[str, object]:
        limit = "max_completion_tokens" if self._to.host.partition(":")[0].endswith(_VENDOR) else "max_tokens"
        return {
            "model": self._model,
            "messages": [{"role": "system", "content": request.system}, {"role": "user", "content": request.prompt}],
            limit: request.max_tokens,
            "stream": False,
        }

    def _said(self, body: Any) -> _Said:  # noqa: ANN401  (the same)
        choice = body["choices"][0]
        loss = "was cut off" if choice.get("finish_reason") == "length" else ""
        return _Said(choice["message"]["content"], body.get("usage"), loss)

    def _answer(self, body: Any, request: Request) -> Answer:  # noqa: ANN401  (the same)
        try:
            said = self._said(body)
        except (TypeError, LookupError, AttributeError):
            said = _Said(None, body.get("usage") if isinstance(body, dict) else None)
        taken = tokens_used(said.usage, *self._taken) or request.tokens
        if not isinstance(said.text, str):
            raise Wasted(f"{self._to.host} answered with something that is no {self._form}", taken)
        made = tokens_used(said.usage, *self._made) or tokens_in(said.text)
        if said.loss:
            raise Wasted(f"the answer of {self._to.host} {said.loss} after {made} tokens", taken, made)
        return Answer(said.text, self._vendor, self._model, taken, made)


class AnthropicApi(OpenAIChat):
    """A model behind the Messages API; a compatible vendor has a base URL of its own."""

    _form = "message"
    _taken = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    _made = ("output_tokens",)

    @classmethod
    def open(cls, name: str, settings: ModelSettings, keys: Keys) -> Self:
        """Return the model that *settings* name; see `memtool.llm.open_provider`."""
        to = endpoint(settings.anthropic_base_url or VENDORS[name].base_url, "v1/messages", keys.anthropic)
        if not to.key:
            raise _no_key(to, settings.anthropic_api_key_env)
        return cls(name, to, settings.anthropic_model)

    def _headers(self) -> Mapping[str, str]:
        return {"x-api-key": self._to.key, "anthropic-version": _MESSAGES_VERSION}

    def _question(self, request: Request) -> dict[str, object]:
        return {
            "model": self._model,
            "max_tokens": request.max_tokens,
            "system": request.system,
            "messages": [{"role": "user", "content": request.prompt}],
        }

    def _said(self, body: Any) -> _Said:  # noqa: ANN401  (the same)
        text = "".join(block["text"] for block in body["content"] if block["type"] == "text")
        losses = {"max_tokens": "was cut off", "refusal": "is a refusal"}
        return _Said(text, body.get("usage"), losses.get(body.get("stop_reason"), ""))


def _no_key(to: Endpoint, variable: str) -> ProviderMissing:
    return ProviderMissing(f"there is no key for {to.host}", hint=f"Put it into the variable {variable}.")
