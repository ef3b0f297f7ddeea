"""Preparation of texts and of vectors that every provider shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtool.errors import BadSetting, ProviderFailed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


def clean(text: str) -> str:
    """Return *text* without lone surrogates, which neither a tokenizer nor UTF-8 can hold, and never empty."""
    return text.encode("utf-8", "replace").decode("utf-8") or " "


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
