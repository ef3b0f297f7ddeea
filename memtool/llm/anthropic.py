"""Text from the Anthropic Messages API, through the official SDK; a compatible vendor has a base URL of its own."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from memtool.errors import ProviderFailed, ProviderMissing
from memtool.http import Endpoint, endpoint, refusal, unreachable, within
from memtool.installation import how_to_add
from memtool.llm import MAX_ANSWER, Answer, OutOfTime, Request, Wasted
from memtool.settings import Keys
from memtool.settings.sections import ModelSettings
from memtool.settings.text_providers import VENDORS
from memtool.text.lines import tokens_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx2
    from anthropic import APIError
    from anthropic.types import Message

_BASE_URL = VENDORS["anthropic"].base_url  # stated, or else the SDK asks the environment


class AnthropicApi:
    """A model behind the Messages API."""

    def __init__(self, to: Endpoint, base_url: str, model: str) -> None:
        self._to = to
        self._base_url = base_url
        self._model = model

    @classmethod
    def open(cls, _: str, settings: ModelSettings, keys: Keys) -> AnthropicApi:
        """Return the model that *settings* name; see `memtool.llm.open_provider`."""
        if find_spec("anthropic") is None:
            raise ProviderMissing("the Anthropic SDK is not installed", hint=how_to_add("llm"))
        base_url = settings.anthropic_base_url or _BASE_URL
        to = endpoint(base_url, "v1/messages", keys.anthropic)
        if not to.key:
            variable = settings.anthropic_api_key_env
            raise ProviderMissing(f"there is no key for {to.host}", hint=f"Put it into the variable {variable}.")
        return cls(to, base_url, settings.anthropic_model)

    def complete(self, request: Request, timeout: float) -> Answer:
        """Return the answer; see `memtool.llm.Provider`."""
        try:
            import anthropic
            import httpx2
        except ImportError as error:
            raise ProviderMissing(f"the Anthropic SDK cannot be loaded: {error}", hint=how_to_add("llm")) from None
        try:
            message = within(timeout, lambda: self._ask(request, timeout))
        except (TimeoutError, anthropic.APITimeoutError):
            raise OutOfTime(self._to.host, request, timeout) from None
        except anthropic.APIError as error:
            raise self._failure(error) from None
        except (httpx2.HTTPError, OSError, ImportError) as error:  # the last: a SOCKS proxy needs one more library
            raise unreachable(self._to, error) from None
        except (anthropic.AnthropicError, TypeError, ValueError, AttributeError, LookupError, RecursionError):
            raise self._nonsense(request) from None
        return self._answer(message, request)

    def _ask(self, request: Request, timeout: float) -> Message:
        import httpx2
        from anthropic import Anthropic

        http_client = httpx2.Client(
            trust_env=not self._to.is_local,  # proxies
            follow_redirects=False,
            timeout=timeout,
            headers={"Accept-Encoding": "identity"},  # what is small when packed may be huge
            event_hooks={"response": [_bound]},
        )
        with Anthropic(
            api_key=self._to.key,
            base_url=self._base_url,
            max_retries=0,  # `memtool.llm.chain` repeats what is worth repeating, within the time there is
            http_client=http_client,
        ) as client:
            return client.messages.create(
                model=self._model,
                max_tokens=request.max_tokens,
                system=request.system,
                messages=[{"role": "user", "content": request.prompt}],
                timeout=timeout,
            )

    def _failure(self, error: APIError) -> ProviderFailed:
        from anthropic import APIConnectionError, APIStatusError

        if isinstance(error, APIStatusError):
            return refusal(self._to, error.status_code, _said(error), error.response.headers.get("retry-after", ""))
        if isinstance(error, APIConnectionError):
            return unreachable(self._to, error.__cause__ or error)
        return ProviderFailed(f"{self._to.host} answered with something that is no message")

    def _answer(self, message: Message, request: Request) -> Answer:
        try:
            text = "".join(block.text for block in message.content if block.type == "text")
            usage, ended = message.usage, message.stop_reason
            cached = (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)
            taken = int(usage.input_tokens + cached) or request.tokens
            made = int(usage.output_tokens) or tokens_in(text)
        except (TypeError, ValueError, AttributeError):  # the SDK checks nothing that comes
            raise self._nonsense(request) from None
        if ended in ("max_tokens", "refusal"):
            why = "was cut off" if ended == "max_tokens" else "is a refusal"
            raise Wasted(f"the answer of {self._to.host} {why} after {made} tokens", taken, made)
        return Answer(text, "anthropic", self._model, taken, made)

    def _nonsense(self, request: Request) -> Wasted:
        return Wasted(f"{self._to.host} answered with something that is no message", request.tokens)


def _bound(response: httpx2.Response) -> None:
    """Let at most MAX_ANSWER bytes of *response* be read: the SDK reads all that comes."""
    import httpx2

    class Bounded(httpx2.SyncByteStream):
        def __init__(self, stream: httpx2.SyncByteStream) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            total = 0
            for block in self._stream:
                total += len(block)
                if total > MAX_ANSWER:
                    raise httpx2.ReadError("the answer is longer than memtool reads")
                yield block

        def close(self) -> None:
            self._stream.close()

    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError("the answer is compressed, which was not asked for")
    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = Bounded(response.stream)


def _said(error: APIError) -> str:
    # Not the SDK's own message, which for an unknown form is the whole body.
    body = error.body
    words = body.get("error") if isinstance(body, dict) else None
    said = words.get("message") if isinstance(words, dict) else words
    return said if isinstance(said, str) else "no reason was given"
