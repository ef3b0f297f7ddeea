"""An embedder whose questions a warm helper answers, so that the model need not be loaded for one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtool.embeddings.helper import Fields, HelperPlace, ask_helper

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtool.embeddings import Embedder

_PATIENCE = 0.25  # seconds: as long as it takes to load a small model


class WarmEmbedder:
    """*embedder*, in whose place the helper at *place* makes the vectors of questions, if it is there."""

    def __init__(self, embedder: Embedder, place: HelperPlace) -> None:
        self.name = embedder.name
        self.dimension = embedder.dimension
        self.scripts = embedder.scripts
        self._embedder = embedder
        self._place = place

    def embed_notes(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of length 1 per text, in the order of the texts."""
        return self._embedder.embed_notes(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question."""
        answer = ask_helper(self._place, {"ask": "vector", "text": text}, patience=_PATIENCE)
        vector = _vector(answer, self.dimension) if answer and answer.get("model") == self.name else None
        return self._embedder.embed_query(text) if vector is None else vector


def _vector(answer: Fields, dimension: int) -> NDArray[np.float32] | None:
    """Return the vector in *answer*; None if it holds none."""
    import base64

    import numpy as np

    try:
        vector = np.frombuffer(base64.b64decode(answer.get("vector", ""), validate=True), "<f4")
    except (ValueError, TypeError):
        return None
    is_sound = vector.shape == (dimension,) and np.isfinite(vector).all() and abs(float(vector @ vector) - 1) < 0.01
    return vector if is_sound else None
