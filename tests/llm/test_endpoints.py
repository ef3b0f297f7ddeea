"""What the two providers that speak HTTP have in common, and what is their own."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from scripted_models import ModelServer, Reply, answered, behaving, completion, message, refusal, serve_models

from memtool.errors import MemtoolError, ProviderFailed, ProviderMissing, Unavailable
from memtool.installation import how_to_add
from memtool.llm import Answer, OutOfTime, Provider, Request, Wasted, open_provider
from memtool.settings import Keys
from memtool.settings.sections import ModelSettings

pytestmark = pytest.mark.skipif(find_spec("anthropic") is None, reason="the extra `llm` is not installed")

KEY = "sk-very-secret-4711"
REQUEST = Request("You keep the memory.", "What happened? 发生了什么？", max_tokens=777)
PATIENT = 20.0  # seconds; nothing here takes that long
SOON = 0.3


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve_models() as server:
        yield server


@pytest.fixture(
    params=[pytest.param("anthropic", marks=pytest.mark.slow), "openai"]
)  # whose SDK takes a second to import
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def opened(name: str, server: ModelServer, key: str = KEY, **settings: Any) -> Provider:
    values = {
        "anthropic_base_url": server.url, "anthropic_model": "small",
        "openai_base_url": f"{server.url}/v1", "openai_model": "small", **settings,
    }  # fmt: skip
    return open_provider(name, ModelSettings(**values), Keys(anthropic=key, openai=key))


@pytest.fixture
def provider(name: str, server: ModelServer) -> Provider:
    return opened(name, server)


@pytest.mark.slow
def test_the_answer_is_what_the_model_says(name: str, provider: Provider, server: ModelServer) -> None:
    server.text = "hello, 你好"
    taken = {"anthropic": 105, "openai": 100}[name]  # what was read from a cache was read
    assert provider.complete(REQUEST, PATIENT) == Answer("hello, 你好", name, "small", taken, 20)


@pytest.mark.slow
def test_the_request_to_anthropic_is_what_the_protocol_says(server: ModelServer) -> None:
    opened("anthropic", server).complete(REQUEST, PATIENT)
    (asked,) = server.requests
    assert asked.path == "/v1/messages"
    assert asked.question == {
        "model": "small", "max_tokens": 777, "system": REQUEST.system,
        "messages": [{"role": "user", "content": REQUEST.prompt}],
    }  # fmt: skip
    assert KEY in "".join(asked.headers.values())
    assert {key.lower() for key in asked.headers} >= {"anthropic-version"}


def test_the_request_to_a_compatible_endpoint_is_what_the_protocol_says(server: ModelServer) -> None:
    opened("openai", server).complete(REQUEST, PATIENT)
    (asked,) = server.requests
    assert asked.path == "/v1/chat/completions"
    assert asked.question == {
        "model": "small", "max_tokens": 777, "stream": False,
        "messages": [{"role": "system", "content": REQUEST.system}, {"role": "user", "content": REQUEST.prompt}],
    }  # fmt: skip
    assert asked.headers["Authorization"] == f"Bearer {KEY}"


def test_without_a_key_anthropic_is_missing(server: ModelServer) -> None:
    with pytest.raises(ProviderMissing, match="no key") as caught:
        opened("anthropic", server, key="  ")
    assert "ANTHROPIC_API_KEY" in caught.value.hint


def test_without_its_sdk_anthropic_is_missing(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(ProviderMissing, match="SDK is not installed") as caught:
        opened("anthropic", server)
    assert caught.value.hint == how_to_add("llm")


@pytest.mark.slow
def test_addresses_and_keys_of_the_environment_are_not_used(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_models() as other:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", other.url)
        monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another")
        opened("anthropic", server).complete(REQUEST, PATIENT)
        assert other.requests == []
    assert "another" not in "".join(server.requests[0].headers.values())


def test_a_proxy_of_the_environment_does_not_see_what_stays_on_this_machine(
    name: str, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    assert opened(name, server).complete(REQUEST, PATIENT).text == "hello"


@pytest.mark.slow
@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "nonsense://[", "http://127.0.0.1:9"])
def test_an_odd_proxy_is_one_sentence(
    name: str, server: ModelServer, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    for variable in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(variable, proxy)
    away = {"anthropic_base_url": "http://127.0.0.2:9", "openai_base_url": "http://127.0.0.2:9/v1"}
    with pytest.raises(ProviderFailed) as caught:
        opened(name, server, **away).complete(REQUEST, PATIENT)
    assert str(caught.value).isprintable()


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "wait"), [("7", 7.0), ("0.5", 0.5), ("", 0.0), ("soon", 0.0), ("-3", 0.0)])
@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
def test_what_may_pass_is_unavailable_and_is_not_repeated_here(
    provider: Provider, server: ModelServer, status: int, asked: str, wait: float
) -> None:
    server.replies.extend([refusal(status, {"Retry-After": asked} if asked else {}, "overloaded")] * 3)
    with pytest.raises(Unavailable, match=f"answered {status}: overloaded") as caught:
        provider.complete(REQUEST, PATIENT)
    assert caught.value.wait == wait
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_will_not_pass_has_failed(provider: Provider, server: ModelServer, status: int) -> None:
    server.replies.append(refusal(status))
    with pytest.raises(ProviderFailed, match=str(status)) as caught:
        provider.complete(REQUEST, PATIENT)
    assert not isinstance(caught.value, Unavailable)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(name: str, provider: Provider, server: ModelServer, status: int) -> None:
    with serve_models() as other:
        path = {"anthropic": "/v1/messages", "openai": "/v1/chat/completions"}[name]
        server.replies.append(refusal(status, {"Location": other.url + path}))
        with pytest.raises(ProviderFailed, match="redirects"):
            provider.complete(REQUEST, PATIENT)
        assert other.requests == []


@pytest.mark.slow
@pytest.mark.parametrize("manner", ["silent", "dripping", "dripping headers"])
def test_time_is_wall_clock_time(provider: Provider, server: ModelServer, manner: Any) -> None:
    server.replies.append(behaving(manner))
    with pytest.raises(OutOfTime, match=r"did not answer within 0\.3 seconds") as caught:
        provider.complete(REQUEST, SOON)
    assert caught.value.input_tokens == REQUEST.tokens  # it may well have been read


@pytest.mark.parametrize("manner", ["cut", "gone"])
def test_a_connection_that_breaks_is_unavailable(provider: Provider, server: ModelServer, manner: Any) -> None:
    server.replies.append(behaving(manner))
    with pytest.raises(Unavailable, match="cannot be reached"):
        provider.complete(REQUEST, PATIENT)


@pytest.mark.parametrize("status", [200, 400, 500])
def test_an_answer_without_an_end_is_cut_short(provider: Provider, server: ModelServer, status: int) -> None:
    server.replies.append(behaving("endless", status))
    with pytest.raises(ProviderFailed):
        provider.complete(REQUEST, PATIENT)


NONSENSE = {
    "no JSON": Reply(200, {}, b"<html>"),
    "no JSON that says it is": Reply(200, {"Content-Type": "application/json"}, b"<html>"),
    "nothing": Reply(200, {"Content-Type": "application/json"}, b""),
    "no UTF-8": Reply(200, {"Content-Type": "application/json"}, b'"\xff\xfe"'),
    "brackets": Reply(200, {"Content-Type": "application/json"}, b"[" * 200_000),
    "null": answered(None),
    "a list": answered([1]),
    "a text": answered("hello"),
    "an empty object": answered({}),
    "content is null": answered(message("") | {"content": None}),
    "content is a number": answered(message("") | {"content": 7}),
    "a block is a number": answered(message("") | {"content": [7]}),
    "a block without text": answered(message("") | {"content": [{"type": "text"}]}),
    "text is a number": answered(message("") | {"content": [{"type": "text", "text": 7}]}),
    "no usage": answered({"type": "message", "role": "assistant", "content": [7], "usage": None}),
    "no choices": answered(completion("") | {"choices": []}),
    "choices is a number": answered(completion("") | {"choices": 7}),
    "a choice is null": answered(completion("") | {"choices": [None]}),
    "a message is null": answered(completion("") | {"choices": [{"message": None}]}),
    "a text is null": answered(completion("") | {"choices": [{"message": {"content": None}}]}),
    "a text is a list": answered(completion("") | {"choices": [{"message": {"content": ["a"]}}]}),
}


@pytest.mark.slow
@pytest.mark.parametrize("reply", NONSENSE.values(), ids=NONSENSE.keys())
def test_nonsense_is_one_sentence(provider: Provider, server: ModelServer, reply: Reply) -> None:
    server.replies.append(reply)
    with pytest.raises(ProviderFailed) as caught:
        provider.complete(REQUEST, PATIENT)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


@pytest.mark.slow
@pytest.mark.parametrize(
    "values",
    [message("half", stop_reason="max_tokens"), message("", stop_reason="refusal")],
    ids=["cut off", "refused"],
)
def test_half_an_answer_of_anthropic_is_none_and_is_paid_for(server: ModelServer, values: object) -> None:
    server.replies.append(answered(values))
    with pytest.raises(Wasted) as caught:
        opened("anthropic", server).complete(REQUEST, PATIENT)
    assert (caught.value.input_tokens, caught.value.output_tokens) == (105, 20)


def test_half_an_answer_of_a_compatible_endpoint_is_none_and_is_paid_for(server: ModelServer) -> None:
    choice = {"message": {"content": "half"}, "finish_reason": "length"}
    server.replies.append(answered(completion("") | {"choices": [choice]}))
    with pytest.raises(Wasted, match="cut off after 20 tokens"):
        opened("openai", server).complete(REQUEST, PATIENT)


def test_what_a_server_does_not_count_is_estimated(server: ModelServer) -> None:
    server.replies.append(answered(completion("hello") | {"usage": {"prompt_tokens": "many"}}))
    answer = opened("openai", server).complete(REQUEST, PATIENT)
    assert (answer.input_tokens, answer.output_tokens) == (REQUEST.tokens, 2)


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_the_key_is_in_no_message(provider: Provider, server: ModelServer, status: int) -> None:
    server.replies.append(refusal(status, message=f"bad key {KEY}\x1b[31m\nAuthorization: Bearer {KEY}"))
    with pytest.raises(MemtoolError) as caught:
        provider.complete(REQUEST, PATIENT)
    said = f"{caught.value} {caught.value.hint} {caught.value.__cause__}"
    assert KEY not in said
    assert caught.value.__suppress_context__
    assert "\x1b" not in said


def test_an_error_in_no_known_form_is_not_repeated_at_length(provider: Provider, server: ModelServer) -> None:
    server.replies.append(Reply(400, {"Content-Type": "text/html"}, b"<html>" * 5000))
    with pytest.raises(ProviderFailed, match="answered 400") as caught:
        provider.complete(REQUEST, PATIENT)
    assert len(str(caught.value)) < 300


@pytest.mark.slow
def test_a_call_that_took_too_long_does_not_keep_the_process(provider: Provider, server: ModelServer) -> None:
    server.replies.append(behaving("silent"))
    with pytest.raises(OutOfTime):
        provider.complete(REQUEST, SOON)
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "memtool-within")
