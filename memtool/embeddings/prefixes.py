"""The words that a model wants before a query and before a note, as its authors trained it (see each model's card)."""

from __future__ import annotations

import re

_SEARCHING = "Represent this sentence for searching relevant passages: "
_TASK = "Given a web search query, retrieve relevant passages that answer the query"

# The first pattern that is found in the model's name decides: (pattern, before a query, before a note).
_PREFIXES = (
    (r"\be5-.*instruct", f"Instruct: {_TASK}\nQuery: ", ""),
    (r"\be5-", "query: ", "passage: "),
    (r"\bbge-.*-zh\b", "为这个句子生成表示以用于检索相关文章：", ""),
    (r"\bbge-.*-en\b", _SEARCHING, ""),
    (r"\bmxbai-embed", _SEARCHING, ""),
    (r"\barctic-embed.*v2", "query: ", ""),
    (r"\barctic-embed", _SEARCHING, ""),
    (r"\bnomic-embed-text", "search_query: ", "search_document: "),
    (r"\bembeddinggemma", "task: search result | query: ", "title: none | text: "),
    (r"\bqwen3-embedding", f"Instruct: {_TASK}\nQuery:", ""),
)


def prefixes_of(model: str) -> tuple[str, str]:
    """Return what the model named *model* wants before a query and before a note; most want nothing."""
    for pattern, query, note in _PREFIXES:
        if re.search(pattern, model, re.IGNORECASE):
            return query, note
    return "", ""
