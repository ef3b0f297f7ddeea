from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted_embeddings import Answer, EmbeddingServer, answer, embeddings, refusal, serve_embeddings

from memtool.embeddings.openai import OpenAIEmbedder
from memtool.errors import BadSetting, MemtoolError, ProviderFailed
from memtool.settings.sections import EmbeddingSettings

KEY = "sk-very-secret-4711"

Open = Callable[..., OpenAIEmbedder]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serve_embeddings() as server:
        yield server


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def opened(server: EmbeddingServer, tmp_path: Path, pauses: list[float]) -> Open:
    """Open the endpoint with some settings; its pauses are written down and not slept."""

    def opened(key: str = KEY, **settings: Any) -> OpenAIEmbedder:
        asked = EmbeddingSettings(**{"provider": "openai", "model": "tiny", "base_url": server.base_url, **settings})
        return OpenAIEmbedder(asked, key, tmp_path / "cache", pause=pauses.append)

    return opened


def test_texts_become_vectors_of_length_1_in_their_order(opened: Open) -> None:
    embedder = opened(batch=2)
    vectors = embedder.embed_notes(["alpha beta", "gamma", "解密 失败", "delta", "alpha"])
    assert vectors.shape == (5, 16)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert int(np.argmax(vectors @ embedder.embed_query("解密 失败"))) == 2


def test_numbers_may_come_as_base64(opened: Open, server: EmbeddingServer) -> None:
    plain = opened().embed_notes(["alpha", "beta"])
    server.as_base64 = True
    np.testing.assert_allclose(opened().embed_notes(["alpha", "beta"]), plain, atol=1e-6)


def test_the_request_is_what_the_protocol_says(opened: Open, server: EmbeddingServer) -> None:
    opened(batch=2).embed_notes(["a", "b", "c"])
    assert [request.path for request in server.requests] == ["/v1/embeddings"] * 2
    assert [request.question for request in server.requests] == [
        {"model": "tiny", "input": ["a", "b"]},
        {"model": "tiny", "input": ["c"]},
    ]
    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    assert server.requests[0].headers["Content-Type"] == "application/json"


def test_empty_texts_and_lone_surrogates_are_made_sendable(opened: Open, server: EmbeddingServer) -> None:
    opened().embed_notes(["", "a\ud800b"])
    assert server.requests[0].question["input"] == [" ", "a?b"]


def test_a_model_that_wants_prefixes_gets_them(opened: Open, server: EmbeddingServer) -> None:
    embedder = opened(model="multilingual-e5-small")
    embedder.embed_notes(["alpha"])
    embedder.embed_query("alpha")
    assert [request.question["input"] for request in server.requests] == [["passage: alpha"], ["query: alpha"]]


def test_the_dimension_comes_from_the_first_answer_and_is_remembered(opened: Open, server: EmbeddingServer) -> None:
    assert opened().dimension == 16
    assert len(server.requests) == 1
    assert opened().dimension == 16
    assert len(server.requests) == 1


@pytest.mark.slow
def test_a_stated_dimension_must_be_right(opened: Open) -> None:
    for _ in "before and after it is remembered":
        with pytest.raises(BadSetting, match=r"is 384, but the model 'tiny' makes vectors of 16"):
            opened(dimension=384).embed_query("a")
    assert opened(dimension=16).dimension == 16


def test_a_model_that_was_replaced_behind_its_name_is_noticed_and_then_accepted(
    opened: Open, server: EmbeddingServer
) -> None:
    opened().embed_query("a")
    server.dimension = 24
    with pytest.raises(ProviderFailed, match="now answers with 24 numbers per vector, and before with 16"):
        opened().embed_query("a")
    assert opened().embed_query("a").shape == (24,)


@pytest.mark.parametrize("trouble", [refusal(429), refusal(500), refusal(503), refusal(408), Answer(0, {}, b"")])
def test_what_may_pass_is_tried_again(
    opened: Open, server: EmbeddingServer, pauses: list[float], trouble: Answer
) -> None:
    server.answers.extend([trouble, trouble])
    assert opened().embed_notes(["a"]).shape == (1, 16)
    assert pauses == [1.0, 2.0]


def test_it_gives_up_after_a_few_tries(opened: Open, server: EmbeddingServer, pauses: list[float]) -> None:
    server.answers.extend([refusal(500, message="overloaded")] * 9)
    with pytest.raises(ProviderFailed, match=r"answered 500: overloaded"):
        opened().embed_notes(["a"])
    assert len(server.requests) == 4
    assert pauses == [1.0, 2.0, 4.0]


def test_a_question_is_tried_again_only_once_and_soon(
    opened: Open, server: EmbeddingServer, pauses: list[float]
) -> None:
    server.answers.extend([refusal(500)] * 9)
    with pytest.raises(ProviderFailed):
        opened().embed_query("a")
    assert pauses == [0.25]


@pytest.mark.parametrize(
    ("asked", "waited"),
    [("7", 7.0), ("0.1", 1.0), ("-3", 1.0), ("nan", 1.0), ("inf", 1.0), ("Fri, 31 Dec 1999 23:59:59 GMT", 1.0)],
)
def test_it_waits_as_long_as_it_is_asked_to(
    opened: Open, server: EmbeddingServer, pauses: list[float], asked: str, waited: float
) -> None:
    server.answers.append(refusal(429, {"Retry-After": asked}))
    opened().embed_notes(["a"])
    assert pauses == [waited]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_will_not_pass_is_not_tried_again(opened: Open, server: EmbeddingServer, status: int) -> None:
    server.answers.append(refusal(status))
    with pytest.raises(ProviderFailed, match=str(status)):
        opened().embed_notes(["a"])
    assert len(server.requests) == 1


