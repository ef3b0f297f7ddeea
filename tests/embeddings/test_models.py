from __future__ import annotations

import pytest

from memtool.embeddings.models import prefixes_of


@pytest.mark.parametrize(
    ("model", "query", "note"),
    [
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("google/embeddinggemma-300m", "task: search result | query: ", "title: none | text: "),
    ],
)
def test_models_trained_with_prefixes_get_them(model: str, query: str, note: str) -> None:
    assert prefixes_of(model) == (query, note)


@pytest.mark.parametrize("model", ["BAAI/bge-small-en-v1.5", "mxbai-embed-large", "snowflake/snowflake-arctic-embed-s"])
def test_some_want_an_instruction_before_the_query_only(model: str) -> None:
    query, note = prefixes_of(model)
    assert query.startswith("Represent this sentence")
    assert note == ""


@pytest.mark.parametrize("model", ["all-MiniLM-L6-v2", "BAAI/bge-m3", "text-embedding-3-small", ""])
def test_most_models_want_nothing(model: str) -> None:
    assert prefixes_of(model) == ("", "")
