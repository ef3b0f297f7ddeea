"""Models: the card of each, the words that it wants before a text, and the care for texts and vectors.

Loading a model to ask its dimension takes a third of a second, and reading a large vocabulary as long again.
A card that is missing, torn or nonsense is learned anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtool.embeddings.known_scripts import ALL_SCRIPTS
from memtool.errors import BadSetting, ProviderFailed
from memtool.text.lines import without_surrogates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

# What a model wants before a query and before a note, as its authors trained it (see each model's card).
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


class ModelCard(NamedTuple):
    """The dimension of a model's vectors and the writing systems it fits."""

    dimension: int
    scripts: frozenset[str]


def find_card(cache: Path, model: str) -> ModelCard | None:
    """Return the card of the model with the identity *model*, or None."""
    try:
        values = json.loads(_path(cache, model).read_bytes())
        dimension, scripts = values["dimension"], frozenset(values["scripts"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    good = isinstance(dimension, int) and dimension > 0 and scripts and scripts <= ALL_SCRIPTS
    return ModelCard(dimension, scripts) if good else None


def keep_card(cache: Path, model: str, card: ModelCard) -> None:
    """Remember *card* for the next run; a cache that cannot be written is no reason to fail."""
    values = {"model": model, "dimension": card.dimension, "scripts": sorted(card.scripts)}
    with contextlib.suppress(OSError):
        path = _path(cache, model)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")


def prefixes_of(model: str) -> tuple[str, str]:
    """Return the words that the model named *model* wants before a query and before a note; most want none."""
    for pattern, query, note in _PREFIXES:
        if re.search(pattern, model, re.IGNORECASE):
            return query, note
    return "", ""


def _path(cache: Path, model: str) -> Path:
    return cache / "model_cards" / f"{hashlib.sha256(model.encode()).hexdigest()[:24]}.json"


def clean(text: str) -> str:
    """Return *text* without lone surrogates, which neither a tokenizer nor UTF-8 can hold, and never empty."""
    return without_surrogates(text) or " "


def unit_vectors(rows: ArrayLike, who: str) -> NDArray[np.float32]:
    """Return *rows* as one float32 matrix whose rows have length 1; a row of zeros, which means nothing, stays.

    Raises:
        ProviderFailed: the rows differ in length, or hold what is not a finite number. *who* made them.
    """
    import numpy as np

    try:
        matrix = np.asarray(rows, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise ProviderFailed(f"{who} gave vectors that differ in length or hold what is not a number") from None
    if matrix.ndim != 2 or not matrix.shape[1] or not np.isfinite(matrix).all():
        raise ProviderFailed(f"{who} gave vectors that hold nothing, or numbers that are not finite")
    # Scaled first, so that the square of a huge number is still a number.
    matrix /= np.maximum(np.abs(matrix).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return (matrix / np.where(norms > 0, norms, 1)).astype(np.float32)


def check_dimension(expected: int, dimension: int, who: str) -> None:
    """Check the setting `embeddings.dimension`, *expected*, where 0 means that the model says it.

    Raises:
        BadSetting: it contradicts the model.
    """
    if expected not in (0, dimension):
        raise BadSetting(
            f"'embeddings.dimension' is {expected}, but {who} makes vectors of {dimension} numbers",
            hint="Leave the setting out: the model knows its dimension.",
        )