def _item(index: object = 0, embedding: object = (1.0, 2.0)) -> dict[str, object]:
    return {"index": index, "embedding": embedding}


HOSTILE = {
    "no JSON": Answer(200, {}, b"<html>"),
    "nothing": Answer(200, {}, b""),
    "no UTF-8": Answer(200, {}, b"\xff\xfe\xff"),
    "brackets": Answer(200, {}, b"[" * 200_000),
    "cut off": Answer(200, {"Content-Length": "1000"}, b'{"data"'),
    "a list": answer([]),
    "null": answer(None),
    "no data": answer({"object": "list"}),
    "data is text": answer({"data": "data"}),
    "data is a table": answer({"data": {"index": 0}}),
    "too few": answer({"data": []}),
    "too many": answer({"data": [_item(0), _item(1)]}),
    "the same one twice": answer({"data": [_item(0), _item(0)]}),
    "a wrong index": answer({"data": [_item(7)]}),
    "no index": answer({"data": [{"embedding": [1.0]}]}),
    "an index that is a list": answer({"data": [_item([])]}),
    "null for a vector": answer({"data": [_item(0, None)]}),
    "an empty vector": answer({"data": [_item(0, [])]}),
    "text for numbers": answer({"data": [_item(0, ["1.0", "2.0"])]}),
    "truth for numbers": answer({"data": [_item(0, [True, False])]}),
    "vectors in vectors": answer({"data": [_item(0, [[1.0]])]}),
    "NaN": Answer(200, {}, b'{"data": [{"index": 0, "embedding": [NaN, 1.0]}]}'),
    "infinity": Answer(200, {}, b'{"data": [{"index": 0, "embedding": [1e999, 1.0]}]}'),
    "a number too large": Answer(200, {}, b'{"data": [{"index": 0, "embedding": [1' + b"0" * 400 + b"]}]}"),
    "a number of 5000 digits": Answer(200, {}, b'{"data": [{"index": 0, "embedding": [1' + b"0" * 5000 + b"]}]}"),
    "no base64": answer({"data": [_item(0, "!!!!")]}),
    "base64 of half a number": answer({"data": [_item(0, "AAAA")]}),
    "base64 of nothing": answer({"data": [_item(0, "")]}),
    "base64 of NaN": answer({"data": [_item(0, "AADAfw==")]}),
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_answer_is_one_sentence(opened: Open, server: EmbeddingServer, hostile: Answer) -> None:
    server.answers.extend([hostile] * 4)
    with pytest.raises(ProviderFailed) as caught:
        opened().embed_notes(["a"])
    assert "\n" not in str(caught.value)


def test_vectors_of_different_lengths_are_refused(opened: Open, server: EmbeddingServer) -> None:
    server.answers.append(embeddings([[1.0, 2.0], [1.0]]))
    with pytest.raises(ProviderFailed, match="differ in length"):
        opened().embed_notes(["a", "b"])


def test_the_dimension_may_not_change_between_two_batches(opened: Open, server: EmbeddingServer) -> None:
    server.answers.extend([embeddings([[1.0, 2.0]]), embeddings([[1.0, 2.0, 3.0]])])
    with pytest.raises(ProviderFailed, match="now answers with 3"):
        opened(batch=1).embed_notes(["a", "b"])


def test_huge_numbers_become_a_vector_like_any_other(opened: Open, server: EmbeddingServer) -> None:
    server.answers.append(embeddings([[3e300, 4e300]]))
    np.testing.assert_allclose(opened().embed_notes(["a"]), [[0.6, 0.8]], atol=1e-6)


@pytest.mark.parametrize("key", ["sk-1\r\nHost: evil", "sk-ключ", "a\x00b"])
def test_a_key_that_cannot_be_sent_is_a_bad_setting_that_does_not_show_it(opened: Open, key: str) -> None:
    with pytest.raises(BadSetting) as caught:
        opened(key=key)
    assert key not in str(caught.value)


ADDRESSES = (
    "", "localhost:8080/v1", "ftp://host/v1", "file:///etc/passwd", "javascript:alert(1)", "http://", "http://host:99999/v1",
    "http://host:x/v1", "http://[::1/v1", "http://me:secret@host/v1", "http://host/v1?key=secret", "http://host/v1#a",
    "http://host/v1\r\nX: y", "http://ho st/v1", "http://хост/v1",
)  # fmt: skip


@pytest.mark.parametrize("base_url", ADDRESSES)
def test_an_address_that_is_not_plain_http_is_a_bad_setting(opened: Open, base_url: str) -> None:
    with pytest.raises(BadSetting) as caught:
        opened(base_url=base_url)
    assert "secret" not in str(caught.value)


def test_a_model_must_be_named(opened: Open) -> None:
    with pytest.raises(BadSetting, match="name of a model"):
        opened(model="")


def test_a_host_name_that_no_resolver_takes_is_one_sentence(opened: Open) -> None:
    with pytest.raises(MemtoolError, match="cannot be reached"):
        opened(base_url=f"http://127.0.0.1.{'a' * 70}.invalid/v1").embed_query("a")
